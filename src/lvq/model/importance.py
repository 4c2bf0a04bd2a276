"""Importance of features: the diagonal of C Lambda C, with C the covariance of the features.

Entry l is the sum over the model's directions k of the squared covariance of feature l with direction k, omega_k'x. The
diagonal of Lambda itself is arbitrary where features are correlated: a change of Lambda on directions in which samples
do not vary changes no distance, but does change that diagonal. The diagonal of C Lambda C does not change.
"""

import numpy as np


def feature_importances(
    X: np.ndarray, weight: np.ndarray, relevance: np.ndarray, n_prototypes: np.ndarray
) -> np.ndarray:
    """Importances of sum one.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training samples.
    weight : ndarray of shape (n_samples,)
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
    scale = max(float(np.abs(X).max()), np.finfo(np.float64).tiny)  # squares of squares could overflow
    Z = X.astype(np.float64) / scale
    fraction = (weight / weight.sum()).astype(np.float64)
    Z -= fraction @ Z
    covariance = (Z.T * fraction) @ Z if len(Z) >= Z.shape[1] else None
    total = np.zeros(Z.shape[1])
    for part, count in zip([relevance] if relevance.ndim == 1 else np.array(relevance, ndmin=3), n_prototypes):
        importance = _unscaled(part.astype(np.float64), Z, fraction, covariance)
        total += count * importance / max(float(importance.sum()), np.finfo(np.float64).tiny)
    n = len(total)
    return total / total.sum() if total.sum() > 0 else np.full(n, 1 / n)


def _unscaled(relevance: np.ndarray, Z: np.ndarray, fraction: np.ndarray, covariance: np.ndarray | None) -> np.ndarray:
    """The diagonal of C Lambda C; without C, which is large where features outnumber samples, by way of the samples."""
    if covariance is not None:
        return (
            np.square(covariance) @ relevance if relevance.ndim == 1 else np.square(relevance @ covariance).sum(axis=0)
        )
    weighted = Z * fraction[:, None]
    if relevance.ndim == 1:
        return np.maximum(np.sum(weighted * (((Z * relevance) @ Z.T) @ weighted), axis=0), 0)  # rounding
    return np.square((Z @ relevance.T).T @ weighted).sum(axis=0)
