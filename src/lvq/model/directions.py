"""Directions in the space of features from which a matrix Omega starts."""

import numpy as np
from scipy.linalg import eigh

from lvq.model import sparse_starts, tensor_starts
from lvq.model.arrays import is_tensor
from lvq.model.class_sums import class_sums
from lvq.model.sparse_rows import filled, is_sparse
from lvq.typing import Array


def span(X: Array, weight: Array) -> np.ndarray:
    """Orthonormal rows that span all differences of samples; the identity, unless samples are fewer than features.

    Distances between samples are the same in these as in all features; 60 samples of 5,000 features need only 59 rows.
    Only distinct samples count, so that a weight of two is the same as two copies.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(0).normal(size=(5, 100))
    >>> rows = span(X, np.ones(5))
    >>> rows.shape, np.allclose(np.linalg.norm((X[0] - X[1]) @ rows.T), np.linalg.norm(X[0] - X[1]))
    ((4, 100), True)
    """
    n = X.shape[1]
    if distinct_rows(X, n) >= n:
        return np.eye(n)
    if is_tensor(X):
        rows = tensor_starts.row_space(X, weight)
        return rows if len(rows) else np.eye(n)
    X = filled(X)  # the matrix that starts from these rows is no smaller
    scaled = X.astype(np.float64, copy=False) / max(
        float(np.abs(X).max()), np.finfo(float).tiny
    )  # squares could overflow
    centred = (scaled - np.average(scaled, axis=0, weights=weight)) * np.sqrt(weight)[:, None]
    _, sizes, rows = np.linalg.svd(centred, full_matrices=False)
    seen = sizes > sizes[0] * max(X.shape) * np.finfo(X.dtype).eps
    return rows[seen] if seen.any() else np.eye(n)


def distinct_rows(X: Array, enough: int) -> int:
    """Number of distinct rows, counted up to `enough`."""
    if is_tensor(X):
        return tensor_starts.distinct_rows(X, enough)
    if X.shape[0] < enough:
        return X.shape[0]
    if is_sparse(X):
        return sparse_starts.distinct_rows(X, enough)
    seen: set[int] = set()
    for row in X:
        seen.add(hash((row + 0.0).tobytes()))  # the sum turns minus zero into zero
        if len(seen) >= enough:
            break
    return len(seen)


def discriminant_directions(X: Array, y: Array, weight: Array, rank: int) -> np.ndarray:
    """Directions that separate the class means best against the spread within the classes, then principal axes.

    A truncated identity would use the first features only. The covariance within the classes is shrunk towards a
    multiple of the identity, so that constant features and fewer samples than features cause no error.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 9.0], [0.1, -9.0], [1.0, 9.0], [1.1, -9.0]])
    >>> int(abs(discriminant_directions(X, np.array([0, 0, 1, 1]), np.ones(4), 1)).argmax())
    0
    """
    n = X.shape[1]
    if is_sparse(X):
        return sparse_starts.discriminant_directions(X, y, weight, rank)
    rows = span(X, weight)
    if len(rows) == n:
        return _directions(X, y, weight, rank, n)
    images = tensor_starts.images(X, rows) if is_tensor(X) else X @ rows.T
    inside = _directions(images, y, weight, min(rank, len(rows)), n) @ rows  # all of them lie where samples differ
    if rank <= len(rows):
        return inside
    return np.concatenate((inside, np.linalg.norm(inside, axis=1).min() * _orthogonal(rows, rank - len(rows))))


def _orthogonal(rows: np.ndarray, count: int) -> np.ndarray:
    """Further orthonormal rows: axes, less their parts along the given ones."""
    length, n = rows.shape
    axes = np.eye(count, n)
    basis = np.linalg.qr(np.concatenate((rows, axes)).T)[0].T
    return basis[length:]


def _directions(X: Array, y: Array, weight: Array, rank: int, n_features: int) -> np.ndarray:
    mass, means, within = _class_moments(X, y, weight)
    overall = mass @ means / mass.sum()
    spread = np.trace(within) / n_features
    if spread == 0:  # nothing varies inside any class
        spread, within = 1.0, np.eye(len(within))
    within = 0.9 * within + 0.1 * spread * np.eye(len(within))
    centred = (means - overall) * np.sqrt(mass / mass.sum())[:, None]
    n_discriminant = min(rank, len(mass) - 1)
    n = len(within)
    rows = np.empty((0, n))
    if n_discriminant > 0:
        _, directions = eigh(centred.T @ centred, within, subset_by_index=(n - n_discriminant, n - 1))
        rows = directions.T[::-1]
    if rank == n_discriminant:
        return rows
    # orthogonal to the discriminant ones, the axes of largest spread, on the scale of a typical spread within
    basis, _ = np.linalg.qr(rows.T)
    rest = np.eye(n) - basis @ basis.T
    n_rest = rank - n_discriminant
    _, axes = eigh(rest @ within @ rest, subset_by_index=(n - n_rest, n - 1))
    return np.concatenate((rows, axes.T[::-1] / np.sqrt(spread)))


def _class_moments(X: Array, y: Array, weight: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight and mean of each class, and the covariance within the classes."""
    if is_tensor(X):
        return tensor_starts.class_moments(X, y, weight)
    X = X.astype(np.float64, copy=False)
    sums, mass = class_sums(X, y, weight, int(y.max()) + 1)
    means = sums / np.maximum(mass, np.finfo(float).tiny)[:, None]
    residual = (X - means[y]) * np.sqrt(weight / mass.sum())[:, None]
    return mass, means, residual.T @ residual
