"""Old names that other modules still import from `lvq.robustness`; to be deleted with the last importer."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.base import BaseLVQ
from lvq.linear_maps import Floats
from lvq.model.metrics import Diagonal, Euclidean, LocalMatrix, Matrix


class Found(NamedTuple):
    """A nearest-prototype model and the fitted transformers its samples pass through before they reach it."""

    model: BaseLVQ
    steps: tuple[Any, ...]

    def inputs(self, X: Any) -> Any:
        """What reaches the model."""
        for step in self.steps:
            X = step.transform(X)
        return X


def find_model(estimator: Any) -> Found | None:
    """The model that gives an estimator's answers: itself, or the end of a pipeline, a search, a frozen or a wary one.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> find_model(make_pipeline(StandardScaler(), GLVQ()))
    Found(model=GLVQ(), steps=(StandardScaler(),))
    """
    if isinstance(estimator, BaseLVQ):
        return Found(estimator, ())
    if isinstance(estimator, FrozenEstimator):
        return find_model(estimator.estimator)
    if isinstance(estimator, Pipeline):
        last = find_model(estimator.steps[-1][1])
        return last and Found(last.model, _transformers(estimator.steps[:-1]) + last.steps)
    for name in ("best_estimator_", "predicting_estimator"):  # a search; a RejectClassifier
        if hasattr(estimator, name):
            return find_model(getattr(estimator, name))
    return None


def last_step(estimator: Any) -> Any:
    """The classifier at the end of pipelines, searches and frozen ones, of whatever library."""
    if isinstance(estimator, Pipeline):
        return last_step(estimator.steps[-1][1])
    if isinstance(estimator, FrozenEstimator):
        return last_step(estimator.estimator)
    return last_step(estimator.best_estimator_) if hasattr(estimator, "best_estimator_") else estimator


def _transformers(steps: list[tuple[str, Any]]) -> tuple[Any, ...]:
    """The transformers of pipelines within pipelines, in their order."""
    flat: tuple[Any, ...] = ()
    for _, step in steps:
        step = step.estimator if isinstance(step, FrozenEstimator) else step
        if isinstance(step, Pipeline):
            flat += _transformers(step.steps)
        elif step is not None and not isinstance(step, str):
            flat += (step,)
    return flat


def answers_by_posterior(model: BaseLVQ) -> bool:
    """Whether the answer is not the nearest prototype's."""
    return hasattr(model, "_by_posterior") and model._by_posterior()


def need_model(estimator: Any, purpose: str) -> Found:
    """The model, or a sentence that says why there is none for this purpose."""
    found = find_model(estimator)
    if found is None:
        raise ValueError(
            f"{purpose} needs a model of this library, or a Pipeline that ends in one, got {type(estimator).__name__}."
        )
    check_is_fitted(found.model)
    if answers_by_posterior(found.model):
        raise ValueError(
            f"{purpose} needs answers by the nearest prototype, got {type(found.model).__name__} with "
            f"decision={found.model.decision!r}; set decision='nearest'."
        )
    if not isinstance(found.model._metric, Euclidean | Diagonal | Matrix | LocalMatrix):
        raise ValueError(f"{purpose} does not know the metric {found.model._metric!r}; use one of lvq.model.metrics.")
    return found


def metric_root(model: BaseLVQ) -> Floats:
    """Omega, with |Omega (x - w)|^2 the model's distance; a vector stands for a diagonal matrix."""
    R = model._params.relevance
    if isinstance(model._metric, Euclidean) or R is None:
        return np.ones(model._params.prototypes.shape[1])
    return np.sqrt(R, dtype=np.float64) if R.ndim == 1 else np.asarray(R, dtype=np.float64)
