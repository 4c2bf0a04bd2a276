"""Real samples: the nearest to each prototype, and the nearest to a query, of its class and of the rival class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_consistent_length, check_scalar, gen_batches
from sklearn.utils.validation import column_or_1d

from lvq.estimators.find_model import need_model
from lvq.inspection.columns import class_by_cost, frame_of, model_inputs, row_names
from lvq.inspection.steps import Indices
from lvq.model.metrics import SharedMetric
from lvq.model.prototype_model import PrototypeModel
from lvq.model.rows import as_numpy, require_complete
from lvq.typing import Argument, Floats, JSONValue, Labels, MatrixLike

if TYPE_CHECKING:
    from pandas import DataFrame

QUERIES = 1000  # handled at a time: their distances to all cases are in memory


class Exemplars(NamedTuple):
    """The samples nearest to each prototype, the nearest first; all arrays have a row for each prototype."""

    rows: Indices  # (n_prototypes, k), into X
    names: NDArray[np.object_]  # (n_prototypes, k), from the index of a table, or the row numbers
    distances: Floats  # (n_prototypes, k), in the model's metric, not squared
    labels: Labels  # (n_prototypes,), the prototypes' classes

    def __repr__(self) -> str:
        return f"Exemplars({self.rows.shape[1]} for each of {len(self.rows)} prototypes; see .names and .distances)"


def exemplars(model: BaseEstimator, X: MatrixLike, k: int = 1, y: ArrayLike | None = None) -> Exemplars:
    """The k samples that are nearest to each prototype, in the model's metric.

    Exemplars are rows of X. If these are patients, showing exemplars publishes their data.

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
        distances to the prototype; and `labels`, the prototypes' classes. If distances are equal, the first row comes
        first.

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

    def measured(prototypes: Indices, rows: Indices) -> Floats:
        return np.sqrt(np.maximum(as_numpy(fitted.distances(Z[rows]))[:, prototypes].T, 0))

    if y is None:
        classes, own, names = np.zeros_like(fitted.labels), np.zeros(Z.shape[0], dtype=np.intp), ["X"]
    else:
        classes, own = fitted.labels, _class_indices(fitted, y, Z)
        names = [f"class {name!r}" for name in fitted.classes.tolist()]
    rows, distances = _nearest(classes, own, k, measured, names, "exemplars")
    return Exemplars(rows, row_names(X, Z.shape[0])[rows], distances, fitted.classes[fitted.labels])


def _nearest(
    classes: Indices,
    own: Indices,
    k: int,
    measured: Callable[[Indices, Indices], Floats],
    names: list[str],
    purpose: str,
) -> tuple[Indices, Floats]:
    """The k nearest samples of each query's class, and their distances.

    Parameters
    ----------
    classes : ndarray of shape (n_queries,)
        Index of the class of each query.
    own : ndarray of shape (n_samples,)
        Index of the class of each sample; -1 for none.
    k : int
        Number of samples for each query.
    measured : callable
        Distances between given queries and given samples.
    names : list of str
        Names of the classes.
    purpose : str
        Whose `k` it is.
    """
    check_scalar(k, f"k of {purpose}", Integral, min_val=1)
    rows, distances = np.empty((len(classes), k), dtype=np.intp), np.empty((len(classes), k))
    for index in np.unique(classes).tolist():
        members, queries = np.flatnonzero(own == index), np.flatnonzero(classes == index)
        if len(members) < k:
            raise ValueError(
                f"k of {purpose} must be at most the number of samples, got k={k} and {len(members)} of {names[index]}."
            )
        for part in gen_batches(len(queries), QUERIES):
            D = measured(queries[part], members)
            order = np.argsort(D, axis=1, kind="stable")[:, :k]
            rows[queries[part]], distances[queries[part]] = members[order], np.take_along_axis(D, order, 1)
    return rows, distances


def _class_indices(model: PrototypeModel, y: ArrayLike, Z: MatrixLike) -> Indices:
    """The class of each sample as an index of the model's classes; -1 for others."""
    true = np.asarray(column_or_1d(as_numpy(y)))
    check_consistent_length(true, Z)
    codes = {label: index for index, label in enumerate(model.classes.tolist())}
    return np.array([codes.get(label, -1) for label in true.tolist()], dtype=np.intp)


