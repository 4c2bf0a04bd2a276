"""Arrays and calls of the compiled loops for samples with missing values; `engine.py` has those of complete ones."""

import numpy as np

from lvq.model.objective import Objective, Params
from lvq.model.relevance import MatrixRelevance, Relevance
from lvq.solvers.engine import Engine, check_equal, check_rows
from lvq.solvers.state import Statistics


class IncompleteEngine(Engine):
    """The arrays of a loop that leaves out missing features.

    Parameters
    ----------
    objective, relevance, params, X, statistics, step
        As those of `Engine`; X is filled with finite numbers where values are missing.
    missing : ndarray of bool, shape of X
        Where values are missing.
    variances : ndarray of shape (n_features,)
        Variance of each feature.
    """

    def __init__(
        self,
        objective: Objective,
        relevance: Relevance,
        params: Params,
        X: np.ndarray,
        statistics: Statistics,
        step: float,
        missing: np.ndarray,
        variances: np.ndarray,
    ) -> None:
        self.missing = np.ascontiguousarray(missing, dtype=bool)
        self.variances = np.ascontiguousarray(variances, dtype=np.float64)
        check_equal("missing values", self.missing.shape, X.shape)
        check_equal("variances", self.variances.shape, (X.shape[1],))
        super().__init__(objective, relevance, params, X, statistics, step)

    def _lay_out(self, params: Params, sparse: bool) -> None:
        """Buffers for the loop that fits the parts."""
        dtype = self.dtype
        W = np.ascontiguousarray(params.prototypes, dtype=dtype)
        count, features = W.shape
        self.relevances = None if params.relevance is None else np.array(params.relevance, dtype=dtype, order="C")
        self.distances, self.derivatives = np.zeros(count, dtype=dtype), np.zeros(count)
        if isinstance(self.relevance, MatrixRelevance):
            self._lay_out_matrices(W)
            self.squares = np.zeros((len(self.omega), features))
            self.E, self.steps = np.zeros_like(self.W), np.zeros(count)
        else:
            self._lay_out_weights(W)
            self.gradients, self.known = np.zeros(self.weights.shape), np.zeros(features, dtype=dtype)
        self.fractions = np.ones((len(self.omega if self.loop.endswith("matrix") else self.weights), 2))

    def run(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Run the epochs of `orders`; the sum of costs of each."""
        check_rows(X, y, weight, orders, self.W.shape[1], len(self.starts) - 1)
        check_equal("missing values", self.missing.shape, X.shape)
        costs = np.zeros(len(orders))
        common = (self.rule, X, self.missing, y, weight, orders, costs, self.step, self.W, self.starts, self.width)
        if self.loop == "weighted":
            from lvq.solvers.kernels.incomplete_weights import incomplete_weight_epochs

            incomplete_weight_epochs(
                *common, self.weights, self.owner, self.variances, self.distances, self.derivatives, self.gradients,
                self.fractions, self.known, self.statistics,
            )  # fmt: skip
        else:
            from lvq.solvers.kernels.incomplete_matrices import incomplete_matrix_epochs

            incomplete_matrix_epochs(
                *common, self.omega, self.groups, self.variances, self.distances, self.derivatives, self.scales,
                self.squares, self.fractions, self.E, self.P, self.steps, self.wide,
            )  # fmt: skip
        self.step += float(orders.size)
        return costs
