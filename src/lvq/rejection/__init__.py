"""The reject option: measures of certainty, thresholds, accuracy-reject curves and guaranteed error rates.

`RejectClassifier` adds the reject option to a classifier; the other functions take arrays.
"""

from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.costs import CostClassifier, cost_matrix
from lvq.rejection.curves import accuracy_reject_curve, area_under_curve
from lvq.rejection.guarantee import GuaranteeError
from lvq.rejection.scores import certainty
from lvq.rejection.thresholds import local_thresholds

__all__ = [
    "CostClassifier",
    "GuaranteeError",
    "RejectClassifier",
    "accuracy_reject_curve",
    "area_under_curve",
    "certainty",
    "cost_matrix",
    "local_thresholds",
]
