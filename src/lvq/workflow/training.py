"""Fit a reject classifier to the training rows of a design, and the folds of its cross-validation."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from lvq import LVQClassifier, LVQClassifierCV
from lvq.estimators.found import find_layer, last_step
from lvq.rejection import RejectClassifier
from lvq.workflow.design import Design, Fold, calibration_rows, inner_folds


def fit_rejecting(
    classifier: RejectClassifier, X: pd.DataFrame, y: np.ndarray, design: Design, seed: int
) -> RejectClassifier:
    """Fit a reject classifier whose thresholds respect the design.

    Groups: folds of whole groups; for a guarantee whole groups are held out, and one row of each is used, as rows of a
    group are not independent. Time: thresholds are set on rows later than those the model was trained on.
    """
    if design.is_plain:
        return classifier.fit(X, y)
    pipeline = classifier.estimator
    if isinstance(classifier.cv, int) and classifier.max_error is None:
        folds = inner_folds(y, design, classifier.cv, seed)
        classifier.set_params(cv=folds).fit(X, y, **group_arguments(pipeline, design))
        return classifier.set_params(cv=len(folds))  # the number alone is stored, not the rows
    train, held_out = calibration_rows(
        design, classifier.calibration_size, seed, independent=classifier.max_error is not None
    )
    fitted = clone(pipeline).fit(X.iloc[train], y[train], **group_arguments(pipeline, design.take(train)))
    return classifier.set_params(estimator=fitted, cv="prefit").fit(X.iloc[held_out], y[held_out])


def group_arguments(estimator: BaseEstimator, design: Design) -> dict[str, np.ndarray]:
    """Arguments of a pipeline's `fit` with which the calibration of its probabilities splits no group."""
    blocks, pipeline = design.blocks, find_layer(estimator, Pipeline)
    if blocks is None or pipeline is None or not isinstance(last_step(pipeline), LVQClassifier | LVQClassifierCV):
        return {}
    return {f"{pipeline.steps[-1][0]}__groups": blocks}


def evaluation_folds(y: np.ndarray, design: Design, n_folds: int, seed: int) -> list[Fold]:
    """Folds of the cross-validation: stratified, or by the design."""
    from lvq.report.cross_validation import stratified_splits

    return stratified_splits(y, n_folds, seed) if design.is_plain else inner_folds(y, design, n_folds, seed)
