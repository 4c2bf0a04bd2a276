"""Squared distances of samples to prototypes, and gradients by prototypes and metric from gradients by distances.

A metric prepares itself for prototypes W and its parameters R: ``metric.prepare(W, R)`` returns an object with

- ``distances(X) -> (D, cache)``: squared distances (N, M), and what the gradient needs again;
- ``pullback(X, cache, by_distance) -> (dW, dR)``, where `by_distance` is dE/dD (see `DistanceGradient`);
- ``nearest_pair(X, y, labels) -> (NearestPair, cache)``, which `Prepared` derives from the distances.

In a shared metric no N x M x n array is made: distances are |z|^2 + |p|^2 - 2 z'p of the projected samples and
prototypes, in the coordinates that are given. R is None, the relevances lambda (n), a matrix Omega (m, n), or one of
these for each group of prototypes, (K, n) or (K, m, n); the last two are in `local_metrics.py`.
"""

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from lvq.model import rows
from lvq.typing import Array

MOST_APART = 1000  # most prototypes whose nearest neighbour is searched
DENSE = 2**19  # up to this many products a dense matrix is faster than a sparse one


class NearestPair(NamedTuple):
    """The nearest prototype of the true class and the nearest of all others, for each sample."""

    own: Array
    other: Array
    d_plus: Array
    d_minus: Array


def nearest_pair(scores: Array, y: Array, labels: Array) -> NearestPair:
    """Find d+ and d- and the indices of their prototypes, from distances or scores; their array is used up.

    Ties go to the lowest index.

    Examples
    --------
    >>> import numpy as np
    >>> pair = nearest_pair(np.array([[3.0, 1.0, 2.0]]), np.array([0]), np.array([0, 1, 1]))
    >>> int(pair.own[0]), int(pair.other[0]), float(pair.d_plus[0]), float(pair.d_minus[0])
    (0, 1, 3.0, 1.0)
    """
    mine, infinity = y[:, None] == labels[None, :], float("inf")
    xp = rows.namespace(scores)
    own = rows.first_argmin(np.where(mine, scores, infinity) if xp is np else scores.masked_fill(~mine, infinity))
    d_plus = rows.take_columns(scores, own)
    if xp is np:
        np.putmask(scores, mine, infinity)
    else:
        scores.masked_fill_(mine, infinity)
    other = rows.first_argmin(scores)
    return NearestPair(own, other, d_plus, rows.take_columns(scores, other))


def class_starts(labels: Array) -> np.ndarray:
    """Index of the first prototype of each class that has any; labels ascend.

    Examples
    --------
    >>> import numpy as np
    >>> class_starts(np.array([0, 0, 2])).tolist()
    [0, 2]
    """
    labels = rows.as_numpy(labels)
    return np.concatenate([[0], np.flatnonzero(labels[1:] != labels[:-1]) + 1])


def nearest_by_class(scores: Array, starts: np.ndarray) -> Array:
    """Index of the nearest prototype of each class, (N, C); `starts` come from `class_starts`.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_by_class(np.array([[3.0, 1.0, 2.0]]), np.array([0, 2])).tolist()
    [[1, 2]]
    """
    counts = np.diff(starts, append=scores.shape[1])
    if (counts == counts[0]).all():
        index = rows.first_argmin(scores.reshape(-1, int(counts[0]))).reshape(-1, len(counts))
    else:
        parts = [scores[:, start : start + count] for start, count in zip(starts.tolist(), counts.tolist())]
        index = rows.namespace(scores).stack([rows.first_argmin(part) for part in parts], 1)
    return index + rows.beside(starts, scores)


def mean_apart(metric: "Metric", W: np.ndarray, R: np.ndarray | None = None) -> float:
    """Mean squared distance from a prototype (of the first 1,000) to the nearest other one; 0 if there is no other.

    Examples
    --------
    >>> import numpy as np
    >>> round(mean_apart(Euclidean(), np.array([[0.0], [2.0], [3.0]])), 6)
    2.0
    """
    D = np.array(metric.prepare(W, R).distances(W[:MOST_APART])[0], dtype=np.float64)
    np.fill_diagonal(D, np.inf)
    nearest = D.min(axis=1)
    return float(nearest[np.isfinite(nearest)].mean()) if np.isfinite(nearest).any() else 0.0


