"""Preparation of dask collections for the models, which take them as they take arrays: see docs/clusters.md."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from lvq.estimators.over_partitions import method_of_partitions
from lvq.estimators.partitions import check_columns, is_dask, partition_moments
from lvq.typing import Delayed

__all__ = ["fit_scaler", "transform"]


def fit_scaler(X: Delayed) -> StandardScaler:
    """A StandardScaler of a dask array or data frame, from sums over its partitions.

    Parameters
    ----------
    X : dask array or data frame of shape (n_samples, n_features)
        Samples. They stay where they are; a few sums of n_features numbers come from each partition. NaN is a missing
        value, which does not count, as in StandardScaler.

    Returns
    -------
    scaler : StandardScaler
        Fitted; for samples in memory it is a step of a pipeline, for dask collections see `transform`.

    Examples
    --------
    >>> import pytest; dask_array = pytest.importorskip("dask.array")
    >>> import numpy as np
    >>> X = dask_array.from_array(np.arange(12.0).reshape(6, 2), chunks=(2, 2))
    >>> scaler = fit_scaler(X)
    >>> scaler.mean_.tolist()
    [5.0, 6.0]
    >>> transform(scaler, X).std(axis=0).compute().round(12).tolist()
    [1.0, 1.0]
    """
    _check(X)
    scaler = StandardScaler()
    dtype = check_columns(scaler, X, reset=True)
    counts, mean, square = partition_moments(scaler, X, dtype)
    variance = np.where(np.sqrt(square) <= 10 * np.finfo(dtype).eps * np.abs(mean), 0.0, square)  # rounding alone
    scaler.n_samples_seen_ = int(counts[0]) if (counts == counts[0]).all() else counts
    scaler.mean_, scaler.var_ = mean, variance
    scaler.scale_ = np.where(variance == 0, 1.0, np.sqrt(variance))
    return scaler


def transform(transformer: BaseEstimator, X: Delayed) -> Delayed:
    """`transformer.transform` of each partition of a dask array or data frame, where it lies.

    Parameters
    ----------
    transformer : fitted transformer
        Any with a result of one row of numbers for each sample.
    X : dask array or data frame of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    X_new : dask array
        Computed when it is asked for.
    """
    _check(X)
    return method_of_partitions(transformer, "transform", X)


def _check(X: object) -> None:
    if not is_dask(X):
        raise TypeError(f"X must be a dask array or data frame, got {type(X).__name__}; use StandardScaler for arrays.")
