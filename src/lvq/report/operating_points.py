"""The operating points of the report's slider: from accepting all held-out samples to rejecting most of them.

- Point 0 accepts every sample; the others follow by decreasing coverage.
- A model that may reject moves along its own path of thresholds, and the point it was fitted to is one of the points.
  Any other model has one threshold on its certainty.
- All numbers are counted on the mask of accepted samples; the page only looks them up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from lvq.rejection import RejectClassifier, certainty
from lvq.rejection.classifier import find_reject_classifier
from lvq.rejection.curves import confusion_with_reject
from lvq.rejection.path import OperatingPoint, ThresholdPath
from lvq.rejection.scores import certainty_of
from lvq.typing import JSONValue, MatrixLike

MAX_POINTS = 101
MAX_CONFUSION_CLASSES = 20  # with more classes each has one row of totals instead of a confusion matrix
MAX_CLASS_ROWS = 60
MIN_ACCEPTED = 10  # accepted samples below which an accuracy is not meaningful
ONE_THRESHOLD = "one threshold on the certainty"

Bools = NDArray[np.bool_]
Threshold = tuple[float | None, float | None]  # lowest and highest; None where nothing is rejected


class OperatingPoints(NamedTuple):
    """Masks of accepted samples, (n_points, n_samples), with their thresholds."""

    accepted: Bools
    thresholds: list[Threshold]
    fitted: int  # the point that the model itself uses
    certainty: NDArray[np.float64]
    reason: NDArray[np.str_]  # why the model itself rejects a sample; "" for accepted samples
    method: str


def operating_points(model: BaseEstimator, X: MatrixLike) -> OperatingPoints:
    """All operating points of a model on held-out samples.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0], [4.0]], learning_rate=0).fit([[0], [4]], ["left", "right"])
    >>> points = operating_points(model, [[0.0], [1.0], [1.9]])
    >>> points.accepted.sum(axis=1), points.fitted
    (array([3, 2, 1]), 0)
    """
    reject, inputs = find_reject_classifier(model, X)
    if reject is None:
        values = np.asarray(certainty(model, X), dtype=np.float64)
        return _by_coverage(*_one_threshold(values), values, np.full(len(values), ""), ONE_THRESHOLD)
    values, reason = reject.certainty(inputs), reject.reason(inputs)
    if isinstance(reject.path_, ThresholdPath):
        along = _along_path(reject, reject.path_, inputs, values)
        return _by_coverage(*along, values, reason, "the model's own path of thresholds")
    # classes with separate paths have no common one
    return _by_coverage(
        *_one_threshold(values), values, reason, f"{ONE_THRESHOLD}; the operating point as fitted has several"
    )


def _min_accepted(n_samples: int) -> int:
    """Accepted samples below which a point is not shown, unless it is the model's own."""
    return max(1, min(MIN_ACCEPTED, n_samples // 3), n_samples // 100)


def _one_threshold(values: NDArray[np.float64]) -> tuple[list[Bools], list[Threshold]]:
    """Thresholds among the certainties, with about equally many samples between two."""
    last = len(values) - _min_accepted(len(values))
    levels = np.unique(np.sort(values)[np.linspace(0, last, MAX_POINTS).astype(np.intp)])[1:]
    return [values >= level for level in levels], [(float(level), float(level)) for level in levels]


def _along_path(
    reject: RejectClassifier, path: ThresholdPath, inputs: MatrixLike, values: NDArray[np.float64]
) -> tuple[list[Bools], list[Threshold]]:
    """Points of the path, at about equal steps of coverage; each rejects outliers."""
    cell = reject.cell(inputs)
    targets = np.linspace(path.coverage.max(), path.coverage.min(), MAX_POINTS)
    nearest = np.unique([np.abs(path.coverage - target).argmin() for target in targets])
    points = [path.point(int(index)) for index in nearest]
    if isinstance(reject.point_, OperatingPoint):
        points.append(reject.point_)
    typical = np.ones(len(values), dtype=np.bool_)
    if reject.outlier_limits_ is not None:
        typicality = certainty_of(reject.predictions(inputs), reject.measure_.outlier)
        typical = reject.outlier_limits_.accept(typicality, cell)
    return [point.accept(values, cell) & typical for point in points], [_range(point.thresholds) for point in points]


def _range(thresholds: NDArray[np.float64]) -> Threshold:
    finite = thresholds[np.isfinite(thresholds)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (None, None)


def _by_coverage(
    masks: list[Bools], thresholds: list[Threshold], values: NDArray[np.float64], reason: NDArray[np.str_], method: str
) -> OperatingPoints:
    """Each set of accepted samples once, by decreasing coverage; first the one that accepts all."""
    fitted = reason == ""
    masks, thresholds = [np.ones_like(fitted), *masks, fitted], [(None, None), *thresholds, (None, None)]
    distinct: dict[bytes, int] = {}
    for index, mask in enumerate(masks):
        if mask.sum() >= _min_accepted(len(fitted)) or mask is fitted:
            distinct.setdefault(mask.tobytes(), index)
    order = sorted(distinct.values(), key=lambda index: -int(masks[index].sum()))
    accepted, own = np.stack([masks[k] for k in order]), order.index(distinct[fitted.tobytes()])
    return OperatingPoints(accepted, [thresholds[k] for k in order], own, values, reason, method)


def toggles(accepted: Bools) -> list[list[int]]:
    """For each sample the points at which it becomes rejected or accepted again; all are accepted at point 0.

    Examples
    --------
    >>> toggles(np.array([[True, True], [True, False], [True, True], [False, True]]))
    [[3], [1, 2]]
    """
    changes = accepted[1:] != accepted[:-1]
    return [(np.flatnonzero(changes[:, column]) + 1).tolist() for column in range(accepted.shape[1])]


def rejection_section(
    points: OperatingPoints, y: np.ndarray, predicted: np.ndarray, n_classes: int
) -> dict[str, JSONValue]:
    """Coverage, accuracy and counts at every operating point; `y` and `predicted` are class indices."""
    n_accepted = points.accepted.sum(axis=1)
    n_correct = (points.accepted & (predicted == y)).sum(axis=1)
    reasons, n_rejected = np.unique(points.reason[points.reason != ""], return_counts=True)
    square = n_classes <= MAX_CONFUSION_CLASSES
    return {
        "method": points.method,
        "fitted": points.fitted,
        "n_accepted": n_accepted.tolist(),
        "n_errors": (n_accepted - n_correct).tolist(),
        "coverage": (n_accepted / len(y)).tolist(),
        "accuracy": [int(k) / int(n) if n else None for k, n in zip(n_correct, n_accepted)],
        "threshold": [list(pair) for pair in points.thresholds],
        "reasons": dict(zip(reasons.tolist(), n_rejected.tolist())),
        "confusion": _confusion(points.accepted, y, predicted, n_classes) if square else None,
        "by_class": None if square else _by_class(points.accepted, y, predicted, n_classes),
    }


def _confusion(accepted: Bools, y: np.ndarray, predicted: np.ndarray, n_classes: int) -> list[list[list[int]]]:
    """For each point a matrix: rows true, columns predicted, the last column rejected."""
    labels = np.arange(n_classes)
    return [confusion_with_reject(y, predicted, mask, labels=labels).matrix.tolist() for mask in accepted]


def _by_class(accepted: Bools, y: np.ndarray, predicted: np.ndarray, n_classes: int) -> list[dict[str, JSONValue]]:
    """Correct, wrong and rejected samples of each class: the classes with most errors, and the others in one row."""
    correct = y == predicted
    table = np.stack([
        [np.bincount(y[part], minlength=n_classes) for part in (mask & correct, mask & ~correct, ~mask)]
        for mask in accepted
    ])  # points x (correct, wrong, rejected) x classes  # fmt: skip
    order = np.argsort(-table[0, 1], kind="stable")
    rows: list[dict[str, JSONValue]] = []
    for k in order[:MAX_CLASS_ROWS].tolist():
        errors = predicted[(y == k) & ~correct]
        confused = int(np.bincount(errors).argmax()) if len(errors) else None
        rows.append({"label": k, "counts": table[:, :, k].tolist(), "most_frequent_error": confused})
    if n_classes > MAX_CLASS_ROWS:
        others = table[:, :, order[MAX_CLASS_ROWS:]].sum(axis=2)
        rows.append({"label": None, "counts": others.tolist(), "most_frequent_error": None})
    return rows
