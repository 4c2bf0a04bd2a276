"""Samples of a partition on the device of the worker that holds it: arrays of parameters in, arrays of sums out.

The objective comes as arrays, and is placed beside the samples for one sum. What returns are arrays again, so that the
process that asks for the sum needs no device.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lvq.model.arrays import as_numpy, beside, is_tensor, like
from lvq.model.costs import MarginCost
from lvq.model.objective import Objective, Params, PartialSum
from lvq.model.objective_parts import Part
from lvq.model.pairs import search_for
from lvq.model.samples import ArraySamples, Block, Total
from lvq.typing import Argument, Array

GPU_BYTES = 2**30  # that one evaluation may take on a GPU, where a call costs as much for few samples as for many

Move = Callable[[np.ndarray], Array]


class Chosen(NamedTuple):
    """Numbers of some rows of a partition, and the factor of their weights."""

    rows: np.ndarray
    factor: float


@dataclass(frozen=True)
class DeviceBlock:
    """A block of tensors. It is sent and stored as arrays, which are moved again where they are read.

    Parameters
    ----------
    block : Block
        The tensors.
    move : callable
        Makes a tensor of an array: where this runs decides on which device.
    """

    block: Block
    move: Move

    @classmethod
    def of(cls, block: Block, move: Move) -> "DeviceBlock":
        """Arrays, moved."""
        return cls(Block(*(move(part) for part in block)), move)

    def __reduce__(self) -> tuple[Callable[..., "DeviceBlock"], tuple[Block, Move]]:
        return DeviceBlock.of, (Block(*(as_numpy(part) for part in self.block)), self.move)

    def sum(self, function: Callable[[Block], Total], chosen: Chosen | None = None) -> Total:
        """Sum of a function over the samples, or some of them."""
        samples = ArraySamples(*self.block)
        if chosen is not None:
            samples = samples.chosen(self.move(chosen.rows), chosen.factor)
        if not isinstance(function, Part):
            return on_host(function(Block(samples.X, samples.y, samples.weight)))
        objective, params = beside_samples(replace(function.objective, groups=None), function.params, samples.X)
        part = objective.part(params, search_for(samples.X))
        return on_host(samples.reduce(part, objective.block_rows(samples.X, part)))


def on_host(total: Argument) -> Argument:
    """A sum of tensors as one of arrays and numbers."""
    if isinstance(total, PartialSum):
        return PartialSum(on_host(total.value), Params(*(on_host(part) for part in total.gradient)))
    return as_numpy(total)[()] if is_tensor(total) else total


def beside_samples(objective: Objective, params: Params, X: Array) -> tuple[Objective, Params]:
    """The same with all arrays where the samples are."""
    cost = objective.cost
    if isinstance(cost, MarginCost) and cost.prices is not None:
        cost = replace(cost, prices=like(beside(cost.prices, X), X))
    relevance = None if params.relevance is None else beside(params.relevance, X)
    there = Params(beside(params.prototypes, X), relevance, params.width)
    memory = GPU_BYTES if is_tensor(X) and X.is_cuda else objective.memory
    return replace(objective, cost=cost, labels=beside(objective.labels, X), memory=memory), there
