"""Samples as predicted by models that were not trained on them, on the scale of the predicting model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.over_partitions import chosen_rows, results_of_partitions
from lvq.estimators.partition_checks import is_dask
from lvq.rejection.calibration_data import Control, Data, ScoredSamples, Settings, rows_of
from lvq.rejection.known_values import known_fraction, lowered, missing_counts
from lvq.rejection.measures import cell_kind, cells_of, certainty_of
from lvq.rejection.predictions import Predictions
from lvq.rejection.ties import in_steps, second_certainty
from lvq.rejection.transfer import transferred
from lvq.rejection.validation import IntArray, check_finite
from lvq.typing import FittedFold, Fold, Labels, MatrixLike


def score(settings: Settings, estimator: BaseEstimator, data: Data) -> ScoredSamples:
    """What a fitted estimator predicts for samples, and how certain the predictions are."""
    if is_dask(data.X):
        return ScoredSamples.joined(results_of_partitions(data.X, _score, (settings, estimator), data.y))
    return _score(settings, estimator, data.X, data.y)


def _score(settings: Settings, estimator: BaseEstimator, X: MatrixLike, y: Labels) -> ScoredSamples:
    predictions = Predictions(estimator, X)
    certainty = certainty_of(predictions, settings.measure.ambiguity)
    enough = np.ones(len(certainty), dtype=np.bool_)
    if settings.min_known is not None:
        known = known_fraction(*missing_counts(estimator, X), settings.usual_missing)
        certainty, enough = lowered(certainty, known), known >= settings.min_known
    outlier, predicted = settings.measure.outlier, predictions.predicted
    typicality = certainty if outlier is None else certainty_of(predictions, outlier)
    second = second_certainty(predictions) if settings.breaks_ties else np.zeros(len(certainty))
    cell = cells_of(predictions, settings.cells)
    return ScoredSamples(certainty, second, typicality, np.asarray(predicted == y), cell, predicted, enough)


def cross_fitted(
    settings: Settings, estimator: BaseEstimator, data: Data, rng: np.random.RandomState
) -> tuple[ScoredSamples, Control]:
    """Every sample as predicted by a model that was not trained on it, on the scale of the predicting model.

    The prototypes of the folds' models are not those of the predicting model, so the cell of a sample is taken from the
    latter: its nearest prototype of the class that was predicted.
    """
    if settings.guarantee is not None and not (isinstance(settings.cv, int) or hasattr(settings.cv, "split")):
        raise ValueError(
            "cv of RejectClassifier must be a number of folds or a splitter where max_error is given, because samples "
            "are set aside for testing; got a list of splits."
        )
    everyone = np.flatnonzero(data.weighted)
    final = score(settings, estimator, data.take(everyone))
    predictions = Predictions(estimator, rows_of(data.X, everyone))
    place = np.cumsum(data.weighted) - 1  # of a sample among those with weight
    parts, trained = list[ScoredSamples](), list[ScoredSamples]()
    numbers = np.arange(len(data.y))
    for train, test, *fitted in _folds(settings, data):
        rows, test = np.sort(numbers[train]), np.sort(numbers[test])
        fold, test = data.take(rows), test[data.weighted[test]]
        if not len(test):
            continue
        model = fitted[0] if fitted else fold.trained(settings.estimator)
        training = score(settings, model, fold.take(np.flatnonzero(fold.weighted)))
        for found, own, into in (
            (score(settings, model, data.take(test)), test, parts),
            (training, rows[data.weighted[rows]], trained),
        ):
            cell = _final_cells(settings, found, predictions, final, place[own])
            into.append(_on_scale(found, training, final, rng)._replace(cell=cell))
    return ScoredSamples.joined(parts), _control(final, parts, trained)


def _folds(settings: Settings, data: Data) -> Iterable[Fold] | Iterable[FittedFold]:
    """Training and test rows of the folds, and their models where these are given."""
    cv = settings.cv
    given = list(cv) if isinstance(cv, Iterable) and not hasattr(cv, "split") else []
    if given and len(given[0]) == 3:
        if not all(_is_fitted(model) for _, _, model in given):
            raise ValueError(
                "cv of RejectClassifier must hold fitted models where its folds are (train, test, model), got one that "
                "is not fitted; fit it, and wrap it in sklearn.frozen.FrozenEstimator if the classifier is cloned."
            )
        return given
    splittable = np.arange(len(data.y)) if is_dask(data.X) else data.X
    return check_cv(given or cv, data.y, classifier=True).split(splittable, data.y, **data.for_split)


def _is_fitted(model: BaseEstimator) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _final_cells(
    settings: Settings, found: ScoredSamples, predictions: Predictions, final: ScoredSamples, rows: IntArray
) -> Labels:
    """Cells of samples that another model predicted; `predictions` and `final` are those of the predicting model."""
    kind = cell_kind(predictions, settings.cells)
    if kind == "class":
        return found.cell
    if kind != "prototype":
        return final.cell[rows]
    if is_dask(predictions.X):
        X = chosen_rows(predictions.X, rows)
        return np.concatenate(results_of_partitions(X, _winners, (predictions.estimator,), found.predicted))
    return predictions.winner_for(found.predicted, rows)


def _winners(estimator: BaseEstimator, X: MatrixLike, classes: Labels) -> IntArray:
    return Predictions(estimator, X).winner_for(classes, np.arange(len(classes)))


def _control(final: ScoredSamples, parts: Sequence[ScoredSamples], trained: Sequence[ScoredSamples]) -> Control:
    """Training samples of the predicting model, and with negative weight those of the folds on its scale.

    A count among new samples is that among the training samples of the predicting model, and what training samples are
    more certain than others: the difference between the samples left out of a fold (`parts`) and those in it
    (`trained`). It is proportional to one over the number of training samples, so it is smaller for the predicting
    model, and each fold has its own factor: folds may differ in size. Counting the samples left out alone would do only
    where data are continuous: where rows are few and distinct, cell and certainty of a fold's model do not go together
    as in the predicting model.
    """
    n_final = len(final.correct)
    left_out, inside = ([len(fold.correct) for fold in folds] for folds in (parts, trained))
    of_all = np.array(inside) / n_final  # training samples of each fold
    own_weight, below = np.repeat(of_all, left_out), np.repeat(left_out, inside) / n_final
    weight = np.append(np.full(n_final, sum(left_out) / n_final), -below)
    return Control(ScoredSamples.joined((final, *trained)), weight, own_weight)


def _on_scale(
    found: ScoredSamples, training: ScoredSamples, final: ScoredSamples, rng: np.random.RandomState
) -> ScoredSamples:
    """What a fold's model found for some samples, with the certainties of the predicting model."""
    for samples in (found, training, final):
        check_finite("certainty", samples.certainty)
        check_finite("the outlier measure of RejectClassifier", samples.typicality)
    own, known, target = (np.column_stack((in_steps(part.certainty), part.second)) for part in (found, training, final))
    certainty, second = transferred(own, known, target, rng).T
    own, known, target = (np.column_stack((part.typicality, 0 * part.typicality)) for part in (found, training, final))
    return found._replace(certainty=certainty, second=second, typicality=transferred(own, known, target, rng)[:, 0])
