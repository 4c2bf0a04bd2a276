"""LVQClassifier: one estimator with every part as a parameter, and defaults that need no tuning."""

from collections.abc import Callable
from dataclasses import replace
from types import MethodType
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from lvq.estimators.atomic import unchanged_on_error
from lvq.estimators.base import BaseLVQ
from lvq.estimators.calibration import cross_fitted_temperature
from lvq.estimators.choice import FORMS, MOST_FEATURES, Form, chosen_form, with_form
from lvq.estimators.cost_based import CostBasedLVQ, planned_relevance
from lvq.estimators.grouped_calibration import grouped_choice
from lvq.estimators.parameters import at_least_one, estimator, one_of
from lvq.estimators.parts import Parts, by_stored_features
from lvq.estimators.specified_parts import make_relevance, structured
from lvq.model.costs import COSTS, Cost, MarginCost
from lvq.model.links import Link
from lvq.model.relevance import (
    RELEVANCES,
    LocalDiagonalRelevance,
    LocalScaleRelevance,
    MatrixRelevance,
    Relevance,
)
from lvq.model.samples import ArraySamples
from lvq.model.sparse_rows import is_sparse
from lvq.typing import Argument, Label

#: Parameters that leave the form open while they have their default.
OPEN = (
    "relevance", "n_prototypes", "n_prototypes_total", "rank", "local", "ridge", "log_determinant", "shrinkage",
    "feature_groups", "sparsity", "smoothness",
)  # fmt: skip


def _same(given: Argument, default: Argument) -> bool:
    """Whether a parameter has its default; an array has not."""
    return type(given) is type(default) and bool(given == default)


class _OfStreams:
    """`partial_fit`, which is there only for matrices of unit trace, as a stream keeps it; the error tells what to set.

    `available_if` of scikit-learn does the same with a message that does not tell it.
    """

    def __get__(self, model: "LVQClassifier | None", owner: type) -> Callable[..., BaseLVQ]:
        if model is None:
            return CostBasedLVQ.partial_fit
        relevance = model._state.relevance if hasattr(model, "model_") else planned_relevance(model)
        if not getattr(relevance, "unit_trace", True):
            name = type(model).__name__
            other = " relevance='local_diagonal' in place of 'local_scale', and" * (model.relevance == "local_scale")
            raise AttributeError(
                f"{name} has no partial_fit with these parameters, as it learns how large its matrices are. Set{other} "
                "solver='online' (or ridge=0) before the first fit."
            )
        return MethodType(CostBasedLVQ.partial_fit, model)


