"""Distances to samples with missing values where all prototypes share a metric: three forms, with compiled loops.

The distance is that of `lvq.model.missing`; all forms take packed rows, values x (0 where they are missing) and mask m.

`VectorForm`, for relevances lambda or none: |m x|^2 - 2 x'(lambda w) + m'(lambda w^2), in the weights lambda, is one
product with packed rows.

`ImageForm`, for a matrix: Omega x less the product of the mask with Omega diag(w_j), N M m n multiplications.

`PairForm`, for a matrix of high rank and few missing values. With Lambda = Omega'Omega, S the missing features of a
sample, y = Lambda x:

    |Omega (x - m w)|^2 = x'y - 2 x'Lambda w + w'Lambda w + 2 sum_a w_a (y - Lambda w)_a + sum_ab w_a Lambda_ab w_b,

a and b in S. The first terms are products as for complete samples. The sums are over the pairs of missing features, of
which there are few: with a fifth of the values missing n^2/50. The pairs are the same for all prototypes, so that rows
of a table of their terms, (n, n, M), are added. The terms are of the size of |Omega x|^2 + |Omega w|^2, whatever is
missing; a distance that is far below that, as of a row that equals the prototype in its few values, is computed from
the differences.

The gradient by Lambda is G = sum_ij g_ij (x_i - m_i w_j)(x_i - m_i w_j)', with g_ij the derivative by the square:

    G = A + A' + sum_j (w_j w_j') C_j,    A = sum_i x_i (s_i x_i/2 - m_i u_i)',    C_j = sum_i g_ij m_i m_i',

s_i = sum_j g_ij and u_i = sum_j g_ij w_j: one product. C_jab is c_j - b_ja - b_jb + T_jab, with c_j = sum_i g_ij, T_jab
the sum of g_ij over the rows in which a and b are missing, and b_ja = T_jaa. The gradient by w_j is
2 ((Lambda C_j) w_j - sum_i g_ij m_i y_i). (w_j w_j') C_j and Lambda C_j are elementwise.
"""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np

from lvq.model.metrics import DistanceGradient
from lvq.model.pairs import NearestPair

MAX_MISSING = 0.35  # fraction of the values; pairs grow with its square, and with more of them images are faster
SAMPLED = 16  # every so many rows tell that fraction
MIN_RANK = 0.5  # rows of Omega for each feature; with fewer, images of the prototypes are faster
MAX_TABLE = 2**18  # numbers of the table, which has to stay in the cache


def kernels() -> ModuleType | None:
    """The compiled loops; None without numba, which a stored model does not need."""
    try:
        from lvq.model import missing_kernels
    except ImportError:
        return None
    return missing_kernels


class Forward(NamedTuple):
    """Distances of packed rows, and what their gradient needs again."""

    D: np.ndarray  # (N, M)
    fraction: np.ndarray  # (N,), as in `missing_kernels.py`
    images: np.ndarray | None = None  # (N, M, m) Omega e, or (N, n) m y, which is used up


class FeatureFractions(NamedTuple):
    """The fraction of each feature in a metric: Lambda_ll v_l over their sum, and what its derivative is made of."""

    value: np.ndarray
    slope: np.ndarray  # v_l over that sum

    @classmethod
    def of(cls, diagonal: np.ndarray, variances: np.ndarray) -> FeatureFractions:
        """Of the diagonal of Lambda, or those of several, (K, n); zero where all of one is."""
        variances = variances.astype(diagonal.dtype)
        weights = diagonal * variances
        total = weights.sum(axis=-1, keepdims=True)
        total[total <= 0] = 1
        return cls(weights / total, variances / total)


