"""Predictions of samples with missing values, by compiled loops over the rows where these are faster.

What depends on the prototypes alone is made once for each model, in float64 whatever the type of the samples. Rows
without missing values have the ordinary distances, to the last bit.

For the labels alone of a shared matrix only differences between squared lengths count, as all have the same fraction s.
With m the mask, x the sample, 0 where values are missing, delta = w_j - w_1 and f = m (w_j + w_1) - 2 x:

    |Omega (x - m w_j)|^2 - |Omega (x - m w_1)|^2 = (m delta)'Lambda f = (Lambda delta)'f - sum_a delta_a (Lambda f)_a,

the sum over the missing features a: n multiplications for each of them, and no pairs. Of few rows of Omega its images
(Omega (m delta))'(Omega f) take less. Of many prototypes the pairs of `missing_forms.py` do, which share Lambda x.

A product in a score or a distance has at most (n + 5)^2 + m rounding errors, with m rows of Omega, and the absolute
values of all products have a sum of at most 4 L (|x| + |w|)^2, with L the largest eigenvalue of |Omega|'|Omega|: that
bounds the errors of the sum. Distances are rounded to the type of the samples. Those of complete rows have 2n + m + 7
rounding errors, of the coarser one of this type and the model's. Numbers too small for a type are added. Rows in which
another class is closer than these errors are decided by the distances.
"""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from lvq.model.arrays import round_centre
from lvq.model.folded import BLOCK_BYTES, NO_ROWS, Decided, in_blocks, stretch
from lvq.model.metrics import Matrix
from lvq.model.missing_forms import MAX_MISSING, SAMPLED
from lvq.model.samples import Map

if TYPE_CHECKING:
    from lvq.model.prototype_model import PrototypeModel

FEW = 32  # prototypes up to which a loop over the rows is faster than packed rows and a product
FEW_DIFFERENCES = 6  # prototypes up to which sums over missing features are faster than pairs of them
FEW_ROWS = 0.2  # rows of Omega for each feature up to which its images are faster
SMALL_MATRICES = 2**12  # numbers of local matrices up to which a loop over the rows is faster than products
Loop = Callable[..., int]  # a compiled one, with its first arguments
_known: "WeakKeyDictionary[PrototypeModel, ObservedPrototypes]" = WeakKeyDictionary()


def observed_prototypes(model: "PrototypeModel") -> "ObservedPrototypes":
    """The prepared prototypes of a model that ignores missing values, made once."""
    found = _known.get(model)
    if found is None:
        found = _known[model] = ObservedPrototypes(model)
    return found


def row_kernels() -> ModuleType | None:
    """The compiled loops; None without numba, which a stored model does not need."""
    try:
        from lvq.model import missing_row_kernels
    except ImportError:
        return None
    return missing_row_kernels


def _plain(X: np.ndarray) -> np.ndarray:
    """Rows in C order, of numbers in the order of bytes of this machine, as compiled loops need them."""
    return np.ascontiguousarray(X, dtype=X.dtype.newbyteorder("="))


def _coarser(*types: np.dtype) -> np.finfo:
    """The limits of the type with the largest rounding errors."""
    return max(map(np.finfo, types), key=lambda limits: limits.eps)


