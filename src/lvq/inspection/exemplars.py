"""Exemplars: the real samples nearest to each prototype."""

from __future__ import annotations

from collections.abc import Iterator
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
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k of exemplars must be a whole number of at least 1, got {k!r}.")
    Z, fitted = model_inputs(found, X), found.model
    rows = np.empty((len(fitted.labels), k), dtype=np.intp)
    distances = np.empty((len(fitted.labels), k))
    for candidates, prototypes in _candidates(fitted, Z.shape[0], k, y):
        D = as_numpy(fitted.distances(Z[candidates]))[:, prototypes].T
        order = np.argsort(D, axis=1, kind="stable")[:, :k]
        rows[prototypes] = candidates[order]
        distances[prototypes] = np.sqrt(np.maximum(np.take_along_axis(D, order, 1), 0))
    return Exemplars(rows, row_names(X, Z.shape[0])[rows], distances, fitted.classes[fitted.labels])


def _candidates(
    model: PrototypeModel, n_samples: int, k: int, y: ArrayLike | None
) -> Iterator[tuple[Indices, Indices]]:
    """Rows that may be exemplars, and the prototypes that they may be of."""
    if y is None:
        groups = {"X": (np.ones(n_samples, dtype=bool), np.arange(len(model.labels)))}
    else:
        true: Labels = np.asarray(column_or_1d(as_numpy(y)))
        if len(true) != n_samples:
            raise ValueError(
                f"y of exemplars must have a class for each of the {n_samples} rows of X, got {len(true)}."
            )
        groups = {
            f"class {name!r}": (true == label, np.flatnonzero(model.labels == index))
            for index, (name, label) in enumerate(zip(model.classes.tolist(), model.classes))
        }
    for where, (own, prototypes) in groups.items():
        if own.sum() < k and len(prototypes):
            raise ValueError(
                f"k of exemplars must be at most the number of samples, got k={k} and {own.sum()} of {where}."
            )
        yield np.flatnonzero(own), prototypes
