"""The nearest prototypes of each sample, own and other or of each class, from distances or scores.

Ties go to the lowest index.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lvq.model.arrays import as_numpy, beside, first_argmin, namespace, take_columns
from lvq.typing import Array

SMALL = 2**13  # scores up to which masks are faster than slices
LONG = 4  # samples of the same class one after another, on average, from which slices are faster


class NearestPair(NamedTuple):
    """The nearest prototype of the true class and the nearest of all others, for each sample."""

    own: Array
    other: Array
    d_plus: Array
    d_minus: Array


def nearest_pair(scores: Array, y: Array, labels: Array) -> NearestPair:
    """Find d+ and d- and the indices of their prototypes; the array of scores is used up.

    Labels ascend. Samples that are ordered by class are searched class by class, in slices.

    Examples
    --------
    >>> import numpy as np
    >>> pair = nearest_pair(np.array([[3.0, 1.0, 2.0]]), np.array([0]), np.array([0, 1, 1]))
    >>> int(pair.own[0]), int(pair.other[0]), float(pair.d_plus[0]), float(pair.d_minus[0])
    (0, 1, 3.0, 1.0)
    """
    if namespace(scores) is np and scores.size > SMALL:
        runs = [0, *(np.flatnonzero(y[1:] != y[:-1]) + 1).tolist(), len(y)]
        if len(y) >= LONG * len(runs):
            own, d_plus = _own_by_run(scores, y, labels, runs)
            other = scores.argmin(axis=1)
            return NearestPair(own, other, d_plus, take_columns(scores, other))
    mine, infinity = y[:, None] == labels[None, :], float("inf")
    xp = namespace(scores)
    own = first_argmin(np.where(mine, scores, infinity) if xp is np else scores.masked_fill(~mine, infinity))
    d_plus = take_columns(scores, own)
    if xp is np:
        np.putmask(scores, mine, infinity)
    else:
        scores.masked_fill_(mine, infinity)
    other = first_argmin(scores)
    return NearestPair(own, other, d_plus, take_columns(scores, other))


def class_starts(labels: Array) -> np.ndarray:
    """Index of the first prototype of each class that has any; labels ascend.

    Examples
    --------
    >>> import numpy as np
    >>> class_starts(np.array([0, 0, 2])).tolist()
    [0, 2]
    """
    return np.flatnonzero(np.diff(as_numpy(labels), prepend=-1))


def nearest_by_class(scores: Array, starts: np.ndarray) -> Array:
    """Index of the nearest prototype of each class, (N, C); `starts` are those of `class_starts`.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_by_class(np.array([[3.0, 1.0, 2.0]]), np.array([0, 2])).tolist()
    [[1, 2]]
    """
    counts = np.diff(starts, append=scores.shape[1])
    if (counts == counts[0]).all():
        index = first_argmin(scores.reshape(-1, int(counts[0]))).reshape(-1, len(counts))
    else:
        parts = [scores[:, start : start + count] for start, count in zip(starts.tolist(), counts.tolist())]
        index = namespace(scores).stack([first_argmin(part) for part in parts], 1)
    return index + beside(starts, scores)


def _own_by_run(
    scores: np.ndarray, y: np.ndarray, labels: np.ndarray, runs: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest own prototype and its score; the scores of all own prototypes become infinite."""
    own, d_plus = np.empty(len(y), dtype=np.intp), np.empty(len(y), dtype=scores.dtype)
    for begin, end in pairwise(runs):
        low, high = np.searchsorted(labels, (y[begin], y[begin] + 1))
        mine = scores[begin:end, low:high]
        nearest = mine.argmin(axis=1)
        own[begin:end] = nearest + low
        d_plus[begin:end] = take_columns(mine, nearest)
        mine[...] = np.inf
    return own, d_plus
