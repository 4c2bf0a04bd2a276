"""What batch solvers minimise: the objective as a function of free parameters.

Free parameters are unconstrained and of order one: prototypes in units of the data's spread from a centre, the
relevance rule's own free form in one over the unit of the features, and the logarithm of a learned width.
"""

from dataclasses import dataclass

import numpy as np

from lvq.model.objective import Objective, Params
from lvq.model.relevance import DataScale, Relevance
from lvq.model.rows import as_numpy, beside, like, namespace, row_squares, unit_rows
from lvq.model.samples import ArraySamples, Map
from lvq.typing import Array

ONE = DataScale(1.0, 1)
MAX_LOG_WIDTH = 300.0  # largest absolute logarithm of a learned width: its square must neither overflow nor vanish


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
    scale : DataScale
        Variance of a feature and number of samples: what a ridge is measured in.
    fixed_prototypes : bool
        Whether prototypes stay where they are: their gradient is 0.
    centre : array of shape (n_features,), optional
        Where prototypes have length one, the point that samples and prototypes are relative to: a prototype is then
        v/|v| for its free parameters v, less the centre.
    """

    objective: Objective
    relevance: Relevance
    unit: float = 1.0
    scale: DataScale = ONE
    fixed_prototypes: bool = False
    centre: Array | None = None

    @property
    def feature_unit(self) -> float:
        """Typical deviation of a feature: the metric's free parameters are multiplied by it."""
        return float(np.sqrt(self.scale.variance))

    def free(self, params: Params) -> Params:
        """Free parameters of a model."""
        relevance = None if params.relevance is None else self.relevance.free(params.relevance) * self.feature_unit
        width = None if params.width is None else np.log(params.width)
        W = params.prototypes if self.centre is None else params.prototypes + self.centre
        return Params(W / self.unit, relevance, width)

    def params(self, free: Params) -> Params:
        """The model of free parameters."""
        relevance = None if free.relevance is None else self.relevance.constrained(free.relevance / self.feature_unit)
        width = None if free.width is None else _width(free.width)
        W = free.prototypes * self.unit if self.centre is None else unit_rows(free.prototypes) - self.centre
        return Params(W, relevance, width)

    def value_and_gradient(self, free: Params, samples: ArraySamples, mapping: Map = map) -> tuple[Array, Params]:
        """Mean cost plus penalty, and the gradient by the free parameters."""
        params = self.params(free)
        total = self.objective.total(params, samples, mapping)
        value, gradient = total.value, total.gradient
        by_relevance = gradient.relevance
        if by_relevance is not None:
            assert free.relevance is not None
            penalty = self.relevance.penalty(params.relevance, self.scale)
            if penalty is not None:
                value, by_relevance = value + penalty[0], by_relevance + penalty[1]
            own = free.relevance / self.feature_unit
            by_relevance = self.relevance.pull_back(own, params.relevance, by_relevance) / self.feature_unit
        by_prototypes = gradient.prototypes * (0.0 if self.fixed_prototypes else self.unit)
        if self.centre is not None:
            by_prototypes = _along_sphere(free.prototypes * self.unit, by_prototypes)
        return value, Params(by_prototypes, by_relevance, gradient.width)


def _along_sphere(V: Array, by_prototypes: Array) -> Array:
    """The gradient by v of a function of w = v/|v|: (I - w w') g/|v|."""
    W = unit_rows(V)
    inward = (by_prototypes * W).sum(1)[:, None] * W
    return (by_prototypes - inward) / row_squares(V)[:, None] ** 0.5


def _width(logarithm: Array | float) -> Array | float:
    if isinstance(logarithm, float):
        return float(np.exp(np.clip(logarithm, -MAX_LOG_WIDTH, MAX_LOG_WIDTH)))
    xp = namespace(logarithm)
    return xp.exp(xp.clip(logarithm, -MAX_LOG_WIDTH, MAX_LOG_WIDTH))


def ravel(params: Params) -> np.ndarray:
    """All numbers as one float64 vector on the host."""
    return np.concatenate([np.ravel(as_numpy(part)).astype(np.float64) for part in params if part is not None])


def unravel(vector: np.ndarray, template: Params) -> Params:
    """The vector's numbers in the shapes, types and places of a template."""
    parts, begin = list[Array | None](), 0
    for part in template:
        if part is None:
            parts.append(None)
            continue
        shape = tuple(np.shape(part)) if isinstance(part, float) else tuple(part.shape)
        end = begin + int(np.prod(shape))
        piece, begin = vector[begin:end].reshape(shape), end
        if isinstance(part, float):
            parts.append(float(piece))
        else:
            parts.append(like(beside(piece, part), part))
    return Params(*parts)
