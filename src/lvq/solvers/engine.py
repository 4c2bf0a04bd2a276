"""The arrays that the compiled loops work on, their sizes, and the calls of the loops."""

from collections.abc import Callable
from importlib import import_module

import numpy as np

from lvq.model.costs import (
    CostOrRule,
    CrossEntropyCost,
    GLVQCost,
    LOGMCost,
    MCECost,
    RSLVQCost,
    SNPCCost,
    SoftCost,
    WindowRule,
    WinnerRule,
)
from lvq.model.links import Cauchy, Gaussian, Identity, InverseMultiquadric, Link, RationalQuadratic
from lvq.model.objective import Objective, Params
from lvq.model.relevance import (
    FisherNeighbours,
    FisherPrototypes,
    Hebbian,
    Matrix,
    Relevance,
    RuleWeights,
)
from lvq.model.relevance import Weights as WeightsRule
from lvq.model.rows import is_sparse, row_squares
from lvq.solvers.kernels import rule as choices
from lvq.solvers.kernels.rule import Epochs, Matrices, Prototypes, Rows, Search, SparseRows, Weights
from lvq.solvers.state import Statistics, new_statistics

FILLED_BYTES = 2**20  # of sparse rows that are dense at a time, where a step changes every feature


class Engine:
    """The arrays one of the compiled loops works on, for one run.

    Parameters
    ----------
    objective : Objective
        Metric, link, cost and labels.
    relevance : Relevance
        The rule of the metric's parameters.
    params : Params
        Where to start.
    rows : Rows
        Samples; X may be sparse.
    statistics : Statistics
        Statistics so far, which the loops change.
    variances : ndarray of shape (n_features,), optional
        Variance of each feature; needed where values are missing.
    """

    def __init__(
        self,
        objective: Objective,
        relevance: Relevance,
        params: Params,
        rows: Rows,
        statistics: Statistics,
        variances: np.ndarray | None,
    ) -> None:
        self.objective, self.relevance, self.start, self.rows = objective, relevance, params, rows
        self.statistics = statistics
        n_features = rows.X.shape[1]
        masked = len(rows.missing) > 0
        variances = np.array(variances, dtype=np.float64) if masked else np.ones(n_features)
        _check_model(objective, relevance, params, n_features, statistics)
        _check_rows(rows, n_features, int(np.max(objective.labels)) + 1)
        check_equal("variances", variances.shape, (n_features,))
        self.loop = _loop_of(relevance, objective.cost, masked=masked, sparse=is_sparse(rows.X))
        self.prototypes = self._prototypes(statistics)
        self.metric = self._metric(variances)

    def _prototypes(self, statistics: Statistics) -> Prototypes:
        dtype, W, width = self.rows.X.dtype, self.start.prototypes, self.start.width
        if self.loop == "sparse":  # one array at a time: it may be large
            usable = W.flags.writeable and W.T.flags.c_contiguous and W.dtype == dtype
            W = W.T if usable else np.array(W.T, dtype=dtype, order="C")
        else:
            W = np.array(W, dtype=dtype, order="C")
        labels = np.asarray(self.objective.labels)
        starts = np.searchsorted(labels, np.arange(labels.max() + 2)).astype(np.int64)
        start = float(getattr(self.objective.link, "width", 1.0) if width is None else width)
        return Prototypes(W, starts, np.array([start, 1e-3 * start, 1e3 * start]), statistics)

    def _metric(self, variances: np.ndarray) -> tuple[Search | Weights | Matrices, ...]:
        """What the loop gets besides the prototypes."""
        dtype, n_features, labels = self.rows.X.dtype, self.rows.X.shape[1], np.asarray(self.objective.labels)
        R = None if self.start.relevance is None else np.array(self.start.relevance, dtype=dtype, order="C")
        if self.loop == "matrices":
            assert isinstance(self.relevance, Matrix)
            assert R is not None
            groups = np.array(self.relevance.groups(labels), dtype=np.int64)
            return (Matrices(R.reshape(-1, *R.shape[-2:]), groups, variances),)
        if self.loop == "sparse":
            return ()
        if self.loop == "plain":
            distances = np.zeros(len(labels), dtype=dtype)
            return (Search(distances, distances.view(np.int32 if dtype == np.float32 else np.int64)),)
        relevances = np.ones((1, n_features), dtype=dtype) if R is None else R.reshape(-1, n_features)
        rule = self.relevance
        limits = rule.groups(labels) if isinstance(rule, WeightsRule) else (0, len(labels))
        owner = np.repeat(np.arange(len(limits) - 1), np.diff(limits))
        return (Weights(relevances, owner, variances),)

    def set_rule(
        self,
        *,
        rate: float,
        relevance_rate: float,
        width_rate: float,
        schedule: int,
        horizon: int,
        relative: bool,
    ) -> None:
        """Fill in every number that the compiled code needs."""
        cost, link, relevance = self.objective.cost, self.objective.link, self.relevance
        slope = getattr(cost, "slope", 0.0)
        radius = sum(float(row_squares(part).max()) for part in (self.rows.X, self.start.prototypes))
        limit = 1e30 if self.rows.X.dtype == np.float32 else 1e200
        self.rule = choices.Rule(
            cost=cost_code(cost),
            link=link_code(link),
            relevance=relevance_code(relevance),
            schedule=schedule,
            horizon=float(horizon),
            rate=float(rate),
            relevance_rate=float(relevance_rate),
            width_rate=0.0 if self.start.width is None else float(width_rate),
            shape=float(getattr(link, "shape", 1.0)),
            slope=choices.TIME if slope == "time" else float(slope),
            xi=float(getattr(cost, "xi", 1.0)),
            alpha=float(getattr(cost, "alpha", 0.0)),
            window=float(getattr(cost, "window", 0.0)),
            epsilon=float(getattr(cost, "epsilon", 0.0)),
            relative=relative,
            weighted_step=bool(relevance.weighted_step),
            by_maximum=getattr(relevance, "scores", "sum") == "max",
            two_classes=getattr(relevance, "rivals", "all") == "nearest",
            between_alone=getattr(relevance, "no_variance", "zero") == "between",
            even_classes=getattr(relevance, "classes", "fractions") == "even",
            reach=min(1e12 * radius, limit),
        )

    def run(self, orders: np.ndarray, step: float) -> np.ndarray:
        """Run the epochs of `orders`, the first after a number of steps; the sum of costs of each."""
        check_equal("orders", (orders.shape[1], bool(orders.min() >= 0)), (len(self.rows.y), True))
        check_equal("orders", bool(orders.max() < len(self.rows.y)), True)
        X, _, y, weight = self.rows
        if not is_sparse(X):
            return self._call(self.rows, orders, step)
        if self.loop == "sparse":
            return self._call(SparseRows(X.data, X.indices, X.indptr, y, weight), orders, step)
        return np.array([self._run_filled(order, step + place * len(y)) for place, order in enumerate(orders)])

    def _run_filled(self, order: np.ndarray, step: float) -> float:
        """One epoch on sparse rows whose steps change every feature: some rows are dense at a time."""
        X, missing, y, weight = self.rows
        length = max(1, FILLED_BYTES // (X.shape[1] * X.dtype.itemsize))
        total = 0.0
        for begin in range(0, len(order), length):
            part = order[begin : begin + length]
            rows = Rows(X[part].toarray(), missing, y[part], weight[part])
            total += self._call(rows, np.arange(len(part))[None], step + begin)[0]
        return total

    def _call(self, rows: Rows | SparseRows, orders: np.ndarray, step: float) -> np.ndarray:
        epochs = Epochs(orders, np.zeros(len(orders)), float(step))
        _compiled(self.loop)(self.rule, rows, epochs, self.prototypes, *self.metric)
        return epochs.costs

    def params(self) -> Params:
        """What has been learned so far."""
        W, relevance = self.prototypes.W, self.start.relevance
        W = W.T if self.loop == "sparse" else W.copy()
        W.flags.writeable = False  # no one else has it; the fitted model then needs no copy of its own
        if relevance is not None:
            learned = self.metric[0][0]
            if self.loop == "matrices":
                norms = np.linalg.norm(learned.astype(np.float64), axis=(1, 2), keepdims=True)
                learned = (learned / np.where(norms > 0, norms, 1)).astype(learned.dtype)
            relevance = learned.reshape(relevance.shape)
        return Params(W, relevance, None if self.start.width is None else self.prototypes.width[0])


def _loop_of(relevance: Relevance, cost: CostOrRule, *, masked: bool, sparse: bool) -> str:
    """The loop that fits the parts."""
    if isinstance(relevance, Matrix):
        return "matrices"
    if isinstance(relevance, WeightsRule | RuleWeights):
        return "weights"
    if sparse:
        return "sparse"
    return "weights" if masked or isinstance(cost, SoftCost | CrossEntropyCost) else "plain"


def _compiled(loop: str) -> Callable[..., None]:
    """Numba and the loop, imported when they are first needed."""
    function: Callable[..., None] = getattr(import_module(f"lvq.solvers.kernels.{loop}"), f"{loop}_epochs")
    return function


def cost_code(cost: CostOrRule) -> int:
    """The integer of a cost or rule; ValueError for one that the loops do not have."""
    if isinstance(cost, WinnerRule):
        return choices.OLVQ1 if cost.own_rates else choices.LVQ1
    if isinstance(cost, WindowRule):
        return choices.LVQ3 if cost.epsilon > 0 else choices.LVQ21
    codes: dict[type, int] = {
        GLVQCost: choices.GLVQ,
        MCECost: choices.MCE,
        LOGMCost: choices.LOGM,
        SNPCCost: choices.SNPC,
        RSLVQCost: choices.RSLVQ,
        CrossEntropyCost: choices.CROSS_ENTROPY,
    }
    return _code(codes, cost, "cost")


def link_code(link: Link) -> int:
    """The integer of a link."""
    codes: dict[type, int] = {
        Identity: choices.IDENTITY,
        Gaussian: choices.GAUSSIAN,
        Cauchy: choices.CAUCHY,
        InverseMultiquadric: choices.MULTIQUADRIC,
        RationalQuadratic: choices.RATIONAL,
    }
    return _code(codes, link, "kernel")


def relevance_code(relevance: Relevance) -> int:
    """The integer of a relevance rule."""
    if isinstance(relevance, Matrix):
        return choices.GRADIENT
    if isinstance(relevance, Hebbian):
        return choices.HEBBIAN_SQUARED if relevance.squared else choices.HEBBIAN
    codes: dict[type, int] = {
        Relevance: choices.FIXED,
        WeightsRule: choices.GRADIENT,
        FisherPrototypes: choices.FISHER1,
        FisherNeighbours: choices.FISHER2,
    }
    return _code(codes, relevance, "relevance")


def _code(codes: dict[type, int], part: object, name: str) -> int:
    try:
        return codes[type(part)]
    except KeyError:
        raise ValueError(
            f"solver='online' supports the {name}s {sorted(kind.__name__ for kind in codes)}, not "
            f"{type(part).__name__}; use solver='lbfgs' or 'adam' for a {name} of your own."
        ) from None


# The compiled loops check no bounds. The following functions check every size that the loops need.
def _check_model(
    objective: Objective, relevance: Relevance, params: Params, features: int, statistics: Statistics
) -> None:
    labels, R = np.asarray(objective.labels), params.relevance
    count, n_classes = len(labels), max(len(statistics.seen), int(labels.max()) + 1)
    expected: tuple[int, ...] | None = None
    if isinstance(relevance, Matrix):
        rank = R.shape[-2] if R is not None and R.ndim > 1 else 0
        groups = relevance.groups(labels)
        expected = (rank, features) if relevance.local is None else (len(groups) - 1, rank, features)
    elif isinstance(relevance, WeightsRule) and relevance.local is not None:
        expected = (len(relevance.groups(labels)) - 1, features)
    elif isinstance(relevance, WeightsRule | RuleWeights):
        expected = (features,)
    needed = new_statistics(relevance, objective.cost, (count, features), n_classes, 0.0)
    check_equal("prototypes", params.prototypes.shape, (count, features))
    check_equal("ascending labels", bool(labels[0] >= 0 and (np.diff(labels) >= 0).all()), True)
    check_equal("parameters of the metric", None if R is None else R.shape, expected)
    for name, found, wanted in zip(Statistics._fields, statistics, needed):
        check_equal(name, found.shape, wanted.shape)


def _check_rows(rows: Rows, features: int, n_classes: int) -> None:
    X, missing, y, weight = rows
    check_equal("samples", X.shape, (len(y), features))
    check_equal("missing values", missing.shape, (len(y) if len(missing) else 0, features))
    check_equal("weights", weight.shape, y.shape)
    check_equal("class indices", bool(y.min() >= 0 and y.max() < n_classes), True)


def check_equal(name: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise ValueError(
            f"The online solver was called with {name} that do not fit the model: got {found}, expected {wanted}. A "
            "part of the model has changed since it was fitted; call fit again."
        )
