"""The metric with relevances for each group of prototypes; its contract is that of `lvq.model.metrics`.

sum_l lambda_l (x_l - w_l)^2 is a product of the squared samples with lambda, less twice one of the samples with
lambda w, plus a constant: two products of N x n with n x M numbers, whatever the number of groups.
"""

from dataclasses import dataclass

import numpy as np

from lvq.model.arrays import beside, is_tensor, namespace, zeros
from lvq.model.metrics import DistanceGradient, LocalMetric, from_centre, long_product
from lvq.model.sparse_rows import is_sparse, squared
from lvq.typing import Array


@dataclass(frozen=True)
class LocalDiagonal(LocalMetric):
    """sum_l lambda_g(j)l (x_l - w_jl)^2, relevances for each group of prototypes.

    Parameters
    ----------
    groups : tuple of int
        Group k holds the prototypes groups[k] to groups[k + 1].

    Examples
    --------
    >>> import numpy as np
    >>> metric, W = LocalDiagonal((0, 1, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> metric.distances(np.array([[1.0, 2.0]]), W, np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [[1.0, 0.5]]
    """

    def distances(self, X: Array, W: Array, R: Array) -> Array:
        """Squared distances, (N, M)."""
        X, W = from_centre(X, W)
        return self.between(X, squared(X), W, R)

    def pullback(self, X: Array, W: Array, R: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """Gradient by the prototypes and by the relevances."""
        X, W = from_centre(X, W)
        return self.back(X, squared(X), W, R, by_distance)

    # Training squares the samples once for both.

    def between(self, X: Array, squares: Array, W: Array, R: Array) -> Array:
        """Squared distances in the coordinates they are given, from samples and their squares, (N, M)."""
        weights = self._of_prototypes(R)
        D = _product(X, (-2 * weights * W).T)
        D += _product(squares, weights.T)
        D += (weights * W * W).sum(1)
        return D.clamp_(min=0) if is_tensor(D) else np.maximum(D, 0, out=D)

    def back(self, X: Array, squares: Array, W: Array, R: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        """dE/dw_j = -2 lambda sum_i s_ij (x_i - w_j); dE/dlambda = sum_ij s_ij (x_i - w_j)^2 over the group's j."""
        pulled, columns = by_distance.scatter_all(X, W.shape[0])
        weighted = columns[:, None] * W
        by_weight = by_distance.scatter(squares, W.shape[0]) + W * (weighted - 2 * pulled)
        return 2 * self._of_prototypes(R) * (weighted - pulled), self.group_sums(by_weight)

    def group_sums(self, rows: Array) -> Array:
        """Sums of the prototypes' rows over each group, (K, n)."""
        if namespace(rows) is np:
            return np.add.reduceat(rows, self.groups[:-1], axis=0)
        return zeros((len(self.groups) - 1, rows.shape[1]), rows).index_add_(0, beside(self.group, rows), rows)

    def _of_prototypes(self, R: Array) -> Array:
        return R[beside(self.group, R)]


def _product(X: Array, B: Array) -> Array:
    return X @ B if is_sparse(X) else long_product(X, B)
