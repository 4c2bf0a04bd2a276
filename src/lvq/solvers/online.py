"""Training sample by sample: settings, epochs, schedules, and streams.

Runs epochs of the compiled loops (`engine.py`) and observes the cost. Everything runs in coordinates centred on the
data, where dot products lose no digits. What must be kept between calls (the number of steps, the statistics of the
Fisher rules, OLVQ1's rates) comes from a `TrainingState` and goes into a new one.
"""

from dataclasses import dataclass, replace

import numpy as np

from lvq.model.costs import CostOrRule, WindowRule, WinnerRule
from lvq.model.links import Part
from lvq.model.objective import Objective, Params
from lvq.model.rows import has_missing, is_sparse
from lvq.model.samples import ArraySamples
from lvq.solvers.engine import Engine
from lvq.solvers.kernels.rule import Rows
from lvq.solvers.progress import Report, silent
from lvq.solvers.state import Result, StoppingRule, TrainingState

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
    engine = Engine(
        objective,
        state.relevance,
        params if sparse else params._replace(prototypes=params.prototypes - centre),
        _rows(samples, centre),
        state.statistics.shifted(-centre),
        state.variances,
    )
    settings = settings.for_stream(objective.cost) if stream else settings
    epochs, count, step = max_iter, samples.n_samples, state.step
    scaled = settings.step == "scaled" and not isinstance(objective.cost, WinnerRule | WindowRule)
    engine.set_rule(
        rate=settings.learning_rate * (state.units.step if scaled else 1.0),
        relevance_rate=state.relevance.rate if settings.relevance_rate is None else settings.relevance_rate,
        width_rate=settings.learning_rate,
        schedule=SCHEDULES.index(settings.schedule),
        horizon=count * (epochs if settings.schedule == "linear" else 1),
        relative=settings.step == "relative",
    )
    history: list[float] = []
    stopping = StoppingRule(settings.tol, settings.n_iter_no_change)
    ahead = 1 if settings.tol is not None else max(1, min(epochs, 65536 // count))
    while len(history) < epochs and not stopping.converged:
        orders = _orders(count, min(ahead, epochs - len(history)), settings.shuffle, state.random_state)
        history += (engine.run(orders, step) / samples.weight.sum()).tolist()
        step += float(orders.size)
        stopping.update(history[-1])
        report(len(history), history[-1], last=stopping.converged)
    learned = engine.params()
    if not sparse:
        learned = learned._replace(prototypes=learned.prototypes + centre)
    after = replace(state, step=step, statistics=engine.statistics.shifted(centre))
    return Result(learned, len(history), history, stopping.converged), after


def _rows(samples: ArraySamples, centre: np.ndarray) -> Rows:
    """The samples in the types and the order that the compiled code needs; sparse rows stay as they are."""
    X = samples.X if is_sparse(samples.X) else np.ascontiguousarray(samples.X - centre)
    missing = np.zeros((0, X.shape[1]), dtype=bool)
    if has_missing(X):
        X, missing = np.nan_to_num(X), np.isnan(X)
    return Rows(X, missing, np.array(samples.y, dtype=np.int64), np.array(samples.weight, dtype=np.float64))


def _orders(count: int, epochs: int, shuffle: bool, random_state: np.random.RandomState) -> np.ndarray:
    if not shuffle:
        return np.tile(np.arange(count), (epochs, 1))
    return np.stack([random_state.permutation(count) for _ in range(epochs)])
