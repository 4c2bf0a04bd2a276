"""Real samples: those nearest to each prototype, and those nearest to a query, of its class and of the rival class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import euclidean_distances
from sklearn.utils import gen_batches
from sklearn.utils.validation import column_or_1d

from lvq.estimators.find_model import decides_by_cost, need_model
from lvq.inspection.columns import model_inputs, row_names
from lvq.inspection.steps import Floats, Indices
from lvq.model.metrics import SharedMetric
from lvq.model.prototype_model import PrototypeModel
from lvq.model.rows import as_numpy, require_complete
from lvq.typing import Argument, JSONValue, Labels, MatrixLike

if TYPE_CHECKING:
    from pandas import DataFrame


QUERIES = 1000  # whose distances to all cases are held at a time


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
    _check_k(k, "exemplars")
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
        true = _checked_labels(y, n_samples, "y of exemplars")
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


def _checked_labels(y: ArrayLike, n_samples: int, name: str) -> Labels:
    true: Labels = np.asarray(column_or_1d(as_numpy(y)))
    if len(true) != n_samples:
        raise ValueError(f"{name} must have a class for each of the {n_samples} rows, got {len(true)}.")
    return true


def _check_k(k: int, name: str) -> None:
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k of {name} must be a whole number of at least 1, got {k!r}.")


class NearestCases(NamedTuple):
    """The known cases nearest to each query, the nearest first; all arrays have a row for each query."""

    label: Labels  # the predicted class
    rival_label: Labels  # the class that is nearest of all others
    rows: Indices  # (n_queries, k), of the predicted class, into X_train
    rival_rows: Indices  # (n_queries, k), of the rival class
    distances: Floats  # (n_queries, k), in the model's metric, not squared
    rival_distances: Floats
    cases: NDArray[np.object_]  # (n_queries, k), of `samples`, or the names of the rows
    rival_cases: NDArray[np.object_]

    def table(self) -> DataFrame | list[dict[str, JSONValue]]:
        """A line for each query and case, those of the predicted class first.

        Returns
        -------
        table : DataFrame, or list of dict where pandas is not installed
            Columns: `query` (its number), `label` (the class of the case), `rival` (whether it is the rival class),
            `row` (of X_train), `distance`, `case`.
        """
        lines = [line for query in range(len(self.label)) for line in self._lines(query)]
        try:
            import pandas as pd
        except ImportError:
            return lines
        return pd.DataFrame(lines)

    def _lines(self, query: int) -> Iterator[dict[str, Argument]]:
        own = self.label, self.rows, self.distances, self.cases
        rival = self.rival_label, self.rival_rows, self.rival_distances, self.rival_cases
        for is_rival, (labels, rows, distances, cases) in ((False, own), (True, rival)):
            for row, distance, case in zip(rows[query].tolist(), distances[query].tolist(), cases[query]):
                yield {
                    "query": query,
                    "label": labels.tolist()[query],
                    "rival": is_rival,
                    "row": row,
                    "distance": distance,
                    "case": case,
                }


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

    They are a reason that needs no names of features: "this sentence is like that one, and less like this one". As with
    `exemplars`, the cases are shown as they are.

    Parameters
    ----------
    model : estimator
        A fitted model of this library, alone or in a Pipeline, a search, a `RejectClassifier` or a `CostClassifier`.
    X : array-like of shape (n_queries, n_columns)
        Queries, as the model takes them.
    X_train : array-like of shape (n_samples, n_columns)
        Known cases; they need not be those that the model was trained on.
    y_train : array-like of shape (n_samples,)
        Their classes.
    k : int, default=1
        Number of cases of each of the two classes.
    samples : sequence of n_samples objects, optional
        What is shown of the cases: texts, pictures, ids. By default the names of the rows of X_train.

    Returns
    -------
    cases : NearestCases
        Named tuple of `label`, `rival_label`, `rows`, `rival_rows`, `distances`, `rival_distances`, `cases` and
        `rival_cases`, with a method `table`. Distances are those of the metric of the winner, and of the rival: the
        nearest prototypes of the two classes, as in `explain`. Of equal distances the first row is first.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> from lvq.inspection import nearest_cases
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["cold", "cold", "hot", "hot"]
    >>> model = GLVQ(random_state=0).fit(X, y)
    >>> found = nearest_cases(model, [[1.5]], X, y, samples=["icy", "cool", "warm", "boiling"])
    >>> found.cases.tolist(), found.rival_cases.tolist()
    ([['cool']], [['warm']])
    """
    found = need_model(model, "nearest_cases")
    _check_k(k, "nearest_cases")
    fitted, Z, known = found.model, model_inputs(found, X), model_inputs(found, X_train)
    names = _shown(samples, X_train, known.shape[0])
    by_cost = np.searchsorted(fitted.classes, model.predict(X)) if decides_by_cost(model) else None
    nearest, _ = fitted.nearest(as_numpy(fitted.distances(Z)), by_cost)
    true = _checked_labels(y_train, known.shape[0], "y_train of nearest_cases")
    pairs = [_cases(fitted, Z, known, prototypes, true, k) for prototypes in (nearest.winner, nearest.rival)]
    (rows, distances), (rival_rows, rival_distances) = pairs
    label, rival_label = (fitted.classes[fitted.labels[each]] for each in (nearest.winner, nearest.rival))
    return NearestCases(
        label, rival_label, rows, rival_rows, distances, rival_distances, names[rows], names[rival_rows]
    )


def _shown(samples: Sequence[Argument] | None, X: MatrixLike, n_samples: int) -> NDArray[np.object_]:
    """What is shown of each known case; pictures stay whole."""
    if samples is None:
        return row_names(X, n_samples)
    if len(samples) != n_samples:
        raise ValueError(
            f"samples of nearest_cases must have an entry for each of the {n_samples} rows of X_train, "
            f"got {len(samples)}."
        )
    shown = np.empty(n_samples, dtype=object)
    shown[:] = list(samples)
    return shown


def _cases(
    model: PrototypeModel,
    Z: NDArray[np.floating],
    known: NDArray[np.floating],
    prototypes: Indices,
    y: Labels,
    k: int,
) -> tuple[Indices, Floats]:
    """The k nearest cases of each query's class by the metric of its prototype, and their distances."""
    rows, distances = np.empty((len(prototypes), k), dtype=np.intp), np.empty((len(prototypes), k))
    classes, groups = model.labels[prototypes], model.group[prototypes]
    for index, group in sorted(set(zip(classes.tolist(), groups.tolist()))):
        queries = np.flatnonzero((classes == index) & (groups == group))
        members = np.flatnonzero(y == model.classes[index])
        if len(members) < k:
            raise ValueError(
                f"k of nearest_cases must be at most the number of samples, got k={k} and {len(members)} of class "
                f"{model.classes.tolist()[index]!r}."
            )
        own, cases = (_measured(model, part, prototypes[queries[0]]) for part in (Z[queries], known[members]))
        for part in gen_batches(len(queries), QUERIES):
            D = euclidean_distances(own[part], cases)
            order = np.argsort(D, axis=1, kind="stable")[:, :k]
            rows[queries[part]], distances[queries[part]] = members[order], np.take_along_axis(D, order, 1)
    return rows, distances


def _measured(model: PrototypeModel, rows: NDArray[np.floating], prototype: int) -> NDArray[np.floating]:
    """Rows in the space in which a prototype measures."""
    if isinstance(model.metric, SharedMetric):
        return model.images(rows)
    require_complete(rows, "nearest_cases")
    omega = model.matrix_of(prototype)
    return rows * omega if omega.ndim == 1 else rows @ omega.T
