"""Training samples as starts and solvers use them: their number, random samples of them, and sums over blocks.

A solver needs only sums of a function over blocks of rows, in a fixed order, so that the result does not depend on
threads or on where the blocks are. `ArraySamples` holds the samples in memory.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import ClassVar, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from lvq.model.arrays import as_numpy, is_tensor, like, namespace, round_centre, wide
from lvq.model.feature_moments import FeatureMoments
from lvq.model.metrics import Metric
from lvq.model.sparse_rows import is_sparse, squared, take_rows
from lvq.typing import Array

THINNED = 8192  # samples, about, from which units, centres and the features' variances are computed
MOVED_NUMBERS = 2**20  # of samples that are copied at a time: few enough to stay in a processor's cache
ON_DEVICE = 64  # times as many on a device, where each call has a cost of its own
VARYING = 1e-24  # of the largest variance, below which a feature counts as constant

Total = TypeVar("Total")
Item = TypeVar("Item")
Value = TypeVar("Value")


class Map(Protocol):
    """Interface of the built-in `map`; another one may work in parallel."""

    def __call__(self, function: Callable[[Item], Value], items: Iterable[Item], /) -> Iterable[Value]:
        """Values of the function, in the order of the items."""


class Block(NamedTuple):
    """Some samples, their class indices, and their weights."""

    X: Array
    y: Array
    weight: Array


class Samples(Protocol):
    """Interface of the training samples for starts and solvers."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    def sample(self, k: int | None, random_state: np.random.RandomState) -> Block:
        """At most k samples, drawn without replacement; None for all of them."""

    def reduce(self, function: Callable[[Block], Total], rows: int, mapping: Map = map) -> Total:
        """Sum of a function over blocks of at most `rows` samples, in a fixed order; `mapping` may work in parallel."""


