"""metric -> link -> cost -> pullback: value and gradient of all costs.

The objective is the weighted mean of the samples' costs. Parameters are plain arrays; the width of a kernel enters by
its logarithm, so that any real number is allowed. Rows are taken in blocks, so that memory stays bounded whatever the
number of samples.

Counted in flops for N samples, M prototypes, n features and m rows of Omega, margin costs need
2NMn (plain) or 2N(2mn + Mm) (matrix) in matrix products: the images, their products with the prototypes, and dOmega.
The pullback touches two prototypes a sample and is a scatter of 2N rows, O(Nn), not a second N x M product. Soft costs
touch every prototype and need that second product.
"""

from dataclasses import dataclass, replace

import numpy as np

from lvq.model.costs import CostOrRule, MarginCost
from lvq.model.groups import Groups, group_prototypes
from lvq.model.links import Kernel, Link
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.local_matrix import LocalMatrix
from lvq.model.metrics import Metric, SharedMetric
from lvq.model.missing import Observed
from lvq.model.objective_parts import (
    GeneralPart,
    LocalDiagonalPart,
    LocalPart,
    MarginPart,
    ObservedMarginPart,
    ObservedPart,
    Params,
    Part,
    PartialSum,
    SharedObservedPart,
)
from lvq.model.pairs import Search, search_for
from lvq.model.samples import ArraySamples, Map
from lvq.model.sparse_rows import is_sparse
from lvq.typing import Array

__all__ = ["Objective", "Params", "PartialSum"]
MAX_BYTES = 256 * 2**20  # bytes that one evaluation may take besides the data
MAX_THREADS = 4  # blocks that may be worked on at the same time within that
MIN_ROWS, MIN_WORK = 256, 2**24  # rows and products of one block, at least: less is not worth a thread's call
GROUPED = 2**14  # prototypes from which pairs are searched in groups
CACHE_BYTES = 4 * 2**20  # bytes of one block's products: small enough to stay in a processor's cache


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

    def block_rows(self, X: Array, part: Part) -> int:
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

    def part(self, params: Params, search: Search) -> Part:
        """A function of a block of samples; what is the same for all blocks is computed here."""
        if isinstance(self.metric, Observed):
            forms = self.metric.forms(params.prototypes, params.relevance)
            if forms is not None:
                margin = isinstance(self.cost, MarginCost)
                return (ObservedMarginPart if margin else SharedObservedPart)(self, params, forms)
            return ObservedPart(self, params, replace(self, metric=self.metric.metric).part(params, search))
        if isinstance(self.metric, SharedMetric) and isinstance(self.cost, MarginCost):
            return MarginPart(self, params, search)
        if isinstance(self.metric, LocalDiagonal):
            return LocalDiagonalPart(self, params)
        return LocalPart(self, params) if isinstance(self.metric, LocalMatrix) else GeneralPart(self, params)
