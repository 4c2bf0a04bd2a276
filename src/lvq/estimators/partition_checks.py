"""Checks of dask arrays and data frames, partition by partition where the partitions lie; messages name the partition.

Only counts, ranges and labels come to the client. dask is imported where it is used.
"""

import sys
from collections.abc import Sequence
from functools import partial
from typing import TypeGuard

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names, _check_n_features, column_or_1d

from lvq.estimators.partition_rows import RowForm, checked_block, checked_rows, column_of, named
from lvq.estimators.tensors import float_types, on_device
from lvq.estimators.validation import check_classes, check_magnitude, check_range, class_weights, no_values
from lvq.model.incomplete_partitions import with_missing
from lvq.model.partitions import PartitionedSamples, extent_of
from lvq.model.placed_tasks import beside_sources, computed_beside, kept_beside
from lvq.model.samples import ArraySamples, Block
from lvq.typing import ClassWeight, Delayed, MatrixLike


def is_dask(X: object) -> TypeGuard[Delayed]:
    """Whether this is an array, a data frame or a series of dask; without dask imported there is none."""
    dask = sys.modules.get("dask.base") or sys.modules.get("dask")
    return dask is not None and hasattr(dask, "is_dask_collection") and dask.is_dask_collection(X)


def in_memory(values: MatrixLike) -> MatrixLike:
    """A dask collection computed, an array where its partitions lie; anything else unchanged."""
    if not is_dask(values):
        return values
    if is_frame(values):
        return values.compute()
    import dask

    return np.concatenate(dask.compute(*held_partitions(values)))


def refuse_dask(estimator: BaseEstimator, X: object, call: str, advice: str) -> None:
    """Raise TypeError for a dask collection in a call that needs the samples in memory."""
    if is_dask(X):
        raise TypeError(f"{type(estimator).__name__}.{call} needs samples in memory, got a dask collection. {advice}")


def check_partitioned_solver(estimator: BaseEstimator, solver: str) -> None:
    """Raise ValueError for solvers that take single samples."""
    if solver == "online":
        raise ValueError(
            f"{type(estimator).__name__} with solver='online' takes samples one by one, and dask collections stay in "
            "their partitions. Use a model with solver='lbfgs' or 'adam', or give X.compute() where it fits in memory."
        )


def is_frame(X: Delayed) -> bool:
    """Whether a collection is a data frame or a series."""
    return hasattr(X, "map_partitions")


def partitions_of(X: Delayed) -> list[Delayed]:
    """The partitions in order; those of an array hold all of its columns."""
    if not is_frame(X) and X.ndim == 2:
        X = X.rechunk({1: -1})
    parts = X.to_delayed()
    return list(np.ravel(parts)) if isinstance(parts, np.ndarray) else list(parts)


def held_partitions(X: Delayed) -> list[Delayed]:
    """The partitions for what is computed at once: those that come from one in a cluster's memory are beside it."""
    return beside_sources(partitions_of(X))


def training_partitions(
    estimator: BaseEstimator,
    X: Delayed,
    y: MatrixLike,
    sample_weight: MatrixLike | None,
    *,
    reset: bool,
    device: str | None = None,
) -> tuple[PartitionedSamples, np.ndarray]:
    """Samples with class indices and weights in their partitions, and the classes; as `check_training_data`.

    With a device the samples go to that of their workers for training.
    """
    import dask

    dtype = check_columns(estimator, X, reset=reset)
    dtype = dtype if dtype in float_types(device) else np.dtype(np.float32)
    parts = held_partitions(X)
    lengths = lengths_of(X, parts)
    if sum(lengths) == 0:
        raise ValueError(f"X of {type(estimator).__name__}.fit has no samples: all {len(parts)} partitions are empty.")
    labels, weights = (_aligned(estimator, name, part, lengths) for name, part in (("y", y), ("weight", sample_weight)))
    numbers = [number for number, length in enumerate(lengths) if length]
    missing = getattr(estimator, "missing", "raise") == "ignore"
    form = RowForm.of(estimator, dtype, missing=missing)

    def checked(place: int) -> Delayed:
        number = numbers[place]
        return dask.delayed(checked_block)(number, parts[number], labels[number], weights[number], form, device)

    rows = kept_beside([parts[number] for number in numbers], checked)
    found = computed_beside(rows, lambda p: dask.delayed(_label_counts)(rows[p]))
    classes, table = _class_table(estimator, found, sample_weight)
    blocks = kept_beside(rows, lambda p: dask.delayed(_indexed)(rows[p], classes, table))
    extents = computed_beside(blocks, lambda p: dask.delayed(_extent)(blocks[p], len(classes)))
    kept = [(number, block, extent) for number, block, extent in zip(numbers, blocks, extents) if extent is not None]
    for number, _, extent in kept:
        with named(number):
            check_magnitude(estimator, np.stack((extent.low, extent.high)))
    samples = PartitionedSamples.of([block for _, block, _ in kept], [extent for _, _, extent in kept], dtype)
    check_range(estimator, np.stack((samples.extent.low, samples.extent.high)))
    if missing and not np.isfinite(samples.extent.low).any():
        raise ValueError(no_values(estimator))
    samples = with_missing(samples) if missing else samples
    return samples if device is None else samples.to(partial(on_device, device=device)), classes


