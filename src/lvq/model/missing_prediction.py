"""Predictions of samples with missing values, by the forms of `missing_forms.py` where all prototypes share a metric.

What depends on the prototypes alone is made once for each model, in float64 whatever the type of the samples. Rows
without missing values have the ordinary distances, to the last bit.

For the labels alone of a matrix, with few missing values, the common terms of the distances of a row are left out. A
score and a distance are sums of at most (n + 5)^2 products, whose absolute values have a sum of at most
4 L (|x| + |w|)^2, with L the largest eigenvalue of |Omega|'|Omega|, which bounds their rounding errors. Distances of
complete rows have some 2n rounding errors of the type of the samples. Rows in which another class is closer than that
are decided by the distances.
"""

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from lvq.model.arrays import round_centre
from lvq.model.folded import BLOCK_BYTES, NO_ROWS, Decided, in_blocks, stretch
from lvq.model.metrics import Matrix
from lvq.model.missing_forms import MAX_MISSING, SAMPLED, PairForm
from lvq.model.samples import Map

if TYPE_CHECKING:
    from lvq.model.prototype_model import PrototypeModel

FEW = 32  # prototypes up to which a loop over the rows is faster than packed rows and a product
_known: "WeakKeyDictionary[PrototypeModel, ObservedPrototypes]" = WeakKeyDictionary()


def observed_prototypes(model: "PrototypeModel") -> "ObservedPrototypes":
    """The prepared prototypes of a model that ignores missing values, made once."""
    found = _known.get(model)
    if found is None:
        found = _known[model] = ObservedPrototypes(model)
    return found


class ObservedPrototypes:
    """Prototypes relative to a centre, for samples with missing values.

    Parameters
    ----------
    model : PrototypeModel
        The model.
    """

    def __init__(self, model: "PrototypeModel") -> None:
        centre = round_centre(model.prototypes)
        self.centre, self.W = centre.astype(np.float64), (model.prototypes - centre).astype(np.float64)
        self.R = None if model.relevance is None else model.relevance.astype(np.float64)
        self.observed, self.labels = model.observed(), model.labels
        self.forms = self.observed.forms(self.W, self.R)
        n, self.bounds = model.n_features, dict[np.dtype, np.ndarray]()
        if self.forms is None or self.forms.pairs is None:
            return
        longest, largest = np.sqrt((self.W**2).sum(axis=1).max()), stretch(Matrix(), model.relevance) ** 2
        for kind in (np.dtype(np.float64), np.dtype(np.float32)):
            errors, eps = 8 * (n + 5) ** 2 * np.finfo(np.float64).eps, np.finfo(kind).eps
            bound = (largest * (errors + 4 * eps), largest * (errors + 16 * (n + 5) * eps), longest)
            self.bounds[kind] = np.array(bound, dtype=np.float64)

    def distances(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Squared distances, (N, M), of samples with NaN, in their type; and which rows are complete."""
        X = np.ascontiguousarray(X)
        if self.forms is None:  # local metrics, which need no compiled loops, or no numba
            missing = np.isnan(X)
            rows = np.concatenate((np.where(missing, 0, X - self.centre), ~missing), axis=1)
            D = self.observed.measure(rows, self.W, self.R).D
            return D.astype(X.dtype, copy=False), np.flatnonzero(~missing.any(axis=1))
        compiled, vectors, complete = self.forms.compiled, self.forms.vectors, np.empty(len(X), dtype=bool)
        if vectors is not None and len(self.labels) <= FEW:
            D = np.empty((len(X), len(self.labels)), dtype=X.dtype)
            given = (vectors.weights, vectors.shares.value, vectors.table)
            whole = compiled.distances_vectors(X, self.centre, *given, D, complete)
        else:
            rows = np.empty((len(X), 2 * X.shape[1]))
            whole = compiled.pack(X, self.centre, rows, complete)
            D = self.forms.of(rows).forward(rows).D.astype(X.dtype, copy=False)
        return D, np.flatnonzero(complete) if whole else NO_ROWS

    def predicted(self, X: np.ndarray, mapping: Map = map) -> Decided | None:
        """Class index of each row, and the rows that need the distances; None where all do."""
        pairs, sample = None if self.forms is None else self.forms.pairs, np.isnan(X[::SAMPLED])
        if pairs is None or np.count_nonzero(sample) > MAX_MISSING * sample.size:
            return None
        rows = max(16, BLOCK_BYTES // (8 * (X.shape[1] + len(self.labels))))
        return in_blocks(lambda blocks: [self._by_pairs(pairs, block) for block in blocks], X, rows, mapping)

    def _by_pairs(self, form: PairForm, X: np.ndarray) -> Decided:
        winner, close = np.empty(len(X), dtype=np.intp), np.empty(len(X), dtype=bool)
        X = np.ascontiguousarray(X)
        given = (form.Lambda, form.folded, form.columns, form.table, form.base, self.labels, self.bounds[X.dtype])
        some = form.compiled.predict_pairs(X, self.centre, *given, winner, close)
        return Decided(self.labels[winner], np.flatnonzero(close) if some else NO_ROWS)
