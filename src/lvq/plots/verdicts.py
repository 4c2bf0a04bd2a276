"""What a model answers on a plane: classes, certainty, and whether the answer would be used."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lvq.plots.models import found_in, reject_classifier
from lvq.plots.planes import Plane
from lvq.plots.units import back_in_units
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.measures import Predictions, certainty_of
from lvq.robustness import Floats

ROWS = 4096  # samples judged at a time, so that a fine grid in many features stays small


class Verdicts(NamedTuple):
    """What a model says of some samples."""

    classes: NDArray[np.intp]  # indices into classes_
    certainty: Floats  # a RejectClassifier's by its own measure
    accepted: NDArray[np.bool_] | None  # None where no answer is ever declined
    lead: Floats  # how far the answer is ahead of the next class, from 0 to 1; 0 on a border


class Regions(NamedTuple):
    """The same on a grid in the plane, each of shape (resolution, resolution)."""

    xx: Floats
    yy: Floats
    classes: NDArray[np.intp]
    certainty: Floats
    accepted: NDArray[np.bool_] | None = None
    lead: Floats | None = None


def regions(model: Any, plane: Plane, resolution: int = 200, X: Any = None) -> Regions:
    """The model's own answers on a grid over the plane; see `planes.py` for what a region means.

    Parameters
    ----------
    model : estimator
        As in `plane`.
    plane : Plane
        Its plane.
    resolution : int, default=200
        Points of the grid in each direction.
    X : array-like of shape (n_samples, n_features), optional
        Samples that the grid is to cover; by default those of the plane. The prototypes are covered always.

    Returns
    -------
    regions : Regions
        Coordinates, class indices, certainties, acceptance and lead; rows go with yy, columns with xx.
    """
    if resolution < 2:
        raise ValueError(f"resolution of regions must be 2 or more, got {resolution!r}.")
    shown = np.vstack((plane.points if X is None else plane.project(X), plane.prototypes))
    low, high = shown.min(axis=0), shown.max(axis=0)
    margin = np.where(high > low, 0.06 * (high - low), 0.5)
    xx, yy = np.meshgrid(*(np.linspace(a, b, resolution) for a, b in zip(low - margin, high + margin)))
    judged = verdicts(model, plane.back(np.column_stack((xx.ravel(), yy.ravel()))))
    shaped: list[Any] = [None if column is None else column.reshape(xx.shape) for column in judged]
    return Regions(xx, yy, *shaped)


def verdicts(model: Any, Z: Floats) -> Verdicts:
    """Answers, how sure they are and whether they are used, for samples in the model's own features."""
    found, wary = found_in(model, "verdicts"), reject_classifier(model)
    if wary is not None:
        check_is_fitted(wary)
    steps = found_in(wary.estimator_) if wary is not None and _looks_at_units(wary) else None
    collected: list[Verdicts] = []
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        for start in range(0, max(len(Z), 1), ROWS):
            rows = Z[start : start + ROWS]
            if steps is None or wary is None:
                answers = Predictions(found.model, rows)
            else:  # a feature that a selector leaves out may have any value
                answers = Predictions(wary.estimator_, np.nan_to_num(back_in_units(steps, rows, "verdicts").values))
            collected.append(_verdicts_of(answers, wary))
    joined: list[Any] = [None if column[0] is None else np.concatenate(column) for column in zip(*collected)]
    return Verdicts(*joined)


def _verdicts_of(answers: Predictions, wary: RejectClassifier | None) -> Verdicts:
    model = answers.model
    classes = np.searchsorted(model.classes, answers.predicted)
    lead = model.nearest(answers.distances)[1]
    if wary is None:
        return Verdicts(classes, certainty_of(answers, "auto"), None, lead)
    certainty = certainty_of(answers, wary.measure_.ambiguity)
    return Verdicts(classes, certainty, wary.reason_for(answers) == "", lead)


def _looks_at_units(wary: RejectClassifier) -> bool:
    """Whether a measure or the cells need samples as they were before the scalers."""
    chosen = wary.measure_
    return any(part == "radius" or callable(part) for part in (chosen.ambiguity, chosen.outlier, wary.cells_))
