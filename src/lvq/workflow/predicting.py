"""Predictions for the rows of a table, in the order of the table, and a report on a labelled table from elsewhere.

Rules:
- columns are matched by name; a missing column is an error, one that the model does not use is named in a note;
- a row is always rejected where it has an unknown category, a missing value in a column that had none in training, or a
  number whose distances overflow; without a usable number there is no label either;
- memory holds one part of a table of any size; a validation reads the whole table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from lvq.estimators.find_model import FoundModel, find_model, need_model
from lvq.model.rows import largest_value
from lvq.rejection import RejectClassifier
from lvq.rejection.guarantee import error_upper_bound
from lvq.rejection.known_values import MISSING_TEXT
from lvq.rejection.scores import certainty_of
from lvq.rejection.scores import Predictions
from lvq.reports import Context, Report
from lvq.reports.metrics import Fraction
from lvq.reports.model import Guarantee
from lvq.reports.summary import Earlier
from lvq.inspection.certify import certified_radius
from lvq.tables.header import FIRST_ROW, check_columns, listed
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
from lvq.tables.values import marks_by_column, without_marks
from lvq.typing import JSONValue
from lvq.workflow.pipeline import ignores_missing
from lvq.workflow.runs import check_folder, load_metrics, load_model, write_run
from lvq.workflow.study import TableLike, read

#: Columns of the predictions.
COLUMNS = ("label", "certainty", "accepted", "reason", "winner", "certified_radius")
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
    """Result of `predict`.

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
    frame : DataFrame or None
        The predictions, where they were not written to a file.
    """

    rows: int = 0
    accepted: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    path: Path | None = None
    frame: pd.DataFrame | None = None


class ModelColumns(NamedTuple):
    """Columns of a model in order, the known categories of some, and those in which values may be missing.

    A model that ignores missing values takes them in every column of numbers.
    """

    names: list[str]
    categories: dict[str, set[str]]
    gaps: set[str]


def expected_columns(model: BaseEstimator) -> ModelColumns:
    """The columns of a fitted model.

    Parameters
    ----------
    model : estimator
        Fitted to a DataFrame.

    Returns
    -------
    columns : ModelColumns

    Examples
    --------
    >>> import pandas as pd
    >>> from lvq import GLVQ
    >>> table = pd.DataFrame({"size": [1.0, 2.0, 1.5, 2.5]})
    >>> expected_columns(GLVQ().fit(table, ["a", "b", "a", "b"]))
    ModelColumns(names=['size'], categories={}, gaps=set())
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            "The model was fitted to an array without column names, so the columns of a table cannot be matched; fit "
            "it to a DataFrame, or with `lvq fit`."
        )
    columns = ModelColumns([str(name) for name in names], {}, set())
    found = find_model(model)
    if found is not None and found.steps and isinstance(found.steps[0], ColumnTransformer):
        for _, part, chosen in found.steps[0].transformers_:
            inner = part.steps[0][1] if isinstance(part, Pipeline) else part
            if isinstance(inner, OneHotEncoder):
                known = [set(map(str, categories)) for categories in inner.categories_]
                columns.categories.update(zip(map(str, chosen), known))
            elif isinstance(inner, SimpleImputer):
                columns.gaps.update(map(str, chosen))
    if ignores_missing(model):
        columns.gaps.update(name for name in columns.names if name not in columns.categories)
    return columns


def categories_by_number(categories: set[str]) -> dict[float, str]:
    """The categories of a column by their numbers, where all are numbers; a number with two names is left out.

    Files write a number in several ways: 7 in one is 7.0 in another, and 007 loses its zeros in a spreadsheet.

    Examples
    --------
    >>> categories_by_number({"007", "8", "(missing)"}) == {7.0: "007", 8.0: "8"}
    True
    >>> categories_by_number({"1", "1.0"}), categories_by_number({"1", "one"})
    ({}, {})
    """
    names = sorted(categories - {MISSING_TEXT})
    if not all(map(is_number, names)):
        return {}
    numbers = list(map(float, names))
    return {number: name for number, name in zip(numbers, names) if numbers.count(number) == 1}


