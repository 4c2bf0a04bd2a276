"""Metrics with relevances or a matrix for each group of prototypes; their contract is that of `lvq.model.metrics`.

`PARAMETER_AXES` has all metrics of both modules whose distance is quadratic.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lvq.model.metrics import (
    Diagonal,
    DistanceGradient,
    Euclidean,
    LocalMetric,
    Mahalanobis,
    Prepared,
    squared_distances,
)
from lvq.model.rows import beside, clipped, namespace, squared, zeros
from lvq.typing import Array


@dataclass(frozen=True)
class LocalDiagonal(LocalMetric):
    """sum_l lambda_g(j)l (x_l - w_jl)^2, relevances for each group of prototypes.

    It is a product of the squared samples with lambda, less twice one of the samples with lambda w, plus a constant:
    two products of N x n with n x M numbers, whatever the number of groups.

    Parameters
    ----------
    groups : tuple of int
        Group k holds the prototypes groups[k] to groups[k + 1].

    Examples
    --------
    >>> import numpy as np
    >>> metric, W = LocalDiagonal((0, 1, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> D, _ = metric.prepare(W, np.array([[1.0, 0.0], [0.5, 0.5]])).distances(np.array([[1.0, 2.0]]))
    >>> D.tolist()
    [[1.0, 0.5]]
    """

    def prepare(self, W: Array, R: Array) -> "LocallyWeighted":
        """Distances to these prototypes."""
        return LocallyWeighted(self, W, R)

    def group_sums(self, rows: Array) -> Array:
        """Sums of the prototypes' rows over each group, (K, n)."""
        if namespace(rows) is np:
            return np.add.reduceat(rows, self.groups[:-1], axis=0)
        return zeros((len(self.groups) - 1, rows.shape[1]), rows).index_add_(0, beside(self.group, rows), rows)


class LocallyWeighted(Prepared):
    """Prototypes with relevances of their own."""

    def __init__(self, metric: LocalDiagonal, W: Array, R: Array) -> None:
        self.metric, self.W, self.weights = metric, W, R[beside(metric.group, R)]
        self.columns = 2 * W.shape[1]

    def distances(self, X: Array) -> tuple[Array, Array]:
        """Squared distances, and the squared samples."""
        squares, weighted = squared(X), self.weights * self.W
        D = X @ (-2 * weighted).T
        D += squares @ self.weights.T
        D += (weighted * self.W).sum(1)
        return clipped(D), squares

    def pullback(self, X: Array, cache: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """dE/dw_j = -2 lambda sum_i s_ij (x_i - w_j); dE/dlambda = sum_ij s_ij (x_i - w_j)^2 over the group's j."""
        pulled, columns = by_distance.scatter_all(X, self.W.shape[0])
        weighted = columns[:, None] * self.W
        by_weight = by_distance.scatter(cache, self.W.shape[0]) + self.W * (weighted - 2 * pulled)
        return 2 * self.weights * (weighted - pulled), self.metric.group_sums(by_weight)


@dataclass(frozen=True)
class LocalMahalanobis(LocalMetric):
    """|Omega_g(j) (x - w_j)|^2, a matrix for each group of prototypes.

    Parameters
    ----------
    groups : tuple of int
        Group k holds the prototypes groups[k] to groups[k + 1].
    """

    def prepare(self, W: Array, R: Array) -> "LocallyProjected":
        """Distances to these prototypes."""
        return LocallyProjected(self, W, R)


class LocallyProjected(Prepared):
    """Prototypes with matrices of their own. Samples are projected by all matrices in one product, (N, K, m)."""

    def __init__(self, metric: LocalMahalanobis, W: Array, R: Array) -> None:
        self.metric, self.W, self.R = metric, W, R
        self.parts = [slice(begin, end) for begin, end in pairwise(metric.groups)]
        self.P = namespace(W).concatenate([W[part] @ R[k].T for k, part in enumerate(self.parts)], 0)
        self.columns = 2 * R.shape[0] * R.shape[1]

    def distances(self, X: Array) -> tuple[Array, Array]:
        """Squared distances, and the images of the samples."""
        K, m, n = self.R.shape
        Z = (X @ self.R.reshape(K * m, n).T).reshape(X.shape[0], K, m)
        if self.P.shape[0] == K:
            difference = Z - self.P
            difference *= difference
            return difference.sum(2), Z
        parts = [squared_distances(Z[:, k], self.P[part]) for k, part in enumerate(self.parts)]
        return namespace(Z).concatenate(parts, 1), Z

    def pullback(self, X: Array, cache: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """Back through z = Omega_k x and p = Omega_k w, as for one matrix."""
        if by_distance.touched is not None and namespace(X) is np:
            by_image, by_matrix = self._by_group(X, cache, by_distance)
        else:  # on a GPU the number of samples of a group would have to be read back
            of_images = self._by_all if by_distance.touched is None else self._by_touched
            by_image, by_sample = of_images(cache, by_distance)
            by_matrix = (by_sample.reshape(X.shape[0], -1).T @ X).reshape(self.R.shape)
        by_prototype = []
        for k, part in enumerate(self.parts):
            by_matrix[k] += by_image[part].T @ self.W[part]
            by_prototype.append(by_image[part] @ self.R[k])
        return 2 * namespace(X).concatenate(by_prototype, 0), 2 * by_matrix

    def _by_all(self, Z: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """Half the gradient by the images of the prototypes, (M, m), and of the samples, (N, K, m)."""
        by_image, by_sample = [], []
        for k, part in enumerate(self.parts):
            within, P = DistanceGradient(by_distance.value[:, part]), self.P[part]
            by_image.append(within.column_sums(len(P))[:, None] * P - within.scatter(Z[:, k], len(P)))
            by_sample.append(within.value.sum(1)[:, None] * Z[:, k] - within.gather(P))
        xp = namespace(Z)
        return xp.concatenate(by_image, 0), xp.stack(by_sample, 1)

    def _by_touched(self, Z: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """The same for tensors where few prototypes of a sample count: their differences, added where they belong."""
        touched, value = by_distance.touched, by_distance.value
        assert touched is not None
        by_image, by_sample = zeros(self.P.shape, Z), zeros(Z.shape, Z)
        group, every = beside(self.metric.group, Z)[touched], beside(np.arange(Z.shape[0]), Z)
        for k in range(touched.shape[1]):
            pairs = (Z[every, group[:, k]] - self.P[touched[:, k]]) * value[:, k, None]
            by_sample[every, group[:, k]] += pairs  # each sample has one place here
            by_image.index_add_(0, touched[:, k], pairs, alpha=-1)
        return by_image, by_sample

    def _by_group(self, X: Array, Z: np.ndarray, by_distance: DistanceGradient) -> tuple[np.ndarray, np.ndarray]:
        """Half the gradients by the images of the prototypes and by the matrices, by the pairs of each group alone."""
        assert by_distance.touched is not None
        touched = by_distance.touched.ravel()
        order = np.argsort(touched, kind="stable")
        samples, touched = order // by_distance.touched.shape[1], touched[order]
        pairs = Z[samples, self.metric.group[touched]] - self.P[touched]
        pairs *= by_distance.value.ravel()[order, None]
        ends = np.searchsorted(touched, np.arange(len(self.P) + 1))
        present = np.flatnonzero(np.diff(ends))
        by_image = np.zeros_like(self.P)
        by_image[present] = -np.add.reduceat(pairs, ends[present], axis=0)
        inside = [slice(*ends[[part.start, part.stop]]) for part in self.parts]
        return by_image, np.stack([pairs[part].T @ X[samples[part]] for part in inside])


#: The metrics of the form (x - w)'Lambda (x - w), and the number of axes of their parameters. Contributions of
#: features, missing values, certificates, counterfactuals, plots and ONNX are formulas of Lambda and refuse all others.
PARAMETER_AXES: dict[type, int] = {Euclidean: 0, Diagonal: 1, Mahalanobis: 2, LocalDiagonal: 2, LocalMahalanobis: 3}
