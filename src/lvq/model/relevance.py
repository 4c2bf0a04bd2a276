"""Relevance rules: the parameters of the metric, their start, constraints and penalties, and how they are learned.

`None` in an estimator means the plain metric. A rule has a `metric` (its shape) and `smooth`: whether its step is a
gradient, which batch solvers need. Relevances lambda are non-negative and sum to one and every Omega has unit Frobenius
norm, unless a rule learns their size (`ridge`).

Batch solvers minimise a function without constraints: they change free parameters, and the metric's parameters are
`constrained(free)`.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from lvq.model.links import Part
from lvq.model.local_metrics import LocalDiagonal, LocalMahalanobis
from lvq.model.metrics import Diagonal, Euclidean, Mahalanobis, Metric
from lvq.model.rows import like, namespace
from lvq.model.samples import ArraySamples
from lvq.model.starts import discriminant_directions, span
from lvq.model.structure import Structure
from lvq.typing import Array

PENALTY_SAMPLES = 500  # number of samples from which ridge and shrinkage fall as 1/n_samples
FULL_RANK_FEATURES, LOW_RANK = 64, 32  # features up to which rank="auto" is full, and its rank beyond
MAX_SQUARE = 1000  # features up to which a full matrix has as many rows, also with fewer samples

Local = Literal["class", "prototype"]
Penalty = tuple[Array, Array]


class DataScale(NamedTuple):
    """What a ridge is measured in: the median variance of a feature, and the number of samples."""

    variance: float
    n_samples: int


ONE = DataScale(1.0, 1)


@dataclass(frozen=True)
class Relevance(Part):
    """Base of the rules; itself the rule of the plain metric, which has no parameters."""

    smooth: ClassVar[bool] = True
    rate: ClassVar[float] = 0.01  # of the online solver, unless it is given
    weighted_step: ClassVar[bool] = False  # whether a prototype's step is multiplied by the metric, as a gradient is
    free_size: ClassVar[bool] = False  # whether the size of the metric is learned

    def metric(self, labels: np.ndarray) -> Metric:
        """The metric for prototypes with these class indices."""
        return Euclidean()

    def start(self, samples: ArraySamples, labels: np.ndarray, *, stream: bool = False) -> np.ndarray | None:
        """Starting parameters of the metric, of unit size; samples of a stream are only its first ones."""
        return None

    def scaled(self, R: np.ndarray, factor: float) -> np.ndarray:
        """Parameters whose distances are multiplied by a factor."""
        return (R * factor).astype(R.dtype)

    def free(self, R: Array) -> Array:
        """Free parameters that give R."""
        return R

    def constrained(self, free: Array) -> Array:
        """The metric's parameters."""
        return free

    def pull_back(self, free: Array, R: Array, by_relevance: Array) -> Array:
        """Gradient by the free parameters from the gradient by R."""
        return by_relevance

    def penalty(self, R: Array, scale: DataScale) -> Penalty | None:
        """A term added to the mean cost, and its gradient by R; None where there is none."""
        return None


@dataclass(frozen=True)
class Structured(Relevance, Structure):
    """Base of the rules learned by gradient: local or shared, with what is known about the features."""

    weighted_step: ClassVar[bool] = True
    local: Local | None = None
    ridge: float = 0.0
    feature_groups: Sequence[Hashable] | None = field(default=None, compare=False)
    smoothness: float = 0.0

    @property
    def free_size(self) -> bool:  # type: ignore[override]
        """Whether the size of the metric is learned: with a ridge."""
        return self.ridge > 0

    def groups(self, labels: np.ndarray) -> tuple[int, ...]:
        """Limits of the groups of prototypes with a metric each.

        Examples
        --------
        >>> Matrix(local="class").groups(np.array([0, 0, 1])), Weights(local="prototype").groups(np.array([0, 0, 1]))
        ((0, 2, 3), (0, 1, 2, 3))
        """
        if self.local is None:
            return (0, len(labels))
        if self.local == "prototype":
            return tuple(range(len(labels) + 1))
        return (0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels))

    def penalty_unit(self, R: Array, scale: DataScale) -> float:
        """The unit of a penalty that is a sum over groups of prototypes; it does not depend on their number.

        With a learned size it does not depend on the unit of the features either.
        """
        n_groups = 1 if self.local is None else R.shape[0]
        variance = scale.variance if self.free_size else 1.0
        return variance * min(1.0, PENALTY_SAMPLES / scale.n_samples) / n_groups


