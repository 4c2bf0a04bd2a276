"""From a table on disk to a run's folder: model.lvq, report.html and metrics.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from lvq.rejection import GuaranteeError
from lvq.tables import column_names, read_table
from lvq.workflow.assembly import make_model, make_pipeline_for, make_rejecting
from lvq.workflow.folders import METRICS, MODEL, REPORT, all_or_nothing, check_folder
from lvq.workflow.preparation import Samples, prepare

Progress = Callable[[str, int, int], None]  # (what is being done, steps done, steps in all)


@dataclass(frozen=True)
class FitResult:
    """What `fit_table` made of a table.

    Attributes
    ----------
    model : RejectClassifier
        Fitted to the training rows.
    summary : dict
        What metrics.json holds; see `lvq.report.summarize`.
    notes : tuple of str
        What was left out of the table, and the like, in sentences.
    folder : Path or None
        Where the files are.
    """

    model: Any
    summary: dict[str, Any]
    notes: tuple[str, ...]
    folder: Path | None


def quiet(what: str, done: int, total: int) -> None:
    """Say nothing."""


def fit_table(
    table: str | Path,
    target: str,
    *,
    out: str | Path | None = None,
    model: str = "lvq",
    prototypes: int | None = None,
    rank: int | None = None,
    kernel: str | None = None,
    max_error: float | None = None,
    confidence: float = 0.95,
    coverage: float | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    test_share: float = 0.25,
    folds: int = 5,
    seed: int = 0,
    force: bool = False,
    progress: Progress = quiet,
) -> FitResult:
    """Learn to tell the classes of a table apart, test that, and write model and report.

    A share of the rows, drawn by class, is held out for the test and looked at once, at the end. The model is fitted to
    the others; cross-validation among them says how much the results depend on the rows. Numbers are standardised,
    texts become a 0 or 1 for each category, missing numbers the median of their column and a feature that says so; all
    that is learned from the training rows. Rows without a class, and columns that are empty, constant or count the
    rows, are left out with a note.

    Parameters
    ----------
    table : path
        A CSV (also gzipped), Parquet, Arrow or ARFF file.
    target : str
        The column of classes.
    out : path, optional
        A folder for model.lvq, report.html and metrics.json; all of them appear at once, or none.
    model : str, default="lvq"
        "lvq" for `LVQClassifier`, or a name of `lvq.MODELS`.
    prototypes, rank : int, optional
        Prototypes for each class, and rank of the matrices; the model's own default otherwise.
    kernel : str, optional
        A kernel, or "none"; the model's own default otherwise.
    max_error : float, optional
        At most this share of the accepted answers is wrong, with probability `confidence`; a `GuaranteeError` where
        that cannot be had.
    confidence : float, default=0.95
        Of `max_error`.
    coverage : float, optional
        Share of answers to accept; 0.9 where `max_error` is not given.
    drop, categorical : sequence of str, default=()
        Columns that are no features, and columns of numbers that are names of categories.
    test_share : float, default=0.25
        Share of the rows that are held out.
    folds : int, default=5
        Of the cross-validation; 0 for none.
    seed : int, default=0
        Behind everything that is drawn.
    force : bool, default=False
        Whether files in `out` may be replaced.
    progress : callable, optional
        Called with (what is being done, steps done, steps in all).

    Returns
    -------
    result : FitResult

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "iris.csv")
    ...     load_iris(as_frame=True).frame.to_csv(path, index=False)
    ...     result = fit_table(path, "target", model="glvq", folds=0)
    >>> result.summary["scores"]["n_samples"], result.model.classes_.tolist()
    (38, ['0', '1', '2'])
    """
    from lvq.report import cross_validate, summarize

    table = Path(table)
    _check_numbers(test_share, folds)
    estimator = make_model(model, prototypes=prototypes, rank=rank, kernel=kernel, seed=seed)
    if out is not None:
        check_folder(out, force=force)
    steps = folds + 4
    progress("Reading", 0, steps)
    content = read_table(table, codes={target, *categorical})
    samples = prepare(content, target, drop=drop, categorical=categorical, source=str(table))
    notes = (*_nameless(table), *samples.notes)
    train, test = split(samples, test_share, seed)
    X, y = samples.X.iloc[train], samples.y[train]
    pipeline = make_pipeline_for(samples, estimator)
    rejecting = make_rejecting(
        pipeline,
        max_error=max_error,
        confidence=confidence,
        coverage=coverage,
        n_samples=len(train),
        smallest_class=int(np.unique(y, return_counts=True)[1].min()),
        seed=seed,
    )
    progress("Fitting", 1, steps)
    _fit(rejecting, X, y, test_share)  # first of all, as a guarantee that cannot be had is known then
    results = None
    if folds:
        progress("Cross-validating", 2, steps)
        # of the answers alone: thresholds in every fold would take many times as long
        results = cross_validate(
            pipeline, X, y, folds, seed, progress=lambda done, total: progress("Cross-validating", 2 + done, steps)
        )
    progress("Summarising", folds + 2, steps)
    summary = summarize(
        rejecting,
        samples.X.iloc[test],
        samples.y[test],
        X_train=X,
        y_train=y,
        name=type(estimator).__name__,
        data_name=table.name,
        target_name=target,
        folds=results,
        seed=seed,
        protocol=_protocol(samples, test_share, folds, rejecting),
    )
    summary["notes"] = list(notes)
    progress("Writing", folds + 3, steps)
    folder = None if out is None else write_run(rejecting, summary, out)
    progress("Done", steps, steps)
    return FitResult(rejecting, summary, notes, folder)


def _fit(rejecting: Any, X: Any, y: Any, test_share: float) -> None:
    """Fit; where a guarantee needs more samples, say how many rows that is with the test part."""
    try:
        rejecting.fit(X, y)
    except GuaranteeError as error:
        if error.samples_needed is None:
            raise
        rows = ceil(error.samples_needed / (1 - test_share))
        message = f"{error} With the {test_share:.0%} that are held out for the test, that is a table of {rows} rows."
        raise GuaranteeError(message, error.reason, rows) from error


def _check_numbers(test_share: float, folds: int) -> None:
    if not 0 < test_share < 1:
        raise ValueError(f"test_share must be between 0 and 1, got {test_share:g}.")
    if folds != 0 and folds < 2:
        raise ValueError(f"folds must be 2 or more, or 0 for no cross-validation, got {folds}.")


def _nameless(table: Path) -> tuple[str, ...]:
    places = [place for place, name in enumerate(column_names(table), start=1) if not name]
    return tuple(f"Left out column {place}: it has no name (a row index?)." for place in places)


def split(samples: Samples, test_share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows to test on, drawn by class.

    Parameters
    ----------
    samples : Samples
        All rows.
    test_share : float
        Share to test on.
    seed : int
        Draws them.

    Returns
    -------
    train, test : ndarray of int
        Numbers of rows, ascending.

    Examples
    --------
    >>> import pandas as pd
    >>> samples = Samples(pd.DataFrame({"size": range(8)}), np.array(["a", "b"] * 4), (), (), ())
    >>> train, test = split(samples, 0.25, seed=0)
    >>> len(train), sorted(samples.y[test].tolist())
    (6, ['a', 'b'])
    """
    n_classes, n_samples = len(np.unique(samples.y)), len(samples.y)
    n_test = int(np.ceil(test_share * n_samples))
    if n_test < n_classes or n_samples - n_test < 2 * n_classes:
        raise ValueError(
            f"A test_share of {test_share:g} leaves {n_samples - n_test} of {n_samples} rows to learn {n_classes} "
            f"classes from and {n_test} to test them on; give more rows or another share."
        )
    train, test = train_test_split(np.arange(n_samples), test_size=test_share, stratify=samples.y, random_state=seed)
    return np.sort(train), np.sort(test)


