"""A fitted model on a labelled table from elsewhere: accuracy, coverage, the guarantee, and drift."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from lvq._files import write_folder_atomically
from lvq.report.metrics import classification_metrics, fraction_of
from lvq.tables import TableError, as_text, is_number, open_table
from lvq.tables.header import check_columns, listed
from lvq.typing import JSONValue
from lvq.workflow.drift import TableCounts
from lvq.workflow.model_columns import categories_by_number, expected_columns, match_columns
from lvq.workflow.predicting import PART_ROWS, PredictResult, RowPredictor
from lvq.workflow.runs import METRICS, check_folder, load_model

MAX_CONFUSION_CLASSES = 20
NEEDED = ("name", "data", "model", "scores", "versions")  # of metrics.json


@dataclass(frozen=True)
class ValidationResult:
    """Result of `validate_table`.

    Attributes
    ----------
    summary : dict
        Content of the JSON file.
    notes : tuple of str
        Notes on columns and rows that could not be used.
    page : Path
        The report page; the JSON file is beside it.
    """

    summary: dict[str, JSONValue]
    notes: tuple[str, ...]
    page: Path


def validate_table(
    run: str | Path,
    table: str | Path,
    *,
    target: str | None = None,
    out: str | Path | None = None,
    encoding: str | None = None,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ValidationResult:
    """Apply a fitted model to a labelled table from elsewhere, and write a page on the result.

    The model is not changed. The page shows accuracy and coverage beside those of the test at the fit, metrics by
    class, whether the guarantee was kept, and the drift of the features and of the certainty since the fit.

    Parameters
    ----------
    run : path
        The folder of a run.
    table : path
        A table with the model's columns and the column of classes.
    target : str, optional
        The column of classes; by default that of the fit.
    out : path, optional
        Folder for validation-TABLE.html and validation-TABLE.json; by default that of the run.
    encoding : str, optional
        That of a CSV file; found from its bytes by default.
    force : bool, default=False
        Whether these files may be replaced.
    progress : callable, optional
        Called with the number of rows done.

    Returns
    -------
    result : ValidationResult

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lvq.workflow import fit_table
    >>> frame = load_iris(as_frame=True).frame
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pathlib.Path(folder, "iris.csv")
    ...     frame.to_csv(table, index=False)
    ...     _ = fit_table(table, "target", model="glvq", folds=0, out=f"{folder}/run")
    ...     result = validate_table(f"{folder}/run", table)
    >>> result.summary["n_rows"], result.page.name
    (150, 'validation-iris.html')
    """
    run, table = Path(run), Path(table)
    fitted = _metrics_of(run)
    target = target or fitted["data"]["target"]
    stem = table.name.partition(".")[0]
    files = [f"validation-{stem}.html", f"validation-{stem}.json"]
    folder = check_folder(run if out is None else out, files, force=force)
    model = load_model(run)
    columns = expected_columns(model)
    opened = open_table(table, encoding)
    check_columns(opened.names, [target], str(table))
    notes = [*opened.notes, *match_columns(opened.names, columns, [target], table)]
    predictor, counted = RowPredictor(model, columns, opened, probabilities=True), PredictResult()
    drift = TableCounts(fitted["reference"]) if fitted.get("reference") else None
    parts, truths, unlabelled = [], [], 0
    numbers = {name for name in columns.names if name not in columns.categories}
    classes = [str(label) for label in model.classes_]
    for part in opened.parts(
        [*columns.names, target], numbers, exact={target, *columns.categories}, marks=fitted.get("missing_marks")
    ):
        for start in range(0, len(part), PART_ROWS):
            rows = part.iloc[start : start + PART_ROWS].reset_index(drop=True)
            labels = _labels(rows[target], classes)
            predictions = predictor(rows, counted)
            if drift is not None:
                drift.add(predictor.features, predictions["certainty"].to_numpy(dtype=np.float64))
            known = np.array([label is not None for label in labels])
            unlabelled += int((~known).sum())
            truths.append(labels[known])
            parts.append(predictions[known])
            if progress is not None:
                progress(counted.rows)
    notes += predictor.notes()
    if unlabelled:
        which = "1 row has" if unlabelled == 1 else f"{unlabelled} rows have"
        these = "it counts" if unlabelled == 1 else "they count"
        notes.append(f"{which} no value of {target!r}; {these} for the drift only.")
    predictions, y = pd.concat(parts, ignore_index=True), np.concatenate(truths).astype(str)
    if not len(y):
        raise TableError(f"No row of {table} has a value of {target!r}, so there is nothing to validate.")
    summary = _summary(fitted, predictions, y, classes, table, counted.rows, notes)
    summary["drift"] = None if drift is None else drift.drift()
    _write(summary, folder, files)
    return ValidationResult(summary, tuple(notes), folder / files[0])


def _metrics_of(run: Path) -> dict[str, JSONValue]:
    file = run / METRICS
    if not file.exists():
        raise FileNotFoundError(
            f"The file {file} does not exist; `lvq validate` needs the folder that `lvq fit` wrote."
        )
    try:
        metrics = json.loads(file.read_text(encoding="utf-8"))
        lacking = [name for name in NEEDED if name not in metrics]
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file} is damaged ({error}); copy it again, or fit again.") from error
    if lacking:
        raise ValueError(f"{file} was not written by `lvq fit`: it lacks {listed(lacking)}; fit again.")
    return metrics


def _labels(column: pd.Series, classes: list[str]) -> np.ndarray:
    """True classes under the names that the model knows, where it knows them."""
    values, by_number = as_text(column), categories_by_number(set(classes))
    for value in set(values) - set(classes) - {None}:
        if by_number and is_number(value):
            values[values == value] = by_number.get(float(value), value)
    return values


def _is_table_of_fit(data: dict[str, JSONValue], y: np.ndarray) -> bool:
    """Whether a table has as many rows of each class as all rows of the fit, or as its training rows."""
    if data["train_counts"] is None:
        return False
    trained = np.array(data["train_counts"])
    counts = [int((y == label).sum()) for label in data["classes"]]
    return sum(counts) == len(y) and counts in ((trained + data["class_counts"]).tolist(), trained.tolist())


def _summary(
    fitted: dict[str, JSONValue],
    predictions: pd.DataFrame,
    y: np.ndarray,
    classes: list[str],
    table: Path,
    n_rows: int,
    notes: list[str],
) -> dict[str, JSONValue]:
    unknown = sorted(set(y.tolist()) - set(classes))
    if unknown:
        which, these = ("class", "it") if len(unknown) == 1 else ("classes", "them")
        notes.append(f"The model was not fitted to the {which} {listed(unknown)}; rows of {these} count as wrong.")
    if _is_table_of_fit(fitted["data"], y):
        notes.append(
            "The table has as many rows of each class as the one that the model was fitted to. If it is the same, this "
            "is no validation: a model is more accurate on the rows that it was trained on."
        )
    labels = [*classes, *unknown]
    predicted = predictions["label"].fillna("").to_numpy(dtype=str)
    accepted = predictions["accepted"].to_numpy(dtype=bool)
    correct = predicted == y
    made = predicted != ""  # a row with a value that is missing or too large has no prediction
    table_of = predictions.loc[made, [f"probability {name}" for name in classes]].to_numpy(dtype=np.float64)
    has = bool(made.any()) and bool(np.isfinite(table_of).all())
    metrics = (
        classification_metrics(y[made], predicted[made], labels, table_of if has else None) if made.any() else None
    )
    n_errors = int((accepted & ~correct).sum())
    guarantee = (fitted["model"]["rejection"] or {}).get("guarantee")
    return {
        "format": 1, "name": fitted["name"], "table": table.name,
        "fitted_on": fitted["data"]["name"].partition(", tested on ")[0],
        "target": fitted["data"]["target"], "classes": labels, "n_rows": n_rows, "n_labelled": len(y),
        "class_counts": [int((y == name).sum()) for name in labels],
        "n_predicted": int(made.sum()), "metrics": metrics,
        "coverage": fraction_of(int(accepted.sum()), len(y)),
        "accepted_accuracy": fraction_of(int((accepted & correct).sum()), int(accepted.sum())),
        "reasons": dict(Counter(predictions.loc[~accepted, "reason"]).most_common()),
        "at_fit": {name: fitted["scores"][name] for name in ("accuracy", "interval", "n_samples", "coverage",
                                                              "accepted_accuracy", "accepted_interval")},
        "price": _price(fitted, y[made], predicted[made]),
        "difference": _difference(int(correct.sum()), int(made.sum()), fitted["scores"]) if made.any() else None,
        "guarantee": None if guarantee is None else _verdict(guarantee, n_errors, int(accepted.sum())),
        "confusion": _confusion(y, predicted, accepted, labels),
        "notes": notes,
        "versions": fitted["versions"],
    }  # fmt: skip


def _price(fitted: dict[str, JSONValue], y: np.ndarray, predicted: np.ndarray) -> JSONValue:
    """Mean price of the predictions, of the cheapest single class, and at the fit; None without prices."""
    at_fit = fitted.get("metrics") or {}
    if not at_fit.get("prices") or at_fit["decisions"] is None:
        return None
    prices, steps = np.asarray(at_fit["prices"]), at_fit["decisions"]
    place = {name: index for index, name in enumerate(fitted["data"]["classes"][: len(prices)])}
    known = [row for row, label in enumerate(y) if label in place]
    if not known:
        return None
    paid = prices[[place[y[row]] for row in known]]
    cheapest = int(paid.mean(axis=0).argmin())
    chosen = [place[predicted[row]] for row in known]
    return {
        "value": float(paid[np.arange(len(known)), chosen].mean()), "at_fit": steps["price"][0][steps["in_use"]],
        "cheapest_class": fitted["data"]["classes"][cheapest], "cheapest": float(paid[:, cheapest].mean()),
    }  # fmt: skip


def _difference(n_correct: int, n_rows: int, scores: dict[str, JSONValue]) -> dict[str, JSONValue]:
    """Accuracy here less that of the test at the fit, with a 95 % interval by Newcombe's method."""
    here, before = fraction_of(n_correct, n_rows), fraction_of(scores["n_correct"], scores["n_samples"])
    value = here["value"] - before["value"]
    below = np.hypot(here["value"] - here["interval"][0], before["interval"][1] - before["value"])
    above = np.hypot(here["interval"][1] - here["value"], before["value"] - before["interval"][0])
    return {"value": value, "interval": [float(value - below), float(value + above)]}


