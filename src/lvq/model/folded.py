"""The nearest prototype in a metric that all share, by one product with folded prototypes.

Of (x - w_j)'Lambda(x - w_j) only ``b_j - 2 x'F_j`` differs between prototypes, with ``F_j = Lambda (w_j - c)`` and
``b_j = (w_j - c)'Lambda(w_j - c) + 2 c'F_j`` for any centre c: no projection, no squares, no copy of X. Rounding is
bounded for each row; where the two best scores are closer than the bound, the row is decided by `Metric.distances`, so
that every label is that of the exact distances.
"""

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np

from lvq.model.arrays import round_centre
from lvq.model.metrics import Diagonal, Matrix, SharedMetric
from lvq.model.samples import Map

BLOCK_BYTES = 2**21  # of samples that are worked on at a time: they stay in the cache
_known: WeakKeyDictionary = WeakKeyDictionary()


class FoldedPrototypes:
    """Folded prototypes of a model, for samples of one type.

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
        F = fold(metric, V, R)
        offset = np.einsum("ij,ij->i", V, F) + 2 * F @ centre
        self.folded = np.ascontiguousarray((-2 * F).T.astype(dtype))
        self.offset = offset.astype(dtype)
        largest = 1.0 if R is None else float(R.max() if R.ndim == 1 else np.square(R, dtype=np.float64).sum())
        unit = 2 * (W.shape[1] + 8) * float(np.finfo(dtype).eps)
        self.by_norm = unit * 2 * float(np.linalg.norm(F, axis=1).max())
        self.by_square = unit * largest * 2
        self.constant = unit * (float(np.abs(offset).max()) + 2 * largest * float(centre @ centre))

    def nearest(self, X: np.ndarray) -> np.ndarray | None:
        """Index of the nearest prototype of each row; None where values are not finite or too large."""
        squares = np.einsum("ij,ij->i", X, X)
        scores = X @ self.folded
        scores += self.offset
        winner = scores.argmin(axis=1)
        rows = np.arange(len(X))
        best = scores[rows, winner]
        if not np.isfinite(squares).all() or not np.isfinite(best).all():
            return None
        if scores.shape[1] == 1:
            return winner
        scores[rows, winner] = np.inf
        gap = scores.min(axis=1) - best
        squares = squares.astype(np.float64)
        bound = self.constant + self.by_norm * np.sqrt(squares) + self.by_square * squares
        close = np.flatnonzero(gap <= bound)
        if len(close):
            winner[close] = self.metric.distances(X[close], self.W, self.R).argmin(axis=1)
        return winner

    def nearest_of_all(self, X: np.ndarray, mapping: Map = map) -> np.ndarray | None:
        """The same for many rows, block by block."""
        rows = max(64, BLOCK_BYTES // max(1, X.shape[1] * X.itemsize))
        if len(X) <= rows:
            return self.nearest(X)
        blocks = (X[begin : begin + rows] for begin in range(0, len(X), rows))
        parts = list(mapping(self.nearest, blocks))
        return None if any(part is None for part in parts) else np.concatenate(parts)


def fold(metric: SharedMetric, V: np.ndarray, R: np.ndarray | None) -> np.ndarray:
    """Lambda v of each row v."""
    if R is None:
        return V
    R = R.astype(np.float64)
    if isinstance(metric, Diagonal):
        return V * R
    assert isinstance(metric, Matrix)
    return (V @ R.T) @ R


def folded_prototypes(model: object, make: Callable[[], FoldedPrototypes], dtype: np.dtype) -> FoldedPrototypes:
    """The folded prototypes of a model, made once for each type of samples."""
    known = _known.setdefault(model, {})
    if dtype not in known:
        known[dtype] = make()
    return known[dtype]
