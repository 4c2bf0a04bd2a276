"""Estimators with a cost: they can learn sample by sample, by L-BFGS, or by Adam; a shared matrix can transform."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lvq.estimators import training as steps
from lvq.estimators.base import BaseLVQ, unchanged_on_error
from lvq.estimators.parameters import estimator
from lvq.estimators.tensors import floating, require_torch, same_kind
from lvq.estimators.training import Parts, Training
from lvq.estimators.validation import as_prices, check_labelled, planned_relevance
from lvq.model.arrays import as_numpy, is_tensor
from lvq.model.metrics import Matrix
from lvq.model.objective import Params
from lvq.model.relevance import MatrixRelevance, Relevance
from lvq.model.samples import ArraySamples
from lvq.solvers.adam import Adam
from lvq.solvers.batch import Problem
from lvq.solvers.progress import Report
from lvq.solvers.state import Result

TOLERANCE = 1e-5  # of L-BFGS where tol is None


def _has_shared_matrix(estimator: Any) -> bool:
    """Whether the fitted model, or the one to be fitted, has one matrix for all prototypes."""
    if hasattr(estimator, "model_"):
        return isinstance(estimator.model_.metric, Matrix)
    relevance = planned_relevance(estimator)
    return isinstance(relevance, MatrixRelevance) and relevance.local is None


@estimator
class CostBasedLVQ(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseLVQ):
    """Base of the models that minimise a cost."""

    schedule: str = "linear"
    alpha: float = 0.0
    solver: str = "auto"
    step: str = "scaled"
    batch_size: int = 256
    validation_fraction: float = 0.0
    device: str | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if not _has_shared_matrix(self):
            tags.transformer_tags = None
        return tags

    def _prices(self) -> np.ndarray | None:
        return None if getattr(self, "cost_matrix", None) is None else as_prices(self)

    def _solver(self, relevance: Relevance) -> str:
        """The solver; "auto" takes L-BFGS wherever it can be used."""
        if self.solver != "auto":
            return self.solver
        needs_online = not relevance.smooth or self.step != "scaled" or getattr(self, "slope", None) == "time"
        return "online" if needs_online else "lbfgs"

    def _batch(self) -> Adam:
        return Adam(
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            schedule=self.schedule,
            max_iter=self.max_iter,
            tol=self.tol,
            n_iter_no_change=self.n_iter_no_change,
            validation_fraction=self.validation_fraction,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to samples.

        Parameters
        ----------
        X : array-like or torch tensor of shape (n_samples, n_features)
            Samples. Tensors are used on their device; the start is computed on the host.
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
        with unchanged_on_error(self):
            device = str(X.device) if is_tensor(X) else self.device
            if device is not None:
                require_torch(device)
            if is_tensor(X):
                X = floating(X, np.dtype(np.float32), type(self).__name__)
            return self._fit(as_numpy(X), as_numpy(y), as_numpy(sample_weight), device)

    def _train(
        self, parts: Parts, training: Training, samples: ArraySamples, report: Report
    ) -> tuple[Training, Result]:
        if parts.solver == "online":
            return super()._train(parts, training, samples, report)
        tol = TOLERANCE if self.tol is None else self.tol
        training, result = steps.run_batch(parts, training, samples, report, tol)
        if parts.solver == "lbfgs" and not result.converged and _still_falling(result.history):
            self._warn_not_converged(result, tol)
        return training, result

    def objective_value(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The mean cost of samples in the fitted model, with its penalty: what the batch solvers minimise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights; `class_weight` is applied as in `fit`.

        Returns
        -------
        value : float
            The objective.
        """
        check_is_fitted(self)
        X, labels, weight = check_labelled(self, as_numpy(X), as_numpy(y), as_numpy(sample_weight))
        samples, training = ArraySamples(X, labels, weight), self._training()
        centre = samples.centre()
        problem = Problem(training.objective(), training.state.relevance)
        free = problem.free(Params(training.params.prototypes - centre, training.params.relevance))
        return float(problem.value_and_gradient(free, samples.arranged(centre))[0])

    def transform(self, X: Any) -> Any:
        """Map samples to the space in which the model measures: ``X @ omega_.T``; with one matrix for all prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X_new : ndarray of shape (n_samples, rank)
            Their images.
        """
        inputs = as_numpy(self._inputs(as_numpy(X)))
        return same_kind(self.model_.images(inputs), X)

    def fit_transform(self, X: Any, y: Any, **fit_params: Any) -> Any:
        """Fit the model, then transform the same samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        **fit_params : dict
            Further arguments of `fit`.

        Returns
        -------
        X_new : ndarray of shape (n_samples, rank)
            Their images.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of `transform`: the name of the class, in lower case, with their numbers.

        Parameters
        ----------
        input_features : array-like of str, optional
            Not used; for scikit-learn's convention.

        Returns
        -------
        names : ndarray of str
            Names of the transformed features.
        """
        return super().get_feature_names_out(input_features)

    @property
    def _n_features_out(self) -> int:
        return self.omega_.shape[0]

    def _warn_not_converged(self, result: Result, tol: float) -> None:
        warnings.warn(
            f"{type(self).__name__}: lbfgs stopped after {result.n_iter} iterations, before the relative change of the "
            f"objective ({result.history[-1]:.5g}) fell below tol={tol:g}. Increase max_iter (now {self.max_iter}) or "
            "tol, or scale the features to unit variance.",
            ConvergenceWarning,
            stacklevel=5,  # the call of fit
        )


# scikit-learn wraps `transform` when the class is made, so the condition comes after
for _name in ("transform", "fit_transform", "get_feature_names_out"):
    setattr(CostBasedLVQ, _name, available_if(_has_shared_matrix)(getattr(CostBasedLVQ, _name)))


def _still_falling(history: list[float]) -> bool:
    """Whether the last tenth of the iterations brought more than a hundredth of the whole fall."""
    if len(history) < 2:
        return True
    late = history[-max(2, len(history) // 10)]
    return late - history[-1] > 0.01 * (history[0] - history[-1])
