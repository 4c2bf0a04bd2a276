"""Squared distances of samples to prototypes, and the gradient by prototypes and metric from that by the distances.

Contract: `distances(X, W, R) -> D` of shape (N, M); `pullback(X, W, R, by_distance) -> (dW, dR)` where `by_distance` is
dE/dD (see `DistanceGradient`). No N x M x n array is ever made: distances are |z|^2 + |p|^2 - 2 z'p of the projected
samples and prototypes. R is None, the relevances lambda (n), a matrix Omega (m, n), or one of these for each group of
prototypes, (K, n) or (K, m, n).
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from lvq.model import sparse_rows
from lvq.model.arrays import fused_kernels, namespace, round_centre, zeros
from lvq.model.sparse_rows import filled, is_sparse, scaled_columns, squared
from lvq.typing import Array

SQUARED, PARTS = 2**17, 16  # numbers of an array above which it is squared in so many parts
DENSE = 2**19  # products up to which a dense matrix is faster than the overhead of a sparse one
PART = 128  # products of float32 that are summed before they are added to others


class DistanceGradient(NamedTuple):
    """dE/dD, as a matrix (N, M), or as (N, k) values at the (N, k) prototypes of `touched` where all others are zero.

    Margin costs touch two prototypes a row: with `touched` the pullback is a scatter of 2N rows, not a second N x M
    product.
    """

    value: Array
    touched: Array | None = None

    def row_sums(self) -> Array:
        """Sum over the prototypes, (N,)."""
        return self.value.sum(1)

    def column_sums(self, count: int) -> Array:
        """Sum over the samples, (count,)."""
        if self.touched is None:
            return self.value.sum(0)
        if namespace(self.value) is np:
            return np.bincount(self.touched.ravel(), self.value.ravel(), count).astype(self.value.dtype, copy=False)
        return zeros((count,), self.value).index_add_(0, self.touched.reshape(-1), self.value.reshape(-1))

    def gather(self, rows: Array) -> Array:
        """S rows: for each sample the sum of the prototypes' rows times their derivatives."""
        if self.touched is None:
            return self.value @ rows
        if namespace(self.value) is np:
            return self._whole(rows.shape[0], rows.shape[1]) @ rows
        return sum(self.value[:, k, None] * rows[self.touched[:, k]] for k in range(self.touched.shape[1]))

    def scatter(self, rows: Array, count: int) -> Array:
        """S' rows: for each prototype the sum of the samples' rows times their derivatives."""
        if self.touched is None:
            return self.value.T @ rows
        if namespace(self.value) is np:
            return filled(self._whole(count, rows.shape[1]).T @ rows)
        total = zeros((count, rows.shape[1]), rows)
        for k in range(self.touched.shape[1]):
            total.index_add_(0, self.touched[:, k], self.value[:, k, None] * rows)
        return total

    def scatter_all(self, rows: Array, count: int) -> tuple[Array, Array]:
        """`scatter` and `column_sums` in one."""
        kernels = fused_kernels(rows)
        if self.touched is not None and kernels is not None:
            return kernels.scatter(rows, self.touched, self.value, count)
        return self.scatter(rows, count), self.column_sums(count)

    def differences(self, rows: Array, others: Array) -> Array:
        """sum_j s_ij (rows_i - others_j) for each sample i."""
        kernels = fused_kernels(rows)
        if self.touched is not None and kernels is not None:
            return kernels.differences(rows, others, self.touched, self.value)
        result = self.row_sums()[:, None] * rows
        result -= self.gather(others)
        return result

    def _whole(self, count: int, columns: int) -> np.ndarray | sparse.csr_array:
        """dE/dD as one matrix for a product with so many columns: dense where that is faster."""
        assert self.touched is not None
        samples, touched = self.value.shape
        if samples * count * columns <= DENSE:
            whole, first = np.zeros(samples * count, dtype=self.value.dtype), np.arange(0, samples * count, count)
            for k in range(touched):
                whole[first + self.touched[:, k]] += self.value[:, k]
            return whole.reshape(samples, count)
        pointers = np.arange(0, samples * touched + 1, touched)
        return sparse.csr_array((self.value.ravel(), self.touched.ravel(), pointers), shape=(samples, count))


