"""From samples to thresholds: split, score, path, point.

Rules:
- thresholds are fitted on samples the predicting model was not trained on: given (prefit), held out, or cross-fitted;
- for a guarantee, path and outlier limits are fixed before the testing samples are used, and these are drawn at random
  (not by class), because the exact test needs independent samples. With groups whole groups are drawn, and one row of
  each is tested;
- calibration counts samples: weights go to the estimator's `fit`, and a sample of weight 0 is not used at all;
- rows of a dask collection stay in their partitions: labels, and what `Scored` holds, come to the client.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedGroupKFold, check_cv
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.inputs import is_dask
from lvq.rejection.coverage import coverage_point, outlier_limits
from lvq.rejection.guarantee import CertifiedPoint, Guarantee, GuaranteeError, certify, too_few
from lvq.rejection.path import CellThresholds, OperatingPoint, ThresholdPath
from lvq.rejection.scores import Combination, Predictions, cells_of, certainty_of
from lvq.rejection.thresholds import in_steps, local_thresholds, step_of
from lvq.rejection.validation import BoolArray, FloatArray, IntArray, check_certainty, check_finite, label_codes
from lvq.typing import Argument, CrossValidation, Delayed, FittedFold, Fold, Labels, MatrixLike

MIN_CELL_SIZE = 10  # cells with fewer calibration samples share a threshold
STEADY_CELL_SIZE = 100  # cells with fewer have thresholds that vary much from one calibration to the next
CARRIED_OVER = 0.1  # by how much less a model may accept of its training samples than was accepted in the folds
PATH_FRACTION = 0.25  # of the calibration samples, for the path of a guarantee; the tests need the larger part

Folds: TypeAlias = "CrossValidation | Iterable[FittedFold]"


class Data(NamedTuple):
    """Samples, classes, groups, which samples have weight, and arguments of the estimator's `fit`."""

    X: MatrixLike
    y: Labels
    groups: Labels | None
    weighted: BoolArray
    for_fit: dict[str, Argument]

    def take(self, rows: IntArray) -> Data:
        """Some of the samples; arguments with an entry for each sample are taken too."""
        for_fit = {
            name: rows_of(value, rows) if _has_entries(value, len(self.y)) else value
            for name, value in self.for_fit.items()
        }
        groups = None if self.groups is None else self.groups[rows]
        return Data(rows_of(self.X, rows), self.y[rows], groups, self.weighted[rows], for_fit)

    def trained(self, estimator: BaseEstimator) -> BaseEstimator:
        """A copy of the estimator, fitted to these samples."""
        return clone(estimator).fit(self.X, self.y, **self.for_fit)


def rows_of(X: MatrixLike, rows: IntArray) -> MatrixLike:
    """Some rows of an array, a sparse matrix, a frame, a list or, in ascending order, a dask collection."""
    if is_dask(X):
        return _rows_of_partitions(X, rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "column_names"):  # pyarrow
        return X.take(rows)
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]


def _has_entries(value: object, n_samples: int) -> bool:
    length = value.shape[:1] == (n_samples,) if hasattr(value, "shape") else None
    return isinstance(value, list | tuple) and len(value) == n_samples if length is None else length


def partitions_of(X: Delayed) -> tuple[list[Delayed], IntArray]:
    """The partitions of a dask array or data frame, and the number of rows before each, with the total at the end."""
    import dask

    parts = X.to_delayed() if hasattr(X, "map_partitions") else X.rechunk({1: -1}).to_delayed().ravel()
    lengths = dask.compute(*(dask.delayed(len)(part) for part in parts))
    return list(parts), np.append(0, np.cumsum(lengths)).astype(np.intp)


def _rows_of_partitions(X: Delayed, rows: IntArray) -> Delayed:
    import dask

    parts, begins = partitions_of(X)
    own = [rows[(rows >= low) & (rows < high)] - low for low, high in pairwise(begins)]
    chosen = [dask.delayed(rows_of)(part, numbers) for part, numbers in zip(parts, own)]
    if hasattr(X, "map_partitions"):
        import dask.dataframe as dd

        return dd.from_delayed(chosen, meta=X._meta, verify_meta=False)
    import dask.array as da

    shapes = [(len(numbers), X.shape[1]) for numbers in own]
    return da.concatenate([da.from_delayed(part, shape, meta=X._meta) for part, shape in zip(chosen, shapes)])


# -- which samples -----------------------------------------------------------------------------------------------------


def held_out_rows(data: Data, fraction: float, rng: np.random.RandomState, *, for_tests: bool) -> IntArray:
    """Rows to hold out: whole groups, or by class, or at random where a guarantee is tested; never of weight 0."""
    usable = np.flatnonzero(data.weighted)
    if data.groups is not None:
        return np.flatnonzero(data.weighted & drawn_groups(data.groups, fraction, rng))
    if for_tests:
        rows = rng.permutation(usable)[: round(fraction * len(usable))]
    else:  # by class, so that the estimator is trained on all classes
        classes = [rng.permutation(usable[data.y[usable] == label]) for label in np.unique(data.y[usable])]
        rows = np.concatenate([part[: min(round(fraction * len(part)), len(part) - 1)] for part in classes])
    return np.sort(rows)


