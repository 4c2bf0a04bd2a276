"""A plane on which a model and samples are drawn.

A model measures |Omega (x - w)|^2, where Omega may be the identity. The plane has two axes along which these distances
are large:
- Omega of rank 2: the model's own coordinates Omega x, without any loss;
- Omega of higher rank: the two leading eigenvectors of Lambda = Omega'Omega, each times the root of its eigenvalue;
- a matrix for each class or prototype: the same for their mean over the prototypes;
- relevances, or the Euclidean metric: the principal axes of the samples, weighted by the metric.
A point of the plane represents the sample `inverse(point)`: that of the plane through the mean of the samples, with all
other directions at the mean. `regions` contains the model's predictions there. If the model's metric has no more than
two directions (`exact`), every sample drawn at a point has the prediction of its region. Otherwise the regions are a
slice through the model, and a sample outside of that slice may have another prediction than its region.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA

from lvq.estimators.find_model import need_model
from lvq.inspection.steps import Floats
from lvq.model.local_metrics import LocalMahalanobis
from lvq.model.metrics import Euclidean, LocalMetric
from lvq.model.prototype_model import PrototypeModel
from lvq.plots.fitted_arrays import mean_lambda, model_inputs

TOLERANCE = 1e-12  # fraction of the largest eigenvalue below which an eigenvalue counts as zero


class Plane(NamedTuple):
    """Samples and prototypes on two axes, and the maps to the plane and back; see the top of this file."""

    points: Floats  # (n_samples, 2)
    prototypes: Floats  # (n_prototypes, 2)
    explained: Floats  # (2,): fraction of the samples' squared distances from their mean, in the model's metric
    axis_names: tuple[str, str]
    inverse: Callable[[Floats], Floats]  # points of the plane (k, 2) -> features that reach the model (k, n)
    project: Callable[[ArrayLike], Floats]  # samples as given to the estimator -> (k, 2)
    exact: bool  # whether the point of the plane alone decides the prediction


def plane(estimator: BaseEstimator, X: ArrayLike) -> Plane:
    """A plane on which a model and samples are drawn; see the top of this file.

    Parameters
    ----------
    estimator : estimator
        A fitted model of this library, alone or in a Pipeline, a search, a FrozenEstimator or a `RejectClassifier`.
    X : array-like of shape (n_samples, n_features)
        Samples, as the estimator takes them.

    Returns
    -------
    plane : Plane

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GMLVQ
    >>> from lvq.model.relevance import Matrix
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(relevance=Matrix(rank=2), random_state=0).fit(X, y)
    >>> view = plane(model, X)
    >>> bool(abs(view.points - model.transform(X)).max() < 1e-9), view.exact, view.axis_names[0]
    (True, True, 'learned axis 1')
    """
    found = need_model(estimator, "plane")
    Z = model_inputs(found, X)
    mean = Z.mean(axis=0)
    axes = _axes(found.model, Z - mean)
    origin = mean if axes.centred else np.zeros_like(mean)
    mean_point = (mean - origin) @ axes.down.T

    def project(samples: ArrayLike) -> Floats:
        return (model_inputs(found, samples) - origin) @ axes.down.T

    def inverse(points: Floats) -> Floats:
        return mean + (np.asarray(points, dtype=np.float64) - mean_point) @ axes.up.T

    points = (Z - origin) @ axes.down.T
    prototypes = (found.model.prototypes.astype(np.float64) - origin) @ axes.down.T
    # the mean squared length of the centred samples in the model's metric, in the mean metric of local matrices
    weights = _mean_weights(found.model)
    squares = ((Z - mean) @ mean_lambda(found.model)) * (Z - mean) if weights is None else ((Z - mean) * weights) ** 2
    total = float(squares.sum(axis=1).mean())
    explained = points.var(axis=0) * axes.measured / total if total > 0 else np.zeros(2)
    return Plane(points, prototypes, explained, axes.names, inverse, project, axes.exact)


class _Axes(NamedTuple):
    """Maps to the plane and back: `down @ up` is the identity, except for an axis that does not exist."""

    down: Floats  # (2, n)
    up: Floats  # (n, 2)
    names: tuple[str, str]
    measured: NDArray[np.bool_]  # (2,): whether the model's distances depend on the axis
    centred: bool
    exact: bool


def _axes(model: PrototypeModel, Z: Floats) -> _Axes:
    weights = _mean_weights(model)
    if weights is not None:
        return _principal_axes(model, weights, Z)
    omega = model.matrix_of(0)
    local = isinstance(model.metric, LocalMahalanobis)
    if len(omega) == 2 and not local:
        up = np.asarray(np.linalg.pinv(omega, rcond=np.sqrt(TOLERANCE)), dtype=np.float64)
        if np.allclose(omega @ up, np.eye(2), atol=1e-6):
            return _Axes(omega, up, ("learned axis 1", "learned axis 2"), np.ones(2, dtype=np.bool_), False, True)
    values, vectors = np.linalg.eigh(mean_lambda(model))
    values, vectors = values[::-1], _with_fixed_signs(vectors[:, ::-1])
    rank = int((values > TOLERANCE * values[0]).sum())
    roots = np.sqrt(np.maximum(values[:2], 0))
    names = [f"eigenvector {k} of {'mean ' if local else ''}Lambda" for k in (1, 2)]
    exact = Z.shape[1] <= 2 or (not local and rank <= 2)
    down, up = roots[:, None] * vectors[:, :2].T, vectors[:, :2] / np.where(roots > 0, roots, 1)
    return _with_two_axes(down[:rank], up[:, :rank], names, Z, centred=False, exact=exact)


def _mean_weights(model: PrototypeModel) -> Floats | None:
    """Roots of the features' weights, of their mean over the prototypes; None where the metric has a matrix."""
    if model.relevance is not None and not model.has_weights:
        return None
    if model.relevance is None or not isinstance(model.metric, LocalMetric):
        return model.matrix_of(0)
    return np.sqrt(model.relevance[model.group].mean(axis=0, dtype=np.float64))


