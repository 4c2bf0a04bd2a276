"""What every metric learning rule has, and what some share: groups of prototypes, the ridge, sums of penalties."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from lvq.model.metrics import Euclidean, Metric
from lvq.typing import Array

AUTO_RIDGE, RIDGE_SAMPLES = 0.003, 500  # ridge="auto", and the number of samples from which it falls as 1/n_samples


@dataclass(frozen=True)
class Relevance:
    """Base of the rules for the metric's parameters; itself the rule of the plain metric, which has none."""

    smooth: ClassVar[bool] = True
    # whether a prototype's step is multiplied by the metric, as a gradient is
    weighted_step: bool = False

    def metric(self, labels: np.ndarray) -> Metric:
        """The metric for prototypes with these class indices."""
        return Euclidean()

    def start(self, X: Array, y: Array, weight: Array, labels: np.ndarray) -> np.ndarray | None:
        """Starting parameters of the metric."""
        return None

    def for_data(self, n_samples: int, n_features: int, n_prototypes: int) -> "Relevance":
        """The rule with those of its parameters that depend on the size of the data."""
        return self

    @property
    def needs_unit(self) -> bool:
        """Whether it has penalties on parameters that are in one over the unit of the features."""
        return False

    def in_units(self, variance: float) -> "Relevance":
        """The rule with penalties that are in units of this variance of the features."""
        return self

    def for_online(self, n_features: int) -> "Relevance":
        """The rule with those of its parameters that the online solver needs."""
        return self

    def in_span(self, n_samples: int, n_features: int) -> "Relevance":
        """The rule for the start of a fit: where features are many, matrices that only see where samples differ."""
        return self

    def scaled_start(self, R: Array, spread: float) -> Array:
        """R at the start, when the mean smallest squared distance in it is `spread`."""
        return R

    # Batch solvers minimise a function without constraints: they change free parameters, and the metric's parameters
    # are computed from these such that the constraint holds.

    def free(self, R: Array) -> Array:
        """Free parameters that give R."""
        return R

    def constrained(self, free: Array) -> Array:
        """The metric's parameters."""
        return free

    def pull_back(self, free: Array, R: Array, by_relevance: Array) -> Array:
        """Gradient by the free parameters from that by R."""
        return by_relevance

    def penalty(self, R: Array) -> tuple[Array, Array] | None:
        """A term added to the mean cost, and its gradient by R; None where there is none."""
        return None


def prototype_groups(local: Literal["class", "prototype"], labels: np.ndarray) -> tuple[int, ...]:
    """Limits of the groups with a metric each: group k has the prototypes groups[k] to groups[k + 1].

    Examples
    --------
    >>> prototype_groups("class", np.array([0, 0, 1])), prototype_groups("prototype", np.array([0, 0, 1]))
    ((0, 2, 3), (0, 1, 2, 3))
    """
    if local == "prototype":
        return tuple(range(len(labels) + 1))
    return (0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels))


def auto_ridge(n_samples: int) -> float:
    """The ridge for so many samples: 0.003, and from 500 samples on 1.5 divided by their number."""
    return AUTO_RIDGE * min(1.0, RIDGE_SAMPLES / n_samples)


def sum_of(one: tuple[Array, Array] | None, other: tuple[Array, Array] | None) -> tuple[Array, Array] | None:
    """Two penalties in one."""
    if one is None or other is None:
        return one or other
    return one[0] + other[0], one[1] + other[1]
