"""Lower bounds of the certified radius with a metric for each prototype or class.

B_j is the map from the pipeline's input to the space in which prototype j measures, d a perturbation of length |d| in
the norm l_p, 1/p + 1/q = 1. For a prototype k of the predicted class and a rival j,
D_j(x + d) - D_k(x + d) = f(d) = c + 2 g'd - d'S d with c = D_j - D_k, g half the gradient of that difference and
S = B_k'B_k - B_j'B_j. Each of these is a length below which f stays positive, and the largest is taken:
- l_2: for every t >= 0 with I - t S positive definite, |d|_2^2 + t f(d) is convex in d with the least value
  phi(t) = t c - t^2 g'(I - t S)^-1 g. So f(d) <= 0 needs |d|_2^2 >= phi(t) for every t; the largest is computed. By the
  S-lemma that is the exact distance, so with one prototype per class the radius is exact. As |d|_1 >= |d|_2 it holds
  for l_1, and divided by sqrt(n) for l_inf.
- all norms: f(d) >= c - 2 |g|_q |d| - kappa |d|^2 with d'S d <= kappa |d|^2, which is positive while
  |d| < c/(|g|_q + sqrt(|g|_q^2 + kappa c)). kappa <= L_k^2, with L_k the norm of B_k from l_p to l_2.
- all norms: roots of distances are Lipschitz, |B_j d|_2 <= L_j |d|: the root of D_j stays above that of D_k while
  |d| < (sqrt(D_j) - sqrt(D_k))/(L_j + L_k).

The last two need no decomposition of S. They are computed for all pairs first. The exact bound is then computed for the
rival with the smallest of them and for those that could still be nearer. S is decomposed for one pair of metrics at a
time and never stored. Where all B_j select and scale features (sparse maps), S is diagonal and nothing is decomposed.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lvq.inspection.steps import Floats, Indices, LinearMap, as_matrix
from lvq.model.prototype_model import PrototypeModel

SLACK = 1 + 1e-5  # the exact bound may be below the fast ones by rounding; such rivals are computed too


def ratio(value: Floats, scale: Floats) -> Floats:
    """value/scale; where the scale is 0 nothing can change the sign of the value."""
    return np.divide(value, scale, out=np.where(value > 0, np.inf, 0.0), where=scale > 0)


class LocalBounds:
    """Lower bounds of the radius of samples in a model with several metrics.

    Parameters
    ----------
    model : PrototypeModel
        The model.
    Z : ndarray of shape (n_samples, n_features)
        Samples as they reach the model.
    D : ndarray of shape (n_samples, n_prototypes)
        Their squared distances.
    tolerance : ndarray of shape (n_samples, 1)
        Rounding error of a difference of distances.
    before : LinearMap
        Linear map of the steps before the model.
    norm : {1, 2, inf}
        Norm of the perturbation.
    """

    def __init__(
        self, model: PrototypeModel, Z: NDArray, D: Floats, tolerance: Floats, before: LinearMap, norm: float
    ) -> None:
        self.Z, self.D, self.tolerance, self.norm = Z.astype(np.float64), D, tolerance[:, 0], norm
        self.W, self.group = model.prototypes.astype(np.float64), model.group
        self.roots = [as_matrix(model.matrix_of(first)) for first in np.unique(self.group, return_index=True)[1]]
        self.full = [root @ before for root in self.roots]
        self.lipschitz = [operator_norm(B, norm) for B in self.full]
        self.own = model.labels == model.labels[D.argmin(axis=1)][:, None]  # prototypes of the predicted class

    def radius(self) -> Floats:
        """For each sample the smallest bound over the rivals, each the largest over the prototypes of its class."""
        lower = np.where(self.own, np.inf, 0.0)
        for prototype, rival in permutations(range(len(self.W)), 2):
            rows = np.flatnonzero(self.own[:, prototype] & ~self.own[:, rival])
            if len(rows):
                lower[rows, rival] = np.maximum(lower[rows, rival], self._fast(rows, prototype, rival))
        first = (np.arange(len(self.W)) == lower.argmin(axis=1)[:, None]) & ~self.own
        radius = self._exact(first)
        return np.minimum(radius, self._exact(~first & ~self.own & (lower < SLACK * radius[:, None])))

    def _exact(self, wanted: NDArray[np.bool_]) -> Floats:
        """As `radius`, with the exact bounds of the wanted samples (rows) and rivals (columns) alone."""
        best = np.where(wanted, 0.0, np.inf)
        for prototype, rival in permutations(range(len(self.W)), 2):
            rows = np.flatnonzero(self.own[:, prototype] & wanted[:, rival])
            if len(rows):
                best[rows, rival] = np.maximum(best[rows, rival], self._pair(rows, prototype, rival))
        return best.min(axis=1)

    def _pair(self, rows: Indices, own: int, rival: int) -> Floats:
        """The best bound of some samples."""
        sigma, axes = difference_axes(self.full[self.group[own]], self.full[self.group[rival]])
        value, slope = self._difference(rows, own, rival)
        bound = distance_to_quadric(value, slope if axes is None else slope @ axes, sigma)
        if self.norm == 2:
            return bound
        kappa = curvature(sigma, slope.shape[1], self.norm, diagonal=axes is None)
        bound /= 1 if self.norm == 1 else np.sqrt(slope.shape[1])
        return np.maximum(bound, self._fast(rows, own, rival, kappa))

    def _fast(self, rows: Indices, own: int, rival: int, kappa: float = np.inf) -> Floats:
        """The bounds without a decomposition."""
        here, there = self.lipschitz[self.group[own]], self.lipschitz[self.group[rival]]
        value, slope = self._difference(rows, own, rival)
        steep = np.linalg.norm(slope, ord={1: np.inf, 2: 2, np.inf: 1}[self.norm], axis=1)
        curved = ratio(value, steep + np.sqrt(steep**2 + min(here**2, kappa) * value))
        # sqrt(a) - sqrt(b) = (a - b)/(sqrt(a) + sqrt(b)), without the cancellation
        gap = ratio(value, np.sqrt(self.D[rows, rival]) + np.sqrt(self.D[rows, own]))
        return np.maximum(curved, ratio(gap, np.full(len(gap), here + there)))

    def _difference(self, rows: Indices, own: int, rival: int) -> tuple[Floats, Floats]:
        """c and g of each sample."""
        value = np.maximum(self.D[rows, rival] - self.D[rows, own] - self.tolerance[rows], 0.0)
        return value, self._slopes(rows, rival) - self._slopes(rows, own)

    def _slopes(self, rows: Indices, prototype: int) -> Floats:
        """Half the gradient of the distance by the pipeline's input."""
        group = self.group[prototype]
        return (self.Z[rows] - self.W[prototype]) @ self.roots[group].T @ self.full[group]


