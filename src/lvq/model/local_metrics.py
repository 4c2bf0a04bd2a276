"""Metrics with relevances or a matrix for each group of prototypes; for their contract see `lvq.model.metrics`.

`PARAMETER_AXES` lists all metrics of both modules whose distance is quadratic.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lvq.model.metrics import Diagonal, DistanceGradient, Euclidean, LocalMetric, Mahalanobis, Metric, Prepared
from lvq.model.rows import beside, clipped, namespace, squared, zeros
from lvq.typing import Array


@dataclass(frozen=True)
class LocalDiagonal(LocalMetric):
    """sum_l lambda_g(j)l (x_l - w_jl)^2, relevances for each group of prototypes.

    It is a product of the squared samples with lambda, minus twice a product of the samples with lambda w, plus a
    constant: two products of N x n with n x M numbers, whatever the number of groups.

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
    """Prototypes with their own relevances."""

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
    """Prototypes with their own matrices.

    Samples are projected by all matrices in one product, (N, K, m); distances are sums over differences, (N, M, m).
    """

    def __init__(self, metric: LocalMahalanobis, W: Array, R: Array) -> None:
        self.metric, self.W, self.R = metric, W, R
        self.parts = [slice(begin, end) for begin, end in pairwise(metric.groups)]
        self.P = namespace(W).concatenate([W[part] @ R[k].T for k, part in enumerate(self.parts)], 0)
        self.columns = (R.shape[0] + W.shape[0]) * R.shape[1]

    def distances(self, X: Array) -> tuple[Array, Array]:
        """Squared distances, and the images of the samples."""
        K, m, n = self.R.shape
        Z = (X @ self.R.reshape(K * m, n).T).reshape(X.shape[0], K, m)
        difference = (Z if self.P.shape[0] == K else Z[:, beside(self.metric.group, Z)]) - self.P
        difference *= difference
        return difference.sum(2), Z

    def pullback(self, X: Array, cache: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """Back through z = Omega_k x and p = Omega_k w, as for one matrix."""
        slope, xp = by_distance.whole(self.P.shape[0]), namespace(X)
        by_image, by_sample = [], []
        for k, part in enumerate(self.parts):
            within, P, Z = slope[:, part], self.P[part], cache[:, k]
            by_image.append(within.sum(0)[:, None] * P - within.T @ Z)
            by_sample.append(within.sum(1)[:, None] * Z - within @ P)
        by_matrix = (xp.stack(by_sample, 1).reshape(X.shape[0], -1).T @ X).reshape(self.R.shape)
        for k, part in enumerate(self.parts):
            by_matrix[k] += by_image[k].T @ self.W[part]
        by_prototype = [image @ omega for image, omega in zip(by_image, self.R)]
        return 2 * xp.concatenate(by_prototype, 0), 2 * by_matrix


#: The metrics of the form (x - w)'Lambda (x - w), and the number of axes of their parameters. Contributions of
#: features, missing values, certificates, counterfactuals, plots and ONNX are formulas of Lambda and refuse all others.
PARAMETER_AXES: dict[type, int] = {Euclidean: 0, Diagonal: 1, Mahalanobis: 2, LocalDiagonal: 2, LocalMahalanobis: 3}


def require_quadratic(metric: Metric, purpose: str, remedy: str = "") -> None:
    """Raise ValueError for a metric that is not one of `PARAMETER_AXES`."""
    if type(metric) not in PARAMETER_AXES:
        known = ", ".join(kind.__name__ for kind in PARAMETER_AXES)
        raise ValueError(f"{purpose} does not support the metric {metric!r}; it supports {known}.{remedy}")
