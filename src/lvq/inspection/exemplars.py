"""Exemplars: the real samples nearest to each prototype."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import column_or_1d

from lvq.estimators.find_model import need_model
from lvq.inspection.columns import model_inputs, row_names
from lvq.inspection.steps import Floats, Indices
from lvq.model.prototype_model import PrototypeModel
from lvq.model.rows import as_numpy
from lvq.typing import Labels, MatrixLike

BLOCK = 2**22  # distances at a time


class Exemplars(NamedTuple):
    """The samples nearest to each prototype, the nearest first; all arrays have a row for each prototype."""

    rows: Indices  # (n_prototypes, k), into X
    names: NDArray[np.object_]  # (n_prototypes, k), of the index of a table, or the row numbers
    distances: Floats  # (n_prototypes, k), in the model's metric, not squared
    labels: Labels  # (n_prototypes,), the prototypes' classes


def exemplars(model: BaseEstimator, X: MatrixLike, k: int = 1, y: ArrayLike | None = None) -> Exemplars:
    """The k samples that are nearest to each prototype, in the model's metric.

    Exemplars are rows of X. Where these are patients, showing exemplars publishes them.

    Parameters
    ----------
    model : estimator
        A fitted model of this library, alone or in a Pipeline, a search or a `RejectClassifier`.
    X : array-like of shape (n_samples, n_columns)
        Samples, as the model takes them.
    k : int, default=1
        Number of samples for each prototype.
    y : array-like of shape (n_samples,), optional
        Their classes. With them the exemplars of a prototype are of its own class; without them of any class.

    Returns
    -------
    exemplars : Exemplars
        Named tuple of `rows`, the rows of X; `names`, the same by the index of a table; `distances`, the roots of the
        distances to the prototype; and `labels`, the prototypes' classes. Of equal distances the first row is first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GMLVQ, exemplars
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
    >>> found = exemplars(model, X, k=2, y=y)
    >>> found.rows.shape, bool((y[found.rows[:, 0]] == found.labels).all())
    ((3, 2), True)
    """
    found = need_model(model, "exemplars")
    Z, fitted = model_inputs(found, X), found.model
    groups = _candidates(fitted, Z.shape[0], k, y)
    rows = np.empty((len(fitted.labels), k), dtype=np.intp)
    distances = np.empty((len(fitted.labels), k))
    for candidates, prototypes in groups:
        nearest, D = _nearest(fitted, Z[candidates], prototypes, k)
        rows[prototypes], distances[prototypes] = candidates[nearest], np.sqrt(np.maximum(D, 0))
    return Exemplars(rows, row_names(X, Z.shape[0])[rows], distances, fitted.classes[fitted.labels])


def _candidates(model: PrototypeModel, n_samples: int, k: int, y: ArrayLike | None) -> list[tuple[Indices, Indices]]:
    """Rows that may be exemplars, and the prototypes that they may be of."""
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k of exemplars must be a whole number of at least 1, got {k!r}.")
    if y is None:
        every = np.arange(n_samples), np.arange(len(model.labels))
        _check_enough(n_samples, k, "X")
        return [every]
    true: Labels = np.asarray(column_or_1d(as_numpy(y)))
    if len(true) != n_samples:
        raise ValueError(f"y of exemplars must have a class for each of the {n_samples} rows of X, got {len(true)}.")
    groups = []
    for label in np.unique(model.labels):
        own = np.flatnonzero(true == model.classes[label])
        _check_enough(len(own), k, f"class {model.classes.tolist()[label]!r}")
        groups.append((own, np.flatnonzero(model.labels == label)))
    return groups


def _check_enough(n_samples: int, k: int, where: str) -> None:
    if n_samples < k:
        raise ValueError(f"k of exemplars must be at most the number of samples, got k={k} and {n_samples} of {where}.")


def _nearest(model: PrototypeModel, Z: NDArray[np.floating], prototypes: Indices, k: int) -> tuple[Indices, Floats]:
    """The k nearest rows of each prototype, and their squared distances, in blocks of rows."""
    size = max(k, BLOCK // len(model.labels))
    best, lowest = np.empty((len(prototypes), 0), dtype=np.intp), np.empty((len(prototypes), 0))
    for begin in range(0, Z.shape[0], size):
        D = as_numpy(model.distances(Z[begin : begin + size]))[:, prototypes].T.astype(np.float64)
        rows = np.broadcast_to(np.arange(begin, begin + D.shape[1]), D.shape)
        best, lowest = np.hstack((best, rows)), np.hstack((lowest, D))
        order = np.argsort(lowest, axis=1, kind="stable")[:, :k]
        best, lowest = np.take_along_axis(best, order, 1), np.take_along_axis(lowest, order, 1)
    return best, lowest
