"""The arrays that the compiled loops work on, their sizes, and the calls of the loops."""

import numpy as np

from lvq.model.costs import (
    SoftCost,
    WindowRule,
    WinnerRule,
)
from lvq.model.metrics import LocalMetric
from lvq.model.objective import Objective, Params
from lvq.model.relevance import (
    GradientRelevance,
    LocalDiagonalRelevance,
    MatrixRelevance,
    Relevance,
    VectorRelevance,
)
from lvq.model.sparse_rows import is_sparse, row_squares
from lvq.solvers.kernels import rule as choices
from lvq.solvers.online_rule import SCHEDULES, Online, cost_code, link_code, relevance_code
from lvq.solvers.state import Statistics, Units, new_statistics
from lvq.typing import Array

FILLED_BYTES = 2**20  # of sparse rows that are dense at a time, where a step changes every feature


class Engine:
    """The arrays one of the compiled loops works on, for one run."""

    def __init__(
        self,
        objective: Objective,
        relevance: Relevance,
        params: Params,
        X: np.ndarray,
        statistics: Statistics,
        step: float,
    ) -> None:
        self.objective, self.relevance = objective, relevance
        self.statistics, self.step = statistics, step
        _check_arrays(objective, relevance, params, X.shape[1], statistics)
        self.dtype = X.dtype
        labels = np.asarray(objective.labels)
        self.count = len(labels)
        self.starts = np.searchsorted(labels, np.arange(labels.max() + 2)).astype(np.int64)
        width = float(getattr(objective.link, "width", 1.0) if params.width is None else params.width)
        self.learns_width = params.width is not None
        self.width = np.array([width, 1e-3 * width, 1e3 * width])
        self.radius = sum(float(row_squares(rows).max()) for rows in (X, params.prototypes))
        self.soft = isinstance(objective.cost, SoftCost)
        self._lay_out(params, is_sparse(X))

    def _lay_out(self, params: Params, sparse: bool) -> None:
        """Buffers for the loop that fits the parts."""
        dtype, count = self.dtype, self.count
        by_stored_features = sparse and self._by_stored_features()
        W = params.prototypes if by_stored_features else np.ascontiguousarray(params.prototypes, dtype=dtype)
        self.relevances = None if params.relevance is None else np.array(params.relevance, dtype=dtype, order="C")
        self.distances = np.zeros(count, dtype=dtype)
        self.bits = self.distances.view(np.int32 if dtype == np.float32 else np.int64)
        padded = -(-count // 16) * 16  # whole vectors for the search
        self.keys = np.full(padded, np.iinfo(np.int64).max)
        self.derivatives = np.zeros(count)
        if isinstance(self.relevance, MatrixRelevance):
            self._lay_out_matrices(W)
        elif by_stored_features:
            self._lay_out_sparse(W)
        elif isinstance(self.relevance, VectorRelevance | LocalDiagonalRelevance) or self.soft:
            self._lay_out_weights(W)
        else:
            self._lay_out_plain(W)

    def _lay_out_matrices(self, W: np.ndarray) -> None:
        dtype, (count, features) = self.dtype, W.shape
        self.loop = "soft_matrix" if self.soft else "matrix"
        assert isinstance(self.relevance, MatrixRelevance)
        groups = self.relevance.groups(np.asarray(self.objective.labels))
        self.omega = np.ascontiguousarray(np.array(self.relevances, ndmin=3))
        self.groups = np.array(groups, dtype=np.int64)
        rank = self.omega.shape[1]
        self.P = np.zeros((count, rank), dtype=dtype)
        self.scales = np.ones(len(groups) - 1)
        self.z = np.zeros((len(groups) - 1, rank), dtype=dtype)
        self.wide, self.tall = np.zeros((5, features), dtype=dtype), np.zeros((6, rank), dtype=dtype)
        self.W = W.copy()

    def _lay_out_sparse(self, W: np.ndarray) -> None:
        count, features = W.shape
        self.loop = "sparse"
        usable = W.flags.writeable and W.T.flags.c_contiguous and W.dtype == self.dtype
        self.V = W.T if usable else np.array(W.T, dtype=self.dtype, order="C")  # one array at a time: it may be large
        self.W = self.V.T
        self.distances, self.dots = np.zeros(count), np.zeros(count)
        self.lengths, self.scales = np.zeros(count), np.ones(count)
        self.gradient = np.zeros(0 if self.relevances is None else features)
        self.plain_lengths, self.squares = np.zeros(count), np.zeros(count)

    def _lay_out_weights(self, W: np.ndarray) -> None:
        dtype, (count, features) = self.dtype, W.shape
        self.loop = "weighted"
        self.W = W.copy()
        weights = np.ones(features, dtype=dtype) if self.relevances is None else self.relevances
        self.weights = weights.reshape(-1, features)  # a view: the loop changes the relevances in place
        metric = self.objective.metric
        self.owner = metric.group if isinstance(metric, LocalMetric) else np.zeros(count, dtype=np.int64)
        self.scratch = np.zeros((2, features))

    def _lay_out_plain(self, W: np.ndarray) -> None:
        dtype, (count, features) = self.dtype, W.shape
        self.loop = "plain"
        # eight samples ahead while the prototypes stay in the cache; many more where they do not
        block = 8 if W.nbytes <= 2**19 else 64
        buffer = np.zeros((count + block, features), dtype=dtype)
        buffer[:count] = W
        self.buffer, self.W = buffer, buffer[:count]
        self.products = np.zeros((block, count + block), dtype=dtype)

    def _by_stored_features(self) -> bool:
        """Whether a step on a sparse sample needs its stored features alone."""
        if isinstance(self.relevance, GradientRelevance):
            return self.relevance.every > 1 and not self.relevance.weighted_step
        return not isinstance(self.relevance, VectorRelevance | LocalDiagonalRelevance)

    def set_rule(self, settings: Online, units: Units, horizon: int) -> None:
        """Fill in every number the compiled code needs."""
        cost, link, relevance = self.objective.cost, self.objective.link, self.relevance
        is_rule = isinstance(cost, WinnerRule | WindowRule)
        rate = settings.learning_rate
        if settings.step == "scaled" and not is_rule:
            rate *= units.step
        limit = 1e30 if self.dtype == np.float32 else 1e200
        self.rule = choices.Rule(
            cost=cost_code(cost),
            link=link_code(link),
            relevance=relevance_code(relevance),
            schedule=SCHEDULES.index(settings.schedule),
            horizon=float(horizon),
            rate=float(rate),
            relevance_rate=float(settings.relevance_rate) * self._relevance_unit(),
            width_rate=float(settings.width_rate) if self.learns_width else 0.0,
            shape=float(getattr(link, "shape", 1.0)),
            slope=choices.TIME if settings.time_slope else float(getattr(cost, "slope", 0.0)),
            xi=float(getattr(cost, "xi", 1.0)),
            alpha=float(getattr(cost, "alpha", 0.0)),
            window=float(getattr(cost, "window", 0.0)),
            epsilon=float(getattr(cost, "epsilon", 0.0)),
            relative=settings.step == "relative",
            weighted_step=bool(relevance.weighted_step),
            every=int(getattr(relevance, "every", 1)),
            by_maximum=getattr(relevance, "scores", "sum") == "max",
            two_classes=getattr(relevance, "rivals", "all") == "nearest",
            between_alone=getattr(relevance, "no_variance", "zero") == "between",
            even_classes=getattr(relevance, "classes", "fractions") == "even",
            reach=min(1e12 * self.radius, limit),
            key_shift=32 if self.dtype == np.float32 else 0,
            index_mask=(1 << self.count.bit_length()) - 1,
        )

    def _relevance_unit(self) -> float:
        """Where relevances change rarely, steps are those of lambda times n, which starts at 1 for every n."""
        return 1.0 if getattr(self.relevance, "every", 1) == 1 else self.W.shape[1] ** -2.0

    def run(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Run the epochs of `orders`; the sum of costs of each."""
        check_rows(X, y, weight, orders, self.W.shape[1], len(self.starts) - 1)
        if is_sparse(X):
            return self._run_sparse(X, y, weight, orders)
        costs = np.zeros(len(orders))
        common = (self.rule, X, y, weight, orders, costs, self.step)
        if self.loop == "plain":
            lengths = np.square(self.W).sum(axis=1)
            from lvq.solvers.kernels.plain import plain_epochs

            plain_epochs(
                *common, self.buffer, self.starts, self.width, self.products, self.distances, self.bits, self.keys,
                lengths, self.statistics,
            )  # fmt: skip
        elif self.loop == "weighted":
            from lvq.solvers.kernels.weighted import weighted_epochs

            weighted_epochs(
                *common, self.W, self.starts, self.width, self.weights, self.owner, self.distances, self.derivatives,
                self.statistics, self.scratch,
            )  # fmt: skip
        elif self.loop == "matrix":
            from lvq.solvers.kernels.matrices import matrix_epochs

            matrix_epochs(
                *common, self.W, self.starts, self.width, self.omega, self.groups, self.distances, self.bits, self.keys,
                self.P, self.scales, self.z, self.wide, self.tall,
            )  # fmt: skip
        else:
            from lvq.solvers.kernels.matrices import soft_matrix_epochs

            soft_matrix_epochs(
                *common, self.W, self.starts, self.width, self.omega, self.groups, self.distances, self.derivatives,
                self.P, self.scales, self.z,
            )  # fmt: skip
        self.step += float(orders.size)
        return costs

    def _run_sparse(self, X: Array, y: np.ndarray, weight: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """The same for sparse rows; where a step changes every feature, some rows are filled at a time."""
        if self.loop == "sparse":
            costs = np.zeros(len(orders))
            common = (self.rule, X.data, X.indices, X.indptr, y, weight, orders, costs, self.step, self.V, self.scales)
            if self.relevances is None:
                from lvq.solvers.kernels.sparse import sparse_epochs

                sparse_epochs(
                    *common, self.lengths, self.starts, self.width, self.dots, self.distances, self.derivatives,
                    self.statistics,
                )  # fmt: skip
            else:
                from lvq.solvers.kernels.sparse_relevances import sparse_relevance_epochs

                sparse_relevance_epochs(
                    *common, self.relevances, self.lengths, self.plain_lengths, self.squares, self.gradient,
                    self.starts, self.width, self.dots, self.distances, self.derivatives,
                )  # fmt: skip
            self.step += float(orders.size)
            return costs
        rows = max(1, FILLED_BYTES // (X.shape[1] * X.dtype.itemsize))
        return np.array(
            [
                sum(
                    self.run(X[part].toarray(), y[part], weight[part], np.arange(len(part))[None])[0]
                    for part in np.split(order, range(rows, len(order), rows))
                )
                for order in orders
            ]
        )

    def params(self) -> Params:
        """What has been learned so far."""
        relevance = self.relevances
        if self.loop.endswith("matrix"):
            norms = np.linalg.norm(self.omega.astype(np.float64), axis=(1, 2), keepdims=True)
            omega = (self.omega / np.where(norms > 0, norms, 1)).astype(self.dtype)
            assert relevance is not None
            relevance = omega.reshape(relevance.shape)
        W = self.W if self.loop == "sparse" else self.W.copy()
        W.flags.writeable = False  # no one else has it; the fitted model then needs no copy of its own
        return Params(W, relevance, self.width[0] if self.learns_width else None)


# The compiled loops check no bounds. The following two functions check every size that the loops need, immediately
# before they are called.
def _check_arrays(
    objective: Objective, relevance: Relevance, params: Params, features: int, statistics: Statistics
) -> None:
    labels, R = np.asarray(objective.labels), params.relevance
    count, n_classes = len(labels), max(len(statistics.seen), int(labels.max()) + 1)
    expected: tuple[int, ...] | None = None
    if isinstance(relevance, MatrixRelevance):
        rank = R.shape[-2] if R is not None and R.ndim > 1 else 0
        groups = relevance.groups(labels)
        expected = (rank, features) if relevance.local is None else (len(groups) - 1, rank, features)
    elif isinstance(relevance, LocalDiagonalRelevance):
        expected = (len(relevance.groups(labels)) - 1, features)
    elif isinstance(relevance, VectorRelevance):
        expected = (features,)
    needed = new_statistics(relevance, objective.cost, (count, features), n_classes, 0.0)
    check_equal("prototypes", params.prototypes.shape, (count, features))
    check_equal("ascending labels", bool(labels[0] >= 0 and (np.diff(labels) >= 0).all()), True)
    check_equal("parameters of the metric", None if R is None else R.shape, expected)
    for name, found, wanted in zip(Statistics._fields, statistics, needed):
        check_equal(name, found.shape, wanted.shape)


def check_rows(
    X: np.ndarray, y: np.ndarray, weight: np.ndarray, orders: np.ndarray, features: int, n_classes: int
) -> None:
    check_equal("samples", X.shape, (len(y), features))
    check_equal("weights", weight.shape, y.shape)
    check_equal("class indices", bool(y.min() >= 0 and y.max() < n_classes), True)
    check_equal("orders", (orders.shape[1], bool(orders.min() >= 0 and orders.max() < len(y))), (len(y), True))


def check_equal(name: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise ValueError(
            f"The online solver was called with {name} that do not fit the model: got {found}, expected {wanted}. A "
            "part of the model has changed since it was fitted; call fit again."
        )
