"""Answers for the rows of a table, part by part, in the order of the table.

Rules kept here:
- columns go by name; one that the model needs and the table lacks is an error, one it does not need is named in a note;
- a row with a value of a kind that no training row had (a category, a missing value where none was missing) is never
  accepted, whatever the model says; where a number is missing that never was, there is no label either;
- memory holds one part of the table, whatever its size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lvq.rejection import RejectClassifier
from lvq.rejection.measures import Answers, as_combination, measured
from lvq.robustness import Found, certified_radius, find_model, need_model
from lvq.tables import TableError, TableWriter, as_numbers, as_text, check_output, column_names, is_number, read_parts
from lvq.workflow.folders import MODEL
from lvq.workflow.matching import Columns, expected_columns, matched, numbered
from lvq.workflow.preparation import MISSING_TEXT

ROWS = 5_000  # answered at once; all features of all of them are in memory, with as many distances as prototypes


@dataclass
class Predictions:
    """What became of a table.

    Attributes
    ----------
    rows, accepted : int
        Rows answered, and how many of the answers are to be used.
    labels : Counter
        How often each class was the answer.
    reasons : Counter
        Why answers are not to be used.
    notes : list of str
        About columns and values that the model does not know.
    path : Path or None
        The file of answers.
    """

    rows: int = 0
    accepted: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    path: Path | None = None


def predict_table(
    model: Any,
    table: str | Path,
    out: str | Path,
    *,
    keep: Sequence[str] = (),
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Predictions:
    """Answer the rows of a table and write the answers, in parts, so that the table may be larger than memory.

    Parameters
    ----------
    model : path or estimator
        A model file, the folder of a run, or a model fitted to a DataFrame.
    table : path
        A CSV (also gzipped), Parquet, Arrow or ARFF file.
    out : path
        For the answers: .csv, .csv.gz or .parquet. The file appears when all rows are answered. Its columns:

        - label: the class; empty where a needed number is missing;
        - certainty: how sure the answer is, higher is surer;
        - accepted: whether to use it;
        - reason: why not: "ambiguous", "outlier", "unseen cell", "uncertified", "missing value", "unknown category";
        - winner: the nearest prototype of that class, as the report calls it: "P1" is ``prototypes_[0]``;
        - certified_radius: no smaller change of the row changes the label. In standardised units, as the model sees the
          row, a category counting 0 or 1; empty for models that do not answer by the nearest prototype.
    keep : sequence of str, default=()
        Columns of the table to copy into the answers, such as a number of the row.
    force : bool, default=False
        Whether `out` may be replaced.
    progress : callable, optional
        Called with the number of rows answered so far.

    Returns
    -------
    predictions : Predictions

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from lvq import GLVQ
    >>> model = GLVQ(random_state=0).fit(pd.DataFrame({"size": [1.0, 2.0, 1.5, 2.5]}), ["a", "b", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table, answers = pathlib.Path(folder, "table.csv"), pathlib.Path(folder, "answers.csv")
    ...     _ = table.write_text("name,size\\nsmall,1.1\\nlarge,2.2\\n")
    ...     found = predict_table(model, table, answers, keep=["name"])
    ...     pd.read_csv(answers)[["name", "label", "accepted"]].to_numpy().tolist()
    [['small', 'a', True], ['large', 'b', True]]
    """
    table, out = Path(table), check_output(out, force=force)
    if out.exists() and table.exists() and out.samefile(table):
        raise TableError(f"{out} is the table itself, which the answers would replace; choose another name.")
    if isinstance(model, str | Path):
        model = load_model(model)
    columns = expected_columns(model)
    predictions = Predictions(path=out)
    predictions.notes += matched(column_names(table), columns, keep, table)
    answer = _Answering(model, columns, str(table))
    wanted = list(dict.fromkeys([*columns.names, *keep]))
    numbers = {name for name in columns.names if name not in columns.categories and name not in keep}
    with TableWriter(out) as writer:
        for part in read_parts(table, wanted, numbers, exact={*keep, *columns.categories}):
            for start in range(0, len(part), ROWS):
                rows = part.iloc[start : start + ROWS].reset_index(drop=True)
                answers = answer(rows, predictions)
                writer.write(pd.concat([rows[list(keep)], answers], axis=1))
                if progress is not None:
                    progress(predictions.rows)
    predictions.notes += answer.notes()
    return predictions


def load_model(path: str | Path) -> Any:
    """A model from its file, or from the folder of its run.

    Parameters
    ----------
    path : path
        A file, or a folder with model.lvq.

    Returns
    -------
    model : estimator
        Fitted.
    """
    from lvq.persistence import load

    file = model_file(path)
    if not file.exists():
        raise FileNotFoundError(f"There is no model {file}; `lvq fit` writes one.")
    return load(file)


def model_file(path: str | Path) -> Path:
    """The file of a model, which may be named by the folder of its run."""
    path = Path(path)
    return path / MODEL if path.is_dir() else path


class _Answering:
    """Turns rows into answers, and remembers what was strange about them."""

    def __init__(self, model: Any, columns: Columns, source: str) -> None:
        self.model, self.columns, self.source = model, columns, source
        self.numbered = {name: numbered(known) for name, known in columns.categories.items()}
        self.strange: dict[str, Counter[str]] = {"missing value": Counter(), "unknown category": Counter()}
        inner = find_model(model)
        count = 0 if inner is None else len(inner.model.prototypes_)
        self.winners = np.array([f"P{number}" for number in range(1, count + 1)], dtype=object)
        self.found: Found | None
        try:
            self.found = need_model(model, "certified_radius")
        except ValueError:
            self.found = None

    def __call__(self, rows: pd.DataFrame, predictions: Predictions) -> pd.DataFrame:
        X, reason, usable = self._features(rows, first_row=predictions.rows + 1)
        answers = _empty(len(rows))
        if usable.any():
            for name, values in self._answers(X[usable]).items():
                answers.loc[usable, name] = values
        answers["reason"] = np.where(reason == "", answers["reason"], reason)
        answers["accepted"] = answers["reason"] == ""
        predictions.rows += len(rows)
        predictions.accepted += int(answers["accepted"].sum())
        predictions.labels.update(answers["label"].dropna())
        predictions.reasons.update(answers.loc[~answers["accepted"], "reason"])
        return answers

    def _features(self, rows: pd.DataFrame, first_row: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
        """The model's columns, why a row cannot be accepted, and whether the model can answer it."""
        features: dict[str, Any] = {}
        reason = np.full(len(rows), "", dtype=object)
        usable = np.ones(len(rows), dtype=bool)
        for name in self.columns.names:
            if name in self.columns.categories:
                values = self._categories(rows[name])
                unknown = np.array([value not in self.columns.categories[name] for value in values])
                gone = unknown & (values == MISSING_TEXT)
                self._note("missing value", name, gone, reason)
                self._note("unknown category", name, unknown & ~gone, reason)
            else:
                values = as_numbers(rows[name], self.source, first_row)
                if np.isinf(values).any():
                    row = first_row + int(np.isinf(values).argmax())
                    raise TableError(
                        f"The column {name!r} of {self.source} is infinite in row {row}; correct it or leave the cell "
                        "empty."
                    )
                if name not in self.columns.gaps:
                    gone = np.isnan(values)
                    usable &= ~gone
                    self._note("missing value", name, gone, reason)
            features[name] = values
        return pd.DataFrame(features, columns=self.columns.names), reason, usable

    def _categories(self, column: pd.Series) -> np.ndarray:
        """The values under the names that the model knows, where it knows them."""
        known, by_number = self.columns.categories[str(column.name)], self.numbered[str(column.name)]
        values = as_text(column)
        for value in set(values) - known:
            name = value
            if value is None:
                name = MISSING_TEXT
            elif by_number and is_number(value):
                name = by_number.get(float(value), value)
            values[values == value] = name
        return values

    def _note(self, what: str, name: str, here: np.ndarray, reason: np.ndarray) -> None:
        if here.any():
            self.strange[what][name] += int(here.sum())
            reason[here & (reason == "")] = what

    def _answers(self, X: pd.DataFrame) -> dict[str, Any]:
        rejects = isinstance(self.model, RejectClassifier)
        # one table of distances for label, reason and certainty
        answers = Answers(self.model.estimator_ if rejects else self.model, X)
        measure = as_combination(self.model.measure).ambiguity if rejects else "auto"
        result: dict[str, Any] = {
            "label": answers.predicted.astype(str).astype(object),
            "certainty": measured(answers, measure),
            "reason": self.model._reasons(answers).astype(object) if rejects else "",
        }
        if answers.found is not None:
            result["winner"] = self.winners[answers.sides[0]]
        if self.found is not None:
            result["certified_radius"] = certified_radius(self.found.model, self.found.inputs(X))
        return result

    def notes(self) -> list[str]:
        """What was strange, in sentences."""
        what = {
            "missing value": "a missing value of {name}, which was never missing when the model was fitted",
            "unknown category": "a value of {name} that the model has never seen",
        }
        return [
            f"{count} row{'' if count == 1 else 's'} with {what[kind].format(name=repr(name))}: not accepted."
            for kind, columns in self.strange.items()
            for name, count in columns.items()
        ]


def _empty(n_rows: int) -> pd.DataFrame:
    """Answers to be filled in."""
    return pd.DataFrame(
        {
            "label": np.full(n_rows, None, dtype=object),
            "certainty": np.full(n_rows, np.nan),
            "accepted": np.zeros(n_rows, dtype=bool),
            "reason": np.full(n_rows, "", dtype=object),
            "winner": np.full(n_rows, None, dtype=object),
            "certified_radius": np.full(n_rows, np.nan),
        }
    )
