"""Training samples in the partitions of a dask collection: parameters are sent, and only sums come back.

Every sum over the samples is computed partition by partition where the partitions lie, and the sums are added in a
fixed tree, so that the result depends neither on the number of workers nor on which of them computes what. A lost
worker is replaced by dask, which computes the lost partitions again from their source.

dask is imported where it is used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import ClassVar, NamedTuple, Self

import numpy as np

from lvq.model.arranged_partitions import ArrangedPartitions, stand_in
from lvq.model.arrays import rounded_centre
from lvq.model.class_sums import class_sums, rows_by_class
from lvq.model.device_blocks import DeviceBlock, Move
from lvq.model.placed_sums import sum_over
from lvq.model.placed_tasks import computed_beside, kept_beside
from lvq.model.samples import ArraySamples, Block, Map, Total, median_variance
from lvq.typing import Array, Delayed

START_SAMPLES = 5000  # of a class that are brought together for a start: up to these k-means is exact
START_NUMBERS = 2**25  # in all of them together, about; at least 10 samples of each class


@dataclass(frozen=True)
class Extent:
    """What is known of a partition: samples of each class, range and sum of each feature, sum of the weights.

    Where values are missing the range is that of the others, NaN without any, and the sum is NaN.
    """

    counts: np.ndarray
    low: np.ndarray
    high: np.ndarray
    total: np.ndarray
    weight: float

    def __add__(self, other: "Extent") -> "Extent":
        low, high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        return Extent(self.counts + other.counts, low, high, self.total + other.total, self.weight + other.weight)


def extent_of(block: Block, n_classes: int) -> Extent:
    """Extent of a block that has at least one sample."""
    X, y, weight = block
    total, low, high = X.sum(axis=0, dtype=np.float64), np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    return Extent(np.bincount(y, minlength=n_classes), low, high, total, float(weight.sum(dtype=np.float64)))


class Moments(NamedTuple):
    """Weight and mean of each class, and the covariance within the classes."""

    mass: np.ndarray
    means: np.ndarray
    within: np.ndarray


@dataclass(frozen=True)
class PartitionedSamples(ArraySamples):
    """Samples in partitions: `X`, `y` and `weight` have the shape and type of all samples, but no values.

    Parameters
    ----------
    X, y, weight : ndarray
        As `stand_in` makes them.
    blocks : tuple of Delayed
        The partitions, each a `Block` of at least one sample, in the workers' memory.
    extents : tuple of Extent
        Their extents.
    move : callable, optional
        Moves arrays of a partition to a device of the worker that holds it, for solvers.
    """

    in_memory: ClassVar[bool] = False
    blocks: tuple[Delayed, ...]
    extents: tuple[Extent, ...]
    move: Move | None = None

    @classmethod
    def of(cls, blocks: Sequence[Delayed], extents: Sequence[Extent], dtype: np.dtype) -> Self:
        """Samples of blocks with known extents."""
        shape = int(sum(extent.counts.sum() for extent in extents)), len(extents[0].low)
        y, weight = stand_in(shape[:1], np.dtype(np.intp)), stand_in(shape[:1], dtype)
        return cls(stand_in(shape, dtype), y, weight, tuple(blocks), tuple(extents))

    @cached_property
    def extent(self) -> Extent:
        """Extent of all samples."""
        return reduce(add, self.extents)

    def reduce(self, function: Callable[[Block], Total], rows: int, mapping: Map = map) -> Total:
        """Sum of a function over blocks of at most `rows` samples of each partition, in a fixed order.

        One sum comes back. `mapping` is not used: dask works in parallel. On a cluster each partition is summed by a
        worker that holds it, see `lvq.model.placed_sums`.
        """
        return sum_over(self.blocks, function, rows)

    def sample(self, k: int | None, random_state: np.random.RandomState) -> Block:
        """At most k samples, drawn without replacement; None for all, but of a large class only some thousands."""
        counts = self.extent.counts
        if k is None:
            most = max(10, min(START_SAMPLES, START_NUMBERS // (self.n_features * len(counts))))
            wanted = np.minimum(counts, most)
        elif k >= self.n_samples:
            wanted = counts
        else:
            wanted = _generator(random_state).multivariate_hypergeometric(counts, k, method="marginals")
        return self._draw(wanted, random_state)

    def _draw(self, wanted: np.ndarray, random_state: np.random.RandomState) -> Block:
        """So many samples of each class, from the partitions in proportion to what they hold of it."""
        import dask

        held = np.stack([extent.counts for extent in self.extents])
        taken, seed = held, 0
        if (wanted < held.sum(axis=0)).any():
            generator = _generator(random_state)
            taken = np.stack([_allotted(generator, *column) for column in zip(held.T, wanted)], axis=1)
            seed = int(generator.integers(2**31))
        some = [number for number in range(len(held)) if taken[number].any()]
        blocks = [self.blocks[p] for p in some]
        drawn = computed_beside(blocks, lambda k: dask.delayed(_drawn)(blocks[k], taken[some[k]], (seed, some[k])))
        return Block(*(np.concatenate(parts) for parts in zip(*drawn)))

    def start_rows(self, init: str, n_prototypes: int, random_state: np.random.RandomState) -> Block:
        """Samples from which prototypes start: a sample, or the means where each class starts at its mean."""
        if n_prototypes == 1 and init in ("means", "kmeans"):
            mass, means = self._class_means
            return self._block(np.clip(means, self.extent.low, self.extent.high), np.arange(len(mass)), mass)
        return self.sample(None, random_state)

    def metric_rows(self) -> Block:
        """All samples where they are few; else some with the same weight, means and covariance within the classes."""
        if (self.extent.counts <= START_SAMPLES).all() and self.n_samples * self.n_features <= START_NUMBERS:
            return self._draw(self.extent.counts, np.random.RandomState(0))
        return self._block(*rows_of(self._moments))

    @cached_property
    def _class_means(self) -> tuple[np.ndarray, np.ndarray]:
        n_classes = len(self.extent.counts)
        sums = self.reduce(_ClassSums(n_classes), rows=2**16)
        return sums[:, 0], sums[:, 1:] / sums[:, :1]

    @cached_property
    def _moments(self) -> Moments:
        mass, means = self._class_means
        return Moments(mass, means, self.reduce(_Scatter(means), rows=2**16) / mass.sum())

    def _block(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Block:
        return Block(X.astype(self.X.dtype), y, weight.astype(self.X.dtype))

    def take(self, rows: slice | Array) -> Block:
        """Not possible: samples have no index over all partitions."""
        raise TypeError("samples in partitions have no index; use reduce or sample")

    def to(self, move: Callable[[Array], Array]) -> Self:
        """The same samples; once they are arranged, those of each partition are moved where it lies."""
        return replace(self, move=move)

    def thinned(self) -> Self:
        """All samples: sums over them cost no more than a draw."""
        return self

    def arranged(self, centre: Array, *, single: bool = False) -> ArrangedPartitions:  # type: ignore[override]
        """The same samples relative to a centre, with weights of sum one, class by class in each partition.

        They keep their type, and are kept on the workers' devices where these are set.
        """
        task = partial(arranged_block, centre=centre, total=self.extent.weight)
        return self._kept(task if self.move is None else partial(_moved, task, self.move), self.X)

    def _kept(self, task: Callable[[Block], Block | DeviceBlock], X: np.ndarray) -> ArrangedPartitions:
        """The blocks that a function makes of each partition, kept beside it; X has the shape of their rows."""
        import dask

        blocks, sent = self.blocks, dask.delayed(task, traverse=False)
        kept = kept_beside(blocks, lambda p: sent(blocks[p]))
        return ArrangedPartitions(X, self.y, self.weight, kept, np.stack([extent.counts for extent in self.extents]))

    def variances(self) -> np.ndarray:
        """Variance of the observed values of each feature; by two sums."""
        given = self.with_nan()
        mass, total = given.reduce(_observed_sums, rows=2**16)
        mass = np.where(mass > 0, mass, 1)
        return given.reduce(_ObservedSquares(total / mass), rows=2**16) / mass

    def typical_variance(self) -> float:
        """Median of the features' variances."""
        mass, means, within = self._moments
        between = mass / mass.sum() @ (means - mass / mass.sum() @ means) ** 2
        return median_variance(np.diagonal(within) + between)

    def centre(self) -> Array:
        """A point near the mean with few digits, as that of samples in memory."""
        known, dtype = self.extent, self.X.dtype
        return rounded_centre((known.total / self.n_samples).astype(dtype), known.low, known.high)


