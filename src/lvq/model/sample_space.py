"""Coordinates in the span of the samples, for data with fewer samples than features.

A step of training moves prototypes along differences of samples and prototypes, and changes Omega by products with
these. So prototypes that start in the span of the samples stay there, and the rows of Omega stay in its directions.
With orthonormal rows Q of the span, x = c + Q'a and w = c + Q'b, distances are |Omega (x - w)| = |Omega Q' (a - b)|.
Training with a for x, b for w and Omega Q' for Omega has the same products, hence the same values and the same steps
but for rounding; only the steps of Adam, which are scaled for each coordinate, depend on the axes.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from lvq.model.local_metrics import LocalMahalanobis
from lvq.model.metrics import Euclidean, Mahalanobis, Metric
from lvq.model.objective import Params
from lvq.model.observed import has_missing
from lvq.model.samples import ArraySamples

WIDE = 2  # features for each sample from which training is in the span; below, the coordinates cost more than they save
MIN_FEATURES = 64  # with fewer nothing is saved, and a weight must be a number of copies, which are more samples
OUTSIDE = 1e4  # largest part of a row outside of the span, in units of the type's epsilon, that is rounding


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
