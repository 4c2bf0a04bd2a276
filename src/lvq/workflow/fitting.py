"""Fit a model to a table on disk, test it, and write the folder of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

from lvq.estimators.found import need_model
from lvq.rejection import GuaranteeError, RejectClassifier
from lvq.tables import column_names, read_table
from lvq.typing import JSONValue, Labels, MatrixLike
from lvq.workflow.pipelines import make_model, make_pipeline_for, make_reject_classifier
from lvq.workflow.preparation import Samples, prepare
from lvq.workflow.runs import check_folder, write_run

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from lvq.report import FoldResult
    from lvq.resampled_importances import RelevanceIntervals

Progress = Callable[[str, int, int], None]  # (current step, number of steps done, number of steps)

N_RESAMPLES = 20  # refits for the intervals of importances
MAX_INTERVAL_ROWS = 5000  # training rows up to which they are computed


@dataclass(frozen=True)
class FitResult:
    """Result of `fit_table`.

    Attributes
    ----------
    model : RejectClassifier
        Fitted to the training rows.
    summary : dict
        Content of metrics.json; see `lvq.report.summarize`.
    notes : tuple of str
        Notes on rows and columns that were left out, and warnings.
    folder : Path or None
        The folder of the run.
    """

    model: RejectClassifier
    summary: dict[str, JSONValue]
    notes: tuple[str, ...]
    folder: Path | None


def quiet(what: str, done: int, total: int) -> None:
    """Show no progress."""


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
    test_size: float = 0.25,
    folds: int = 5,
    stream: bool = False,
    seed: int = 0,
    force: bool = False,
    progress: Progress = quiet,
) -> FitResult:
    """Fit a classifier to a table, test it, and write model and report.

    A stratified fraction of the rows is held out and used once, for the test at the end. The model is fitted to the
    others; cross-validation among them estimates the variation of the accuracy. Numbers are standardised, texts are
    one-hot encoded, missing numbers become the median of their column with an indicator feature; all of that is learned
    from the training rows. Rows without a class, and columns that are empty, constant or row numbers, are left out with
    a note.

    Parameters
    ----------
    table : path
        A CSV (also gzipped), Parquet, Arrow or ARFF file.
    target : str
        The column of classes.
    out : path, optional
        Folder for model.lvq, report.html and metrics.json: all of them are written, or none.
    model : str, default="lvq"
        "lvq" for `LVQClassifier`, or a name of `lvq.MODELS`.
    prototypes, rank : int, optional
        Number of prototypes for each class, and rank of the matrices; the model's default otherwise.
    kernel : str, optional
        A kernel, or "none"; the model's default otherwise.
    max_error : float, optional
        Guaranteed bound on the error rate among accepted predictions; a `GuaranteeError` where it is not achievable.
    confidence : float, default=0.95
        Confidence of that guarantee.
    coverage : float, optional
        Fraction of predictions to accept; 0.9 where `max_error` is not given.
    drop, categorical : sequence of str, default=()
        Columns that are not features, and columns of numbers that are categories.
    test_size : float, default=0.25
        Fraction of the rows that is held out for the test.
    folds : int, default=5
        Number of folds of the cross-validation; 0 for none. With folds and up to 5,000 training rows the model is also
        refitted to 20 random halves, for the intervals of the features' importances.
    stream : bool, default=False
        Read the table in parts, as it may be larger than memory, and train each row once by `lvq.fit_batches`. All
        features must be numbers without gaps, there is no cross-validation, and up to 20,000 rows each are held out for
        the test and for the thresholds.
    seed : int, default=0
        Seed of all random numbers.
    force : bool, default=False
        Whether files in `out` may be replaced.
    progress : callable, optional
        Called with (current step, number of steps done, number of steps).

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
    from lvq.report import summarize

    table = Path(table)
    if not 0 < test_size < 1:
        raise ValueError(f"test_size must be between 0 and 1, got {test_size:g}.")
    if folds != 0 and folds < 2:
        raise ValueError(f"folds must be 2 or more, or 0 for no cross-validation, got {folds}.")
    estimator = make_model(model, prototypes=prototypes, rank=rank, kernel=kernel, seed=seed)
    if out is not None:
        check_folder(out, force=force)
    if stream:
        if categorical:
            raise ValueError("stream=True (--stream) takes numbers only, so that categorical must not be given.")
        return _fit_stream(
            table, target, estimator, out, max_error, confidence, coverage, drop, test_size, seed, progress
        )
    steps = folds + 4
    progress("Reading", 0, steps)
    samples = _read_samples(table, target, drop, categorical)
    train, test = split(samples, test_size, seed)
    X, y = samples.X.iloc[train], samples.y[train]
    pipeline = make_pipeline_for(samples, estimator)
    classifier = make_reject_classifier(
        pipeline, max_error=max_error, confidence=confidence, coverage=coverage, n_samples=len(train),
        smallest_class=int(np.unique(y, return_counts=True)[1].min()), seed=seed,
    )  # fmt: skip
    progress("Fitting", 1, steps)
    _fit(classifier, X, y, test_size)  # before the cross-validation, as a guarantee may not be achievable
    results = _cross_validate(pipeline, X, y, folds, seed, progress) if folds else None
    progress("Summarising", folds + 2, steps)
    intervals = _intervals(classifier, X, y, seed) if folds else None
    summary = summarize(
        classifier, samples.X.iloc[test], samples.y[test], X_train=X, y_train=y, name=type(estimator).__name__,
        data_name=table.name, target_name=target, folds=results, intervals=intervals, seed=seed,
        protocol=_protocol(samples, test_size, folds, classifier),
    )  # fmt: skip
    summary["notes"] = list(samples.notes)
    progress("Writing", folds + 3, steps)
    folder = None if out is None else write_run(classifier, summary, out)
    progress("Done", steps, steps)
    return FitResult(classifier, summary, samples.notes, folder)