def fused_kernels(array: Array) -> ModuleType | None:
    """The module of GPU kernels where this array can use them, else None: float32 on CUDA, with Triton installed."""
    if not rows.is_tensor(array) or not array.is_cuda or array.element_size() != 4:
        return None
    if find_spec("triton") is None or sys.modules["torch"].version.hip is not None:  # AMD has no TF32 passes
        return None
    from lvq.model import fused

    return fused


class DistanceGradient(NamedTuple):
    """dE/dD, as a matrix (N, M), or as (N, k) values at the (N, k) prototypes of `touched` where all others are zero.

    Margin costs touch two prototypes a row: with `touched` the pullback is a scatter of 2N rows, not a second N x M
    product. Tensors are scattered by the GPU kernels, and where there are none by such a product.
    """

    value: Array
    touched: Array | None = None

    def column_sums(self, count: int) -> Array:
        """Sum over the samples, (count,)."""
        if self.touched is None or rows.is_tensor(self.value):
            return self.whole(count).sum(0)
        return np.bincount(self.touched.ravel(), self.value.ravel(), count).astype(self.value.dtype, copy=False)

    def gather(self, images: Array) -> Array:
        """S rows: for each sample the sum of the prototypes' rows times their derivatives."""
        return self._factor(images.shape[0], images.shape[1]) @ images

    def scatter(self, images: Array, count: int) -> Array:
        """S' rows: for each prototype the sum of the samples' rows times their derivatives."""
        return rows.dense(self._factor(count, images.shape[1]).T @ images)

    def scatter_all(self, images: Array, count: int) -> tuple[Array, Array]:
        """`scatter` and `column_sums` in one."""
        kernels = self._kernels(images)
        if kernels is not None:
            return kernels.scatter(images, self.touched, self.value, count)
        return self.scatter(images, count), self.column_sums(count)

    def differences(self, images: Array, others: Array) -> Array:
        """sum_j s_ij (rows_i - others_j) for each sample i."""
        kernels = self._kernels(images)
        if kernels is not None:
            return kernels.differences(images, others, self.touched, self.value)
        result = self.value.sum(1)[:, None] * images
        result -= self.gather(others)
        return result

    def _kernels(self, images: Array) -> Array:
        """The GPU kernels for two touched prototypes a sample; None elsewhere."""
        return fused_kernels(images) if self.touched is not None and self.touched.shape[1] == 2 else None

    def whole(self, count: int) -> Array:
        """dE/dD as one matrix, (N, count)."""
        if self.touched is None:
            return self.value
        samples, kinds = self.value.shape
        whole, every = rows.zeros((samples, count), self.value), rows.beside(np.arange(samples), self.value)
        for k in range(kinds):
            whole[every, self.touched[:, k]] += self.value[:, k]
        return whole

    def _factor(self, count: int, columns: int) -> np.ndarray | sparse.csr_array:
        """dE/dD as one matrix for a product with so many columns: sparse where that is faster."""
        samples, touched = self.value.shape
        if self.touched is None or rows.is_tensor(self.value) or samples * count * columns <= DENSE:
            return self.whole(count)
        pointers = np.arange(0, samples * touched + 1, touched)
        return sparse.csr_array((self.value.ravel(), self.touched.ravel(), pointers), shape=(samples, count))


