"""Held-out samples with everything that is computed for them, once, in the columns that the page shows.

The columns are those of the data where the steps before the model can be followed back. Otherwise, as behind a
Normalizer, they are the features that reach the model. This file alone asks how a pipeline maps columns to features;
the rest of the report sees names, values and contributions.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import FoundModel, need_model
from lvq.inspection.columns import category_fractions, input_cells, input_values, row_names, used_columns
from lvq.inspection.explain import contributions_between
from lvq.inspection.steps import input_map, names_before
from lvq.model.rows import require_dense
from lvq.plots import feature_names
from lvq.plots.arrays import pixel_places
from lvq.rejection.classifier import judged
from lvq.rejection.scores import Predictions
from lvq.reports.metrics import Bools, Codes
from lvq.reports.text import natural_key
from lvq.typing import Floats, JSONValue, Labels, MatrixLike

Cells = list[list[JSONValue]]
WHOLE = 0.995  # fraction from which a category is shown without it


class Columns:
    """Names, values and contributions of the columns that the page shows.

    Parameters
    ----------
    estimator : estimator
        A fitted model of this library, alone or in a Pipeline, a search or a RejectClassifier.
    dates : collection of str, default=()
        Columns that hold days since 1970, which are shown as dates.

    Attributes
    ----------
    in_units : bool
        Whether these are columns of X; otherwise they are the features of the model.
    names : list of str
        Names of the columns that are shown.
    places : ndarray of int
        Their indices among the columns of X, or among the features of the model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    >>> columns = Columns(model)
    >>> columns.names[0], columns.in_units, columns.cells(X[:1], X[:1])
    ('sepal length (cm)', True, [[5.1, 3.5, 1.4, 0.2]])
    """

    def __init__(self, estimator: BaseEstimator, dates: Collection[str] = ()) -> None:
        self.estimator, self.found = estimator, need_model(estimator, "the report")
        self.model = self.found.model
        self.all_names = names_before(self.found).tolist()
        self.values = self._followed()
        self.in_units = bool(self.values)
        if self.in_units:
            self.places = np.flatnonzero(self._used)
            self.names = [self.all_names[place] for place in self.places]
        else:
            self.values, self.places = self.model.prototypes.tolist(), np.arange(self.model.n_features)
            self.names = feature_names(estimator).tolist()
        self.dates = {k for k, name in enumerate(self.names) if self.in_units and name in dates}

    @property
    def _used(self) -> Bools:
        """Which columns of X reach the model."""
        return used_columns(self.found.steps, self.model.n_features, len(self.all_names))

    def _followed(self) -> Cells:
        """The prototypes in the columns of X that reach the model; nothing where these cannot be followed back."""
        W, places = self.model.prototypes, np.arange(len(self.model.prototypes))
        try:
            contributions_between(self.found, W, places, places[::-1])
        except ValueError:  # a step through which contributions cannot go back
            return []
        cells = input_values(self.found, W)
        if cells is None or any(cell is None for cell in cells[:, self._used].ravel()):
            return []
        for column, known in category_fractions(self.found, self.model.prototypes).items():
            fractions = known.fractions.max(axis=1)
            cells[:, column] = [
                str(cell) if fraction >= WHOLE else f"{cell} ({100 * fraction:.0f}\N{NO-BREAK SPACE}%)"
                for cell, fraction in zip(cells[:, column], fractions)
            ]
        return cells[:, self._used].tolist()

    def shown(self, k: int, value: JSONValue) -> JSONValue:
        """A value of column k as the page shows it: a number, a date, a category, or None."""
        if isinstance(value, bool) or not isinstance(value, float | int | np.number):
            return None if value is None else str(value)
        if k in self.dates:
            from lvq.tables.values import iso_date

            return iso_date(float(value))
        return float(value)

    def cells(self, X: MatrixLike, inputs: Floats) -> Cells:
        """The values of samples as they were given; None where a value is missing."""
        if not self.in_units:
            return [[None if cell != cell else cell for cell in row] for row in inputs.tolist()]
        rows = (input_cells(X, row) for row in range(len(inputs)))
        return [[row[place] for place in self.places] for row in rows]

    def contributions(self, inputs: Floats, winner: Codes, rival: Codes) -> Floats:
        """Contribution of each column to the difference of the distances to rival and winner."""
        steps = self.found.steps if self.in_units else ()
        return contributions_between(FoundModel(self.found.estimator, steps), inputs, winner, rival)[:, self.places]

    # -- prototypes ----------------------------------------------------------------------------------------------------

    def prototype(self, j: int, k: int) -> JSONValue:
        """Value of prototype j in column k: a number, a date, or the most frequent category with its fraction."""
        return self.shown(k, self.values[j][k])

    def prototype_numbers(self) -> Floats:
        """Values of all prototypes; NaN for categories."""
        return as_numbers(self.values)

    def reaches(self) -> Floats | None:
        """How far from each prototype a value has evidence of 1 against it; None where columns do not count alone."""
        model, scale = self.model, self.model.log_odds_scale
        weights = None if model.relevance is not None and not model.has_weights else model.matrix_of
        if scale is None or weights is None or model.variances is not None or not self.in_units:
            return None
        try:
            factors = input_map(self.found, "the report", categories=True)
        except ValueError:  # a step is not linear
            return None
        if isinstance(factors, np.ndarray):  # a step mixes columns
            return None
        squares = np.array([weights(j) ** 2 for j in range(len(self.values))]) @ factors.power(2)
        with np.errstate(divide="ignore"):
            return 1 / np.sqrt(scale * squares[:, self.places])

    # -- images --------------------------------------------------------------------------------------------------------

    def images(self, values: Floats | None = None) -> tuple[int, Floats] | None:
        """Side and pixels of the prototypes, or of given values of the columns; None where X is no image."""
        places = pixel_places(self.all_names) if self.in_units else None
        if places is None:
            return None
        own = self.prototype_numbers() if values is None else values
        whole = np.zeros((len(own), len(self.all_names)))
        whole[:, self.places] = np.nan_to_num(own)
        return places.side, places.whole(whole)


def as_numbers(cells: Cells) -> Floats:
    """Cells as an array of numbers; NaN for categories and missing values."""
    return np.array([[_number(cell) for cell in row] for row in cells], dtype=np.float64)


def _number(cell: object) -> float:
    is_number = isinstance(cell, float | int | np.number) and not isinstance(cell, bool)
    return float(cell) if is_number else float("nan")  # type: ignore[arg-type]


@dataclass(frozen=True)
class HeldOut:
    """Held-out samples and their predictions; classes are indices into `labels`, which are in natural order."""

    columns: Columns
    X: MatrixLike
    labels: Labels  # all classes, those that the model does not know last
    order: Codes  # the index of each of the model's classes
    y: Codes
    made: Predictions
    predicted: Codes
    probabilities: Floats | None  # 0 for classes that the model does not know
    costs: Floats | None  # of mistakes, in the order of `labels`; rows are true classes
    certainty: Floats
    reason: np.ndarray  # why the model rejects a sample; "" for accepted ones
    inputs: Floats  # samples as they reach the model
    cells: Cells  # values in the columns that are shown
    numbers: Floats  # the same as numbers; NaN for categories and missing values
    names: list[int | str]

    @classmethod
    def of(cls, model: BaseEstimator, columns: Columns, X: MatrixLike, y: Labels, reason: np.ndarray | None) -> Self:
        """Predict each sample once."""
        made, certainty, why = judged(model, X)
        require_dense(made.inputs, "The report")
        labels, order = ordered_classes(columns.model.classes, y)
        code = {label: index for index, label in enumerate(labels.tolist())}
        table, inputs = None, np.asarray(made.inputs, dtype=np.float64)
        cells = columns.cells(X, inputs)
        if made.probabilities is not None:
            table = np.zeros((len(y), len(labels)))
            table[:, order] = made.probabilities
        return cls(
            columns=columns,
            X=X,
            labels=labels,
            order=order,
            y=np.array([code[label] for label in y.tolist()]),
            made=made,
            predicted=np.array([code[label] for label in made.predicted.tolist()]),
            probabilities=table,
            costs=None if made.by_cost is None else made.by_cost.costs_[np.ix_(np.argsort(order), np.argsort(order))],
            certainty=np.asarray(certainty, dtype=np.float64),
            reason=why if reason is None else np.where(reason == "", why, reason),
            inputs=inputs,
            cells=cells,
            numbers=as_numbers(cells),
            names=[name if isinstance(name, int) else str(name) for name in row_names(X, len(y)).tolist()],
        )

    @property
    def accepted(self) -> Bools:
        """Which predictions the model accepts."""
        return np.asarray(self.reason == "")

    @property
    def correct(self) -> Bools:
        """Which predictions are correct."""
        return self.predicted == self.y

    @property
    def known_numbers(self) -> Floats:
        """The numbers, with zeros in columns that have none."""
        return np.where(np.isnan(self.numbers).all(axis=0), 0.0, self.numbers)

    @property
    def typical_range(self) -> Floats:
        """The 1st and the 99th percentile of each column."""
        return np.nanquantile(self.known_numbers, [0.01, 0.99], axis=0)

    @property
    def prototype_labels(self) -> Codes:
        """Class of each prototype."""
        return self.order[self.columns.model.labels]

    @property
    def row_names(self) -> str:
        """How samples are named, as a sentence."""
        indexed = hasattr(getattr(self.X, "index", None), "tolist")  # of a list it is a method
        source = "the index of their table" if indexed else "their row in the test data, counted from 0"
        return f"Samples are named by {source}."

    def shown(self, rows: Codes) -> Cells:
        """Values of some rows as the page shows them."""
        return [[self.columns.shown(k, cell) for k, cell in enumerate(self.cells[row])] for row in rows]

    def contributions(self, rows: Codes) -> Floats:
        """Contributions of the columns that are shown to the predictions of some rows."""
        winner, rival = self.made.nearest.winner[rows], self.made.nearest.rival[rows]
        return self.columns.contributions(self.inputs[rows], winner, rival)


def ordered_classes(classes: Labels, y: Labels) -> tuple[Labels, Codes]:
    """All classes in natural order, those that the model does not know last; and the place of each of the model's.

    Examples
    --------
    >>> labels, order = ordered_classes(np.array(["10", "2", "9"]), np.array(["2", "0"]))
    >>> labels.tolist(), order.tolist()
    (['2', '9', '10', '0'], [2, 0, 1])
    """
    known = sorted(range(len(classes)), key=lambda place: natural_key(str(classes[place])))
    unknown = sorted(np.setdiff1d(y, classes).tolist(), key=lambda label: natural_key(str(label)))
    kind = object if classes.dtype == object else None  # a longer string than all known ones is not cut off
    labels = np.concatenate([classes[known], np.array(unknown, dtype=kind)]) if unknown else classes[known]
    return labels, np.argsort(known)


def stratified(codes: Codes, most: int) -> Codes:
    """At most `most` rows, in proportion to the classes; deterministic.

    Examples
    --------
    >>> rows = stratified(np.repeat([0, 1], [900, 100]), 10)
    >>> len(rows), int((rows >= 900).sum())
    (10, 1)
    """
    by_class = np.random.default_rng(0).permutation(len(codes))
    by_class = by_class[np.argsort(codes[by_class], kind="stable")]
    return np.sort(by_class[np.linspace(0, len(codes) - 1, min(most, len(codes))).astype(np.intp)])
