"""metric -> link -> cost -> pullback: the whole family's value and gradient, written once.

The objective is the weighted sum of the samples' costs divided by the sum of the weights. Parameters are plain arrays;
the width of a kernel enters by its logarithm, so that any real number is allowed.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from lvq.model.arrays import Array, namespace
from lvq.model.costs import Cost
from lvq.model.links import Kernel, Link
from lvq.model.metrics import Metric, Slopes


class Params(NamedTuple):
    """What is learned: prototypes (M, n), the metric's parameters, and the kernel's width."""

    prototypes: Array
    relevance: Array | None = None
    width: Any = None


@dataclass(frozen=True)
class Objective:
    """The mean cost of samples as a function of `Params`."""

    metric: Metric
    link: Link
    cost: Cost
    labels: Array

    def linked(self, params: Params) -> Link:
        """The link at the present width."""
        if params.width is None or not isinstance(self.link, Kernel):
            return self.link
        return self.link.with_width(params.width)

    def value_and_gradient(self, params: Params, X: Array, y: Array, weight: Array) -> tuple[Any, Params]:
        """Mean cost and its gradient; the third part of the gradient is by the logarithm of the width."""
        link = self.linked(params)
        D = self.metric.distances(X, params.prototypes, params.relevance)
        cost, by_link = self.cost.value_and_slope(link.value(D), y, self.labels)
        share = weight / weight.sum()
        slope = link.slope(D)
        if by_link.touched is not None:
            slope = _pick(slope, by_link.touched)
            D = _pick(D, by_link.touched)
        slopes = Slopes(by_link.value * slope * share[:, None], by_link.touched)
        by_prototype, by_relevance = self.metric.pullback(X, params.prototypes, params.relevance, slopes)
        by_width = None if params.width is None else -2 * (slopes.value * D).sum()
        return share @ cost, Params(by_prototype, by_relevance, by_width)


def _pick(values: Array, index: Array) -> Array:
    xp = namespace(values)
    return xp.take_along_axis(values, index, 1) if hasattr(xp, "take_along_axis") else xp.gather(values, 1, index)
