"""Importance of features: the diagonal of C Lambda C, with C the covariance of the features.

Entry l is the sum over the model's directions k of the squared covariance of feature l with direction k, omega_k'x. The
diagonal of Lambda itself is arbitrary where features are correlated: a change of Lambda on directions in which samples
do not vary changes no distance, but does change that diagonal. The diagonal of C Lambda C does not change.
"""

from collections.abc import Callable

import numpy as np

from lvq.model.arrays import as_numpy, is_tensor, like, namespace, numpy_type, wide, zeros
from lvq.model.sparse_rows import is_sparse
from lvq.model.tensor_starts import blocks
from lvq.typing import Array

COLUMNS = 1024  # of the covariance of sparse features that are computed at a time


def feature_importances(
    X: Array, weight: Array, relevance: np.ndarray | list[np.ndarray], n_prototypes: np.ndarray
) -> np.ndarray:
    """Importances of sum one.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Training samples; tensors, also the weights, stay on their device.
    weight : array of shape (n_samples,)
        Their weights.
    relevance : ndarray or list of ndarray
        Relevances (n), Omega (m, n), or several Omega (K, m, n); several relevances as a list.
    n_prototypes : ndarray of shape (K,)
        Number of prototypes of each, by which several are averaged.

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
    if not isinstance(relevance, list):
        relevance = [relevance] if relevance.ndim == 1 else list(np.array(relevance, ndmin=3))
    for part, count in zip(relevance, n_prototypes):
        importance = as_numpy(unscaled(like(part, fraction)))
        total += count * importance / max(float(importance.sum()), tiny)
    n = len(total)
    return total / total.sum() if total.sum() > 0 else np.full(n, 1 / n)


def _of_dense(X: Array, fraction: Array, scale: float) -> Callable[[Array], Array]:
    """The diagonal of C Lambda C as a function of the relevances."""
    Z, covariance = (_centred if X.shape[0] < X.shape[1] or not is_tensor(X) else _covariance)(X, fraction, scale)
    return lambda relevance: _unscaled(relevance, Z, fraction, covariance)


def _of_sparse(X: Array, fraction: np.ndarray, scale: float) -> Callable[[np.ndarray], np.ndarray]:
    """The same of sparse rows; of C only some columns are held at a time, and its part from the mean is left apart."""
    scaled = X.astype(np.float64) / scale
    mean = fraction @ scaled

    def unscaled(relevance: np.ndarray) -> np.ndarray:
        if relevance.ndim > 1:
            images = (scaled @ relevance.T - relevance @ mean) * fraction[:, None]
            return np.square(scaled.T @ images).sum(axis=1)
        columns, weighted = scaled.tocsc(), scaled.T.tocsr()
        weighted.data *= fraction[weighted.indices]
        parts = []
        for begin in range(0, len(mean), COLUMNS):
            product = weighted @ columns[:, begin : begin + COLUMNS]  # of the moments about the origin, these columns
            here = mean[begin : begin + COLUMNS]
            crossed = (relevance * mean) @ product
            product.data *= product.data
            parts.append(relevance @ product - 2 * here * crossed + here**2 * (relevance @ mean**2))
        return np.maximum(np.concatenate(parts), 0)  # rounding

    return unscaled


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
