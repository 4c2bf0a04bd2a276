"""Directions in the space of features: those in which samples differ, and those that separate the classes.

A matrix Omega starts from these. Data with fewer samples than features are also trained in coordinates of their span.
A step of training moves prototypes along differences of samples and prototypes, and changes Omega by products with
these. So prototypes that start in the span of the samples stay there, and the rows of Omega stay in its directions.
With orthonormal rows Q of the span, x = c + Q'a and w = c + Q'b, distances are |Omega (x - w)| = |Omega Q' (a - b)|.
Training with a for x, b for w and Omega Q' for Omega has the same products, hence the same values and the same steps
but for rounding; only the steps of Adam, which are scaled for each coordinate, depend on the axes.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, qr

from lvq.model.local_metrics import LocalMahalanobis
from lvq.model.metrics import Euclidean, Mahalanobis, Metric
from lvq.model.objective import Params
from lvq.model.rows import as_numpy, dense, distinct_rows, has_missing, like, wide
from lvq.model.samples import ArraySamples, class_moments

SHRINKAGE = 0.1  # of the covariance within the classes towards a multiple of the identity
WIDE = 2  # features for each sample from which training is in the span; below, the coordinates cost more than they save
MIN_FEATURES = 64  # with fewer nothing is saved, and a weight must be a number of copies, which are more samples
OUTSIDE = 1e4  # largest part of a row outside of the span, in units of the type's epsilon, that is rounding


def span(samples: ArraySamples) -> np.ndarray:
    """Orthonormal rows that span all differences of samples; the identity, unless samples are fewer than features.

    Distances between samples are the same in these as in all features; 60 samples of 5,000 features need only 59 rows.
    Only distinct samples count, so that a weight of two is the same as two copies.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(0).normal(size=(5, 100))
    >>> rows = span(ArraySamples(X, np.zeros(5, dtype=int), np.ones(5)))
    >>> rows.shape, np.allclose(np.linalg.norm((X[0] - X[1]) @ rows.T), np.linalg.norm(X[0] - X[1]))
    ((4, 100), True)
    """
    n = samples.n_features
    block = samples.sample(min(samples.n_samples, 2 * n) if not samples.in_memory else None, np.random.RandomState(0))
    if distinct_rows(block.X, n) >= n:
        return np.eye(n)
    X, weight = as_numpy(dense(block.X)), as_numpy(block.weight)
    largest, eps = max(float(np.abs(X).max()), np.finfo(float).tiny), float(np.finfo(X.dtype).eps)
    X = X.astype(np.float64, copy=False) / largest  # squares could overflow
    centred = (X - np.average(X, axis=0, weights=weight)) * np.sqrt(weight)[:, None]
    _, sizes, rows = np.linalg.svd(centred, full_matrices=False)
    seen = sizes > sizes[0] * max(X.shape) * eps
    return rows[seen] if seen.any() else np.eye(n)


def discriminant_directions(samples: ArraySamples, rank: int) -> np.ndarray:
    """Directions that separate the class means best against the spread within the classes, then principal axes.

    A truncated identity would use the first features only. The covariance within the classes is shrunk towards a
    multiple of the identity, so that constant features and fewer samples than features cause no error.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 9.0], [0.1, -9.0], [1.0, 9.0], [1.1, -9.0]])
    >>> samples = ArraySamples(X, np.array([0, 0, 1, 1]), np.ones(4))
    >>> int(abs(discriminant_directions(samples, 1)).argmax())
    0
    """
    n = samples.n_features
    few = samples.n_samples < 2 * n
    if few and not samples.in_memory:
        samples = ArraySamples(*samples.sample(samples.n_samples, np.random.RandomState(0)))
    rows = span(samples) if few else np.eye(n)
    if len(rows) == n:
        return _directions(samples, rank, n)
    images = wide(dense(samples.X)) @ like(rows.T, wide(dense(samples.X[:1])))
    inside = _directions(ArraySamples(images, samples.y, samples.weight), min(rank, len(rows)), n) @ rows
    if rank <= len(rows):  # all of them lie where samples differ
        return inside
    return np.concatenate((inside, np.linalg.norm(inside, axis=1).min() * _orthogonal(rows, rank - len(rows))))


def _orthogonal(rows: np.ndarray, count: int) -> np.ndarray:
    """Further orthonormal rows: axes, less their parts along the given ones."""
    length, n = rows.shape
    basis = np.linalg.qr(np.concatenate((rows, np.eye(count, n))).T)[0].T
    return basis[length:]


def _directions(samples: ArraySamples, rank: int, n_features: int) -> np.ndarray:
    mass, means, within = class_moments(samples)
    overall, n = mass @ means / mass.sum(), len(within)
    spread = np.trace(within) / n_features
    if spread == 0:  # nothing varies inside any class
        spread, within = 1.0, np.eye(n)
    within = (1 - SHRINKAGE) * within + SHRINKAGE * spread * np.eye(n)
    centred = (means - overall) * np.sqrt(mass / mass.sum())[:, None]
    n_discriminant, rows = min(rank, len(mass) - 1), np.empty((0, n))
    if n_discriminant > 0:
        _, directions = eigh(centred.T @ centred, within, subset_by_index=(n - n_discriminant, n - 1))
        rows = directions.T[::-1]
    if rank == n_discriminant:
        return rows
    # orthogonal to the discriminant ones, the axes of largest spread, on the scale of a typical spread within
    basis, _ = np.linalg.qr(rows.T)
    rest = np.eye(n) - basis @ basis.T
    _, axes = eigh(rest @ within @ rest, subset_by_index=(n - rank + n_discriminant, n - 1))
    return np.concatenate((rows, axes.T[::-1] / np.sqrt(spread)))


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
