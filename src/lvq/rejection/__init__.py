"""Saying "I do not know": certainty, thresholds per cell, curves and guarantees.

Pure array functions, which need no estimator; and `RejectClassifier`, which joins them to one.
"""

from lvq.rejection.binomial import error_p_value, error_upper_bound
from lvq.rejection.classifier import RejectClassifier
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
from lvq.rejection.measures import MEASURES, Combination, certainty
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
from lvq.rejection.scorers import accepted_accuracy_scorer, cost_scorer, coverage_scorer
from lvq.rejection.thresholds import local_thresholds

__all__ = [
    "MEASURES",
    "AccuracyRejectCurve",
    "AveragedCurve",
    "CertifiedPoint",
    "Combination",
    "GuaranteeError",
    "OperatingPoint",
    "RejectClassifier",
    "RejectConfusion",
    "ThresholdPath",
    "accept_mask",
    "accept_mask_by_group",
    "accepted_accuracy_scorer",
    "accuracy_at",
    "accuracy_reject_curve",
    "area_under_curve",
    "average_curves",
    "bayes_reject_curve",
    "certainty",
    "certify",
    "confusion_with_reject",
    "cost_scorer",
    "coverage_scorer",
    "error_p_value",
    "error_upper_bound",
    "guaranteed_point",
    "guaranteed_points_by_group",
    "local_thresholds",
    "path_curve",
]
