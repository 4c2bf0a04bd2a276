"""What is minimised: metric -> link -> cost -> pullback, the value and the gradient of all costs.

The objective is the weighted mean of the samples' costs. Parameters are plain arrays; the width of a kernel enters by
its logarithm, so any real number is allowed. Rows are taken in blocks, which bounds memory whatever the
number of samples.

Counted in flops for N samples, M prototypes, n features and m rows of Omega, margin costs need
2NMn (plain) or 2N(2mn + Mm) (matrix) in matrix products: the images, their products with the prototypes, and dOmega.
The pullback touches two prototypes a sample and is a scatter of 2N rows, O(Nn), not a second N x M product. Soft costs
touch every prototype and need that second product.

Batch solvers see a `Problem`, the objective as a function of free parameters, which are unconstrained and of order one:
prototypes in units of the data's spread from a centre, the relevance rule's own free form in one over the unit of the
features, and the logarithm of a learned width.

Few samples of many features are trained in coordinates of their span, `sample_space`. A step of training moves
prototypes along differences of samples and prototypes, and changes Omega by products with these. So prototypes that
start in the span of the samples stay there, and the rows of Omega stay in its directions. With orthonormal rows Q of
the span, x = c + Q'a and w = c + Q'b, distances are |Omega (x - w)| = |Omega Q' (a - b)|. Training with a for x, b for
w and Omega Q' for Omega has the same products, hence the same values and the same steps but for rounding; only the
steps of Adam, which are scaled for each coordinate, depend on the axes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from lvq.model.costs import CostOrRule, MarginCost, WindowRule, WinnerRule
from lvq.model.links import Kernel, Link
from lvq.model.local_metrics import LocalMahalanobis
from lvq.model.metrics import DistanceGradient, Euclidean, Mahalanobis, Metric
from lvq.model.relevance import ONE, DataScale, Relevance
from lvq.model.rows import (
    as_columns,
    beside,
    has_missing,
    is_sparse,
    like,
    namespace,
    row_squares,
    take_along,
    unit_rows,
)
from lvq.model.samples import ArraySamples
from lvq.typing import Array

MIN_ROWS = 128  # of one block, at least: less is not worth a thread's call
SPARSE_SCORES = 2**23  # distances of a block of sparse samples
MAX_LOG_WIDTH = 300.0  # largest absolute logarithm of a learned width: its square must neither overflow nor vanish
WIDE = 2  # features for each sample from which training is in the span; below, the coordinates cost more than they save
MIN_FEATURES = 64  # with fewer nothing is saved, and a weight must be a number of copies, which are more samples
OUTSIDE = 1e4  # largest part of a row outside of the span, in units of the type's epsilon, that is rounding


class Params(NamedTuple):
    """What is learned: prototypes (M, n), the metric's parameters, and the kernel's width.

    In a gradient the third entry is the derivative by the logarithm of the width.
    """

    prototypes: Array
    relevance: Array | None = None
    width: Array | None = None


@dataclass(frozen=True)
class PartialSum:
    """A part of the objective and its gradient."""

    value: Array
    gradient: Params

    def __add__(self, other: "PartialSum") -> "PartialSum":
        parts = (None if a is None else a + b for a, b in zip(self.gradient, other.gradient))
        return PartialSum(self.value + other.value, Params(*parts))


@dataclass(frozen=True)
class Objective:
    """The mean cost of samples as a function of `Params`.

    Parameters
    ----------
    metric, link, cost : objects
        The parts.
    labels : array of shape (M,)
        Class indices of the prototypes, ascending.
    """

    metric: Metric
    link: Link
    cost: CostOrRule
    labels: Array

    def total(self, params: Params, samples: ArraySamples) -> PartialSum:
        """Weighted sum of the costs and its gradient, over blocks of samples."""
        block = BlockObjective(self, params)
        return samples.reduce(block, block.rows(samples))

    def beside(self, params: Params, samples: ArraySamples, centre: Array) -> "tuple[Objective, Params]":
        """The same where samples relative to a centre are, with all arrays of their type."""
        if not samples.in_memory:
            return self, params._replace(prototypes=params.prototypes - centre)
        X = samples.X
        relevance = None if params.relevance is None else like(beside(params.relevance, X), X)
        there = Params(like(beside(params.prototypes, X) - centre, X), relevance, params.width)
        return replace(self, labels=beside(self.labels, X)), there


class BlockObjective:
    """The objective of a block of samples; what is the same for all blocks is computed once, by the metric."""

    def __init__(self, objective: Objective, params: Params) -> None:
        assert not isinstance(objective.cost, WinnerRule | WindowRule)
        self.objective, self.params, self.cost = objective, params, objective.cost
        self.link, self.labels = objective.link, objective.labels
        if params.width is not None and isinstance(self.link, Kernel):
            self.link = self.link.with_width(params.width)
        self.prepared = objective.metric.prepare(params.prototypes, params.relevance)

    def __reduce__(self) -> "tuple[Callable[..., BlockObjective], tuple[Objective, Params]]":
        """To another process only the parameters are sent; what follows from them is computed there."""
        return BlockObjective, (self.objective, self.params)

    def __call__(self, block: ArraySamples) -> PartialSum:
        """Weighted sum of the samples' costs, and its gradient."""
        X, y, weight = block
        D, touched, cache = self._distances(X, y)
        H = self.link.value(D)
        if touched is None:
            cost, by_link = self.cost.value_and_derivative(H, y, self.labels)
            if by_link.touched is not None:
                touched = by_link.touched
                D = take_along(D, touched)
            slope = by_link.value
        else:  # links are increasing: the two nearest prototypes are found before the link
            assert isinstance(self.cost, MarginCost)
            cost, slope = self.cost.of_pairs(H, y, self.labels, touched)
        by_distance = DistanceGradient(slope * self.link.derivative(D) * weight[:, None], touched)
        by_prototype, by_relevance = self.prepared.pullback(X, cache, by_distance)
        by_width = None if self.params.width is None else -2 * (by_distance.value * D).sum()
        return PartialSum(weight @ cost, Params(by_prototype, by_relevance, by_width))

    def _distances(self, X: Array, y: Array) -> tuple[Array, Array | None, Array]:
        """Distances to all prototypes, or to the nearest own and other with their indices; and the metric's cache."""
        if not isinstance(self.cost, MarginCost):
            D, cache = self.prepared.distances(X)
            return D, None, cache
        pair, cache = self.prepared.nearest_pair(X, y, self.labels)
        return as_columns(pair.d_plus, pair.d_minus), as_columns(pair.own, pair.other), cache

    def rows(self, samples: ArraySamples) -> int:
        """Rows to take at a time; a function of the sizes alone: sums do not depend on threads."""
        columns = len(self.labels) + self.prepared.columns
        if samples.in_memory and is_sparse(samples.X):  # the gradient of each block is as large as all prototypes
            return max(MIN_ROWS, SPARSE_SCORES // len(self.labels))
        return max(MIN_ROWS, samples.block_rows(columns))


# -- free parameters ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """The objective of free parameters.

    Parameters
    ----------
    objective : Objective
        Metric, link, cost and labels.
    relevance : Relevance
        How the metric's parameters are constrained and penalised.
    unit : float
        Length by which prototypes are measured.
    scale : DataScale
        Variance of a feature and number of samples: what a ridge is measured in.
    fixed_relevance : bool
        Whether the metric stays as it is: its gradient is 0.
    centre : array of shape (n_features,), optional
        Where prototypes have length one, the point that samples and prototypes are relative to: a prototype is then
        v/|v| for its free parameters v, minus the centre.
    """

    objective: Objective
    relevance: Relevance
    unit: float = 1.0
    scale: DataScale = ONE
    fixed_relevance: bool = False
    centre: Array | None = None

    @property
    def feature_unit(self) -> float:
        """Typical deviation of a feature: the metric's free parameters are multiplied by it."""
        return float(np.sqrt(self.scale.variance))

    def free(self, params: Params) -> Params:
        """Free parameters of a model."""
        relevance = None if params.relevance is None else self.relevance.free(params.relevance) * self.feature_unit
        width = None if params.width is None else np.log(params.width)
        W = params.prototypes if self.centre is None else params.prototypes + self.centre
        return Params(W / self.unit, relevance, width)

    def params(self, free: Params) -> Params:
        """The model of free parameters."""
        relevance = None if free.relevance is None else self.relevance.constrained(free.relevance / self.feature_unit)
        width = None if free.width is None else _width(free.width)
        W = free.prototypes * self.unit if self.centre is None else unit_rows(free.prototypes) - self.centre
        return Params(W, relevance, width)

    def value_and_gradient(self, free: Params, samples: ArraySamples) -> tuple[Array, Params]:
        """Mean cost plus penalty, and the gradient by the free parameters."""
        params = self.params(free)
        total = self.objective.total(params, samples)
        value, gradient = total.value, total.gradient
        by_relevance = gradient.relevance
        if by_relevance is not None:
            assert free.relevance is not None
            penalty = self.relevance.penalty(params.relevance, self.scale)
            if penalty is not None:
                value, by_relevance = value + penalty[0], by_relevance + penalty[1]
            own = free.relevance / self.feature_unit
            by_relevance = self.relevance.pull_back(own, params.relevance, by_relevance) / self.feature_unit
            by_relevance = by_relevance * (0.0 if self.fixed_relevance else 1.0)
        by_prototypes = gradient.prototypes * self.unit
        if self.centre is not None:
            by_prototypes = _along_sphere(free.prototypes * self.unit, by_prototypes)
        return value, Params(by_prototypes, by_relevance, gradient.width)


def _along_sphere(V: Array, by_prototypes: Array) -> Array:
    """The gradient by v of a function of w = v/|v|: (I - w w') g/|v|."""
    W = unit_rows(V)
    inward = (by_prototypes * W).sum(1)[:, None] * W
    return (by_prototypes - inward) / row_squares(V)[:, None] ** 0.5


def _width(logarithm: Array | float) -> Array | float:
    xp = namespace(logarithm)
    return xp.exp(xp.clip(logarithm, -MAX_LOG_WIDTH, MAX_LOG_WIDTH))


# -- the span of the samples -------------------------------------------------------------------------------------------


class SampleSpace(NamedTuple):
    """A centre (n,) and orthonormal rows (r, n) that span all samples from it."""

    centre: np.ndarray
    rows: np.ndarray

    def samples(self, samples: ArraySamples) -> ArraySamples:
        """The samples in coordinates of the span."""
        return ArraySamples(_images(samples.X - self.centre, self.rows), samples.y, samples.weight)

    def inside(self, params: Params) -> Params | None:
        """Parameters in coordinates of the span; None where they are not in it."""
        moved = params.prototypes - self.centre
        W, R = _inside(moved, self.rows), None
        if params.relevance is not None:
            R = _inside(params.relevance, self.rows)
        if W is None or (R is None) != (params.relevance is None):
            return None
        return Params(W, R, params.width)

    def outside(self, params: Params) -> Params:
        """Parameters in features."""
        W, R = params.prototypes, params.relevance
        return Params(
            self.centre + (W @ self.rows).astype(W.dtype),
            None if R is None else (R @ self.rows).astype(R.dtype),
            params.width,
        )


def sample_space(samples: ArraySamples, metric: Metric) -> SampleSpace | None:
    """The span of the samples, where they have 64 features and twice their number, and no axis counts more.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(0).normal(size=(5, 100))
    >>> samples = ArraySamples(X, np.arange(5), np.ones(5))
    >>> space = sample_space(samples, Euclidean())
    >>> space.samples(samples).X.shape, bool(np.allclose(space.outside(space.inside(Params(X))).prototypes, X))
    ((5, 5), True)
    """
    if not samples.in_memory or not isinstance(samples.X, np.ndarray) or has_missing(samples.X):
        return None
    if type(metric) not in (Euclidean, Mahalanobis, LocalMahalanobis) or samples.n_features < max(
        MIN_FEATURES, WIDE * samples.n_samples
    ):
        return None
    centre = samples.centre()
    basis, _ = qr((samples.X - centre).T.astype(np.float64), mode="economic", overwrite_a=True, check_finite=False)
    return SampleSpace(centre, np.ascontiguousarray(basis.T))


def _images(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return (values @ rows.T).astype(values.dtype)


def _inside(values: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
    """Coordinates of vectors, the last axis; None where they have parts outside of the span."""
    found = _images(values, rows)
    rest = np.abs(values - found @ rows).max(initial=0)
    largest = np.abs(values).max(initial=0)
    return found if rest <= OUTSIDE * float(np.finfo(values.dtype).eps) * float(largest) else None
