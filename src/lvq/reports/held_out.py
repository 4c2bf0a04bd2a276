"""Held-out samples with everything that is computed for them, once; all parts of the report read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from lvq.inspection.columns import row_names
from lvq.model.rows import require_dense
from lvq.rejection.classifier import judged
from lvq.rejection.scores import Predictions
from lvq.reports.columns import Cells, Columns, as_numbers
from lvq.reports.metrics import Bools, Codes
from lvq.reports.text import natural_key
from lvq.typing import Floats, Labels, MatrixLike


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
