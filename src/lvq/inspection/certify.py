"""Certified radii: how far a sample can be moved, in any direction, before the nearest prototype is of another class.

Everything is in the units of X, before the scalers of a pipeline. With z = A x + b the model's input, B = Omega A and
p_j the projected prototype, D_j(x) = |B x - p_j|^2 up to a common shift. Below, d is a perturbation of length |d| in
the norm l_p, 1/p + 1/q = 1, k a prototype of the predicted class and j one of another class.

With one metric for all prototypes, D_j - D_k is linear in x with gradient -2 B'(p_j - p_k). By Hoelder's inequality it
is positive while |d| < r_jk = (D_j - D_k)/(2 |B'(p_j - p_k)|_q). The prediction does not change as long as each j is
farther than some k: the radius is min_j max_k r_jk. With one prototype per class it is exact. A kernel is increasing in
D and changes no prediction.

With several metrics, B_j is the map to the space in which prototype j measures, and
D_j(x + d) - D_k(x + d) = f(d) = c + 2 g'd - d'S d with c = D_j - D_k, g half the gradient of that difference and
S = B_k'B_k - B_j'B_j. Each of these is a length below which f stays positive, and the largest is taken:
- l_2: for every t >= 0 with I - t S positive definite, |d|_2^2 + t f(d) is convex in d with the least value
  phi(t) = t c - t^2 g'(I - t S)^-1 g. So f(d) <= 0 needs |d|_2^2 >= phi(t) for every t; the largest is computed. By the
  S-lemma that is the exact distance, so with one prototype per class the radius is exact. As |d|_1 >= |d|_2 it holds
  for l_1, and divided by sqrt(n) for l_inf.
- l_1 and l_inf: f(d) >= c - 2 |g|_q |d| - kappa |d|^2 with d'S d <= kappa |d|^2, which is positive while
  |d| < c/(|g|_q + sqrt(|g|_q^2 + kappa c)). The kappa comes from the eigenvalues of S.

S is decomposed for one pair of metrics at a time and never stored. Where all B_j select and scale features (sparse
maps), S is diagonal and nothing is decomposed.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.inspection.columns import model_inputs
from lvq.inspection.steps import Indices, LinearMap, as_matrix, input_map, names_before
from lvq.model.prototype_model import PrototypeModel
from lvq.typing import Floats, MatrixLike

# the dual norm, by scipy's name of the distance
DUAL: dict[float, str] = {1.0: "chebyshev", 2.0: "euclidean", np.inf: "cityblock"}


def certified_radius(model: BaseEstimator, X: MatrixLike, norm: float = 2, *, units: ArrayLike | None = None) -> Floats:
    """The radius of each sample: no smaller change changes the prediction.

    Exact for one prototype per class, if all prototypes have the same metric or `norm` is 2; a lower bound otherwise.

    Parameters
    ----------
    model : estimator
        A fitted model of this library that predicts by the nearest prototype, alone, in a `RejectClassifier`, or at the
        end of a Pipeline of linear steps: StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PCA, TruncatedSVD,
        feature selectors, and ColumnTransformers of these. Encoders of categories and SimpleImputer may be among them:
        the radius is then for changes of the numbers, while categories and missing values stay as they are.
    X : array-like of shape (n_samples, n_features)
        Samples.
    norm : {1, 2, inf}, default=2
        Norm of a change: the sum of the features' changes, their Euclidean length, or the largest of them.
    units : array-like of shape (n_features,), optional
        Length of one unit of each column, for example its standard deviation; by default 1, the units of X. Entries
        of columns of categories are not used.

    Returns
    -------
    radius : ndarray of shape (n_samples,)
        In these units; 0 on a decision boundary.

    References
    ----------
    S. Saralajew, L. Holdijk, T. Villmann, Fast adversarial robustness certification of nearest prototype classifiers
    for arbitrary seminorms, NeurIPS 2020.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0, 0.0], [4.0, 0.0]]).fit([[0, 0], [4, 0]], ["left", "right"])
    >>> certified_radius(model, [[0.5, 9.0], [4.0, 0.0]]).round(6)
    array([1.5, 2. ])
    """
    if norm not in DUAL:
        raise ValueError(f"norm must be 1, 2 or inf, got {norm!r}.")
    found = need_model(model, "certified_radius", nearest=True)
    before = input_map(found, "certified_radius", categories=True)
    if units is not None:
        before = before @ as_matrix(checked_units(units, len(names_before(found)), "certified_radius"))
    Z = model_inputs(found, X, "certified_radius")
    return radius_of_inputs(found.model, Z, found.model.distances(Z), before, norm)


def radius_of_inputs(
    model: PrototypeModel, Z: NDArray[np.floating], D: NDArray[np.floating], before: LinearMap, norm: float = 2
) -> Floats:
    """The radius of samples as they reach the model, with their distances and the linear map of the steps before."""
    tolerance, distances = _rounding(model, Z, D), D.astype(np.float64)
    if is_local(model):
        return _local_radius(model, Z, distances, tolerance, before, norm)
    return _shared_radius(model, distances, tolerance, before, norm)


def checked_units(units: ArrayLike, n_columns: int, purpose: str) -> Floats:
    """Lengths of the units of the columns; 1 where the column has none, as one of categories."""
    lengths = np.asarray(units, dtype=np.float64)
    if lengths.shape != (n_columns,) or np.any(lengths <= 0) or np.any(np.isinf(lengths)):
        raise ValueError(
            f"units of {purpose} must be {n_columns} positive numbers, one for each column of X (NaN for categories), "
            f"got {units!r}."
        )
    return np.where(np.isnan(lengths), 1.0, lengths)


def is_local(model: PrototypeModel) -> bool:
    """Whether prototypes have different metrics."""
    return bool(np.any(model.group != model.group[0]))


def _rounding(model: PrototypeModel, Z: NDArray[np.floating], D: NDArray[np.floating]) -> Floats:
    """Rounding error of a difference of two distances of each sample, (n_samples, 1)."""
    largest = D.max(axis=1, keepdims=True).astype(np.float64)
    if is_local(model):
        # each metric has its own scale: rounding depends on the lengths of sample and prototype from the common centre
        W = model.prototypes.astype(np.float64)
        centre = W.mean(axis=0)
        for first in np.unique(model.group, return_index=True)[1]:
            root = as_matrix(model.matrix_of(first))
            of_samples, of_prototypes = ((((rows - centre) @ root.T) ** 2).sum(axis=1) for rows in (Z, W))
            largest = np.maximum(largest, of_samples[:, None] + of_prototypes.max())
    return (8 + model.n_features) * np.finfo(D.dtype).eps * largest


def _shared_radius(model: PrototypeModel, D: Floats, tolerance: Floats, before: LinearMap, norm: float) -> Floats:
    """min_j max_k r_jk of each sample, with one metric for all prototypes."""
    W, root = model.prototypes.astype(np.float64), as_matrix(model.matrix_of(0))
    pulled = (W - W.mean(axis=0)) @ root.T @ (root @ before)
    slope = 2 * cdist(pulled, pulled, DUAL[norm])
    predicted, radius = model.labels[D.argmin(axis=1)], np.empty(len(D))
    for label in np.unique(predicted):
        rows, rivals = np.flatnonzero(predicted == label), np.flatnonzero(model.labels != label)
        best = np.zeros((len(rows), len(rivals)))
        for own in np.flatnonzero(model.labels == label):
            value = D[np.ix_(rows, rivals)] - D[rows, own, None] - tolerance[rows]
            best = np.maximum(best, ratio(value, np.broadcast_to(slope[own, rivals], value.shape)))
        radius[rows] = best.min(axis=1, initial=np.inf)
    return radius


# -- several metrics ---------------------------------------------------------------------------------------------------


def ratio(value: Floats, scale: Floats) -> Floats:
    """value/scale; where the scale is 0 nothing can change the sign of the value."""
    return np.divide(value, scale, out=np.where(value > 0, np.inf, 0.0), where=scale > 0)


def _local_radius(
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
    rising = np.maximum(sigma, 0.0)
    # |d|_2 <= |d|_1, and |d|_2^2 <= n |d|_inf^2
    kappa = rising.max() if norm == 1 else rising.sum() if axes is None else rising.max() * g.shape[1]
    steep = np.linalg.norm(g, ord=np.inf if norm == 1 else 1, axis=1)
    curved = ratio(c, steep + np.sqrt(steep**2 + kappa * c))
    return np.maximum(curved, exact / (1 if norm == 1 else np.sqrt(g.shape[1])))


def difference_axes(F: LinearMap, G: LinearMap) -> tuple[Floats, Floats | None]:
    """Eigenvalues and eigenvectors of F'F - G'G, all that are not 0; cheap where F and G have few rows.

    For sparse maps, which select and scale features, the eigenvectors are the axes, returned as None.

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
