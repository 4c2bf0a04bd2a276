"""Training samples in the partitions of a dask collection: functions are sent, and only sums come back.

`Partitions` implements what `lvq.model.samples.ArraySamples` does for samples in memory: ``reduce(f)``, a sum over the
partitions in a fixed tree, and ``sample(k)``. dask decides where tasks run; its locality keeps them where the data lie.
A lost worker is replaced by dask, which computes the lost partitions again; an error in a partition is raised here,
with the partition's number. Methods of fitted estimators are mapped over the partitions.

dask is imported where it is used.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_non_negative

from lvq.estimators.inputs import (
    check_classes,
    check_range,
    class_weights,
    distinct_labels,
    in_memory,
    is_dask,
    validated,
)
from lvq.model.rows import BLOCK, rounded_centre
from lvq.model.samples import ArraySamples, Total, rows_by_class
from lvq.model.starts import EXACT as START_SAMPLES
from lvq.solvers.lbfgs import LBFGS
from lvq.typing import Argument, Delayed, MatrixLike

TREE = 8  # sums that are added at a time; a constant, to fix the order of the sums
START_NUMBERS = 2**25  # of all samples that a start draws


def mapped(estimator: BaseEstimator, name: str, X: Delayed, *args: Argument, **kwargs: Argument) -> Delayed:
    """A method of a fitted estimator for each partition, as one lazy dask array."""
    frame = hasattr(X, "map_partitions")
    example = X._meta_nonempty.iloc[:1] if frame else np.zeros((1, *X.shape[1:]), dtype=X.dtype)
    shown = np.asarray(getattr(estimator, name)(example, *args, **kwargs))[:0]

    def method(part: MatrixLike, block_info: Argument = None, partition_info: Argument = None) -> np.ndarray:
        number = block_info[0]["chunk-location"][0] if partition_info is None else partition_info["number"]
        with _named(number):
            return np.asarray(getattr(estimator, name)(part, *args, **kwargs)) if len(part) else shown

    if frame:
        return X.map_partitions(method, meta=shown)
    sizes = ((size,) for size in shown.shape[1:])
    lost = range(shown.ndim, X.ndim)
    return _whole_rows(X).map_blocks(method, chunks=(X.chunks[0], *sizes), drop_axis=list(lost), meta=shown)


@contextmanager
def _named(number: int) -> Iterator[None]:
    """Errors inside name the partition."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"Partition {number} of the dask collection: {error}") from error


