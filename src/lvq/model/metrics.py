"""Squared distances of samples to prototypes, and the gradient by prototypes and metric from that by the distances.

A metric prepares itself for prototypes W and its parameters R: ``metric.prepare(W, R)`` returns an object with

- ``distances(X) -> (D, cache)``: squared distances (N, M), and what the gradient needs again;
- ``pullback(X, cache, by_distance) -> (dW, dR)``, where `by_distance` is dE/dD (see `DistanceGradient`);
- ``nearest_pair(X, y, labels) -> (NearestPair, cache)``, which `Prepared` derives from the distances.

No N x M x n array is ever made: distances are |z|^2 + |p|^2 - 2 z'p of the projected samples and prototypes, in the
coordinates that are given. R is None, the relevances lambda (n), a matrix Omega (m, n), or one of these for each group
of prototypes, (K, n) or (K, m, n); the last two are in `local_metrics.py`.
"""

import sys
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from lvq.model.rows import (
    as_numpy,
    beside,
    clipped,
    dense,
    first_argmin,
    is_sparse,
    is_tensor,
    namespace,
    row_squares,
    scaled_columns,
    squared,
    take_columns,
    zeros,
)
from lvq.typing import Array

DENSE = 2**19  # products up to which a dense matrix is faster than the overhead of a sparse one
LONG = 4  # samples of the same class one after another, on average, from which slices are faster than masks


class NearestPair(NamedTuple):
    """The nearest prototype of the true class and the nearest of all others, for each sample."""

    own: Array
    other: Array
    d_plus: Array
    d_minus: Array


def nearest_pair(scores: Array, y: Array, labels: Array) -> NearestPair:
    """Find d+ and d- and the indices of their prototypes, from distances or scores; their array is used up.

    Labels ascend, ties go to the lowest index. Samples ordered by class are searched class by class, in slices.

    Examples
    --------
    >>> import numpy as np
    >>> pair = nearest_pair(np.array([[3.0, 1.0, 2.0]]), np.array([0]), np.array([0, 1, 1]))
    >>> int(pair.own[0]), int(pair.other[0]), float(pair.d_plus[0]), float(pair.d_minus[0])
    (0, 1, 3.0, 1.0)
    """
    if namespace(scores) is np:
        runs = [0, *(np.flatnonzero(y[1:] != y[:-1]) + 1).tolist(), len(y)]
        if len(y) >= LONG * len(runs):
            own, d_plus = _own_by_run(scores, y, labels, runs)
            other = scores.argmin(axis=1)
            return NearestPair(own, other, d_plus, take_columns(scores, other))
    mine, infinity = y[:, None] == labels[None, :], float("inf")
    xp = namespace(scores)
    own = first_argmin(np.where(mine, scores, infinity) if xp is np else scores.masked_fill(~mine, infinity))
    d_plus = take_columns(scores, own)
    if xp is np:
        np.putmask(scores, mine, infinity)
    else:
        scores.masked_fill_(mine, infinity)
    other = first_argmin(scores)
    return NearestPair(own, other, d_plus, take_columns(scores, other))


def class_starts(labels: Array) -> np.ndarray:
    """Index of the first prototype of each class that has any; labels ascend.

    Examples
    --------
    >>> import numpy as np
    >>> class_starts(np.array([0, 0, 2])).tolist()
    [0, 2]
    """
    return np.flatnonzero(np.diff(as_numpy(labels), prepend=-1))


def nearest_by_class(scores: Array, starts: np.ndarray) -> Array:
    """Index of the nearest prototype of each class, (N, C); `starts` are those of `class_starts`.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_by_class(np.array([[3.0, 1.0, 2.0]]), np.array([0, 2])).tolist()
    [[1, 2]]
    """
    counts = np.diff(starts, append=scores.shape[1])
    if (counts == counts[0]).all():
        index = first_argmin(scores.reshape(-1, int(counts[0]))).reshape(-1, len(counts))
    else:
        parts = [scores[:, start : start + count] for start, count in zip(starts.tolist(), counts.tolist())]
        index = namespace(scores).stack([first_argmin(part) for part in parts], 1)
    return index + beside(starts, scores)


