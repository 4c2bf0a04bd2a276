"""Predictions in a metric that all prototypes share, by one product with folded prototypes.

Of |Omega (x - w_j)|^2 only ``b_j - 2 x'F_j`` differs between prototypes. ``p_j = Omega (w_j - c)`` are their images
relative to any centre c, ``F_j = Omega'p_j`` and ``b_j = |p_j|^2 + 2 c'F_j``: samples are neither projected nor copied.
For each row the rounding errors of these scores and of the distances are bounded. Where the score of a prototype of
another class is closer to the best than the bound, the distances decide, so that every label is that of
`SharedMetric.distances`.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import DTypeLike

from lvq.model.metrics import Diagonal, Matrix, PreparedPrototypes, SharedMetric, additions
from lvq.model.samples import Map
from lvq.model.sparse_rows import numbers

if TYPE_CHECKING:
    from lvq.model.prototype_model import PrototypeModel

BLOCK_BYTES = 2**22  # of samples and their scores that are worked on at a time, so that they stay in the cache
RUN, RUNS = 4, 4  # blocks that a thread works on one after the other, at most; runs of blocks, at least
POWER_STEPS = 5  # of the power method that bounds an eigenvalue
DOUBLE, LEAST = float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)
NO_ROWS = np.empty(0, dtype=np.intp)
_prepared: "WeakKeyDictionary[PrototypeModel, PreparedPrototypes]" = WeakKeyDictionary()
_known: "WeakKeyDictionary[PrototypeModel, dict[np.dtype, FoldedPrototypes]]" = WeakKeyDictionary()
_dot = getattr(np, "vecdot", lambda one, other: np.einsum("ij,ij->i", one, other))  # NumPy 2 is faster


class Decided(NamedTuple):
    """Class indices, and the rows whose two nearest classes are closer than rounding errors."""

    labels: np.ndarray
    close: np.ndarray


def prepared_prototypes(model: "PrototypeModel") -> PreparedPrototypes:
    """The prepared prototypes of a model with a shared metric, made once."""
    known = _prepared.get(model)
    if known is None:
        assert isinstance(model.metric, SharedMetric)
        known = _prepared[model] = model.metric.prepared(model.prototypes, model.relevance)
    return known


def folded_prototypes(model: "PrototypeModel", dtype: np.dtype) -> "FoldedPrototypes":
    """The folded prototypes of a model, made once for each type of samples."""
    known = _known.setdefault(model, {})
    if dtype not in known:
        assert isinstance(model.metric, SharedMetric)
        prepared = prepared_prototypes(model)
        known[dtype] = FoldedPrototypes(model.metric, prepared, model.relevance, model.labels, dtype)
    return known[dtype]


def largest_value(dtype: DTypeLike, n_features: int) -> float:
    """Largest absolute value of a feature whose squared distances cannot overflow."""
    return float(np.sqrt(float(np.finfo(dtype).max) / n_features) * 1e-7)


def within_limits(X: np.ndarray, *, missing: bool = False) -> bool:
    """Whether all values are finite and none is too large; or all that are not missing."""
    values, limit = numbers(X), largest_value(X.dtype, X.shape[1])
    if missing:
        return bool(
            np.fmin.reduce(values, None, initial=0) >= -limit and np.fmax.reduce(values, None, initial=0) <= limit
        )
    return bool(values.min(initial=0) >= -limit and values.max(initial=0) <= limit)


class FoldedPrototypes:
    """Folded prototypes, for samples of one type.

    Parameters
    ----------
    metric : SharedMetric
        The metric.
    prepared : PreparedPrototypes
        Images of the prototypes.
    R : ndarray or None
        Parameters of the metric.
    labels : ndarray
        Class index of each prototype.
    dtype : dtype
        Type of the samples.
    """

    def __init__(
        self,
        metric: SharedMetric,
        prepared: PreparedPrototypes,
        R: np.ndarray | None,
        labels: np.ndarray,
        dtype: np.dtype,
    ) -> None:
        self.labels = labels
        P, centre = prepared.P.astype(np.float64), prepared.centre.astype(np.float64)
        F = _back(metric, P, R)
        offset = prepared.squares + 2 * F @ centre
        self.folded, self.offset = np.ascontiguousarray((-2 * F).T.astype(dtype)), offset.astype(dtype)
        self.bound = _bound(metric, prepared, R, F, float(np.abs(offset).max()), dtype)
        self.limit = largest_value(dtype, len(self.folded)) ** 2

    def predicted(self, X: np.ndarray, mapping: Map = map) -> Decided | None:
        """Class index of each row, and the rows that need the distances; None for values not finite or too large."""
        rows = max(16, BLOCK_BYTES // (sum(self.folded.shape) * X.itemsize))
        return in_blocks(self._predicted_run, X, rows, mapping)

    def reach(self, X: np.ndarray) -> np.ndarray | None:
        """Bound of the rounding errors of differences, for each row; None for values not finite or too large."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = _dot(X, X)
        if not squares.max(initial=0) <= self.limit:
            return None
        lengths = np.sqrt(squares, dtype=np.float64)
        return self.bound[0] + lengths * (self.bound[1] + lengths * self.bound[2])

    def _predicted_run(self, blocks: Sequence[np.ndarray]) -> list[Decided | None]:
        """Those of several blocks, in the same memory: fresh memory has to be mapped, which threads wait for."""
        scores = np.empty((len(blocks[0]), len(self.offset)), dtype=blocks[0].dtype)
        near = np.empty(scores.shape, dtype=bool)
        return [self._predicted(block, scores[: len(block)], near[: len(block)]) for block in blocks]

    def _predicted(self, X: np.ndarray, scores: np.ndarray, near: np.ndarray) -> Decided | None:
        reach = self.reach(X)
        if reach is None:
            return None
        np.matmul(X, self.folded, out=scores)
        scores += self.offset
        winner = scores.argmin(axis=1)
        predicted = self.labels[winner]
        if self.labels[0] == self.labels[-1]:
            return Decided(predicted, NO_ROWS)
        places = winner + np.arange(0, scores.size, scores.shape[1])
        reach += scores.reshape(-1)[places]
        np.less_equal(scores, reach.astype(scores.dtype)[:, None], out=near)
        near.reshape(-1)[places] = False
        if not near.any():
            return Decided(predicted, NO_ROWS)
        row, prototype = np.divmod(few_places(near.reshape(-1)), scores.shape[1])
        return Decided(predicted, np.unique(row[self.labels[prototype] != predicted[row]]))


