"""Training sample by sample: epochs, shuffling, schedules, and streams.

Runs epochs of the compiled loops (`engine.py`) and observes the cost. Everything runs in coordinates centred on the
data, where dot products lose no digits. What must be kept between calls (the number of steps, the statistics of the
Fisher rules, OLVQ1's rates) comes from a `TrainingState` and goes into a new one.
"""

from dataclasses import replace

import numpy as np

from lvq.model.incomplete_samples import IncompleteSamples
from lvq.model.objective import Objective, Params
from lvq.model.samples import ArraySamples
from lvq.model.sparse_rows import is_sparse
from lvq.solvers.engine import Engine
from lvq.solvers.incomplete_engine import IncompleteEngine
from lvq.solvers.online_rule import Online
from lvq.solvers.progress import Report, silent
from lvq.solvers.state import Result, StoppingRule, TrainingState


def train(
    objective: Objective,
    params: Params,
    samples: ArraySamples,
    settings: Online,
    state: TrainingState,
    report: Report = silent,
    *,
    stream: bool = False,
) -> tuple[Result, TrainingState]:
    """Run up to `settings.max_iter` epochs over the data; as part of a stream, one.

    Parameters
    ----------
    objective : Objective
        Metric, link, cost (with plain numbers) and labels.
    params : Params
        Where to start; left as it is, but for prototypes of sparse samples that may be written to: these are used up.
    samples : ArraySamples
        Samples, class indices, and the factors of each sample's step; `IncompleteSamples` where values are missing.
    settings : Online
        Rates, schedule, epochs.
    state : TrainingState
        Steps and statistics so far, and the random state, which is used; all else is left as it is.
    report : callable
        Called with the number of epochs done and the last mean cost.
    stream : bool
        One epoch of a stream that has no known end, see `Online.for_stream`.

    Returns
    -------
    result : Result
        What has been learned.
    state : TrainingState
        Steps and statistics after these epochs.
    """
    centre = np.zeros(1) if is_sparse(samples.X) else samples.centre()
    # a copy in any case: the compiled code needs rows in C order; sparse rows stay as they are
    X = samples.X if is_sparse(samples.X) else np.ascontiguousarray(samples.X - centre)
    count = samples.n_samples
    y, weight = samples.y, np.ascontiguousarray(samples.weight, dtype=np.float64)
    statistics = state.statistics.shifted(-centre)
    moved = params if is_sparse(X) else params._replace(prototypes=params.prototypes - centre)
    arguments = objective, state.relevance, moved, X, statistics, state.step
    if isinstance(samples, IncompleteSamples):
        assert state.variances is not None
        engine: Engine = IncompleteEngine(*arguments, samples.missing, state.variances)
    else:
        engine = Engine(*arguments)
    settings, epochs = (settings.for_stream(objective.cost), 1) if stream else (settings, settings.max_iter)
    horizon = count * (epochs if settings.schedule == "linear" else 1)
    engine.set_rule(settings, state.units, horizon)
    history: list[float] = []
    stopping = StoppingRule(settings.tol, settings.n_iter_no_change)
    ahead = 1 if settings.tol is not None else max(1, min(epochs, 65536 // count))
    while len(history) < epochs and not stopping.converged:
        orders = _orders(count, min(ahead, epochs - len(history)), settings.shuffle, state.random_state)
        history += (engine.run(X, y, weight, orders) / weight.sum()).tolist()
        stopping.update(history[-1])
        report(len(history), history[-1], last=stopping.converged)
    learned = engine.params()
    if not is_sparse(X):
        learned = learned._replace(prototypes=learned.prototypes + centre)
    after = replace(state, step=engine.step, statistics=engine.statistics.shifted(centre))
    return Result(learned, len(history), history, stopping.converged), after


def _orders(count: int, epochs: int, shuffle: bool, random_state: np.random.RandomState) -> np.ndarray:
    if not shuffle:
        return np.tile(np.arange(count), (epochs, 1))
    return np.stack([random_state.permutation(count) for _ in range(epochs)])
