"""Rules for relevances of features, or one scale, for each class or prototype."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lvq.model.arrays import namespace, numpy_type
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.metrics import Metric
from lvq.model.relevance.rule import Relevance, auto_ridge, prototype_groups, sum_of
from lvq.model.structure import UNSTRUCTURED, Structure
from lvq.typing import Array


@dataclass(frozen=True)
class LocalDiagonalRelevance(Relevance):
    """A relevance of each feature for every class or prototype, by the gradient of the cost.

    It is `MatrixRelevance` with local matrices that are diagonal, of the square roots of lambda: n numbers instead of
    n x n.

    Parameters
    ----------
    weighted_step : bool, default=True
        Whether the prototypes' step carries lambda; always so here.
    local : {"class", "prototype", "auto"}, default="class"
        Whether each class or each prototype has its own relevances; "auto" is "prototype".
    unit_trace : bool, default=True
        Keep the sum of every lambda at one. If False, the sum is learned too, by batch solvers only and best with a
        `ridge`; at the start the mean smallest squared distance is then one.
    ridge : float or "auto", default=0.0
        Weight of the penalty, the sum of all lambda (for `unit_trace=False`); "auto" as in `MatrixRelevance`.
    structure : Structure
        Groups of features with equal relevances, excluded features, and penalties; for batch solvers.
    """

    weighted_step: bool = True
    local: Literal["class", "prototype", "auto"] = "class"
    unit_trace: bool = True
    ridge: float | Literal["auto"] = 0.0
    structure: Structure = UNSTRUCTURED

    def groups(self, labels: np.ndarray) -> tuple[int, ...]:
        """Limits of the groups with relevances of their own."""
        return prototype_groups("class" if self.local == "class" else "prototype", labels)

    def metric(self, labels: np.ndarray) -> Metric:
        """The weighted metric of each group."""
        return LocalDiagonal(self.groups(labels))

    def start(self, X: Array, y: Array, weight: Array, labels: np.ndarray) -> np.ndarray:
        """All features that are used equal."""
        used = self.structure.completed(self.structure.used(np.ones((len(self.groups(labels)) - 1, X.shape[1]))))
        return (used / used.sum(axis=1, keepdims=True)).astype(numpy_type(X))

    def for_data(self, n_samples: int, n_features: int, n_prototypes: int) -> "LocalDiagonalRelevance":
        """With the ridge for so many samples."""
        rule = replace(self, local="prototype") if self.local == "auto" else self
        return replace(rule, ridge=auto_ridge(n_samples)) if self.ridge == "auto" else rule

    @property
    def needs_unit(self) -> bool:
        """Where the size is free, the ridge is in the unit of the features."""
        return not self.unit_trace and self.ridge != 0

    def in_units(self, variance: float) -> "LocalDiagonalRelevance":
        """With the ridge times the variance: the result does not depend on the unit of the features."""
        assert self.ridge != "auto"
        return replace(self, ridge=self.ridge * variance)

    def scaled_start(self, R: Array, spread: float) -> Array:
        """Where the size is free it starts at a mean smallest squared distance of one."""
        return R if self.unit_trace else (R / spread).astype(R.dtype)

    def free(self, R: Array) -> Array:
        """Square roots."""
        return R**0.5

    def constrained(self, free: Array) -> Array:
        """lambda = u/sum(u) with unit trace, else u; u is the mean of v^2 over each group, and the given fractions."""
        shared = self.structure.completed(self.structure.shared(free**2))
        return shared / shared.sum(-1)[..., None] if self.unit_trace else shared

    def pull_back(self, free: Array, R: Array, by_relevance: Array) -> Array:
        """2 v times the mean over each group of (g - lambda'g)/sum(u), or of g."""
        if self.unit_trace:
            total = self.structure.completed(self.structure.shared(free**2)).sum(-1)[..., None]
            by_relevance = (by_relevance - (R * by_relevance).sum(-1)[..., None]) / total
        return 2 * free * self.structure.shared(self.structure.by_learned(by_relevance))

    def penalty(self, R: Array) -> tuple[Array, Array] | None:
        """ridge times the sum of all lambda, which is |Omega|^2, and that of the structure."""
        assert self.ridge != "auto"  # `for_data` has set it
        ridge = None if self.ridge == 0 else (self.ridge * R.sum(), self.ridge * namespace(R).ones_like(R))
        return sum_of(ridge, self.structure.of_weights(R))


@dataclass(frozen=True)
class LocalScaleRelevance(LocalDiagonalRelevance):
    """A scale for each class or prototype: all features have the same weight there, which is learned.

    For batch solvers only. Parameters are those of `LocalDiagonalRelevance`; `unit_trace` would leave nothing to learn.
    """

    unit_trace: bool = False

    def constrained(self, free: Array) -> Array:
        """The mean of v^2 for all features: they start equal, have equal gradients, and stay equal."""
        return _mean_of_features(free**2)

    def pull_back(self, free: Array, R: Array, by_relevance: Array) -> Array:
        """2 v times the mean of g."""
        return 2 * free * _mean_of_features(by_relevance)


def _mean_of_features(values: Array) -> Array:
    """The mean over the last axis, at each of its places."""
    return values.mean(-1)[..., None] * namespace(values).ones_like(values)
