"""Accuracy-reject curves: accuracy of the accepted samples by coverage; and a scorer of classifiers that reject.

Rules:
- a curve has a point for every attainable threshold (no grid), by falling coverage, always above 0;
- between two points the number of accepted correct samples is linear in coverage, as for a random choice between the
  two. Below the last point samples are rejected at random, so the accuracy is constant.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.estimators.find_model import rejecting_layer
from lvq.rejection.path import FloatArray, ThresholdPath, check_certainty, check_flags, check_fraction
from lvq.typing import MatrixLike


class AccuracyRejectCurve(NamedTuple):
    """Accuracy of the accepted samples by coverage; coverage falls strictly and stays above 0."""

    coverage: FloatArray
    accuracy: FloatArray


def accuracy_reject_curve(certainty: ArrayLike, correct: ArrayLike) -> AccuracyRejectCurve:
    """The accuracy-reject curve of a single threshold that rises through all certainties.

    Parameters
    ----------
    certainty : array-like of shape (n_samples,)
        Higher is more certain; samples of equal certainty are rejected together.
    correct : array-like of shape (n_samples,)
        Whether the prediction is correct.

    Returns
    -------
    AccuracyRejectCurve

    Examples
    --------
    >>> coverage, accuracy = accuracy_reject_curve([0.1, 0.5, 0.9, 0.9], [False, True, True, False])
    >>> coverage, accuracy.round(2)
    (array([1.  , 0.75, 0.5 ]), array([0.5 , 0.67, 0.5 ]))
    """
    values, flags = check_certainty(certainty), check_flags(correct)
    check_consistent_length(values, flags)
    order = np.argsort(values)[::-1]
    descending = values[order]
    accepted = np.flatnonzero(np.append(descending[1:] != descending[:-1], True)) + 1  # the last of equal certainties
    n_correct = np.cumsum(flags[order])[accepted - 1]
    return AccuracyRejectCurve((accepted / len(order))[::-1], (n_correct / accepted)[::-1])


def path_curve(path: ThresholdPath) -> AccuracyRejectCurve:
    """The curve of a path, on the samples of its counts (see `ThresholdPath.evaluate` for others).

    On other samples coverage need not fall from point to point: the points are sorted, and those of equal coverage are
    averaged, because choosing the best of them would use the true classes.

    Examples
    --------
    >>> from lvq.rejection import local_thresholds
    >>> path = local_thresholds([0.1, 0.2, 0.8, 0.9], [False, True, False, True], [0, 0, 1, 1])
    >>> path_curve(path)
    AccuracyRejectCurve(coverage=array([1. , 0.5]), accuracy=array([0.5, 1. ]))
    """
    some = path.accepted > 0
    accepted, code = np.unique(path.accepted[some], return_inverse=True)
    accuracy = np.bincount(code, weights=path.accuracy[some]) / np.bincount(code)
    return AccuracyRejectCurve((accepted / path.n_samples)[::-1], accuracy[::-1])


def area_under_curve(curve: AccuracyRejectCurve) -> float:
    """Mean accuracy over the coverages from 0 to the highest of the curve.

    1 is the best; a certainty without information gives the accuracy of the classifier. The integral is exact.

    Parameters
    ----------
    curve : AccuracyRejectCurve

    Returns
    -------
    area : float

    Examples
    --------
    >>> area_under_curve(accuracy_reject_curve([0.5, 0.5], [True, False]))
    0.5
    """
    correct = curve.coverage * curve.accuracy
    right, left = curve.coverage[:-1], curve.coverage[1:]
    slope = (correct[:-1] - correct[1:]) / (right - left)
    offset = correct[:-1] - slope * right
    pieces = slope * (right - left) + offset * np.log(right / left)
    return float((pieces.sum() + correct[-1]) / curve.coverage[0])


def chow_scorer(cost: float) -> Callable[[BaseEstimator, MatrixLike, ArrayLike], float]:
    """A scorer by Chow's risk: minus the mean cost, where an error costs 1 and a rejection costs `cost`.

    It is for model selection, as in GridSearchCV: coverage alone is highest where nothing is rejected, and accepted
    accuracy where nearly everything is.

    Parameters
    ----------
    cost : float
        Cost of a rejection, between 0 and 1, the cost of an error.

    Returns
    -------
    scorer : callable
        A function of (estimator, X, y); larger is better, 0 is the best.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RejectClassifier(GLVQ(random_state=0), cost_ratio=0.2)
    >>> bool(cross_val_score(model, X, y, scoring=chow_scorer(cost=0.2)).mean() > -0.2)
    True
    """
    return partial(_negative_chow_risk, cost=check_fraction("cost", cost))


def _negative_chow_risk(estimator: BaseEstimator, X: MatrixLike, y: ArrayLike, *, cost: float) -> float:
    classifier, inputs = rejecting_layer(estimator, X)
    if classifier is None:
        raise ValueError(f"chow_scorer needs a RejectClassifier, or a Pipeline that ends in one, got {estimator!r}.")
    predictions, y = classifier.predictions(inputs), column_or_1d(y)
    check_consistent_length(predictions.predicted, y)
    accepted = classifier.reason_for(predictions) == ""
    return -float(np.mean(np.where(accepted, predictions.predicted != y, cost)))
