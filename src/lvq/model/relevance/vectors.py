"""Rules for one relevance a feature, lambda: by gradient, by Hebbian learning, by Fisher's criterion."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from lvq.model.arrays import numpy_type
from lvq.model.metrics import Diagonal, Metric
from lvq.model.relevance.rule import Relevance
from lvq.model.structure import UNSTRUCTURED, Structure
from lvq.typing import Array

MANY_FEATURES, FEATURES_A_SAMPLE = 2**14, 2**7  # from which relevances change rarely, online; see `for_online`


@dataclass(frozen=True)
class VectorRelevance(Relevance):
    """A relevance for each feature."""

    def metric(self, labels: np.ndarray) -> Metric:
        """The weighted metric."""
        return Diagonal()

    def start(self, X: Array, y: Array, weight: Array, labels: np.ndarray) -> np.ndarray:
        """All features equal."""
        return np.full(X.shape[1], 1 / X.shape[1], dtype=numpy_type(X))

    def free(self, R: Array) -> Array:
        """Square roots."""
        return R**0.5

    def constrained(self, free: Array) -> Array:
        """lambda = v^2/|v|^2: non-negative and of sum one for every v."""
        return free**2 / (free**2).sum()

    def pull_back(self, free: Array, R: Array, by_relevance: Array) -> Array:
        """2 v/|v|^2 (g - lambda'g)."""
        return 2 * free / (free**2).sum() * (by_relevance - (R * by_relevance).sum())


@dataclass(frozen=True)
class GradientRelevance(VectorRelevance):
    """lambda by the gradient of the cost (GRLVQ: Hammer and Villmann 2002).

    Parameters
    ----------
    weighted_step : bool, default=True
        Whether the prototypes' step carries lambda.
    structure : Structure
        Groups of features with equal relevances, excluded features, and penalties; for batch solvers.
    every : int, default=1
        Number of samples from one step of the relevances to the next, in the online solver. With 2 or more the step is
        that of lambda times n_features, whose start is 1.
    """

    weighted_step: bool = True
    structure: Structure = UNSTRUCTURED
    every: int = 1

    def for_online(self, n_features: int) -> "GradientRelevance":
        """With many features relevances change rarely, and the prototypes' step does not carry them.

        A step on a sparse sample then needs its stored features only, and the step of the relevances, which needs all
        of them, costs as much as 128 stored features a sample.
        """
        if n_features < MANY_FEATURES or self.every > 1:
            return self
        return replace(self, weighted_step=False, every=n_features // FEATURES_A_SAMPLE)

    def start(self, X: Array, y: Array, weight: Array, labels: np.ndarray) -> np.ndarray:
        """All features that are used equal."""
        used = self.structure.completed(self.structure.used(np.ones(X.shape[1])))
        return (used / used.sum()).astype(numpy_type(X))

    def constrained(self, free: Array) -> Array:
        """lambda = u/sum(u), with u the mean of v^2 over each group of features, and the given fractions of sum(u)."""
        shared = self.structure.completed(self.structure.shared(free**2))
        return shared / shared.sum()

    def pull_back(self, free: Array, R: Array, by_relevance: Array) -> Array:
        """2 v times the mean over each group of (g - lambda'g)/sum(u)."""
        total = self.structure.completed(self.structure.shared(free**2)).sum()
        by_weight = self.structure.by_learned(by_relevance - (R * by_relevance).sum())
        return 2 * free / total * self.structure.shared(by_weight)

    def penalty(self, R: Array) -> tuple[Array, Array] | None:
        """That of the structure."""
        return self.structure.of_weights(R)


@dataclass(frozen=True)
class Hebbian(VectorRelevance):
    """lambda grows for features in which a correct winner is near the sample (RLVQ: Bojer et al. 2001).

    Parameters
    ----------
    weighted_step : bool, default=False
        Whether the prototypes' step carries lambda.
    squared : bool, default=False
        Change lambda by (x - w)^2, as printed in Ridge et al., instead of |x - w|, as in Bojer et al.
    """

    smooth: ClassVar[bool] = False
    squared: bool = False


@dataclass(frozen=True)
class Fisher(VectorRelevance):
    """lambda as the running mean of Fisher criterion scores S_B/S_W (Ridge et al. 2011). Needs no rate.

    Parameters
    ----------
    weighted_step : bool, default=False
        Whether the prototypes' step carries lambda.
    scores : {"sum", "max"}, default="sum"
        Divide the scores by their sum, as printed and as in the published results, or by their maximum, as in the
        authors' later toolbox; the relevances then start at 1 and do not sum to one.
    no_variance : {"zero", "between"}, default="zero"
        Score of a feature without any variance within the classes: 0, or, as in the published results, S_B alone for
        all features as soon as there is one such feature.
    """

    smooth: ClassVar[bool] = False
    scores: Literal["sum", "max"] = "sum"
    no_variance: Literal["zero", "between"] = "zero"

    def start(self, X: Array, y: Array, weight: Array, labels: np.ndarray) -> np.ndarray:
        """All features equal."""
        start = super().start(X, y, weight, labels)
        return start if self.scores == "sum" else np.ones_like(start)


@dataclass(frozen=True)
class FisherPrototypes(Fisher):
    """FC1: variances between and within the classes, over the prototypes, weighted by their correct wins.

    Parameters
    ----------
    weighted_step : bool, default=False
        Whether the prototypes' step carries lambda.
    scores : {"sum", "max"}, default="sum"
        As in `Fisher`.
    no_variance : {"zero", "between"}, default="zero"
        As in `Fisher`.
    classes : {"fractions", "even"}, default="fractions"
        Weight classes by their fraction of the samples so far and leave out those without a correct win, as printed,
        or, as in the published results, weight all classes equally, and in a class without a correct win all its
        prototypes equally.
    """

    classes: Literal["fractions", "even"] = "fractions"


@dataclass(frozen=True)
class FisherNeighbours(Fisher):
    """FC2: variances between and within the samples won by the nearest prototype of each class.

    Parameters
    ----------
    weighted_step : bool, default=False
        Whether the prototypes' step carries lambda.
    scores : {"sum", "max"}, default="sum"
        As in `Fisher`.
    no_variance : {"zero", "between"}, default="zero"
        As in `Fisher`.
    rivals : {"all", "nearest"}, default="all"
        Compare the nearest prototypes of all classes, as printed, or, as in the published results, the winner with the
        nearest prototype of another class.
    """

    rivals: Literal["all", "nearest"] = "all"
