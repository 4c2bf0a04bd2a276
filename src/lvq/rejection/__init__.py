"""The reject option: measures of certainty, thresholds per cell, accuracy-reject curves and guaranteed error rates.

`RejectClassifier` adds the reject option to a classifier; the other functions take arrays.
"""

from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.curves import accuracy_reject_curve, area_under_curve, confusion_with_reject
from lvq.rejection.guarantee_error import GuaranteeError
from lvq.rejection.measures import Combination, certainty
from lvq.rejection.scorers import accepted_accuracy_scorer, chow_scorer, coverage_scorer
from lvq.rejection.thresholds import local_thresholds

__all__ = [
    "Combination",
    "GuaranteeError",
    "RejectClassifier",
    "accepted_accuracy_scorer",
    "accuracy_reject_curve",
    "area_under_curve",
    "certainty",
    "chow_scorer",
    "confusion_with_reject",
    "coverage_scorer",
    "local_thresholds",
]
