"""Training samples with missing values: filled for starts, packed rows for solvers; see `lvq.model.missing`."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from lvq.model.class_sums import rows_by_class
from lvq.model.feature_moments import FeatureMoments
from lvq.model.metrics import Metric
from lvq.model.missing import Observed, has_missing, packed
from lvq.model.samples import THINNED, ArraySamples, Block
from lvq.typing import Array


def filled(X: np.ndarray, y: np.ndarray, weight: np.ndarray, default: np.ndarray | None = None) -> np.ndarray:
    """Samples with the mean of the observed values of their class in place of missing ones, for starts.

    Where a class has no value of a feature it is the mean over all classes, and where there is none the default, or 0.
    """
    result, missing = X.copy(), np.isnan(X)
    values = np.where(missing, 0, X)

    def mean(rows: np.ndarray, default: np.ndarray) -> np.ndarray:
        mass = weight[rows] @ ~missing[rows]
        return np.where(mass > 0, weight[rows] @ values[rows] / np.where(mass > 0, mass, 1), default)

    overall = mean(np.ones(len(X), dtype=bool), np.zeros(X.shape[1]) if default is None else default)
    for rows in rows_by_class(y, int(y.max()) + 1):
        result[rows] = np.where(missing[rows], mean(rows, overall), X[rows])
    return result


@dataclass(frozen=True)
class IncompleteSamples(ArraySamples):
    """Samples with missing values: X is filled for starts, centres and importances, blocks are packed rows.

    Parameters
    ----------
    X, y, weight : ndarray
        Samples, missing values filled; class indices; weights.
    missing : ndarray of bool, shape of X
        Where values are missing.
    """

    missing: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, weight: np.ndarray, default: np.ndarray | None = None) -> Self:
        """Samples in which NaN marks a missing value; `default` fills features without any value."""
        return cls(filled(X, y, weight, default), y, weight, np.isnan(X))

    def take(self, rows: slice | np.ndarray) -> Block:
        """Some samples as packed rows, by slice or index."""
        X = np.where(self.missing[rows], np.nan, self.X[rows]).astype(self.X.dtype, copy=False)
        return Block(packed(X), self.y[rows], self.weight[rows])

    def filled(self) -> ArraySamples:
        """The filled samples."""
        return ArraySamples(self.X, self.y, self.weight)

    def with_nan(self) -> ArraySamples:
        """The samples as they were given."""
        X = np.where(self.missing, np.nan, self.X).astype(self.X.dtype, copy=False)
        return ArraySamples(X, self.y, self.weight)

    def arranged(self, centre: np.ndarray, *, single: bool = False) -> ArraySamples:  # type: ignore[override]
        """Packed rows class by class, relative to a centre, with weights of sum one; on request in float32."""
        order = np.argsort(self.y, kind="stable")
        plain = ArraySamples(self.X, self.y, self.weight).arranged(centre, single=single)
        X = np.where(self.missing[order], np.nan, plain.X).astype(plain.X.dtype, copy=False)
        return ArraySamples(packed(X), plain.y, plain.weight)

    def thinned(self) -> Self:
        """Every k-th sample where there are many."""
        rows = slice(None, None, max(1, self.n_samples // THINNED))
        return type(self)(self.X[rows], self.y[rows], self.weight[rows], self.missing[rows])

    def moments(self) -> FeatureMoments:
        """Mean and variance of the observed values of each feature."""
        return self.with_nan().moments()

    def measured(self, metric: Metric, variances: np.ndarray | None) -> Observed:
        """The metric for packed rows."""
        assert variances is not None
        return Observed(metric, variances)


def samples_of(X: Array, y: Array, weight: Array, default: np.ndarray | None = None) -> ArraySamples:
    """Samples in memory; of another kind where values are missing.

    Rows without any value are left out, except those of a class that has no others. `default` is a value of each
    feature, for starts, where no sample has one.
    """
    if not has_missing(X):
        return ArraySamples(X, y, weight)
    known = ~np.isnan(X).all(axis=1)
    keep = known | ~np.isin(y, y[known])
    X, y, weight = X[keep], y[keep], weight[keep]
    return IncompleteSamples.of(X, y, weight, default) if has_missing(X) else ArraySamples(X, y, weight)