def match_columns(present: Sequence[str], columns: ModelColumns, keep: Sequence[str], table: str) -> list[str]:
    """Check the columns of a table; one error names all that are missing.

    Parameters
    ----------
    present : sequence of str
        Columns of the table.
    columns : ModelColumns
        Columns of the model.
    keep : sequence of str
        Columns to copy into the predictions.
    table : str
        Name of the table, for messages.

    Returns
    -------
    notes : list of str
    """
    existing, needed = set(present), set(columns.names)
    missing = [name for name in columns.names if name not in existing]
    absent = [name for name in keep if name not in existing]
    taken = [name for name in keep if name in COLUMNS]
    problems = []
    if missing:
        unknown = [name for name in present if name and name not in needed]
        found = f" It has {listed(unknown)}, which the model does not use." if unknown else ""
        word = "a column" if len(missing) == 1 else f"{len(missing)} columns"
        problems.append(f"{table} lacks {word} that the model needs: {listed(missing)}.{found}")
    if absent:
        problems.append(f"{table} has no column {listed(absent)} to keep; its columns are {listed(list(present))}.")
    if taken:
        problems.append(f"The column {listed(taken)} cannot be kept: the predictions have a column of that name.")
    if problems:
        raise TableError(" ".join(problems))
    extra = [name for name in present if name and name not in needed and name not in keep]
    return [f"Columns that the model does not use: {listed(extra)}."] if extra else []


