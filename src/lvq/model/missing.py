"""Distances to samples with missing values: over the observed features, divided by the observed fraction of the metric.

NaN marks a missing value. With m the mask of the observed features of a sample (1 observed, 0 missing) and
e = m (x - w), the difference in these features, the squared distance is

    d = e'Lambda e / s,    s = sum_l m_l Lambda_ll v_l / sum_l Lambda_ll v_l,

with v_l the variance of feature l in the training samples (of its observed values). Lambda is the identity in the plain
metric and diag(lambda) in the weighted one; a local metric has its own s. Why this form:

- where nothing is missing s = 1, and d is the ordinary distance;
- e'Lambda e is the distance as if each missing value were that of the prototype, so it contributes nothing;
- if the differences u = x - w are uncorrelated and of variances c v, then E[u'Lambda u] = c sum_l Lambda_ll v_l, and
  E[e'Lambda e] is s times that: d is unbiased whichever features are missing, in every metric. Where differences are
  correlated, the products of two features are missing more often than s counts; a fraction that counts them can be zero
  or negative;
- e'Lambda e <= n sum_l Lambda_ll e_l^2 for n features, so d <= n (max_l e_l^2/v_l) sum_l Lambda_ll v_l: a small s makes
  no large distance;
- v has the units of x^2, so that d does not depend on the units in which the features are measured.

Where s = 0 (nothing observed, or only features without weight or variance), d = e'Lambda e; with nothing observed it is
0 to all prototypes.

Solvers see a sample as a packed row: its values, 0 where they are missing, followed by its mask. In a metric without
products of features the distances are then one product, of twice the width:
|m x|^2 - 2 (m x)'(Lambda w) + m'(Lambda w^2). A matrix needs Omega e for each prototype, N M m n multiplications, as
many as local matrices need without missing values. Here the formulas are in NumPy, for every metric; where all
prototypes share one, `missing_forms.py` is faster.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lvq.model.arrays import round_centre
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.metrics import Diagonal, DistanceGradient, Euclidean, LocalMetric, Matrix, Metric
from lvq.model.missing_forms import FeatureFractions, Forms, kernels


def has_missing(X: object) -> bool:
    """Whether an array holds a NaN; tensors never do."""
    return isinstance(X, np.ndarray) and bool(np.isnan(X).any())


def require_complete(X: object, purpose: str) -> None:
    """Raise ValueError where values are missing, for what cannot ignore them."""
    if has_missing(X):
        raise ValueError(
            f"{purpose} needs samples without missing values, also of a model with missing='ignore'; X contains NaN. "
            "Leave these rows out, or fill them, for example with sklearn.impute.SimpleImputer."
        )


def packed(X: np.ndarray) -> np.ndarray:
    """Rows of values, 0 where they are missing, and mask: (N, 2n).

    Examples
    --------
    >>> import numpy as np
    >>> packed(np.array([[3.0, np.nan]])).tolist()
    [[3.0, 0.0, 1.0, 0.0]]
    """
    missing = np.isnan(X)
    rows = np.empty((len(X), 2 * X.shape[1]), dtype=X.dtype)
    rows[:, : X.shape[1]] = np.where(missing, 0, X)
    rows[:, X.shape[1] :] = ~missing
    return rows


class Measured(NamedTuple):
    """Distances of packed rows, and what their gradient needs again."""

    D: np.ndarray  # (N, M)
    fraction: np.ndarray  # (N, K), s of each row in each matrix
    images: np.ndarray | None  # (N, M, m), Omega e; None in a metric without matrices


@dataclass(frozen=True)
class Observed:
    """The distances of this module, for packed rows; `pullback` is their exact gradient.

    Parameters
    ----------
    metric : Metric
        The metric of complete samples: one of this library.
    variances : ndarray of shape (n_features,)
        Variance of each feature.
    """

    metric: Metric
    variances: np.ndarray

    def distances(self, X: np.ndarray, W: np.ndarray, R: np.ndarray | None) -> np.ndarray:
        """Squared distances, (N, M), of packed rows."""
        centre = round_centre(W)
        values, mask = _split(X)
        X, W = np.concatenate((values - mask * centre, mask), axis=1), W - centre
        forms = self.forms(W, R)
        return self.measure(X, W, R).D if forms is None else forms.of(X).forward(X).D

    def pullback(
        self, X: np.ndarray, W: np.ndarray, R: np.ndarray | None, by_distance: DistanceGradient
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Gradient by the prototypes and by the metric's parameters."""
        return self.back(X, W, R, self.measure(X, W, R), by_distance)

    def forms(self, W: np.ndarray, R: np.ndarray | None) -> Forms | None:
        """Compiled distances and gradients; None for a metric that is not shared, and without numba."""
        shared = type(self.metric) in (Euclidean, Diagonal, Matrix)
        return Forms(W, R, self.variances) if shared and kernels() is not None else None

    def measure(self, X: np.ndarray, W: np.ndarray, R: np.ndarray | None) -> Measured:
        """Distances in the coordinates they are given, with what `back` needs."""
        values, fraction = _split(X)[0], self.fractions(X, R)
        if self.has_weights(R):
            relevance = self._of_prototypes(R, W)
            D = X @ np.concatenate((-2 * relevance * W, relevance * W * W), axis=1).T
            if R is None:
                D += np.einsum("ij,ij->i", values, values)[:, None]
            else:
                D += (values * values) @ np.atleast_2d(relevance).T
            np.maximum(D, 0, out=D)
            images = None
        else:
            assert R is not None
            images = self._images(X, W, R)
            D = np.einsum("ijk,ijk->ij", images, images)
        D /= fraction if fraction.shape[1] == 1 else fraction[:, self.groups(len(W))]
        return Measured(D, fraction, images)

    def _images(self, X: np.ndarray, W: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Omega e, (N, M, m): with one Omega it is Omega x less a product of the mask with Omega diag(w_j)."""
        (values, mask), m = _split(X), R.shape[-2]
        if R.ndim == 2:
            images = (mask @ (-W[:, None] * R).reshape(-1, R.shape[1]).T).reshape(len(X), len(W), m)
            images += (values @ R.T)[:, None]
            return images
        images, difference = np.empty((len(X), len(W), m), dtype=X.dtype), np.empty_like(values, order="C")
        for j, group in enumerate(self.groups(len(W))):
            np.multiply(mask, W[j], out=difference)
            np.subtract(values, difference, out=difference)
            images[:, j] = difference @ R[group].T
        return images

    def fractions(self, X: np.ndarray, R: np.ndarray | None) -> np.ndarray:
        """The observed fraction s of each matrix for each packed row, (N, K); 1 where it would be 0 or all is seen."""
        fraction = _split(X)[1] @ self.feature_fractions(R, X.dtype).value.T
        fraction[fraction <= 0] = 1
        fraction[complete_rows(X)] = 1
        return fraction

    def feature_fractions(self, R: np.ndarray | None, dtype: np.dtype) -> FeatureFractions:
        """The fraction of each feature in each matrix, (K, n)."""
        if R is None:
            diagonal = np.ones((1, len(self.variances)))
        else:
            diagonal = np.atleast_2d(R) if self.has_weights(R) else (_stacked(R) ** 2).sum(axis=1)
        return FeatureFractions.of(diagonal.astype(dtype), self.variances)

    def back(
        self,
        X: np.ndarray,
        W: np.ndarray,
        R: np.ndarray | None,
        found: Measured,
        by_distance: DistanceGradient,
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Gradient by prototypes and R, from what `measure` has found."""
        groups, touched, D = self.groups(len(W)), by_distance.touched, found.D
        fraction = found.fraction  # one column where all prototypes share a metric
        if touched is not None:
            D = np.take_along_axis(D, touched, 1)
            fraction = fraction if fraction.shape[1] == 1 else np.take_along_axis(fraction, groups[touched], 1)
        elif fraction.shape[1] > 1:
            fraction = fraction[:, groups]
        scaled = DistanceGradient(by_distance.value / fraction, touched)
        by_relevance: np.ndarray | None
        if found.images is None:
            by_prototype, by_relevance = self._back_vectors(X, W, R, scaled)
        else:
            assert R is not None
            by_prototype, by_relevance = self._back_matrices(X, W, R, found.images, scaled)
        if R is None:
            return by_prototype, None
        by_diagonal = self._back_fractions(X, R, found.fraction, DistanceGradient(-scaled.value * D, touched), len(W))
        if self.has_weights(R):
            return by_prototype, by_relevance + by_diagonal.reshape(R.shape)
        return by_prototype, by_relevance + (2 * _stacked(R) * by_diagonal[:, None]).reshape(R.shape)

    def has_weights(self, R: np.ndarray | None) -> bool:
        """Whether no matrix mixes features."""
        return R is None or R.ndim == 1 or isinstance(self.metric, LocalDiagonal)

    def _of_prototypes(self, R: np.ndarray | None, W: np.ndarray) -> np.ndarray:
        """The weight of each feature, for all prototypes or for each."""
        if R is None:
            return np.ones(W.shape[1], dtype=W.dtype)
        return R[self.metric.group] if isinstance(self.metric, LocalDiagonal) else R

    def _back_vectors(
        self, X: np.ndarray, W: np.ndarray, R: np.ndarray | None, by_square: DistanceGradient
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Of e'diag(lambda)e: one scatter of packed rows gives the sums of m x and of m for each prototype."""
        pulled, seen = _split(by_square.scatter(X, len(W)))
        if R is None:
            return 2 * (seen * W - pulled), None
        values = _split(X)[0]
        by_prototype, by_weight = 2 * self._of_prototypes(R, W) * (seen * W - pulled), W * (seen * W - 2 * pulled)
        if isinstance(self.metric, LocalDiagonal):
            return by_prototype, self.metric.group_sums(by_square.scatter(values * values, len(W)) + by_weight)
        return by_prototype, by_square.row_sums() @ (values * values) + by_weight.sum(axis=0)

    def _back_matrices(
        self, X: np.ndarray, W: np.ndarray, R: np.ndarray, images: np.ndarray, by_square: DistanceGradient
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of |Omega e|^2: with A = sum (Omega e) x' and C = sum (Omega e) m', dOmega = 2 (A - C w) and dw = -2 Omega'C.

        The last is of the diagonal alone: dw_l = -2 sum_k Omega_kl C_kl. One product with packed rows gives both sums.
        """
        omega, by_prototype = _stacked(R), np.empty_like(W)
        by_matrix = np.zeros_like(omega)
        for j, group in enumerate(self.groups(len(W))):
            rows, value = _column(by_square, j)
            of_values, of_mask = _split((images[rows, j] * value[:, None]).T @ X[rows])
            by_matrix[group] += of_values - of_mask * W[j]
            by_prototype[j] = (omega[group] * of_mask).sum(axis=0)
        return -2 * by_prototype, 2 * by_matrix.reshape(R.shape)

    def _back_fractions(
        self, X: np.ndarray, R: np.ndarray, fraction: np.ndarray, by_fraction: DistanceGradient, count: int
    ) -> np.ndarray:
        """Through s to the diagonal of each Lambda, (K, n): ds/dLambda_ll = v_l (m_l - s)/sum_k Lambda_kk v_k.

        `by_fraction` holds s dE/ds of each prototype's distance.
        """
        mask = _split(X)[1]
        value, slope = self.feature_fractions(R, X.dtype)
        one_hot = (self.groups(count)[:, None] == np.arange(len(value))).astype(X.dtype)
        by_group = by_fraction.row_sums()[:, None] if len(value) == 1 else by_fraction.gather(one_hot)  # (N, K)
        by_group[mask @ value.T <= 0] = 0  # there s is a constant, as in complete rows, where m - s is 0
        return (by_group.T @ mask - (by_group * fraction).sum(axis=0)[:, None]) * slope

    def groups(self, count: int) -> np.ndarray:
        """Index of each prototype's metric."""
        return self.metric.group if isinstance(self.metric, LocalMetric) else np.zeros(count, dtype=np.intp)


def complete_rows(X: np.ndarray) -> np.ndarray:
    """Whether packed rows have no missing value."""
    mask = _split(X)[1]
    return mask @ np.ones(mask.shape[1], dtype=X.dtype) == mask.shape[1]


def _split(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values and mask of packed rows."""
    n = rows.shape[1] // 2
    return rows[:, :n], rows[:, n:]


def _column(gradient: DistanceGradient, j: int) -> tuple[slice | np.ndarray, np.ndarray]:
    """The rows that touch prototype j, and their derivatives."""
    if gradient.touched is None:
        return slice(None), gradient.value[:, j]
    rows, place = np.nonzero(gradient.touched == j)
    if len(rows) == len(gradient.touched):  # all of them, as in the case of two prototypes
        return slice(None), gradient.value[rows, place]
    return rows, gradient.value[rows, place]


def _stacked(R: np.ndarray) -> np.ndarray:
    """One matrix or several as (K, m, n)."""
    return R if R.ndim == 3 else R[None]
