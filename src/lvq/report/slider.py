"""The positions of the report's slider: from "answer everything" to "answer hardly anything", on held-out samples.

Rules kept here:
- position 0 answers every sample; the others follow by falling coverage;
- a model that may reject is moved along its own path of thresholds, and the point it was fitted to is one of the
  positions; any other model by one threshold on its certainty;
- every number of a position is counted by `lvq.rejection` on the mask of accepted samples; the page only looks it up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lvq.rejection import certainty, confusion_with_reject
from lvq.rejection.measures import certainty_of
from lvq.rejection.path import ThresholdPath
from lvq.rejection.scorers import find_reject_classifier

MOST_POSITIONS = 101
SQUARE_CLASSES = 20  # with more, a square of counts can no longer be read: each class gets one row of totals
SHOWN_CLASSES = 60  # of those rows
FEW = 10  # accepted samples whose accuracy says nothing

Bools = NDArray[np.bool_]


class Sweep(NamedTuple):
    """Masks of accepted samples (n_positions, n_samples), each one's thresholds, and which the model itself uses."""

    accepted: Bools
    limits: list[tuple[float | None, float | None]]  # lowest and highest threshold; None where nothing is held back
    chosen: int
    certainty: NDArray[np.float64]
    reason: NDArray[Any]  # why the model itself rejects a sample; empty texts where it does not
    how: str


def sweep(model: Any, X: Any) -> Sweep:
    """All positions for a model and its held-out samples.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0], [4.0]], learning_rate=0).fit([[0], [4]], ["left", "right"])
    >>> positions = sweep(model, [[0.0], [1.0], [1.9]])
    >>> positions.accepted.sum(axis=1), positions.chosen
    (array([3, 2, 1]), 0)
    """
    reject, inputs = find_reject_classifier(model, X)
    if reject is None:
        values = np.asarray(certainty(model, X), dtype=np.float64)
        masks, limits = _one_threshold(values)
        return _in_order(masks, limits, masks[0], values, np.full(len(values), ""), "one threshold on the certainty")
    values, reason = reject.certainty(inputs), reject.reason(inputs)
    if isinstance(reject.path_, ThresholdPath):
        masks, limits = _along(reject, inputs, values)
        how = "along the model's own path of thresholds"
    else:  # classes with paths of their own have no common one
        masks, limits = _one_threshold(values)
        how = "one threshold on the certainty; the position as fitted has thresholds of its own"
    return _in_order(masks, limits, reason == "", values, reason, how)


