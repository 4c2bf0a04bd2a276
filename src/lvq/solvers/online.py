"""Training sample by sample: settings, epochs, schedules, and streams.

Runs epochs of the compiled loops (`kernels`) and observes the cost. Everything runs in coordinates centred on the
data, where dot products lose no digits. What must be kept between calls (the number of steps, the statistics of the
Fisher rules, OLVQ1's rates) comes from a `TrainingState` and goes into a new one.
"""

from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np

from lvq.model import costs, links
from lvq.model import relevance as rules
from lvq.model.costs import CostOrRule, counts_steps
from lvq.model.links import Part
from lvq.model.objective import Objective, Params
from lvq.model.rows import has_missing, is_sparse, row_squares
from lvq.model.samples import ArraySamples
from lvq.solvers.kernels import rule as choices
from lvq.solvers.kernels.rule import TIME, LearnedMetric, Prototypes, Rows, Rule, SparseRows
from lvq.solvers.state import Report, Result, Statistics, TrainingState, silent
from lvq.typing import Argument, Array

STREAM = 0.1  # fraction of the learning rate from which a linear schedule starts, for models with a cost in a stream
WIDTHS = (1e-3, 1e3)  # times the start, between which a learned width stays
FILLED_BYTES = 2**20  # of sparse rows that are dense at a time, where a step changes every feature

# the integers by which the loops know the parts
COSTS: dict[type, int] = {
    costs.WinnerRule: choices.WINNER,
    costs.WindowRule: choices.WINDOW,
    costs.GLVQCost: choices.GLVQ,
    costs.MCECost: choices.MCE,
    costs.LOGMCost: choices.LOGM,
    costs.SNPCCost: choices.SNPC,
    costs.RSLVQCost: choices.RSLVQ,
    costs.CrossEntropyCost: choices.CROSS_ENTROPY,
}
KERNELS: dict[type, int] = {
    links.Identity: choices.IDENTITY,
    links.Gaussian: choices.GAUSSIAN,
    links.Cauchy: choices.CAUCHY,
    links.InverseMultiquadric: choices.MULTIQUADRIC,
    links.RationalQuadratic: choices.RATIONAL,
}
RELEVANCES: dict[type, int] = {
    rules.Relevance: choices.FIXED,
    rules.Weights: choices.GRADIENT,
    rules.Matrix: choices.GRADIENT,
    rules.Hebbian: choices.HEBBIAN,
    rules.FisherPrototypes: choices.FISHER1,
    rules.FisherNeighbours: choices.FISHER2,
}


