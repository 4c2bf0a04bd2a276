"""The fitted model inside an estimator: in a pipeline, a search, a frozen estimator or a reject classifier.

No other module unwraps estimators. Only wrappers that leave the predictions of the estimator inside unchanged are
unwrapped, and a CostClassifier, which `need_model(..., nearest=True)` refuses. A CalibratedClassifierCV and a
TunedThresholdClassifierCV are not: they change the predictions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.base import BaseLVQ
from lvq.model.local_metrics import require_quadratic
from lvq.model.prototype_model import PrototypeModel
from lvq.typing import MatrixLike

Layer = TypeVar("Layer")


class FoundModel(NamedTuple):
    """An estimator of this library, and the fitted transformers that its samples pass through before it."""

    estimator: BaseEstimator
    steps: tuple[BaseEstimator, ...]

    @property
    def model(self) -> PrototypeModel:
        """The fitted model."""
        return self.estimator.model_

    def inputs(self, X: MatrixLike) -> MatrixLike:
        """Samples as they reach the model."""
        for step in self.steps:
            X = step.transform(X)
        return X


def find_model(estimator: BaseEstimator) -> FoundModel | None:
    """The model that makes an estimator's predictions and the steps before it; None where there is none.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> find_model(make_pipeline(StandardScaler(), GLVQ()))
    FoundModel(estimator=GLVQ(), steps=(StandardScaler(),))
    """
    steps: tuple[BaseEstimator, ...] = ()
    for layer in layers(estimator):
        if isinstance(layer, Pipeline):
            steps += transformers(layer.steps[:-1])
        if isinstance(layer, BaseLVQ):
            return FoundModel(layer, steps)
    return None


def need_model(estimator: BaseEstimator, purpose: str, *, nearest: bool = False) -> FoundModel:
    """The fitted model, or a ValueError that says what `purpose` needs.

    With `nearest` the model must also predict by the nearest prototype. The metric must be quadratic, one of
    `PARAMETER_AXES`.
    """
    found = find_model(estimator)
    if found is None:
        raise ValueError(
            f"{purpose} needs a model of this library, alone or in a Pipeline, a search, a FrozenEstimator or a "
            f"RejectClassifier, which leave its predictions unchanged; got {_described(estimator)}."
        )
    check_is_fitted(found.estimator)
    model = found.model
    if nearest and model.decision.by_posterior:
        raise ValueError(
            f"{purpose} needs predictions by the nearest prototype, got {type(found.estimator).__name__} with "
            "decision='posterior'; set decision='nearest'."
        )
    if nearest and decides_by_cost(estimator):
        raise ValueError(
            f"{purpose} needs predictions by the nearest prototype, got predictions by the least expected cost; use "
            "the estimator inside the CostClassifier."
        )
    require_quadratic(model.metric, purpose)
    return found


def layers(estimator: BaseEstimator) -> Iterator[BaseEstimator]:
    """An estimator, then the estimator inside it that predicts, and so on to the innermost."""
    while estimator is not None:
        yield estimator
        estimator = _inner(estimator)


def find_layer(estimator: BaseEstimator, kind: type[Layer]) -> Layer | None:
    """The outermost layer of a given class; None where there is none."""
    return next((layer for layer in layers(estimator) if isinstance(layer, kind)), None)


def decides_by_cost(estimator: BaseEstimator) -> bool:
    """Whether the prediction is the class with the least expected cost instead of the model's."""
    return any(getattr(layer, "decides_by_cost", False) for layer in layers(estimator))


def rejecting_layer(estimator: BaseEstimator, X: MatrixLike) -> tuple[BaseEstimator | None, MatrixLike]:
    """The layer with a reject option, and the samples as they reach it; None where there is none.

    Only its public methods `accept` and `certainty` are to be used.
    """
    for layer in layers(estimator):
        if hasattr(layer, "accept"):
            return layer, X
        if isinstance(layer, Pipeline) and len(layer) > 1:
            X = layer[:-1].transform(X)
    return None, X


def last_step(estimator: BaseEstimator) -> BaseEstimator:
    """The innermost classifier, of any library."""
    *_, last = layers(estimator)
    return last


def _described(estimator: BaseEstimator) -> str:
    """The class of an estimator, and of its innermost layer, because of which it is refused."""
    names = [type(layer).__name__ for layer in (estimator, last_step(estimator))]
    return names[0] if names[0] == names[1] else f"{names[0]} with {names[1]} inside"


def _inner(estimator: BaseEstimator) -> BaseEstimator | None:
    if isinstance(estimator, BaseLVQ):
        return None
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1]
    if isinstance(estimator, FrozenEstimator):
        return estimator.estimator
    for name in ("best_estimator_", "predicting_estimator"):  # a search; a RejectClassifier
        if hasattr(estimator, name):
            return getattr(estimator, name)
    return None


def transformers(steps: list[tuple[str, BaseEstimator]]) -> tuple[BaseEstimator, ...]:
    """The transformers of pipelines within pipelines, in order."""
    flat: tuple[BaseEstimator, ...] = ()
    for _, step in steps:
        step = step.estimator if isinstance(step, FrozenEstimator) else step
        if isinstance(step, Pipeline):
            flat += transformers(step.steps)
        elif step is not None and not isinstance(step, str):
            flat += (step,)
    return flat
