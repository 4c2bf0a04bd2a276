"""From the parameters of a RejectClassifier and the samples given to `fit` to thresholds.

Rules:
- thresholds are fitted on samples the predicting model was not trained on: given (prefit), held out, or cross-fitted;
- cross-fitted certainties come from other models, so they are carried over to the scale of the predicting model;
- for a guarantee, path, outlier limits and order of tests are fixed before the testing samples are used, and these are
  drawn at random (not by class), because the exact test needs independent samples;
- calibration counts samples: weights go to the estimator's `fit`, and a sample of weight 0 is not used at all;
- samples of a dask collection stay in their partitions: labels, and what `ScoredSamples` holds, come to the client.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.over_partitions import results_of_partitions
from lvq.estimators.partition_checks import is_dask
from lvq.rejection.calibration_data import Data, Settings
from lvq.rejection.cross_fitting import cross_fitted, score
from lvq.rejection.fitted_thresholds import Thresholds, fit_thresholds
from lvq.rejection.guarantee_error import too_few
from lvq.rejection.known_values import missing_counts
from lvq.rejection.measures import SampleFunction, cell_kind
from lvq.rejection.predictions import Predictions
from lvq.typing import Labels

PATH_FRACTION = 0.25  # of the calibration samples, for the path of a guarantee; the tests need the larger part


class Calibration(NamedTuple):
    """The predicting estimator, its kind of cells, its thresholds, and how many values training samples miss."""

    estimator: BaseEstimator
    cells: str | SampleFunction
    thresholds: Thresholds
    usual_missing: float


def calibrate(settings: Settings, data: Data, rng: np.random.RandomState) -> Calibration:
    """Fit the estimator, unless it is fitted already, and its thresholds."""
    training, held_out = split(settings, data, rng)
    if settings.is_prefit:
        _check_prefit(settings.estimator, data.y)
        # a copy: the user may fit the given estimator again, and the thresholds hold for this one only
        estimator = deepcopy(settings.estimator)
    else:
        estimator = training.trained(settings.estimator)
    for_path = np.arange(len(held_out.y))
    for_tests = for_path[:0]
    if settings.guarantee is not None and not settings.is_cross_fitted:
        order, n_path = rng.permutation(len(held_out.y)), _path_size(len(held_out.y))
        for_path, for_tests = order[:n_path], order[n_path:]
    # never from the samples that a guarantee is tested on
    for_mean = held_out.take(np.sort(for_path)) if settings.is_prefit else training
    settings = _with_usual_missing(settings, estimator, for_mean)
    scored, control = score(settings, estimator, held_out) if len(held_out.y) else None, None
    if settings.is_cross_fitted:
        fitting, control = cross_fitted(settings, estimator, training, rng)
        testing = scored
    else:
        assert scored is not None
        fitting, testing = scored.take(for_path), scored.take(for_tests) if len(for_tests) else None
    cells = cell_kind(Predictions(estimator, held_out.X), settings.cells)
    thresholds = fit_thresholds(settings, fitting, testing, len(data.y), control)
    return Calibration(estimator, cells, thresholds, settings.usual_missing)


def _with_usual_missing(settings: Settings, estimator: BaseEstimator, data: Data) -> Settings:
    """The settings with the mean number of missing values of the samples with weight."""
    if settings.min_known is None:
        return settings
    if is_dask(data.X):
        n_missing = np.concatenate([part for part, _ in results_of_partitions(data.X, missing_counts, (estimator,))])
    else:
        n_missing = missing_counts(estimator, data.X)[0]
    return replace(settings, usual_missing=float(n_missing[data.weighted].mean()))


def split(settings: Settings, data: Data, rng: np.random.RandomState) -> tuple[Data, Data]:
    """Samples to train on, and samples to hold out; a sample of weight 0 is never held out."""
    usable, n_samples, size = np.flatnonzero(data.weighted), len(data.y), settings.calibration_size
    if settings.is_prefit:
        held_out = usable
    elif settings.guarantee is not None:
        held_out = rng.permutation(usable)[: round(size * len(usable))]
    elif settings.is_cross_fitted:
        held_out = usable[:0]
    else:  # by class, so that the estimator is trained on all classes
        parts = [rng.permutation(usable[data.y[usable] == label]) for label in np.unique(data.y[usable])]
        held_out = np.concatenate([part[: min(round(size * len(part)), len(part) - 1)] for part in parts])
    if not len(held_out) and (settings.guarantee is not None or not settings.is_cross_fitted):
        raise ValueError(
            f"RejectClassifier found no sample to calibrate on among n_samples = {n_samples}, with calibration_size="
            f"{size}; give more samples, raise calibration_size, or use cv."
        )
    if settings.guarantee is not None and settings.on_failure == "raise":  # before anything is trained
        n_testing = len(held_out) - (0 if settings.is_cross_fitted else _path_size(len(held_out)))
        guarantee = settings.guarantee._replace(fraction_tested=max(n_testing, 1) / n_samples)
        error = too_few(n_testing, n_testing, guarantee.level, guarantee)
        if error is not None:
            raise error
    return data.take(np.setdiff1d(np.arange(n_samples), held_out)), data.take(np.sort(held_out))


def _path_size(n_samples: int) -> int:
    """How many of the calibration samples the path of a guarantee is fitted on."""
    return max(1, round(PATH_FRACTION * n_samples))


def _check_prefit(estimator: BaseEstimator, y: Labels) -> None:
    check_is_fitted(estimator)
    known = np.asarray(getattr(estimator, "classes_", y)).tolist()
    if set(y.tolist()).isdisjoint(known):
        raise ValueError(
            f"y must contain classes of the fitted estimator, {known[:5]}, got {np.unique(y)[:5].tolist()}; give the "
            "labels it was fitted with."
        )
