"""From samples to thresholds: split, score, path, point.

Rules:
- thresholds are fitted on samples the predicting model was not trained on: given (prefit), held out, or cross-fitted;
- for a guarantee, measure and path are fixed before the testing samples are used, and these are drawn at random
  (not by class), because the exact test needs independent samples. With groups, whole groups are drawn, and one row
  of each is tested;
- calibration counts samples: weights go to the estimator's `fit`, and a sample of weight 0 is not used at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedGroupKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from lvq.rejection.coverage import coverage_point
from lvq.rejection.guarantee import Guarantee, certify
from lvq.rejection.path import BoolArray, IntArray, OperatingPoint, ThresholdPath, check_certainty
from lvq.rejection.scores import Measure, NoneOfThese, Predictions, cells_of, certainty_of, mean_measure
from lvq.rejection.thresholds import in_steps, local_thresholds, step_of
from lvq.typing import Argument, CrossValidation, Floats, Fold, Labels, MatrixLike

MIN_CELL_SIZE = 10  # cells with fewer calibration samples share a threshold
STEADY_CELL_SIZE = 100  # thresholds of smaller cells vary a lot from one calibration to the next
LOW = 0.05  # fraction of the training samples below which ranks are not used
PATH_FRACTION = 0.25  # of the calibration samples, for the path of a guarantee; the tests need the larger part

#: Training and test rows, and the fitted model or its predictions for all samples.
FittedFold: TypeAlias = "tuple[IntArray, IntArray, BaseEstimator | Predictions]"
Folds: TypeAlias = "CrossValidation | Iterable[FittedFold]"


class Data(NamedTuple):
    """Samples, classes, groups, which samples have weight, and arguments of the estimator's `fit`."""

    X: MatrixLike
    y: Labels
    groups: Labels | None
    weighted: BoolArray
    for_fit: dict[str, Argument]

    @property
    def units(self) -> Labels:
        """What is independent: the group of each sample, or the sample itself."""
        return np.arange(len(self.y)) if self.groups is None else self.groups

    def take(self, rows: IntArray) -> Data:
        """Some of the samples; arguments with an entry for each sample are taken too."""
        groups = None if self.groups is None else self.groups[rows]
        for_fit = _check_method_params(self.X, self.for_fit, rows)
        return Data(_safe_indexing(self.X, rows), self.y[rows], groups, self.weighted[rows], for_fit)

    def trained(self, estimator: BaseEstimator) -> BaseEstimator:
        """A copy of the estimator, fitted to these samples."""
        return clone(estimator).fit(self.X, self.y, **self.for_fit)


# -- which samples -----------------------------------------------------------------------------------------------------


def held_out_rows(data: Data, fraction: float, rng: np.random.RandomState, *, for_tests: bool) -> IntArray:
    """Rows to hold out: whole groups, or by class, or at random where a guarantee is tested; never of weight 0."""
    usable = np.flatnonzero(data.weighted)
    if data.groups is not None or for_tests:
        return usable[drawn(data.units[usable], fraction, rng)]
    # by class, so the estimator is trained on all classes
    classes = [rng.permutation(usable[data.y[usable] == label]) for label in np.unique(data.y[usable])]
    rows = np.concatenate([part[: min(round(fraction * len(part)), len(part) - 1)] for part in classes])
    return np.sort(rows)


def drawn(units: Labels, fraction: float, rng: np.random.RandomState) -> BoolArray:
    """Which samples are in a fraction of the units, at least one of them."""
    names = np.unique(units)
    return np.isin(units, rng.permutation(names)[: max(1, round(fraction * len(names)))])


def path_and_test_rows(units: Labels, rng: np.random.RandomState) -> tuple[IntArray, IntArray]:
    """Rows for the path of a guarantee, and rows for its tests: one of each unit."""
    for_path = drawn(units, PATH_FRACTION, rng)
    others = rng.permutation(np.flatnonzero(~for_path))
    return np.flatnonzero(for_path), others[np.unique(units[others], return_index=True)[1]]


# -- their predictions -------------------------------------------------------------------------------------------------


class Scored(NamedTuple):
    """Samples as predicted: certainty, whether correct, cell, predicted class."""

    certainty: Floats
    correct: BoolArray
    cell: Labels
    predicted: Labels

    def take(self, rows: IntArray | BoolArray) -> Scored:
        """Some of them."""
        return Scored(self.certainty[rows], self.correct[rows], self.cell[rows], self.predicted[rows])


def score(predictions: Predictions, measure: Measure, y: Labels) -> Scored:
    """What a fitted estimator predicts for samples of the classes y, and how certain the predictions are."""
    certainty = check_certainty(certainty_of(predictions, measure))
    return Scored(certainty, np.asarray(predictions.predicted == y), cells_of(predictions), predictions.predicted)


def calibrated(measure: Measure, known: Predictions, y: Labels, outliers: MatrixLike | None) -> Measure:
    """The measure, fitted to calibration samples of the classes y and outliers if it depends on them."""
    if measure != "combined":
        return measure
    return NoneOfThese.calibrated(known, y, None if outliers is None else Predictions(known.estimator, outliers))


