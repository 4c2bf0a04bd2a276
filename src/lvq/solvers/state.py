"""What training needs besides the parameters: units, statistics, the stopping rule, and the result of a solver.

A `TrainingState` is what must be kept to continue a stream or a warm start. Solvers never change the state they get:
they work on a copy and return it, so an interrupted call leaves the old state unchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from lvq.model.arrays import beside, first_argmin, is_tensor, namespace, take_columns, wide
from lvq.model.costs import CostOrRule, MarginCost, WinnerRule
from lvq.model.feature_moments import FeatureMoments
from lvq.model.groups import GroupedPrototypes, group_prototypes
from lvq.model.metrics import Metric, SharedMetric
from lvq.model.objective import GROUPED, Objective, Params
from lvq.model.relevance import Fisher, FisherNeighbours, LocalDiagonalRelevance, Relevance
from lvq.model.samples import ArraySamples, Block
from lvq.model.sparse_rows import is_sparse
from lvq.typing import Array

UNIT_ROWS, UNIT_NUMBERS = 4096, 2**25  # samples, at most, whose distances are held at a time; numbers
UNIT_STORED = 2**17  # numbers of sparse samples
MIN_UNIT_SAMPLES = 30  # of a stream; after these its units stay the same


class Units(NamedTuple):
    """The data's spread at the start, which makes rates and steepness independent of the data's scale.

    `link` is the mean over the samples of the smallest distance H to a prototype. `step` is the same before the link,
    divided by the largest eigenvalue of Lambda where the step carries Lambda: the rate that moves a prototype by about
    its distance to a sample. `samples` is how many samples it was measured on, 0 where there was no spread. `variance`
    is the median of the features' variances, where penalties need it.
    """

    step: float
    link: float
    samples: float = 0.0
    variance: float = 1.0


def units_of(objective: Objective, relevance: Relevance, params: Params, samples: ArraySamples) -> Units:
    """Measure the spread; 1 where there is none."""
    metric, link, xp = objective.metric, objective.linked(params), namespace(samples.X)
    W, R = (None if part is None else beside(part, samples.X) for part in params[:2])

    smallest_of = _smallest_of(metric, W, R, samples.X)

    def spread(block: Block) -> Array:
        smallest = smallest_of(block.X)
        weight = wide(block.weight)
        return xp.stack([weight @ wide(smallest), weight @ wide(link.value(smallest)), weight.sum()])

    by_metric, by_link, total = samples.reduce(spread, _unit_rows(samples, params)).tolist()
    step, linked = float(by_metric / total) / _stretch(relevance, params), float(by_link / total)
    seen = float(total) if step > 0 and linked > 0 else 0.0
    return Units(step if step > 0 else 1.0, linked if linked > 0 else 1.0, seen)


def _smallest_of(metric: Metric, W: Array, R: Array | None, X: Array) -> Callable[[Array], Array]:
    """A function from samples to their smallest distances, for samples of the kind of X."""
    if len(W) >= GROUPED and isinstance(metric, SharedMetric) and isinstance(X, np.ndarray):
        prepared = metric.prepared(W, R)
        grouped = GroupedPrototypes(prepared.P, np.zeros(len(W), dtype=np.intp), group_prototypes(prepared.P))
        return lambda X: grouped.smallest(metric.image(X - prepared.centre, R))

    def smallest(X: Array) -> Array:
        D = metric.distances(X, W, R)
        return take_columns(D, first_argmin(D)) if isinstance(D, np.ndarray) else namespace(D).amin(D, 1)

    return smallest  # for arrays by the index, which is faster


def stretched(units: Units, relevance: Relevance, params: Params) -> Units:
    """Units measured without a rule, for the steps of a rule."""
    return units._replace(step=units.step / _stretch(relevance, params)) if units.samples else units


def _unit_rows(samples: ArraySamples, params: Params) -> int:
    """Samples at a time: fewer with many prototypes; on a device many, as each block has a cost of its own there."""
    if not is_tensor(samples.X):
        most = UNIT_STORED * samples.n_samples // max(1, samples.X.nnz) if is_sparse(samples.X) else UNIT_ROWS
        return max(1, min(UNIT_ROWS, most, UNIT_NUMBERS // len(params.prototypes)))
    numbers = max(part.size // samples.n_features for part in params[:2] if part is not None) + 2 * samples.n_features
    return max(UNIT_ROWS, UNIT_NUMBERS // numbers)


def _stretch(relevance: Relevance, params: Params) -> float:
    """Largest eigenvalue of Lambda, where the prototypes' step carries Lambda."""
    R = params.relevance
    if R is None or not relevance.weighted_step:
        return 1.0
    if R.ndim == 1 or isinstance(relevance, LocalDiagonalRelevance):
        return float(R.max())
    return float(np.max(np.linalg.norm(R, 2, axis=(-2, -1)) ** 2))


