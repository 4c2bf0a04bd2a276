"""Squared distances of samples to prototypes, and the gradient by prototypes and metric from that by the distances.

Contract: `distances(X, W, R) -> D` of shape (N, M); `pullback(X, W, R, by_distance) -> (dW, dR)` where `by_distance` is
dE/dD (see `DistanceGradient`). No N x M x n array is ever made: distances are |z|^2 + |p|^2 - 2 z'p of the projected
samples and prototypes. R is None, the relevances lambda (n), a matrix Omega (m, n), or one Omega for each group of
prototypes (K, m, n).
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from lvq.model.arrays import beside, fused_kernels, namespace, round_centre, zeros
from lvq.typing import Array


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
            return self._as_sparse(rows.shape[0]) @ rows
        return sum(self.value[:, k, None] * rows[self.touched[:, k]] for k in range(self.touched.shape[1]))

    def scatter(self, rows: Array, count: int) -> Array:
        """S' rows: for each prototype the sum of the samples' rows times their derivatives."""
        if self.touched is None:
            return self.value.T @ rows
        if namespace(self.value) is np:
            return self._as_sparse(count).T @ rows
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

    def _as_sparse(self, count: int) -> sparse.csr_array:
        assert self.touched is not None
        samples, touched = self.value.shape
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
    centre = round_centre(W)
    return _squared_distances(X - centre, W - centre)


def _squared_distances(Z: Array, P: Array) -> Array:
    xp = namespace(Z)
    D = Z @ P.T
    D *= -2
    D += (Z * Z).sum(1)[:, None]
    D += (P * P).sum(1)
    return xp.clip(D, 0, None, out=D) if xp is np else D.clamp_(min=0)


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

    def distances(self, X: Array, W: Array, R: Array | None = None) -> Array:
        """Squared distances, (N, M)."""
        centre = round_centre(W)
        return _squared_distances(self.project(X - centre, R), self.project(W - centre, R))

    def pullback(
        self, X: Array, W: Array, R: Array | None, by_distance: DistanceGradient
    ) -> tuple[Array, Array | None]:
        """Gradient by the prototypes and by the metric's parameters."""
        centre = round_centre(W)
        X, W = X - centre, W - centre
        return self.back(X, W, R, self.project(X, R), self.project(W, R), by_distance)


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
        return X * R**0.5

    def back(
        self, X: Array, W: Array, R: Array, Z: Array, P: Array, by_distance: DistanceGradient
    ) -> tuple[Array, Array]:
        """dE/dw_j = -2 lambda sum_i s_ij (x_i - w_j); dE/dlambda = sum_ij s_ij (x_i - w_j)^2."""
        pulled, columns = by_distance.scatter_all(X, W.shape[0])
        weighted = columns[:, None] * W
        by_relevance = by_distance.row_sums() @ (X * X) + (W * (weighted - 2 * pulled)).sum(0)
        return 2 * R * (weighted - pulled), by_relevance


@dataclass(frozen=True)
class Matrix(SharedMetric):
    """|Omega (x - w)|^2."""

    def project(self, X: Array, R: Array) -> Array:
        """z = Omega x."""
        return X @ R.T

    def back(
        self, X: Array, W: Array, R: Array, Z: Array, P: Array, by_distance: DistanceGradient
    ) -> tuple[Array, Array]:
        """Back through z = Omega x and p = Omega w: dOmega = dz' X + dp' W, dW = dp Omega."""
        by_sample = by_distance.differences(Z, P)
        pulled, columns = by_distance.scatter_all(Z, W.shape[0])
        by_prototype = columns[:, None] * P - pulled
        return 2 * (by_prototype @ R), 2 * (by_sample.T @ X + by_prototype.T @ W)