def few_places(flags: np.ndarray) -> np.ndarray:
    """Where flags are true, if few are: words of eight are searched, in less than half of the time of `flatnonzero`.

    Examples
    --------
    >>> few_places(np.array([False] * 9 + [True] + [False] * 9 + [True])).tolist()
    [9, 19]
    """
    whole = len(flags) // 8 * 8
    words = np.flatnonzero(flags[:whole].view(np.uint64) != 0)
    places = (8 * words[:, None] + np.arange(8)).ravel()
    return np.concatenate([places[flags[places]], whole + np.flatnonzero(flags[whole:])])


def in_blocks(
    function: Callable[[Sequence[np.ndarray]], list[Decided | None]], X: np.ndarray, rows: int, mapping: Map
) -> Decided | None:
    """What a function of a run of blocks decides for all rows; None where it is None for one of the blocks."""
    if len(X) <= rows:
        return function([X])[0]
    begins = range(0, len(X), rows)
    blocks = [X[begin : begin + rows] for begin in begins]
    length = max(1, min(RUN, len(blocks) // RUNS))
    runs = [blocks[first : first + length] for first in range(0, len(blocks), length)]
    made = [part for parts in mapping(function, runs) for part in parts]
    parts = [part for part in made if part is not None]
    if len(parts) < len(made):
        return None
    close = [begin + part.close for begin, part in zip(begins, parts) if len(part.close)]
    return Decided(np.concatenate([part.labels for part in parts]), np.concatenate(close or [NO_ROWS]))


def _bound(
    metric: SharedMetric,
    prepared: PreparedPrototypes,
    R: np.ndarray | None,
    F: np.ndarray,
    offset: float,
    dtype: np.dtype,
) -> tuple[float, float, float]:
    """Coefficients of 1, |x| and |x|^2 in a bound of the rounding errors of a difference between two prototypes.

    A sum of k products a'b has an error of at most k u |a|'|b|, with u half of the type's epsilon. Scores have it for
    x'F_j, and are compared in their own type. Distances have it for p_j'z and, with a matrix, for the image z of x - c,
    whose components are at most |Omega| |x - c|; so |Omega|'|p_j| bounds both. Some single roundings of size
    (|z| + |p_j|)^2 follow. Distances are cut at 0, where they could become equal, so their own errors near 0 count as
    well.
    """
    P, centre = prepared.P.astype(np.float64), prepared.centre.astype(np.float64)
    (n, m), double = (F.shape[1], P.shape[1]), DOUBLE / 2
    u = float(np.finfo(dtype).eps) / 2
    of_distances = additions(m, dtype) + 3 + (additions(n, dtype) if isinstance(metric, Matrix) else 0)
    by_score = 4 * (n + 4) * u * _longest(F)
    by_distance = 4 * (of_distances * u + (n + m) * double) * _longest(_back(metric, P, R, absolute=True))
    most, far, longest = stretch(metric, R), float(np.sqrt(centre @ centre)), _longest(P)
    around, single = most * far + longest, 8 * u + m * double
    cut = float(np.abs(prepared.squares - np.einsum("ij,ij->i", P, P)).max()) + m * double * longest**2
    underflow = 16 * (n + m) * float(np.finfo(dtype).tiny) * (1 + float(np.abs(P).sum(axis=1).max()))
    slack = 1.01 / max(1 - 2 * (n + m) * u, LEAST)  # errors of errors, and of |x|
    constant = 8 * u * offset + by_distance * far + single * around**2 + cut + underflow
    return (
        slack * constant,
        slack * (by_score + by_distance + 2 * single * most * around),
        slack * single * most**2,
    )


def _longest(rows: np.ndarray) -> float:
    return float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max()))


def _back(metric: SharedMetric, P: np.ndarray, R: np.ndarray | None, *, absolute: bool = False) -> np.ndarray:
    """Omega'p of each row p; or of the absolute values of both."""
    P = np.abs(P) if absolute else P
    if R is None:
        return P
    if isinstance(metric, Diagonal):
        return P * R**0.5
    return P @ (np.abs(R) if absolute else R).astype(np.float64)


def stretch(metric: SharedMetric, R: np.ndarray | None) -> float:
    """A bound of |Omega x| for |x| = 1."""
    if R is None:
        return 1.0
    if isinstance(metric, Diagonal):
        return float(R.max()) ** 0.5
    size, x = np.abs(R).astype(np.float64), np.ones(R.shape[1])
    smallest = float(np.square(size).sum())  # of all bounds so far on the largest eigenvalue of |Omega|'|Omega|
    for _ in range(POWER_STEPS):  # for every positive x the largest ratio is such a bound
        after = size.T @ (size @ x)
        smallest = min(smallest, float((after / x).max()))
        x = np.maximum(after / max(float(after.max()), LEAST), 1e-6)
    return smallest**0.5
