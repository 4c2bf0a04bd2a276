"""The first pass of a scaler, where features may have no value in a part of the rows, and what it tells the model."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from lvq.model.feature_moments import FeatureMoments
from lvq.model.sparse_rows import is_sparse
from lvq.typing import Array, MatrixLike

#: What `StandardScaler` has learned of a feature, and its value before any was seen.
LEARNED = {"mean_": 0.0, "var_": 0.0, "scale_": 1.0}


def learn_scale(scaler: BaseEstimator, X: Array, rows: MatrixLike) -> None:
    """`scaler.partial_fit(rows)`; features without a value in these rows stay as they were.

    scikit-learn's scalers would divide 0 by 0 there, and keep the NaN for good.

    Parameters
    ----------
    scaler : estimator
        With `partial_fit`; changed.
    X : ndarray or CSR array of shape (n_samples, n_features)
        The rows as an array.
    rows : ndarray, CSR array or DataFrame
        The same as the scaler is to get them.

    Examples
    --------
    >>> import numpy as np
    >>> scaler = StandardScaler()
    >>> for part in (np.array([[1.0, np.nan], [3.0, np.nan]]), np.array([[np.nan, 5.0], [np.nan, 9.0]])):
    ...     learn_scale(scaler, part, part)
    >>> scaler.mean_.tolist(), scaler.var_.tolist()
    ([2.0, 7.0], [1.0, 4.0])
    """
    empty = _without_values(X)
    if not len(empty):
        scaler.partial_fit(rows)
        return
    if not isinstance(scaler, StandardScaler):
        raise ValueError(
            f"{type(scaler).__name__} of fit_batches needs a value of each feature in each part of the rows, but column"
            f" {empty[0]} has none in one of them; use StandardScaler, which does not, or leave the column out."
        )
    before = {name: np.array(vars(scaler)[name]) for name in LEARNED if vars(scaler).get(name) is not None}
    with np.errstate(invalid="ignore"):
        scaler.partial_fit(rows)
    for name, start in LEARNED.items():
        if getattr(scaler, name) is not None:
            getattr(scaler, name)[empty] = before[name][empty] if before else start


def moments_after(scaler: BaseEstimator | None) -> FeatureMoments | None:
    """Mean and variance of the features after standardisation, as a first pass has found them; None where it has not.

    Examples
    --------
    >>> import numpy as np
    >>> moments = moments_after(StandardScaler().fit([[1.0, 5.0], [3.0, 5.0]]))
    >>> moments.mean.tolist(), moments.variances().tolist()
    ([0.0, 0.0], [1.0, 0.0])
    """
    if not isinstance(scaler, StandardScaler) or not hasattr(scaler, "n_samples_seen_"):
        return None
    if scaler.mean_ is None or scaler.var_ is None:  # neither centres nor scales
        return None
    scale = np.ones(len(scaler.var_)) if scaler.scale_ is None else scaler.scale_
    mass = np.broadcast_to(scaler.n_samples_seen_, scale.shape).astype(np.float64)
    mean = np.zeros(len(scale)) if scaler.with_mean else scaler.mean_ / scale
    return FeatureMoments(mass, mean, scaler.var_ / scale**2 * mass)


def _without_values(X: Array) -> np.ndarray:
    """Features of which no row has a value."""
    if is_sparse(X):
        return np.zeros(0, dtype=np.intp)
    missing = np.flatnonzero(np.isnan(X[0]))
    return missing[np.isnan(X[:, missing]).all(axis=0)]
