"""Directions that a matrix Omega starts from: those in which samples differ, and those that separate the classes."""

import numpy as np
from scipy.linalg import eigh

from lvq.model.rows import as_numpy, dense, distinct_rows, like, wide
from lvq.model.samples import ArraySamples, class_moments

SHRINKAGE = 0.1  # of the covariance within the classes towards a multiple of the identity


def span(samples: ArraySamples) -> np.ndarray:
    """Orthonormal rows that span all differences of samples; the identity, unless samples are fewer than features.

    Distances between samples are the same in these as in all features; 60 samples of 5,000 features need only 59 rows.
    Only distinct samples count, so a weight of two is the same as two copies.

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
    multiple of the identity, so constant features and fewer samples than features cause no error.

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
