"""LVQClassifier: one estimator with every part as a parameter, and defaults that need no tuning."""

from dataclasses import replace
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from lvq.estimators.calibration import cross_fitted_temperature
from lvq.estimators.choice import FORMS, chosen_form
from lvq.estimators.cost_based import CostBasedLVQ, planned_relevance
from lvq.estimators.parameters import at_least_one, estimator, one_of
from lvq.estimators.training import Parts
from lvq.estimators.validation import make_relevance, structured
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
from lvq.typing import Label


#: Parameters that leave the form open while they have their default.
OPEN = (
    "relevance", "n_prototypes", "n_prototypes_total", "rank", "local", "ridge", "log_determinant", "shrinkage",
    "feature_groups", "sparsity", "smoothness",
)  # fmt: skip


def _can_stream(model: "LVQClassifier") -> bool:
    relevance = model._state.relevance if hasattr(model, "model_") else planned_relevance(model)
    return getattr(relevance, "unit_trace", True)


@estimator
class LVQClassifier(CostBasedLVQ):
    """Learning vector quantization with defaults that need no tuning on standardised features.

    A few labelled prototypes; the prediction is the label of the nearest, by distances ``|Omega_j (x - w_j)|^2`` under
    a kernel. The parts are from the papers: the minimum classification error (Juang and Katagiri 1992) on a Gaussian
    kernel over learned matrices (Kaestner et al. 2012), minimised by L-BFGS. Every part can be changed by a parameter.
    On small data samples that are left out of short fits decide between two prototypes of each class with a matrix
    each, one with a matrix, and one with a plain metric of its own scale.
    The probabilities are calibrated.
    `partial_fit` is available with ``solver="online"`` or ``ridge=0``.

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
    >>> model[-1].prototypes_.shape
    (6, 13)
    """

    _own_constraints: ClassVar[dict[str, list[object]]] = {
        "n_prototypes": [at_least_one, dict, one_of("auto"), None],
        "relevance": [one_of("auto", *RELEVANCES), None, Relevance],
    }

    cost: str | Cost = "mce"
    n_prototypes: int | dict[Label, int] | Literal["auto"] | None = None
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

    def _counts(self, classes: np.ndarray) -> np.ndarray:
        if self.n_prototypes is None and self.n_prototypes_total is None:
            return np.full(len(classes), FORMS[0][1])
        return super()._counts(classes)

    def _settled(
        self, parts: Parts, samples: ArraySamples, classes: np.ndarray, warm: bool
    ) -> tuple[Self, Parts, float | None]:
        if not self._is_open() or parts.solver != "lbfgs":
            return super()._settled(parts, samples, classes, warm)
        if warm:
            relevance = "local_scale" if isinstance(self._state.relevance, LocalScaleRelevance) else FORMS[0][0]
            count = round(len(self.model_.labels) / len(classes))
            shaped = clone(self).set_params(relevance=relevance, n_prototypes=count)
            return shaped, replace(parts, relevance=shaped._relevance()), None
        choice = chosen_form(self, parts, samples, classes)
        if choice is None:
            return self, parts, None
        return choice.estimator, choice.parts, choice.temperature if self.calibration is not None else None

    def _is_open(self) -> bool:
        """Whether metric and number of prototypes are left open, and nothing is given that a form lacks."""
        plain = type(self)()
        return isinstance(self.init, str) and all(getattr(self, name) == getattr(plain, name) for name in OPEN)

    def _temperature(self, parts: Parts, samples: ArraySamples, classes: np.ndarray) -> float:
        if self.calibration is None:
            return 1.0
        return cross_fitted_temperature(self, parts, samples, classes)

    # a stream keeps every Omega at unit trace: only with solver="online" or ridge=0
    partial_fit = available_if(_can_stream)(CostBasedLVQ.partial_fit)
