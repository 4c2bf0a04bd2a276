"""Missing values: distances over the observed features, divided by the observed fraction of the metric.

NaN marks a missing value. With m the mask of the observed features of a sample (1 observed, 0 missing) and
e = m (x - w), the difference in these features, the squared distance is

    d = e'Lambda e / s,    s = sum_l m_l Lambda_ll v_l / sum_l Lambda_ll v_l,

with v_l the variance of feature l in the training samples (of its observed values). Lambda is the identity in the plain
metric and diag(lambda) in the weighted one; a local metric has its own s. Why this form:

- where nothing is missing s = 1, and d is the ordinary distance;
- e'Lambda e is the distance as if each missing value equalled the prototype's, so it contributes nothing;
- if the differences u = x - w are uncorrelated and of variances c v, then E[u'Lambda u] = c sum_l Lambda_ll v_l, and
  E[e'Lambda e] is s times that: d is unbiased whichever features are missing, in every metric;
- v has the units of x^2, so d does not depend on the units in which the features are measured.

Where s = 0 (nothing observed, or only features without weight or variance), d = e'Lambda e; with nothing observed it is
0 to all prototypes. In NumPy, for fit and predictions alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lvq.model.local_metrics import LocalDiagonal, require_quadratic
from lvq.model.metrics import DistanceGradient, LocalMetric, Metric, Prepared


@dataclass(frozen=True)
class Observed:
    """The distances of this module, for rows with NaN.

    Parameters
    ----------
    metric : Metric
        The metric of complete samples: one of `PARAMETER_AXES`.
    variances : ndarray of shape (n_features,)
        Variance of each feature.
    """

    metric: Metric
    variances: np.ndarray

    def __post_init__(self) -> None:
        remedy = " Fill missing values first, for example with sklearn.impute.SimpleImputer."
        require_quadratic(self.metric, "missing='ignore'", remedy)

    def prepare(self, W: np.ndarray, R: np.ndarray | None) -> ObservedPrototypes:
        """Distances to these prototypes."""
        return ObservedPrototypes(self, W, R)


class Seen(NamedTuple):
    """What a block of rows needs again in the gradient."""

    values: np.ndarray  # (N, n), 0 where missing
    mask: np.ndarray  # (N, n), 1 where observed
    fraction: np.ndarray  # (N, K), s of each row in each metric
    images: np.ndarray | None  # (N, M, m), Omega e; None without matrices
    D: np.ndarray  # (N, M)


class ObservedPrototypes(Prepared):
    """Distances of rows with missing values to prototypes; `pullback` is their exact gradient."""

    def __init__(self, observed: Observed, W: np.ndarray, R: np.ndarray | None) -> None:
        metric = observed.metric
        self.metric, self.W, self.R = metric, W, R
        self.group = metric.group if isinstance(metric, LocalMetric) else np.zeros(len(W), dtype=np.intp)
        self.has_weights = R is None or R.ndim == 1 or isinstance(metric, LocalDiagonal)
        self.omega = None if R is None or self.has_weights else R.reshape(-1, *R.shape[-2:])  # (K, m, n)
        diagonal = np.ones((1, W.shape[1]), W.dtype) if R is None else np.atleast_2d(R)
        self.diagonal = diagonal if self.omega is None else (self.omega**2).sum(axis=1)  # of each Lambda, (K, n)
        self.variances = observed.variances.astype(W.dtype)
        total = self.diagonal @ self.variances
        self.total = np.where(total > 0, total, 1)
        self.columns = 6 * W.shape[1] + (0 if self.omega is None else len(W) * self.omega.shape[1])

    def fractions(self, mask: np.ndarray) -> np.ndarray:
        """The observed fraction s of each metric for each row, (N, K); 1 where it would be 0 or all is seen."""
        fraction = mask @ (self.diagonal * self.variances).T / self.total
        fraction[fraction <= 0] = 1
        fraction[mask.all(axis=1)] = 1
        return fraction

    def distances(self, X: np.ndarray) -> tuple[np.ndarray, Seen]:
        """Squared distances, and what `pullback` needs."""
        mask = (~np.isnan(X)).astype(X.dtype)
        values, fraction, images = np.nan_to_num(X), self.fractions(mask), None
        if self.omega is None:
            weights = self.diagonal[self.group]
            D = (values * values) @ weights.T - 2 * values @ (weights * self.W).T + mask @ (weights * self.W**2).T
            np.maximum(D, 0, out=D)
        else:
            e = ((values - mask * w) @ self.omega[g].T for w, g in zip(self.W, self.group))
            images = np.stack(list(e), axis=1)
            D = np.einsum("ijk,ijk->ij", images, images)
        D /= fraction[:, self.group]
        return D, Seen(values, mask, fraction, images, D.copy())  # the search for pairs uses up the first

    def pullback(
        self, X: np.ndarray, cache: Seen, by_distance: DistanceGradient
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Gradient by the prototypes and by the metric's parameters, through e'Lambda e and through s."""
        slope = by_distance.whole(len(self.W)) / cache.fraction[:, self.group]  # by e'Lambda e
        by_prototype, by_relevance = (self._back_weights if self.omega is None else self._back_matrices)(cache, slope)
        if self.R is None:
            return by_prototype, None
        by_diagonal = self._back_fractions(cache, slope)
        if self.omega is not None:
            by_diagonal = 2 * self.omega * by_diagonal[:, None]
        return by_prototype, (by_relevance + by_diagonal).reshape(self.R.shape)

    def _back_weights(self, cache: Seen, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient of e'diag(lambda) e, by sums of m x^2, m x and m for each prototype."""
        pulled, seen = slope.T @ cache.values, slope.T @ cache.mask
        by_weight = slope.T @ (cache.values * cache.values) + self.W * (seen * self.W - 2 * pulled)
        return 2 * self.diagonal[self.group] * (seen * self.W - pulled), self._group_sums(by_weight)

    def _back_matrices(self, cache: Seen, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient of |Omega e|^2, A = sum (Omega e) x', C = sum (Omega e) m': dOmega = 2 (A - C w), dw = -2 Omega'C.

        The last has the diagonal only: dw_l = -2 sum_k Omega_kl C_kl.
        """
        assert cache.images is not None
        assert self.omega is not None
        by_matrix, by_prototype = np.zeros_like(self.omega), np.empty_like(self.W)
        for j, g in enumerate(self.group):
            image = (cache.images[:, j] * slope[:, j, None]).T
            of_mask = image @ cache.mask
            by_matrix[g] += image @ cache.values - of_mask * self.W[j]
            by_prototype[j] = (self.omega[g] * of_mask).sum(axis=0)
        return -2 * by_prototype, 2 * by_matrix

    def _back_fractions(self, cache: Seen, slope: np.ndarray) -> np.ndarray:
        """Gradient through s by each diagonal of Lambda, (K, n): ds/dLambda_ll = v_l (m_l - s)/sum_k Lambda_kk v_k."""
        by_fraction = self._group_sums((-slope * cache.D).T).T  # s dE/ds, (N, K)
        by_fraction[cache.mask @ (self.diagonal * self.variances).T <= 0] = 0  # there s is a constant
        moved = by_fraction.T @ cache.mask - (by_fraction * cache.fraction).sum(axis=0)[:, None]
        return moved * self.variances / self.total[:, None]

    def _group_sums(self, rows: np.ndarray) -> np.ndarray:
        """Sums of the prototypes' rows over those with the same metric, (K, ...)."""
        return np.add.reduceat(rows, np.searchsorted(self.group, np.arange(len(self.diagonal))), axis=0)
