"""What batch solvers minimise: the objective as a function of free parameters.

Free parameters are unconstrained and of order one: prototypes in units of the data's spread from a centre, the
relevance rule's own free form in one over the unit of the features, and the logarithm of a learned width.
"""

from dataclasses import dataclass

import numpy as np

from lvq.model.arrays import namespace
from lvq.model.objective import Objective, Params
from lvq.model.pairs import search_for
from lvq.model.relevance import Relevance
from lvq.model.samples import ArraySamples, Map
from lvq.typing import Array


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
    fixed_prototypes : bool
        Whether prototypes stay where they are: their gradient is 0.
    feature_unit : float
        Typical deviation of a feature: the metric's free parameters are multiplied by it where their size is free.
    """

    objective: Objective
    relevance: Relevance
    unit: float = 1.0
    fixed_prototypes: bool = False
    feature_unit: float = 1.0

    def free(self, params: Params) -> Params:
        """Free parameters of a model."""
        relevance = None if params.relevance is None else self.relevance.free(params.relevance) * self.feature_unit
        width = None if params.width is None else np.log(params.width)
        return Params(params.prototypes / self.unit, relevance, width)

    def params(self, free: Params) -> Params:
        """The model of free parameters."""
        relevance = None if free.relevance is None else self.relevance.constrained(free.relevance / self.feature_unit)
        width = None if free.width is None else _width(free.width)
        return Params(free.prototypes * self.unit, relevance, width)

    def value_and_gradient(self, free: Params, samples: ArraySamples, mapping: Map = map) -> tuple[Array, Params]:
        """Mean cost plus penalty, and the gradient by the free parameters."""
        params = self.params(free)
        total = self.objective.total(params, samples, mapping)
        value, gradient = total.value, total.gradient
        by_relevance = gradient.relevance
        if by_relevance is not None:
            assert free.relevance is not None
            penalty = self.relevance.penalty(params.relevance)
            if penalty is not None:
                value, by_relevance = value + penalty[0], by_relevance + penalty[1]
            own = free.relevance / self.feature_unit
            by_relevance = self.relevance.pull_back(own, params.relevance, by_relevance) / self.feature_unit
        by_prototypes = gradient.prototypes * (0.0 if self.fixed_prototypes else self.unit)
        return value, Params(by_prototypes, by_relevance, gradient.width)

    def n_blocks(self, free: Params, samples: ArraySamples) -> int:
        """Number of blocks of one evaluation."""
        part = self.objective.part(self.params(free), search_for(samples.X, self.objective.groups))
        return -(-samples.n_samples // self.objective.block_rows(samples.X, part))


MAX_LOG_WIDTH = 300.0  # largest absolute logarithm of a learned width: its square must neither overflow nor vanish


def _width(logarithm: Array | float) -> Array | float:
    if isinstance(logarithm, float):
        return float(np.exp(np.clip(logarithm, -MAX_LOG_WIDTH, MAX_LOG_WIDTH)))
    xp = namespace(logarithm)
    return xp.exp(xp.clip(logarithm, -MAX_LOG_WIDTH, MAX_LOG_WIDTH))
