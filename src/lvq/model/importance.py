"""Importance of features: the diagonal of C Lambda C, with C the covariance of the features.

Entry l is the sum over the model's directions k of the squared covariance of feature l with direction k, omega_k'x. The
diagonal of Lambda itself is arbitrary where features are correlated: a change of Lambda on directions in which samples
do not vary changes no distance, but does change that diagonal. The diagonal of C Lambda C does not change.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from lvq.model.arrays import as_numpy, is_tensor, like, namespace, numpy_type, wide, zeros
from lvq.model.sparse_rows import is_sparse, with_data
from lvq.model.tensor_starts import blocks
from lvq.typing import Array

PART = 0.5  # of the samples' numbers: moments of sparse features that are held at a time


def feature_importances(X: Array, weight: Array, relevance: np.ndarray, n_prototypes: np.ndarray) -> np.ndarray:
    """Importances of sum one.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Training samples; tensors, also the weights, stay on their device.
    weight : array of shape (n_samples,)
        Their weights.
    relevance : ndarray
        Relevances (n), Omega (m, n), or several Omega (K, m, n).
    n_prototypes : ndarray of shape (K,)
        Number of prototypes of each matrix, by which several are averaged.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> feature_importances(X, np.ones(3), np.array([0.5, 0.5]), np.ones(1)).tolist()
    [1.0, 0.0]
    """
    fraction, largest = wide(weight / weight.sum()), max(float(X.max()), -float(X.min()))
    tiny = float(np.finfo(numpy_type(fraction)).tiny)
    scale = max(largest, tiny)  # squares of squares could overflow
    unscaled = _of_sparse(X, fraction, scale) if is_sparse(X) else _of_dense(X, fraction, scale)
    total = np.zeros(X.shape[1])
    for part, count in zip([relevance] if relevance.ndim == 1 else np.array(relevance, ndmin=3), n_prototypes):
        importance = as_numpy(unscaled(like(part, fraction)))
        total += count * importance / max(float(importance.sum()), tiny)
    n = len(total)
    return total / total.sum() if total.sum() > 0 else np.full(n, 1 / n)


def _of_dense(X: Array, fraction: Array, scale: float) -> Callable[[Array], Array]:
    """The diagonal of C Lambda C as a function of the relevances."""
    Z, covariance = (_centred if X.shape[0] < X.shape[1] or not is_tensor(X) else _covariance)(X, fraction, scale)
    return lambda relevance: _unscaled(relevance, Z, fraction, covariance)


def _of_sparse(X: Array, fraction: np.ndarray, scale: float) -> Callable[[np.ndarray], np.ndarray]:
    """The same of sparse rows; of C only some columns are held at a time, and its part from the mean is left apart.

    Products are in the type of X, and sums in float64.
    """
    scaled = with_data(X, X.data / X.dtype.type(scale))  # a copy of the numbers, not of their columns
    mean = fraction @ scaled

    def unscaled(relevance: np.ndarray) -> np.ndarray:
        if relevance.ndim > 1:
            images = (scaled @ relevance.T - relevance @ mean) * fraction[:, None]
            return np.square(scaled.T @ images).sum(axis=1)
        counts = np.diff(X.indptr)
        weighted = with_data(scaled, scaled.data * np.repeat(fraction.astype(X.dtype), counts)).T
        parts = []
        for begin, end in pairwise(_column_parts(X, counts)):
            product = weighted @ scaled[:, begin:end]  # of the moments about the origin, these columns
            product = product.tocsr().astype(np.float64)
            crossed = (relevance * mean) @ product
            product.data *= product.data
            here = mean[begin:end]
            parts.append(relevance @ product - 2 * here * crossed + here**2 * (relevance @ mean**2))
        return np.maximum(np.concatenate(parts), 0)  # rounding

    return unscaled


def _column_parts(X: Array, counts: np.ndarray) -> list[int]:
    """Where parts of the columns begin, and the end: the moments of a part hold about as many numbers as `PART`."""
    n = X.shape[1]
    each = with_data(X, np.ones_like(X.data)).T @ counts.astype(X.dtype)  # numbers in the rows that have the column
    part = np.minimum(each, n).cumsum(dtype=np.float64) // (PART * max(X.nnz, n))
    return [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), n]


def _centred(X: Array, fraction: Array, scale: float) -> tuple[Array, Array | None]:
    """Samples around their mean; with their covariance, unless features outnumber them."""
    Z = wide(X) / scale
    Z -= fraction @ Z
    return Z, (Z.T * fraction) @ Z if len(Z) >= Z.shape[1] else None


def _covariance(X: Array, fraction: Array, scale: float) -> tuple[None, Array]:
    """The covariance of tensors alone, in blocks: the samples in float64 would be twice as large as the data."""
    n = X.shape[1]
    mean, covariance = zeros((n,), fraction), zeros((n, n), fraction)
    for rows in blocks(X.shape[0], n):
        mean += fraction[rows] @ (wide(X[rows]) / scale)
    for rows in blocks(X.shape[0], n):
        Z = wide(X[rows]) / scale - mean
        covariance += (Z.T * fraction[rows]) @ Z
    return None, covariance


def _unscaled(relevance: Array, Z: Array, fraction: Array, covariance: Array | None) -> Array:
    """The diagonal of C Lambda C; without C, which is large where features outnumber samples, by way of the samples."""
    xp = namespace(fraction)
    if covariance is not None:
        return xp.square(covariance) @ relevance if relevance.ndim == 1 else xp.square(relevance @ covariance).sum(0)
    weighted = Z * fraction[:, None]
    if relevance.ndim == 1:
        return xp.clip((weighted * (((Z * relevance) @ Z.T) @ weighted)).sum(0), 0, None)  # rounding
    return xp.square((Z @ relevance.T).T @ weighted).sum(0)