@dataclass(frozen=True)
class ArraySamples:
    """Samples in memory: a NumPy array, a CSR array or a torch tensor.

    Examples
    --------
    >>> import numpy as np
    >>> samples = ArraySamples(np.ones((5, 2)), np.zeros(5, dtype=int), np.ones(5))
    >>> samples.reduce(lambda block: block.X.sum(axis=0), rows=2).tolist()
    [5.0, 5.0]
    """

    in_memory: ClassVar[bool] = True  # whether single samples can be taken
    X: Array
    y: Array
    weight: Array

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.X.shape[1]

    def sample(self, k: int | None, random_state: np.random.RandomState) -> Block:
        """At most k samples, drawn without replacement; None for all of them."""
        if k is None or k >= self.n_samples:
            return Block(self.X, self.y, self.weight)
        return self.take(np.sort(random_state.choice(self.n_samples, k, replace=False)))

    def reduce(self, function: Callable[[Block], Total], rows: int, mapping: Map = map) -> Total:
        """Sum of a function over blocks of at most `rows` samples, in a fixed order; `mapping` may work in parallel."""
        blocks = (slice(begin, begin + rows) for begin in range(0, self.n_samples, rows))
        return reduce(add, mapping(lambda rows: function(self.take(rows)), blocks))

    def take(self, rows: slice | Array) -> Block:
        """Some samples by slice or index."""
        return Block(take_rows(self.X, rows), self.y[rows], self.weight[rows])

    def start_rows(self, init: str, n_prototypes: int, random_state: np.random.RandomState) -> Block:
        """Samples from which prototypes start: all."""
        return self.sample(None, random_state)

    def metric_rows(self) -> Block:
        """Samples from whose means and covariances the metric starts: all."""
        return Block(self.X, self.y, self.weight)

    def arranged(self, centre: Array, *, single: bool = False) -> Self:
        """The same samples class by class, relative to a centre, with weights of sum one; on request in float32."""
        order = self.y.argsort(stable=True) if is_tensor(self.X) else np.argsort(self.y, kind="stable")
        X = self.X[order] if is_sparse(self.X) else _moved_rows(self.X, order, centre, single)
        weight = self.weight[order]
        return type(self)(X, self.y[order], like(weight / weight.sum(), X))

    def centre(self) -> Array:
        """A point near the mean with few digits, so that subtracting it is exact for round numbers.

        The origin for sparse samples, which stay as they are.
        """
        return np.zeros(self.n_features, dtype=self.X.dtype) if is_sparse(self.X) else round_centre(self.thinned().X)

    def chosen(self, rows: Array, factor: float = 1.0) -> "ArraySamples":
        """Some samples by index, their weights multiplied by a factor."""
        block = self.take(rows)
        return ArraySamples(block.X, block.y, block.weight * factor)

    def normalised(self) -> "ArraySamples":
        """The same samples with weights of sum one."""
        return ArraySamples(self.X, self.y, self.weight / self.weight.sum())

    def filled(self) -> "ArraySamples":
        """The same samples, with a number in place of each missing value."""
        return self

    def with_nan(self) -> "ArraySamples":
        """The same samples, with NaN in place of each missing value."""
        return self

    def variances(self) -> np.ndarray:
        """Weighted variance of each feature."""
        return self.moments().variances()

    def moments(self) -> FeatureMoments:
        """Mean and variance of each feature, which a stream continues."""
        return FeatureMoments.of(self.X, self.weight)

    def thinned(self) -> Self:
        """Every k-th sample where there are many, for what is computed once and needs not be exact."""
        rows = slice(None, None, max(1, self.n_samples // THINNED))
        return type(self)(take_rows(self.X, rows), self.y[rows], self.weight[rows])

    def typical_variance(self) -> float:
        """Median of the features' variances, of every k-th sample where there are many."""
        some = self.thinned()
        X, weight = some.X, wide(some.weight)
        weight = weight / weight.sum()
        if is_sparse(X):
            squares = weight @ squared(X)
            variances = squares - (weight @ X) ** 2
            return median_variance(np.where(variances > 1e-12 * squares, variances, 0))  # else it is a rounding error
        X = wide(X)
        return median_variance(as_numpy(weight @ (X - weight @ X) ** 2))

    def measured(self, metric: Metric, variances: np.ndarray | None) -> Metric:
        """The metric for the rows of blocks: here the metric itself."""
        return metric

    def to(self, move: Callable[[Array], Array]) -> Self:
        """The same samples moved by a function, for example to a device."""
        return type(self)(move(self.X), move(self.y), move(self.weight))


def _moved_rows(X: Array, order: Array, centre: Array, single: bool) -> Array:
    """Rows in an order relative to a centre, in blocks, so that no second copy of them is made."""
    xp = namespace(X)
    dtype = xp.float32 if single else X.dtype
    moved = np.empty(X.shape, dtype) if xp is np else xp.empty(X.shape, dtype=dtype, device=X.device)
    rows = max(1, MOVED_NUMBERS // max(1, X.shape[1])) * (1 if xp is np else ON_DEVICE)
    for begin in range(0, X.shape[0], rows):
        part = slice(begin, begin + rows)
        moved[part] = X[order[part]] - centre
    return moved


def median_variance(variances: np.ndarray) -> float:
    """Median of the variances of features that vary, 1 where none does; rounded to eight binary digits.

    So features that are standardised up to rounding have exactly 1.

    Examples
    --------
    >>> import numpy as np
    >>> median_variance(np.array([1.0 - 1e-12, 0.0, 1.0])), median_variance(np.zeros(3))
    (1.0, 1.0)
    """
    varying = variances[variances > VARYING * variances.max(initial=0)]
    if not len(varying):
        return 1.0
    mantissa, exponent = np.frexp(np.median(varying))
    return float(np.ldexp(np.round(mantissa * 256) / 256, exponent))


def observed_variances(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted variance of the observed values of each feature, in float64; 0 where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> observed_variances(np.array([[1.0, np.nan], [3.0, np.nan]]), np.ones(2)).tolist()
    [1.0, 0.0]
    """
    return FeatureMoments.of(X, weight).variances()
