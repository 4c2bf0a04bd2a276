"""Accuracy-reject curves: accuracy of the accepted samples by coverage.

Rules:
- a curve has a point for every attainable threshold (no grid), by falling coverage, always above 0;
- between two points the number of accepted correct samples is linear in coverage, as for a random choice between the
  two. Below the last point samples are rejected at random, so the accuracy is constant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from lvq.rejection.path import ThresholdPath, check_certainty, check_flags
from lvq.typing import Floats


class AccuracyRejectCurve(NamedTuple):
    """Accuracy of the accepted samples by coverage; coverage falls strictly and stays above 0."""

    coverage: Floats
    accuracy: Floats


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

    On other samples coverage may rise from point to point: the points are sorted, and points of equal coverage are
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
