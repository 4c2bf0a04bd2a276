"""metric -> link -> cost -> pullback: value and gradient of all costs.

The objective is the weighted mean of the samples' costs. Parameters are plain arrays; the width of a kernel enters by
its logarithm, so that any real number is allowed. Rows are taken in blocks, so that memory stays bounded whatever the
number of samples.

Counted in flops for N samples, M prototypes, n features and m rows of Omega, margin costs need
2NMn (plain) or 2N(2mn + Mm) (matrix) in matrix products: the images, their products with the prototypes, and dOmega.
The pullback touches two prototypes a sample and is a scatter of 2N rows, O(Nn), not a second N x M product. Soft costs
touch every prototype and need that second product.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from lvq.model.costs import CostOrRule, MarginCost, WindowRule, WinnerRule
from lvq.model.links import Kernel, Link
from lvq.model.metrics import DistanceGradient, Metric
from lvq.model.rows import as_columns, beside, is_sparse, is_tensor, like, take_along
from lvq.model.samples import ArraySamples, Block, Map
from lvq.typing import Array

GPU_BYTES = 2**30  # that one evaluation may take on a GPU, where a call costs as much for few samples as for many
CACHE_BYTES = 4 * 2**20  # bytes of one block's products: small enough to stay in a processor's cache
MIN_ROWS = 128  # of one block, at least: less is not worth a thread's call


class Params(NamedTuple):
    """What is learned: prototypes (M, n), the metric's parameters, and the kernel's width.

    In a gradient the third entry is the derivative by the logarithm of the width.
    """

    prototypes: Array
    relevance: Array | None = None
    width: Array | None = None


@dataclass(frozen=True)
class PartialSum:
    """A part of the objective and its gradient."""

    value: Array
    gradient: Params

    def __add__(self, other: "PartialSum") -> "PartialSum":
        parts = (None if a is None else a + b for a, b in zip(self.gradient, other.gradient))
        return PartialSum(self.value + other.value, Params(*parts))


@dataclass(frozen=True)
class Objective:
    """The mean cost of samples as a function of `Params`.

    Parameters
    ----------
    metric, link, cost : objects
        The parts.
    labels : array of shape (M,)
        Class indices of the prototypes, ascending.
    """

    metric: Metric
    link: Link
    cost: CostOrRule
    labels: Array

    def linked(self, params: Params) -> Link:
        """The link at the present width."""
        if params.width is None or not isinstance(self.link, Kernel):
            return self.link
        return self.link.with_width(params.width)

    def value_and_gradient(self, params: Params, X: Array, y: Array, weight: Array) -> tuple[Array, Params]:
        """Mean cost and its gradient."""
        total = self.total(params, ArraySamples(X, y, weight / weight.sum()))
        return total.value, total.gradient

    def total(self, params: Params, samples: ArraySamples, mapping: Map = map) -> PartialSum:
        """Weighted sum of the costs and its gradient, over blocks of samples."""
        block = BlockObjective(self, params)
        return samples.reduce(block, block.rows(samples), mapping)

    def beside(self, params: Params, X: Array) -> "tuple[Objective, Params]":
        """The same with all arrays where the samples are."""
        cost = self.cost
        if isinstance(cost, MarginCost) and cost.cost_matrix is not None:
            cost = replace(cost, cost_matrix=like(beside(cost.cost_matrix, X), X))
        relevance = None if params.relevance is None else beside(params.relevance, X)
        there = Params(beside(params.prototypes, X), relevance, params.width)
        return replace(self, cost=cost, labels=beside(self.labels, X)), there


class BlockObjective:
    """The objective of a block of samples; what is the same for all blocks is computed once, by the metric."""

    def __init__(self, objective: Objective, params: Params) -> None:
        assert not isinstance(objective.cost, WinnerRule | WindowRule)
        self.objective, self.params, self.cost = objective, params, objective.cost
        self.link, self.labels = objective.linked(params), objective.labels
        self.prepared = objective.metric.prepare(params.prototypes, params.relevance)

    def __reduce__(self) -> "tuple[Callable[..., BlockObjective], tuple[Objective, Params]]":
        """To another process only the parameters are sent; what follows from them is computed there."""
        return BlockObjective, (self.objective, self.params)

    def __call__(self, block: Block) -> PartialSum:
        """Weighted sum of the samples' costs, and its gradient."""
        X, y, weight = block
        D, touched, cache = self._distances(X, y)
        H = self.link.value(D)
        if touched is None:
            cost, by_link = self.cost.value_and_derivative(H, y, self.labels)
            if by_link.touched is not None:
                touched = by_link.touched
                D = take_along(D, touched)
            slope = by_link.value
        else:  # links are increasing: the two nearest prototypes are found before the link
            assert isinstance(self.cost, MarginCost)
            cost, slope = self.cost.of_pairs(H, y, self.labels, touched)
        by_distance = DistanceGradient(slope * self.link.derivative(D) * weight[:, None], touched)
        by_prototype, by_relevance = self.prepared.pullback(X, cache, by_distance)
        by_width = None if self.params.width is None else -2 * (by_distance.value * D).sum()
        return PartialSum(weight @ cost, Params(by_prototype, by_relevance, by_width))

    def _distances(self, X: Array, y: Array) -> tuple[Array, Array | None, Array]:
        """Distances to all prototypes, or to the nearest own and other with their indices; and the metric's cache."""
        if not isinstance(self.cost, MarginCost):
            D, cache = self.prepared.distances(X)
            return D, None, cache
        pair, cache = self.prepared.nearest_pair(X, y, self.labels)
        return as_columns(pair.d_plus, pair.d_minus), as_columns(pair.own, pair.other), cache

    def rows(self, samples: ArraySamples) -> int:
        """Rows to take at a time; a function of the sizes alone, so that sums do not depend on threads."""
        itemsize, count = samples.dtype.itemsize, len(self.labels)
        if is_tensor(self.labels):
            return max(MIN_ROWS, GPU_BYTES // (itemsize * (4 * count + self.prepared.columns + 48)))
        if samples.in_memory and is_sparse(samples.X):  # the gradient of each block is as large as all prototypes
            return max(MIN_ROWS, GPU_BYTES // (4 * itemsize * (4 * count + self.prepared.columns + 48)))
        return max(MIN_ROWS, CACHE_BYTES // (itemsize * (count + self.prepared.columns)))