def drawn_groups(groups: Labels, fraction: float, rng: np.random.RandomState) -> BoolArray:
    """The rows of a fraction of the groups."""
    names, code = label_codes(groups)
    drawn = rng.permutation(len(names))[: max(1, round(fraction * len(names)))]
    return np.isin(code, drawn)


def path_and_test_rows(groups: Labels | None, n_rows: int, rng: np.random.RandomState) -> tuple[IntArray, IntArray]:
    """Rows for the path of a guarantee, and rows for its tests: one of each group."""
    if groups is None:
        order, n_path = rng.permutation(n_rows), max(1, round(PATH_FRACTION * n_rows))
        return order[:n_path], order[n_path:]
    for_path = drawn_groups(groups, PATH_FRACTION, rng)
    others = rng.permutation(np.flatnonzero(~for_path))
    return np.flatnonzero(for_path), others[np.unique(label_codes(groups)[1][others], return_index=True)[1]]


def n_units(groups: Labels | None, n_rows: int) -> int:
    """Number of independent units: groups, or rows."""
    return n_rows if groups is None else len(label_codes(groups)[0])


def check_enough(guarantees: Sequence[Guarantee], groups: Labels | None, n_held_out: int, n_given: int) -> None:
    """Raise a GuaranteeError before anything is trained where no number of errors could pass a test."""
    units = n_units(groups, n_held_out)
    n_testing = units - max(1, round(PATH_FRACTION * units))
    easiest = max(guarantees, key=lambda guarantee: guarantee.max_error)
    error = too_few(n_testing, n_testing, easiest._replace(fraction_tested=max(n_testing, 1) / n_given))
    if error is not None:
        raise error


# -- what is predicted for them ----------------------------------------------------------------------------------------


