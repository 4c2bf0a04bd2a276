"""Training sample by sample: epochs, shuffling, schedules, and streams.

Turns the parts of a model into the integers and arrays of `rows`, runs epochs, and watches the cost. Everything runs in
coordinates centred on the data, where dot products lose no digits. What must outlive a call (the number of steps so
far, the statistics of the Fisher rules, OLVQ1's rates) is a `Memory`, so that a stream can go on where it stopped.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lvq.model.arrays import round_centre
from lvq.model.costs import GLVQCost, LOGMCost, MCECost, RSLVQCost, SNPCCost, SoftCost, WindowRule, WinnerRule
from lvq.model.links import Cauchy, Gaussian, Identity, InverseMultiquadric, RationalQuadratic
from lvq.model.objective import Objective, Params
from lvq.model.relevance import (
    Fisher,
    FisherNeighbours,
    FisherPrototypes,
    GradientRelevance,
    Hebbian,
    MatrixRelevance,
    Relevance,
    VectorRelevance,
)
from lvq.solvers.progress import Report, silent

SCHEDULES = ("constant", "linear", "inverse")
STEPS = ("scaled", "gradient", "relative")


class Units(NamedTuple):
    """The data's spread at the start, by which rates and steepness become free of scale.

    `link` is the mean over the samples of the smallest distance H to a prototype. `step` is the same before the link,
    divided by the largest eigenvalue of Lambda where the step carries Lambda: the rate that moves a prototype by about
    its distance to a sample.
    """

    step: float
    link: float


def units_of(objective: Objective, relevance: Relevance, params: Params, X: np.ndarray, weight: np.ndarray) -> Units:
    """Measure the spread; 1 where there is none."""
    share = weight / weight.sum()
    smallest = objective.metric.distances(X, params.prototypes, params.relevance).min(axis=1)
    stretch = 1.0
    if params.relevance is not None and relevance.weighted_step:
        stretch = (
            float(np.max(np.linalg.norm(params.relevance, 2, axis=(-2, -1)) ** 2))
            if (params.relevance.ndim > 1)
            else float(params.relevance.max())
        )
    link = float(share @ objective.linked(params).value(smallest))
    step = float(share @ smallest) / stretch
    return Units(step if step > 0 else 1.0, link if link > 0 else 1.0)


@dataclass(frozen=True)
class Online:
    """Settings of the online solver; see the estimators for their meaning."""

    learning_rate: float = 0.1
    relevance_rate: float = 0.01
    width_rate: float = 0.0
    schedule: str = "linear"
    step: str = "scaled"
    time_slope: bool = False
    max_iter: int = 100
    tol: float | None = None
    n_iter_no_change: int = 5
    shuffle: bool = True


class Statistics(NamedTuple):
    """What the Fisher rules and OLVQ1 remember; arrays of length zero where a rule does not need them."""

    wins: np.ndarray  # (M,) correct wins of each prototype so far
    seen: np.ndarray  # (C,) samples of each class so far
    mean: np.ndarray  # (M, n) mean of the samples won correctly
    scatter: np.ndarray  # (M, n) their sum of squared deviations (Welford)
    scores: np.ndarray  # (1,) Fisher scores averaged so far
    rates: np.ndarray  # (M,) rate of each prototype (OLVQ1)


@dataclass
class Memory:
    """What outlives one call of the solver."""

    step: float
    statistics: Statistics

    def shift(self, by: np.ndarray) -> None:
        """Move the remembered means along with the coordinates."""
        if len(self.statistics.mean):
            self.statistics.mean[self.statistics.wins > 0] += by


class Result(NamedTuple):
    """What a solver gives back."""

    params: Params
    n_iter: int
    history: list[float]
    converged: bool


def new_memory(relevance: Relevance, cost: Any, params: Params, n_classes: int, learning_rate: float) -> Memory:
    """A memory that remembers nothing yet."""
    count, features = params.prototypes.shape
    fisher = isinstance(relevance, Fisher)
    moments = (count, features) if isinstance(relevance, FisherNeighbours) else (0, 0)
    olvq = isinstance(cost, WinnerRule) and cost.own_rates
    statistics = Statistics(
        wins=np.zeros(count if fisher else 0),
        seen=np.zeros(n_classes if fisher else 0),
        mean=np.zeros(moments),
        scatter=np.zeros(moments),
        scores=np.zeros(1),
        rates=np.full(count if olvq else 0, float(learning_rate)),
    )
    return Memory(0.0, statistics)


def train(
    objective: Objective,
    relevance: Relevance,
    params: Params,
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    settings: Online,
    units: Units,
    memory: Memory,
    random_state: np.random.RandomState,
    report: Report = silent,
    *,
    stream: bool = False,
) -> Result:
    """Run up to `settings.max_iter` epochs over the data; as part of a stream, one.

    Parameters
    ----------
    objective : Objective
        Metric, link, cost (with plain numbers) and labels.
    relevance : Relevance
        The rule of the metric's parameters.
    params : Params
        Where to start; left as it is.
    X, y, weight : ndarray
        Samples, class indices, and the factors of each sample's step.
    settings : Online
        Rates, schedule, epochs.
    units : Units
        The data's spread at the start.
    memory : Memory
        Steps and statistics so far; changed in place.
    random_state : RandomState
        For shuffling.
    report : callable
        Called with the number of epochs done and the last mean cost.
    stream : bool
        One epoch of a stream that has no known end: a linear schedule stays at its start.
    """
    # a copy in any case: the compiled code writes, and wants rows in C order
    centre = round_centre(X)
    X = np.ascontiguousarray(X - centre)
    memory.shift(-centre)
    engine = _Engine(objective, relevance, params._replace(prototypes=params.prototypes - centre), X, memory)
    epochs = 1 if stream else settings.max_iter
    schedule = "constant" if stream and settings.schedule == "linear" else settings.schedule
    horizon = len(X) * (settings.max_iter if schedule == "linear" else 1)
    engine.set_rule(settings, units, schedule, horizon)
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    history: list[float] = []
    watch = Watch(settings.tol, settings.n_iter_no_change)
    ahead = 1 if settings.tol is not None else max(1, min(epochs, 65536 // len(X)))
    while len(history) < epochs and not watch.converged:
        orders = _orders(len(X), min(ahead, epochs - len(history)), settings.shuffle, random_state)
        history += (engine.run(X, y, weight, orders) / weight.sum()).tolist()
        watch.see(history[-1])
        report(len(history), history[-1], last=watch.converged)
    memory.shift(centre)
    learned = engine.params()
    return Result(learned._replace(prototypes=learned.prototypes + centre), len(history), history, watch.converged)


def _orders(count: int, epochs: int, shuffle: bool, random_state: np.random.RandomState) -> np.ndarray:
    if not shuffle:
        return np.tile(np.arange(count), (epochs, 1))
    return np.stack([random_state.permutation(count) for _ in range(epochs)])


class Watch:
    """Says when the cost has not improved by more than `tol` for some epochs."""

    def __init__(self, tol: float | None, patience: int) -> None:
        self.tol, self.patience = tol, patience
        self.best, self.waited = np.inf, 0
        self.converged = False

    def see(self, value: float) -> None:
        if self.tol is None:
            return
        self.waited = 0 if value < self.best - self.tol else self.waited + 1
        self.best = min(self.best, value)
        self.converged = self.waited >= self.patience


class _Engine:
    """The arrays one of the compiled loops works on, for one run."""

    def __init__(
        self, objective: Objective, relevance: Relevance, params: Params, X: np.ndarray, memory: Memory
    ) -> None:
        from lvq.solvers import rows

        self.rows, self.objective, self.relevance, self.memory = rows, objective, relevance, memory
        self.dtype = X.dtype
        labels = np.asarray(objective.labels)
        self.count = len(labels)
        self.starts = np.searchsorted(labels, np.arange(labels.max() + 2)).astype(np.int64)
        width = float(getattr(objective.link, "width", 1.0) if params.width is None else params.width)
        self.learns_width = params.width is not None
        self.width = np.array([width, 1e-3 * width, 1e3 * width])
        self.radius = float(np.square(X).sum(axis=1, dtype=np.float64).max())
        self.radius += float(np.square(params.prototypes).sum(axis=1, dtype=np.float64).max())
        self.soft = isinstance(objective.cost, SoftCost)
        self._lay_out(params, X.shape[1])

    def _lay_out(self, params: Params, features: int) -> None:
        """Buffers for the loop that fits the parts."""
        dtype, count = self.dtype, self.count
        W = np.ascontiguousarray(params.prototypes, dtype=dtype)
        self.relevances = None if params.relevance is None else np.array(params.relevance, dtype=dtype, order="C")
        self.distances = np.zeros(count, dtype=dtype)
        self.bits = self.distances.view(np.int32 if dtype == np.float32 else np.int64)
        padded = -(-count // 16) * 16  # whole vectors for the search
        self.keys = np.full(padded, np.iinfo(np.int64).max)
        self.slopes = np.zeros(count)
        if isinstance(self.relevance, MatrixRelevance):
            self.loop = "soft_matrix" if self.soft else "matrix"
            groups = self.relevance.groups(np.asarray(self.objective.labels))
            self.omega = np.ascontiguousarray(np.array(self.relevances, ndmin=3))
            self.groups = np.array(groups, dtype=np.int64)
            rank = self.omega.shape[1]
            self.P = np.zeros((count, rank), dtype=dtype)
            self.scales = np.ones(len(groups) - 1)
            self.z = np.zeros((len(groups) - 1, rank), dtype=dtype)
            self.wide, self.tall = np.zeros((5, features), dtype=dtype), np.zeros((6, rank), dtype=dtype)
            self.W = W.copy()
        elif isinstance(self.relevance, VectorRelevance) or self.soft:
            self.loop = "weighted"
            self.W = W.copy()
            self.weights = np.ones(features, dtype=dtype) if self.relevances is None else self.relevances
            self.scratch = np.zeros((2, features))
        else:
            self.loop = "plain"
            # eight samples ahead while the prototypes stay in the cache; many more where they do not
            block = 8 if W.nbytes <= 2**19 else 64
            buffer = np.zeros((count + block, features), dtype=dtype)
            buffer[:count] = W
            self.buffer, self.W = buffer, buffer[:count]
            self.products = np.zeros((block, count + block), dtype=dtype)

    def set_rule(self, settings: Online, units: Units, schedule: str, horizon: int) -> None:
        """Fill in every number the compiled code needs."""
        rows, cost, link, relevance = self.rows, self.objective.cost, self.objective.link, self.relevance
        is_rule = isinstance(cost, WinnerRule | WindowRule)
        rate = settings.learning_rate
        if settings.step == "scaled" and not is_rule:
            rate *= units.step
        limit = 1e30 if self.dtype == np.float32 else 1e200
        self.rule = rows.Rule(
            cost=_cost_code(rows, cost),
            link=_link_code(rows, link),
            relevance=_relevance_code(rows, relevance),
            schedule=SCHEDULES.index(schedule),
            horizon=float(horizon),
            rate=float(rate),
            relevance_rate=float(settings.relevance_rate),
            width_rate=float(settings.width_rate) if self.learns_width else 0.0,
            shape=float(getattr(link, "shape", 1.0)),
            slope=rows.TIME if settings.time_slope else float(getattr(cost, "slope", 0.0)),
            xi=float(getattr(cost, "xi", 1.0)),
            alpha=float(getattr(cost, "alpha", 0.0)),
            window=float(getattr(cost, "window", 0.0)),
            epsilon=float(getattr(cost, "epsilon", 0.0)),
            relative=settings.step == "relative",
            weighted_step=bool(relevance.weighted_step),
            by_maximum=getattr(relevance, "scores", "sum") == "max",
            two_classes=getattr(relevance, "rivals", "all") == "nearest",
            between_alone=getattr(relevance, "no_variance", "zero") == "between",
            even_classes=getattr(relevance, "classes", "shares") == "even",
            reach=min(1e12 * self.radius, limit),
            key_shift=32 if self.dtype == np.float32 else 0,
            index_mask=(1 << self.count.bit_length()) - 1,
        )

    def run(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Run the epochs of `orders`; the sum of costs of each."""
        costs = np.zeros(len(orders))
        common = (self.rule, X, y, weight, orders, costs, self.memory.step)
        if self.loop == "plain":
            lengths = np.square(self.W).sum(axis=1)
            self.rows.plain_epochs(
                *common, self.buffer, self.starts, self.width, self.products, self.distances, self.bits, self.keys,
                lengths, self.memory.statistics,
            )  # fmt: skip
        elif self.loop == "weighted":
            self.rows.weighted_epochs(
                *common, self.W, self.starts, self.width, self.weights, self.distances, self.slopes,
                self.memory.statistics, self.scratch,
            )  # fmt: skip
        elif self.loop == "matrix":
            self.rows.matrix_epochs(
                *common, self.W, self.starts, self.width, self.omega, self.groups, self.distances, self.bits, self.keys,
                self.P, self.scales, self.z, self.wide, self.tall,
            )  # fmt: skip
        else:
            self.rows.soft_matrix_epochs(
                *common, self.W, self.starts, self.width, self.omega, self.groups, self.distances, self.slopes, self.P,
                self.scales, self.z,
            )  # fmt: skip
        self.memory.step += float(orders.size)
        return costs

    def params(self) -> Params:
        """What has been learned so far."""
        relevance = self.relevances
        if self.loop.endswith("matrix"):
            norms = np.linalg.norm(self.omega.astype(np.float64), axis=(1, 2), keepdims=True)
            omega = (self.omega / np.where(norms > 0, norms, 1)).astype(self.dtype)
            assert relevance is not None
            relevance = omega.reshape(relevance.shape)
        return Params(self.W.copy(), relevance, self.width[0] if self.learns_width else None)