class NearestCases(NamedTuple):
    """The known cases nearest to each query, of the predicted class and of the class that comes second.

    Each part has rows of X_train, what is shown of them, their distances and their class, with a row for each query.
    """

    own: Exemplars
    rival: Exemplars

    def table(self) -> DataFrame | list[dict[str, JSONValue]]:
        """A line for each query and case, starting with the predicted class.

        Returns
        -------
        table : DataFrame, or list of dict where pandas is not installed
            Columns: `query` (its number), `label` (the class of the case), `rival` (whether it is the rival class),
            `row` (of X_train), `distance`, `case`.
        """
        names = ("query", "label", "rival", "row", "distance", "case")
        lines = (
            (query, side.labels.tolist()[query], side is self.rival, *case)
            for query in range(len(self.own.labels))
            for side in self
            for case in zip(side.rows[query].tolist(), side.distances[query].tolist(), side.names[query])
        )
        return frame_of([dict(zip(names, line)) for line in lines])


def nearest_cases(
    model: BaseEstimator,
    X: MatrixLike,
    X_train: MatrixLike,
    y_train: ArrayLike,
    *,
    k: int = 1,
    samples: Sequence[Argument] | None = None,
) -> NearestCases:
    """The known cases nearest to each query: k of the predicted class, and k of the class that comes second.

    They are a reason that needs no feature names: "this sentence is like that one, and less like this one". As with
    `exemplars`, the cases are shown unchanged.

    Parameters
    ----------
    model : estimator
        A fitted model of this library, alone or in a Pipeline, a search, a `RejectClassifier` or a `CostClassifier`.
    X : array-like of shape (n_queries, n_columns)
        Queries, as the model takes them.
    X_train : array-like of shape (n_samples, n_columns)
        Known cases; the model may have been trained on others.
    y_train : array-like of shape (n_samples,)
        Their classes.
    k : int, default=1
        Number of cases of each of the two classes.
    samples : sequence of n_samples objects, optional
        What to show for each case: a sentence, a picture, an id. By default the names of the rows of X_train.

    Returns
    -------
    cases : NearestCases
        Named tuple of `own`, of the predicted class, and `rival`, each with the arrays of `Exemplars`: `rows`, `names`
        (the samples that are shown), `distances` and `labels`; with a method `table`. Distances are measured in the
        metric of the winner and in that of the rival, the nearest prototypes of the two classes, as in `explain`. If
        distances are equal, the first row comes first.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> from lvq.inspection import nearest_cases
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["cold", "cold", "hot", "hot"]
    >>> model = GLVQ(random_state=0).fit(X, y)
    >>> found = nearest_cases(model, [[1.5]], X, y, samples=["icy", "cool", "warm", "boiling"])
    >>> found.own.names.tolist(), found.rival.names.tolist()
    ([['cool']], [['warm']])
    """
    found = need_model(model, "nearest_cases")
    fitted, Z, known = found.model, model_inputs(found, X), model_inputs(found, X_train)
    check_consistent_length(known, samples)
    shown = np.empty(known.shape[0], dtype=object)
    shown[:] = row_names(X_train, len(shown)) if samples is None else list(samples)  # pictures stay whole
    nearest, _ = fitted.nearest(as_numpy(fitted.distances(Z)), class_by_cost(found, model, X))
    true = _class_indices(fitted, y_train, known)
    names = [f"class {name!r}" for name in fitted.classes.tolist()]

    def cases(prototypes: Indices) -> Exemplars:
        def measured(queries: Indices, rows: Indices) -> Floats:
            return _distances(fitted, Z[queries], known[rows], prototypes[queries])

        labels = fitted.labels[prototypes]
        rows, distances = _nearest(labels, true, k, measured, names, "nearest_cases")
        return Exemplars(rows, shown[rows], distances, fitted.classes[labels])

    return NearestCases(cases(nearest.winner), cases(nearest.rival))


def _distances(model: PrototypeModel, Z: MatrixLike, known: MatrixLike, prototypes: Indices) -> Floats:
    """Distances of queries to known cases, each query by the metric of its prototype."""
    D, groups = np.empty((Z.shape[0], known.shape[0])), model.group[prototypes]
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        D[rows] = euclidean_distances(*(_image(model, part, prototypes[rows[0]]) for part in (Z[rows], known)))
    return D


def _image(model: PrototypeModel, rows: NDArray[np.floating], prototype: int) -> NDArray[np.floating]:
    """Rows in the space in which a prototype measures."""
    if isinstance(model.metric, SharedMetric):
        return model.images(rows)
    require_complete(rows, "nearest_cases")
    omega = model.matrix_of(prototype)
    return rows * omega if omega.ndim == 1 else rows @ omega.T
