"""Predictions for the rows of a table, part by part, in the order of the table.

Rules:
- columns are matched by name; a missing column is an error, one that the model does not use is named in a note;
- a row is always rejected where it has an unknown category, a missing value in a column that had none in training, or a
  number whose distances overflow; without a usable number there is no label either;
- memory holds one part of a table of any size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from lvq.estimators.found import FoundModel, find_model, need_model
from lvq.model.folded import largest_value
from lvq.rejection import RejectClassifier
from lvq.rejection.scores import Predictions, certainty_of
from lvq.robustness import certified_radius
from lvq.table_headers import FIRST_ROW
from lvq.tables import (
    TableError,
    TableWriter,
    as_days,
    as_numbers,
    as_text,
    check_output,
    column_names,
    holds_dates,
    is_number,
    kind_of,
    read_parts,
    reading_notes,
)
from lvq.tables.missing_marks import marks_by_column
from lvq.workflow.missing_values import is_ignoring
from lvq.workflow.model_columns import COLUMNS, ModelColumns, categories_by_number, expected_columns, match_columns
from lvq.workflow.preparation import MISSING_TEXT
from lvq.workflow.runs import load_model, stored_marks
from lvq.workflow.thread_limit import limited_threads

PART_ROWS = 5_000  # predicted at a time; their features and distances are in memory
_TEXTS = ("label", "reason", "winner")
_EMPTY = dict(zip(COLUMNS, (None, np.nan, False, "", None, np.nan)))  # a row without a prediction
_NOTES = {
    "missing value": "a missing value of {name!r}, which had none in training",
    "unknown category": "an unknown category of {name!r}",
    "value too large": "a value of {name!r} that is too large to compute distances",
}


@dataclass
class PredictResult:
    """Result of `predict_table`.

    Attributes
    ----------
    rows, accepted : int
        Number of rows, and of accepted predictions.
    labels : Counter
        Number of predictions of each class.
    reasons : Counter
        Number of rejected rows for each reason.
    notes : list of str
        Notes on columns and values that the model does not know.
    path : Path or None
        The file of the predictions.
    """

    rows: int = 0
    accepted: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    path: Path | None = None


@limited_threads
def predict_table(
    model: BaseEstimator | str | Path,
    table: str | Path,
    out: str | Path,
    *,
    keep: Sequence[str] = (),
    probabilities: bool = False,
    missing_marks: Sequence[str] = (),
    encoding: str | None = None,
    escape_formulas: bool = True,
    threads: int | None = None,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> PredictResult:
    """Predict the classes of the rows of a table, part by part, so that the table may be larger than memory.

    Parameters
    ----------
    model : path or estimator
        A model file, the folder of a run, or a model fitted to a DataFrame.
    table : path
        A CSV (also gzipped), Parquet, Arrow or ARFF file.
    out : path
        The predictions: .csv, .csv.gz or .parquet. The file appears when it is complete. Its columns:

        - label: the predicted class; empty where a number is missing that had no missing values in training;
        - certainty: certainty of the prediction; higher is more certain;
        - accepted: whether the prediction is accepted;
        - reason: the reason for rejection: "ambiguous", "outlier", "unseen cell",
          "missing value", "unknown category" or "value too large";
        - winner: the nearest prototype of that class, named as in the report: "P1" is ``prototypes_[0]``;
        - certified_radius: no smaller change of the row changes the label. In standardised units, as the model reads
          the row, with 0 or 1 for a category; empty for models that do not
          predict by the nearest prototype.
    keep : sequence of str, default=()
        Columns of the table to copy into the predictions, such as an identifier.
    probabilities : bool, default=False
        Whether to add a column "probability CLASS" for each class.
    missing_marks : sequence of str, default=()
        Texts and numbers that mean a missing value, as in `lvq.workflow.fit_table`; those of the fit, which are in the
        folder of the run, hold in any case.
    encoding : str, optional
        That of a CSV file; found from its bytes by default.
    escape_formulas : bool, default=True
        Whether texts in a CSV file that a spreadsheet would run as a formula get an apostrophe before them: those that
        begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return and are not numbers.
    threads : int, optional
        Number of threads, at most.
    force : bool, default=False
        Whether `out` may be replaced.
    progress : callable, optional
        Called with the number of rows predicted so far.

    Returns
    -------
    result : PredictResult

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from lvq import GLVQ
    >>> model = GLVQ(random_state=0).fit(pd.DataFrame({"size": [1.0, 2.0, 1.5, 2.5]}), ["a", "b", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table, out = pathlib.Path(folder, "table.csv"), pathlib.Path(folder, "predictions.csv")
    ...     _ = table.write_text("name,size\\nsmall,1.1\\nlarge,2.2\\n")
    ...     result = predict_table(model, table, out, keep=["name"])
    ...     pd.read_csv(out)[["name", "label", "accepted"]].to_numpy().tolist()
    [['small', 'a', True], ['large', 'b', True]]
    """
    table, out = Path(table), check_output(out, force=force)
    if out.exists() and table.exists() and out.samefile(table):
        raise TableError(f"{out} is the table itself, which the predictions would replace; choose another name.")
    marks: dict[str, list[str]] = {}
    if isinstance(model, str | Path):
        marks, model = stored_marks(model), load_model(model)
    columns = expected_columns(model)
    result = PredictResult(path=out, notes=match_columns(column_names(table, encoding), columns, keep, table))
    predict = RowPredictor(model, columns, str(table), probabilities=probabilities)
    taken = [name for name in keep if name in predict.probability_columns]
    if taken:
        raise TableError(f"The column {taken[0]!r} cannot be kept: the predictions have a column of that name.")
    wanted = list(dict.fromkeys([*columns.names, *keep]))
    for name, texts in marks_by_column(missing_marks, columns.names, str(table)).items():
        marks[name] = [*marks.get(name, []), *texts]
    numbers = {name for name in columns.names if name not in columns.categories and name not in keep}
    with TableWriter(out, escape_formulas=escape_formulas) as writer:
        exact = {*keep, *columns.categories}
        for part in read_parts(table, wanted, numbers, exact=exact, encoding=encoding, marks=marks):
            for start in range(0, len(part), PART_ROWS):
                rows = part.iloc[start : start + PART_ROWS].reset_index(drop=True)
                predictions = predict(rows, result)
                writer.write(pd.concat([rows[list(keep)], predictions], axis=1))
                if progress is not None:
                    progress(result.rows)
    result.notes += [*reading_notes(table, encoding), *predict.notes()]
    if writer.escaped:
        cells = "cell" if writer.escaped == 1 else "cells"
        result.notes.append(
            f"{writer.escaped} text {cells} that a spreadsheet would run as a formula got an apostrophe; --raw-text "
            "(escape_formulas=False) writes them unchanged."
        )
    return result


class RowPredictor:
    """Predicts rows, and counts values that the model cannot use, by column."""

    def __init__(
        self, model: BaseEstimator, columns: ModelColumns, source: str, *, probabilities: bool = False
    ) -> None:
        self.model, self.columns, self.source = model, columns, source
        self.features = pd.DataFrame()  # of the part predicted last, as the model reads them
        self.probability_columns = [f"probability {label}" for label in model.classes_] if probabilities else []
        if probabilities and not hasattr(model, "predict_proba"):
            raise ValueError(f"{type(model).__name__} has no probabilities; leave out --probabilities.")
        self.by_number = {name: categories_by_number(known) for name, known in columns.categories.items()}
        self.unusable: dict[tuple[str, str], list[int]] = {}  # (reason, column): number of rows, first row
        self.found, self.ignores = find_model(model), is_ignoring(model)
        try:
            need_model(model, "certified_radius", nearest=True)
            self.has_radius = True
        except ValueError:
            self.has_radius = False

    def __call__(self, rows: pd.DataFrame, result: PredictResult) -> pd.DataFrame:
        first_row = result.rows + FIRST_ROW
        X, reason, usable = self._features(rows, first_row)
        self.features = X
        usable &= ~self._too_large(X, usable, reason, first_row)
        empty = _EMPTY | dict.fromkeys(self.probability_columns, np.nan)
        predictions = pd.DataFrame(empty, index=rows.index).astype(dict.fromkeys(_TEXTS, object))
        if usable.any():
            for name, values in self._predict(X[usable]).items():
                predictions.loc[usable, name] = values
        predictions["reason"] = np.where(reason == "", predictions["reason"], reason)
        predictions["accepted"] = predictions["reason"] == ""
        result.rows += len(rows)
        result.accepted += int(predictions["accepted"].sum())
        result.labels.update(predictions["label"].dropna())
        result.reasons.update(predictions.loc[~predictions["accepted"], "reason"])
        return predictions

    def _features(self, rows: pd.DataFrame, first_row: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
        """The columns of the model, the reason for rejection of each row, and whether the model can predict it."""
        features: dict[str, np.ndarray] = {}
        reason = np.full(len(rows), "", dtype=object)
        usable = np.ones(len(rows), dtype=bool)
        for name in self.columns.names:
            if name in self.columns.categories:
                values = self._categories(rows[name])
                unknown = np.array([value not in self.columns.categories[name] for value in values])
                missing = unknown & (values == MISSING_TEXT)
                self._reject("missing value", name, missing, reason, first_row)
                self._reject("unknown category", name, unknown & ~missing, reason, first_row)
            else:
                days = kind_of(rows[name]) != "number" and holds_dates(rows[name])
                values = as_days(rows[name], self.source) if days else as_numbers(rows[name], self.source, first_row)
                if np.isinf(values).any():
                    row = first_row + int(np.isinf(values).argmax())
                    raise TableError(
                        f"The column {name!r} of {self.source} is infinite in row {row}; correct it or leave the cell "
                        "empty."
                    )
                if name not in self.columns.gaps:
                    missing = np.isnan(values)
                    usable &= ~missing
                    self._reject("missing value", name, missing, reason, first_row)
            features[name] = values
        return pd.DataFrame(features, columns=self.columns.names), reason, usable

    def _categories(self, column: pd.Series) -> np.ndarray:
        """The values under the names that the model knows, where it knows them."""
        known, by_number = self.columns.categories[str(column.name)], self.by_number[str(column.name)]
        values = as_text(column)
        for value in set(values) - known:
            name = value
            if value is None:
                name = MISSING_TEXT
            elif by_number and is_number(value):
                name = by_number.get(float(value), value)
            values[values == value] = name
        return values

    def _too_large(self, X: pd.DataFrame, usable: np.ndarray, reason: np.ndarray, first_row: int) -> np.ndarray:
        """Rows whose distances would overflow; the column with the largest number is reported."""
        large = np.zeros(len(X), dtype=bool)
        if self.found is None or not usable.any():
            return large
        with np.errstate(over="ignore", invalid="ignore"):
            inputs = np.asarray(self.found.inputs(X[usable]))
        dtype = inputs.dtype if inputs.dtype.kind == "f" else np.float64
        small = np.abs(inputs) <= largest_value(dtype, inputs.shape[1])
        large[usable] = ~(small | (np.isnan(inputs) & self.ignores)).all(axis=1)
        if large.any():
            numbers = X.loc[large].select_dtypes("number").abs()
            largest = numbers.idxmax(axis=1).reindex(X.index)
            for name in largest.dropna().unique():
                self._reject("value too large", name, (largest == name).to_numpy(), reason, first_row)
        return large

    def _reject(self, why: str, name: str, here: np.ndarray, reason: np.ndarray, first_row: int) -> None:
        if here.any():
            count = self.unusable.setdefault((why, name), [0, first_row + int(here.argmax())])
            count[0] += int(here.sum())
            reason[here & (reason == "")] = why

    def _predict(self, X: pd.DataFrame) -> dict[str, ArrayLike]:
        # one table of distances for label, reason and certainty
        if isinstance(self.model, RejectClassifier):
            predictions = self.model.predictions(X)
            certainty, reason = self.model.certainty_for(predictions), self.model.reason_for(predictions)
        else:
            predictions = Predictions(self.model, X)
            certainty = certainty_of(predictions, "auto")
            reason = np.full(len(certainty), "")
        result: dict[str, ArrayLike] = {
            "label": predictions.predicted.astype(str).astype(object),
            "certainty": certainty,
            "reason": reason.astype(object),
        }
        if self.probability_columns:
            result |= dict(zip(self.probability_columns, np.asarray(self.model.predict_proba(X)).T))
        if self.found is not None:
            result["winner"] = [f"P{index + 1}" for index in predictions.winner]
        if self.found is not None and self.has_radius:
            result["certified_radius"] = _radii(self.found, X)
        return result

    def notes(self) -> list[str]:
        """Notes on the rows that were rejected before the model."""
        return [
            f"{count} {'row' if count == 1 else 'rows'} with {_NOTES[why].format(name=name)} (first in row {row}): "
            "rejected."
            for (why, name), (count, row) in self.unusable.items()
        ]


def _radii(found: FoundModel, X: pd.DataFrame) -> np.ndarray:
    """Certified radii; none for a row with missing values, as a radius is a change of all of them."""
    inputs = found.inputs(X)  # with the names of the columns, where the model was fitted to them
    radii, known = np.full(len(inputs), np.nan), ~np.isnan(np.asarray(inputs, dtype=np.float64)).any(axis=1)
    if known.any():
        radii[known] = certified_radius(found.estimator, inputs[known])
    return radii
