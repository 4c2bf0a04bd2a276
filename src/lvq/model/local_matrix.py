"""The metric with a matrix for each group of prototypes; its contract is that of `lvq.model.metrics`."""

from dataclasses import dataclass

import numpy as np

from lvq.model.arrays import beside, namespace, zeros
from lvq.model.metrics import DistanceGradient, LocalMetric, from_centre, squared_from_origin
from lvq.model.sparse_rows import is_sparse
from lvq.typing import Array

FEW = 2**14  # numbers in the images of samples up to which all matrices are one product


@dataclass(frozen=True)
class LocalMatrix(LocalMetric):
    """|Omega_g(j) (x - w_j)|^2, a matrix for each group of prototypes.

    Parameters
    ----------
    groups : tuple of int
        Group k holds the prototypes groups[k] to groups[k + 1].
    """

    def distances(self, X: Array, W: Array, R: Array) -> Array:
        """Squared distances, (N, M)."""
        X, W = from_centre(X, W)
        if X.shape[0] * R.shape[0] * R.shape[1] <= FEW and not is_sparse(X):  # calls would take longer than products
            return self.between(self.project(X, R), self.images(W, R))
        parts = [squared_from_origin(X @ R[k].T, W[self._rows(k)] @ R[k].T) for k in range(len(self.groups) - 1)]
        return namespace(X).concatenate(parts, 1)

    def pullback(self, X: Array, W: Array, R: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """Gradient by the prototypes and by the matrices."""
        X, W = from_centre(X, W)
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
        if namespace(W) is np and R.shape[0] == W.shape[0]:
            return (R @ W[:, :, None])[:, :, 0]
        return namespace(W).concatenate([W[self._rows(k)] @ R[k].T for k in range(len(self.groups) - 1)], 0)

    def between(self, Z: Array, P: Array) -> Array:
        """Squared distances from the images of samples and prototypes, (N, M)."""
        if Z.shape[1] == P.shape[0]:
            difference = Z - P
            difference *= difference
            return difference.sum(2)
        parts = [squared_from_origin(Z[:, k], P[self._rows(k)]) for k in range(len(self.groups) - 1)]
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
        group = (touched if alone else beside(self.group, Z)[touched])[..., None].expand(*touched.shape, m)
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
        pairs = Z[samples, self.group[touched]] - P[touched]
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

    def _size_of_tensors(self, W: Array) -> int:
        """Number of prototypes in each group, if it is the same in all and W is a tensor; else 0."""
        sizes = set(np.diff(self.groups).tolist())
        return sizes.pop() if len(sizes) == 1 and namespace(W) is not np else 0

    def _by_group(self, rows: Array) -> Array:
        """A row for each prototype as an array for each group, (K, s, n)."""
        return rows.reshape(len(self.groups) - 1, -1, rows.shape[1])
