"""A report on a fitted model for a labelled table from elsewhere, compared with the original test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from lvq._files import check_folder
from lvq.preprocessing.table import known_names
from lvq.reports import Context, Report
from lvq.reports.metrics import Fraction
from lvq.reports.summary import Earlier
from lvq.reports.verdict import what_became_of
from lvq.tables.header import AS_FOUND, Reading, TableError, listed
from lvq.tables.read import open_table
from lvq.tables.values import as_text
from lvq.typing import JSONValue
from lvq.workflow.rows import RowPredictor
from lvq.workflow.runs import load_metrics, load_model, write_run
from lvq.workflow.study import TableLike


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
    reading: Reading = AS_FOUND,
    force: bool = False,
) -> Validation:
    """Report on a fitted model for a labelled table from elsewhere, compared with the original test.

    The model is not changed. Rows that it cannot predict, because a value is missing or too large, are left out with a
    note; rows with an unknown category are rejected.

    Parameters
    ----------
    run : path
        The folder of a run.
    table : DataFrame or path
        A table with the model's columns and the column of classes.
    target : str, optional
        The column of classes; by default the one used to fit.
    out : path, optional
        Folder for validation-TABLE.html and validation-TABLE.json; by default the folder of the run.
    reading : Reading, optional
        How a file is read: encoding, sheet and header row.
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
    known, model = metrics["context"], load_model(run)
    target = target or known["target"]
    given = open_table(table, reading)
    predictor, classes = RowPredictor(model, given), [str(label) for label in model.classes_]
    notes = [*given.notes, *predictor.check_columns(target=target)]
    if isinstance(table, str | Path) and given.path.name == known["data_name"]:
        notes.append(
            f"{given.path.name} is also the name of the fit's table; rows that trained the model prove nothing."
        )
    frame = given.frame(predictor.meaning(known["marks"], [target]))
    X, reason, usable = predictor.features(frame)
    labels = known_names(as_text(frame[target]), set(classes))
    labelled = np.array([label is not None for label in labels])
    unknown = sorted(set(labels[labelled].tolist()) - set(classes))
    if not labelled.all():
        notes.append(f"Left out {int((~labelled).sum())} rows without a value of {target!r}.")
    if set(unknown) == set(labels[labelled].tolist()):
        raise TableError(
            f"The column {target!r} of {given.path} has none of the model's classes {listed(classes)}; name the column "
            "of classes with --target (target=...)."
        )
    if unknown:
        notes.append(f"The model was not fitted to the class {listed(unknown)}; its rows count as wrong.")
    notes += predictor.notes()
    rows = np.flatnonzero(labelled & usable)
    if not len(rows):
        raise TableError(f"No row of {given.path} has a value of {target!r} and can be predicted; nothing to validate.")
    X = X.iloc[rows].set_axis([given.row_number(place) for place in rows.tolist()], axis=0)
    context = Context(
        title=known["title"], data_name=given.path.name, target=target, notes=notes, dates=known["dates"],
        row_names="Samples are named by their row, where the header of a file is row 1.", seed=known["seed"],
        marks=known["marks"],
    )  # fmt: skip
    report = Report.of(model, X, labels[rows].astype(str), reason=reason[rows], context=context)
    report = replace(report, earlier=_earlier(report, metrics))
    write_run(None, report, folder, files, force=force)
    return Validation(report, folder / files[0])


def _earlier(report: Report, metrics: dict[str, JSONValue]) -> Earlier:
    """The original test, the difference of the accuracies by Newcombe's method, and whether the guarantee was kept."""
    before = Fraction(**metrics["metrics"]["accuracy"])
    here, value = report.metrics.accuracy, (report.metrics.accuracy.value or 0.0) - (before.value or 0.0)
    (low, high), (least, most) = here.interval or (0.0, 1.0), before.interval or (0.0, 1.0)
    below = np.hypot((here.value or 0.0) - low, most - (before.value or 0.0))
    above = np.hypot(high - (here.value or 0.0), (before.value or 0.0) - least)
    verdict = None if report.guarantee is None or report.accepted_accuracy is None else what_became_of(
        report.guarantee, report.accepted_accuracy
    )  # fmt: skip
    return Earlier(metrics["context"]["data_name"], before, (float(value - below), float(value + above)), verdict)
