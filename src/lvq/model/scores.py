"""Scores and probabilities from distances. The largest always belongs to the predicted class."""

import numpy as np
from scipy.special import softmax

from lvq.model.links import Link


def class_distances(distances: np.ndarray, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Smallest distance of each class; infinite for a class without prototypes.

    Examples
    --------
    >>> import numpy as np
    >>> class_distances(np.array([[3.0, 1.0, 2.0]]), np.array([0, 2, 2]), 3).tolist()
    [[3.0, inf, 1.0]]
    """
    smallest = np.full((len(distances), n_classes), np.inf, dtype=distances.dtype)
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    smallest[:, labels[starts]] = np.minimum.reduceat(distances, starts, axis=1)
    return smallest


def class_scores(link: Link, distances: np.ndarray, xi: float | None) -> np.ndarray:
    """How much nearer each class is than all others, from the classes' smallest squared distances.

    xi (d_other - d_k) for a cost with a steepness xi, else (d_other - d_k)/(d_other + d_k) in [-1, 1].
    """
    linked = _linked(link, distances)
    nearest, second = _two_smallest(linked)
    others = np.where(np.arange(linked.shape[1]) == nearest[:, None], second[:, None], linked.min(axis=1)[:, None])
    known = np.isfinite(linked)
    gap = others - np.where(known, linked, 0)
    if xi is not None:
        largest = float(np.finfo(distances.dtype).max)  # a tiny spread makes xi too large for float32
        steep = np.clip(xi * gap.astype(np.float64), -largest, largest).astype(distances.dtype)
        return make_largest(np.where(known, steep, -np.inf), distances.argmin(axis=1))
    total = np.where(np.isfinite(others), others + np.where(known, linked, 0), np.inf)
    scores = np.where(np.isfinite(total) & (total > 0), gap, 0) / np.where(total > 0, total, 1)
    scores = np.where(np.isfinite(others), scores, 1)  # no other class has prototypes yet
    return make_largest(np.where(known, scores, -1), distances.argmin(axis=1))


def class_probabilities(link: Link, distances: np.ndarray, xi: float | None, sharpness: float) -> np.ndarray:
    """Softmax of -xi d_k for a cost with a steepness xi, else of the relative scores times half the sharpness.

    With two classes both are the logistic function of the score, so that scores and probabilities rank alike.
    """
    if xi is None:
        scores = class_scores(link, distances, None)
        return make_largest(softmax(scores * (sharpness / 2), axis=1), distances.argmin(axis=1))
    linked = _linked(link, distances)
    behind = (linked - linked.min(axis=1, keepdims=True)).astype(np.float64)
    table = softmax(-xi * behind, axis=1).astype(distances.dtype)
    return make_largest(table, distances.argmin(axis=1))


def posterior(link: Link, distances: np.ndarray, labels: np.ndarray, n_classes: int, xi: float) -> np.ndarray:
    """Sum over each class's prototypes of softmax(-xi H), in float64."""
    memberships = softmax(-xi * link.value(distances).astype(np.float64), axis=1)
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    result = np.zeros((len(distances), n_classes))
    result[:, labels[starts]] = np.add.reduceat(memberships, starts, axis=1)
    return result


def _linked(link: Link, distances: np.ndarray) -> np.ndarray:
    known = np.isfinite(distances)
    linked = np.where(known, link.value(np.where(known, distances, 0)), np.inf)
    # rounding in a kernel can exchange neighbours; none is nearer than the nearest in D
    return np.maximum(linked, np.take_along_axis(linked, distances.argmin(axis=1)[:, None], axis=1))


def _two_smallest(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    nearest = values.argmin(axis=1)
    rest = values.copy()
    rest[np.arange(len(values)), nearest] = np.inf
    return nearest, rest.min(axis=1)


def make_largest(scores: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Scores in which that of the predicted class is the largest.

    Far from all prototypes a kernel saturates and all classes tie; rounding can do the same.
    """
    rows = np.flatnonzero(scores.argmax(axis=1) != predicted)
    if len(rows):
        largest = scores[rows].max(axis=1)
        scores[rows, predicted[rows]] = np.nextafter(largest, np.asarray(np.inf, dtype=scores.dtype))
    return scores