@dataclass(frozen=True)
class Online(Part):
    """Sample by sample, as the papers do.

    `relevance_rate` has no effect without relevances, `step` none in LVQ1, OLVQ1, LVQ2.1, LVQ3 and RLVQ, which have no
    gradient, and `schedule` none on the prototypes of OLVQ1: each has its own rate, at most `learning_rate`.

    Parameters
    ----------
    learning_rate : float, default=0.1
        Rate of the prototypes, and of the width of a kernel that is learned, at the start.
    relevance_rate : float, optional
        Rate of the relevances or the matrix; None is 0.01 for weights, 0.001 for matrices and 0.0001 for Hebbian
        learning. The Fisher rules need none.
    schedule : {"linear", "constant"}, default="linear"
        Rates fall to 0 over all epochs, or stay constant. In a stream, which has no known end, "linear" keeps rates
        constant, and models with a cost use a tenth of `learning_rate`.
    step : {"scaled", "gradient", "relative"}, default="scaled"
        The gradient times the rate in units of the data's spread, the plain gradient times the rate, or, for relative
        costs, the gradient times (d+ + d-), which makes the rate independent of the data's scale step by step.
    shuffle : bool, default=True
        A new order in every epoch; False keeps the order of the data.
    """

    learning_rate: float = 0.1
    relevance_rate: float | None = None
    schedule: str = "linear"
    step: str = "scaled"
    shuffle: bool = True

    def for_stream(self, cost: CostOrRule) -> "Online":
        """The settings of a stream. It has no known end, so rates are constant instead of falling linearly.

        The rate of the prototypes and of a kernel's width is smaller, but not in Kohonen's rules.
        """
        if self.schedule != "linear":
            return self
        factor = STREAM if cost.smooth else 1.0
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
    """Run `max_iter` epochs over the data; a batch of a stream has one.

    Parameters
    ----------
    objective : Objective
        Metric, link, cost (with plain numbers) and labels.
    params : Params
        Where to start; left as it is, but for prototypes of sparse samples that may be written to: these, which may be
        large, are used up.
    samples : ArraySamples
        Samples, class indices, and the factors of each sample's step; NaN marks missing values.
    max_iter : int
        Epochs.
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
    loop = Loop(objective, state, start, rows, statistics, rule)
    history, step = list[float](), state.step
    while len(history) < max_iter:
        count = samples.n_samples
        order = state.random_state.permutation(count) if settings.shuffle else np.arange(count)
        history.append(loop.epoch(order, step) / float(samples.weight.sum()))
        step += float(count)
        report(len(history), history[-1])
    learned = loop.params()
    if not sparse:
        learned = learned._replace(prototypes=learned.prototypes + centre)
    after = replace(state, step=step, statistics=statistics.shifted(centre))
    return Result(learned, len(history), history), after


def _rule(objective: Objective, start: Params, X: Array, max_iter: int, settings: Online, state: TrainingState) -> Rule:
    """Every number that the compiled code needs."""
    cost, link, relevance = objective.cost, objective.link, state.relevance
    scaled = settings.step == "scaled" and cost.smooth
    radius = sum(float(row_squares(part).max()) for part in (X, start.prototypes))
    return Rule(
        cost=code_of(COSTS, cost, "cost"),
        link=code_of(KERNELS, link, "kernel"),
        relevance=code_of(RELEVANCES, relevance, "relevance"),
        horizon=float(X.shape[0] * max_iter) if settings.schedule == "linear" else np.inf,
        rate=settings.learning_rate * (state.units.step if scaled else 1.0),
        relevance_rate=float(relevance.rate if settings.relevance_rate is None else settings.relevance_rate),
        width_rate=0.0 if start.width is None else float(settings.learning_rate),
        shape=float(getattr(link, "shape", 1.0)),
        slope=TIME if counts_steps(cost) else float(getattr(cost, "slope", 0.0) or 0.0),
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


def is_compiled(*parts: object) -> bool:
    """Whether the loops have all of these costs, kernels and relevance rules."""
    return all(type(part) in COSTS | KERNELS | RELEVANCES for part in parts)


def code_of(codes: dict[type, int], part: object, name: str) -> int:
    """The integer of a part; ValueError for one that the loops do not have."""
    if type(part) not in codes:
        raise ValueError(
            f"solver='online' supports the {name}s {sorted(kind.__name__ for kind in codes)}, not "
            f"{type(part).__name__}; use solver='lbfgs' or 'adam' for a {name} of your own."
        )
    return codes[type(part)]


class Loop:
    """A compiled loop and the arrays it works on, for one run; it changes the statistics that it is given."""

    def __init__(
        self, objective: Objective, state: TrainingState, start: Params, rows: Rows, statistics: Statistics, rule: Rule
    ) -> None:
        labels, n_features, masked = np.asarray(objective.labels), rows.X.shape[1], len(rows.observed) > 0
        variances = np.array(state.variances, dtype=np.float64) if masked else np.ones(n_features)
        relevance = state.relevance
        limits = relevance.groups(labels) if isinstance(relevance, rules.Structured) else (0, len(labels))
        groups = np.array(limits, dtype=np.int64)
        if rows.y.max() > labels.max() or n_features != start.prototypes.shape[1]:  # compiled code checks no bounds
            raise ValueError("The online solver needs prototypes of every class and feature; call fit again.")
        self.start, self.rows, self.rule = start, rows, rule
        self.name = _loop_of(rule, relevance, sparse=is_sparse(rows.X), masked=masked)
        starts = np.searchsorted(labels, np.arange(labels.max() + 2)).astype(np.int64)
        width = float(getattr(objective.link, "width", 1.0) if start.width is None else start.width)
        widths = width * np.array([1.0, *WIDTHS])
        W, dtype = start.prototypes, rows.X.dtype
        W = np.require(W.T, dtype, ["C", "W"]) if self.name == "sparse" else np.array(W, dtype=dtype, order="C")
        self.prototypes = Prototypes(W, starts, widths, statistics)
        self.metric: tuple[LearnedMetric, ...] = ()
        if self.name in ("weights", "matrices"):
            R = np.ones(n_features) if start.relevance is None else start.relevance
            shape = R.shape[-2:] if self.name == "matrices" else R.shape[-1:]
            R = np.array(R, dtype=rows.X.dtype, order="C").reshape(-1, *shape)
            self.metric = (LearnedMetric(R, groups, variances),)

    def epoch(self, order: np.ndarray, step: float) -> float:
        """Run an epoch after a number of steps: the sum of the costs."""
        X, observed, y, weight = self.rows
        if not is_sparse(X):
            return self._call(self.rows, order, step)
        if self.name == "sparse":
            return self._call(SparseRows(X.data, X.indices, X.indptr, y, weight), order, step)
        # a step changes every feature: some rows are dense at a time
        length, total = max(1, FILLED_BYTES // (X.shape[1] * X.dtype.itemsize)), 0.0
        for begin in range(0, len(order), length):
            part = order[begin : begin + length]
            rows = Rows(X[part].toarray(), observed, y[part], weight[part])
            total += self._call(rows, np.arange(len(part)), step + begin)
        return total

    def _call(self, rows: Rows | SparseRows, order: np.ndarray, step: float) -> float:
        """The compiled loop; numba is imported when it is first needed."""
        function: Argument = getattr(import_module(f"lvq.solvers.kernels.{self.name}"), f"{self.name}_epoch")
        return float(function(self.rule, rows, order, step, self.prototypes, *self.metric))

    def params(self) -> Params:
        """What has been learned so far."""
        W, start = self.prototypes.W, self.start
        W.flags.writeable = False  # no one else has it; the fitted model then needs no copy of its own
        R = None if start.relevance is None else self.metric[0].R.reshape(start.relevance.shape)
        width = None if start.width is None else float(self.prototypes.width[0])
        return Params(W.T if self.name == "sparse" else W, R, width)


def _loop_of(rule: Rule, relevance: rules.Relevance, *, sparse: bool, masked: bool) -> str:
    """The loop of a model, by the shape of its metric, its cost and its samples."""
    if isinstance(relevance, rules.Matrix):
        return "matrices"
    if type(relevance) is not rules.Relevance:
        return "weights"
    if sparse:
        return "sparse"
    return "weights" if masked or rule.cost > choices.PAIR_COSTS else "plain"