def difference_axes(F: LinearMap, G: LinearMap) -> tuple[Floats, Floats | None]:
    """Eigenvalues and eigenvectors of F'F - G'G, all that are not 0; cheap where F and G have few rows.

    Of sparse maps, which select and scale features, the eigenvectors, None, are the axes.

    Examples
    --------
    >>> sigma, axes = difference_axes(np.array([[2.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]]))
    >>> sigma.round(12), axes.shape
    (array([-1.,  4.]), (3, 2))
    """
    if sparse.issparse(F):
        return _squares(F) - _squares(G), None
    pair = np.concatenate((F, G))
    # the difference is 0 outside the span of the rows
    basis = np.linalg.qr(pair.T)[0] if len(pair) < pair.shape[1] else np.eye(pair.shape[1])
    F, G = F @ basis, G @ basis
    sigma, axes = np.linalg.eigh(F.T @ F - G.T @ G)
    return sigma, basis @ axes


def _squares(B: sparse.csr_array) -> Floats:
    """The diagonal of B'B, for a sparse map that is all of it."""
    return np.asarray((B * B).sum(axis=0)).ravel()


def distance_to_quadric(c: Floats, g: Floats, sigma: Floats) -> Floats:
    """Distance of the set c + 2 g'd - d'S d <= 0 from the origin, S = diag(sigma): the largest phi(t), by bisection.

    Examples
    --------
    >>> distance_to_quadric(np.array([4.0]), np.array([[0.0, 0.0]]), np.array([1.0, -3.0])).round(5)
    array([2.])
    >>> distance_to_quadric(np.array([4.0]), np.array([[1.0, 0.0]]), np.array([0.0, 0.0])).round(5)
    array([2.])
    """
    # t goes from 0 to 1/top, or to infinity, as u goes from 0 to 1. It ends before 1/top, where I - t S is singular and
    # rounding could give a phi that is too large.
    top = max(0.0, float(sigma.max())) * (1 + 1e-6)
    unit = np.maximum(np.abs(sigma).max(), ratio((g**2).sum(axis=1), c)) + 1e-100
    low, high, best = np.zeros(len(c)), np.ones(len(c)), np.zeros(len(c))
    for _ in range(50):
        u = (low + high) / 2
        t = u / (top * u + (1 - u) * unit)
        remainder = 1 - t[:, None] * sigma
        pull = g**2 / remainder
        best = np.maximum(best, t * c * (1 - 1e-9) - t**2 * pull.sum(axis=1))
        rising = c > t * (pull * (1 + 1 / remainder)).sum(axis=1)
        low, high = np.where(rising, u, low), np.where(rising, high, u)
    empty = (c > 0) & (top == 0) & (low > 1 - 1e-12)  # phi is unbounded
    return np.where(empty, np.inf, np.sqrt(best))


def operator_norm(B: LinearMap, norm: float) -> float:
    """The largest |B d|_2 with |d|_p = 1; for p = inf, where that is hard to compute, an upper bound.

    Examples
    --------
    >>> operator_norm(np.array([[3.0, 0.0], [0.0, 4.0]]), 1.0)
    4.0
    """
    if sparse.issparse(B):
        squares = _squares(B)
        return float(np.sqrt(squares.sum() if norm == np.inf else squares.max()))
    columns = np.linalg.norm(B, axis=0)
    if norm == 1:
        return float(columns.max())
    spectral = float(np.linalg.norm(B, ord=2))
    if norm == 2:
        return spectral
    rows = np.linalg.norm(np.abs(B).sum(axis=1))
    return float(min(np.sqrt(B.shape[1]) * spectral, columns.sum(), rows))


def curvature(sigma: Floats, n_features: int, norm: float, *, diagonal: bool) -> float:
    """A kappa with d'S d <= kappa |d|_p^2 for all d and p = 1 or infinity, from the eigenvalues of S.

    The least one where S is diagonal.

    Examples
    --------
    >>> sigma = np.array([2.0, 3.0, -9.0])
    >>> [curvature(sigma, 3, norm, diagonal=True) for norm in (1, np.inf)], curvature(sigma, 3, np.inf, diagonal=False)
    ([3.0, 5.0], 9.0)
    """
    rising = np.maximum(sigma, 0.0)
    if norm == 1:  # |d|_2 <= |d|_1
        return float(rising.max())
    return float(rising.sum() if diagonal else rising.max() * n_features)  # |d|_2^2 <= n |d|_inf^2
