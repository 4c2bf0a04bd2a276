"""Training samples as starts and solvers use them: sums over blocks, and random samples of them.

Everything that needs the samples is ``reduce(f)``, a sum of a function over blocks of rows in a fixed order, or
``sample(k)``. The result does not depend on threads or on where the blocks are. `ArraySamples` holds the samples in
memory, `lvq.estimators.partitions` in the partitions of a dask collection.

NumPy's matrix product uses all cores and everything else one, and for many small products the threads take more time
than they save. So products use one thread while a model is fitted, and blocks of rows use the cores. The number of a
product's threads is one number for the whole process. So of several fits at a time, nested or in several Python
threads, the first sets it and sets it back; a second one would take the limit for the number to return to.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache, partial, reduce
from itertools import pairwise
from operator import add
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from lvq.model import rows
from lvq.typing import Argument, Array

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

MAX_THREADS = 4  # blocks that may be worked on at the same time
MANY_PRODUCTS = 2**26  # of numbers, from which a call uses several threads
THINNED = 8192  # approximate number of samples used for units, centres and the features' variances
VARYING = 1e-24  # of the largest variance, below which a feature counts as constant

Total = TypeVar("Total")
Map = Callable[..., Iterable[Argument]]
#: What goes over blocks: the built-in `map`, or one that works in parallel, in the same order; `block_threads` sets it.
block_map: ContextVar[Map] = ContextVar("map over blocks of rows", default=map)


class ArraySamples(NamedTuple):
    """Samples in memory: a NumPy array, in which NaN marks missing values, a CSR array or a torch tensor.

    Examples
    --------
    >>> import numpy as np
    >>> samples = ArraySamples(np.ones((5, 2)), np.zeros(5, dtype=int), np.ones(5))
    >>> samples.reduce(lambda block: block.X.sum(axis=0), rows=2).tolist()
    [5.0, 5.0]
    """

    X: Array
    y: Array
    weight: Array

    @property
    def in_memory(self) -> bool:
        """Whether single samples can be taken."""
        return True

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.X.shape[1]

    @property
    def n_classes(self) -> int:
        """One more than the largest class index."""
        return int(self.y.max()) + 1

    @property
    def dtype(self) -> np.dtype:
        """Type of the samples, as NumPy names it."""
        return rows.numpy_type(self.X)

    def take(self, rows: slice | Array) -> "ArraySamples":
        """Some samples by slice or index."""
        return ArraySamples(self.X[rows], self.y[rows], self.weight[rows])

    def sample(self, k: int | None, random_state: np.random.RandomState) -> "ArraySamples":
        """At most k samples, drawn without replacement; None for all of them."""
        if k is None or k >= self.n_samples:
            return self
        return self.take(np.sort(random_state.choice(self.n_samples, k, replace=False)))

    def reduce(self, function: Callable[["ArraySamples"], Total], rows: int) -> Total:
        """Sum of a function over blocks of at most `rows` samples, in a fixed order."""
        blocks = (slice(begin, begin + rows) for begin in range(0, self.n_samples, rows))
        return reduce(add, block_map.get()(lambda part: function(self.take(part)), blocks))

    def block_rows(self, columns: int = 0) -> int:
        """Number of rows in a block with this many numbers per row, at least as many as the samples have."""
        return rows.block_rows(self.X, columns)

    def thinned(self) -> "ArraySamples":
        """Every k-th sample if there are many, for what is computed once and need not be exact."""
        step = max(1, self.n_samples // THINNED)
        return self if step == 1 else self.take(slice(None, None, step))

    def centre(self) -> Array:
        """A point near the mean with few digits: subtracting it is exact for round numbers.

        The origin for sparse samples, which stay as they are.
        """
        if rows.is_sparse(self.X):
            return np.zeros(self.n_features, self.X.dtype)
        X = self.thinned().X
        if not rows.has_missing(X):
            return rows.round_centre(X)
        count = np.maximum((~np.isnan(X)).sum(axis=0), 1)
        mean, low, high = np.nansum(X, axis=0) / count, np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
        return np.nan_to_num(rows.rounded_centre(mean.astype(X.dtype), low, high))

    def arranged(self, centre: Array, *, single: bool = False) -> "ArraySamples":
        """The same samples class by class, relative to a centre, with weights of sum one; on request in float32."""
        order = self.y.argsort(stable=True) if rows.is_tensor(self.X) else np.argsort(self.y, kind="stable")
        X, weight = self.X[order], self.weight[order]
        if not rows.is_sparse(X):
            X -= centre
            X = rows.namespace(X).asarray(X, dtype=rows.namespace(X).float32 if single else X.dtype)
        return ArraySamples(X, self.y[order], rows.like(weight / weight.sum(), X))


def median_variance(variances: np.ndarray) -> float:
    """Median of the variances of features that vary, 1 where none does; rounded to eight binary digits.

    So features that are standardised up to rounding have exactly 1.

    Examples
    --------
    >>> import numpy as np
    >>> median_variance(np.array([1.0 - 1e-12, 0.0, 1.0])), median_variance(np.zeros(3))
    (1.0, 1.0)
    """
    known = np.where(np.isnan(variances), 0, variances)
    varying = known[known > VARYING * known.max(initial=0)]
    if not len(varying):
        return 1.0
    mantissa, exponent = np.frexp(np.median(varying))
    return float(np.ldexp(np.round(mantissa * 256) / 256, exponent))


def typical_variance(samples: ArraySamples) -> float:
    """Median of the features' variances, of every k-th sample where there are many."""
    some = samples.thinned()
    return median_variance(some.reduce(FeatureMoments.of, some.block_rows()).variances())


