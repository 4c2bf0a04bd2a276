"""Fit a model to a table on disk, test it, and write the folder of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lvq.estimators.found import need_model
from lvq.rejection import RejectClassifier
from lvq.rejection.costs import CostClassifier
from lvq.table_headers import FIRST_ROW
from lvq.typing import Labels, MatrixLike
from lvq.workflow.date_values import show_dates
from lvq.workflow.decision_options import check_classes, read_class_weight, read_prices
from lvq.workflow.design import Design, split_rows
from lvq.workflow.drift import reference_of
from lvq.workflow.fit_result import FitResult, Progress, quiet
from lvq.workflow.missing_values import candidates, check_way, choose
from lvq.workflow.pipelines import make_model, make_pipeline_for, make_reject_classifier
from lvq.workflow.protocol import protocol, published_rows, time_split
from lvq.workflow.rivals import make_rivals, rival_section
from lvq.workflow.runs import check_folder, write_run
from lvq.workflow.study import Paths, read_study
from lvq.workflow.thread_limit import limited_threads
from lvq.workflow.training import CrossValidated, cross_validate, fit_rejecting

if TYPE_CHECKING:
    from lvq.resampled_importances import RelevanceIntervals

N_RESAMPLES, RESAMPLE_ITERATIONS = 20, 30  # refits for the intervals of importances, and their iterations
MAX_INTERVAL_ROWS = 5000  # training rows up to which they are computed


@limited_threads
def fit_table(
    table: Paths,
    target: str,
    *,
    out: str | Path | None = None,
    group: str | None = None,
    time: str | None = None,
    test: str | Path | None = None,
    model: str = "lvq",
    prototypes: int | None = None,
    rank: int | None = None,
    kernel: str | None = None,
    sample_prototypes: bool = False,
    missing: str = "auto",
    max_error: float | None = None,
    confidence: float = 0.95,
    coverage: float | None = None,
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Sequence[str] = (),
    missing_marks: Sequence[str] = (),
    encoding: str | None = None,
    class_weight: Mapping[str, float] | str | None = None,
    prices: Mapping[str, float] | str | Path | None = None,
    test_size: float = 0.25,
    folds: int = 5,
    stream: bool = False,
    checkpoint: str | Path | None = None,
    seed: int = 0,
    threads: int | None = None,
    force: bool = False,
    progress: Progress = quiet,
) -> FitResult:
    """Fit a classifier to a table, test it, and write model and report.

    A stratified fraction of the rows is held out and used once, for the test at the end; `group`, `time` and `test`
    are other designs. The model is fitted to the others; cross-validation among them estimates the variation of the
    accuracy. Numbers are standardised, texts are one-hot encoded, missing numbers are filled or ignored; all of that is
    learned from the training rows. Rows without a class, and columns that are empty, constant or row numbers, are left
    out with a note.

    Parameters
    ----------
    table : path or sequence of path
        A CSV (also gzipped), Parquet, Arrow or ARFF file, or several with the same columns, which are joined.
    target : str
        The column of classes.
    out : path, optional
        Folder for model.lvq, report.html and metrics.json: all of them are written, or none.
    group : str, optional
        A column of groups, such as patients. Rows of one group are never split: between training and test, between
        folds, between training and thresholds. It is not a feature.
    time : str, optional
        A column of dates or numbers. The latest rows are the test, and each fold is tested on rows later than those it
        was trained on. It is not a feature.
    test : path, optional
        A table with the same columns that is the test, in place of a part of `table`.
    model : str, default="lvq"
        "lvq" for `LVQClassifier`, or a name of `lvq.MODELS`.
    prototypes, rank : int, optional
        Number of prototypes for each class, and rank of the matrices; the model's default otherwise.
    kernel : str, optional
        A kernel, or "none"; the model's default otherwise.
    sample_prototypes : bool, default=False
        Whether every prototype is a training row. Model and report then contain values of these rows, which the report
        names.
    missing : {"auto", "impute", "ignore"}, default="auto"
        Missing numbers become the median of their column, with an indicator feature ("impute"), or distances are over
        the values that a row has ("ignore"). "auto" compares both on the folds, without `max_error`, and ignores where
        that is better by more than a standard error.
    max_error : float, optional
        Guaranteed bound on the error rate among accepted predictions. Where it is not achievable, the lowest bound that
        is is guaranteed instead, and a note tells how many rows would be enough.
    confidence : float, default=0.95
        Confidence of that guarantee.
    coverage : float, optional
        Fraction of predictions to accept; 0.9 where `max_error` is not given.
    features, drop : sequence of str, default=()
        Columns that are features (all by default), and columns that are not; patterns such as "lab_*" are allowed.
    categorical : sequence of str, default=()
        Columns of numbers, or of texts that look like notes, that are categories.
    dates : sequence of str, default=()
        Columns of dates that become numbers of days; other columns of dates are an error.
    missing_marks : sequence of str, default=()
        Texts and numbers that mean a missing value beside the usual ones: "n.d." in all features, "glucose=0" in one.
        The run stores them, so that `predict_table` and `validate_table` use them too.
    encoding : str, optional
        That of CSV files, such as "latin-1"; by default it is found from their bytes.
    class_weight : mapping or str, optional
        Weights of the classes in training: "balanced", or for example "bad=5,good=1".
    prices : mapping, str or path, optional
        Prices of mistakes, for example "bad:good=5,good:bad=1" (true class first, 1 where none is given), or a CSV
        file: the class with the least expected price is predicted, by the calibrated probabilities; see
        `lvq.rejection.costs`.
    test_size : float, default=0.25
        Fraction of the rows that is held out for the test.
    folds : int, default=5
        Number of folds of the cross-validation; 0 for none. With folds and up to 5,000 training rows the model is also
        refitted to 20 random halves, for the intervals of the features' importances.
    stream : bool, default=False
        Read the tables in parts, as they may be larger than memory, and train each row once by `lvq.fit_batches`. All
        features must be numbers, of which some may be missing with ``missing="ignore"``; there is no cross-validation,
        and up to 20,000 rows each are held out for the test and for the thresholds.
    checkpoint : path, optional
        With `stream`: a file from which an interrupted run continues; the result is that of an undisturbed run.
    seed : int, default=0
        Seed of all random numbers.
    threads : int, optional
        Number of threads, at most; by default those of the processor, and one for small tables.
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

    if not 0 < test_size < 1:
        raise ValueError(f"test_size must be between 0 and 1, got {test_size:g}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be a fraction above 0 and below 1, such as 0.95, got {confidence:g}.")
    if folds != 0 and folds < 2:
        raise ValueError(f"folds must be 2 or more, or 0 for no cross-validation, got {folds}.")
    weights, priced = read_class_weight(class_weight), None if prices is None else read_prices(prices)
    check_way(missing, sample_prototypes=sample_prototypes)
    estimator = make_model(
        model, prototypes=prototypes, rank=rank, kernel=kernel, class_weight=weights, seed=seed,
        sample_prototypes=sample_prototypes, missing="ignore" if missing == "ignore" else "raise",
    )  # fmt: skip
    if out is not None:
        check_folder(out, force=force)
    if stream:
        from lvq.workflow.streamed import check_stream_options, fit_stream

        designed: dict[str, object] = {
            "categorical": categorical, "features": features, "prices": prices, "dates": dates, "group": group,
            "time": time, "test": test, "sample_prototypes": sample_prototypes, "missing_marks": missing_marks,
            "encoding": encoding,
        }  # fmt: skip
        check_stream_options(designed, missing, weights)
        tables = [Path(table)] if isinstance(table, str | Path) else [Path(path) for path in table]
        return fit_stream(
            tables, target, estimator, out, max_error, confidence, coverage, drop, test_size, seed, checkpoint, progress
        )
    if checkpoint is not None:
        raise ValueError("checkpoint (--checkpoint) needs stream=True (--stream); leave it out.")
    steps = folds + 5
    progress("Reading", 0, steps)
    study = read_study(
        table, target, group=group, time=time, test=test, features=features, drop=drop, categorical=categorical,
        dates=dates, missing_marks=missing_marks, encoding=encoding,
    )  # fmt: skip
    samples, design = study.samples, study.design
    train, test_rows, notes = split_rows(samples, design, test_size, seed)
    notes = [*samples.notes, *notes, *check_classes(priced, weights, samples.y[train], samples.y)]
    X, y, inner = samples.X.iloc[train], samples.y[train], design.take(train)
    found = candidates(missing, estimator, X, samples, folds=folds, guarantee=max_error is not None)
    steps += folds * (len(found.estimators) - 1)
    classifiers: dict[str, RejectClassifier] = {}
    tried: dict[str, CrossValidated] = {}
    for way, each in found.estimators.items():
        pipeline = make_pipeline_for(samples, each)
        classifiers[way] = make_reject_classifier(
            pipeline if priced is None else CostClassifier(pipeline, priced), max_error=max_error,
            confidence=confidence, coverage=coverage, n_samples=len(train),
            smallest_class=int(np.unique(y, return_counts=True)[1].min()), seed=seed,
        )  # fmt: skip
        if folds:
            report = _counter(progress, "Cross-validating", 1 + folds * len(tried), steps)
            tried[way] = cross_validate(classifiers[way], X, y, inner, folds, seed, report)
    choice = choose(missing, found, tried, X, y, samples, priced)
    classifier, checked = classifiers[choice.way], tried.get(choice.way)
    progress("Fitting", steps - 4, steps)
    fit_rejecting(classifier, X, y, inner, seed, checked and checked.fitted)
    notes += classifier.notes_
    rivals = None
    if checked is not None:
        progress("Fitting rivals", steps - 3, steps)
        rivals, left_out = rival_section(
            type(estimator).__name__, [np.asarray(fold.predicted) for fold in checked.results],
            make_rivals(samples, np.unique(y), class_weight=weights, prices=priced, seed=seed), X, y, checked.folds,
            prices=priced, n_prototypes=len(need_model(classifier, "fit_table").model.prototypes),
        )  # fmt: skip
        notes += left_out
    progress("Summarising", steps - 2, steps)
    split = time_split(design, train, test_rows, time, study.dated)
    intervals = _intervals(classifier, X, y, inner, seed) if folds else None
    summary = summarize(
        classifier, samples.X.iloc[test_rows], samples.y[test_rows], X_train=X, y_train=y,
        name=type(estimator).__name__, data_name=study.name, target_name=target, folds=checked and checked.results,
        intervals=intervals, seed=seed, exemplars=int(sample_prototypes),
        protocol=protocol(
            samples, train, test_rows, design, folds, classifier, choice.sentence, marks=missing_marks, split=split
        ),
        first_row=FIRST_ROW if test is None and isinstance(table, str | Path) else 0,
    )  # fmt: skip
    if sample_prototypes:
        notes.append(published_rows(summary))
    summary["notes"], summary["rivals"], summary["missing"] = notes, rivals, choice.section
    summary["missing_marks"] = {name: texts for name, texts in study.marks.items() if name in samples.X}
    summary["time"] = split
    show_dates(summary, samples.X.iloc[test_rows], dates)
    summary["reference"] = reference_of(X, classifier.certainty(samples.X.iloc[test_rows]), dates)
    progress("Writing", steps - 1, steps)
    folder = None if out is None else write_run(classifier, summary, out)
    progress("Done", steps, steps)
    return FitResult(classifier, summary, tuple(notes), folder)


def _counter(progress: Progress, what: str, start: int, steps: int) -> Callable[[int, int], None]:
    """A function of the steps done since a start."""
    return lambda done, _: progress(what, start + done, steps)


def _intervals(
    classifier: RejectClassifier, X: MatrixLike, y: Labels, design: Design, seed: int
) -> RelevanceIntervals | None:
    """Intervals of the importances; None for a Euclidean metric, and for many rows, where folds tell enough."""
    from lvq.resampled_importances import relevance_intervals

    if need_model(classifier, "fit_table").model.relevance is None or len(y) > MAX_INTERVAL_ROWS:
        return None
    return relevance_intervals(
        classifier, X, y, n_resamples=N_RESAMPLES, max_iter=RESAMPLE_ITERATIONS, sample_groups=design.groups,
        random_state=seed,
    )  # fmt: skip
