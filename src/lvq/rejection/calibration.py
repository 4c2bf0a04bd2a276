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

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.over_partitions import chosen_rows, results_of_partitions
from lvq.estimators.partition_checks import is_dask
from lvq.rejection.corrections import Guarantee
from lvq.rejection.coverage import Calibrated, coverage_point
from lvq.rejection.guarantee import ClassifiedSamples, guaranteed_point, guaranteed_points
from lvq.rejection.guarantee_error import too_few, weaker_guarantee
from lvq.rejection.known_values import known_fraction, lowered, missing_counts
from lvq.rejection.measures import Combination, Predictions, SampleFunction, cell_kind, cells_of, certainty_of
from lvq.rejection.path import Paths, Points
from lvq.rejection.point import CellThresholds, CertifiedPoint, OperatingPoint
from lvq.rejection.thresholds import local_thresholds
from lvq.rejection.ties import Ties, in_steps, lower_edge, second_certainty
from lvq.rejection.transfer import transferred
from lvq.rejection.validation import BoolArray, FloatArray, IntArray, check_finite, label_codes
from lvq.typing import Argument, CrossValidation, FittedFold, Fold, Labels, MatrixLike

PATH_FRACTION = 0.25  # of the calibration samples, for the path of a guarantee; the tests need the larger part


@dataclass(frozen=True)
class Settings:
    """The parameters of a RejectClassifier as `fit` uses them; see there.

    `target` names the target of the operating point and its value; with a guarantee it is not used.
    """

    estimator: BaseEstimator
    measure: Combination
    thresholds: str = "optimal"
    cells: str | SampleFunction = "auto"
    min_cell_size: int = 10
    target: tuple[str, float] = ("min_coverage", 0.9)
    guarantee: Guarantee | None = None
    per_class: bool = False
    on_failure: str = "raise"
    cv: CrossValidation | Iterable[FittedFold] | Literal["prefit"] = None
    calibration_size: float = 0.3
    min_known: float | None = None
    usual_missing: float = 0.0  # missing values of a training sample, on the mean

    @property
    def is_prefit(self) -> bool:
        """Whether the estimator is fitted already."""
        return isinstance(self.estimator, FrozenEstimator) or (isinstance(self.cv, str) and self.cv == "prefit")

    @property
    def is_cross_fitted(self) -> bool:
        """Whether the thresholds are fitted on the samples of cross-validation."""
        return self.cv is not None and not self.is_prefit

    @property
    def breaks_ties(self) -> bool:
        """Whether a coverage is requested, for which samples of equal certainty may have to be separated."""
        return self.guarantee is None and self.target[0] == "min_coverage"


class Data(NamedTuple):
    """Samples and classes, which samples have weight, and the metadata for `fit` and `split`."""

    X: MatrixLike
    y: Labels
    weighted: BoolArray
    for_fit: dict[str, Argument]
    for_split: dict[str, Argument]

    def take(self, rows: IntArray) -> Data:
        """Some of the samples, with their metadata."""
        for_fit, for_split = (
            {name: _rows(value, rows) if _has_entries(value, len(self.y)) else value for name, value in given.items()}
            for given in (self.for_fit, self.for_split)
        )
        return Data(_rows(self.X, rows), self.y[rows], self.weighted[rows], for_fit, for_split)

    def trained(self, estimator: BaseEstimator) -> BaseEstimator:
        """A copy of the estimator, fitted to these samples."""
        return clone(estimator).fit(self.X, self.y, **self.for_fit)


def _rows(X: MatrixLike, rows: IntArray) -> MatrixLike:
    """Some rows of an array, a sparse matrix, a frame, a list or, in ascending order, a dask collection."""
    if is_dask(X):
        return chosen_rows(X, rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "column_names"):  # pyarrow
        return X.take(rows)
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]


def _has_entries(value: object, n_samples: int) -> bool:
    length = value.shape[:1] == (n_samples,) if hasattr(value, "shape") else None
    return isinstance(value, list | tuple) and len(value) == n_samples if length is None else length


