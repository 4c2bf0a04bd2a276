"""Directions in the space of features from which a matrix Omega starts, from sums over the samples."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from lvq.model.arrays import as_numpy, like, wide
from lvq.model.rows import dense, distinct_rows, is_sparse
from lvq.model.samples import ArraySamples, Block, class_sums
from lvq.typing import Array

SHRINKAGE = 0.1  # of the covariance within the classes towards a multiple of the identity


def span(samples: ArraySamples) -> np.ndarray:
    """Orthonormal rows that span all differences of samples; the identity, unless samples are fewer than features.

    Distances between samples are the same in these as in all features; 60 samples of 5,000 features need only 59 rows.
    Only distinct samples count, so that a weight of two is the same as two copies.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(0).normal(size=(5, 100))
    >>> rows = span(ArraySamples(X, np.zeros(5, dtype=int), np.ones(5)))
    >>> rows.shape, np.allclose(np.linalg.norm((X[0] - X[1]) @ rows.T), np.linalg.norm(X[0] - X[1]))
    ((4, 100), True)
    """
    n = samples.n_features
    block = samples.sample(min(samples.n_samples, 2 * n) if not samples.in_memory else None, np.random.RandomState(0))
    if distinct_rows(block.X, n) >= n:
        return np.eye(n)
    X, weight = as_numpy(dense(block.X)), as_numpy(block.weight)
    largest, eps = max(float(np.abs(X).max()), np.finfo(float).tiny), float(np.finfo(X.dtype).eps)
    X = X.astype(np.float64, copy=False) / largest  # squares could overflow
    centred = (X - np.average(X, axis=0, weights=weight)) * np.sqrt(weight)[:, None]
    _, sizes, rows = np.linalg.svd(centred, full_matrices=False)
    seen = sizes > sizes[0] * max(X.shape) * eps
    return rows[seen] if seen.any() else np.eye(n)


def discriminant_directions(samples: ArraySamples, rank: int) -> np.ndarray:
    """Directions that separate the class means best against the spread within the classes, then principal axes.

    A truncated identity would use the first features only. The covariance within the classes is shrunk towards a
    multiple of the identity, so that constant features and fewer samples than features cause no error.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 9.0], [0.1, -9.0], [1.0, 9.0], [1.1, -9.0]])
    >>> samples = ArraySamples(X, np.array([0, 0, 1, 1]), np.ones(4))
    >>> int(abs(discriminant_directions(samples, 1)).argmax())
    0
    """
    n = samples.n_features
    few = samples.n_samples < 2 * n
    if few and not samples.in_memory:
        samples = ArraySamples(*samples.sample(samples.n_samples, np.random.RandomState(0)))
    rows = span(samples) if few else np.eye(n)
    if len(rows) == n:
        return _directions(samples, rank, n)
    images = wide(dense(samples.X)) @ like(rows.T, wide(dense(samples.X[:1])))
    inside = _directions(ArraySamples(images, samples.y, samples.weight), min(rank, len(rows)), n) @ rows
    if rank <= len(rows):  # all of them lie where samples differ
        return inside
    return np.concatenate((inside, np.linalg.norm(inside, axis=1).min() * _orthogonal(rows, rank - len(rows))))


def _orthogonal(rows: np.ndarray, count: int) -> np.ndarray:
    """Further orthonormal rows: axes, less their parts along the given ones."""
    length, n = rows.shape
    basis = np.linalg.qr(np.concatenate((rows, np.eye(count, n))).T)[0].T
    return basis[length:]


def _directions(samples: ArraySamples, rank: int, n_features: int) -> np.ndarray:
    mass, means, within = class_moments(samples)
    overall, n = mass @ means / mass.sum(), len(within)
    spread = np.trace(within) / n_features
    if spread == 0:  # nothing varies inside any class
        spread, within = 1.0, np.eye(n)
    within = (1 - SHRINKAGE) * within + SHRINKAGE * spread * np.eye(n)
    centred = (means - overall) * np.sqrt(mass / mass.sum())[:, None]
    n_discriminant, rows = min(rank, len(mass) - 1), np.empty((0, n))
    if n_discriminant > 0:
        _, directions = eigh(centred.T @ centred, within, subset_by_index=(n - n_discriminant, n - 1))
        rows = directions.T[::-1]
    if rank == n_discriminant:
        return rows
    # orthogonal to the discriminant ones, the axes of largest spread, on the scale of a typical spread within
    basis, _ = np.linalg.qr(rows.T)
    rest = np.eye(n) - basis @ basis.T
    _, axes = eigh(rest @ within @ rest, subset_by_index=(n - rank + n_discriminant, n - 1))
    return np.concatenate((rows, axes.T[::-1] / np.sqrt(spread)))


def class_moments(samples: ArraySamples) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight and mean of each class, and the covariance within the classes, in float64."""
    mass, means = class_means(samples)
    return mass, means, samples.reduce(_Scatter(means), samples.block_rows(samples.n_features)) / mass.sum()


def class_means(samples: ArraySamples) -> tuple[np.ndarray, np.ndarray]:
    """Weight and weighted mean of each class, in float64; of sparse samples in their type."""
    if samples.in_memory and is_sparse(samples.X):  # the means may be as large as the samples: one array
        means, mass = class_sums(samples.X, samples.y, samples.weight, samples.n_classes)
        means /= np.maximum(mass, np.finfo(mass.dtype).tiny)[:, None]
        return mass, means
    sums = samples.reduce(_ClassSums(samples.n_classes), samples.block_rows(samples.n_classes))
    return sums[:, 0], sums[:, 1:] / np.maximum(sums[:, :1], np.finfo(float).tiny)


@dataclass(frozen=True)
class _ClassSums:
    """Weight of each class, and the weighted sum of its samples: (n_classes, 1 + n_features)."""

    n_classes: int

    def __call__(self, block: Block) -> np.ndarray:
        X = block.X if is_sparse(block.X) else wide(block.X)
        sums, mass = class_sums(X, block.y, wide(block.weight), self.n_classes)
        return np.column_stack((as_numpy(mass), as_numpy(sums))).astype(np.float64)


@dataclass(frozen=True)
class _Scatter:
    """Weighted sum of the products of deviations from the class means: (n_features, n_features)."""

    means: np.ndarray

    def __call__(self, block: Block) -> np.ndarray:
        X = wide(dense(block.X))
        residual = (X - like(self.means, X)[block.y]) * wide(block.weight)[:, None] ** 0.5
        return _as_float64(residual.T @ residual)


def _as_float64(values: Array) -> np.ndarray:
    return as_numpy(values).astype(np.float64)