def _fit_stream(
    table: Path,
    target: str,
    estimator: BaseEstimator,
    out: str | Path | None,
    max_error: float | None,
    confidence: float,
    coverage: float | None,
    drop: Sequence[str],
    test_size: float,
    seed: int,
    progress: Progress,
) -> FitResult:
    from lvq.report import summarize
    from lvq.workflow.streamed import fit_streamed

    progress("Fitting", 0, 3)
    fitted = fit_streamed(table, target, estimator, drop=tuple(drop), test_size=test_size, seed=seed)
    classifier = make_reject_classifier(
        fitted.pipeline, max_error=max_error, confidence=confidence, coverage=coverage,
        n_samples=len(fitted.calibration[1]), seed=seed,
    )  # fmt: skip
    classifier.set_params(cv="prefit").fit(*fitted.calibration)
    progress("Summarising", 1, 3)
    summary = summarize(
        classifier, *fitted.test, name=type(estimator).__name__, data_name=table.name, target_name=target, seed=seed,
        protocol=f"{fitted.notes[0]} Numbers were standardised.",
    )  # fmt: skip
    summary["data"]["n_train"] = fitted.n_train
    summary["notes"] = list(fitted.notes)
    progress("Writing", 2, 3)
    folder = None if out is None else write_run(classifier, summary, out)
    progress("Done", 3, 3)
    return FitResult(classifier, summary, fitted.notes, folder)


def _read_samples(table: Path, target: str, drop: Sequence[str], categorical: Sequence[str]) -> Samples:
    content = read_table(table, codes={target, *categorical})
    samples = prepare(content, target, drop=drop, categorical=categorical, source=str(table))
    unnamed = [place for place, name in enumerate(column_names(table), start=1) if not name]
    notes = [f"Left out column {place}: it has no name (a row index?)." for place in unnamed]
    return replace(samples, notes=(*notes, *samples.notes))


def _cross_validate(
    pipeline: Pipeline, X: ArrayLike, y: ArrayLike, folds: int, seed: int, progress: Progress
) -> list[FoldResult]:
    """Cross-validation of the predictions alone: thresholds in every fold would take many times as long."""
    from lvq.report import evaluate_folds

    def report(done: int, total: int) -> None:
        progress("Cross-validating", 2 + done, folds + 4)

    report(0, folds)
    return evaluate_folds(pipeline, X, y, folds, seed, progress=report)


def _intervals(classifier: RejectClassifier, X: MatrixLike, y: Labels, seed: int) -> RelevanceIntervals | None:
    """Intervals of the importances; None for a Euclidean metric, and for many rows, where folds tell enough."""
    from lvq.resampled_importances import relevance_intervals

    if need_model(classifier, "fit_table").model.relevance is None or len(y) > MAX_INTERVAL_ROWS:
        return None
    return relevance_intervals(classifier, X, y, n_resamples=N_RESAMPLES, random_state=seed)


def _fit(classifier: RejectClassifier, X: ArrayLike, y: ArrayLike, test_size: float) -> None:
    """Fit; where a guarantee needs more samples, report the number of rows that includes the test rows."""
    try:
        classifier.fit(X, y)
    except GuaranteeError as error:
        if error.samples_needed is None:
            raise
        rows = ceil(error.samples_needed / (1 - test_size))
        message = f"{error} With the {test_size:.0%} that are held out for the test, that is a table of {rows} rows."
        raise GuaranteeError(message, error.reason, rows) from error


def split(samples: Samples, test_size: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Split the rows into training and test rows, stratified by class.

    Parameters
    ----------
    samples : Samples
        All rows.
    test_size : float
        Fraction of test rows.
    seed : int
        Random state.

    Returns
    -------
    train, test : ndarray of int
        Indices of rows, ascending.

    Examples
    --------
    >>> import pandas as pd
    >>> samples = Samples(pd.DataFrame({"size": range(8)}), np.array(["a", "b"] * 4), (), (), ())
    >>> train, test = split(samples, 0.25, seed=0)
    >>> len(train), sorted(samples.y[test].tolist())
    (6, ['a', 'b'])
    """
    n_classes, n_samples = len(np.unique(samples.y)), len(samples.y)
    n_test = int(np.ceil(test_size * n_samples))
    if n_test < n_classes or n_samples - n_test < 2 * n_classes:
        raise ValueError(
            f"A test_size of {test_size:g} gives {n_samples - n_test} training rows and {n_test} test rows for "
            f"{n_classes} classes, which is too few; give more rows or another test_size."
        )
    train, test = train_test_split(np.arange(n_samples), test_size=test_size, stratify=samples.y, random_state=seed)
    return np.sort(train), np.sort(test)


def _protocol(samples: Samples, test_size: float, folds: int, classifier: RejectClassifier) -> str:
    """Text on how the data were prepared and split."""
    kept, crossed = f"{classifier.calibration_size:.0%} of the training rows were held out", classifier.cv
    thresholds = "Thresholds were cross-fitted." if crossed else f"{kept} to set the thresholds."
    if classifier.max_error is not None:
        thresholds = f"{thresholds if crossed else ''} {kept} to test the guarantee.".strip()
    parts = [
        f"{test_size:.0%} of {len(samples.y)} rows, stratified by class, were held out for the test; the model was "
        "fitted to the others.",
        f"{folds}-fold cross-validation among these." if folds else "",
        "Numbers were standardised.",
        "Texts were one-hot encoded." if samples.texts else "",
        "Missing numbers became the median of their column, with an indicator feature." if samples.gaps else "",
        thresholds,
    ]
    return " ".join(part for part in parts if part)
