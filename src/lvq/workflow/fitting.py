"""Fit a model to a table, test it, and report on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from lvq.estimators.classifier import LVQClassifier
from lvq.estimators.find_model import find_layer, last_step
from lvq.estimators.search import LVQClassifierCV
from lvq.rejection import CostClassifier, RejectClassifier
from lvq.rejection.calibration import FittedFold
from lvq.rejection.scores import Predictions
from lvq.reports import Folds, Report
from lvq.reports.folds import logistic_regression
from lvq.reports.summary import importances_with_intervals
from lvq.tables.header import TableError, listed
from lvq.tables.values import iso_date
from lvq.typing import Fold
from lvq.workflow.columns import TableOptions
from lvq.workflow.comparing import Progress, quiet
from lvq.workflow.design import Design, inner_folds, latest_rows, split_rows, threshold_folds
from lvq.workflow.pipeline import ignores_missing, make_model, make_pipeline_for, make_reject_classifier
from lvq.workflow.runs import write_run
from lvq.workflow.study import Study, TableLike, make_study


@dataclass(frozen=True)
class Run:
    """Result of `fit`.

    Attributes
    ----------
    model : RejectClassifier
        Fitted to the training rows.
    report : Report
        The model and its results on the test rows.
    """

    model: RejectClassifier
    report: Report

    @property
    def notes(self) -> Sequence[str]:
        """Notes on rows and columns that were left out, and warnings."""
        return self.report.context.notes

    def write(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write model.lvq, report.html and metrics.json into a folder: all of them, or none.

        Parameters
        ----------
        folder : path
            It is created where it does not exist.
        force : bool, default=False
            Whether existing files may be replaced.

        Returns
        -------
        folder : Path
        """
        return write_run(self.model, self.report, folder, force=force)


def fit(
    table: TableLike,
    target: str,
    *,
    model: BaseEstimator | str = "lvq",
    options: TableOptions | None = None,
    group: str | None = None,
    time: str | None = None,
    costs: Mapping[str, float] | None = None,
    max_error: float | None = None,
    confidence: float = 0.95,
    coverage: float | None = None,
    test_size: float = 0.25,
    folds: int = 5,
    seed: int = 0,
    progress: Progress = quiet,
) -> Run:
    """Fit a classifier to a table, and test it.

    A stratified fraction of the rows is held out and used once, for the final test; `group` and `time` are other
    designs. The model is fitted to the other rows; cross-validation among them estimates how the accuracy
    varies. Numbers are standardised, strings are one-hot encoded, and a missing number becomes the median of its
    column with an indicator feature; all of that is learned from the training rows. Rows without a class, and columns
    that are empty, constant or row numbers, are left out with a note.

    Parameters
    ----------
    table : DataFrame or path
        A data frame, or a CSV (also gzipped), Parquet or Excel file.
    target : str
        The column of classes.
    model : estimator or str, default="lvq"
        A model of this library, not fitted, or its name, see `make_model`. Numbers are not filled for a model with
        ``missing="ignore"``.
    options : TableOptions, optional
        Which columns are features, categories or dates, and which values are missing.
    group : str, optional
        A column of groups, such as patients. Rows of one group are never split: between training and test, between
        folds, between training and thresholds. It is not a feature.
    time : str, optional
        A column of dates or numbers. The latest rows are the test, and each fold is tested on rows later than those it
        was trained on. It is not a feature.
    costs : mapping, optional
        Costs of mistakes, for example ``{"bad:good": 5, "good:bad": 1}`` (true class first; 1 if not given): the class
        with the least expected cost is predicted, by the calibrated probabilities.
    max_error : float, optional
        Guaranteed bound on the error rate of accepted predictions. If it is not achievable, the lowest achievable of
        some larger bounds, up to 50 %, is guaranteed, and a note says how many rows would be enough.
    confidence : float, default=0.95
        Confidence of the guarantee.
    coverage : float, optional
        Fraction of predictions to accept; 0.9 where `max_error` is not given.
    test_size : float, default=0.25
        Fraction of the rows that is held out for the test.
    folds : int, default=5
        Number of folds of the cross-validation, in which logistic regression is fitted too; 0 for none. With folds and
        up to 5,000 training rows the model is also refitted to 20 random halves, for the intervals of the importances.
    seed : int, default=0
        Seed of all random numbers.
    progress : callable, optional
        Called with (current step, number of steps done, number of steps).

    Returns
    -------
    run : Run

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> run = fit(load_iris(as_frame=True).frame, "target", model="glvq", folds=0)
    >>> run.report.metrics.accuracy.total, run.model.classes_.tolist()
    (38, ['0', '1', '2'])
    """
    _check_fractions(test_size, confidence, folds)
    estimator = make_model(model, seed=seed) if isinstance(model, str) else model
    progress("Reading", 0, folds + 4)
    study = make_study(table, target, options, group=group, time=time)
    train, test_rows, notes = split_rows(study.samples, study.design, test_size, seed)
    X, y, inner = study.samples.X.iloc[train], study.samples.y[train], study.design.take(train)
    weights = estimator.get_params().get("class_weight")
    notes = [*study.samples.notes, *notes]
    pipeline = make_pipeline_for(study.samples, estimator)
    classifier = make_reject_classifier(
        pipeline if costs is None else CostClassifier(pipeline, costs), max_error=max_error, confidence=confidence,
        coverage=coverage, n_samples=len(train), smallest_class=int(np.unique(y, return_counts=True)[1].min()),
        seed=seed,
    )  # fmt: skip
    protocol = _protocol(study, (train, test_rows), folds, classifier, ignores_missing(estimator))
    checked, accuracies = _cross_validate(classifier.estimator, X, y, inner, folds, seed, progress)
    progress("Fitting", folds + 1, folds + 4)
    fit_rejecting(classifier, X, y, inner, seed, checked)
    more = f" The rows to fit are {100 * (1 - test_size):g} % of the table; the others are the test."
    notes += [text + more * (" to fit" in text) for text in classifier.notes_]
    progress("Reporting", folds + 2, folds + 4)
    compared = None
    if folds:
        # with costs or weights it would decide differently
        splits, steps = [fold[:2] for fold in checked], [study.samples.preprocessor]
        others = None if costs is not None or weights is not None else logistic_regression(steps, X, y, splits)
        compared = Folds(accuracies, [len(fold_test) for _, fold_test in splits], others)
    context = replace(
        study.context, title=type(estimator).__name__, protocol=protocol, notes=notes, seed=seed, folds=compared,
        groups=None if study.design.groups is None else study.design.groups[test_rows],
        importances=importances_with_intervals(classifier, X, y, inner.groups, seed) if folds else None,
    )  # fmt: skip
    report = Report.of(
        classifier, study.samples.X.iloc[test_rows], study.samples.y[test_rows], X_train=X, y_train=y, context=context
    )
    progress("Done", folds + 4, folds + 4)
    return Run(classifier, report)