def mean_units(one: Units, other: Units) -> Units:
    """Units of two batches together, each by its number of samples."""
    total = one.samples + other.samples
    if total == 0:
        return one
    step, link = ((a * one.samples + b * other.samples) / total for a, b in zip(one[:2], other[:2]))
    return Units(step, link, total)


class Statistics(NamedTuple):
    """Statistics of the Fisher rules and OLVQ1; arrays of length zero where a rule does not need them."""

    wins: np.ndarray  # (M,) correct wins of each prototype so far
    seen: np.ndarray  # (C,) samples of each class so far
    mean: np.ndarray  # (M, n) mean of the samples won correctly
    scatter: np.ndarray  # (M, n) their sum of squared deviations (Welford)
    scores: np.ndarray  # (1,) Fisher scores averaged so far
    rates: np.ndarray  # (M,) rate of each prototype (OLVQ1)

    def shifted(self, by: np.ndarray) -> "Statistics":
        """A copy in coordinates shifted by a vector."""
        copied = Statistics(*(np.array(values) for values in self))
        if len(copied.mean):
            copied.mean[copied.wins > 0] += by
        return copied


def new_statistics(
    relevance: Relevance, cost: CostOrRule, shape: tuple[int, int], n_classes: int, rate: float
) -> Statistics:
    """Statistics of no samples, in the sizes that a rule needs for prototypes of a given shape."""
    fisher = isinstance(relevance, Fisher)
    moments = shape if isinstance(relevance, FisherNeighbours) else (0, 0)
    own_rates = isinstance(cost, WinnerRule) and cost.own_rates
    return Statistics(
        wins=np.zeros(shape[0] if fisher else 0),
        seen=np.zeros(n_classes if fisher else 0),
        mean=np.zeros(moments),
        scatter=np.zeros(moments),
        scores=np.zeros(1),
        rates=np.full(shape[0] if own_rates else 0, float(rate)),
    )


@dataclass(frozen=True)
class TrainingState:
    """What is needed to continue training.

    Parameters
    ----------
    cost : Cost
        The cost as specified, its parameters in units of the data.
    relevance : Relevance
        The rule of the metric's parameters.
    units : Units
        The data's spread.
    statistics : Statistics
        Statistics of the online rules.
    step : float
        Number of samples that the online solver has used.
    random_state : RandomState
        Source of randomness of the next call.
    start : tuple of (str, object)
        Parameters that the prototypes, the metric and the kernel started from.
    variances : ndarray of shape (n_features,), optional
        Variance of each feature, where missing values are ignored.
    moments : FeatureMoments, optional
        What these variances come from, so that a stream can continue them; where it is None they stay as they are.
    """

    cost: CostOrRule
    relevance: Relevance
    units: Units
    statistics: Statistics
    step: float
    random_state: np.random.RandomState
    start: tuple[tuple[str, object], ...] = ()
    variances: np.ndarray | None = None
    moments: FeatureMoments | None = None

    def copy(self) -> Self:
        """The same with a random state of its own; statistics are copied by the solver."""
        random_state = np.random.RandomState(0)  # with any seed: the state replaces it
        random_state.set_state(self.random_state.get_state(legacy=False))
        return replace(self, random_state=random_state)

    def scaled_cost(self, dtype: np.dtype) -> CostOrRule:
        """The cost in plain numbers: multiples of the spread become absolute, prices take the data's type."""
        cost = self.cost.scaled(self.units.link) if hasattr(self.cost, "scaled") else self.cost
        if isinstance(cost, MarginCost) and cost.prices is not None:
            cost = replace(cost, prices=cost.prices.astype(dtype))
        return cost


class Result(NamedTuple):
    """What a solver returns."""

    params: Params
    n_iter: int
    history: list[float]
    converged: bool


class StoppingRule:
    """Reports convergence when the cost has not improved by more than `tol` for `patience` epochs."""

    def __init__(self, tol: float | None, patience: int) -> None:
        self.tol, self.patience = tol, patience
        self.best, self.waited = np.inf, 0
        self.converged = False

    def update(self, value: float) -> None:
        """Take the cost of one more epoch into account."""
        if self.tol is None:
            return
        self.waited = 0 if value < self.best - self.tol else self.waited + 1
        self.best = min(self.best, value)
        self.converged = self.waited >= self.patience
