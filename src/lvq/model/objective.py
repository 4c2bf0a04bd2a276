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

import numpy as np

from lvq.model.arrays import as_columns, namespace
from lvq.model.costs import CostOrRule, MarginCost, WindowRule, WinnerRule
from lvq.model.groups import Groups, group_prototypes
from lvq.model.links import Kernel, Link
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.local_matrix import LocalMatrix
from lvq.model.metrics import DistanceGradient, Matrix, Metric, SharedMetric
from lvq.model.missing import Measured, Observed, complete_rows
from lvq.model.pairs import Search, search_for
from lvq.model.samples import ArraySamples, Block, Map
from lvq.model.sparse_rows import is_sparse, squared
from lvq.typing import Array

MAX_BYTES = 256 * 2**20  # bytes that one evaluation may take besides the data
MAX_THREADS = 4  # blocks that may be worked on at the same time within that
MIN_ROWS, MIN_WORK = 256, 2**24  # rows and products of one block, at least: less is not worth a thread's call
MIN_COMPLETE = 0.1  # fraction of complete rows from which they are worth a copy of the block
GROUPED = 2**14  # prototypes from which pairs are searched in groups
CACHE_BYTES = 4 * 2**20  # bytes of one block's products: small enough to stay in a processor's cache


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
    memory : int
        Bytes that one evaluation may take besides the data.
    groups : Groups, optional
        Prototypes that are near to each other; see `with_groups`.
    """

    metric: Metric
    link: Link
    cost: CostOrRule
    labels: Array
    memory: int = MAX_BYTES
    groups: Groups | None = None

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
        part = self.part(params, search_for(samples.X, self.groups))
        return samples.reduce(part, self.block_rows(samples.X, part), mapping)

    def with_groups(self, params: Params, X: Array) -> "Objective":
        """The same with groups of near prototypes, where there are many and the search for pairs uses them."""
        margin = isinstance(self.metric, SharedMetric) and isinstance(self.cost, MarginCost)
        if len(self.labels) < GROUPED or not margin or not isinstance(X, np.ndarray):
            return self
        assert isinstance(self.metric, SharedMetric)
        return replace(self, groups=group_prototypes(self.metric.project(params.prototypes, params.relevance)))

    def block_rows(self, X: Array, part: "Part") -> int:
        """Rows to take at a time; a function of the sizes alone, so that sums do not depend on threads."""
        if is_sparse(X):
            return self._sparse_rows(X.dtype.itemsize, part.params.relevance)
        on_processor = isinstance(X, np.ndarray)
        itemsize = X.itemsize if on_processor else X.element_size()
        rows = self.memory // (part.columns * itemsize * (MAX_THREADS if on_processor else 1))
        if on_processor:
            least = min(1024, max(MIN_ROWS, MIN_WORK // (X.shape[1] * part.columns)))
            cached = rows if self.groups is not None else CACHE_BYTES // (len(self.labels) * itemsize)
            rows = min(rows, max(least, cached), max(least, -(-X.shape[0] // 8)))
        return max(1, rows)

    def _sparse_rows(self, itemsize: int, R: Array | None) -> int:
        """Sparse rows at a time: as many as fit, as the gradient of each block is as large as all prototypes."""
        images = 0 if R is None else 4 * int(np.prod(R.shape[:-1]))
        return max(1, self.memory // ((16 * len(self.labels) + images + 48) * itemsize))

    def part(self, params: Params, search: Search) -> "Part":
        """A function of a block of samples; what is the same for all blocks is computed here."""
        if isinstance(self.metric, Observed):
            return ObservedPart(self, params, replace(self, metric=self.metric.metric).part(params, search))
        if isinstance(self.metric, SharedMetric) and isinstance(self.cost, MarginCost):
            return MarginPart(self, params, search)
        if isinstance(self.metric, LocalDiagonal):
            return LocalDiagonalPart(self, params)
        return LocalPart(self, params) if isinstance(self.metric, LocalMatrix) else GeneralPart(self, params)


class Part:
    """The objective of a block of samples; `columns` is how many numbers it holds at a time for each sample."""

    columns: int
    objective: Objective
    params: Params

    def __call__(self, block: Block) -> PartialSum:
        """Weighted sum of their costs, and its gradient."""
        raise NotImplementedError

    def __reduce__(self) -> "tuple[Callable[..., Part], tuple[Objective, Params]]":
        """To another process only the parameters are sent; what follows from them is computed there."""
        return _part_again, (self.objective, self.params)


def _part_again(objective: Objective, params: Params) -> Part:
    return objective.part(params, search_for(params.prototypes, objective.groups))


class GeneralPart(Part):
    """Any metric, link and cost, by the whole matrix of distances."""

    def __init__(self, objective: Objective, params: Params) -> None:
        self.objective, self.params, self.link = objective, params, objective.linked(params)
        assert not isinstance(objective.cost, WinnerRule | WindowRule)
        self.cost = objective.cost
        self.columns = 9 * len(objective.labels) + 4 * params.prototypes.shape[1]

    def __call__(self, block: Block) -> PartialSum:
        """Weighted sum of the samples' costs, and its gradient."""
        (X, y, weight), params = block, self.params
        D, images = self._distances(X)
        cost, by_link = self.cost.value_and_derivative(self.link.value(D), y, self.objective.labels)
        if by_link.touched is not None:
            xp = namespace(D)
            D = xp.take_along_axis(D, by_link.touched, 1) if xp.__name__ == "numpy" else D.gather(1, by_link.touched)
        by_distance = DistanceGradient(by_link.value * self.link.derivative(D) * weight[:, None], by_link.touched)
        by_prototype, by_relevance = self._pull_back(X, images, by_distance)
        by_width = None if params.width is None else -2 * (by_distance.value * D).sum()
        return PartialSum(weight @ cost, Params(by_prototype, by_relevance, by_width))

    def _distances(self, X: Array) -> tuple[Array, Array | None]:
        """Squared distances, and images of the samples where the metric has them."""
        return self.objective.metric.distances(X, self.params.prototypes, self.params.relevance), None

    def _pull_back(self, X: Array, images: Array | None, by_distance: DistanceGradient) -> tuple[Array, Array | None]:
        return self.objective.metric.pullback(X, self.params.prototypes, self.params.relevance, by_distance)