class Scored(NamedTuple):
    """Samples as predicted: certainty, outlier measure, whether correct, cell, predicted class."""

    certainty: FloatArray
    typicality: FloatArray
    correct: BoolArray
    cell: Labels
    predicted: Labels

    def take(self, rows: IntArray | BoolArray) -> Scored:
        """Some of them."""
        certainty, typicality, correct, cell, predicted = self
        return Scored(certainty[rows], typicality[rows], correct[rows], cell[rows], predicted[rows])

    @classmethod
    def joined(cls, parts: Sequence[Scored]) -> Scored:
        """All samples of several parts."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts)))

    @property
    def classified(self) -> tuple[FloatArray, BoolArray, Labels]:
        """What thresholds are fitted to."""
        return self.certainty, self.correct, self.cell


def score(estimator: BaseEstimator, measure: Combination, X: MatrixLike, y: Labels) -> Scored:
    """What a fitted estimator predicts for samples, and how certain the predictions are."""
    if is_dask(X):
        import dask

        parts, begins = partitions_of(X)
        columns = np.split(y, begins[1:-1])
        tasks = [dask.delayed(score)(estimator, measure, part, own) for part, own in zip(parts, columns) if len(own)]
        return Scored.joined(dask.compute(*tasks))
    predictions = Predictions(estimator, X)
    certainty = certainty_of(predictions, measure.ambiguity)
    typicality = certainty if measure.outlier is None else certainty_of(predictions, measure.outlier)
    correct = np.asarray(predictions.predicted == y)
    return Scored(certainty, typicality, correct, cells_of(predictions), predictions.predicted)


def cross_fitted(estimator: BaseEstimator, given: BaseEstimator, cv: Folds, measure: Combination, data: Data) -> Scored:
    """Every sample with weight as predicted by a model that was not trained on it.

    The prototypes of the folds' models are not those of the predicting `estimator`, so the cell of a sample is taken
    from the latter: its nearest prototype of the class that was predicted. `given` is fitted in each fold.
    """
    if is_dask(data.X):
        raise TypeError(
            "cv of RejectClassifier must be a fraction or 'prefit' where X is a dask collection, got folds; give a "
            "fraction of the samples to hold out, or X.compute() where it fits in memory."
        )
    parts, numbers = list[Scored](), np.arange(len(data.y))
    for train, test, *fitted in _folds(cv, data):
        test = numbers[test][data.weighted[test]]
        if not len(test):
            continue
        model = fitted[0] if fitted else data.take(numbers[train]).trained(given)
        held_out = data.take(test)
        found = score(model, measure, held_out.X, held_out.y)
        predictions = Predictions(estimator, held_out.X)
        if predictions.found is not None:
            found = found._replace(cell=predictions.winner_for(found.predicted, np.arange(len(test))))
        parts.append(found)
    return Scored.joined(parts)


def _folds(cv: Folds, data: Data) -> Iterable[Fold] | Iterable[FittedFold]:
    """Training and test rows of the folds, and their models where these are given."""
    given = list(cv) if isinstance(cv, Iterable) and not hasattr(cv, "split") else []
    if given and len(given[0]) == 3:
        for _, _, model in given:
            _check_fold(model)
        return given
    if isinstance(cv, int) and data.groups is not None:
        cv = StratifiedGroupKFold(cv)
    return check_cv(given or cv, data.y, classifier=True).split(data.X, data.y, data.groups)


def _check_fold(model: BaseEstimator) -> None:
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ValueError(
            "cv of RejectClassifier must hold fitted models where its folds are (train, test, model), got one that is "
            "not fitted; fit it, and wrap it in sklearn.frozen.FrozenEstimator if the classifier is cloned."
        ) from None


# -- the thresholds ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Thresholds:
    """The path, the operating point, limits for outliers, and notes."""

    path: ThresholdPath
    point: OperatingPoint
    outlier_limits: CellThresholds | None
    notes: tuple[str, ...]


def fit_thresholds(
    method: str,
    target: tuple[str, float],
    guarantees: Sequence[Guarantee],
    measure: Combination,
    fitting: Scored,
    testing: Scored | None,
) -> Thresholds:
    """Path, operating point and limits for outliers; `target` is not used where there are guarantees."""
    check_finite("certainty", fitting.certainty)
    limits, n_all = None, len(fitting.correct)
    if measure.outlier is not None:
        # from the fitting samples alone: a rule that depends on the testing samples would make the tests invalid
        limits = outlier_limits(fitting.typicality, fitting.cell, measure.outlier_fraction, MIN_CELL_SIZE)
        fitting = fitting.take(limits.accept(fitting.typicality, fitting.cell))
    step = step_of(check_certainty(fitting.certainty))
    rounded = in_steps(fitting.certainty, step), fitting.correct, fitting.cell
    path = local_thresholds(*rounded, method=method, min_cell_size=MIN_CELL_SIZE).extend(*rounded).lowered(step / 2)
    notes = () if method == "global" else _small_cells(path, fitting.cell)
    if guarantees and testing is not None:
        inside = testing if limits is None else testing.take(limits.accept(testing.typicality, testing.cell))
        if not len(inside.correct):
            raise GuaranteeError(f"{guarantees[0]} has no testing sample that is not an outlier.", "too_few_samples")
        point, failure = certify(path, *inside.classified, guarantees)
        return Thresholds(path, point, limits, notes + _about_guarantee(point, failure))
    name, value = target
    if name == "min_coverage":
        # each limit in use rejects about one new sample more, as every threshold does
        outliers = 0.0 if limits is None else n_all - len(fitting.correct) + len(limits.cells) + 1.0
        chosen, more = coverage_point(path, fitting.classified, value, step=step, outliers=outliers)
        return Thresholds(path, chosen, limits, notes + more)
    return Thresholds(path, path.pick(**{name: value}), limits, notes)  # type: ignore[arg-type]


def with_carried_over(found: Thresholds, trained: Scored) -> Thresholds:
    """Thresholds from folds, with a note where the folds' certainties are not like those of the predicting model.

    `trained` are the training samples of the predicting model: it is more certain of them than of new ones, so at least
    as many are accepted as in the folds.
    """
    accepted = float(found.point.accept(trained.certainty, trained.cell).mean())
    if accepted > found.point.coverage - CARRIED_OVER:
        return found
    note = (
        f"The predicting model accepts {100 * accepted:.0f} % of its training samples, but "
        f"{100 * found.point.coverage:.0f} % were accepted in the folds: its certainties differ from those of the "
        "folds' models, so the coverage of new samples will differ too. Give a fraction as cv."
    )
    return replace(found, notes=(*found.notes, note))


def _small_cells(path: ThresholdPath, cell: Labels) -> tuple[str, ...]:
    sizes = np.bincount(label_codes(cell)[1])
    small = int(np.count_nonzero(sizes < STEADY_CELL_SIZE))
    if not small:
        return ()
    return (
        f"{small} of {len(path.cells)} cells have fewer than {STEADY_CELL_SIZE} calibration samples, the smallest "
        f"{sizes.min()}: their own thresholds vary much from one calibration to the next. One threshold for all, "
        "thresholds='global', is steadier.",
    )


def _about_guarantee(point: CertifiedPoint, failure: GuaranteeError | None) -> tuple[str, ...]:
    notes = []
    if point.unit == "groups":
        notes.append(
            "The guarantee is stated for groups: it is about a randomly chosen row of a new group, and was tested on "
            f"one row of each of {point.n_testing} groups. Rows of large groups may have a higher error rate."
        )
    if point.requested_error is not None:
        notes.append(
            f"An error rate of at most {100 * point.requested_error:g} % could not be guaranteed; the lowest of the "
            f"bounds that can be is {100 * point.max_error:g} % among accepted predictions, with confidence "
            f"{point.confidence:g}, at a coverage of {100 * point.coverage:.0f} %. Why: {failure}"
        )
    return tuple(notes)
