"""Methods of fitted estimators on dask arrays and data frames: one call for each partition, where it lies.

The result of a method is a dask array that is computed when it is asked for. `results_of_partitions` brings results of
any function of a partition to the client, and `chosen_rows` leaves some rows where they lie. dask is imported where it
is used.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from uuid import uuid4

import numpy as np
from sklearn.base import BaseEstimator

from lvq.estimators.partition_checks import held_partitions, is_dask, is_frame, lengths_of, partitions_of
from lvq.estimators.partition_rows import named
from lvq.estimators.tensors import on_host
from lvq.model.placed_tasks import computed_beside, kept_beside
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

    with on_host():  # the device may be one of the workers alone
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


def chosen_rows(X: Delayed, rows: np.ndarray) -> Delayed:
    """Some rows of a collection, by ascending numbers, as a collection of the same kind; none leaves its partition.

    Every partition is kept, also one without a chosen row, so that messages name the partition of X.
    """
    import dask
    import dask.array as da

    parts = held_partitions(X)
    lengths = lengths_of(X, parts)
    if np.array_equal(rows, np.arange(sum(lengths))):
        return X
    ends = np.cumsum(lengths)
    own = [row - first for row, first in zip(np.split(rows, np.searchsorted(rows, ends[:-1])), ends - lengths)]
    some = [place for place, numbers in enumerate(own) if len(numbers)]

    def task(k: int) -> Delayed:
        return dask.delayed(_chosen)(some[k], parts[some[k]], own[some[k]], lengths[some[k]])

    kept = kept_beside([parts[place] for place in some], task)
    if is_frame(X):
        import dask.dataframe as dd

        chosen = dict(zip(some, kept))
        none = dask.delayed(X._meta)
        return dd.from_delayed([chosen.get(p, none) for p in range(len(parts))], meta=X._meta, verify_meta=False)
    # an array of what is kept: dask would fuse the names that da.from_delayed gives, and where it lies would be lost
    name, none = f"chosen-{uuid4().hex}", np.empty((0, X.shape[1]), dtype=X.dtype)
    graph = {(name, place, 0): none for place in range(len(parts))}
    graph |= {(name, place, 0): dict(part.dask)[part.key] for place, part in zip(some, kept)}
    return da.Array(graph, name, (tuple(map(len, own)), (X.shape[1],)), meta=X._meta)


def results_of_partitions(
    X: Delayed, function: Callable[..., object], sent: Sequence[object], *columns: np.ndarray
) -> list[Argument]:
    """`function(*sent, partition, *columns)` of each partition that has rows, with its own rows of the columns."""
    import dask

    parts = held_partitions(X)
    lengths = lengths_of(X, parts)
    places = [place for place, length in enumerate(lengths) if length]
    ends = np.cumsum(lengths)[:-1]
    own = list(zip(*(np.split(column, ends) for column in columns))) if columns else [()] * len(parts)
    common = dask.delayed(tuple(sent), traverse=False)

    def task(k: int) -> Delayed:
        place = places[k]
        return dask.delayed(_applied)(place, function, common, parts[place], own[place], lengths[place])

    return list(computed_beside([parts[place] for place in places], task))


def _example(estimator: BaseEstimator, X: Delayed) -> MatrixLike:
    """One sample of the types of X, by which the type and width of the results are known before any is computed."""
    if not is_frame(X):
        return np.zeros((1, *X.shape[1:]), dtype=X.dtype)
    numeric = all(getattr(dtype, "kind", "O") in "biuf" for dtype in X.dtypes)
    if not numeric:  # a text that is a category needs a true one
        return X.head(1, npartitions=-1)
    return X._meta.reindex([0], fill_value=0).astype(X._meta.dtypes)


def _check_length(X: MatrixLike, length: int) -> None:
    if len(X) != length:
        raise ValueError(f"it has {len(X)} samples, but {length} by the collection's own account.")


def _chosen(number: int, X: MatrixLike, rows: np.ndarray, length: int) -> MatrixLike:
    with named(number):
        _check_length(X, length)
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _applied(
    number: int,
    function: Callable[..., object],
    sent: tuple,
    X: MatrixLike,
    columns: Sequence[np.ndarray],
    length: int,
) -> object:
    with named(number):
        _check_length(X, length)
        return function(*sent, X, *columns)


def _result(
    number: int, estimator: BaseEstimator, name: str, X: MatrixLike, none: np.ndarray, args: tuple, kwargs: dict
) -> np.ndarray:
    if len(X) == 0:
        return none
    with named(number):
        return np.asarray(getattr(estimator, name)(X, *args, **kwargs))