def _principal_axes(model: PrototypeModel, weights: Floats, Z: Floats) -> _Axes:
    """The principal axes of the samples, weighted by the root of the relevances."""
    used = weights > np.sqrt(TOLERANCE) * weights.max()
    weights = np.where(used, weights, 0)
    directions = _with_fixed_signs(_components(Z * weights, float((Z * weights).var(axis=0).max())).T).T
    up = (directions / np.where(used, weights, 1)).T * used[:, None]
    kind = "" if isinstance(model.metric, Euclidean) else "weighted "
    names = [f"{kind}principal axis {k}" for k in (1, 2)]
    exact = Z.shape[1] <= 2 or int(used.sum()) <= 2
    return _with_two_axes(directions * weights, up, names, Z, centred=True, exact=exact)


def _components(Z: Floats, scale: float) -> Floats:
    """Two orthonormal rows along which centred rows vary most; fewer where they vary in fewer directions.

    `scale` is a variance against which rounding errors are negligible.
    """
    if not (Z * Z).mean() > TOLERANCE * scale:
        return np.zeros((0, Z.shape[1]))
    fitted = PCA(n_components=min(2, *Z.shape), random_state=0).fit(Z)
    return fitted.components_[fitted.explained_variance_ > TOLERANCE * scale]


def _with_two_axes(down: Floats, up: Floats, names: list[str], Z: Floats, *, centred: bool, exact: bool) -> _Axes:
    """Where the metric has fewer axes, add the largest remaining variation of the samples, or an axis of zeros."""
    down, up = down[:2], up[:, :2]
    measured = np.arange(2) < len(down)
    while len(down) < 2:
        rest = _components(Z - (Z @ down.T) @ up.T, float(Z.var(axis=0).max()))[:1]
        names[len(down)] = "residual axis, not used by the model" if len(rest) else "no further axis"
        rest = rest if len(rest) else np.zeros((1, Z.shape[1]))
        down, up = np.vstack((down, rest)), np.hstack((up, rest.T))
    return _Axes(down, up, (names[0], names[1]), measured, centred, exact)


def _with_fixed_signs(columns: Floats) -> Floats:
    """Columns whose largest entry is positive, so that equal models give equal figures."""
    largest = columns[np.abs(columns).argmax(axis=0), np.arange(columns.shape[1])]
    return columns * np.where(largest < 0, -1, 1)
