"""Estimators with a cost: they can learn sample by sample, by L-BFGS, or by Adam; a shared matrix can transform."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.base import BaseLVQ
from lvq.estimators.over_partitions import by_partition
from lvq.estimators.parameters import estimator
from lvq.estimators.part_checks import as_prices
from lvq.estimators.sample_prototypes import objective_value
from lvq.estimators.tensor_checks import labelled_tensors
from lvq.estimators.tensors import floating
from lvq.estimators.validation import check_labelled
from lvq.model.arrays import as_numpy, is_tensor
from lvq.model.incomplete_samples import samples_of
from lvq.model.metrics import Matrix
from lvq.model.relevance import MatrixRelevance, Relevance
from lvq.solvers.adam import Adam
from lvq.typing import Array


def planned_relevance(estimator: BaseEstimator) -> Relevance | None:
    """The rule given by the parameters of an estimator; None where `fit` will raise an error."""
    try:
        return estimator._relevance()
    except (KeyError, TypeError, ValueError):
        return None


def _has_shared_matrix(estimator: BaseEstimator) -> bool:
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
    missing: Literal["raise", "ignore"] = "raise"
    sample_prototypes: bool = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if not _has_shared_matrix(self):
            tags.transformer_tags = None
        return tags

    def _prices(self) -> np.ndarray | None:
        return None if getattr(self, "cost_matrix", None) is None else as_prices(self)

    def _solver(self, relevance: Relevance) -> str:
        """The solver; "auto" takes L-BFGS wherever it can be used, except for many sparse features (`_parts_for`)."""
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

    def objective_value(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
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
        variances = self.model_.variances
        if is_tensor(X) and variances is None:
            X = floating(X, self.model_.dtype, type(self).__name__)
            checked = labelled_tensors(self, X, y, sample_weight)
        else:
            checked = check_labelled(self, as_numpy(X), as_numpy(y), as_numpy(sample_weight))
        return objective_value(self._training(), samples_of(*checked))

    @by_partition
    def transform(self, X: ArrayLike) -> Array:
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
        inputs = self._inputs(X)
        images = self.model_.images(inputs)
        return images if is_tensor(X) else as_numpy(images)

    def fit_transform(self, X: ArrayLike, y: ArrayLike, **fit_params: ArrayLike | None) -> Array:
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

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
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


# scikit-learn wraps `transform` when the class is made, so the condition comes after
for _name in ("transform", "fit_transform", "get_feature_names_out"):
    setattr(CostBasedLVQ, _name, available_if(_has_shared_matrix)(getattr(CostBasedLVQ, _name)))