def _fewest(n_samples: int) -> int:
    """Accepted samples below which a position is not shown, unless it is the model's own.

    A share of a handful of samples swings between 0 and 100 %, and would set the scale of the whole curve.
    """
    return max(1, min(FEW, n_samples // 3), n_samples // 100)


def _one_threshold(values: NDArray[np.float64]) -> tuple[list[Bools], list[Any]]:
    """Thresholds at about equally many samples from each other, out of the certainties themselves."""
    ascending = np.sort(values)
    last = len(values) - _fewest(len(values))
    levels = np.unique(ascending[np.linspace(0, last, MOST_POSITIONS).astype(np.intp)])
    limits: list[Any] = [(None, None), *((float(level), float(level)) for level in levels[1:])]
    return [np.ones(len(values), dtype=np.bool_), *(values >= level for level in levels[1:])], limits


def _along(reject: Any, inputs: Any, values: NDArray[np.float64]) -> tuple[list[Bools], list[Any]]:
    """Points of the path, at about equal steps of coverage; outliers stay rejected at each of them."""
    path, cell = reject.path_, reject.cell(inputs)
    wanted = np.linspace(path.coverage.max(), path.coverage.min(), MOST_POSITIONS)
    nearest = np.unique([np.abs(path.coverage - share).argmin() for share in wanted])
    points = [path.point(int(index)) for index in nearest]
    if reject.point_ is not None:
        points.append(reject.point_)
    kept = np.ones(len(values), dtype=np.bool_)
    if reject.outlier_limits_ is not None:
        typicality = certainty_of(reject.predictions(inputs), reject.measure_.outlier)
        kept = reject.outlier_limits_.accept(typicality, cell)
    return [point.accept(values, cell) & kept for point in points], [_range(point.thresholds) for point in points]


def _range(thresholds: NDArray[np.float64]) -> tuple[float | None, float | None]:
    finite = thresholds[np.isfinite(thresholds)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (None, None)


def _in_order(masks: list[Bools], limits: list[Any], own: Bools, values: Any, reason: Any, how: str) -> Sweep:
    """By falling coverage, each set of accepted samples once; the one that accepts all in front."""
    everyone = np.ones(len(own), dtype=np.bool_)
    masks, limits = [everyone, *masks, own], [(None, None), *limits, (None, None)]
    seen: dict[bytes, int] = {}
    for index, mask in enumerate(masks):
        if mask.sum() >= _fewest(len(own)) or mask is own:  # a share of few says little, one of none nothing
            seen.setdefault(mask.tobytes(), index)
    order = sorted(seen.values(), key=lambda index: -int(masks[index].sum()))
    chosen = order.index(seen[own.tobytes()])
    return Sweep(np.stack([masks[k] for k in order]), [limits[k] for k in order], chosen, values, reason, how)


def toggles(accepted: Bools) -> list[list[int]]:
    """For each sample the positions at which it changes sides; all are accepted at position 0.

    Examples
    --------
    >>> toggles(np.array([[True, True], [True, False], [True, True], [False, True]]))
    [[3], [1, 2]]
    """
    turns = accepted[1:] != accepted[:-1]
    return [(np.flatnonzero(turns[:, column]) + 1).tolist() for column in range(accepted.shape[1])]


def positions_of(found: Sweep, y: NDArray[Any], predicted: NDArray[Any], labels: NDArray[Any]) -> dict[str, Any]:
    """Coverage, accuracy and counts at every position."""
    n_accepted = found.accepted.sum(axis=1)
    n_right = (found.accepted & (predicted == y)).sum(axis=1)
    counts = _square if len(labels) <= SQUARE_CLASSES else _by_class
    reasons, n_rejected = np.unique(found.reason[found.reason != ""], return_counts=True)
    return {
        "how": found.how,
        "chosen": found.chosen,
        "n_accepted": n_accepted.tolist(),
        "n_errors": (n_accepted - n_right).tolist(),
        "coverage": (n_accepted / len(y)).tolist(),
        "accuracy": [int(k) / int(n) if n else None for k, n in zip(n_right, n_accepted)],
        "threshold": [list(pair) for pair in found.limits],
        "reasons": dict(zip(reasons.tolist(), n_rejected.tolist())),
        "confusion": None,
        "by_class": None,
        **counts(found.accepted, y, predicted, labels),
    }


def _square(accepted: Bools, y: NDArray[Any], predicted: NDArray[Any], labels: NDArray[Any]) -> dict[str, Any]:
    """Rows true, columns predicted, the last column rejected; one matrix a position."""
    return {
        "confusion": [confusion_with_reject(y, predicted, mask, labels=labels).matrix.tolist() for mask in accepted]
    }


def _by_class(accepted: Bools, y: NDArray[Any], predicted: NDArray[Any], labels: NDArray[Any]) -> dict[str, Any]:
    """Right, wrong and rejected of each class: the classes with most errors, and the rest in one row."""
    place = {label: index for index, label in enumerate(labels.tolist())}
    row = np.array([place[label] for label in y.tolist()])
    column = np.array([place[label] for label in predicted.tolist()])
    right = row == column
    table = np.stack([
        [np.bincount(row[side], minlength=len(labels)) for side in (mask & right, mask & ~right, ~mask)]
        for mask in accepted
    ])  # positions x (right, wrong, rejected) x classes  # fmt: skip
    order = np.argsort(-table[0, 1], kind="stable")
    shown, rest = order[:SHOWN_CLASSES], order[SHOWN_CLASSES:]
    rows: list[dict[str, Any]] = []
    for k in shown.tolist():
        others = column[(row == k) & ~right]
        taken_for = int(np.bincount(others).argmax()) if len(others) else None
        rows.append({"label": k, "counts": table[:, :, k].tolist(), "taken_for": taken_for})
    if len(rest):
        rows.append({"label": None, "counts": table[:, :, rest].sum(axis=2).tolist(), "taken_for": None})
    return {"by_class": rows}