class ObservedPrototypes:
    """Prototypes relative to a centre, for samples with missing values.

    Parameters
    ----------
    model : PrototypeModel
        The model.
    """

    def __init__(self, model: "PrototypeModel") -> None:
        centre = round_centre(model.prototypes)
        self.centre = centre.astype(np.float64)
        self.W = model.prototypes.astype(np.float64) - self.centre
        self.R = None if model.relevance is None else model.relevance.astype(np.float64, order="C")
        self.observed, self.labels = model.observed(), model.labels.astype(np.intp, copy=False)
        self.forms = self.observed.forms(self.W, self.R)
        compiled = row_kernels()
        self.row_distances = None if compiled is None else self._row_distances(compiled)
        self.row_labels, self.bounds = None, dict[np.dtype, np.ndarray]()
        if compiled is not None and type(model.metric) is Matrix:
            self.row_labels, self.bounds = self._row_labels(compiled), self._bounds(model)

    def _row_distances(self, compiled: ModuleType) -> Loop | None:
        """The loop that writes distances; None where products are faster."""
        R, n, count = self.R, self.W.shape[1], len(self.labels)
        given = self.observed.groups(count), self.observed.feature_fractions(R, self.W.dtype).value
        if self.observed.has_weights(R):
            weights = np.ones((1, n)) if R is None else np.atleast_2d(R)
            return partial(compiled.distances_by_weights, *given, weights, self.W) if count <= FEW else None
        if R is None or R.ndim < 3 or R.size > SMALL_MATRICES:
            return None
        omega = np.zeros((len(R), -(-R.shape[1] // 4) * 4, n))
        omega[:, : R.shape[1]] = R
        return partial(compiled.distances_by_matrices, *given, omega, self.W)

    def _row_labels(self, compiled: ModuleType) -> Loop | None:
        """The loop that decides by differences to the first prototype; None where pairs or products are faster."""
        W, R, (count, n) = self.W, self.R, self.W.shape
        assert R is not None
        deltas, sums = W[1:] - W[0], W[1:] + W[0]
        if len(R) <= FEW_ROWS * n and count <= FEW:
            return partial(compiled.predict_by_images, sums, deltas[:, None] * R, R)
        if count > FEW_DIFFERENCES:
            return None
        Lambda = np.zeros((n + 1, n))
        Lambda[:n] = R.T @ R
        return partial(compiled.predict_by_missing, sums, deltas @ Lambda[:n], np.pad(deltas, ((0, 0), (0, 1))), Lambda)

    def _bounds(self, model: "PrototypeModel") -> dict[np.dtype, np.ndarray]:
        """What `_decide` needs for a bound of the rounding errors, for each type of samples."""
        assert self.R is not None
        assert model.relevance is not None
        m, n = self.R.shape
        longest, largest = np.sqrt((self.W**2).sum(axis=1).max()), stretch(Matrix(), self.R) ** 2
        errors, found = 8 * ((n + 5) ** 2 + m) * np.finfo(np.float64).eps, {}
        for kind in (np.dtype(np.float64), np.dtype(np.float32)):
            eps, coarser = np.finfo(kind).eps, _coarser(kind, model.prototypes.dtype, model.relevance.dtype)
            factors = largest * (errors + 4 * eps), largest * (errors + 8 * (n + m + 10) * coarser.eps)
            underflow = 16 * (n + m) * coarser.tiny * (1 + m * np.sqrt(largest) * longest)
            found[kind] = np.array((*factors, longest, underflow), dtype=np.float64)
        return found

    def distances(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Squared distances, (N, M), of samples with NaN, in their type; and which rows are complete.

        Those of complete rows may be any numbers.
        """
        X, complete = _plain(X), np.empty(len(X), dtype=bool)
        if self.row_distances is not None:
            D = np.empty((len(X), len(self.labels)), dtype=X.dtype)
            whole = self.row_distances(X, self.centre, D, complete)
        elif self.forms is None:  # large local matrices, or no numba
            missing = np.isnan(X)
            rows = np.concatenate((np.where(missing, 0, X - self.centre), ~missing), axis=1)
            D = self.observed.measure(rows, self.W, self.R).D.astype(X.dtype, copy=False)
            whole = np.logical_not(missing.any(axis=1), out=complete).any()
        else:
            rows = np.empty((len(X), 2 * X.shape[1]))
            whole = self.forms.compiled.pack(X, self.centre, rows, complete)
            D = self.forms.of(rows).forward(rows).D.astype(X.dtype, copy=False)
        return D, np.flatnonzero(complete) if whole else NO_ROWS

    def predicted(self, X: np.ndarray, mapping: Map = map) -> Decided | None:
        """Class index of each row, and the rows that need the distances; None where all do."""
        loop = self.row_labels or self._by_pairs(X)
        if loop is None:
            return None
        rows = max(16, BLOCK_BYTES // (8 * (X.shape[1] + len(self.labels))))
        return in_blocks(lambda blocks: [self._decided(loop, block) for block in blocks], X, rows, mapping)

    def _by_pairs(self, X: np.ndarray) -> Loop | None:
        """The loop that decides by pairs of missing features; None where these are too many."""
        form, sample = None if self.forms is None else self.forms.pairs, np.isnan(X[::SAMPLED])
        if form is None or np.count_nonzero(sample) > MAX_MISSING * sample.size:
            return None
        return partial(form.compiled.predict_pairs, form.Lambda, form.folded, form.columns, form.table, form.base)

    def _decided(self, loop: Loop, X: np.ndarray) -> Decided:
        X, winner, close = _plain(X), np.empty(len(X), dtype=np.intp), np.empty(len(X), dtype=bool)
        some = loop(X, self.centre, self.labels, self.bounds[X.dtype], winner, close)
        return Decided(self.labels[winner], np.flatnonzero(close) if some else NO_ROWS)