class Form(Protocol):
    """Distances and their gradient for one value of the parameters."""

    def forward(self, X: np.ndarray) -> Forward:
        """Distances of packed rows."""

    def back(
        self, X: np.ndarray, found: Forward, by_distance: DistanceGradient
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Gradient by the prototypes and by the parameters of the metric."""


class Forms:
    """The forms for prototypes W and parameters R of a shared metric; needs numba.

    Parameters
    ----------
    W : ndarray of shape (M, n)
        Prototypes.
    R : ndarray or None
        Relevances (n), Omega (m, n), or None.
    variances : ndarray of shape (n,)
        Variance of each feature.
    """

    def __init__(self, W: np.ndarray, R: np.ndarray | None, variances: np.ndarray) -> None:
        compiled = kernels()
        assert compiled is not None
        self.compiled, self.given = compiled, (compiled, W, R, variances)
        self.vectors = VectorForm(*self.given) if R is None or R.ndim == 1 else None
        self.pairs = PairForm(*self.given) if R is not None and _has_few_pairs(W, R) else None
        self.images: ImageForm | None = None

    def of(self, X: np.ndarray) -> Form:
        """The form that is fastest for these rows."""
        n = X.shape[1] // 2
        if self.vectors is not None:
            return self.vectors
        if self.pairs is not None and _has_few_gaps(X[::SAMPLED, n:]):
            return self.pairs
        if self.images is None:
            self.images = ImageForm(*self.given)
        return self.images


def _has_few_gaps(mask: np.ndarray) -> bool:
    return bool(np.count_nonzero(mask) >= (1 - MAX_MISSING) * mask.size)


def _has_few_pairs(W: np.ndarray, R: np.ndarray) -> bool:
    return R.ndim == 2 and R.shape[0] >= MIN_RANK * R.shape[1] and R.shape[1] ** 2 * len(W) <= MAX_TABLE


def nearest_pairs(D: np.ndarray, y: np.ndarray, labels: np.ndarray) -> NearestPair:
    """The nearest own and the nearest other prototype of each row."""
    compiled, dtype = kernels(), D.dtype
    assert compiled is not None
    found = NearestPair(*(np.empty(len(D), dtype=kind) for kind in (np.intp, np.intp, dtype, dtype)))
    compiled.nearest_pairs(D, y, labels, *found)
    return found


class VectorForm:
    """Relevances, or none."""

    def __init__(self, compiled: ModuleType, W: np.ndarray, R: np.ndarray | None, variances: np.ndarray) -> None:
        self.compiled, self.W, self.R = compiled, W, R
        self.weights = np.ones(W.shape[1], dtype=W.dtype) if R is None else R
        self.feature_fractions = FeatureFractions.of(self.weights, variances)
        self.table = np.concatenate((-2 * self.weights * W, self.weights * W * W), axis=1)

    def forward(self, X: np.ndarray) -> Forward:
        """Distances of packed rows."""
        found = Forward(X @ self.table.T, np.empty(len(X), dtype=X.dtype))
        self.compiled.finish_vectors(X, self.weights, self.feature_fractions.value, *found[:2])
        return found

    def back(
        self, X: np.ndarray, found: Forward, by_distance: DistanceGradient
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Gradient by the prototypes and by the relevances."""
        W, n = self.W, self.W.shape[1]
        sums, squares, slope = np.zeros((len(W), 2 * n), dtype=X.dtype), *np.zeros((2, n), dtype=X.dtype)
        self.compiled.back_vectors(X, *found[:2], *_all_touched(by_distance, len(W)), sums, squares, slope)
        pulled, seen = sums[:, :n], sums[:, n:] * W
        by_prototype = 2 * self.weights * (seen - pulled)
        if self.R is None:
            return by_prototype, None
        return by_prototype, squares + (W * (seen - 2 * pulled)).sum(axis=0) + slope * self.feature_fractions.slope


class MatrixForm:
    """What both forms of a matrix have."""

    def __init__(self, compiled: ModuleType, W: np.ndarray, R: np.ndarray | None, variances: np.ndarray) -> None:
        assert R is not None
        self.compiled, self.W, self.R = compiled, W, R
        self.feature_fractions = FeatureFractions.of((R * R).sum(axis=0), variances)

    def _through_fractions(self, slope: np.ndarray) -> np.ndarray:
        """What the fractions add to the gradient by Omega."""
        return 2 * self.R * (slope * self.feature_fractions.slope)


class ImageForm(MatrixForm):
    """A matrix, by images of each masked prototype."""

    def __init__(self, compiled: ModuleType, W: np.ndarray, R: np.ndarray | None, variances: np.ndarray) -> None:
        super().__init__(compiled, W, R, variances)
        self.table = (-W[:, None] * self.R).reshape(-1, W.shape[1]).T

    def forward(self, X: np.ndarray) -> Forward:
        """Distances of packed rows."""
        n, shape = self.W.shape[1], (len(X), len(self.W), len(self.R))
        images = (X[:, n:] @ self.table).reshape(shape)
        found = Forward(np.empty(shape[:2], dtype=X.dtype), np.empty(len(X), dtype=X.dtype), images)
        self.compiled.finish_images(X, X[:, :n] @ self.R.T, self.feature_fractions.value, images, *found[:2])
        return found

    def back(self, X: np.ndarray, found: Forward, by_distance: DistanceGradient) -> tuple[np.ndarray, np.ndarray]:
        """Gradient by the prototypes and by Omega."""
        W, n = self.W, self.W.shape[1]
        sums, slope = np.zeros((len(W), len(self.R), 2 * n), dtype=X.dtype), np.zeros(n, dtype=X.dtype)
        given = (found.images, *found[:2], *_all_touched(by_distance, len(W)))
        self.compiled.back_images(X, *given, sums, slope)
        of_values, of_mask = sums[..., :n], sums[..., n:]
        by_matrix = 2 * (of_values - of_mask * W[:, None]).sum(axis=0)
        return -2 * (self.R * of_mask).sum(axis=1), by_matrix + self._through_fractions(slope)


class PairForm(MatrixForm):
    """A matrix, by pairs of missing features."""

    def __init__(self, compiled: ModuleType, W: np.ndarray, R: np.ndarray | None, variances: np.ndarray) -> None:
        super().__init__(compiled, W, R, variances)
        self.Lambda = self.R.T @ self.R
        pulled = W @ self.Lambda
        self.folded, self.base = -2 * pulled, np.einsum("ij,ij->i", W, pulled)
        self.columns, (count, n) = np.ascontiguousarray(W.T), W.shape
        self.table = np.zeros((n, n + 1, count), dtype=W.dtype)  # with a column of zeros
        compiled.make_table(W, self.Lambda, pulled, self.table)
        self.least = np.sqrt(np.finfo(W.dtype).eps)

    def forward(self, X: np.ndarray) -> Forward:
        """Distances of packed rows."""
        values = X[:, : self.W.shape[1]]
        found = Forward(values @ self.folded.T, np.empty(len(X), dtype=X.dtype), values @ self.Lambda)
        given = (self.W, self.Lambda, self.columns, self.table, self.base, self.feature_fractions.value, self.least)
        self.compiled.finish_pairs(X, found.images, *given, *found[:2])
        return found

    def back(self, X: np.ndarray, found: Forward, by_distance: DistanceGradient) -> tuple[np.ndarray, np.ndarray]:
        """Gradient by the prototypes and by Omega."""
        (count, n), seen = self.W.shape, found.images
        by_prototype, total, slope = (np.zeros(shape, dtype=X.dtype) for shape in ((count, n), count, n))
        pairs, by_Lambda = np.zeros((count, n, n), dtype=X.dtype), np.zeros((n, n), dtype=X.dtype)
        given = (*found[:2], *_all_touched(by_distance, count))
        self.compiled.back_pairs(X, seen, self.W, *given, by_prototype, pairs, total, slope)
        self.compiled.join_pairs(pairs, total, self.W, self.Lambda, by_prototype, by_Lambda)
        A = X[:, :n].T @ seen
        return 2 * by_prototype, 2 * self.R @ (A + A.T + by_Lambda) + self._through_fractions(slope)


def _all_touched(by_distance: DistanceGradient, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives, and the prototypes that they are of."""
    value, touched = by_distance
    return value, np.broadcast_to(np.arange(count), value.shape) if touched is None else touched