def check_columns(estimator: BaseEstimator, X: Delayed, *, reset: bool) -> np.dtype:
    """Check, or set, number and names of the features; the type in which samples are computed."""
    if X.ndim != 2:
        raise ValueError(
            f"X of {type(estimator).__name__} must be a dask array or data frame of two axes, got {X.ndim}."
        )
    if not is_frame(X) and np.isnan(X.shape[1]):
        raise ValueError(
            f"X of {type(estimator).__name__} is a dask array of an unknown number of columns; call "
            "X.compute_chunk_sizes() first."
        )
    columns = X._meta if is_frame(X) else np.zeros((1, X.shape[1]))
    _check_feature_names(estimator, columns, reset=reset)
    _check_n_features(estimator, columns, reset=reset)
    types = set(X.dtypes) if is_frame(X) else {X.dtype}
    return np.dtype(np.float32 if types == {np.dtype(np.float32)} else np.float64)


def lengths_of(X: Delayed, parts: Sequence[Delayed]) -> list[int]:
    """Number of samples of each partition; computed where it is not known."""
    import dask

    if not is_frame(X) and not np.isnan(X.shape[0]):
        return [int(length) for length in X.chunks[0]]
    return list(computed_beside(parts, lambda p: dask.delayed(len)(parts[p])))


def _aligned(estimator: BaseEstimator, name: str, values: MatrixLike | None, lengths: list[int]) -> Sequence[Delayed]:
    """Labels or weights in partitions of given lengths, from a collection with the same or others, or from memory."""
    if values is None:
        return [None] * len(lengths)
    here: Sequence[Delayed]
    if is_dask(values):
        here = held_partitions(values)
        known = lengths_of(values, here)
        if known == lengths:
            return here
        total = sum(known)
    else:
        values = column_or_1d(values)
        total = len(values)
    if total != sum(lengths):
        raise ValueError(
            f"{name} of {type(estimator).__name__}.fit must have one value for each of the {sum(lengths)} samples of "
            f"X, got {total}."
        )
    if not is_dask(values):
        return np.split(values, np.cumsum(lengths)[:-1])
    import dask
    import dask.array as da

    columns = [dask.delayed(column_of)(part) for part in here]
    arrays = [da.from_delayed(part, shape=(length,), dtype=object) for part, length in zip(columns, known)]
    return partitions_of(da.concatenate(arrays).rechunk((tuple(lengths),)))


def partition_moments(estimator: BaseEstimator, X: Delayed, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Number, mean and variance of the observed values of each feature; from sums over the partitions."""
    import dask

    parts, form = held_partitions(X), RowForm.of(estimator, dtype, missing=True)
    rows = kept_beside(parts, lambda p: dask.delayed(checked_rows)(p, parts[p], form))
    lengths, counts, totals = zip(*computed_beside(rows, lambda p: dask.delayed(_total)(rows[p])))
    if sum(lengths) == 0:
        raise ValueError(f"X has no samples: all {len(parts)} partitions are empty.")
    count = sum(counts)
    with np.errstate(invalid="ignore"):  # NaN where no value is known, as in scikit-learn
        mean = sum(totals) / count
        squares = computed_beside(rows, lambda p: dask.delayed(_squares)(rows[p], mean))
        return count, mean, sum(squares) / count


def _class_table(
    estimator: BaseEstimator,
    found: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    sample_weight: MatrixLike | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Classes that have a weight above 0, and the weight of each."""
    names, counts, weights = (np.concatenate(parts) for parts in zip(*found))
    check_classification_targets(names)
    classes, index = np.unique(names, return_inverse=True)
    table = _class_weights(estimator.class_weight, classes, np.bincount(index, counts))
    if not (table >= 0).all():
        raise ValueError(f"class_weight must hold non-negative numbers, got {estimator.class_weight!r}.")
    kept = np.bincount(index, weights) * table > 0
    check_classes(estimator, classes[kept], sample_weight)
    return classes[kept], table[kept]


def _class_weights(class_weight: ClassWeight, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    if class_weight == "balanced":
        return counts.sum() / (len(classes) * counts)
    return np.ones(len(classes)) if class_weight is None else class_weights(class_weight, classes)


# -- what runs where the partitions lie --------------------------------------------------------------------------------


def _total(X: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    known = ~np.isnan(X)
    return len(X), known.sum(axis=0), np.where(known, X, 0).sum(axis=0, dtype=np.float64)


def _squares(X: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return np.nansum(np.square(X - mean), axis=0)


def _label_counts(block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels of a partition, how many samples each has, and their weight."""
    labels, index = np.unique(block.y, return_inverse=True)
    return labels, np.bincount(index), np.bincount(index, block.weight)


def _indexed(block: Block, classes: np.ndarray, table: np.ndarray) -> Block:
    """Samples of a weight above 0, with class indices."""
    index = np.minimum(np.searchsorted(classes, block.y), len(classes) - 1)
    weight = block.weight * table[index].astype(block.weight.dtype)
    keep = (weight > 0) & (classes[index] == block.y)
    return ArraySamples(block.X, index, weight).take(slice(None) if keep.all() else keep)


def _extent(block: Block, n_classes: int) -> object:
    return extent_of(block, n_classes) if len(block.y) else None
