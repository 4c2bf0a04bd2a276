"""The nearest prototype in a metric that all share, by one product with folded prototypes.

Of (x - w_j)'Lambda(x - w_j) only ``b_j - 2 x'F_j`` differs between prototypes, with ``F_j = Lambda (w_j - c)`` and
``b_j = (w_j - c)'Lambda(w_j - c) + 2 c'F_j`` for any centre c: no projection of the samples and no copy of them. For
each row the rounding errors of these scores and of the distances are bounded; where the two best scores are closer than
the bound, the row is decided by the distances, so that every label is that of `Metric.distances`.
"""

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import eigh

from lvq.model.arrays import round_centre
from lvq.model.metrics import SharedMetric
from lvq.model.samples import Map
from lvq.model.sparse_rows import numbers

if TYPE_CHECKING:
    from lvq.model.prototype_model import PrototypeModel

BLOCK_BYTES = 2**22  # of samples and their scores that are worked on at a time, so that they stay in the cache
_known: "WeakKeyDictionary[PrototypeModel, dict[np.dtype, FoldedPrototypes]]" = WeakKeyDictionary()


def folded_prototypes(model: "PrototypeModel", dtype: np.dtype) -> "FoldedPrototypes":
    """The folded prototypes of a model, made once for each type of samples."""
    known = _known.setdefault(model, {})
    if dtype not in known:
        assert isinstance(model.metric, SharedMetric)
        known[dtype] = FoldedPrototypes(model.metric, model.prototypes, model.relevance, dtype)
    return known[dtype]


def largest_value(dtype: DTypeLike, n_features: int) -> float:
    """Largest absolute value of a feature whose squared distances cannot overflow."""
    return float(np.sqrt(float(np.finfo(dtype).max) / n_features) * 1e-7)


def within_limits(X: np.ndarray) -> bool:
    """Whether all values are finite and none is too large."""
    values, limit = numbers(X), largest_value(X.dtype, X.shape[1])
    return bool(values.min(initial=0) >= -limit and values.max(initial=0) <= limit)


class FoldedPrototypes:
    """Folded prototypes, for samples of one type.

    Parameters
    ----------
    metric : SharedMetric
        The metric.
    W, R : ndarray
        Prototypes and parameters of the metric.
    dtype : dtype
        Type of the samples.
    """

    def __init__(self, metric: SharedMetric, W: np.ndarray, R: np.ndarray | None, dtype: np.dtype) -> None:
        self.metric, self.W, self.R = metric, W, R
        centre = round_centre(W).astype(np.float64)
        V = W.astype(np.float64) - centre
        F, largest = _fold(V, R)
        offset = np.einsum("ij,ij->i", V, F) + 2 * F @ centre
        self.folded, self.offset = np.ascontiguousarray((-2 * F).T.astype(dtype)), offset.astype(dtype)
        # Errors of scores and of distances, both at most (n + 8) eps times the sizes of their terms; two of each enter
        # a difference. A distance has terms of size Lambda (|x|^2 + |c|^2), a score |F_j| (2 |x| + |w_j - c| + 2 |c|).
        unit = 2 * (W.shape[1] + 8) * float(np.finfo(dtype).eps)
        length, distance = float(np.sqrt(centre @ centre)), float(np.sqrt(np.einsum("ij,ij->i", V, V).max()))
        self.by_length = unit * 2 * float(np.sqrt(np.einsum("ij,ij->i", F, F).max()))
        self.by_square = unit * 2 * largest
        self.constant = self.by_length * (length + distance) + self.by_square * length**2
        self.limit = largest_value(dtype, W.shape[1]) ** 2

    def nearest(self, X: np.ndarray, mapping: Map = map) -> np.ndarray | None:
        """Index of the nearest prototype of each row; None where values are not finite or too large."""
        rows = max(16, BLOCK_BYTES // (sum(self.folded.shape) * X.itemsize))
        if len(X) <= rows:
            return self._nearest(X, whole=True)
        parts = list(mapping(self._nearest, (X[begin : begin + rows] for begin in range(0, len(X), rows))))
        found = [part for part in parts if part is not None]
        return np.concatenate(found) if len(found) == len(parts) else None

    def _nearest(self, X: np.ndarray, whole: bool = False) -> np.ndarray | None:
        squares = np.einsum("ij,ij->i", X, X)
        if not squares.max(initial=0) <= self.limit:  # not finite, or too large
            return None
        scores = X @ self.folded
        scores += self.offset
        winner = scores.argmin(axis=1)
        if scores.shape[1] == 1:
            return winner
        rows = np.arange(len(X))
        best = scores[rows, winner]
        scores[rows, winner] = np.inf
        gap = scores.min(axis=1) - best
        bound = self.constant + self.by_length * np.sqrt(squares) + self.by_square * squares
        close = np.flatnonzero(gap <= bound)
        if len(close) and whole:  # products of other rows may round otherwise, and scores are made of all rows
            winner[close] = self.metric.distances(X, self.W, self.R).argmin(axis=1)[close]
        elif len(close):
            winner[close] = self.metric.distances(X[close], self.W, self.R).argmin(axis=1)
        return winner


def _fold(V: np.ndarray, R: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Lambda v of each row v, and the largest eigenvalue of Lambda."""
    if R is None:
        return V, 1.0
    R = R.astype(np.float64)
    if R.ndim == 1:
        return V * R, float(R.max())
    G = R @ R.T if len(R) <= R.shape[1] else R.T @ R
    return (V @ R.T) @ R, (1 + 1e-6) * float(eigh(G, eigvals_only=True, subset_by_index=(len(G) - 1, len(G) - 1))[0])
