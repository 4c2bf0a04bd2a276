"""The objective of a block of samples, and its gradient: one class for each kind of metric, cost and samples.

A part is made for one value of the parameters; what is the same for all blocks is computed then.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lvq.model.arrays import as_columns, namespace
from lvq.model.costs import MarginCost, WindowRule, WinnerRule
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.local_matrix import LocalMatrix
from lvq.model.metrics import DistanceGradient, Matrix, SharedMetric
from lvq.model.missing import Measured, Observed, complete_rows
from lvq.model.missing_forms import Forms, nearest_pairs
from lvq.model.pairs import NearestPair, Search, search_for
from lvq.model.samples import Block
from lvq.model.sparse_rows import squared
from lvq.typing import Array

if TYPE_CHECKING:
    from lvq.model.objective import Objective

MIN_COMPLETE = 0.1  # fraction of complete rows from which they are worth a copy of the block


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


class Part:
    """The objective of a block of samples; `columns` is how many numbers it holds at a time for each sample."""

    columns: int
    objective: "Objective"
    params: Params

    def __call__(self, block: Block) -> PartialSum:
        """Weighted sum of their costs, and its gradient."""
        raise NotImplementedError

    def __reduce__(self) -> "tuple[Callable[..., Part], tuple[Objective, Params]]":
        """To another process only the parameters are sent; what follows from them is computed there."""
        return _part_again, (self.objective, self.params)


def _part_again(objective: "Objective", params: Params) -> Part:
    return objective.part(params, search_for(params.prototypes, objective.groups))


class GeneralPart(Part):
    """Any metric, link and cost, by the whole matrix of distances."""

    def __init__(self, objective: "Objective", params: Params) -> None:
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

    def __init__(self, objective: "Objective", params: Params) -> None:
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

    def __init__(self, objective: "Objective", params: Params) -> None:
        super().__init__(objective, params)
        assert isinstance(objective.metric, LocalDiagonal)
        self.metric = objective.metric

    def _distances(self, X: Array) -> tuple[Array, Array]:
        squares = squared(X)
        return self.metric.between(X, squares, self.params.prototypes, self.params.relevance), squares

    def _pull_back(self, X: Array, images: Array, by_distance: DistanceGradient) -> tuple[Array, Array]:
        return self.metric.back(X, images, self.params.prototypes, self.params.relevance, by_distance)


class ObservedPart(GeneralPart):
    """Samples with missing values, as packed rows, in local metrics: complete ones are a part of the ordinary kind."""

    def __init__(self, objective: "Objective", params: Params, complete: Part) -> None:
        super().__init__(objective, params)
        assert isinstance(objective.metric, Observed)
        self.metric, self.complete = objective.metric, complete
        self.columns += _columns_of_gaps(objective, params)

    def __call__(self, block: Block) -> PartialSum:
        """Weighted sum of the samples' costs, and its gradient."""
        n = self.params.prototypes.shape[1]
        whole = complete_rows(block.X)
        if whole.mean() < MIN_COMPLETE:
            return super().__call__(block)
        complete = self.complete(Block(block.X[whole, :n], block.y[whole], block.weight[whole]))
        return complete if whole.all() else complete + super().__call__(Block(*(part[~whole] for part in block)))

    def _distances(self, X: Array) -> tuple[Array, Measured]:
        found = self.metric.measure(X, self.params.prototypes, self.params.relevance)
        return found.D, found

    def _pull_back(self, X: Array, images: Array, by_distance: DistanceGradient) -> tuple[Array, Array | None]:
        return self.metric.back(X, self.params.prototypes, self.params.relevance, images, by_distance)


class SharedObservedPart(GeneralPart):
    """Samples with missing values, as packed rows, where all prototypes share a metric."""

    def __init__(self, objective: "Objective", params: Params, forms: Forms) -> None:
        super().__init__(objective, params)
        self.forms = forms
        self.columns += _columns_of_gaps(objective, params)

    def _distances(self, X: Array) -> tuple[Array, Array]:
        form = self.forms.of(X)
        found = form.forward(X)
        return found.D, (form, found)

    def _pull_back(self, X: Array, images: Array, by_distance: DistanceGradient) -> tuple[Array, Array | None]:
        form, found = images
        return form.back(X, found, by_distance)


def _columns_of_gaps(objective: "Objective", params: Params) -> int:
    """Numbers that missing values add for each sample: images of masked prototypes, and packed rows."""
    assert isinstance(objective.metric, Observed)
    R = params.relevance if isinstance(objective.metric.metric, Matrix | LocalMatrix) else None
    return (0 if R is None else len(objective.labels) * R.shape[-2]) + 4 * params.prototypes.shape[1]


class MarginPart(Part):
    """A margin cost in a shared metric: only the nearest own and other prototype of each sample matter.

    Links are increasing, so the two are found by D, and the link is taken of two distances a sample.
    """

    def __init__(self, objective: "Objective", params: Params, search: Search) -> None:
        self._begin(objective, params)
        assert isinstance(objective.metric, SharedMetric)
        self.metric = objective.metric
        self.P = self.metric.project(params.prototypes, params.relevance)
        self.search = search.prepare(self.P, objective.labels)
        images = 0 if params.relevance is None else 3 * self.P.shape[1]
        self.columns = search.columns * len(objective.labels) + images + 48

    def _begin(self, objective: "Objective", params: Params) -> None:
        assert isinstance(objective.cost, MarginCost)
        self.objective, self.params, self.link = objective, params, objective.linked(params)
        self.cost = objective.cost

    def __call__(self, block: Block) -> PartialSum:
        """Weighted sum of the samples' costs, and its gradient."""
        (X, y, weight), link = block, self.link
        pair, images = self._pairs(X, y)
        price = self.cost.price(y, self.objective.labels, pair.other)
        cost, by_plus, by_minus = self.cost.regularised(link.value(pair.d_plus), link.value(pair.d_minus), price)
        plus = by_plus * link.derivative(pair.d_plus) * weight
        minus = by_minus * link.derivative(pair.d_minus) * weight
        by_distance = DistanceGradient(as_columns(plus, minus), as_columns(pair.own, pair.other))
        by_prototype, by_relevance = self._pull_back(X, images, by_distance)
        by_width = None if self.params.width is None else -2 * (plus @ pair.d_plus + minus @ pair.d_minus)
        return PartialSum(weight @ cost, Params(by_prototype, by_relevance, by_width))

    def _pairs(self, X: Array, y: Array) -> tuple[NearestPair, Array]:
        """The nearest own and other prototypes, and images of the samples."""
        Z = self.metric.project(X, self.params.relevance)
        return self.search(Z, y), Z

    def _pull_back(self, X: Array, images: Array, by_distance: DistanceGradient) -> tuple[Array, Array | None]:
        return self.metric.back(X, self.params.prototypes, self.params.relevance, images, self.P, by_distance)


class ObservedMarginPart(MarginPart):
    """The same for samples with missing values, as packed rows."""

    def __init__(self, objective: "Objective", params: Params, forms: Forms) -> None:
        self._begin(objective, params)
        self.forms = forms
        self.columns = 2 * len(objective.labels) + 48 + _columns_of_gaps(objective, params)

    def _pairs(self, X: Array, y: Array) -> tuple[NearestPair, Array]:
        form = self.forms.of(X)
        found = form.forward(X)
        return nearest_pairs(found.D, y, self.objective.labels), (form, found)

    def _pull_back(self, X: Array, images: Array, by_distance: DistanceGradient) -> tuple[Array, Array | None]:
        form, found = images
        return form.back(X, found, by_distance)