@dataclass(frozen=True)
class Weights(Structured):
    """A relevance for each feature by the gradient of the cost (GRLVQ: Hammer and Villmann 2002), shared or local.

    Parameters
    ----------
    local : {"class", "prototype"}, optional
        Whether each class or each prototype has its own relevances; None means the same for all.
    ridge : float, default=0.0
        Weight of the penalty, the sum of lambda (its mean over groups of prototypes) times the median variance of a
        feature; with a ridge the sum of lambda is learned, without one it is one. From 500 samples on the weight falls
        as one over their number. Batch solvers only.
    feature_groups : sequence of str, int or None, optional
        A label for each feature: features with the same label have the same weight, such as the columns of a one-hot
        variable or the wavelengths of a band; None excludes a feature. Batch solvers only.
    smoothness : float, default=0.0
        Weight of the squared differences between neighbouring features, for features that have an order, as in
        spectra. Batch solvers only.
    """

    def metric(self, labels: np.ndarray) -> Metric:
        """The weighted metric, for each group if local."""
        return Diagonal() if self.local is None else LocalDiagonal(self.groups(labels))

    def start(self, samples: ArraySamples, labels: np.ndarray, *, stream: bool = False) -> np.ndarray:
        """All features that are used equal."""
        used = self.used(np.ones(samples.n_features))
        start = (used / used.sum()).astype(samples.dtype)
        return start if self.local is None else np.repeat(start[None], len(self.groups(labels)) - 1, axis=0)

    def free(self, R: Array) -> Array:
        """Square roots."""
        return R**0.5

    def constrained(self, free: Array) -> Array:
        """lambda = u/sum(u) of unit size, else u; u is the mean of v^2 over each group of features."""
        shared = self.shared(free**2)
        return shared if self.free_size else shared / shared.sum(-1)[..., None]

    def pull_back(self, free: Array, R: Array, by_relevance: Array) -> Array:
        """2 v times the mean over each group of (g - lambda'g)/sum(u), or of g."""
        if not self.free_size:
            total = self.shared(free**2).sum(-1)[..., None]
            by_relevance = (by_relevance - (R * by_relevance).sum(-1)[..., None]) / total
        return 2 * free * self.shared(by_relevance)

    def penalty(self, R: Array, scale: DataScale) -> Penalty | None:
        """ridge times the sum of all lambda, and the penalty of the structure."""
        ridge = self.ridge * self.penalty_unit(R, scale)
        own = None if ridge == 0 else (ridge * R.sum(), ridge * namespace(R).ones_like(R))
        return _sum_of(own, self.penalty_of_weights(R))


@dataclass(frozen=True)
class Scale(Weights):
    """One learned scale for each class or prototype: all features have the same weight there. Batch solvers only.

    Parameters
    ----------
    local : {"class", "prototype"}, default="class"
        Whether each class or each prototype has its own scale.
    ridge : float, default=0.0
        Weight of the penalty, as in `Weights`.
    """

    free_size: ClassVar[bool] = True
    local: Local | None = "class"
    feature_groups: None = field(default=None, init=False)
    smoothness: float = field(default=0.0, init=False)

    def shared(self, values: Array) -> Array:
        """The mean over all features, which are one group."""
        return values.mean(-1)[..., None] * namespace(values).ones_like(values)


