"""The accuracy-reject curve of any fitted classifier on some samples, without drawing it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from lvq.rejection.curves import AccuracyRejectCurve, accuracy_reject_curve, path_curve
from lvq.rejection.measures import Predictions, cells_of, certainty_of
from lvq.rejection.path import ThresholdPath
from lvq.rejection.scorers import find_reject_classifier


class OnSamples(NamedTuple):
    """The curve of a classifier on some samples, and where a RejectClassifier stands on it: coverage and accuracy."""

    curve: AccuracyRejectCurve
    point: tuple[float, float] | None


def curve_on(estimator: Any, X: Any, y: Any, measure: Any = None) -> OnSamples:
    """The accuracy-reject curve of a fitted classifier on samples of known class.

    A RejectClassifier's is that of its own thresholds, as they rise along its path; where it has a path for each class,
    or another measure is asked for, and for any other classifier, one threshold rises through all certainties.
    """
    y = column_or_1d(y)
    check_consistent_length(X, y)
    wary, inputs = find_reject_classifier(estimator, X)
    if wary is None:
        check_is_fitted(estimator)
        answers = Predictions(estimator, X)
        correct = answers.predicted == y
        return OnSamples(accuracy_reject_curve(certainty_of(answers, measure or "auto"), correct), None)
    check_is_fitted(wary)
    answers = wary.predictions(inputs)
    correct, reasons = answers.predicted == y, wary.reason_for(answers)
    accepted = reasons == ""
    point = (float(accepted.mean()), float(correct[accepted].mean())) if accepted.any() else None
    certainty = certainty_of(answers, wary.measure_.ambiguity if measure is None else measure)
    typical = reasons != "outlier" if wary.outlier_limits_ is not None else np.ones(len(y), dtype=np.bool_)
    if not typical.any():
        raise ValueError("X holds nothing but outliers to this RejectClassifier, which answers none of them.")
    if isinstance(wary.path_, ThresholdPath) and measure is None:
        cell = cells_of(answers, wary.cells_)
        curve = path_curve(wary.path_.evaluate(certainty[typical], correct[typical], cell[typical]))
    else:
        curve = accuracy_reject_curve(certainty[typical], correct[typical])
    return OnSamples(AccuracyRejectCurve(curve.coverage * typical.mean(), curve.accuracy), point)
