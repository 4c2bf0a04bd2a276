"""Fit a reject classifier to the training rows of a design, and its cross-validation.

Where thresholds are cross-fitted in as many folds as the cross-validation has, both use the same folds and the same
models: each is fitted once. With time the cross-validation trains on the past alone, and thresholds have other folds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from lvq import LVQClassifier, LVQClassifierCV
from lvq.estimators.find_model import find_layer, last_step
from lvq.rejection import RejectClassifier
from lvq.tables.header import TableError
from lvq.typing import FittedFold, Fold
from lvq.workflow.design import Design, calibration_rows, inner_folds, threshold_folds
from lvq.workflow.pipelines import MIN_CALIBRATION

if TYPE_CHECKING:
    from lvq.report import FoldResult


def fit_rejecting(
    classifier: RejectClassifier,
    X: pd.DataFrame,
    y: np.ndarray,
    design: Design,
    seed: int,
    fitted_folds: list[FittedFold] | None = None,
) -> RejectClassifier:
    """Fit a reject classifier whose thresholds respect the design; `fitted_folds` are folds to cross-fit them in.

    Groups: folds of whole groups; for a guarantee whole groups are held out, and it is stated for groups. Time: folds
    leave out blocks of time; for a guarantee the latest rows are held out.
    """
    from lvq.report.cross_validation import stratified_splits

    pipeline = classifier.estimator
    if isinstance(classifier.cv, int) and classifier.max_error is None:
        folds: list[FittedFold] | list[Fold] | None = fitted_folds
        if folds is None and design.is_plain:
            folds = stratified_splits(y, classifier.cv, seed)  # at random: neighbours in a table may be alike
        elif folds is None:
            folds = threshold_folds(y, design, classifier.cv, seed)
        classifier.set_params(cv=folds).fit(X, y, **group_arguments(pipeline, design))
        return classifier.set_params(cv=len(folds))  # the number alone is stored, not the rows
    if design.is_plain:
        return classifier.fit(X, y)
    arguments = group_arguments(pipeline, design)
    if design.times is None:
        return classifier.fit(X, y, groups=design.groups, **arguments)
    fraction = classifier.cv if isinstance(classifier.cv, float) else MIN_CALIBRATION
    train, held_out = calibration_rows(design, fraction)
    if len(np.unique(y[train])) < 2:
        raise TableError(
            f"Of {len(y)} training rows {len(y) - len(train)} are held out to test the guarantee, which leaves fewer "
            "than two classes to train on; give more rows or groups, or leave out --max-error."
        )
    fitted = clone(pipeline).fit(X.iloc[train], y[train], **group_arguments(pipeline, design.take(train)))
    groups = None if design.groups is None else design.groups[held_out]
    return classifier.set_params(estimator=fitted, cv="prefit").fit(X.iloc[held_out], y[held_out], groups=groups)


class CrossValidated(NamedTuple):
    """Folds, their results, and the folds with their models where thresholds can be cross-fitted in them."""

    folds: list[Fold]
    results: list[FoldResult]
    fitted: list[FittedFold] | None


def cross_validate(
    classifier: RejectClassifier,
    X: pd.DataFrame,
    y: np.ndarray,
    design: Design,
    n_folds: int,
    seed: int,
    progress: Callable[[int, int], None],
) -> CrossValidated:
    """Cross-validation of the predictions alone: thresholds in every fold would take many times as long.

    Models are kept only where the thresholds are cross-fitted in the same folds: below 2,000 rows, without a guarantee,
    and not with time, where the models of the first folds have too few rows for thresholds of the predicting model.
    """
    from lvq.report.cross_validation import evaluate_folds, fit_fold, stratified_splits

    folds = stratified_splits(y, n_folds, seed) if design.is_plain else inner_folds(y, design, n_folds, seed)
    pipeline, fitted = classifier.estimator, list[FittedFold]()
    arguments = group_arguments(pipeline, design)
    progress(0, n_folds)
    if classifier.max_error is not None or classifier.cv != n_folds or design.times is not None:
        return CrossValidated(
            folds, evaluate_folds(pipeline, X, y, folds, fit_params=arguments, progress=progress), None
        )
    for train, test in folds:
        fitted.append((train, test, fit_fold(pipeline, X, y, train, arguments)))
        progress(len(fitted), n_folds)
    return CrossValidated(folds, evaluate_folds(pipeline, X, y, fitted), fitted)


def group_arguments(estimator: BaseEstimator, design: Design) -> dict[str, np.ndarray]:
    """Arguments of a pipeline's `fit` with which the calibration of its probabilities splits no group."""
    blocks, pipeline = design.blocks, find_layer(estimator, Pipeline)
    if blocks is None or pipeline is None or not isinstance(last_step(pipeline), LVQClassifier | LVQClassifierCV):
        return {}
    return {f"{pipeline.steps[-1][0]}__groups": blocks}