@estimator
class LVQClassifier(CostBasedLVQ):
    """Learning vector quantization with defaults that need no tuning on standardised features.

    A few labelled prototypes; the prediction is the label of the nearest, by distances ``|Omega_j (x - w_j)|^2`` under
    a kernel. The parts are from the papers: the minimum classification error (Juang and Katagiri 1992) on a Gaussian
    kernel over learned matrices (Kaestner et al. 2012), minimised by L-BFGS. Every part can be changed by a parameter.
    On small data samples that are left out of short fits decide between two prototypes of each class with a matrix
    each, one with a matrix, and one with a plain metric of its own scale. Sparse samples of more than 1,000 features,
    such as texts, have one prototype of each class, the plain metric and no kernel, trained online.
    The probabilities are calibrated.
    `partial_fit` is available with ``solver="online"``, ``ridge=0`` or ``relevance=None``.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import LVQClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LVQClassifier(random_state=0)).fit(X, y)
    >>> model.score(X, y) > 0.98
    True
    >>> len(model[-1].prototypes_) <= 2 * len(model.classes_)
    True
    """

    _own_constraints: ClassVar[dict[str, list[object]]] = {
        "n_prototypes": [at_least_one, dict, one_of("auto"), None],
        "relevance": [one_of("auto", *RELEVANCES), None, Relevance],
    }

    cost: str | Cost = "mce"
    n_prototypes: int | dict[Label, int] | Literal["auto"] | None = None  # type: ignore[assignment]
    relevance: str | Relevance | None = "auto"
    rank: int | Literal["auto"] | None = "auto"
    local: Literal["class", "prototype", "auto"] = "auto"
    ridge: float | Literal["auto"] = "auto"
    log_determinant: float = 0.0
    shrinkage: float = 0.0
    feature_groups: ArrayLike | None = None
    sparsity: float = 0.0
    smoothness: float = 0.0
    kernel: str | Link | None = "gaussian"
    xi: float = 3.0
    alpha: float = 0.03
    cost_matrix: ArrayLike | None = None
    decision: Literal["nearest", "posterior"] = "nearest"
    calibration: Literal["temperature"] | None = "temperature"
    relevance_rate: float = 0.001

    def _relevance(self) -> Relevance:
        rule = structured(self, make_relevance(self, FORMS[0][0] if self.relevance == "auto" else self.relevance))
        free = (self.ridge == "auto" or self.ridge > 0) and self.solver != "online"
        if isinstance(rule, LocalDiagonalRelevance):
            free = free or isinstance(rule, LocalScaleRelevance)
            return replace(rule, local=self.local, unit_trace=not free, ridge=self.ridge if free else 0.0)
        if not isinstance(rule, MatrixRelevance):
            return rule
        return replace(
            rule,
            local=None if rule.local is None else self.local,
            unit_trace=not free,
            ridge=self.ridge if free else 0.0,
            log_determinant=self.log_determinant,
            shrinkage=self.shrinkage,
        )

    def _cost(self) -> Cost:
        if not isinstance(self.cost, str):
            if isinstance(self.cost, MarginCost) and self.cost_matrix is not None:
                return replace(self.cost, prices=self._prices())
            return self.cost
        kind = COSTS[self.cost]
        steepness = {} if self.cost == "glvq" else {"xi": self.xi}
        if issubclass(kind, MarginCost):
            return kind(self.alpha, **steepness, prices=self._prices())
        return kind(self.alpha, **steepness)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to samples.

        Parameters
        ----------
        X : array-like, sparse matrix, torch tensor, dask array or dask data frame of shape (n_samples, n_features)
            Samples, as in the other models.
        y : array-like, torch tensor, dask array or dask series of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        groups : array-like of shape (n_samples,), optional
            Groups, such as patients, that neither the choice of a form nor the calibration of the probabilities must
            split. For samples in memory.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if groups is None:
            return super().fit(X, y, sample_weight)
        with unchanged_on_error(self):
            self._validate_params()
            warm = self.warm_start and hasattr(self, "model_")
            free = self._is_open() and self._solver(self._relevance()) == "lbfgs" and self._of_wide_sparse(X) is None
            forms = FORMS if free and not warm else ()
            if forms or self.calibration is not None:
                self._by_groups = grouped_choice(self, forms, X, y, sample_weight, groups)
            super().fit(X, y, sample_weight)
            self.__dict__.pop("_by_groups", None)
            return self

    def _parts_for(self, X: ArrayLike, device: str | None) -> Parts:
        return super(LVQClassifier, self._of_wide_sparse(X) or self)._parts_for(X, device)

    def _of_wide_sparse(self, X: ArrayLike) -> Self | None:
        """A copy in the form of many sparse features; None where X or the parameters are others."""
        if self.solver != "auto" or not is_sparse(X) or X.shape[1] <= MOST_FEATURES or not self._is_open():
            return None
        found = self._plain()
        return found if by_stored_features(found._parts()) else None

    def _plain(self) -> Self:
        """A copy with one prototype of each class in the plain metric; a kernel that was not given is left out."""
        kernel = None if _same(self.kernel, type(self)().kernel) else self.kernel
        return clone(self).set_params(relevance=None, n_prototypes=1, kernel=kernel, solver="online")

    def _counts(self, classes: np.ndarray) -> np.ndarray:
        if self.n_prototypes is None and self.n_prototypes_total is None:
            return np.full(len(classes), FORMS[0][1])
        return super()._counts(classes)

    def _settled(
        self, parts: Parts, samples: ArraySamples, classes: np.ndarray, warm: bool
    ) -> tuple[Self, Parts, float | None]:
        shaped, parts, temperature = super()._settled(parts, samples, classes, warm)
        form, by_groups = None, vars(self).get("_by_groups")
        if by_groups is not None:
            form, temperature = by_groups
        elif self._is_open() and parts.solver == "lbfgs" and not warm:
            form, temperature = chosen_form(self, parts, samples, classes)
        if self._is_open() and type(parts.relevance) is Relevance:
            shaped = self._plain()
        elif warm and self._is_open():
            form = self._last_form()
        if form is not None:
            shaped = with_form(self, form)
            parts = replace(parts, relevance=shaped._relevance())
        return shaped, parts, None if self.calibration is None else temperature

    def _last_form(self) -> Form:
        scales = isinstance(self._state.relevance, LocalScaleRelevance)
        return "local_scale" if scales else FORMS[0][0], round(len(self.model_.labels) / len(self.model_.classes))

    def _is_open(self) -> bool:
        """Whether metric and number of prototypes are left open, and nothing is given that a form lacks."""
        plain = type(self)()
        return isinstance(self.init, str) and all(_same(getattr(self, name), getattr(plain, name)) for name in OPEN)

    def _temperature(self, parts: Parts, samples: ArraySamples, classes: np.ndarray) -> float:
        if self.calibration is None:
            return 1.0
        return cross_fitted_temperature(self, parts, samples, classes)

    partial_fit = _OfStreams()


def as_chosen(estimator: BaseLVQ) -> BaseLVQ:
    """A copy of a fitted estimator that is not fitted, with the form that its `fit` has chosen."""
    if isinstance(estimator, LVQClassifier) and estimator._is_open():
        plain = type(estimator._state.relevance) is Relevance
        return estimator._plain() if plain else with_form(estimator, estimator._last_form())
    return clone(estimator)
