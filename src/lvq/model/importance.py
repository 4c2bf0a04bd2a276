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
    weight_fraction = (weight / weight.sum()).astype(np.float64)
    Z -= weight_fraction @ Z
    rows = [np.diag(np.sqrt(relevance))] if relevance.ndim == 1 else list(np.array(relevance, ndmin=3))
    covariance = (Z.T * weight_fraction) @ Z if len(Z) >= Z.shape[1] else None
    total = np.zeros(Z.shape[1])
    for omega, count in zip(rows, n_prototypes):
        omega = omega.astype(np.float64)
        with_directions = omega @ covariance if covariance is not None else ((Z @ omega.T).T * weight_fraction) @ Z
        importance = np.square(with_directions).sum(axis=0)
        total += count * importance / max(float(importance.sum()), np.finfo(np.float64).tiny)
    n = len(total)
    return total / total.sum() if total.sum() > 0 else np.full(n, 1 / n)
