"""Predictions of a model at points of a plane: classes, certainty, and whether the prediction is accepted."""

from __future__ import annotations

import copy
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.find_model import FoundModel, find_layer, need_model
from lvq.inspection.columns import to_original_units
from lvq.inspection.steps import Floats
from lvq.plots.planes import Plane
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.costs import CostClassifier
from lvq.rejection.scores import as_combination, certainty
from lvq.typing import Argument

BLOCK_ROWS = 4096  # points predicted at a time, so that a fine grid in many features needs little memory


class PointPredictions(NamedTuple):
    """Predictions for points in the features that reach the model."""

    classes: NDArray[np.intp]  # indices into classes_
    certainty: Floats  # by the measure of the RejectClassifier where there is one
    accepted: NDArray[np.bool_] | None  # None without a RejectClassifier
    margin: Floats  # difference from the next class; 0 on a border between classes


class Regions(NamedTuple):
    """The same on a grid in the plane, each of shape (resolution, resolution)."""

    xx: Floats
    yy: Floats
    classes: NDArray[np.intp]
    certainty: Floats
    accepted: NDArray[np.bool_] | None = None
    margin: Floats | None = None


def regions(estimator: BaseEstimator, plane: Plane, resolution: int = 200, X: ArrayLike | None = None) -> Regions:
    """The model's predictions on a grid over the plane; see `lvq.plots.planes` for the meaning of a region.

    Parameters
    ----------
    estimator : estimator
        As in `plane`.
    plane : Plane
        Its plane.
    resolution : int, default=200
        Points of the grid in each direction.
    X : array-like of shape (n_samples, n_features), optional
        Samples that the grid covers; by default those of the plane. The prototypes are always covered.

    Returns
    -------
    regions : Regions
        Coordinates, class indices, certainties, acceptance and margins; rows belong to yy, columns to xx.
    """
    if resolution < 2:
        raise ValueError(f"resolution of regions must be 2 or more, got {resolution!r}.")
    shown = np.vstack((plane.points if X is None else plane.project(X), plane.prototypes))
    low, high = shown.min(axis=0), shown.max(axis=0)
    border = np.where(high > low, 0.06 * (high - low), 0.5)
    xx, yy = np.meshgrid(*(np.linspace(a, b, resolution) for a, b in zip(low - border, high + border)))
    predictions = predict_points(estimator, plane.inverse(np.column_stack((xx.ravel(), yy.ravel()))))
    shaped: list[Argument] = [None if column is None else column.reshape(xx.shape) for column in predictions]
    return Regions(xx, yy, *shaped)


def predict_points(estimator: BaseEstimator, Z: Floats) -> PointPredictions:
    """Predictions for samples that are given in the features that reach the model."""
    found, reject = need_model(estimator, "regions"), find_layer(estimator, RejectClassifier)
    if reject is not None:
        check_is_fitted(reject)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        starts = range(0, max(len(Z), 1), BLOCK_ROWS)
        collected = [_predict_block(estimator, found, reject, Z[start : start + BLOCK_ROWS]) for start in starts]
    joined: list[Argument] = [None if column[0] is None else np.concatenate(column) for column in zip(*collected)]
    return PointPredictions(*joined)


def _predict_block(
    estimator: BaseEstimator, found: FoundModel, reject: RejectClassifier | None, rows: Floats
) -> PointPredictions:
    distances = found.model.distances(rows)
    classes, margin = found.model.decide(distances), found.model.nearest(distances)[1]
    predicting = _without_steps(estimator, found)
    if predicting is not found.estimator:  # by prices
        classes, margin = np.searchsorted(found.model.classes, predicting.predict(rows)), certainty(predicting, rows)
    if reject is None:
        return PointPredictions(classes, certainty(predicting, rows), None, margin)
    measures = as_combination(reject.measure)
    if any(part == "radius" or callable(part) for part in (measures.ambiguity, measures.outlier)):
        # computed from samples before the scalers; features that a selector removes may have any value
        steps = need_model(reject.estimator_, "regions")
        rows = np.nan_to_num(to_original_units(steps, rows, "regions").values)
    else:
        reject = copy.copy(reject)  # the same thresholds, for samples that have passed the scalers
        reject.estimator_ = _without_steps(reject.estimator_, found)
    return PointPredictions(classes, reject.certainty(rows), reject.accept(rows), margin)


def _without_steps(estimator: BaseEstimator, found: FoundModel) -> BaseEstimator:
    """What predicts for samples that have passed the steps: the model, or by its probabilities a CostClassifier."""
    priced = find_layer(estimator, CostClassifier)
    if priced is None:
        return found.estimator
    priced = copy.copy(priced)
    priced.estimator_ = found.estimator
    return priced