@dataclass(frozen=True)
class LocalMatrix:
    """|Omega_g(j) (x - w_j)|^2, a matrix for each group of prototypes.

    Parameters
    ----------
    groups : tuple of int
        Group k holds the prototypes groups[k] to groups[k + 1].
    """

    groups: tuple[int, ...]

    def distances(self, X: Array, W: Array, R: Array) -> Array:
        """Squared distances, (N, M)."""
        centre = round_centre(W)
        X, W = X - centre, W - centre
        parts = [_squared_distances(X @ R[k].T, W[self._rows(k)] @ R[k].T) for k in range(len(self.groups) - 1)]
        return namespace(X).concatenate(parts, 1)

    def pullback(self, X: Array, W: Array, R: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """Gradient by the prototypes and by the matrices."""
        centre = round_centre(W)
        X, W = X - centre, W - centre
        return self.back(X, W, R, self.project(X, R), self.images(W, R), by_distance)

    # Training projects the samples by all matrices in one product.

    def project(self, X: Array, R: Array) -> Array:
        """Omega_k x for every matrix, (N, K, m)."""
        K, m, n = R.shape
        return (X @ R.reshape(K * m, n).T).reshape(X.shape[0], K, m)

    def images(self, W: Array, R: Array) -> Array:
        """Omega_g(j) w_j, (M, m)."""
        if self._size_of_tensors(W):
            return (self._by_group(W) @ R.mT).reshape(W.shape[0], -1)
        return namespace(W).concatenate([W[self._rows(k)] @ R[k].T for k in range(len(self.groups) - 1)], 0)

    def between(self, Z: Array, P: Array) -> Array:
        """Squared distances from the images of samples and prototypes, (N, M)."""
        if Z.shape[1] == P.shape[0]:
            difference = Z - P
            difference *= difference
            return difference.sum(2)
        parts = [_squared_distances(Z[:, k], P[self._rows(k)]) for k in range(len(self.groups) - 1)]
        return namespace(Z).concatenate(parts, 1)

    def back(
        self, X: Array, W: Array, R: Array, Z: Array, P: Array, by_distance: DistanceGradient
    ) -> tuple[Array, Array]:
        """Back through z = Omega_k x and p = Omega_k w, as for one matrix."""
        if by_distance.touched is not None and namespace(X) is np:
            by_image, by_matrix = self._back_by_group(X, Z, P, by_distance)
        else:  # on a GPU the number of samples of a group would have to be read back
            of_images = self._by_images if by_distance.touched is None else self._by_pairs
            by_image, by_sample = of_images(Z, P, by_distance)
            by_matrix = (by_sample.reshape(X.shape[0], -1).T @ X).reshape(R.shape)
        if self._size_of_tensors(W):
            here = self._by_group(by_image)
            return 2 * (here @ R).reshape(W.shape), 2 * (by_matrix + here.mT @ self._by_group(W))
        by_prototype = []
        for k in range(len(self.groups) - 1):
            here = by_image[self._rows(k)]
            by_matrix[k] += here.T @ W[self._rows(k)]
            by_prototype.append(here @ R[k])
        return 2 * namespace(X).concatenate(by_prototype, 0), 2 * by_matrix

    def _by_images(self, Z: Array, P: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """Half the gradient by the images of the prototypes, (M, m), and of the samples, (N, K, m)."""
        by_image, by_sample = [], []
        for k in range(len(self.groups) - 1):
            within = DistanceGradient(by_distance.value[:, self._rows(k)])
            by_image.append(within.column_sums(self.groups[k + 1] - self.groups[k])[:, None] * P[self._rows(k)])
            by_image[-1] = by_image[-1] - within.scatter(Z[:, k], by_image[-1].shape[0])
            by_sample.append(within.row_sums()[:, None] * Z[:, k] - within.gather(P[self._rows(k)]))
        xp = namespace(Z)
        return xp.concatenate(by_image, 0), xp.stack(by_sample, 1)

    def _by_pairs(self, Z: Array, P: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """The same for tensors and two prototypes a sample, in few calls: a GPU needs as long for each small one."""
        touched, m = by_distance.touched, P.shape[1]
        assert touched is not None
        alone = Z.shape[1] == P.shape[0]  # each prototype is a group
        group = (touched if alone else beside(self._group, Z)[touched])[..., None].expand(*touched.shape, m)
        pairs = (Z.gather(1, group) - P[touched]) * by_distance.value[..., None]
        by_sample = zeros(Z.shape, Z).scatter_add_(1, group, pairs)
        if alone:
            return -by_sample.sum(0), by_sample
        return zeros(P.shape, P).index_add_(0, touched.reshape(-1), pairs.reshape(-1, m), alpha=-1), by_sample

    def _back_by_group(self, X: Array, Z: Array, P: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """Half the gradients by the images of the prototypes and by the matrices, by the pairs of each group alone."""
        assert by_distance.touched is not None
        touched = by_distance.touched.ravel()
        order = np.argsort(touched, kind="stable")
        samples, touched = order // by_distance.touched.shape[1], touched[order]
        pairs = Z[samples, self._group[touched]] - P[touched]
        pairs *= by_distance.value.ravel()[order, None]
        by_image, by_matrix = zeros(P.shape, P), zeros((Z.shape[1], P.shape[1], X.shape[1]), X)
        ends = np.searchsorted(touched, np.arange(len(P) + 1))
        present = np.flatnonzero(np.diff(ends))
        by_image[present] = -np.add.reduceat(pairs, ends[present], axis=0)
        for k in range(len(self.groups) - 1):
            inside = slice(ends[self.groups[k]], ends[self.groups[k + 1]])
            by_matrix[k] = pairs[inside].T @ X[samples[inside]]
        return by_image, by_matrix

    def _rows(self, k: int) -> slice:
        return slice(self.groups[k], self.groups[k + 1])

    @property
    def _group(self) -> np.ndarray:
        """Group of each prototype."""
        return np.repeat(np.arange(len(self.groups) - 1), np.diff(self.groups))

    def _size_of_tensors(self, W: Array) -> int:
        """Number of prototypes in each group, if it is the same in all and W is a tensor; else 0."""
        sizes = set(np.diff(self.groups).tolist())
        return sizes.pop() if len(sizes) == 1 and namespace(W) is not np else 0

    def _by_group(self, rows: Array) -> Array:
        """A row for each prototype as an array for each group, (K, s, n)."""
        return rows.reshape(len(self.groups) - 1, -1, rows.shape[1])