def _check_fractions(test_size: float, confidence: float, folds: int) -> None:
    if not 0 < test_size < 1:
        raise ValueError(f"test_size must be a fraction above 0 and below 1, got {test_size:g}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be a fraction above 0 and below 1, such as 0.95, got {confidence:g}.")
    if folds != 0 and folds < 2:
        raise ValueError(f"folds must be 2 or more, or 0 for no cross-validation, got {folds}.")


# -- thresholds and folds ----------------------------------------------------------------------------------------------


def _cross_validate(
    estimator: BaseEstimator,
    X: pd.DataFrame,
    y: np.ndarray,
    design: Design,
    n_folds: int,
    seed: int,
    progress: Progress,
) -> tuple[list[FittedFold], list[float]]:
    """Folds with predictions of all rows, and accuracies: thresholds in every fold would take too long."""
    arguments = _group_arguments(estimator, design)
    fitted, accuracies = [], []
    for done, (train, test) in enumerate(inner_folds(y, design, n_folds, seed) if n_folds else []):
        progress("Cross-validating", 1 + done, n_folds + 4)
        own = {name: values[train] for name, values in arguments.items()}
        made = Predictions(clone(estimator).fit(X.iloc[train], y[train], **own), X)
        fitted.append((train, test, made))
        accuracies.append(float(np.mean(made.predicted[test] == y[test])))
    return fitted, accuracies


