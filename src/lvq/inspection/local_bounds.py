"""Lower bounds of the certified radius with a metric for each prototype or class.

B_j is the map from the pipeline's input to the space in which prototype j measures, d a perturbation of length |d| in
the norm l_p, 1/p + 1/q = 1. For a prototype k of the predicted class and a rival j,
D_j(x + d) - D_k(x + d) = f(d) = c + 2 g'd - d'S d with c = D_j - D_k, g half the gradient of that difference and
S = B_k'B_k - B_j'B_j. Each of these is a length below which f stays positive, and the largest is taken:
- l_2: for every t >= 0 with I - t S positive definite, |d|_2^2 + t f(d) is convex in d with the least value
  phi(t) = t c - t^2 g'(I - t S)^-1 g. So f(d) <= 0 needs |d|_2^2 >= phi(t) for every t; the largest is computed. By the
  S-lemma that is the exact distance, so with one prototype per class the radius is exact. As |d|_1 >= |d|_2 it holds
  for l_1, and divided by sqrt(n) for l_inf.
- l_1 and l_inf: f(d) >= c - 2 |g|_q |d| - kappa |d|^2 with d'S d <= kappa |d|^2, which is positive while
  |d| < c/(|g|_q + sqrt(|g|_q^2 + kappa c)).

S is decomposed for one pair of metrics at a time and never stored. Where all B_j select and scale features (sparse
maps), S is diagonal and nothing is decomposed.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lvq.inspection.steps import Floats, Indices, LinearMap, as_matrix
from lvq.model.prototype_model import PrototypeModel


def ratio(value: Floats, scale: Floats) -> Floats:
    """value/scale; where the scale is 0 nothing can change the sign of the value."""
    return np.divide(value, scale, out=np.where(value > 0, np.inf, 0.0), where=scale > 0)


def local_radius(
    model: PrototypeModel, Z: NDArray, D: Floats, tolerance: Floats, before: LinearMap, norm: float
) -> Floats:
    """For each sample the smallest bound over the rivals, each the largest over the prototypes of its class.

    Parameters
    ----------
    model : PrototypeModel
        A model with several metrics.
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
    W = model.prototypes.astype(np.float64)
    roots = [as_matrix(model.matrix_of(prototype)) for prototype in range(len(W))]
    full = [root @ before for root in roots]

    def slope(rows: Indices, j: int) -> Floats:
        """Half the gradient of a distance by the pipeline's input."""
        return (Z[rows] - W[j]) @ roots[j].T @ full[j]

    own = model.labels == model.labels[D.argmin(axis=1)][:, None]  # prototypes of the predicted class
    best = np.where(own, np.inf, 0.0)
    for prototype, rival in permutations(range(len(W)), 2):
        rows = np.flatnonzero(own[:, prototype] & ~own[:, rival])
        if len(rows):
            value = np.maximum(D[rows, rival] - D[rows, prototype] - tolerance[rows, 0], 0.0)
            bound = _bound(value, slope(rows, rival) - slope(rows, prototype), full[prototype], full[rival], norm)
            best[rows, rival] = np.maximum(best[rows, rival], bound)
    return best.min(axis=1)


def _bound(c: Floats, g: Floats, F: LinearMap, G: LinearMap, norm: float) -> Floats:
    """The best bound of some samples for one prototype, with the map F, and one rival, with G."""
    sigma, axes = difference_axes(F, G)
    exact = distance_to_quadric(c, g if axes is None else g @ axes, sigma)
    if norm == 2:
        return exact
    kappa = curvature(sigma, g.shape[1], norm, diagonal=axes is None)
    steep = np.linalg.norm(g, ord=np.inf if norm == 1 else 1, axis=1)
    curved = ratio(c, steep + np.sqrt(steep**2 + kappa * c))
    return np.maximum(curved, exact / (1 if norm == 1 else np.sqrt(g.shape[1])))


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