class Metric(Protocol):
    """Interface of a metric; any object with these two methods can be used."""

    def distances(self, X: Array, W: Array, R: Array | None) -> Array:
        """Squared distances, (N, M)."""

    def pullback(
        self, X: Array, W: Array, R: Array | None, by_distance: DistanceGradient
    ) -> tuple[Array, Array | None]:
        """Gradient by the prototypes and by the metric's parameters."""


def squared_distances(X: Array, W: Array) -> Array:
    """|x - w|^2 for all pairs, from a common centre.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [1.0, 0.0]])).tolist()
    [[25.0, 1.0]]
    """
    return squared_from_origin(*from_centre(X, W))


def from_centre(X: Array, W: Array) -> tuple[Array, Array]:
    """Samples and prototypes relative to a centre of the prototypes; sparse samples and theirs stay as they are."""
    if is_sparse(X):
        return X, W
    centre = round_centre(W)
    return X - centre, W - centre


def squared_from_origin(Z: Array, P: Array, squares: Array | None = None) -> Array:
    """|z - p|^2 for all pairs, from products as they are."""
    xp = namespace(Z)
    if is_sparse(Z):  # a factor of the product, not of the prototypes, which may be larger than the samples
        D = Z @ P.T
        D *= -2
    else:
        D = long_product(Z, (-2 * P).T)
    D += row_squares(Z)[:, None]
    D += row_squares(P) if squares is None else squares
    return xp.clip(D, 0, None, out=D) if xp is np else D.clamp_(min=0)


def row_squares(rows: Array) -> Array:
    """Sum of squares of each row; float32 is summed in float64; of a large array some rows are squared at a time."""
    if namespace(rows) is not np:
        return (rows * rows).sum(1)
    if is_sparse(rows):
        return sparse_rows.row_squares(rows)
    if rows.size > SQUARED and len(rows) > 1:
        return np.concatenate([row_squares(part) for part in np.array_split(rows, min(len(rows), PARTS))])
    return (rows * rows).sum(axis=1, dtype=np.float64).astype(rows.dtype, copy=False)


def long_product(A: Array, B: Array) -> Array:
    """A @ B, in float32 by parts of a long inner axis: rounding errors grow with the longest sum of products."""
    length = A.shape[1]
    if namespace(A) is not np or additions(length, A.dtype) == length or B.dtype != np.float32:
        return A @ B
    total = A[:, :PART] @ B[:PART]
    for begin in range(PART, length, PART):
        total += A[:, begin : begin + PART] @ B[begin : begin + PART]
    return total