def rows_of(moments: Moments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Few samples with the given moments: class means, and in the largest class pairs around it for the covariance.

    With K the correlation of V diag(s) V' and D the deviations, the pairs are the mean plus and minus a D v_k
    s_k^(1/2). Each of the 2n has the weight m/(2n) of a class of weight m, so a^2 = n/m. Rows of weight zero make the
    number of distinct samples at least n.
    """
    mass, means, within = moments
    n, largest = means.shape[1], int(mass.argmax())
    deviation = np.sqrt(np.diag(within))
    scale = np.where(deviation > 0, deviation, 1.0)
    sizes, vectors = np.linalg.eigh(within / np.outer(scale, scale))
    factor = np.sqrt(n * mass.sum() / mass[largest] * np.maximum(sizes, 0.0))
    away = (vectors * factor).T * scale
    distinct = np.diag(scale * np.arange(1, n + 1))
    X = np.concatenate((np.delete(means, largest, 0), *(means[largest] + part for part in (away, -away, distinct))))
    y = np.concatenate((np.delete(np.arange(len(mass)), largest), np.full(3 * n, largest)))
    weight = np.concatenate((np.delete(mass, largest), np.full(2 * n, mass[largest] / (2 * n)), np.zeros(n)))
    return X, y, weight


# -- what runs where the partitions lie --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ClassSums:
    """Weight of each class, and the weighted sum of its samples: (n_classes, 1 + n_features)."""

    n_classes: int

    def __call__(self, block: Block) -> np.ndarray:
        X = block.X.astype(np.float64, copy=False)
        sums, mass = class_sums(X, block.y, block.weight, self.n_classes)
        return np.column_stack((mass, sums))


@dataclass(frozen=True)
class _Scatter:
    """Weighted sum of the squared deviations from the class means: (n_features, n_features)."""

    means: np.ndarray

    def __call__(self, block: Block) -> np.ndarray:
        residual = (block.X - self.means[block.y]) * np.sqrt(block.weight.astype(np.float64))[:, None]
        return residual.T @ residual


def _observed_sums(block: Block) -> np.ndarray:
    """Weight and weighted sum of the observed values of each feature."""
    weight = block.weight.astype(np.float64)
    return np.stack((weight @ ~np.isnan(block.X), weight @ np.nan_to_num(block.X)))


@dataclass(frozen=True)
class _ObservedSquares:
    """Weighted sum of the squared differences of the observed values from their mean."""

    mean: np.ndarray

    def __call__(self, block: Block) -> np.ndarray:
        return block.weight.astype(np.float64) @ np.nan_to_num(block.X - self.mean) ** 2


def arranged_block(block: Block, centre: np.ndarray, total: float) -> Block:
    """Samples of a partition relative to a centre, class by class, with their fraction of the total weight."""
    shifted = ArraySamples(*block).arranged(centre)
    fraction = block.weight.sum(dtype=np.float64) / total
    return Block(shifted.X, shifted.y, shifted.weight * fraction.astype(centre.dtype))


def _moved(task: Callable[[Block], Block], move: Move, block: Block) -> DeviceBlock:
    return DeviceBlock.of(task(block), move)


def _drawn(block: Block, wanted: np.ndarray, seed: tuple[int, int]) -> Block:
    """So many samples of each class, at random where not all are wanted."""
    generator, rows = np.random.default_rng(seed), []
    for label, here in enumerate(rows_by_class(block.y, len(wanted))):
        if wanted[label]:
            rows.append(here if wanted[label] == len(here) else generator.choice(here, wanted[label], replace=False))
    return ArraySamples(*block).take(np.sort(np.concatenate(rows)))


def _generator(random_state: np.random.RandomState) -> np.random.Generator:
    return np.random.default_rng(random_state.randint(2**31))


def _allotted(generator: np.random.Generator, held: np.ndarray, wanted: int) -> np.ndarray:
    """How many of the wanted samples come from each partition, as if drawn from all of them together."""
    return generator.multivariate_hypergeometric(held, wanted, method="marginals")
