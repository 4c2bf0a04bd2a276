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

from lvq.model.arrays import is_tensor, like, round_centre
from lvq.model.metrics import Metric
from lvq.model.sparse_rows import is_sparse, take_rows
from lvq.typing import Array

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

    def arranged(self, centre: Array) -> Self:
        """The same samples class by class, relative to a centre, with weights of sum one."""
        if is_tensor(self.X):
            order = self.y.argsort(stable=True)
            X = self.X[order].sub_(centre)  # one copy, not two: the samples may fill half of the device
        else:
            order = np.argsort(self.y, kind="stable")
            X = self.X[order] if is_sparse(self.X) else np.ascontiguousarray((self.X - centre)[order])
        weight = self.weight[order]
        return type(self)(X, self.y[order], like(weight / weight.sum(), self.X))

    def centre(self) -> Array:
        """A point near the mean with few digits, so that subtracting it is exact for round numbers.

        The origin for sparse samples, which stay as they are.
        """
        return np.zeros(self.n_features, dtype=self.X.dtype) if is_sparse(self.X) else round_centre(self.X)

    def variances(self) -> np.ndarray:
        """Weighted variance of each feature."""
        return observed_variances(self.X, self.weight)

    def measured(self, metric: Metric, variances: np.ndarray | None) -> Metric:
        """The metric for the rows of blocks: here the metric itself."""
        return metric

    def to(self, move: Callable[[Array], Array]) -> Self:
        """The same samples moved by a function, for example to a device."""
        return type(self)(move(self.X), move(self.y), move(self.weight))


def observed_variances(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted variance of the observed values of each feature, in float64; 0 where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> observed_variances(np.array([[1.0, np.nan], [3.0, np.nan]]), np.ones(2)).tolist()
    [1.0, 0.0]
    """
    mass = weight.astype(np.float64) @ ~np.isnan(X)
    mass = np.where(mass > 0, mass, 1)
    mean = weight @ np.nan_to_num(X, copy=True).astype(np.float64) / mass
    return weight @ np.nan_to_num(X - mean) ** 2 / mass
