"""Samples in partitions as solvers use them: class by class in each partition, whole or some rows, also on devices."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from lvq.model.device_blocks import Chosen
from lvq.model.placed_sums import sum_over
from lvq.model.samples import ArraySamples, Block, Map, Total
from lvq.typing import Array, Delayed


def stand_in(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeros of a shape and type; of one number in memory."""
    return np.broadcast_to(np.zeros((), dtype=dtype), shape)


@dataclass(frozen=True)
class ArrangedPartitions(ArraySamples):
    """Samples of partitions in the order of those in memory: all of a class, in the order of the partitions.

    Parameters
    ----------
    X, y, weight : ndarray
        As `stand_in` makes them, of the chosen samples.
    blocks : tuple of Delayed
        Partitions, each a `Block` or `DeviceBlock` that is sorted by class.
    counts : ndarray of shape (n_partitions, n_classes)
        Samples of each class in each partition.
    rows : ndarray of int, optional
        The chosen samples by their number in that order; None for all.
    factor : float
        Factor of the weights of chosen samples.
    """

    in_memory: ClassVar[bool] = False
    blocks: tuple[Delayed, ...]
    counts: np.ndarray
    rows: np.ndarray | None = None
    factor: float = 1.0

    def reduce(self, function: Callable[[Block], Total], rows: int, mapping: Map = map) -> Total:
        """Sum of a function over blocks of at most `rows` samples of each partition, in a fixed order.

        `mapping` is not used: dask works in parallel. Of the rows that are chosen each partition gets its own.
        """
        if self.rows is None:
            return sum_over(self.blocks, function, rows)
        places, own = rows_of_partitions(self.counts, self.rows)
        return sum_over([self.blocks[place] for place in places], function, rows, [Chosen(k, self.factor) for k in own])

    def chosen(self, rows: Array, factor: float = 1.0) -> Self:
        """Some samples by their number, their weights multiplied by a factor; they stay where they are."""
        dtype = self.X.dtype
        X, y = stand_in((len(rows), self.X.shape[1]), dtype), stand_in((len(rows),), self.y.dtype)
        numbers = rows if self.rows is None else self.rows[rows]
        return type(self)(X, y, stand_in((len(rows),), dtype), self.blocks, self.counts, numbers, self.factor * factor)

    def normalised(self) -> Self:
        """The same chosen samples with weights of sum one."""
        assert self.rows is not None
        return replace(self, factor=self.factor / float(self.reduce(_mass, rows=self.n_samples)))

    def take(self, rows: slice | Array) -> Block:
        """Not possible: the samples stay where they are."""
        raise TypeError("samples in partitions stay there; use reduce or chosen")


def rows_of_partitions(counts: np.ndarray, rows: np.ndarray) -> tuple[list[int], list[np.ndarray]]:
    """The partitions in which rows lie, and their numbers there, ascending.

    Rows are counted class by class, those of a class partition by partition; in a partition likewise.

    Examples
    --------
    >>> import numpy as np
    >>> rows_of_partitions(np.array([[2, 1], [1, 3]]), np.array([0, 2, 3, 4]))
    ([0, 1], [array([0, 2]), array([0, 1])])
    """
    lengths = counts.T.ravel()  # of runs of rows, of a class in a partition
    ends = np.cumsum(lengths)
    begins = (np.cumsum(counts, axis=1) - counts).T.ravel()  # of these runs in their partitions
    run = np.searchsorted(ends, rows, side="right")
    partition, inside = run % len(counts), rows - (ends - lengths)[run] + begins[run]
    order = np.lexsort((inside, partition))
    places, first = np.unique(partition[order], return_index=True)
    return places.tolist(), np.split(inside[order], first[1:])


def _mass(block: Block) -> Array:
    return block.weight.sum()
