"""What batch solvers minimise: the objective as a function of free parameters, over data laid out for speed.

Free parameters are unconstrained and of order one: prototypes in units of the data's spread from a centre, the
relevance rule's own free form, and the logarithm of a learned width. NumPy data are laid out class by class, so that
nearest own prototypes are found in slices.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lvq.model.arrays import Array, namespace
from lvq.model.objective import Objective, Params, Sum, add
from lvq.model.pairs import search_for
from lvq.model.relevance import Relevance
from lvq.solvers.threads import Map


class Data(NamedTuple):
    """Samples from their centre, class indices, and shares of the mean (weights of sum one)."""

    X: Array
    y: Array
    share: Array


def lay_out(X: np.ndarray, y: np.ndarray, weight: np.ndarray, centre: np.ndarray) -> Data:
    """Data class by class, from the centre."""
    order = np.argsort(y, kind="stable")
    weight = weight[order]
    return Data(np.ascontiguousarray((X - centre)[order]), y[order], (weight / weight.sum()).astype(X.dtype))


@dataclass(frozen=True)
class Problem:
    """The objective of free parameters.

    Parameters
    ----------
    objective : Objective
        Metric, link, cost and labels.
    relevance : Relevance
        How the metric's parameters are constrained and penalised.
    unit : float
        Length by which prototypes are measured.
    """

    objective: Objective
    relevance: Relevance
    unit: float = 1.0

    def free(self, params: Params) -> Params:
        """Free parameters of a model."""
        relevance = None if params.relevance is None else self.relevance.free(params.relevance)
        width = None if params.width is None else np.log(params.width)
        return Params(params.prototypes / self.unit, relevance, width)

    def params(self, free: Params) -> Params:
        """The model of free parameters."""
        relevance = None if free.relevance is None else self.relevance.constrained(free.relevance)
        width = None if free.width is None else _exp(free.width)
        return Params(free.prototypes * self.unit, relevance, width)

    def value_and_gradient(self, free: Params, data: Data, mapping: Map = map) -> tuple[Any, Params]:
        """Mean cost plus penalty, and the gradient by the free parameters."""
        params = self.params(free)
        part = self.objective.part(params, search_for(data.X))
        chunks: Iterable[slice] = self.objective.chunks(data.X, part)
        parts = mapping(lambda rows: part(data.X[rows], data.y[rows], data.share[rows]), chunks)
        total: Sum | None = None
        for chunk in parts:
            total = chunk if total is None else add(total, chunk)
        assert total is not None
        value, gradient = total
        by_relevance = gradient.relevance
        if by_relevance is not None:
            penalty = self.relevance.penalty(params.relevance)
            if penalty is not None:
                value, by_relevance = value + penalty[0], by_relevance + penalty[1]
            by_relevance = self.relevance.pull(free.relevance, params.relevance, by_relevance)
        return value, Params(gradient.prototypes * self.unit, by_relevance, gradient.width)

    def n_chunks(self, free: Params, data: Data) -> int:
        """How many chunks one evaluation takes."""
        part = self.objective.part(self.params(free), search_for(data.X))
        return sum(1 for _ in self.objective.chunks(data.X, part))


def _exp(value: Any) -> Any:
    return float(np.exp(value)) if isinstance(value, float) else namespace(value).exp(value)