class Extent(NamedTuple):
    """Extent of a partition: samples of each class, range and sum of each feature, sum of the weights."""

    counts: np.ndarray
    low: np.ndarray
    high: np.ndarray
    total: np.ndarray
    weight: float

    def joined(self, other: "Extent") -> "Extent":
        """The extent of both."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Extent(self.counts + other.counts, low, high, self.total + other.total, self.weight + other.weight)


@dataclass(frozen=True)
class Partitions:
    """Samples in partitions, each `ArraySamples` in the workers' memory, with their interface."""

    in_memory: ClassVar[bool] = False
    blocks: tuple[Delayed, ...]
    extents: tuple[Extent, ...]
    dtype: np.dtype

    @property
    def extent(self) -> Extent:
        """Extent of all samples."""
        return reduce(Extent.joined, self.extents)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.extent.counts.sum())

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.extents[0].low)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.extents[0].counts)

    def block_rows(self, columns: int = 0) -> int:
        """Number of rows in a block with this many numbers per row, at least as many as the samples have."""
        return max(1, BLOCK // max(1, self.n_features, columns))

    def reduce(self, function: Callable[[ArraySamples], Total], rows: int) -> Total:
        """Sum of a function over blocks of at most `rows` samples of each partition, in a fixed order."""
        import dask

        sent = dask.delayed(function, traverse=False)
        level = [dask.delayed(ArraySamples.reduce)(block, sent, rows) for block in self.blocks]
        while len(level) > 1:
            level = [dask.delayed(_sum_of)(*level[k : k + TREE]) for k in range(0, len(level), TREE)]
        return dask.compute(level[0])[0]

    def sample(self, k: int | None, random_state: np.random.RandomState) -> ArraySamples:
        """At most k samples, drawn without replacement; None for all, but of a large class only some thousands."""
        import dask

        held = np.stack([extent.counts for extent in self.extents])
        seed = deepcopy(random_state).randint(2**31)  # the state stays, as with samples in memory, all of them taken
        counts, generator = held.sum(axis=0), np.random.default_rng(seed)
        if k is None:
            wanted = np.minimum(counts, max(10, min(START_SAMPLES, START_NUMBERS // (self.n_features * len(counts)))))
        else:
            wanted = generator.multivariate_hypergeometric(counts, min(k, counts.sum()), method="marginals")
        draw = partial(generator.multivariate_hypergeometric, method="marginals")
        taken = np.stack([draw(column, number) for column, number in zip(held.T, wanted)], axis=1)
        seeds = generator.integers(2**31, size=len(held))
        drawn = [dask.delayed(_drawn)(*given) for given in zip(self.blocks, taken, seeds.tolist())]
        return ArraySamples(*(np.concatenate(parts) for parts in zip(*dask.compute(*drawn))))

    def thinned(self) -> "Partitions":
        """All samples: sums over them cost no more than a draw."""
        return self

    def centre(self) -> np.ndarray:
        """A point near the mean with few digits."""
        known = self.extent
        return rounded_centre((known.total / known.counts.sum()).astype(self.dtype), known.low, known.high)

    def arranged(self, centre: np.ndarray, *, single: bool = False) -> "Partitions":
        """The same samples relative to a centre, with weights of sum one, class by class in each partition."""
        import dask

        task = dask.delayed(partial(_arranged, centre=centre, total=self.extent.weight), traverse=False)
        return replace(self, blocks=dask.persist(*(task(block) for block in self.blocks)))


# -- what runs where the partitions lie --------------------------------------------------------------------------------


def _sum_of(*parts: Total) -> Total:
    return reduce(add, parts)


def _drawn(block: ArraySamples, wanted: np.ndarray, seed: int) -> ArraySamples:
    """So many samples of each class."""
    generator, rows = np.random.default_rng(seed), [np.empty(0, dtype=np.intp)]
    for count, here in zip(wanted, rows_by_class(block.y, len(wanted))):
        rows.append(here if count == len(here) else generator.choice(here, count, replace=False))
    return block.take(np.sort(np.concatenate(rows)))


def _arranged(block: ArraySamples, centre: np.ndarray, total: float) -> ArraySamples:
    """Samples relative to a centre, class by class, with their fraction of the total weight."""
    X, y, weight = block.arranged(centre)
    return ArraySamples(X, y, weight * np.asarray(block.weight.sum(dtype=np.float64) / total, dtype=weight.dtype))


def _checked(
    number: int, X: MatrixLike, y: MatrixLike, weight: MatrixLike, estimator: BaseEstimator, dtype: np.dtype
) -> ArraySamples:
    """A partition as arrays: samples in the common type, labels as they are, weights."""
    with _named(number):
        if not len(X):
            return ArraySamples(np.zeros((0, estimator.n_features_in_), dtype), np.asarray(y), np.zeros(0, dtype))
        X, y = validated(estimator, X, y, reset=False, missing=False, dense=True, types=[dtype])
        distinct_labels(estimator, y)
        weight = np.ones(len(X)) if weight is None else weight  # all of them may be 0 here
        weight = check_array(weight, dtype=dtype, ensure_2d=False, input_name="sample_weight")
        check_consistent_length(X, weight)
        check_non_negative(weight, "sample_weight")
    return ArraySamples(X, y, weight)


def _label_weights(block: ArraySamples) -> tuple[np.ndarray, np.ndarray]:
    labels, index = np.unique(block.y, return_inverse=True)
    return labels, np.bincount(index, block.weight, len(labels))


def _indexed(block: ArraySamples, classes: np.ndarray, factors: np.ndarray) -> tuple[ArraySamples, Extent]:
    """Samples of a weight above 0, with class indices, and their extent."""
    index = np.minimum(np.searchsorted(classes, block.y), len(classes) - 1)
    weight = block.weight * factors[index].astype(block.weight.dtype)
    keep = (weight > 0) & (classes[index] == block.y)
    X, y, weight = block.X[keep], index[keep], weight[keep]
    low, high = X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)
    total = X.sum(axis=0, dtype=np.float64)
    counts, mass = np.bincount(y, minlength=len(classes)), float(weight.sum(dtype=np.float64))
    return ArraySamples(X, y, weight), Extent(counts, low, high, total, mass)


# -- checks ------------------------------------------------------------------------------------------------------------


def _whole_rows(X: Delayed) -> Delayed:
    """A collection whose partitions hold all columns, as partitions of frames do."""
    return X if hasattr(X, "map_partitions") or X.ndim != 2 else X.rechunk({1: -1})


def _partitions(X: Delayed) -> list[Delayed]:
    """The partitions in order."""
    return list(np.ravel(np.array(_whole_rows(X).to_delayed(), dtype=object)))


def training_partitions(
    estimator: BaseEstimator, solver: object, X: Delayed, y: MatrixLike, weight: MatrixLike | None, *, reset: bool
) -> tuple[Partitions, np.ndarray, slice]:
    """Samples with class indices and weights in their partitions, the classes, and all rows."""
    import dask

    name = type(estimator).__name__
    if not isinstance(solver, LBFGS) or solver.device is not None:
        raise ValueError(
            f"{name} takes dask collections only with solver='lbfgs' on the CPU, got {solver!r}. Use it, or give "
            "X.compute() if it fits in memory."
        )
    if X.ndim != 2 or y is None:
        raise ValueError(f"{name}.fit needs X of two dimensions, got {X.ndim}, and y, got {type(y).__name__}.")
    columns = X._meta if hasattr(X, "map_partitions") else np.zeros((1, X.shape[1]))
    _check_feature_names(estimator, columns, reset=reset)
    _check_n_features(estimator, columns, reset=reset)
    types = set(X.dtypes) if hasattr(X, "dtypes") else {X.dtype}
    dtype = np.dtype(np.float32 if types == {np.dtype(np.float32)} else np.float64)
    parts = _partitions(X)
    labels, weights = (_aligned(name, X, parts, values) for values in (y, weight))
    given = zip(range(len(parts)), parts, labels, weights)
    task = dask.delayed(partial(_checked, estimator=estimator, dtype=dtype), traverse=False)
    rows = dask.persist(*(task(*part) for part in given))
    classes, factors = _classes(estimator, dask.compute(*(dask.delayed(_label_weights)(block) for block in rows)))
    pairs = [dask.delayed(_indexed, nout=2)(block, classes, factors) for block in rows]
    pairs = dask.persist(*(part for pair in pairs for part in pair))
    extents = dask.compute(*pairs[1::2])
    kept = [(block, extent) for block, extent in zip(pairs[::2], extents) if extent.counts.sum()]
    blocks, known = zip(*kept)
    samples = Partitions(blocks, known, dtype)
    check_range(estimator, np.stack([samples.extent.low, samples.extent.high]))
    return samples, classes, slice(None)


def _aligned(name: str, X: Delayed, parts: Sequence[Delayed], values: MatrixLike | None) -> Sequence[Argument]:
    """Labels or weights for each partition, from a collection with the same partitions or from memory."""
    import dask

    if values is None:
        return [None] * len(parts)
    if is_dask(values) and len(_partitions(values)) == len(parts):
        return _partitions(values)  # each task compares the lengths
    values = np.asarray(in_memory(values))
    known = not hasattr(X, "map_partitions") and not np.isnan(X.shape[0])
    lengths = list(X.chunks[0]) if known else dask.compute(*(dask.delayed(len)(part) for part in parts))
    if len(values) != sum(lengths):
        raise ValueError(
            f"y and sample_weight of {name}.fit must have one value for each of the {sum(lengths)} samples of X, got "
            f"{len(values)}."
        )
    return np.split(values, np.cumsum(lengths)[:-1])


def _classes(estimator: BaseEstimator, found: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Classes that have a weight above 0, and the factor of each."""
    names, weights = (np.concatenate(parts) for parts in zip(*found))
    if not len(names):
        raise ValueError(f"X of {type(estimator).__name__}.fit has no samples: all partitions are empty.")
    classes, index = distinct_labels(estimator, names)
    factors = class_weights(estimator.class_weight, classes, np.bincount(index, weights))
    kept = np.bincount(index, weights) * factors > 0
    check_classes(estimator, classes[kept])
    return classes[kept], factors[kept]