@dataclass(frozen=True)
class Matrix(Structured):
    """A matrix Omega for all prototypes, or one for each class or prototype (Schneider et al. 2009).

    Parameters
    ----------
    local : {"class", "prototype"}, optional
        Whether each class or each prototype has its own matrix; None means one matrix for all.
    ridge : float, default=0.0
        Weight of the penalty, |Omega|^2 (its mean over groups of prototypes) times the median variance of a feature;
        with a ridge the norm of Omega is learned, without one it is one. From 500 samples on the weight falls as one
        over their number. Batch solvers only.
    feature_groups : sequence of str, int or None, optional
        None excludes a feature, as in `Weights`; all other labels must differ, as a matrix has no equal weights.
    smoothness : float, default=0.0
        As in `Weights`, for the rows of Omega, relative to |Omega|^2.
    rank : int, "auto" or None, default=None
        Rows of Omega. None means as many as features; with fewer samples than features, and a ridge or more than 1,000
        features, as many as there are directions in which samples differ. "auto" is the same up to 64 features, and 32
        for more.
    log_determinant : float, default=0.0
        Weight of the penalty -log det(Omega Omega')/2 that keeps the rank of Omega from falling (Schneider et al.
        2010). Batch solvers only.
    shrinkage : float, default=0.0
        Weight of the penalty that draws matrices towards a shared one and scaled identities, see `shrunk`: a mean over
        groups of prototypes that falls with the number of samples, like the ridge. Batch solvers only.
    """

    rate: ClassVar[float] = 0.001
    rank: int | Literal["auto"] | None = None
    log_determinant: float = 0.0
    shrinkage: float = 0.0

    def metric(self, labels: np.ndarray) -> Metric:
        """The matrix metric, for each group if local."""
        return Mahalanobis() if self.local is None else LocalMahalanobis(self.groups(labels))

    def n_rows(self, n_features: int) -> int:
        """Largest number of rows of Omega.

        Examples
        --------
        >>> Matrix(rank="auto").n_rows(30), Matrix(rank="auto").n_rows(784), Matrix().n_rows(784)
        (30, 32, 784)
        """
        if self.rank == "auto":
            return n_features if n_features <= FULL_RANK_FEATURES else LOW_RANK
        return n_features if self.rank is None else int(self.rank)

    def start(self, samples: ArraySamples, labels: np.ndarray, *, stream: bool = False) -> np.ndarray:
        """The identity, in the span of the samples where they are few, or discriminant directions; of unit norm."""
        n = samples.n_features
        rank = self.n_rows(n)
        full = rank == n and not isinstance(self.rank, int | np.integer)
        if full and not stream and (self.free_size or (samples.n_samples < n and n > MAX_SQUARE)):
            # directions in which samples do not differ only shrink there; at unit norm they are part of the norm
            omega = span(samples)
        else:
            omega = np.eye(n) if rank == n else discriminant_directions(samples, rank)
        omega = self.used(omega)
        omega = (omega / np.linalg.norm(omega)).astype(samples.dtype)
        return omega if self.local is None else np.repeat(omega[None], len(self.groups(labels)) - 1, axis=0)

    def scaled(self, R: np.ndarray, factor: float) -> np.ndarray:
        """Matrices whose distances are multiplied by a factor."""
        return super().scaled(R, factor**0.5)

    def constrained(self, free: Array) -> Array:
        """Omega = A/|A| of unit size, else A itself; excluded columns are 0."""
        free = self.used(free)
        return free if self.free_size else free / _norms(free)

    def pull_back(self, free: Array, R: Array, by_relevance: Array) -> Array:
        """(G - <G, Omega> Omega)/|A|."""
        if not self.free_size:
            inside = (by_relevance * R).sum((-2, -1))[..., None, None] * R
            by_relevance = (by_relevance - inside) / _norms(self.used(free))
        return self.used(by_relevance)

    def penalty(self, R: Array, scale: DataScale) -> Penalty | None:
        """ridge times mean |Omega|^2 - log_determinant/2 log det(Omega Omega'), the shrinkage, the structure's."""
        unit, total = self.penalty_unit(R, scale), self.penalty_of_matrices(R)
        ridge = self.ridge * unit
        if ridge > 0:
            total = _sum_of(total, (ridge * (R * R).sum(), 2 * ridge * R))
        if self.log_determinant > 0:
            xp, weight = namespace(R), self.log_determinant
            square = R @ xp.swapaxes(R, -1, -2)
            value = -weight / 2 * xp.linalg.slogdet(square)[1].sum()
            total = _sum_of(total, (value, -weight * xp.linalg.solve(square, R)))
        if self.shrinkage > 0:
            weight = self.shrinkage * unit
            size, by_matrix = shrunk(R)
            total = _sum_of(total, (weight * size, weight * by_matrix))
        return total


