"""Predictions for the rows of a table, in its order; memory holds one part of a table of any size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from sklearn.base import BaseEstimator

from lvq.tables.header import AS_FOUND, Reading, TableError
from lvq.tables.read import open_table
from lvq.tables.write import check_table_output, write_table
from lvq.workflow.rows import RowPredictor
from lvq.workflow.runs import load_metrics, load_model
from lvq.workflow.study import TableLike

PART_ROWS = 5_000  # predicted at a time; their features and distances are in memory


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

    def count(self, predictions: pd.DataFrame) -> None:
        """Add predictions to the counts."""
        self.rows += len(predictions)
        self.accepted += int(predictions["accepted"].sum())
        self.labels.update(predictions["label"].dropna())
        self.reasons.update(predictions.loc[~predictions["accepted"], "reason"])


def predict(
    model: BaseEstimator | str | Path,
    table: TableLike,
    out: str | Path | None = None,
    *,
    keep: Sequence[str] = (),
    probabilities: bool = False,
    reading: Reading = AS_FOUND,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> PredictResult:
    """Predict the classes of the rows of a table; a file is read in parts, so it may be larger than memory.

    Marks of missing values that were given to `fit` apply here too, if the folder of the run has its metrics.json. In
    a CSV file an apostrophe is put before strings that a spreadsheet would run as a formula: strings that begin with
    ``=``, ``+``, ``-``, ``@``, a tab or a carriage return and are not numbers.

    Parameters
    ----------
    model : path or estimator
        A model file, the folder of a run, or a model fitted to a DataFrame.
    table : DataFrame or path
        A data frame, or a CSV (also gzipped) or Parquet file.
    out : path, optional
        The predictions: .csv, .csv.gz, .parquet or .xlsx. The file appears when it is complete. Without it the result
        has them as a data frame. The columns are:

        - label: the predicted class; empty where a number is missing in a column that had none missing in training;
        - certainty: certainty of the prediction; higher is more certain;
        - accepted: whether the prediction is accepted;
        - reason: the reason for rejection: "ambiguous", "outlier", "missing value",
          "unknown category" or "value too large";
        - because: the columns that support the label most, each with the factor by which it alone multiplies the odds
          of the label against the second class, as in "odds against bad: size=4.2 (x3.1); colour=red (x1.4)", or for
          models without odds, with its share of all contributions; see `lvq.explain`;
        - winner: the nearest prototype of that class, named as in the report: "P1" is ``prototypes_[0]``.
    keep : sequence of str, default=()
        Columns of the table to copy into the predictions, such as an identifier.
    probabilities : bool, default=False
        Whether to add a column "probability CLASS" for each class.
    reading : Reading, optional
        How a file is read: encoding, sheet and header row.
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
    given = open_table(table, reading)
    path = None if out is None else check_table_output(out, force=force)
    if path is not None and path.exists() and given.path.exists() and path.samefile(given.path):
        raise TableError(f"{path} is the table itself, which the predictions would replace; choose another name.")
    marks: dict[str, list[str]] = {}
    if isinstance(model, str | Path):
        metrics, model = load_metrics(model), load_model(model)
        marks = {} if metrics is None else metrics["context"]["marks"]
    predictor = RowPredictor(model, given, probabilities=probabilities)
    result = PredictResult(path=path, notes=predictor.check_columns(keep))
    parts = _predicted(predictor, keep, marks, result, progress)
    if path is None:
        result.frame = pd.concat(parts, ignore_index=True)
        if isinstance(table, pd.DataFrame):
            result.frame.index = table.index
    else:
        write_table(path, parts)
    result.notes += [*given.notes, *predictor.notes()]
    return result


def _predicted(
    predictor: RowPredictor,
    keep: Sequence[str],
    marks: dict[str, list[str]],
    result: PredictResult,
    progress: Callable[[int], None] | None,
) -> Iterator[pd.DataFrame]:
    """Columns to keep and predictions, some rows at a time; the result counts them."""
    wanted = list(dict.fromkeys([*predictor.names, *keep]))
    for part in predictor.table.parts(wanted, predictor.meaning(marks, keep), copied=keep):
        for start in range(0, len(part), PART_ROWS):
            rows = part.iloc[start : start + PART_ROWS].reset_index(drop=True)
            predictions = predictor(rows, result.rows)
            result.count(predictions)
            if progress is not None:
                progress(result.rows)
            yield pd.concat([rows[list(keep)], predictions], axis=1)