def cross_fitted(
    estimator: BaseEstimator,
    given: BaseEstimator,
    cv: Folds,
    measure: Measure,
    data: Data,
    outliers: MatrixLike | None = None,
) -> tuple[Scored, Measure]:
    """Every sample with weight as predicted by a model that was not trained on it; `given` is fitted in each fold.

    `on_scale` converts certainties to the scale of the predicting `estimator`; a cell is its nearest prototype of the
    predicted class. The second result is the measure of the predicting estimator.
    """
    predictions, parts, numbers = Predictions(estimator, data.X), list[Scored](), np.arange(len(data.y))
    folds, measures = list[tuple[IntArray, IntArray, Predictions]](), list[Measure]()
    for train, test, *fitted in _folds(cv, data):
        train, test = numbers[train], numbers[test][data.weighted[test]]
        made = fitted[0] if fitted else data.take(train).trained(given)
        made_for_all = made if isinstance(made, Predictions) else Predictions(made, data.X)
        folds.append((train, test, made_for_all))
        measures.append(calibrated(measure, made_for_all.take(test), data.y[test], outliers))
    own = mean_measure(measures)
    final = score(predictions, own, data.y)
    for (train, test, of_all), of_fold in zip(folds, measures):
        everyone = score(of_all, of_fold, data.y)
        found, training = everyone.take(test), everyone.take(train)
        found = found._replace(certainty=on_scale(found.certainty, training.certainty, final.certainty))
        if predictions.found is not None:
            found = found._replace(cell=predictions.nearest_of(found.predicted, test).winner)
        parts.append(found)
    return Scored(*(np.concatenate(columns) for columns in zip(*parts))), own


def on_scale(certainty: Floats, training: Floats, final: Floats) -> Floats:
    """Certainties of a fold's model on the scale of the predicting model, by ranks among their training samples.

    A certainty above 30 % of the training samples in the fold becomes one above 30 % of the training samples of the
    predicting model. So left-out samples remain less certain than training samples. Below nearly all training samples
    there is no rank to use, and certainties keep their value.

    Examples
    --------
    >>> on_scale(np.array([0.5, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 4.0]), np.array([10.0, 20.0, 30.0, 40.0])).round(4)
    array([ 0.5, 20. , 30. ])
    """
    step = step_of(training)
    own, known, target = in_steps(certainty, step), np.sort(in_steps(training, step)), np.sort(final)
    below, up_to = (np.searchsorted(known, own, side=side) for side in ("left", "right"))
    place = (below + up_to) * len(target) // (2 * len(known))
    reached = target[np.minimum(place, len(target) - 1)]
    lowest, limit = (values[int(LOW * len(values))] for values in (known, target))
    return np.where(own < lowest, np.minimum(own, limit), reached)


def _folds(cv: Folds, data: Data) -> Iterable[Fold] | Iterable[FittedFold]:
    """Training and test rows of the folds, and their models where these are given."""
    given = list(cv) if isinstance(cv, Iterable) and not hasattr(cv, "split") else []
    if given and len(given[0]) == 3:
        return given
    if isinstance(cv, int) and data.groups is not None:
        cv = StratifiedGroupKFold(cv)
    return check_cv(given or cv, data.y, classifier=True).split(data.X, data.y, data.groups)


# -- the thresholds ----------------------------------------------------------------------------------------------------


def fit_thresholds(
    method: str,
    target: tuple[str, float],
    guarantees: Sequence[Guarantee],
    fitting: Scored,
    testing: Scored,
) -> tuple[ThresholdPath, OperatingPoint, tuple[str, ...]]:
    """The path, the operating point and notes; `testing` is used where there are guarantees, else `target`."""
    step = step_of(fitting.certainty)
    samples = in_steps(fitting.certainty, step), fitting.correct, fitting.cell
    path = local_thresholds(*samples, method=method, min_cell_size=MIN_CELL_SIZE).extend(*samples)
    path = replace(path, thresholds=path.thresholds - step / 2)  # which changes no count, see `in_steps`
    name, value = target
    point: OperatingPoint
    notes: tuple[str, ...] = ()
    if guarantees:
        point, notes = certify(path, testing.certainty, testing.correct, testing.cell, guarantees)
    elif name == "min_coverage":
        point, notes = coverage_point(path, samples, value, step=step)
    else:
        point = path.with_accuracy(value) if name == "min_accuracy" else path.cheapest(value)
    small = () if method == "global" else _small_cells(fitting.cell)
    return path, point, small + notes


def _small_cells(cell: Labels) -> tuple[str, ...]:
    sizes = np.unique(cell, return_counts=True)[1]
    small = int(np.count_nonzero(sizes < STEADY_CELL_SIZE))
    if not small:
        return ()
    return (
        f"{small} of {len(sizes)} cells have fewer than {STEADY_CELL_SIZE} calibration samples, the smallest "
        f"{sizes.min()}: their thresholds vary a lot from one calibration to the next, and cells with fewer than "
        f"{MIN_CELL_SIZE} share one. A single threshold, thresholds='global', is more stable.",
    )
