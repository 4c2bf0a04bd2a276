"""Training sample by sample: settings, epochs, schedules, and streams.

Runs epochs of the compiled loops (`engine.py`) and observes the cost. Everything runs in coordinates centred on the
data, where dot products lose no digits. What must be kept between calls (the number of steps, the statistics of the
Fisher rules, OLVQ1's rates) comes from a `TrainingState` and goes into a new one.
"""

from dataclasses import dataclass, replace

import numpy as np

from lvq.model.costs import CostOrRule, WindowRule, WinnerRule
from lvq.model.objective import Objective, Params
from lvq.model.observed import has_missing
from lvq.model.parts import Part
from lvq.model.rows import is_sparse, row_squares
from lvq.model.samples import ArraySamples
from lvq.solvers.engine import COSTS, KERNELS, RELEVANCES, Engine, code_of
from lvq.solvers.kernels.rule import TIME, Rows, Rule
from lvq.solvers.progress import Report, silent
from lvq.solvers.state import Result, StoppingRule, TrainingState
from lvq.typing import Array

SCHEDULES = ("constant", "linear", "inverse")
STREAM = 0.1  # fraction of the learning rate from which a linear schedule starts, for models with a cost in a stream


@dataclass(frozen=True)
class Online(Part):
    """Sample by sample, as the papers do.

    Parameters
    ----------
    learning_rate : float, default=0.1
        Rate of the prototypes, and of the width of a kernel that is learned, at the start.
    relevance_rate : float, optional
        Rate of the relevances or the matrix; None is 0.01 for weights, 0.001 for matrices and 0.0001 for Hebbian
        learning. The Fisher rules need none.
    schedule : {"linear", "constant", "inverse"}, default="linear"
        Rates fall to 0 over all epochs, stay constant, or fall as 1/(1 + epochs done). In a stream, which has no known
        end, those of "linear" are constant, and `learning_rate` counts a tenth in models with a cost.
    step : {"scaled", "gradient", "relative"}, default="scaled"
        The gradient times the rate in units of the data's spread, the plain gradient times the rate, or, for relative
        costs, the gradient times (d+ + d-), which makes the rate independent of the data's scale step by step.
    tol : float, optional
        Stop when the mean cost of an epoch has not fallen by more than this for `n_iter_no_change` epochs; None runs
        all epochs.
    n_iter_no_change : int, default=5
        Patience of `tol`.
    shuffle : bool, default=True
        A new order in every epoch; False keeps the order of the data.
    """

    learning_rate: float = 0.1
    relevance_rate: float | None = None
    schedule: str = "linear"
    step: str = "scaled"
    tol: float | None = None
    n_iter_no_change: int = 5
    shuffle: bool = True

    def for_stream(self, cost: CostOrRule) -> "Online":
        """The settings of a stream. It has no known end, so rates are constant instead of falling linearly.

        That of the prototypes, and of the width of a kernel, is smaller; in Kohonen's rules it stays as it is.
        """
        if self.schedule != "linear":
            return self
        factor = 1.0 if isinstance(cost, WinnerRule | WindowRule) else STREAM
        return replace(self, schedule="constant", learning_rate=factor * self.learning_rate)


