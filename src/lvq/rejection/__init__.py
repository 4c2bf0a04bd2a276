"""Saying "I do not know": certainty, thresholds per cell, curves and guarantees.

Pure array functions; no estimator is needed to use them.
"""

from lvq.rejection.binomial import error_p_value, error_upper_bound
from lvq.rejection.curves import (
    AccuracyRejectCurve,
    AveragedCurve,
    RejectConfusion,
    accuracy_at,
    accuracy_reject_curve,
    area_under_curve,
    average_curves,
    bayes_reject_curve,
    confusion_with_reject,
    path_curve,
)
from lvq.rejection.path import ThresholdPath
from lvq.rejection.point import OperatingPoint, accept_mask
from lvq.rejection.procedures import GuaranteeError
from lvq.rejection.risk import (
    CertifiedPoint,
    accept_mask_by_group,
    certify,
    guaranteed_point,
    guaranteed_points_by_group,
)
from lvq.rejection.thresholds import local_thresholds

__all__ = [
    "AccuracyRejectCurve",
    "AveragedCurve",
    "CertifiedPoint",
    "GuaranteeError",
    "OperatingPoint",
    "RejectConfusion",
    "ThresholdPath",
    "accept_mask",
    "accept_mask_by_group",
    "accuracy_at",
    "accuracy_reject_curve",
    "area_under_curve",
    "average_curves",
    "bayes_reject_curve",
    "certify",
    "confusion_with_reject",
    "error_p_value",
    "error_upper_bound",
    "guaranteed_point",
    "guaranteed_points_by_group",
    "local_thresholds",
    "path_curve",
]