def class_sums(X: Array, y: Array, weight: Array, n_classes: int) -> tuple[Array, Array]:
    """Weighted sum of the rows of each class, (n_classes, n_features), and the weight of each class.

    Examples
    --------
    >>> import numpy as np
    >>> sums, mass = class_sums(np.array([[1.0], [2.0], [5.0]]), np.array([0, 0, 1]), np.array([1.0, 3.0, 1.0]), 2)
    >>> sums.ravel().tolist(), mass.tolist()
    ([7.0, 5.0], [4.0, 1.0])
    """
    one_hot = rows.zeros((n_classes, X.shape[0]), X)
    one_hot[y, rows.beside(np.arange(X.shape[0]), X)] = rows.like(weight, one_hot)
    return one_hot @ X, one_hot.sum(1)


def rows_by_class(y: Array, n_classes: int) -> list[Array]:
    """The rows of each class, ascending; the labels are sorted once for all classes."""
    order = y.argsort(stable=True) if rows.is_tensor(y) else y.argsort(kind="stable")
    begins = rows.as_numpy(y[order]).searchsorted(np.arange(n_classes + 1)).tolist()
    return [order[begin:end] for begin, end in pairwise(begins)]


def class_moments(samples: ArraySamples) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight and mean of each class, and the covariance within the classes, in float64."""
    mass, means = class_means(samples)
    return mass, means, samples.reduce(partial(_scatter, means), samples.block_rows(samples.n_features)) / mass.sum()


def class_means(samples: ArraySamples) -> tuple[np.ndarray, np.ndarray]:
    """Weight and weighted mean of each class, in float64; for sparse samples in their type."""
    if samples.in_memory and rows.is_sparse(samples.X):  # the means may be as large as the samples: one array
        means, mass = class_sums(samples.X, samples.y, samples.weight, samples.n_classes)
        means /= np.maximum(mass, np.finfo(mass.dtype).tiny)[:, None]
        return mass, means
    sums = samples.reduce(partial(_class_sums, samples.n_classes), samples.block_rows(samples.n_classes))
    return sums[:, 0], sums[:, 1:] / np.maximum(sums[:, :1], np.finfo(float).tiny)


def _class_sums(n_classes: int, block: ArraySamples) -> np.ndarray:
    """Weight of each class, and the weighted sum of its samples: (n_classes, 1 + n_features)."""
    X = block.X if rows.is_sparse(block.X) else rows.wide(block.X)
    sums, mass = class_sums(X, block.y, rows.wide(block.weight), n_classes)
    return np.column_stack((rows.as_numpy(mass), rows.as_numpy(sums))).astype(np.float64)


def _scatter(means: np.ndarray, block: ArraySamples) -> np.ndarray:
    """Weighted sum of the products of deviations from the class means: (n_features, n_features)."""
    X = rows.wide(rows.dense(block.X))
    residual = (X - rows.like(means, X)[block.y]) * rows.wide(block.weight)[:, None] ** 0.5
    return rows.as_numpy(residual.T @ residual).astype(np.float64)


class FeatureMoments(NamedTuple):
    """Mean and variance of the observed values of each feature; the sum of two is for the samples of both.

    Examples
    --------
    >>> import numpy as np
    >>> samples = ArraySamples(np.array([[1.0, np.nan], [3.0, np.nan], [5.0, 4.0]]), np.zeros(3, dtype=int), np.ones(3))
    >>> both = FeatureMoments.of(samples.take([0, 1])) + FeatureMoments.of(samples.take([2]))
    >>> both.mean.tolist(), both.mass.tolist(), both.variances().round(3).tolist()
    ([3.0, 4.0], [3.0, 1.0], [2.667, 0.0])
    """

    mass: np.ndarray  # (n,), sum of the weights of the observed values
    mean: np.ndarray  # (n,), 0 where nothing was observed
    scatter: np.ndarray  # (n,), weighted sum of the squared deviations from the mean

    @classmethod
    def of(cls, samples: ArraySamples) -> "FeatureMoments":
        """Moments of samples; NaN marks a missing value."""
        X, weight = samples.X, rows.wide(samples.weight)
        if rows.is_sparse(X):
            mean, squares = weight @ X / weight.sum(), weight @ rows.squared(X)
            scatter = squares - weight.sum() * mean**2
            known = scatter > 1e-12 * squares  # else it is a rounding error
            return cls(np.full(len(mean), weight.sum()), mean, np.where(known, scatter, 0))
        X, xp = rows.wide(X), rows.namespace(X)
        observed = ~xp.isnan(X)
        mass = weight @ rows.like(observed, X)
        mean = weight @ xp.where(observed, X, 0) / xp.where(mass > 0, mass, 1)
        scatter = weight @ xp.where(observed, X - mean, 0) ** 2
        return cls(*(rows.as_numpy(part) for part in (mass, mean, scatter)))

    def __add__(self, other: "FeatureMoments") -> "FeatureMoments":  # type: ignore[override]
        """Moments of the samples of both, by their means: sums of squares would lose digits far from the origin."""
        mass, apart = self.mass + other.mass, other.mean - self.mean
        fraction = other.mass / np.where(mass > 0, mass, 1)
        scatter = self.scatter + other.scatter + apart**2 * self.mass * fraction
        return FeatureMoments(mass, self.mean + apart * fraction, scatter)

    def variances(self) -> np.ndarray:
        """Weighted variance of each feature; 0 where nothing was observed."""
        return self.scatter / np.where(self.mass > 0, self.mass, 1)


# -- threads -----------------------------------------------------------------------------------------------------------


_budget: ContextVar[int | None] = ContextVar("threads that blocks of rows may use", default=None)
_limited = Lock()  # held while a limit is set


@cache
def _controller() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController  # which predictions do not need

    return ThreadpoolController().select(user_api="blas")


def product_threads() -> int:
    """Number of threads that a fit may use: as many as a matrix product outside of all limits of this module."""
    budget = _budget.get()
    if budget is not None:
        return budget
    return max((library.num_threads for library in _controller().lib_controllers), default=1)


@contextmanager
def single_threaded_products(threads: int = 1) -> Iterator[None]:
    """Matrix products inside use one thread, and blocks of rows at most `threads`."""
    token, first = _budget.set(threads), _limited.acquire(blocking=False)
    try:
        with _controller().limit(limits=1) if first else nullcontext():
            yield
    finally:
        _budget.reset(token)
        if first:
            _limited.release()


@contextmanager
def block_threads(products: int) -> Iterator[Map]:
    """Blocks of rows are worked on in threads inside, where a call of so many products is large; yields their `map`."""
    threads = product_threads() if products >= MANY_PRODUCTS else 1
    if threads < 2:
        yield map
        return
    with single_threaded_products(threads), ThreadPoolExecutor(min(threads, MAX_THREADS)) as pool:
        token = block_map.set(pool.map)
        try:
            yield pool.map
        finally:
            block_map.reset(token)


# -- missing values ----------------------------------------------------------------------------------------------------


def with_values(X: Array, y: np.ndarray) -> np.ndarray:
    """Whether each row counts: all except rows without any value, unless their class has no others."""
    if not rows.has_missing(X):
        return np.ones(len(y), dtype=bool)
    known = ~np.isnan(X).all(axis=1)
    return known | ~np.isin(y, y[known])


def filled(samples: ArraySamples, default: np.ndarray | None = None) -> ArraySamples:
    """Samples with missing values replaced by the mean of their class, for starts and importances.

    If a class has no value of a feature, the mean over all classes is used, and if there is none, the default, or 0.
    """
    X, y, weight = samples.X, samples.y, samples.weight
    if not rows.has_missing(X):
        return samples
    result, overall = X.copy(), FeatureMoments.of(samples)
    usual = np.where(overall.mass > 0, overall.mean, 0 if default is None else default)
    for inside in rows_by_class(y, int(y.max()) + 1):
        own = FeatureMoments.of(samples.take(inside))
        result[inside] = np.where(np.isnan(X[inside]), np.where(own.mass > 0, own.mean, usual), X[inside])
    return ArraySamples(result, y, weight)