def train(
    objective: Objective,
    params: Params,
    samples: ArraySamples,
    max_iter: int,
    settings: Online,
    state: TrainingState,
    report: Report = silent,
    *,
    stream: bool = False,
) -> tuple[Result, TrainingState]:
    """Run up to `max_iter` epochs over the data; a batch of a stream has one.

    Parameters
    ----------
    objective : Objective
        Metric, link, cost (with plain numbers) and labels.
    params : Params
        Where to start; left as it is, but for prototypes of sparse samples that may be written to: these are used up.
    samples : ArraySamples
        Samples, class indices, and the factors of each sample's step; NaN marks missing values.
    max_iter : int
        Most epochs.
    settings : Online
        Rates and schedule.
    state : TrainingState
        Steps and statistics so far, and the random state, which is used; all else is left as it is.
    report : callable
        Called with the number of epochs done and the last mean cost.
    stream : bool
        Whether this is a part of a stream that has no known end, see `Online.for_stream`.

    Returns
    -------
    result : Result
        What has been learned.
    state : TrainingState
        Steps and statistics after these epochs.
    """
    sparse = is_sparse(samples.X)
    centre = np.zeros(1) if sparse else samples.centre()
    settings = settings.for_stream(objective.cost) if stream else settings
    start = params if sparse else params._replace(prototypes=params.prototypes - centre)
    rows, statistics = _rows(samples, centre), state.statistics.shifted(-centre)
    rule = _rule(objective, start, rows.X, max_iter, settings, state)
    engine = Engine(objective, state.relevance, start, rows, statistics, state.variances, rule)
    history, step = list[float](), state.step
    stopping = StoppingRule(settings.tol, settings.n_iter_no_change)
    while len(history) < max_iter and not stopping.converged:
        count = samples.n_samples
        order = state.random_state.permutation(count) if settings.shuffle else np.arange(count)
        history.append(engine.epoch(order, step) / float(samples.weight.sum()))
        step += float(count)
        stopping.update(history[-1])
        report(len(history), history[-1], last=stopping.converged)
    learned = engine.params()
    if not sparse:
        learned = learned._replace(prototypes=learned.prototypes + centre)
    after = replace(state, step=step, statistics=statistics.shifted(centre))
    return Result(learned, len(history), history, stopping.converged), after


def _rule(objective: Objective, start: Params, X: Array, max_iter: int, settings: Online, state: TrainingState) -> Rule:
    """Every number that the compiled code needs."""
    cost, link, relevance = objective.cost, objective.link, state.relevance
    scaled = settings.step == "scaled" and not isinstance(cost, WinnerRule | WindowRule)
    slope = getattr(cost, "slope", 0.0)
    radius = sum(float(row_squares(part).max()) for part in (X, start.prototypes))
    return Rule(
        cost=code_of(COSTS, cost, "cost"),
        link=code_of(KERNELS, link, "kernel"),
        relevance=code_of(RELEVANCES, relevance, "relevance"),
        schedule=SCHEDULES.index(settings.schedule),
        horizon=float(X.shape[0] * (max_iter if settings.schedule == "linear" else 1)),
        rate=settings.learning_rate * (state.units.step if scaled else 1.0),
        relevance_rate=float(relevance.rate if settings.relevance_rate is None else settings.relevance_rate),
        width_rate=0.0 if start.width is None else float(settings.learning_rate),
        shape=float(getattr(link, "shape", 1.0)),
        slope=TIME if slope == "time" else float(slope),
        xi=float(getattr(cost, "xi", 1.0)),
        alpha=float(getattr(cost, "alpha", 0.0)),
        window=float(getattr(cost, "window", 0.0)),
        epsilon=float(getattr(cost, "epsilon", 0.0)),
        relative=settings.step == "relative",
        weighted_step=bool(relevance.weighted_step),
        squared=bool(getattr(relevance, "squared", False)),
        by_maximum=getattr(relevance, "scores", "sum") == "max",
        two_classes=getattr(relevance, "rivals", "all") == "nearest",
        between_alone=getattr(relevance, "no_variance", "zero") == "between",
        even_classes=getattr(relevance, "classes", "fractions") == "even",
        reach=min(1e12 * radius, 1e30 if X.dtype == np.float32 else 1e200),
    )


def _rows(samples: ArraySamples, centre: np.ndarray) -> Rows:
    """The samples in the types and the order that the compiled code needs; sparse rows stay as they are."""
    X = samples.X if is_sparse(samples.X) else np.ascontiguousarray(samples.X - centre)
    observed = np.zeros((0, X.shape[1]), X.dtype)
    if has_missing(X):
        X, observed = np.nan_to_num(X), (~np.isnan(X)).astype(X.dtype)
    return Rows(X, observed, np.array(samples.y, dtype=np.int64), np.array(samples.weight, dtype=np.float64))