def _cost_code(rows: Any, cost: Any) -> int:
    if isinstance(cost, WinnerRule):
        return rows.OLVQ1 if cost.own_rates else rows.LVQ1
    if isinstance(cost, WindowRule):
        return rows.LVQ3 if cost.epsilon > 0 else rows.LVQ21
    codes: dict[type, int] = {
        GLVQCost: rows.GLVQ,
        MCECost: rows.MCE,
        LOGMCost: rows.LOGM,
        SNPCCost: rows.SNPC,
        RSLVQCost: rows.RSLVQ,
    }
    return _code(codes, cost, "cost")


def _link_code(rows: Any, link: Any) -> int:
    codes: dict[type, int] = {
        Identity: rows.IDENTITY,
        Gaussian: rows.GAUSSIAN,
        Cauchy: rows.CAUCHY,
        InverseMultiquadric: rows.MULTIQUADRIC,
        RationalQuadratic: rows.RATIONAL,
    }
    return _code(codes, link, "kernel")


def _relevance_code(rows: Any, relevance: Relevance) -> int:
    if isinstance(relevance, MatrixRelevance):
        return rows.GRADIENT
    if isinstance(relevance, Hebbian):
        return rows.HEBBIAN_SQUARED if relevance.squared else rows.HEBBIAN
    codes: dict[type, int] = {
        Relevance: rows.FIXED,
        GradientRelevance: rows.GRADIENT,
        FisherPrototypes: rows.FISHER1,
        FisherNeighbours: rows.FISHER2,
    }
    return _code(codes, relevance, "relevance")


def _code(codes: dict[type, int], part: Any, name: str) -> int:
    try:
        return codes[type(part)]
    except KeyError:
        raise ValueError(
            f"solver='online' knows the {name}s {sorted(kind.__name__ for kind in codes)}, not "
            f"{type(part).__name__}; use solver='lbfgs' or 'adam' for a {name} of your own."
        ) from None