class Prepared:
    """Distances to given prototypes; base of what `prepare` returns.

    `columns` is how many numbers it holds for each sample in addition to the distances.
    """

    columns: int = 0

    def distances(self, X: Array) -> tuple[Array, Array]:
        """Squared distances, (N, M), and what `pullback` needs again."""
        raise NotImplementedError

    def pullback(self, X: Array, cache: Array, by_distance: DistanceGradient) -> tuple[Array, Array | None]:
        """Gradient by the prototypes and by the metric's parameters."""
        raise NotImplementedError

    def nearest_pair(self, X: Array, y: Array, labels: Array) -> tuple[NearestPair, Array]:
        """The nearest own and other prototype of each sample, and what `pullback` needs again."""
        D, cache = self.distances(X)
        return nearest_pair(D, y, labels), cache


class Metric(Protocol):
    """Interface of a metric; any object with this method can be used."""

    def prepare(self, W: Array, R: Array | None) -> Prepared:
        """Distances to these prototypes."""


class SharedPrototypes(Prepared):
    """Prototypes in a metric that is the plain one between images z = project(x) and p = project(w)."""

    def __init__(self, metric: "SharedMetric", W: Array, R: Array | None) -> None:
        self.metric, self.W, self.R = metric, W, R
        self.P = metric.project(W, R)
        self.squares = rows.row_squares(self.P)
        self.columns = 0 if R is None else 3 * self.P.shape[1]

    def _scores(self, Z: Array) -> Array:
        """|p|^2 - 2 z'p for all pairs."""
        scores = Z @ self.P.T
        scores *= -2
        scores += self.squares
        return scores

    def distances(self, X: Array) -> tuple[Array, Array]:
        """Squared distances, and the images of the samples."""
        Z = self.metric.project(X, self.R)
        D = self._scores(Z)
        D += rows.row_squares(Z)[:, None]
        return rows.clipped(D), Z

    def nearest_pair(self, X: Array, y: Array, labels: Array) -> tuple[NearestPair, Array]:
        """As `Prepared.nearest_pair`; of |z - p|^2 only |p|^2 - 2 z'p differs between prototypes."""
        Z = self.metric.project(X, self.R)
        kernels = fused_kernels(Z)
        if kernels is not None:
            return NearestPair(*kernels.search(Z, self.P, self.squares, y, labels)), Z
        pair, lengths = nearest_pair(self._scores(Z), y, labels), rows.row_squares(Z)
        return pair._replace(
            d_plus=rows.clipped(pair.d_plus + lengths), d_minus=rows.clipped(pair.d_minus + lengths)
        ), Z

    def pullback(self, X: Array, cache: Array, by_distance: DistanceGradient) -> tuple[Array, Array | None]:
        """Gradient by the prototypes and by R."""
        return self.metric.back(X, self.W, self.R, cache, self.P, by_distance)


@dataclass(frozen=True)
class SharedMetric:
    """A metric that is the plain one between images z = project(x) and p = project(w), the same map for all."""

    def prepare(self, W: Array, R: Array | None = None) -> SharedPrototypes:
        """Distances to these prototypes."""
        return SharedPrototypes(self, W, R)

    def project(self, X: Array, R: Array | None) -> Array:
        """Images of samples or prototypes."""
        raise NotImplementedError

    def back(
        self, X: Array, W: Array, R: Array | None, Z: Array, P: Array, by_distance: DistanceGradient
    ) -> tuple[Array, Array | None]:
        """Gradient by prototypes and R, given the images Z of X and P of W."""
        raise NotImplementedError


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
        return rows.scaled_columns(X, R**0.5)

    def back(
        self, X: Array, W: Array, R: Array, Z: Array, P: Array, by_distance: DistanceGradient
    ) -> tuple[Array, Array]:
        """dE/dw_j = -2 lambda sum_i s_ij (x_i - w_j); dE/dlambda = sum_ij s_ij (x_i - w_j)^2."""
        pulled, columns = by_distance.scatter_all(X, W.shape[0])
        weighted = columns[:, None] * W
        by_relevance = by_distance.value.sum(1) @ rows.squared(X) + (W * (weighted - 2 * pulled)).sum(0)
        return 2 * R * (weighted - pulled), by_relevance


@dataclass(frozen=True)
class Mahalanobis(SharedMetric):
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
