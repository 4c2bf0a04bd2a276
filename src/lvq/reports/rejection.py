"""The operating points of the report's slider: from accepting all held-out samples to rejecting most of them.

- Point 0 accepts every sample; the others follow by decreasing coverage.
- The slider moves one threshold on the certainty. The point that the model itself uses is among the points.
- All numbers are counted on the mask of accepted samples; the page only looks them up.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from lvq.reports.held_out import HeldOut
from lvq.reports.metrics import Bools, Codes
from lvq.typing import Floats

MAX_POINTS = 101
MAX_CONFUSION_CLASSES = 10  # with more classes there is no confusion matrix
MIN_ACCEPTED = 10  # accepted samples below which an accuracy is not meaningful


@dataclass(frozen=True)
class Rejection:
    """Lists have an entry for each operating point; `fitted` is the point of the model itself."""

    fitted: int
    n_accepted: list[int]
    n_errors: list[int]
    coverage: list[float]
    accuracy: list[float | None]
    threshold: list[float | None]
    reasons: dict[str, int]
    confusion: list[list[list[int]]] | None  # rows true, columns predicted, the last column rejected


# masks of accepted samples (n_points, n_samples), their thresholds, and the point that the model itself uses
OperatingPoints = tuple[Bools, list[float | None], int]


def operating_points(certainty: Floats, reason: np.ndarray) -> OperatingPoints:
    """The operating points of the slider; a sample of an unknown category stays rejected.

    Examples
    --------
    >>> accepted, thresholds, fitted = operating_points(np.array([0.9, 0.5, 0.7]), np.array(["", "ambiguous", ""]))
    >>> accepted.sum(axis=1), thresholds, fitted
    (array([3, 2, 1]), [None, 0.7, 0.9], 1)
    """
    fewest = max(1, min(MIN_ACCEPTED, len(certainty) // 3), len(certainty) // 100)
    typical, own = reason != "unknown category", reason == ""
    places = np.linspace(0, len(certainty) - fewest, MAX_POINTS).astype(np.intp)
    levels: list[float] = np.unique(np.sort(certainty)[places]).tolist()
    masks: dict[bytes, float | None] = {((certainty >= level) & typical).tobytes(): level for level in reversed(levels)}
    masks[np.ones_like(own).tobytes()] = None
    masks.setdefault(own.tobytes(), None)
    every = [(np.frombuffer(mask, dtype=bool), level) for mask, level in masks.items()]
    kept = [(mask, level) for mask, level in every if mask.sum() >= fewest or np.array_equal(mask, own)]
    kept.sort(key=lambda point: -int(point[0].sum()))
    accepted = np.stack([mask for mask, _ in kept])
    return accepted, [level for _, level in kept], int((accepted == own).all(axis=1).argmax())


def toggles(accepted: Bools) -> list[list[int]]:
    """For each sample the points at which it becomes rejected or accepted again; all are accepted at point 0.

    Examples
    --------
    >>> toggles(np.array([[True, True], [True, False], [True, True], [False, True]]))
    [[3], [1, 2]]
    """
    changes = accepted[1:] != accepted[:-1]
    return [(np.flatnonzero(changes[:, column]) + 1).tolist() for column in range(accepted.shape[1])]


def rejection_of(held_out: HeldOut, points: OperatingPoints) -> Rejection:
    """Coverage, accuracy and counts at every operating point."""
    accepted, thresholds, fitted = points
    y, predicted, n_classes = held_out.y, held_out.predicted, len(held_out.labels)
    n_accepted, n_correct = accepted.sum(axis=1), (accepted & held_out.correct).sum(axis=1)
    square, reasons = n_classes <= MAX_CONFUSION_CLASSES, held_out.reason[~held_out.accepted]
    return Rejection(
        fitted=fitted,
        n_accepted=n_accepted.tolist(),
        n_errors=(n_accepted - n_correct).tolist(),
        coverage=(n_accepted / len(y)).tolist(),
        accuracy=[int(k) / int(n) if n else None for k, n in zip(n_correct, n_accepted)],
        threshold=thresholds,
        reasons=dict(Counter(reasons.tolist()).most_common()),
        confusion=[_confusion(mask, y, predicted, n_classes) for mask in accepted] if square else None,
    )


def _confusion(accepted: Bools, y: Codes, predicted: Codes, n_classes: int) -> list[list[int]]:
    column = np.where(accepted, predicted, n_classes)
    counts = np.bincount(y * (n_classes + 1) + column, minlength=n_classes * (n_classes + 1))
    return counts.reshape(n_classes, n_classes + 1).tolist()
