"""A plane to draw a model on.

A model measures |Omega (x - w)|^2, where Omega may be the identity. The plane shows two axes along which these
distances are large:
- Omega of rank 2: the model's own coordinates Omega x, nothing left out;
- Omega of higher rank: the two leading eigenvectors of Lambda = Omega'Omega, each times the root of its eigenvalue;
- a matrix for each class or prototype: the same of their mean over the prototypes;
- relevances, or a plain metric: the principal axes of the samples as the metric weighs them.
A point of the plane stands for the sample `back(point)`: that of the plane through the samples' mean, with every
direction that is not drawn left at the mean. `regions` asks the model for its answer there. If the model's metric has
no more than two directions (`exact`), any sample drawn at a point has the answer of its region; otherwise the regions
are a slice through the model, and a sample off that slice may have another answer than the region it is drawn in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from lvq.estimators.base import BaseLVQ
from lvq.model.metrics import Diagonal, Euclidean, LocalMatrix, Matrix
from lvq.plots.models import found_in, mean_matrix, model_inputs
from lvq.robustness import Floats

NOTHING = 1e-12  # of the largest eigenvalue: below this share a direction does not count


class Plane(NamedTuple):
    """Samples and prototypes on two axes, and the way there and back; see the top of this file."""

    points: Floats  # (n_samples, 2)
    prototypes: Floats  # (n_prototypes, 2)
    explained: (
        Floats  # (2,): share of each axis in the samples' squared distances from their mean, as the model measures
    )
    axis_names: tuple[str, str]
    back: Callable[[Floats], Floats]  # points of the plane (k, 2) -> the model's own features (k, n)
    project: Callable[[Any], Floats]  # samples as given to the model or pipeline -> (k, 2)
    exact: bool  # whether the place in the plane alone decides the model's answer


def plane(model: Any, X: Any) -> Plane:
    """A plane to draw a model and samples on; see the top of this file.

    Parameters
    ----------
    model : estimator
        A fitted model of this library, alone, at the end of a Pipeline or in a `RejectClassifier`.
    X : array-like of shape (n_samples, n_features)
        Samples, as the estimator takes them.

    Returns
    -------
    plane : Plane

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(rank=2, random_state=0).fit(X, y)
    >>> view = plane(model, X)
    >>> bool(abs(view.points - model.transform(X)).max() < 1e-9), view.exact, view.axis_names[0]
    (True, True, 'learned axis 1')
    """
    found = found_in(model, "plane")
    Z = model_inputs(found, X)
    centre = Z.mean(axis=0)
    axes = _axes(found.model, Z - centre)
    origin = centre if axes.centred else np.zeros_like(centre)
    at_centre = (centre - origin) @ axes.down.T

    def project(samples: Any) -> Floats:
        return (model_inputs(found, samples) - origin) @ axes.down.T

    def back(points: Floats) -> Floats:
        return centre + (np.asarray(points, dtype=np.float64) - at_centre) @ axes.up.T

    points = (Z - origin) @ axes.down.T
    prototypes = (found.model._params.prototypes.astype(np.float64) - origin) @ axes.down.T
    total = _squared_length(found.model, Z - centre)
    explained = points.var(axis=0) * axes.measured / total if total > 0 else np.zeros(2)
    return Plane(points, prototypes, explained, axes.names, back, project, axes.exact)


class _Axes(NamedTuple):
    """Down to the plane and up again: `down @ up` is the identity, save for an axis that does not exist."""

    down: Floats  # (2, n)
    up: Floats  # (n, 2)
    names: tuple[str, str]
    measured: NDArray[np.bool_]  # (2,): whether the model's distances see the axis
    centred: bool
    exact: bool


def _axes(model: BaseLVQ, Z: Floats) -> _Axes:
    metric, R = model._metric, np.asarray(model._params.relevance)
    few = Z.shape[1] <= 2
    if isinstance(metric, Matrix) and R.shape[0] == 2:
        down = R.astype(np.float64)
        up = np.asarray(np.linalg.pinv(down, rcond=np.sqrt(NOTHING)), dtype=np.float64)
        if np.allclose(down @ up, np.eye(2), atol=1e-6):
            return _Axes(down, up, ("learned axis 1", "learned axis 2"), np.ones(2, dtype=np.bool_), False, True)
    if isinstance(metric, Matrix | LocalMatrix):
        mean = "" if isinstance(metric, Matrix) else "mean "
        values, vectors = np.linalg.eigh(mean_matrix(model))
        values, vectors = values[::-1], _signed(vectors[:, ::-1])
        rank = int((values > NOTHING * values[0]).sum())
        roots = np.sqrt(np.maximum(values[:2], 0))
        names = [f"eigenvector {k} of {mean}Lambda" for k in (1, 2)]
        exact = few or (isinstance(metric, Matrix) and rank <= 2)
        down, up = roots[:, None] * vectors[:, :2].T, vectors[:, :2] / np.where(roots > 0, roots, 1)
        return _completed(down[:rank], up[:, :rank], names, Z, centred=False, exact=exact)
    weights = np.ones(Z.shape[1]) if isinstance(metric, Euclidean) else np.sqrt(R.astype(np.float64))
    used = weights > np.sqrt(NOTHING) * weights.max()
    weights = np.where(used, weights, 0)
    directions = _signed(_principal_axes(Z * weights, float((Z * weights).var(axis=0).max())).T).T
    up = (directions / np.where(used, weights, 1)).T * used[:, None]
    kind = "" if isinstance(metric, Euclidean) else "weighted "
    names = [f"{kind}principal axis {k}" for k in (1, 2)]
    return _completed(directions * weights, up, names, Z, centred=True, exact=few or int(used.sum()) <= 2)


def _principal_axes(Z: Floats, scale: float) -> Floats:
    """Two orthonormal rows along which rows of mean zero vary most; fewer where they vary in fewer directions.

    `scale` is a variance beside which rounding is nothing.
    """
    if not (Z * Z).mean() > NOTHING * scale:
        return np.zeros((0, Z.shape[1]))
    found = PCA(n_components=min(2, *Z.shape), random_state=0).fit(Z)
    return found.components_[found.explained_variance_ > NOTHING * scale]


def _completed(down: Floats, up: Floats, names: list[str], Z: Floats, *, centred: bool, exact: bool) -> _Axes:
    """Two axes where the metric gives fewer: the rest of the samples' spread, which the model ignores, or nothing."""
    down, up = down[:2], up[:, :2]
    measured = np.arange(2) < len(down)
    while len(down) < 2:
        rest = _principal_axes(Z - (Z @ down.T) @ up.T, float(Z.var(axis=0).max()))[:1]
        names[len(down)] = "axis of the rest, not used by the model" if len(rest) else "no further axis"
        rest = rest if len(rest) else np.zeros((1, Z.shape[1]))
        down, up = np.vstack((down, rest)), np.hstack((up, rest.T))
    return _Axes(down, up, (names[0], names[1]), measured, centred, exact)


def _signed(columns: Floats) -> Floats:
    """Columns whose largest entry is positive, so that equal models give equal pictures."""
    largest = columns[np.abs(columns).argmax(axis=0), np.arange(columns.shape[1])]
    return columns * np.where(largest < 0, -1, 1)


def _squared_length(model: BaseLVQ, Z: Floats) -> float:
    """Mean squared length of rows in the model's metric; in the mean metric where it has several."""
    if isinstance(model._metric, Euclidean):
        return float((Z * Z).sum(axis=1).mean())
    if isinstance(model._metric, Diagonal):
        return float((Z * Z * np.asarray(model._params.relevance)).sum(axis=1).mean())
    return float(((Z @ mean_matrix(model)) * Z).sum(axis=1).mean())
