"""The arrays that the compiled loops work on, their sizes, and the calls of the loops."""

from importlib import import_module

import numpy as np

from lvq.model import costs, links, relevance
from lvq.model.objective import Objective, Params
from lvq.model.relevance import Matrix, Relevance
from lvq.model.rows import is_sparse
from lvq.solvers.kernels import rule as choices
from lvq.solvers.kernels.rule import LearnedMetric, Prototypes, Rows, Rule, SparseRows
from lvq.solvers.state import Statistics, new_statistics
from lvq.typing import Argument

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
}
KERNELS: dict[type, int] = {
    links.Identity: choices.IDENTITY,
    links.Gaussian: choices.GAUSSIAN,
    links.Cauchy: choices.CAUCHY,
    links.InverseMultiquadric: choices.MULTIQUADRIC,
    links.RationalQuadratic: choices.RATIONAL,
}
RELEVANCES: dict[type, int] = {
    relevance.Relevance: choices.FIXED,
    relevance.Weights: choices.GRADIENT,
    relevance.Matrix: choices.GRADIENT,
    relevance.Hebbian: choices.HEBBIAN,
    relevance.FisherPrototypes: choices.FISHER1,
    relevance.FisherNeighbours: choices.FISHER2,
}


def code_of(codes: dict[type, int], part: object, name: str) -> int:
    """The integer of a part; ValueError for one that the loops do not have."""
    if type(part) not in codes:
        raise ValueError(
            f"solver='online' supports the {name}s {sorted(kind.__name__ for kind in codes)}, not "
            f"{type(part).__name__}; use solver='lbfgs' or 'adam' for a {name} of your own."
        )
    return codes[type(part)]


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
    rule : Rule
        What a step does.
    """

    def __init__(
        self,
        objective: Objective,
        relevance: Relevance,
        params: Params,
        rows: Rows,
        statistics: Statistics,
        variances: np.ndarray | None,
        rule: Rule,
    ) -> None:
        labels, n_features, masked = np.asarray(objective.labels), rows.X.shape[1], len(rows.observed) > 0
        variances = np.array(variances, dtype=np.float64) if masked else np.ones(n_features)
        groups = np.array(getattr(relevance, "groups", lambda _: (0, len(labels)))(labels), dtype=np.int64)
        _check_sizes(objective, relevance, params, rows, statistics, variances, groups)
        self.start, self.rows, self.rule, self.statistics = params, rows, rule, statistics
        self.loop = _loop_of(rule, relevance, sparse=is_sparse(rows.X), masked=masked)
        starts = np.searchsorted(labels, np.arange(labels.max() + 2)).astype(np.int64)
        width = float(getattr(objective.link, "width", 1.0) if params.width is None else params.width)
        limits = np.array([width, 1e-3 * width, 1e3 * width])
        self.prototypes = Prototypes(self._weights(), starts, limits, statistics)
        self.metric: tuple[LearnedMetric, ...] = ()
        if self.loop in ("weights", "matrices"):
            R = np.ones(n_features) if params.relevance is None else params.relevance
            shape = R.shape[-2:] if self.loop == "matrices" else R.shape[-1:]
            R = np.array(R, dtype=rows.X.dtype, order="C").reshape(-1, *shape)
            self.metric = (LearnedMetric(R, groups, variances),)

    def _weights(self) -> np.ndarray:
        """A copy of the prototypes; sparse ones, which may be large, are used themselves where that is possible."""
        W, dtype = self.start.prototypes, self.rows.X.dtype
        if self.loop != "sparse":
            return np.array(W, dtype=dtype, order="C")
        usable = W.flags.writeable and W.T.flags.c_contiguous and W.dtype == dtype
        return W.T if usable else np.array(W.T, dtype=dtype, order="C")

    def epoch(self, order: np.ndarray, step: float) -> float:
        """Run an epoch after a number of steps: the sum of the costs."""
        X, observed, y, weight = self.rows
        if not is_sparse(X):
            return self._call(self.rows, order, step)
        if self.loop == "sparse":
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
        function: Argument = getattr(import_module(f"lvq.solvers.kernels.{self.loop}"), f"{self.loop}_epoch")
        return float(function(self.rule, rows, order, step, self.prototypes, *self.metric))

    def params(self) -> Params:
        """What has been learned so far."""
        W, start = self.prototypes.W, self.start
        W.flags.writeable = False  # no one else has it; the fitted model then needs no copy of its own
        R = None if start.relevance is None else self.metric[0].R.reshape(start.relevance.shape)
        width = None if start.width is None else float(self.prototypes.width[0])
        return Params(W.T if self.loop == "sparse" else W, R, width)


def _loop_of(rule: Rule, relevance: Relevance, *, sparse: bool, masked: bool) -> str:
    """The loop of a model, by the shape of its metric, its cost and its samples."""
    if isinstance(relevance, Matrix):
        return "matrices"
    if type(relevance) is not Relevance:
        return "weights"
    if sparse:
        return "sparse"
    return "weights" if masked or rule.cost > choices.PAIR_COSTS else "plain"


def _check_sizes(
    objective: Objective,
    relevance: Relevance,
    params: Params,
    rows: Rows,
    statistics: Statistics,
    variances: np.ndarray,
    groups: np.ndarray,
) -> None:
    """The compiled loops check no bounds; here is every size that they need."""
    labels, R, n_features = np.asarray(objective.labels), params.relevance, rows.X.shape[1]
    n_rows, n_classes = len(rows.y), int(labels.max()) + 1
    shape = (len(labels), n_features)
    R_shape: tuple[int, ...] | None = None if type(relevance) is Relevance else (n_features,)
    if isinstance(relevance, Matrix):
        R_shape = (R.shape[-2] if R is not None and R.ndim > 1 else 0, n_features)
    if R_shape is not None and getattr(relevance, "local", None) is not None:
        R_shape = (len(groups) - 1, *R_shape)
    expected = new_statistics(relevance, objective.cost, shape, max(len(statistics.seen), n_classes), 0.0)
    sizes = {
        "prototypes": (params.prototypes.shape, shape),
        "ascending labels": (bool(labels[0] >= 0 and (np.diff(labels) >= 0).all()), True),
        "parameters of the metric": (None if R is None else R.shape, R_shape),
        "samples": (rows.X.shape, (n_rows, n_features)),
        "missing values": (rows.observed.shape, (n_rows if len(rows.observed) else 0, n_features)),
        "weights": (rows.weight.shape, (n_rows,)),
        "class indices": (bool(rows.y.min() >= 0 and rows.y.max() < n_classes), True),
        "variances": (variances.shape, (n_features,)),
        **{name: (found.shape, wanted.shape) for name, found, wanted in zip(Statistics._fields, statistics, expected)},
    }
    for name, (found, wanted) in sizes.items():
        if found != wanted:
            raise ValueError(
                f"The online solver was called with {name} that do not fit the model: got {found}, expected {wanted}. "
                "A part of the model has changed since it was fitted; call fit again."
            )