class LocalPart(GeneralPart):
    """Local matrices: samples are projected once, by all matrices in one product."""

    def __init__(self, objective: Objective, params: Params) -> None:
        super().__init__(objective, params)
        assert isinstance(objective.metric, LocalMatrix)
        assert params.relevance is not None
        self.metric = objective.metric
        self.P = self.metric.images(params.prototypes, params.relevance)
        self.columns += 2 * params.relevance.shape[0] * params.relevance.shape[1]

    def _distances(self, X: Array) -> tuple[Array, Array]:
        images = self.metric.project(X, self.params.relevance)
        return self.metric.between(images, self.P), images

    def _pull_back(self, X: Array, images: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        W, R = self.params.prototypes, self.params.relevance
        return self.metric.back(X, W, R, images, self.P, by_distance)


class LocalDiagonalPart(GeneralPart):
    """Local relevances: samples are squared once."""

    def __init__(self, objective: Objective, params: Params) -> None:
        super().__init__(objective, params)
        assert isinstance(objective.metric, LocalDiagonal)
        self.metric = objective.metric

    def _distances(self, X: Array) -> tuple[Array, Array]:
        squares = squared(X)
        return self.metric.between(X, squares, self.params.prototypes, self.params.relevance), squares

    def _pull_back(self, X: Array, images: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        return self.metric.back(X, images, self.params.prototypes, self.params.relevance, by_distance)


class ObservedPart(GeneralPart):
    """Samples with missing values, as packed rows; those without any are a part of the ordinary kind."""

    def __init__(self, objective: Objective, params: Params, complete: Part) -> None:
        super().__init__(objective, params)
        assert isinstance(objective.metric, Observed)
        self.metric, self.complete = objective.metric, complete
        matrices = params.relevance if isinstance(self.metric.metric, Matrix | LocalMatrix) else None
        self.pairs = self.metric.pairs(params.prototypes, params.relevance)
        rank = 0 if matrices is None else matrices.shape[-2]
        self.columns += len(objective.labels) * rank + 4 * params.prototypes.shape[1]

    def __call__(self, block: Block) -> PartialSum:
        """Weighted sum of the samples' costs, and its gradient."""
        n = self.params.prototypes.shape[1]
        whole = complete_rows(block.X)
        if whole.mean() < MIN_COMPLETE:
            return super().__call__(block)
        complete = self.complete(Block(block.X[whole, :n], block.y[whole], block.weight[whole]))
        return complete if whole.all() else complete + super().__call__(Block(*(part[~whole] for part in block)))

    def _distances(self, X: Array) -> tuple[Array, Measured]:
        found = self.metric.measure(X, self.params.prototypes, self.params.relevance, self.pairs)
        return found.D, found

    def _pull_back(self, X: Array, images: Array, by_distance: DistanceGradient) -> tuple[Array, Array | None]:
        params = self.params
        return self.metric.back(X, params.prototypes, params.relevance, images, by_distance, self.pairs)


class MarginPart(Part):
    """A margin cost in a shared metric: only the nearest own and other prototype of each sample matter.

    Links are increasing, so the two are found by D, and the link is taken of two distances a sample.
    """

    def __init__(self, objective: Objective, params: Params, search: Search) -> None:
        self.objective, self.params, self.link = objective, params, objective.linked(params)
        metric, cost = objective.metric, objective.cost
        assert isinstance(metric, SharedMetric)
        assert isinstance(cost, MarginCost)
        self.metric, self.cost = metric, cost
        self.P = metric.project(params.prototypes, params.relevance)
        self.search = search.prepare(self.P, objective.labels)
        images = 0 if params.relevance is None else 3 * self.P.shape[1]
        self.columns = search.columns * len(objective.labels) + images + 48

    def __call__(self, block: Block) -> PartialSum:
        """Weighted sum of the samples' costs, and its gradient."""
        (X, y, weight), metric, params, link = block, self.metric, self.params, self.link
        Z = metric.project(X, params.relevance)
        pair = self.search(Z, y)
        price = self.cost.price(y, self.objective.labels, pair.other)
        cost, by_plus, by_minus = self.cost.regularised(link.value(pair.d_plus), link.value(pair.d_minus), price)
        plus = by_plus * link.derivative(pair.d_plus) * weight
        minus = by_minus * link.derivative(pair.d_minus) * weight
        by_distance = DistanceGradient(as_columns(plus, minus), as_columns(pair.own, pair.other))
        by_prototype, by_relevance = metric.back(X, params.prototypes, params.relevance, Z, self.P, by_distance)
        by_width = None if params.width is None else -2 * (plus @ pair.d_plus + minus @ pair.d_minus)
        return PartialSum(weight @ cost, Params(by_prototype, by_relevance, by_width))