def additions(length: int, dtype: np.dtype) -> int:
    """Additions that the first product of a `long_product` takes part in, at most."""
    return length if dtype != np.float32 or length <= 2 * PART else PART + -(-length // PART)


class PreparedPrototypes(NamedTuple):
    """What distances need of the prototypes: a centre, the images relative to it, and their squares."""

    centre: Array
    P: Array
    squares: Array


@dataclass(frozen=True)
class SharedMetric:
    """A metric that is the plain one between images z = project(x) and p = project(w), the same map for all.

    `project` and `back` work in the coordinates they are given; `distances` and `pullback` centre first, so that data
    far from the origin lose no digits.
    """

    def project(self, X: Array, R: Array | None) -> Array:
        """Images of samples or prototypes."""
        raise NotImplementedError

    def back(
        self, X: Array, W: Array, R: Array | None, Z: Array, P: Array, by_distance: DistanceGradient
    ) -> tuple[Array, Array | None]:
        """Gradient by prototypes and R, given the images Z of X and P of W."""
        raise NotImplementedError

    def prepared(self, W: Array, R: Array | None) -> PreparedPrototypes:
        """What distances need of the prototypes; the same for all samples."""
        centre = round_centre(W)
        P = self.project(W - centre, R)
        return PreparedPrototypes(centre, P, row_squares(P))

    def measured(self, X: Array, prepared: PreparedPrototypes, R: Array | None) -> Array:
        """Squared distances to prepared prototypes, (N, M)."""
        return squared_from_origin(self.image(X - prepared.centre, R), prepared.P, prepared.squares)

    def image(self, X: Array, R: Array | None) -> Array:
        """`project` with few rounding errors."""
        return self.project(X, R)

    def distances(self, X: Array, W: Array, R: Array | None = None) -> Array:
        """Squared distances, (N, M)."""
        if is_sparse(X):
            return squared_from_origin(self.project(X, R), self.project(W, R))
        return self.measured(X, self.prepared(W, R), R)

    def pullback(
        self, X: Array, W: Array, R: Array | None, by_distance: DistanceGradient
    ) -> tuple[Array, Array | None]:
        """Gradient by the prototypes and by the metric's parameters."""
        X, W = from_centre(X, W)
        return self.back(X, W, R, self.project(X, R), self.project(W, R), by_distance)


@dataclass(frozen=True)
class LocalMetric:
    """A metric with its own parameters for each group of prototypes.

    Parameters
    ----------
    groups : tuple of int
        Group k holds the prototypes groups[k] to groups[k + 1].
    """

    groups: tuple[int, ...]

    @property
    def group(self) -> np.ndarray:
        """Group of each prototype."""
        return np.repeat(np.arange(len(self.groups) - 1), np.diff(self.groups))


@dataclass(frozen=True)
class Euclidean(SharedMetric):
    """|x - w|^2."""

    def project(self, X: Array, R: None = None) -> Array:
        """Samples are their own images."""
        return X

    def back(
        self, X: Array, W: Array, R: None, Z: Array, P: Array, by_distance: DistanceGradient
    ) -> tuple[Array, None]:
        """dE/dw_j = -2 sum_i s_ij (x_i - w_j)."""
        pulled, columns = by_distance.scatter_all(X, W.shape[0])
        return 2 * (columns[:, None] * W - pulled), None


@dataclass(frozen=True)
class Diagonal(SharedMetric):
    """sum_l lambda_l (x_l - w_l)^2."""

    def project(self, X: Array, R: Array) -> Array:
        """z_l = sqrt(lambda_l) x_l."""
        return scaled_columns(X, R**0.5)

    def distances(self, X: Array, W: Array, R: Array | None = None) -> Array:
        """Squared distances, (N, M); for sparse samples without images of the prototypes, which may be larger."""
        if not is_sparse(X):
            return super().distances(X, W, R)
        assert R is not None
        D = scaled_columns(X, R) @ W.T
        D *= -2
        D += row_squares(self.project(X, R))[:, None]
        D += np.einsum("jl,jl,l->j", W, W, R, dtype=np.float64).astype(D.dtype)
        return np.clip(D, 0, None, out=D)

    def back(
        self, X: Array, W: Array, R: Array, Z: Array, P: Array, by_distance: DistanceGradient
    ) -> tuple[Array, Array]:
        """dE/dw_j = -2 lambda sum_i s_ij (x_i - w_j); dE/dlambda = sum_ij s_ij (x_i - w_j)^2."""
        pulled, columns = by_distance.scatter_all(X, W.shape[0])
        weighted = columns[:, None] * W
        by_relevance = by_distance.row_sums() @ squared(X) + (W * (weighted - 2 * pulled)).sum(0)
        return 2 * R * (weighted - pulled), by_relevance


@dataclass(frozen=True)
class Matrix(SharedMetric):
    """|Omega (x - w)|^2."""

    def project(self, X: Array, R: Array) -> Array:
        """z = Omega x."""
        return X @ R.T

    def image(self, X: Array, R: Array) -> Array:
        """z = Omega x, with few rounding errors."""
        return long_product(X, R.T)

    def back(
        self, X: Array, W: Array, R: Array, Z: Array, P: Array, by_distance: DistanceGradient
    ) -> tuple[Array, Array]:
        """Back through z = Omega x and p = Omega w: dOmega = dz' X + dp' W, dW = dp Omega."""
        by_sample = by_distance.differences(Z, P)
        pulled, columns = by_distance.scatter_all(Z, W.shape[0])
        by_prototype = columns[:, None] * P - pulled
        return 2 * (by_prototype @ R), 2 * (by_sample.T @ X + by_prototype.T @ W)
