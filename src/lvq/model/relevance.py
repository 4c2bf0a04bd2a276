"""Metric learning rules: the parameters of the metric, their start, and how they are learned.

`None` in an estimator means the plain metric. A rule has a `metric` (its shape), `smooth` (whether its step is a
gradient, so that a batch solver can use it), and its own parameters. Relevances lambda are non-negative and sum to one;
every Omega has unit Frobenius norm, unless a rule learns their size.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from lvq.model.arrays import beside, namespace, numpy_type
from lvq.model.directions import discriminant_directions, span
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.local_matrix import LocalMatrix
from lvq.model.metrics import Diagonal, Euclidean, Matrix, Metric
from lvq.model.structure import UNSTRUCTURED, Structure
from lvq.typing import Array

FULL_RANK_FEATURES, LOW_RANK = 64, 32  # features up to which rank="auto" is full, and its rank beyond
MAX_SQUARE = 1000  # features up to which a full matrix has as many rows, also with fewer samples
MANY_FEATURES, FEATURES_A_SAMPLE = 2**14, 2**7  # from which relevances change rarely, online; see `for_online`
MAX_LOCAL = 4_000_000  # numbers in all matrices up to which local="auto" gives each prototype its own
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
        return _sum_of(ridge, self.structure.of_weights(R))


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


def _sum_of(one: tuple[Array, Array] | None, other: tuple[Array, Array] | None) -> tuple[Array, Array] | None:
    """Two penalties in one."""
    if one is None or other is None:
        return one or other
    return one[0] + other[0], one[1] + other[1]


def _mean_of_features(values: Array) -> Array:
    """The mean over the last axis, at each of its places."""
    return values.mean(-1)[..., None] * namespace(values).ones_like(values)


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


def resolved_rank(rank: int | Literal["auto", "span"] | None, n_features: int) -> int:
    """Largest number of rows of Omega: "auto" is the number of features up to 64, and 32 for more.

    Examples
    --------
    >>> resolved_rank("auto", 30), resolved_rank("auto", 784), resolved_rank(None, 784)
    (30, 32, 784)
    """
    if rank == "auto":
        return n_features if n_features <= FULL_RANK_FEATURES else LOW_RANK
    return n_features if rank in (None, "span") else int(rank)


@dataclass(frozen=True)
class MatrixRelevance(Relevance):
    """A matrix Omega for all prototypes, or one for each class or prototype (Schneider et al. 2009).

    Parameters
    ----------
    weighted_step : bool, default=True
        Whether the prototypes' step carries Lambda = Omega'Omega; always so here.
    rank : int, "auto", "span" or None, default=None
        Rows of Omega; None means as many as features. "span" means as many as there are directions in which samples
        differ: the identity in these. So does None with fewer samples than features and `unit_trace=False`, or with
        fewer samples than features and more than 1,000 features.
    local : {None, "class", "prototype", "auto"}, default=None
        Whether each class or each prototype has its own matrix; None means one matrix for all. "auto" is "prototype"
        up to 4,000,000 numbers in all matrices, and None beyond.
    unit_trace : bool, default=True
        Keep every Omega at unit Frobenius norm. If False, the norm is learned too, by batch solvers only and best with
        a `ridge`; at the start the mean smallest squared distance is then one.
    ridge : float or "auto", default=0.0
        Weight of the penalty |Omega|^2 (for `unit_trace=False`). "auto" is 0.003, and from 500 samples on 1.5 divided
        by their number: the more samples, the less a penalty is needed.
    log_determinant : float, default=0.0
        Weight of the penalty -log det(Omega Omega')/2 that keeps the rank of Omega from falling (Schneider et al.
        2010).
    structure : Structure
        Excluded features, and penalties of the features' weights and of differences between neighbours; for batch
        solvers.
    shrinkage : float, default=0.0
        Weight of the penalty that draws matrices towards a shared one and scaled identities, `shrunk`.
    """

    weighted_step: bool = True
    rank: int | Literal["auto", "span"] | None = None
    local: Literal["class", "prototype", "auto"] | None = None
    unit_trace: bool = True
    ridge: float | Literal["auto"] = 0.0
    log_determinant: float = 0.0
    structure: Structure = UNSTRUCTURED
    shrinkage: float = 0.0

    def groups(self, labels: np.ndarray) -> tuple[int, ...]:
        """Limits of the groups with one matrix each: group k has the prototypes groups[k] to groups[k + 1]."""
        assert self.local != "auto"  # `for_data` has set it
        return (0, len(labels)) if self.local is None else prototype_groups(self.local, labels)

    def metric(self, labels: np.ndarray) -> Metric:
        """The matrix metric."""
        return Matrix() if self.local is None else LocalMatrix(self.groups(labels))

    def start(self, X: Array, y: Array, weight: Array, labels: np.ndarray) -> np.ndarray:
        """The identity at full rank, else discriminant directions; of unit norm."""
        n = X.shape[1]
        rank = resolved_rank(self.rank, n)
        if rank > n:
            raise ValueError(f"rank must be at most the number of features ({n}), got {rank}.")
        free = self.rank in (None, "auto") and rank == n and not self.unit_trace
        if free or self.rank == "span":
            # directions in which samples do not differ only shrink here; with unit trace they are part of the trace
            omega = span(X, weight)
        else:
            omega = np.eye(n) if rank == n else discriminant_directions(X, y, weight, rank)
        omega = self.structure.completed_columns(omega)
        omega = (omega / np.linalg.norm(omega)).astype(numpy_type(X))
        if self.local is None:
            return omega
        return np.repeat(omega[None], len(self.groups(labels)) - 1, axis=0)

    def for_data(self, n_samples: int, n_features: int, n_prototypes: int) -> "MatrixRelevance":
        """With the ridge for so many samples, and local matrices where they are not too large."""
        rule = self
        if self.ridge == "auto":
            rule = replace(rule, ridge=auto_ridge(n_samples))
        if self.local == "auto":
            size = n_prototypes * resolved_rank(self.rank, n_features) * n_features
            rule = replace(rule, local="prototype" if size <= MAX_LOCAL else None)
        return rule

    @property
    def needs_unit(self) -> bool:
        """Where the size is free, ridge and shrinkage are in the unit of the features."""
        return not self.unit_trace and (self.ridge != 0 or self.shrinkage != 0)

    def in_units(self, variance: float) -> "MatrixRelevance":
        """With ridge and shrinkage times the variance: the result does not depend on the unit of the features."""
        assert self.ridge != "auto"
        return replace(self, ridge=self.ridge * variance, shrinkage=self.shrinkage * variance)

    def in_span(self, n_samples: int, n_features: int) -> "MatrixRelevance":
        """With more than 1,000 features and fewer samples Omega sees only the directions in which samples differ."""
        if self.rank is None and n_samples < n_features and n_features > MAX_SQUARE:
            return replace(self, rank="span")
        return self

    def scaled_start(self, R: Array, spread: float) -> Array:
        """Where the size is free it starts at a mean smallest squared distance of one."""
        return R if self.unit_trace else (R / spread**0.5).astype(R.dtype)

    def constrained(self, free: Array) -> Array:
        """Omega = A/|A| with unit trace, else A itself; with excluded columns 0, and columns of a given fraction."""
        free = self.structure.completed_columns(free)
        return free / _norms(free) if self.unit_trace else free

    def pull_back(self, free: Array, R: Array, by_relevance: Array) -> Array:
        """(G - <G, Omega> Omega)/|A|."""
        if self.unit_trace:
            size = _norms(self.structure.completed_columns(free))
            by_relevance = (by_relevance - (by_relevance * R).sum((-2, -1))[..., None, None] * R) / size
        return self.structure.by_columns(free, by_relevance)

    def penalty(self, R: Array) -> tuple[Array, Array] | None:
        """ridge |Omega|^2 - log_determinant/2 log det(Omega Omega'), summed, the shrinkage, and the structure's."""
        assert self.ridge != "auto"  # `for_data` has set it
        if self.ridge == 0 and self.log_determinant == 0 and self.shrinkage == 0:
            return self.structure.of_matrices(R)
        value, gradient = self.ridge * (R * R).sum(), 2 * self.ridge * R
        if self.log_determinant > 0:
            xp = namespace(R)
            square = R @ xp.swapaxes(R, -1, -2)
            value = value - self.log_determinant / 2 * xp.linalg.slogdet(square)[1].sum()
            gradient = gradient - self.log_determinant * xp.linalg.solve(square, R)
        if self.shrinkage > 0:
            size, by_matrix = shrunk(R)
            value, gradient = value + self.shrinkage * size, gradient + self.shrinkage * by_matrix
        return _sum_of((value, gradient), self.structure.of_matrices(R))


def shrunk(omega: Array) -> tuple[Array, Array]:
    """Smallest sum of |A|^2 and all |B_j|^2 with Omega_j = s_j I + A + B_j, and its gradient by Omega.

    With Q_j = Omega_j - s_j I, where s_j is the mean of the diagonal, the best A is the sum of all Q_j over K + 1.
    Matrices that are not square have no s_j.

    Examples
    --------
    >>> import numpy as np
    >>> float(shrunk(np.stack([np.eye(2), 3 * np.eye(2)]))[0]), float(shrunk(np.array([[0.0, 1.0], [0.0, 0.0]]))[0])
    (0.0, 0.5)
    """
    m, n = omega.shape[-2:]
    rest = omega
    if m == n:
        unit = beside(np.eye(n, dtype=numpy_type(omega)), omega)
        rest = omega - ((omega * unit).sum((-2, -1)) / n)[..., None, None] * unit
    every = rest if omega.ndim == 3 else rest[None]
    shared = every.sum(0) / (every.shape[0] + 1)
    return (rest * rest).sum() - (every.shape[0] + 1) * (shared * shared).sum(), 2 * (rest - shared)


def _norms(omega: Array) -> Array:
    return (omega * omega).sum((-2, -1))[..., None, None] ** 0.5  # of an array: NumPy 1 makes a scalar's root float64


@dataclass(frozen=True)
class LocalMatrixRelevance(MatrixRelevance):
    """A matrix for each class."""

    local: Literal["class", "prototype", "auto"] | None = "class"


RELEVANCES: dict[str, type[Relevance]] = {
    "gradient": GradientRelevance,
    "matrix": MatrixRelevance,
    "local_matrix": LocalMatrixRelevance,
    "local_diagonal": LocalDiagonalRelevance,
    "local_scale": LocalScaleRelevance,
    "hebbian": Hebbian,
    "fc1": FisherPrototypes,
    "fc2": FisherNeighbours,
}
