"""The front door: one estimator with every axis as a parameter, and defaults that need no tuning."""

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.base import Parts
from lvq.estimators.parameters import estimator
from lvq.estimators.soft import SoftLVQ
from lvq.estimators.tensors import as_numpy, same_kind
from lvq.estimators.validation import (
    at_least_one,
    check_samples,
    make_relevance,
    not_negative,
    offers,
    positive,
    strings,
)
from lvq.model.costs import COSTS, GLVQCost, MarginCost, SoftCost
from lvq.model.relevance import MatrixRelevance, Relevance


def _shared_matrix(model: "LVQClassifier") -> bool:
    relevance = model._relevance()
    return isinstance(relevance, MatrixRelevance) and relevance.local is None


def _can_stream(model: "LVQClassifier") -> bool:
    return model._streams()


@estimator
class LVQClassifier(SoftLVQ):
    """Learning vector quantization with defaults that need no tuning on standardised features.

    A few labelled prototypes; the answer is the label of the nearest, by distances ``|Omega_j (x - w_j)|^2`` bent by a
    kernel. The parts are the papers': LOGM's cost (Jin et al. 2008) on a Gaussian link over learned matrices (Kaestner
    et al. 2012), found by L-BFGS. Every part can be changed by a parameter.

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

    _parameter_constraints = SoftLVQ._parameter_constraints | {
        "cost": [strings(*COSTS), offers("value_and_slope")],
        "rank": [at_least_one, None],
        "local": [strings("class", "prototype")],
        "ridge": [not_negative],
        "log_determinant": [not_negative],
        "slope": [positive, None],
    }

    cost: Any = "logm"
    n_prototypes: Any = 2
    relevance: Any = "local_matrix"
    local: Literal["class", "prototype"] = "prototype"
    rank: int | None = None
    ridge: float = 0.003
    log_determinant: float = 0.0
    kernel: Any = "gaussian"
    xi: float = 2.0
    alpha: float = 0.03
    slope: float | None = None
    relevance_rate: float = 0.001

    def _relevance(self) -> Relevance:
        rule = make_relevance(self.relevance)
        if not isinstance(rule, MatrixRelevance):
            return make_relevance(self.relevance, self.rank)
        local = None if rule.local is None else self.local
        free = self.ridge > 0 and self.solver != "online"
        return replace(
            rule,
            rank=self.rank,
            local=local,
            unit_trace=not free,
            ridge=self.ridge if free else 0.0,
            log_determinant=self.log_determinant,
        )

    def _cost(self) -> Any:
        if not isinstance(self.cost, str):
            priced = isinstance(self.cost, MarginCost) and self.cost_matrix is not None
            return replace(self.cost, prices=self._prices()) if priced else self.cost
        kind: Any = COSTS[self.cost]
        if kind is GLVQCost:
            return GLVQCost(self.alpha, self.slope or 0.0, prices=self._prices())
        if issubclass(kind, MarginCost):
            return kind(self.alpha, self.xi, prices=self._prices())
        return kind(self.alpha, self.xi)

    def _parts(self) -> Parts:
        return Parts(self._cost(), self._relevance())

    def _streams(self) -> bool:
        return getattr(self._relevance(), "unit_trace", True)

    def _by_posterior(self) -> bool:
        return self.decision == "posterior" and isinstance(self._cost(), SoftCost)

    @available_if(_can_stream)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one batch of a stream, online; only with ``solver="online"`` or ``ridge=0``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), optional
            All classes that can occur; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of each sample's step.

        Returns
        -------
        self : object
            The estimator, one batch wiser.
        """
        return super().partial_fit(X, y, classes, sample_weight)

    @available_if(_shared_matrix)
    def transform(self, X: Any) -> np.ndarray:
        """Map samples to the space in which the model measures; only with ``relevance="matrix"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X_new : ndarray of shape (n_samples, rank)
            Their images ``X @ omega_.T``.
        """
        check_is_fitted(self)
        return same_kind(check_samples(self, as_numpy(X)) @ self.omega_.T, X)