def _protocol(samples: Samples, test_share: float, folds: int, rejecting: Any) -> str:
    """How the data were prepared and split, in words."""
    kept, crossed = f"{rejecting.calibration_size:.0%} of the training rows were kept from the model", rejecting.cv
    thresholds = "Thresholds were cross-fitted." if crossed else f"{kept} to set its thresholds."
    if rejecting.max_error is not None:
        thresholds = f"{thresholds if crossed else ''} {kept} to show the guarantee.".strip()
    parts = [
        f"{test_share:.0%} of {len(samples.y)} rows, drawn by class, were held out for the test; the model was fitted "
        "to the others.",
        f"{folds}-fold cross-validation among these." if folds else "",
        "Numbers were standardised.",
        "Texts became a 0 or 1 for each category." if samples.texts else "",
        "Missing numbers became the median of their column, and a feature says where." if samples.gaps else "",
        thresholds,
    ]
    return " ".join(part for part in parts if part)


def write_run(model: Any, summary: dict[str, Any], out: str | Path) -> Path:
    """Model, metrics and report, all at once.

    Parameters
    ----------
    model : estimator
        Fitted.
    summary : dict
        Of `lvq.report.summarize`.
    out : path
        The folder; made where there is none.

    Returns
    -------
    folder : Path
    """
    from lvq.persistence import save
    from lvq.report import write

    with all_or_nothing(out) as temporary:
        save(model, temporary / MODEL)
        (temporary / METRICS).write_text(json.dumps(summary, ensure_ascii=False, allow_nan=False), encoding="utf-8")
        write(summary, temporary / REPORT)
    return Path(out)
