"""Samples with missing values in the partitions of a dask collection, as `incomplete_samples` has them in memory.

Partitions keep NaN where a value is missing. What is put in its place, the mean of the class, follows from sums over
the partitions; the rows themselves are filled or packed where they lie.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from lvq.model.arranged_partitions import ArrangedPartitions, stand_in
from lvq.model.class_sums import class_sums
from lvq.model.incomplete_samples import filled
from lvq.model.metrics import Metric
from lvq.model.missing import Observed, packed
from lvq.model.partitions import Extent, PartitionedSamples, arranged_block, extent_of
from lvq.model.placed_tasks import computed_beside, kept_beside
from lvq.model.samples import ArraySamples, Block, Map, Total
from lvq.typing import Delayed


@dataclass(frozen=True)
class KnownValues:
    """What is known of the values of partitions: rows with and without any, and the values of each class and feature.

    Parameters
    ----------
    known, unknown : ndarray of shape (n_classes,)
        Number of rows with a value, and without any.
    mass, total : ndarray of shape (n_classes, n_features)
        Weight of the known values, and their weighted sum.
    n_missing : int
        Number of missing values.
    """

    known: np.ndarray
    unknown: np.ndarray
    mass: np.ndarray
    total: np.ndarray
    n_missing: int

    def __add__(self, other: "KnownValues") -> "KnownValues":
        known, unknown = self.known + other.known, self.unknown + other.unknown
        mass, total = self.mass + other.mass, self.total + other.total
        return KnownValues(known, unknown, mass, total, self.n_missing + other.n_missing)

    def means(self) -> np.ndarray:
        """Mean of each class and feature; over all classes where a class has no value, 0 where there is none."""
        overall = _mean(self.mass.sum(axis=0), self.total.sum(axis=0), np.zeros(self.mass.shape[1]))
        return _mean(self.mass, self.total, overall)


def _mean(mass: np.ndarray, total: np.ndarray, default: np.ndarray) -> np.ndarray:
    return np.where(mass > 0, total / np.where(mass > 0, mass, 1), default)


@dataclass(frozen=True)
class FilledPartitions(PartitionedSamples):
    """Samples of which functions see the means of their class in place of missing values; extents are of filled rows.

    Parameters
    ----------
    means : ndarray of shape (n_classes, n_features)
        What is put in place of a missing value.
    """

    means: np.ndarray = field(kw_only=True)

    def reduce(self, function: Callable[[Block], Total], rows: int, mapping: Map = map) -> Total:
        """Sum of a function over blocks of filled rows."""
        return super().reduce(partial(_of_view, partial(filled_block, means=self.means), function), rows)

    def _draw(self, wanted: np.ndarray, random_state: np.random.RandomState) -> Block:
        """Where all samples are drawn they are filled as those in memory, to the last bit.

        Random starts depend on it: they draw in an order of the rows by their bytes.
        """
        block = super()._draw(wanted, random_state)
        if len(block.y) < self.n_samples:
            return filled_block(block, self.means)
        return block._replace(X=filled(block.X, block.y, block.weight / block.weight.mean()))


@dataclass(frozen=True)
class IncompletePartitions(PartitionedSamples):
    """Samples with missing values: filled for starts, centres and importances, blocks are packed rows.

    Parameters
    ----------
    means : ndarray of shape (n_classes, n_features)
        What is put in place of a missing value.
    """

    means: np.ndarray = field(kw_only=True)

    @cached_property
    def _filled(self) -> FilledPartitions:
        return FilledPartitions(self.X, self.y, self.weight, self.blocks, self.extents, means=self.means)

    def filled(self) -> FilledPartitions:
        """The filled samples."""
        return self._filled

    def with_nan(self) -> PartitionedSamples:
        """The samples as they were given."""
        return PartitionedSamples(self.X, self.y, self.weight, self.blocks, self.extents)

    def reduce(self, function: Callable[[Block], Total], rows: int, mapping: Map = map) -> Total:
        """Sum of a function over blocks of packed rows."""
        return super().reduce(partial(_of_view, packed_block, function), rows)

    def sample(self, k: int | None, random_state: np.random.RandomState) -> Block:
        """At most k filled samples."""
        return self._filled.sample(k, random_state)

    def start_rows(self, init: str, n_prototypes: int, random_state: np.random.RandomState) -> Block:
        """Filled samples from which prototypes start."""
        return self._filled.start_rows(init, n_prototypes, random_state)

    def metric_rows(self) -> Block:
        """Filled samples, or rows with their moments."""
        return self._filled.metric_rows()

    def typical_variance(self) -> float:
        """Median of the variances of the filled features."""
        return self._filled.typical_variance()

    def arranged(self, centre: np.ndarray, *, single: bool = False) -> ArrangedPartitions:  # type: ignore[override]
        """Packed rows relative to a centre, class by class in each partition, with weights of sum one."""
        shape = self.n_samples, 2 * self.n_features
        task = partial(_arranged, centre=centre, total=self.extent.weight)
        return self._kept(task, stand_in(shape, self.X.dtype))

    def measured(self, metric: Metric, variances: np.ndarray | None) -> Observed:
        """The metric for packed rows."""
        assert variances is not None
        return Observed(metric, variances)


def with_missing(samples: PartitionedSamples) -> PartitionedSamples:
    """Samples of which values may be missing; the same where none is.

    Rows without any value are left out, except those of a class that has no others, as `samples_of` does in memory.
    """
    import dask

    blocks, extents, n_classes = samples.blocks, samples.extents, len(samples.extent.counts)
    values = samples.reduce(partial(_known_values, n_classes=n_classes), rows=2**16)
    if values.n_missing == 0:
        return samples
    if (values.unknown[values.known > 0] > 0).any():
        kept = kept_beside(blocks, lambda p: dask.delayed(_without_unknown)(blocks[p], values.known > 0))
        counts = computed_beside(kept, lambda p: dask.delayed(_count)(kept[p]))
        blocks = tuple(block for block, count in zip(kept, counts) if count)
    means = values.means().astype(samples.X.dtype)
    extents = _filled_extents(blocks, means)
    rest = PartitionedSamples.of(blocks, extents, samples.X.dtype)
    if values.n_missing == samples.n_features * (samples.n_samples - rest.n_samples):  # all in rows that are left out
        return rest
    return IncompletePartitions(rest.X, rest.y, rest.weight, rest.blocks, rest.extents, means=means)


def _filled_extents(blocks: Sequence[Delayed], means: np.ndarray) -> tuple[Extent, ...]:
    import dask

    return computed_beside(blocks, lambda p: dask.delayed(_filled_extent)(blocks[p], means))


# -- what runs where the partitions lie --------------------------------------------------------------------------------


def _of_view(view: Callable[[Block], Block], function: Callable[[Block], Total], block: Block) -> Total:
    """A function of what a view makes of a block."""
    return function(view(block))


def packed_block(block: Block) -> Block:
    """A block of packed rows."""
    return block._replace(X=packed(block.X))


def filled_block(block: Block, means: np.ndarray) -> Block:
    """A block of rows with the means of their class in place of missing values."""
    return block._replace(X=np.where(np.isnan(block.X), means[block.y], block.X))


def _known_values(block: Block, n_classes: int) -> KnownValues:
    X, y, weight = block
    missing = np.isnan(X)
    without = missing.all(axis=1)
    known, unknown = (np.bincount(y[rows], minlength=n_classes) for rows in (~without, without))
    values = np.where(missing, 0.0, X.astype(np.float64, copy=False))
    mass, total = (class_sums(part, y, weight, n_classes)[0] for part in (~missing + 0.0, values))
    return KnownValues(known, unknown, mass, total, int(missing.sum()))


def _without_unknown(block: Block, has_known: np.ndarray) -> Block:
    """Rows that have a value, and those of a class that has none."""
    keep = ~(np.isnan(block.X).all(axis=1) & has_known[block.y])
    return ArraySamples(*block).take(slice(None) if keep.all() else keep)


def _count(block: Block) -> int:
    return len(block.y)


def _filled_extent(block: Block, means: np.ndarray) -> Extent:
    return extent_of(filled_block(block, means), len(means))


def _arranged(block: Block, centre: np.ndarray, total: float) -> Block:
    return packed_block(arranged_block(block, centre, total))
