"""Methods of fitted estimators on dask arrays and data frames: one call for each partition, where it lies.

The result is a dask array that is computed when it is asked for. dask is imported where it is used.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from lvq.estimators.partition_checks import is_dask, is_frame, named, partitions_of
from lvq.typing import Argument, Array, Delayed, MatrixLike

Params = ParamSpec("Params")
Self = TypeVar("Self", bound=BaseEstimator)
Method = Callable[Concatenate[Self, MatrixLike, Params], Array]


def by_partition(method: Method[Self, Params]) -> Method[Self, Params]:
    """Decorator of a method of X: of a dask collection, a dask array of the method's results for the partitions."""

    @wraps(method)
    def call(self: Self, X: MatrixLike, *args: Params.args, **kwargs: Params.kwargs) -> Array:
        if not is_dask(X):
            return method(self, X, *args, **kwargs)
        return method_of_partitions(self, method.__name__, X, *args, **kwargs)

    return call


def method_of_partitions(
    estimator: BaseEstimator, name: str, X: Delayed, *args: Argument, **kwargs: Argument
) -> Delayed:
    """Results of a method of a fitted estimator for each partition, one after another, as one dask array."""
    import dask
    import dask.array as da

    shown = np.asarray(getattr(estimator, name)(_example(estimator, X), *args, **kwargs))
    sent, parts = dask.delayed(estimator, traverse=False), partitions_of(X)
    lengths = [np.nan] * len(parts) if is_frame(X) else X.chunks[0]
    results = [
        da.from_delayed(
            dask.delayed(_result)(number, sent, name, part, shown[:0], args, kwargs),
            shape=(length, *shown.shape[1:]),
            meta=shown[:0],
        )
        for number, (part, length) in enumerate(zip(parts, lengths))
    ]
    return da.concatenate(results, allow_unknown_chunksizes=True)


def _example(estimator: BaseEstimator, X: Delayed) -> MatrixLike:
    """One sample of the types of X, by which the type and width of the results are known before any is computed."""
    if not is_frame(X):
        return np.zeros((1, *X.shape[1:]), dtype=X.dtype)
    numeric = all(getattr(dtype, "kind", "O") in "biuf" for dtype in X.dtypes)
    if not numeric:  # a text that is a category needs a true one
        return X.head(1, npartitions=-1)
    return X._meta.reindex([0], fill_value=0).astype(X._meta.dtypes)


def _result(
    number: int, estimator: BaseEstimator, name: str, X: MatrixLike, none: np.ndarray, args: tuple, kwargs: dict
) -> np.ndarray:
    if len(X) == 0:
        return none
    with named(number):
        return np.asarray(getattr(estimator, name)(X, *args, **kwargs))