def _verdict(guarantee: dict[str, JSONValue], n_errors: int, n_accepted: int) -> dict[str, JSONValue]:
    """Whether the error rate among accepted rows contradicts the guaranteed one, by exact one-sided bounds."""
    from lvq.rejection.guarantee import error_upper_bound

    confidence, bound = guarantee["confidence"], guarantee["max_error"]
    upper = float(error_upper_bound(n_errors, n_accepted, confidence)) if n_accepted else 1.0
    lower = 1 - float(error_upper_bound(n_accepted - n_errors, n_accepted, confidence)) if n_accepted else 0.0
    verdict = "broken" if lower > bound else "kept" if upper <= bound else "not contradicted"
    return {
        "max_error": bound, "confidence": confidence, "n_errors": n_errors, "n_accepted": n_accepted,
        "error": n_errors / n_accepted if n_accepted else None, "lower": lower, "upper": upper, "verdict": verdict,
    }  # fmt: skip


def _confusion(y: np.ndarray, predicted: np.ndarray, accepted: np.ndarray, labels: list[str]) -> JSONValue:
    """Rows true, columns predicted, the last column rejected; None for many classes."""
    if len(labels) > MAX_CONFUSION_CLASSES:
        return None
    shown = np.where(accepted, predicted, "\0")
    return [[int(((y == one) & (shown == other)).sum()) for other in (*labels, "\0")] for one in labels]


def _write(summary: dict[str, JSONValue], folder: Path, files: list[str]) -> None:
    from lvq.report.validation_page import render_validation

    with write_folder_atomically(folder) as temporary:
        (temporary / files[0]).write_text(render_validation(summary), encoding="utf-8")
        text = json.dumps(summary, ensure_ascii=False, allow_nan=False)
        (temporary / files[1]).write_text(text, encoding="utf-8")