def shrunk(omega: Array) -> Penalty:
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
        unit = like(np.eye(n), omega)
        rest = omega - ((omega * unit).sum((-2, -1)) / n)[..., None, None] * unit
    every = rest if omega.ndim == 3 else rest[None]
    shared = every.sum(0) / (every.shape[0] + 1)
    return (rest * rest).sum() - (every.shape[0] + 1) * (shared * shared).sum(), 2 * (rest - shared)


def _norms(omega: Array) -> Array:
    return (omega * omega).sum((-2, -1))[..., None, None] ** 0.5  # of an array: NumPy 1 makes a scalar's root float64


def _sum_of(one: Penalty | None, other: Penalty | None) -> Penalty | None:
    """Two penalties in one."""
    if one is None or other is None:
        return one or other
    return one[0] + other[0], one[1] + other[1]


@dataclass(frozen=True)
class RuleWeights(Relevance):
    """Base of the rules that change a relevance for each feature sample by sample, without a gradient."""

    smooth: ClassVar[bool] = False
    rate: ClassVar[float] = 1e-4
    weighted_step: bool = False  # type: ignore[misc]

    def metric(self, labels: np.ndarray) -> Metric:
        """The weighted metric."""
        return Diagonal()

    def start(self, samples: ArraySamples, labels: np.ndarray, *, stream: bool = False) -> np.ndarray:
        """All features equal."""
        return np.full(samples.n_features, 1 / samples.n_features, dtype=samples.dtype)


@dataclass(frozen=True)
class Hebbian(RuleWeights):
    """lambda grows for features in which a correct winner is near the sample (RLVQ: Bojer et al. 2001).

    Parameters
    ----------
    weighted_step : bool, default=False
        Whether the prototypes' step carries lambda.
    squared : bool, default=False
        Change lambda by (x - w)^2, as printed in Ridge et al., instead of |x - w|, as in Bojer et al.
    """

    squared: bool = False


@dataclass(frozen=True)
class Fisher(RuleWeights):
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

    scores: Literal["sum", "max"] = "sum"
    no_variance: Literal["zero", "between"] = "zero"

    def start(self, samples: ArraySamples, labels: np.ndarray, *, stream: bool = False) -> np.ndarray:
        """All features equal."""
        start = super().start(samples, labels)
        return start if self.scores == "sum" else np.ones_like(start)


@dataclass(frozen=True)
class FisherPrototypes(Fisher):
    """FC1: variances between and within the classes, over the prototypes, weighted by their correct wins.

    Parameters
    ----------
    weighted_step, scores, no_variance
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
    weighted_step, scores, no_variance
        As in `Fisher`.
    rivals : {"all", "nearest"}, default="all"
        Compare the nearest prototypes of all classes, as printed, or, as in the published results, the winner with the
        nearest prototype of another class.
    """

    rivals: Literal["all", "nearest"] = "all"


#: The rules that a string names, with their defaults.
RELEVANCES: dict[str, Relevance] = {
    "gradient": Weights(),
    "matrix": Matrix(),
    "local_matrix": Matrix(local="class"),
    "local_diagonal": Weights(local="class"),
    "local_scale": Scale(),
    "hebbian": Hebbian(),
    "fc1": FisherPrototypes(),
    "fc2": FisherNeighbours(),
}