def fit_rejecting(
    classifier: RejectClassifier,
    X: pd.DataFrame,
    y: np.ndarray,
    design: Design,
    seed: int,
    fitted: Sequence[FittedFold] = (),
) -> RejectClassifier:
    """Fit a reject classifier whose thresholds respect the design; already fitted folds are used where they fit.

    Groups are never split. With time, folds leave out blocks of time, and the held-out rows are the latest ones; models
    of the past alone have too few rows for thresholds of the predicting model. The parameter `cv` is the one of the
    fit: the splitter, or the folds of the design.
    """
    arguments = _group_arguments(classifier.estimator, design)
    if isinstance(classifier.cv, StratifiedKFold):
        folds: list[Fold] | StratifiedKFold = classifier.cv
        if not design.is_plain:
            folds = threshold_folds(y, design, classifier.cv.n_splits, seed)
        same = len(fitted) == classifier.cv.n_splits and design.times is None
        classifier.set_params(cv=fitted if same else folds).fit(X, y, **arguments)
        return classifier.set_params(cv=folds)  # the same folds without their models
    if design.times is None:
        return classifier.fit(X, y, groups=design.groups, **arguments)
    train, held_out = latest_rows(design, float(classifier.cv))  # type: ignore[arg-type]
    if len(np.unique(y[train])) < 2:
        raise TableError(
            f"{len(held_out)} of {len(y)} training rows are held out for the thresholds, which leaves fewer than two "
            "classes to train on; give more rows or groups, or leave out --max-error."
        )
    own = {name: values[train] for name, values in arguments.items()}
    fitted = clone(classifier.estimator).fit(X.iloc[train], y[train], **own)
    groups = None if design.groups is None else design.groups[held_out]
    return classifier.set_params(estimator=fitted, cv="prefit").fit(X.iloc[held_out], y[held_out], groups=groups)


def _group_arguments(estimator: BaseEstimator, design: Design) -> dict[str, np.ndarray]:
    """Arguments of a pipeline's `fit` with which the calibration of its probabilities splits no group."""
    blocks, pipeline = design.blocks, find_layer(estimator, Pipeline)
    if blocks is None or pipeline is None or not isinstance(last_step(pipeline), LVQClassifier | LVQClassifierCV):
        return {}
    return {f"{pipeline.steps[-1][0]}__groups": blocks}


# -- the description of the protocol -----------------------------------------------------------------------------------


def _protocol(study: Study, rows: Fold, folds: int, classifier: RejectClassifier, ignored: bool) -> str:
    """How the data are prepared and split."""
    samples, marks = study.samples, study.options.missing_marks
    gaps = "Missing numbers became the median of their column, with an indicator feature."
    if ignored:
        gaps = "Missing numbers were ignored: distances use the values that a row has."
    parts = [
        _test_part(study, *rows),
        _folds_part(study.design, folds),
        "Numbers were standardised.",
        "Strings were one-hot encoded." if samples.preprocessor.categorical else "",
        f"Values marked as missing: {listed(marks)}." if marks else "",
        gaps if samples.preprocessor.gaps else "",
        _thresholds_part(study.design, classifier),
    ]
    return " ".join(part for part in parts if part)


def _test_part(study: Study, train: np.ndarray, test: np.ndarray) -> str:
    design, count = study.design, f"{len(test)} of {len(train) + len(test)} rows"
    if design.times is not None:
        ends = design.times[train].max(), design.times[test].min()
        until, since = (iso_date(time) if study.dated else f"{time:.15g}" for time in ends)
        how = f"The latest {count} were held out for the test, those from {since} on ({study.time}); "
        return f"{how}the model was fitted to rows up to {until}."
    elif design.groups is not None:
        n_groups = len(np.unique(design.groups[test]))
        how = f"{count}, all of {n_groups} groups, stratified by class as far as possible, were held out for the test"
    else:
        how = f"{count}, stratified by class, were held out for the test"
    return f"{how}; the model was fitted to the others."


def _folds_part(design: Design, folds: int) -> str:
    if not folds:
        return ""
    if design.times is not None:
        return f"Cross-validation among these in up to {folds} steps, each tested on later rows than it was trained on."
    whole = ", in folds of whole groups" if design.groups is not None else ""
    return f"{folds}-fold cross-validation among these{whole}."


def _thresholds_part(design: Design, classifier: RejectClassifier) -> str:
    if not isinstance(classifier.cv, float):
        return "Thresholds were cross-fitted."
    which = "" if design.is_plain else ", whole groups," if design.times is None else ", the latest rows,"
    text = f"{classifier.cv:.0%} of the training rows{which} were held out to set the thresholds"
    if classifier.max_error is None:
        return f"{text}."
    one = " on one row of each group" if design.groups is not None else ""
    later = " It holds for later rows as long as they are like these." if design.times is not None else ""
    return f"{text} and to test the guarantee{one}.{later}"
