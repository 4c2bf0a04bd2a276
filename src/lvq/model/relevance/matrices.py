"""Rules for matrices Omega: one for all prototypes, or one for each class or prototype."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lvq.model.arrays import beside, namespace, numpy_type
from lvq.model.directions import discriminant_directions, span
from lvq.model.local_matrix import LocalMatrix
from lvq.model.metrics import Matrix, Metric
from lvq.model.relevance.rule import Relevance, auto_ridge, prototype_groups, sum_of
from lvq.model.structure import UNSTRUCTURED, Structure
from lvq.typing import Array

FULL_RANK_FEATURES, LOW_RANK = 64, 32  # features up to which rank="auto" is full, and its rank beyond
MAX_SQUARE = 1000  # features up to which a full matrix has as many rows, also with fewer samples
MAX_LOCAL = 4_000_000  # numbers in all matrices up to which local="auto" gives each prototype its own


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
        return sum_of((value, gradient), self.structure.of_matrices(R))


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
