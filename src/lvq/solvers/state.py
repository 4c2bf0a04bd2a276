"""What training needs in addition to parameters: units, statistics, results and reports of solvers.

A `TrainingState` is what must be kept to continue a stream or a warm start. Solvers never change the state they get:
they work on a copy and return it, so an interrupted call leaves the old state unchanged.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from lvq.model.costs import CostOrRule, WinnerRule
from lvq.model.links import Link
from lvq.model.metrics import Metric, mean_apart
from lvq.model.objective import Params
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import ONE, DataScale, Fisher, FisherNeighbours, Matrix, Relevance
from lvq.model.rows import beside, like, namespace, wide
from lvq.model.samples import ArraySamples, FeatureMoments

Report = Callable[[int, float], None]  # iterations done, present value of the objective

PART_APART = 0.25  # of the distance to the nearest other prototype: one row a class, 6 sets; with .33 digits lose
COINCIDE = 1e-6  # of that part, below which the mean smallest distance is a rounding error
MIN_UNIT_SAMPLES = 30  # of a stream; after these its units stay the same


class Units(NamedTuple):
    """The data's spread at the start, which makes rates and steepness independent of the data's scale.

    `link` is the mean over the samples of the smallest distance H to a prototype; where samples and prototypes coincide
    it is a quarter of the mean distance from a prototype to the nearest other one. `step` is the same before the link,
    divided by the largest eigenvalue of Lambda where the step carries Lambda: the rate that moves a prototype by about
    its distance to a sample. `samples` is how many samples it was measured on, 0 where there was no spread. `scale` is
    what a ridge is measured in.
    """

    step: float
    link: float
    samples: float = 0.0
    scale: DataScale = ONE


def _spread(metric: Metric, params: Params, link: Link | None, block: ArraySamples) -> np.ndarray:
    """Sums over a block of the smallest distance to a prototype, of its link, and of the weights."""
    W, R = (None if part is None else like(beside(part, block.X), block.X) for part in params[:2])
    D, _ = metric.prepare(W, R).distances(block.X)
    smallest = wide(namespace(D).amin(D, 1))
    linked = smallest if link is None else link.value(smallest)
    weight = wide(block.weight)
    return np.array([float(weight @ smallest), float(weight @ linked), float(weight.sum())])


def spread_of(metric: Metric, params: Params, samples: ArraySamples, link: Link | None = None) -> Units:
    """Mean smallest distance of the samples, before and after a link.

    Where it is 0, as with one sample for each prototype, a part of the distance between prototypes, and 1 if that is 0.
    """
    some = samples.thinned()
    rows = some.block_rows(len(params.prototypes))
    by_metric, by_link, total = some.reduce(partial(_spread, metric, params, link), rows).tolist()
    step, linked = by_metric / total, by_link / total
    apart = PART_APART * mean_apart(metric, *params[:2])
    if step > COINCIDE * apart and linked > 0:
        return Units(step, linked, total)
    step = apart if apart > 0 else 1.0
    linked = step if link is None else float(link.value(np.array([step]))[0])
    return Units(step, linked if linked > 0 else 1.0)


def stretched(units: Units, relevance: Relevance, params: Params) -> Units:
    """Units for the steps of a rule that carry Lambda: divided by its largest eigenvalue."""
    R = params.relevance
    if not units.samples or R is None or not relevance.weighted_step:
        return units
    matrix = isinstance(relevance, Matrix)  # Omega Omega' has the same largest eigenvalue, and is the smaller one
    largest = float(np.max(np.linalg.eigvalsh(R @ np.swapaxes(R, -1, -2)) if matrix else R))
    return units._replace(step=units.step / largest)


def mean_units(one: Units, other: Units) -> Units:
    """Units of two batches together, each by its number of samples."""
    total = one.samples + other.samples
    if total == 0:
        return one
    step, link = ((a * one.samples + b * other.samples) / total for a, b in zip(one[:2], other[:2]))
    return Units(step, link, total, one.scale)


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
        What these variances come from, for a stream to continue them; where it is None they stay as they are.
    starts : ndarray of shape (n_prototypes, n_features), optional
        Where the prototypes started, as means of samples of their class: they stand for these samples when a class is
        added.
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
    starts: np.ndarray | None = None

    def copy(self) -> Self:
        """The same with its own random state; statistics are copied by the solver."""
        random_state = np.random.RandomState(0)  # with any seed: the state replaces it
        random_state.set_state(self.random_state.get_state(legacy=False))
        return replace(self, random_state=random_state)

    def scaled_cost(self) -> CostOrRule:
        """The cost in plain numbers: multiples of the spread become absolute."""
        return self.cost.scaled(self.units.link) if hasattr(self.cost, "scaled") else self.cost


def state_problem(state: TrainingState, model: PrototypeModel) -> str:
    """How a training state does not fit its model, or "": the compiled loops check no bounds."""
    expected = new_statistics(state.relevance, state.cost, model.prototypes.shape, len(model.classes), 0.0)
    for name, values, wanted in zip(Statistics._fields, state.statistics, expected):
        if values.dtype != np.float64 or values.shape != wanted.shape or not np.isfinite(values).all():
            return f"statistics ({name}) that do not fit the prototypes"
    metrics = state.relevance.metric(model.labels), model.metric  # a user's own may not be comparable
    if len({(type(metric), getattr(metric, "groups", None)) for metric in metrics}) > 1:
        return "a relevance rule that does not fit its metric"
    ours, theirs = state.variances, model.variances
    if not (ours is theirs if ours is None or theirs is None else np.array_equal(ours, theirs)):
        return "variances of the features that differ from its model's"
    starts = state.starts
    if starts is not None and (starts.shape != model.prototypes.shape or not np.isfinite(starts).all()):
        return "starting prototypes that do not fit its model"
    if not (all(0 < unit < np.inf for unit in state.units[:2]) and 0 <= state.step < np.inf):
        return "a number of steps or units that are not valid"
    return ""


class Result(NamedTuple):
    """What a solver returns."""

    params: Params
    n_iter: int
    history: list[float]
    converged: bool = False  # of L-BFGS


def not_finite(dtype: np.dtype) -> ValueError:
    """The error where an objective or its gradient is not finite, so no step can be made."""
    return ValueError(
        f"The objective is not finite: the scales of the features differ too much for {dtype}. Standardise the "
        "features first, for example with StandardScaler, or give X as float64."
    )


def silent(done: int, value: float) -> None:
    """Report nothing."""


def progress_lines(name: str, total: int) -> Report:
    """A function that prints a line for every tenth of `total`: the objective, and an estimate of the time left."""
    start, shown = time.monotonic(), 0.0

    def report(done: int, value: float) -> None:
        nonlocal shown
        fraction = done / total
        if fraction - shown < 0.1 and done < total:
            return
        shown = fraction
        left = (time.monotonic() - start) * (1 - fraction) / fraction
        print(f"{name} {done}/{total}  objective {value:.5g}  {left:.0f} s left", flush=True)

    return report
