"""Estimators with a cost: they can learn sample by sample, by L-BFGS, or by Adam."""

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.base import BaseLVQ, Parts
from lvq.estimators.parameters import estimator
from lvq.estimators.tensors import as_numpy, is_tensor, on_device, require_torch
from lvq.estimators.validation import (
    as_prices,
    at_least_one,
    below_one,
    check_samples,
    not_negative,
    step_constraint,
    strings,
    too_large,
)
from lvq.model.arrays import round_centre
from lvq.model.objective import Params
from lvq.solvers import adam, lbfgs
from lvq.solvers.batch import Data, Problem, lay_out
from lvq.solvers.online import Result
from lvq.solvers.progress import progress_bar, silent

SOLVERS = ("auto", "lbfgs", "adam", "online")
TOLERANCE = 1e-5  # of L-BFGS where tol is None


@estimator
class GradientLVQ(BaseLVQ):
    """Base of the models with a cost: they follow its gradient."""

    _parameter_constraints = BaseLVQ._parameter_constraints | {
        "alpha": [not_negative],
        "solver": [strings(*SOLVERS)],
        "step": step_constraint,
        "batch_size": [at_least_one],
        "validation_fraction": [below_one],
        "cost_matrix": ["array-like", None],
        "device": [str, None],
    }

    alpha: float = 0.0
    solver: str = "auto"
    step: str = "scaled"
    batch_size: int = 256
    validation_fraction: float = 0.0
    cost_matrix: Any = None
    device: str | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn prototypes from samples.

        Parameters
        ----------
        X : array-like or torch tensor of shape (n_samples, n_features)
            Samples. Tensors are learned from where they lie; the start is found on the host.
        y : array-like or torch tensor of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples; with lbfgs a weight is exactly a number of copies. Online it is the factor of each
            sample's step, after division by their mean. A sample of weight 0 is left out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._place = str(X.device) if is_tensor(X) else self.device
        if self._place is not None:
            require_torch(self._place)
        return super().fit(as_numpy(X), as_numpy(y), as_numpy(sample_weight))

    def _distances(self, X: Any) -> Any:
        """Squared distances of samples to prototypes; of tensors, and with a `device`, computed there."""
        place = str(X.device) if is_tensor(X) else self.device
        if place is None:
            return super()._distances(X)
        check_is_fitted(self)
        X = X.detach() if is_tensor(X) else X
        if not is_tensor(X):
            X = on_device(check_samples(self, X), place)
        elif X.ndim != 2 or X.shape[1] != self.n_features_in_ or not X.isfinite().all() or too_large(X):
            check_samples(self, as_numpy(X))  # words the error
        if not X.is_floating_point():
            X = X.to(on_device(self._params.prototypes, place).dtype)
        W = on_device(self._params.prototypes, place).to(X.dtype)
        R = self._params.relevance
        return self._metric.distances(X, W, None if R is None else on_device(R, place).to(X.dtype))

    def _prices(self) -> np.ndarray | None:
        return None if self.cost_matrix is None else as_prices(self)

    def _solver(self, parts: Parts) -> str:
        """The solver; "auto" takes L-BFGS wherever it can be used."""
        if self.solver != "auto":
            return self.solver
        needs_online = not parts.relevance.smooth or self.step != "scaled" or getattr(self, "slope", None) == "time"
        return "online" if needs_online else "lbfgs"

    def _train(
        self, parts: Parts, X: np.ndarray, y: np.ndarray, weight: np.ndarray, random_state: Any, *, stream: bool
    ) -> Result:
        solver = self._solver(parts)
        if stream or solver == "online":
            return super()._train(parts, X, y, weight, random_state, stream=stream)
        centre = round_centre(X)
        objective = self._objective_for(parts, self._labels, self._link)
        problem = Problem(objective, parts.relevance, float(np.sqrt(self._units.step)))
        start = Params(
            self._params.prototypes - centre,
            self._params.relevance,
            self._params.width if self.kernel_width == "learned" else None,
        )
        data = lay_out(X, y, weight, centre)
        if self._place is not None:
            problem, start, data = self._moved(problem, start, data)
        report = progress_bar(type(self).__name__, self.max_iter) if self.verbose else silent
        if solver == "lbfgs":
            tol = TOLERANCE if self.tol is None else self.tol
            result = lbfgs.train(problem, start, data, self.max_iter, tol, report)
            if not result.converged and _still_falling(result.history):
                self._warn_not_converged(result, tol)
        else:
            result = adam.train(problem, start, data, self._adam(), random_state, report)
        W, R, learned = (as_numpy(part) for part in result.params)
        width = self._params.width if learned is None else float(learned)
        self._store(Params(W + centre, R, width), self._labels)
        return result

    def _moved(self, problem: Problem, start: Params, data: Data) -> tuple[Problem, Params, Data]:
        """Everything on the device."""
        place = str(self._place)
        objective = problem.objective
        cost: Any = objective.cost
        if getattr(cost, "prices", None) is not None:
            cost = replace(cost, prices=on_device(cost.prices, place))
        moved = replace(objective, cost=cost, labels=on_device(objective.labels, place))
        params = Params(on_device(start.prototypes, place), on_device(start.relevance, place), start.width)
        return replace(problem, objective=moved), params, Data(*(on_device(part, place) for part in data))

    def objective_value(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The mean cost of samples in the fitted model, with its penalty: what the batch solvers make small.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        value : float
            The objective.
        """
        check_is_fitted(self)
        X, y = check_samples(self, as_numpy(X)), np.asarray(as_numpy(y))
        if not np.isin(y, self.classes_).all():
            raise ValueError(
                f"y of {type(self).__name__}.objective_value contains {np.setdiff1d(y, self.classes_).tolist()}, not "
                f"among the classes {self.classes_.tolist()}."
            )
        labels = np.searchsorted(self.classes_, y)
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        parts, centre = self._parts(), round_centre(X)
        problem = Problem(self._objective_for(parts, self._labels, self._link), parts.relevance)
        free = problem.free(Params(self._params.prototypes - centre, self._params.relevance))
        return float(problem.value_and_gradient(free, lay_out(X, labels, weight, centre))[0])

    def _adam(self) -> adam.Adam:
        return adam.Adam(
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            schedule=self.schedule,
            max_iter=self.max_iter,
            tol=self.tol,
            n_iter_no_change=self.n_iter_no_change,
            validation_fraction=self.validation_fraction,
        )

    def _warn_not_converged(self, result: Result, tol: float) -> None:
        warnings.warn(
            f"{type(self).__name__}: lbfgs stopped after {result.n_iter} iterations, before the objective "
            f"({result.history[-1]:.5g}) settled to a relative change of tol={tol:g}. Raise max_iter "
            f"(now {self.max_iter}) or tol, or scale the features to unit variance.",
            ConvergenceWarning,
            stacklevel=3,
        )


def _still_falling(history: list[float]) -> bool:
    """Whether the last tenth of the iterations brought more than a hundredth of the whole fall."""
    if len(history) < 2:
        return True
    late = history[-max(2, len(history) // 10)]
    return late - history[-1] > 0.01 * (history[0] - history[-1])