def predict(
    model: BaseEstimator | str | Path,
    table: TableLike,
    out: str | Path | None = None,
    *,
    keep: Sequence[str] = (),
    probabilities: bool = False,
    missing_marks: Sequence[str] = (),
    encoding: str | None = None,
    escape_formulas: bool = True,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> PredictResult:
    """Predict the classes of the rows of a table; of a file part by part, so it may be larger than memory.

    Parameters
    ----------
    model : path or estimator
        A model file, the folder of a run, or a model fitted to a DataFrame.
    table : DataFrame or path
        A data frame, or a CSV (also gzipped), Parquet or Arrow file.
    out : path, optional
        The predictions: .csv, .csv.gz or .parquet. The file appears when it is complete. Without it the result has
        them as a data frame. The columns are:

        - label: the predicted class; empty where a number is missing that had no missing values in training;
        - certainty: certainty of the prediction; higher is more certain;
        - accepted: whether the prediction is accepted;
        - reason: the reason for rejection: "ambiguous", "outlier", "unseen cell", "uncertified", "missing value",
          "unknown category" or "value too large";
        - winner: the nearest prototype of that class, named as in the report: "P1" is ``prototypes_[0]``;
        - certified_radius: no smaller change of the row changes the label. In standardised units, as the model reads
          the row, with 0 or 1 for a category; empty for models that do not predict by the nearest prototype.
    keep : sequence of str, default=()
        Columns of the table to copy into the predictions, such as an identifier.
    probabilities : bool, default=False
        Whether to add a column "probability CLASS" for each class.
    missing_marks : sequence of str, default=()
        Strings and numbers that mean a missing value, as in `TableOptions`; those of the fit, which are in the folder
        of the run, hold in any case.
    encoding : str, optional
        That of a CSV file; found from its bytes by default.
    escape_formulas : bool, default=True
        Whether strings in a CSV file that a spreadsheet would run as a formula get an apostrophe before them: those
        that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return and are not numbers.
    force : bool, default=False
        Whether `out` may be replaced.
    progress : callable, optional
        Called with the number of rows predicted so far.

    Returns
    -------
    result : PredictResult

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(random_state=0).fit(pd.DataFrame({"size": [1.0, 2.0, 1.5, 2.5]}), ["a", "b", "a", "b"])
    >>> result = predict(model, pd.DataFrame({"name": ["small", "large"], "size": [1.1, 2.2]}), keep=["name"])
    >>> result.frame[["name", "label", "accepted"]].to_numpy().tolist()
    [['small', 'a', True], ['large', 'b', True]]
    """
    is_file, source = not isinstance(table, pd.DataFrame), "the data frame"
    if not isinstance(table, pd.DataFrame):
        source, present = str(table), column_names(table, encoding)
    else:
        present = [str(name) for name in table.columns]
    path = None if out is None else check_output(out, force=force)
    if path is not None and is_file and path.exists() and Path(table).exists() and path.samefile(table):
        raise TableError(f"{path} is the table itself, which the predictions would replace; choose another name.")
    marks: dict[str, list[str]] = {}
    if isinstance(model, str | Path):
        marks, model = stored_marks(model), load_model(model)
    columns = expected_columns(model)
    notes = match_columns(present, columns, keep, source)
    predictor = RowPredictor(model, columns, source, probabilities=probabilities)
    taken = [name for name in keep if name in predictor.probability_columns]
    if taken:
        raise TableError(f"The column {taken[0]!r} cannot be kept: the predictions have a column of that name.")
    for name, strings in marks_by_column(missing_marks, columns.names, source).items():
        marks[name] = [*marks.get(name, []), *strings]
    result = PredictResult(path=path, notes=notes)
    parts = _parts(table, columns, keep, marks, encoding)
    if path is None:
        made = [_with_kept(rows, predictor(rows, result), keep) for rows in parts]
        result.frame = pd.concat(made, ignore_index=True)
        if isinstance(table, pd.DataFrame):
            result.frame.index = table.index
    else:
        result.notes += _write(path, parts, predictor, result, keep, escape_formulas, progress)
    result.notes += [*(reading_notes(table, encoding) if is_file else ()), *predictor.notes()]
    return result


def stored_marks(run: str | Path) -> dict[str, list[str]]:
    """The marks of missing values, by column, that were given at the fit; none without the run's metrics.json."""
    metrics = load_metrics(run)
    return {} if metrics is None else metrics["missing_marks"]


def _parts(
    table: TableLike, columns: ModelColumns, keep: Sequence[str], marks: dict[str, list[str]], encoding: str | None
) -> Iterator[pd.DataFrame]:
    """Some rows at a time, with the columns of the model and those to keep."""
    wanted, exact = list(dict.fromkeys([*columns.names, *keep])), {*keep, *columns.categories}
    numbers = {name for name in columns.names if name not in columns.categories and name not in keep}
    if isinstance(table, pd.DataFrame):
        frame = read(table).frame[wanted].copy()
        without_marks(frame, marks, codes=exact)
        parts: Iterable[pd.DataFrame] = [frame]
    else:
        parts = read_parts(table, wanted, numbers, exact=exact, encoding=encoding, marks=marks)
    for part in parts:
        for start in range(0, len(part), PART_ROWS):
            yield part.iloc[start : start + PART_ROWS].reset_index(drop=True)


def _with_kept(rows: pd.DataFrame, predictions: pd.DataFrame, keep: Sequence[str]) -> pd.DataFrame:
    return pd.concat([rows[list(keep)], predictions], axis=1)


def _write(
    path: Path,
    parts: Iterator[pd.DataFrame],
    predictor: RowPredictor,
    result: PredictResult,
    keep: Sequence[str],
    escape_formulas: bool,
    progress: Callable[[int], None] | None,
) -> list[str]:
    """Write predictions part by part; notes on cells that were changed."""
    with TableWriter(path, escape_formulas=escape_formulas) as writer:
        for rows in parts:
            writer.write(_with_kept(rows, predictor(rows, result), keep))
            if progress is not None:
                progress(result.rows)
    if not writer.escaped:
        return []
    cells = "cell" if writer.escaped == 1 else "cells"
    return [
        f"{writer.escaped} text {cells} that a spreadsheet would run as a formula got an apostrophe; --raw-text "
        "(escape_formulas=False) writes them unchanged."
    ]


class RowPredictor:
    """Predicts rows, and counts values that the model cannot use, by column."""

    def __init__(
        self, model: BaseEstimator, columns: ModelColumns, source: str, *, probabilities: bool = False
    ) -> None:
        self.model, self.columns, self.source = model, columns, source
        self.probability_columns = [f"probability {label}" for label in model.classes_] if probabilities else []
        if probabilities and not hasattr(model, "predict_proba"):
            raise ValueError(f"{type(model).__name__} has no probabilities; leave out --probabilities.")
        self.by_number = {name: categories_by_number(known) for name, known in columns.categories.items()}
        self.unusable: dict[tuple[str, str], list[int]] = {}  # (reason, column): number of rows, first row
        self.found, self.ignores = find_model(model), ignores_missing(model)
        try:
            need_model(model, "certified_radius", nearest=True)
            self.has_radius = True
        except ValueError:
            self.has_radius = False

    def __call__(self, rows: pd.DataFrame, result: PredictResult) -> pd.DataFrame:
        first_row = result.rows + FIRST_ROW
        X, reason, usable = self.features(rows, first_row)
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

    def features(self, rows: pd.DataFrame, first_row: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
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
        X = pd.DataFrame(features, columns=self.columns.names, index=rows.index)
        usable &= ~self._too_large(X, usable, reason, first_row)
        return X, reason, usable

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
            certainty, reason = certainty_of(predictions, "auto"), np.full(len(X), "")
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


# -- validation --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Validation:
    """Result of `validate`: the report, and the page where it was written."""

    report: Report
    page: Path | None


def validate(
    run: str | Path,
    table: TableLike,
    *,
    target: str | None = None,
    out: str | Path | None = None,
    encoding: str | None = None,
    force: bool = False,
) -> Validation:
    """Report on a fitted model for a labelled table from elsewhere, beside the test at the fit.

    The model is not changed. Rows that it cannot predict, as a value is missing or too large, are left out with a note;
    rows with an unknown category are rejected.

    Parameters
    ----------
    run : path
        The folder of a run.
    table : DataFrame or path
        A table with the model's columns and the column of classes.
    target : str, optional
        The column of classes; by default that of the fit.
    out : path, optional
        Folder for validation-TABLE.html and validation-TABLE.json; by default that of the run.
    encoding : str, optional
        That of a CSV file; found from its bytes by default.
    force : bool, default=False
        Whether these files may be replaced.

    Returns
    -------
    validation : Validation

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lvq.workflow import fit
    >>> frame = load_iris(as_frame=True).frame
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = fit(frame, "target", model="glvq", folds=0).write(folder)
    ...     found = validate(folder, frame[::2])
    >>> found.report.data.n_samples, found.page.name
    (75, 'validation-table.html')
    """
    metrics = load_metrics(run)
    if metrics is None:
        raise FileNotFoundError(f"{run} has no metrics.json; `lvq validate` needs the folder that `lvq fit` wrote.")
    stem = "table" if isinstance(table, pd.DataFrame) else Path(table).name.partition(".")[0]
    files = [f"validation-{stem}.html", f"validation-{stem}.json"]
    folder = check_folder(run if out is None else out, files, force=force)
    target, model = target or metrics["data"]["target"], load_model(run)
    columns = expected_columns(model)
    given = read(table, codes={target, *columns.categories}, encoding=encoding)
    source = str(table) if given.is_file else given.name
    check_columns(given.frame.columns, [target], source)
    notes = [*given.notes, *match_columns(list(given.frame.columns), columns, [target], source)]
    frame = given.frame.copy()
    without_marks(frame, metrics["missing_marks"], codes={target, *columns.categories})
    predictor, classes = RowPredictor(model, columns, source), [str(label) for label in model.classes_]
    X, reason, usable = predictor.features(frame, FIRST_ROW)
    labels = _labels(frame[target], classes)
    labelled = np.array([label is not None for label in labels])
    notes += [*predictor.notes(), *_validation_notes(metrics["data"], labels[labelled], classes, target, ~labelled)]
    rows = np.flatnonzero(labelled & usable)
    if not len(rows):
        raise TableError(f"No row of {source} has a value of {target!r} and can be predicted; nothing to validate.")
    X = X.set_axis([given.row(place) for place in range(len(X))], axis=0).iloc[rows]
    context = Context(
        title=metrics["name"], data_name=given.name, target=target, notes=notes, dates=metrics["dates"],
        row_names="Samples are named by their row, where the header of a file is row 1.", seed=metrics["seed"],
        marks=metrics["missing_marks"],
    )  # fmt: skip
    report = Report.of(model, X, labels[rows].astype(str), reason=reason[rows], context=context)
    report = replace(report, earlier=_earlier(report, metrics))
    write_run(None, report, folder, files, force=force)
    return Validation(report, folder / files[0])


def _labels(column: pd.Series, classes: list[str]) -> np.ndarray:
    """True classes under the names that the model knows, where it knows them."""
    values, by_number = as_text(column), categories_by_number(set(classes))
    for value in set(values) - set(classes) - {None}:
        if by_number and is_number(value):
            values[values == value] = by_number.get(float(value), value)
    return values


def _validation_notes(
    data: dict[str, JSONValue], y: np.ndarray, classes: list[str], target: str, unlabelled: np.ndarray
) -> list[str]:
    notes = []
    if unlabelled.any():
        notes.append(f"Left out {int(unlabelled.sum())} rows without a value of {target!r}.")
    unknown = sorted(set(y.tolist()) - set(classes))
    if unknown:
        notes.append(f"The model was not fitted to the class {listed(unknown)}; rows of it count as wrong.")
    trained = np.array(data["train_counts"])
    counts = [int((y == label).sum()) for label in data["classes"]]
    if sum(counts) == len(y) and counts in ((trained + data["class_counts"]).tolist(), trained.tolist()):
        notes.append(
            "The table has as many rows of each class as the one that the model was fitted to. If it is the same, this "
            "is no validation: a model is more accurate on the rows that it was trained on."
        )
    return notes


def _earlier(report: Report, metrics: dict[str, JSONValue]) -> Earlier:
    """The test at the fit, the difference of the accuracies by Newcombe's method, and what became of the guarantee."""
    before = Fraction(**metrics["metrics"]["accuracy"])
    here, value = report.metrics.accuracy, (report.metrics.accuracy.value or 0.0) - (before.value or 0.0)
    (low, high), (least, most) = here.interval or (0.0, 1.0), before.interval or (0.0, 1.0)
    below = np.hypot((here.value or 0.0) - low, most - (before.value or 0.0))
    above = np.hypot(high - (here.value or 0.0), (before.value or 0.0) - least)
    coverage = None if metrics["coverage"] is None else metrics["coverage"]["value"]
    verdict = None if report.guarantee is None or report.accepted_accuracy is None else _verdict(
        report.guarantee, report.accepted_accuracy
    )  # fmt: skip
    name = metrics["data"]["name"].partition(", tested on ")[0]
    return Earlier(name, before, coverage, (float(value - below), float(value + above)), verdict)


def _verdict(guarantee: Guarantee, accepted: Fraction) -> str:
    """Whether the error rate among accepted rows contradicts the guaranteed one, by exact one-sided bounds."""
    if not accepted.total:
        return "not contradicted"
    upper = float(error_upper_bound(accepted.total - accepted.count, accepted.total, guarantee.confidence))
    lower = 1 - float(error_upper_bound(accepted.count, accepted.total, guarantee.confidence))
    return "broken" if lower > guarantee.max_error else "kept" if upper <= guarantee.max_error else "not contradicted"
