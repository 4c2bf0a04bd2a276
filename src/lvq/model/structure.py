"""What is known about the features, as constraints and penalties of relevances learned by gradient.

Features can share a weight (the columns of a one-hot variable, the wavelengths of a band) or be excluded, and smooth
weights can be preferred along features that have an order, as in spectra. This penalty, `smoothness`, is a pure number
that does not depend on the size of the metric:

    sum_kl (Omega_k,l+1 - Omega_kl)^2 / |Omega|^2                for matrices, also a function of Lambda alone
    n sum_l (lambda_l+1 - lambda_l)^2 / (sum_l lambda_l)^2       for weights of features

summed over the metrics where each class or prototype has its own.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from lvq.model.rows import beside, like, namespace, zeros
from lvq.typing import Array

EXCLUDED = -1  # group of features whose weight is not learned


class Structure:
    """Groups of features, and the penalty of their weights: what the rules learned by gradient have in common.

    Each label in `feature_groups` is a group; features with the label None are excluded, and None for all labels means
    that each feature is its own group. Weights of features are equal within a group; matrices have no equal weights.

    Examples
    --------
    >>> import numpy as np
    >>> from lvq.model.relevance import Weights
    >>> Weights(feature_groups=["a", "a", "b", None]).shared(np.array([1.0, 3.0, 5.0, 7.0])).tolist()
    [2.0, 2.0, 5.0, 0.0]
    """

    feature_groups: Sequence[Hashable] | None
    smoothness: float

    def _groups(self) -> np.ndarray:
        """Group of each feature, from 0 on, or -1 for a feature that is excluded."""
        assert self.feature_groups is not None
        codes: dict[str | None, int] = {None: EXCLUDED}
        names = (None if label is None else str(label) for label in self.feature_groups)
        return np.array([codes.setdefault(name, len(codes) - 1) for name in names])

    def shared(self, values: Array) -> Array:
        """The mean of the values of each group, along the last axis, at each of its features; 0 where excluded."""
        if self.feature_groups is None:
            return values
        sizes = self._totals(like(np.ones(values.shape[-1]), values))
        return self._totals(values) / namespace(values).clip(sizes, 1, None)

    def used(self, values: Array) -> Array:
        """The values, along the last axis; 0 for features that are excluded."""
        return values if self.feature_groups is None else values * like(self._groups() != EXCLUDED, values)

    def penalty_of_weights(self, weights: Array) -> tuple[Array, Array] | None:
        """The penalty of weights of features, (n) or (K, n), and its gradient; None without a penalty."""
        if self.smoothness == 0:
            return None
        weights = self.used(weights)
        total = weights.sum(-1)[..., None]
        factor = self.smoothness * weights.shape[-1] / total**2
        steps, curved = self._steps(weights)
        return (factor[..., 0] * steps).sum(), self.used(2 * factor * (curved - steps[..., None] / total))

    def penalty_of_matrices(self, omega: Array) -> tuple[Array, Array] | None:
        """The penalty of one matrix, (m, n), or several, (K, m, n), and its gradient; None without a penalty."""
        if self.smoothness == 0:
            return None
        omega = self.used(omega)
        total = (omega * omega).sum((-2, -1))[..., None, None]
        steps, curved = self._steps(omega)
        steps = steps.sum(-1)[..., None, None]
        gradient = 2 * self.smoothness / total * (curved - steps / total * omega)
        return self.smoothness * (steps / total).sum(), gradient

    def _totals(self, values: Array) -> Array:
        """The sum over each group, along the last axis, at each of its features; 0 where excluded."""
        groups, kept = self._groups(), self.used(values)
        count = int(groups.max()) + 2
        index = beside(np.where(groups != EXCLUDED, groups, count - 1), values)
        if namespace(values) is np:
            rows = [np.bincount(index, row, count) for row in kept.reshape(-1, kept.shape[-1])]
            sums = np.array(rows, dtype=values.dtype).reshape(*kept.shape[:-1], count)
        else:
            sums = zeros((*values.shape[:-1], count), values).index_add_(-1, index, kept)
        return self.used(sums[..., index])

    def _steps(self, values: Array) -> tuple[Array, Array]:
        """Sum of the squared differences of neighbours along the last axis, and half its gradient.

        Differences to features that are excluded do not count.
        """
        step = values[..., 1:] - values[..., :-1]
        if self.feature_groups is not None:
            used = self._groups() != EXCLUDED
            step = step * like(used[1:] & used[:-1], values)
        curved = namespace(values).zeros_like(values)
        curved[..., 1:] += step
        curved[..., :-1] -= step
        return (step * step).sum(-1), curved