class ScoredSamples(NamedTuple):
    """Samples as predicted: certainty, second certainty, outlier measure, whether correct, cell, predicted class.

    `enough` is False for samples that are rejected whatever their certainty, as too little of them is known.
    """

    certainty: FloatArray
    second: FloatArray
    typicality: FloatArray
    correct: BoolArray
    cell: Labels
    predicted: Labels
    enough: BoolArray

    def take(self, rows: IntArray | BoolArray) -> ScoredSamples:
        """Some of them."""
        return ScoredSamples(*(column[rows] for column in self))

    @classmethod
    def joined(cls, parts: Sequence[ScoredSamples]) -> ScoredSamples:
        """All samples of several parts."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts)))

    @property
    def classified(self) -> ClassifiedSamples:
        """What thresholds are fitted to."""
        return self.certainty, self.correct, self.cell


class Control(NamedTuple):
    """Samples that correct counts of cross-fitted samples, with weights of both; see `_control`."""

    samples: ScoredSamples
    weight: FloatArray
    own_weight: float


class Thresholds(NamedTuple):
    """The path, the operating point, limits for outliers, samples at the threshold, and notes.

    With `per_class` path and point are dictionaries by class.
    """

    path: Paths
    point: Points
    outlier_limits: CellThresholds | None
    ties: Ties | None = None
    notes: tuple[str, ...] = ()


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


# -- samples -----------------------------------------------------------------------------------------------------------


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
    predictions = Predictions(estimator, _rows(data.X, everyone))
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
    left_out = ScoredSamples.joined(parts)
    return left_out, _control(len(left_out.correct), final, trained)


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


def _control(n_samples: int, final: ScoredSamples, trained: Sequence[ScoredSamples]) -> Control:
    """Training samples of the predicting model, and with negative weight those of the folds on its scale.

    A count among new samples is that among the training samples of the predicting model, and what training samples are
    more certain than others: the difference between the samples left out of the folds and those in them. It is
    proportional to one over the number of training samples, so it is smaller for the predicting model. Counting the
    samples left out alone would do only where data are continuous: where rows are few and distinct, cell and certainty
    of a fold's model do not go together as in the predicting model.
    """
    below = ScoredSamples.joined(trained)
    n_final, in_folds = len(final.correct), len(below.correct)
    smaller = in_folds / len(trained) / n_final  # training samples of a fold, of all
    weight = n_samples * np.repeat([1 / n_final, -smaller / in_folds], [n_final, in_folds])
    return Control(ScoredSamples.joined((final, below)), weight, smaller)


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


# -- thresholds --------------------------------------------------------------------------------------------------------


def fit_thresholds(
    settings: Settings,
    fitting: ScoredSamples,
    testing: ScoredSamples | None,
    n_samples: int,
    control: Control | None = None,
) -> Thresholds:
    """Path, operating point and limits for outliers; `n_samples` were given to `fit`."""
    limits, every = None, fitting
    n_testing = 0 if testing is None else len(testing.correct)
    fitting, testing = fitting.take(fitting.enough), None if testing is None else testing.take(testing.enough)
    if settings.measure.outlier is not None:
        # from the fitting samples alone: a rule that depends on the testing samples would make the tests invalid
        limits = _outlier_limits(fitting, settings.measure.outlier_fraction, settings.min_cell_size)
        fitting = fitting.take(limits.accept(fitting.typicality, fitting.cell))
        if testing is not None:
            testing = testing.take(limits.accept(testing.typicality, testing.cell))
    options: dict[str, Argument] = {"method": settings.thresholds, "min_cell_size": settings.min_cell_size}
    if settings.guarantee is None or testing is None:
        name, value = settings.target
        if name == "min_coverage":
            return _for_coverage(value, every, control, limits, options)
        path = local_thresholds(*fitting.classified, **options)
        return Thresholds(path, path.pick(**{name: value}), limits)  # type: ignore[arg-type]
    options["on_failure"] = settings.on_failure
    guarantee = settings.guarantee._replace(fraction_tested=n_testing / n_samples)
    if not settings.per_class:
        certified = guaranteed_point(fitting.classified, testing.classified, guarantee, **options)
        return Thresholds(*certified, limits, notes=_weaker(settings, {"": certified[1]}, n_samples))
    found = guaranteed_points(
        fitting.classified, testing.classified, fitting.predicted, testing.predicted, guarantee, **options
    )
    points: dict[Hashable, OperatingPoint | None] = {label: point for label, (_, point) in found.items()}
    notes = _weaker(settings, {f"Class {label!r}: ": point for label, point in points.items()}, n_samples)
    return Thresholds({label: path for label, (path, _) in found.items()}, points, limits, notes=notes)


def _weaker(settings: Settings, points: Mapping[str, OperatingPoint | None], n_samples: int) -> tuple[str, ...]:
    """Notes on guarantees that are weaker than requested, or missing."""
    notes = []
    for group, point in points.items():
        if point is None and settings.on_failure == "relax":
            notes.append(f"{group}Nothing could be guaranteed, as there are no samples to test it; all are rejected.")
        elif isinstance(point, CertifiedPoint) and point.requested_error is not None:
            notes.append(weaker_guarantee(point, n_samples, group=group))
    return tuple(notes)


def _for_coverage(
    coverage: float,
    fitting: ScoredSamples,
    control: Control | None,
    limits: CellThresholds | None,
    options: dict[str, Argument],
) -> Thresholds:
    """Thresholds that accept a fraction of new samples; outliers and samples with too little known are rejected."""
    n_samples = len(fitting.correct)
    every, weight = fitting, np.ones(n_samples)
    if control is not None:
        every = ScoredSamples.joined((fitting, control.samples))
        weight = np.append(control.own_weight * weight, control.weight)
    check_finite("certainty", every.certainty)
    typical, n_limits = every.enough, 0
    if limits is not None:  # each limit in use rejects about one new sample more, as every threshold does
        typical, n_limits = typical & limits.accept(every.typicality, every.cell), len(limits.cells) + 1
    outliers = float(weight[~typical].sum()) + n_limits
    own = fitting.take(typical[:n_samples])
    path = local_thresholds(in_steps(own.certainty), own.correct, own.cell, **options)
    path = replace(path, steps=path.steps._replace(threshold=lower_edge(path.steps.threshold)))
    every, weight = every.take(typical), weight[typical]
    samples = Calibrated(in_steps(every.certainty), every.second, every.correct, every.cell, weight)
    found = coverage_point(path, samples, coverage, n_samples=n_samples, expected_outliers=outliers)
    extended = path.extend(in_steps(own.certainty), own.correct, own.cell)
    return Thresholds(extended, found.point, limits, found.ties, found.notes)


def _outlier_limits(samples: ScoredSamples, fraction: float, min_cell_size: int) -> CellThresholds:
    """Quantiles of the outlier measure: one for each cell that is large enough for the fraction, one for all others."""
    check_finite("the outlier measure of RejectClassifier", samples.typicality)
    cells, code = label_codes(samples.cell)
    large = np.flatnonzero(np.bincount(code) >= max(min_cell_size, 1 / fraction if fraction else 1))
    limits = [np.quantile(samples.typicality[code == index], fraction, method="lower") for index in large]
    overall = float(np.quantile(samples.typicality, fraction, method="lower"))
    return CellThresholds(cells[large], np.array(limits, dtype=np.float64), overall)