def _own_by_run(
    scores: np.ndarray, y: np.ndarray, labels: np.ndarray, runs: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest own prototype and its score; the scores of all own prototypes become infinite."""
    own, d_plus = np.zeros(len(y), dtype=np.intp), np.full(len(y), np.inf, dtype=scores.dtype)
    for begin, end in pairwise(runs):
        low, high = np.searchsorted(labels, (y[begin], y[begin] + 1))
        if low == high:  # a class without prototypes
            continue
        mine = scores[begin:end, low:high]
        nearest = mine.argmin(axis=1)
        own[begin:end] = nearest + low
        d_plus[begin:end] = take_columns(mine, nearest)
        mine[...] = np.inf
    return own, d_plus


def fused_kernels(array: Array) -> ModuleType | None:
    """The module of GPU kernels where this array can use them, else None: float32 on CUDA, with Triton installed."""
    if not is_tensor(array) or not array.is_cuda or array.element_size() != 4:
        return None
    if find_spec("triton") is None or sys.modules["torch"].version.hip is not None:  # AMD has no TF32 passes
        return None
    from lvq.model import fused

    return fused


class DistanceGradient(NamedTuple):
    """dE/dD, as a matrix (N, M), or as (N, k) values at the (N, k) prototypes of `touched` where all others are zero.

    Margin costs touch two prototypes a row: with `touched` the pullback is a scatter of 2N rows, not a second N x M
    product.
    """

    value: Array
    touched: Array | None = None

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
            return self._factor(rows.shape[0], rows.shape[1]) @ rows
        return sum(self.value[:, k, None] * rows[self.touched[:, k]] for k in range(self.touched.shape[1]))

    def scatter(self, rows: Array, count: int) -> Array:
        """S' rows: for each prototype the sum of the samples' rows times their derivatives."""
        if self.touched is None:
            return self.value.T @ rows
        if namespace(self.value) is np:
            return dense(self._factor(count, rows.shape[1]).T @ rows)
        total = zeros((count, rows.shape[1]), rows)
        for k in range(self.touched.shape[1]):
            total.index_add_(0, self.touched[:, k], self.value[:, k, None] * rows)
        return total

    def scatter_all(self, rows: Array, count: int) -> tuple[Array, Array]:
        """`scatter` and `column_sums` in one."""
        kernels = self._kernels(rows)
        if kernels is not None:
            return kernels.scatter(rows, self.touched, self.value, count)
        return self.scatter(rows, count), self.column_sums(count)

    def differences(self, rows: Array, others: Array) -> Array:
        """sum_j s_ij (rows_i - others_j) for each sample i."""
        kernels = self._kernels(rows)
        if kernels is not None:
            return kernels.differences(rows, others, self.touched, self.value)
        result = self.value.sum(1)[:, None] * rows
        result -= self.gather(others)
        return result

    def _kernels(self, rows: Array) -> Array:
        """The GPU kernels for two touched prototypes a sample; None elsewhere."""
        return fused_kernels(rows) if self.touched is not None and self.touched.shape[1] == 2 else None

    def whole(self, count: int) -> Array:
        """dE/dD as one matrix, (N, count)."""
        if self.touched is None:
            return self.value
        if namespace(self.value) is not np:
            return zeros((self.value.shape[0], count), self.value).scatter_add_(1, self.touched, self.value)
        whole, samples = np.zeros((len(self.value), count), dtype=self.value.dtype), np.arange(len(self.value))
        for touched, value in zip(self.touched.T, self.value.T):
            whole[samples, touched] += value
        return whole

    def _factor(self, count: int, columns: int) -> np.ndarray | sparse.csr_array:
        """dE/dD as one matrix for a product with so many columns: dense where that is faster."""
        assert self.touched is not None
        samples, touched = self.value.shape
        if samples * count * columns <= DENSE:
            return self.whole(count)
        pointers = np.arange(0, samples * touched + 1, touched)
        return sparse.csr_array((self.value.ravel(), self.touched.ravel(), pointers), shape=(samples, count))


class Prepared:
    """Distances to given prototypes; base of what `prepare` returns.

    `columns` is how many numbers it holds for each sample besides the distances.
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


def squared_distances(X: Array, W: Array) -> Array:
    """|x - w|^2 for all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [1.0, 0.0]])).tolist()
    [[25.0, 1.0]]
    """
    D = X @ (-2 * W.T)
    D += row_squares(X)[:, None]
    D += row_squares(W)
    return clipped(D)


class SharedPrototypes(Prepared):
    """Prototypes in a metric that is the plain one between images z = project(x) and p = project(w)."""

    def __init__(self, metric: "SharedMetric", W: Array, R: Array | None) -> None:
        self.metric, self.W, self.R = metric, W, R
        self.P = metric.project(W, R)
        self.squares = row_squares(self.P)
        self.columns = 0 if R is None else 3 * self.P.shape[1]

    @cached_property
    def folded(self) -> Array:
        """-2 p, as columns."""
        return -2 * self.P.T

    def _products(self, Z: Array) -> Array:
        """-2 z'p for all pairs."""
        if not is_sparse(Z):
            return Z @ self.folded
        products = Z @ self.P.T  # a factor of the product, not of the prototypes, which may be larger than the samples
        products *= -2
        return products

    def distances(self, X: Array) -> tuple[Array, Array]:
        """Squared distances, and the images of the samples."""
        Z = self.metric.project(X, self.R)
        D = self._products(Z)
        D += self.squares
        D += row_squares(Z)[:, None]
        return clipped(D), Z

    def nearest_pair(self, X: Array, y: Array, labels: Array) -> tuple[NearestPair, Array]:
        """As `Prepared.nearest_pair`; of |z - p|^2 only |p|^2 - 2 z'p differs between prototypes."""
        Z = self.metric.project(X, self.R)
        kernels = fused_kernels(Z)
        if kernels is not None:
            return NearestPair(*kernels.search(Z, self.P, self.squares, y, labels)), Z
        scores = self._products(Z)
        scores += self.squares
        pair, lengths = nearest_pair(scores, y, labels), row_squares(Z)
        return pair._replace(d_plus=clipped(pair.d_plus + lengths), d_minus=clipped(pair.d_minus + lengths)), Z

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
        return scaled_columns(X, R**0.5)

    def back(
        self, X: Array, W: Array, R: Array, Z: Array, P: Array, by_distance: DistanceGradient
    ) -> tuple[Array, Array]:
        """dE/dw_j = -2 lambda sum_i s_ij (x_i - w_j); dE/dlambda = sum_ij s_ij (x_i - w_j)^2."""
        pulled, columns = by_distance.scatter_all(X, W.shape[0])
        weighted = columns[:, None] * W
        by_relevance = by_distance.value.sum(1) @ squared(X) + (W * (weighted - 2 * pulled)).sum(0)
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
