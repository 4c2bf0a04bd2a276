"""Mean and variance of the observed values of each feature, of one array or of batches one after another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class FeatureMoments(NamedTuple):
    """What the variances of a stream need: three numbers a feature, in float64, whatever its length.

    Examples
    --------
    >>> import numpy as np
    >>> first = FeatureMoments.of(np.array([[1.0, np.nan], [3.0, np.nan]]), np.ones(2))
    >>> both = first.joined(FeatureMoments.of(np.array([[5.0, 4.0]]), np.ones(1)))
    >>> both.mean.tolist(), both.mass.tolist()
    ([3.0, 4.0], [3.0, 1.0])
    >>> [round(variance, 3) for variance in both.variances().tolist()]
    [2.667, 0.0]
    """

    mass: np.ndarray  # (n,), sum of the weights of the observed values
    mean: np.ndarray  # (n,), 0 where nothing was observed
    scatter: np.ndarray  # (n,), weighted sum of the squared deviations from the mean

    @classmethod
    def of(cls, X: np.ndarray, weight: np.ndarray) -> FeatureMoments:
        """Of samples, in which NaN marks a missing value."""
        missing = np.isnan(X)
        mass = weight.astype(np.float64) @ ~missing
        mean = weight @ np.where(missing, 0, X).astype(np.float64) / _divisor(mass)
        deviations = X - mean
        deviations[missing] = 0
        return cls(mass, mean, weight @ deviations**2)

    def joined(self, other: FeatureMoments) -> FeatureMoments:
        """Of the samples of both, by their means: sums of squares would lose digits far from the origin."""
        mass, apart = self.mass + other.mass, other.mean - self.mean
        fraction = other.mass / _divisor(mass)
        scatter = self.scatter + other.scatter + apart**2 * self.mass * fraction
        return FeatureMoments(mass, self.mean + apart * fraction, scatter)

    def variances(self) -> np.ndarray:
        """Weighted variance of each feature; 0 where nothing was observed."""
        return self.scatter / _divisor(self.mass)


def _divisor(mass: np.ndarray) -> np.ndarray:
    return np.where(mass > 0, mass, 1)
