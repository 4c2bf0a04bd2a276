"""Which samples a RejectClassifier's thresholds are fitted on, and how: from settings and data to an operating point.

Rules kept here:
- thresholds are fitted on samples the answering model was not trained on: given (prefit), held out, or cross-fitted;
- for a guarantee, path, outlier limits and order of tests are settled before the testing samples are looked at, and
  these are drawn at random (not by class), because the exact test needs independent samples;
- calibration counts samples: weights go to the estimator's `fit`, and a sample of weight 0 is left out throughout.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv

from lvq.rejection.binomial import perfect_record
from lvq.rejection.measures import Answers, as_combination, cells_of, measured
from lvq.rejection.path import ThresholdPath
from lvq.rejection.point import OperatingPoint
from lvq.rejection.procedures import GuaranteeError
from lvq.rejection.risk import CertifiedPoint, certify
from lvq.rejection.samples import BoolArray, FloatArray, IntArray, label_codes
from lvq.rejection.thresholds import local_thresholds

PATH_SHARE = 0.25  # of the calibration samples, for the path of a guarantee; the tests need the larger part


class Data(NamedTuple):
    """What `fit` was given: samples, classes, whether a sample counts, and what goes to `fit` and `split` besides."""

    X: Any
    y: NDArray[Any]
    counts: BoolArray
    for_fit: dict[str, Any]
    for_split: dict[str, Any]

    def take(self, rows: IntArray) -> Data:
        """Some of the samples, with what belongs to them."""
        for_fit, for_split = (
            {name: _rows(value, rows) if _has_entries(value, len(self.y)) else value for name, value in given.items()}
            for given in (self.for_fit, self.for_split)
        )
        return Data(_rows(self.X, rows), self.y[rows], self.counts[rows], for_fit, for_split)

    def trained(self, estimator: Any) -> Any:
        """A copy of the estimator, fitted to these samples."""
        return clone(estimator).fit(self.X, self.y, **self.for_fit)


def _rows(X: Any, rows: IntArray) -> Any:
    """Some rows of an array, a sparse matrix, a frame or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "column_names"):  # pyarrow
        return X.take(rows)
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]


def _has_entries(value: Any, n_samples: int) -> bool:
    length = value.shape[:1] == (n_samples,) if hasattr(value, "shape") else None
    return isinstance(value, list | tuple) and len(value) == n_samples if length is None else length


class Classified(NamedTuple):
    """Samples and what became of them: how sure, how typical, whether right, in which cell, as which class."""

    certainty: FloatArray
    typical: FloatArray
    correct: BoolArray
    cell: NDArray[Any]
    predicted: NDArray[Any]

    def take(self, rows: Any) -> Classified:
        """Some of them."""
        return Classified(*(part[rows] for part in self))


class OutlierLimits(NamedTuple):
    """A sample is an outlier if it is less typical than the limit of its cell; small and new cells share one."""

    by_cell: dict[Hashable, float]
    others: float

    def outlying(self, typical: FloatArray, cell: NDArray[Any]) -> BoolArray:
        """Which samples are outliers."""
        cells, code = label_codes(cell)
        limit = np.array([self.by_cell.get(label, self.others) for label in cells.tolist()])[code]
        return ~(typical >= limit)  # a NaN is an outlier


# -- samples -----------------------------------------------------------------------------------------------------------


def is_prefit(settings: Any) -> bool:
    """Whether the estimator is fitted already."""
    frozen = isinstance(settings.estimator, FrozenEstimator)
    return frozen or (isinstance(settings.cv, str) and settings.cv == "prefit")


def is_crossed(settings: Any) -> bool:
    """Whether there are folds."""
    return settings.cv is not None and not is_prefit(settings)


def shares(settings: Any, data: Data, rng: Any) -> tuple[Data, Data]:
    """Samples to train on, and samples to hold out; one of no weight is never held out."""
    usable = np.flatnonzero(data.counts)
    size, promised = settings.calibration_size, settings.max_error is not None
    nothing = is_crossed(settings) and not promised
    if is_prefit(settings):
        held_out = usable
    elif nothing:
        held_out = usable[:0]
    elif promised:
        held_out = rng.permutation(usable)[: round(size * len(usable))]
    else:  # by class, so that the estimator meets all classes
        parts = [rng.permutation(usable[data.y[usable] == label]) for label in np.unique(data.y[usable])]
        held_out = np.concatenate([part[: min(round(size * len(part)), len(part) - 1)] for part in parts])
    n_samples = len(data.y)
    if not len(held_out) and not nothing:
        raise ValueError(
            f"RejectClassifier found no sample to calibrate on among n_samples = {n_samples}, with calibration_size="
            f"{size}; give more samples, raise calibration_size, or use cv."
        )
    if promised and settings.impossible == "raise":
        n_testing = len(held_out) - (0 if is_crossed(settings) else path_size(len(held_out)))
        _refuse_hopeless(settings, n_testing, n_samples)
    return data.take(np.setdiff1d(np.arange(n_samples), held_out)), data.take(np.sort(held_out))


def path_size(n_samples: int) -> int:
    """How many of the calibration samples the path of a guarantee is fitted on."""
    return max(1, round(PATH_SHARE * n_samples))


def _refuse_hopeless(settings: Any, n_testing: int, n_samples: int) -> None:
    """What is known to fail is refused before anything is trained."""
    fewest = perfect_record(settings.max_error, 1 - settings.confidence)
    if n_testing >= fewest:
        return
    total = ceil(fewest * n_samples / max(n_testing, 1))
    raise GuaranteeError(
        f"max_error={settings.max_error:g} with confidence={settings.confidence:g} needs at least {fewest} testing "
        f"samples even if none of them is an error, but {n_testing} of the {n_samples} samples given to fit are for "
        f"testing; give about {total}, raise max_error or lower confidence.",
        "too_few_samples",
        total,
    )


def calibration_samples(
    settings: Any, estimator: Any, training: Data, held_out: Data, rng: Any
) -> tuple[Classified, Classified | None]:
    """Samples to fit thresholds on and, for a guarantee, those to test them on; `estimator` is the one that answers."""
    held = judged(settings, estimator, held_out) if len(held_out.y) else None
    if is_crossed(settings):
        return cross_fitted(settings, estimator, training), held
    assert held is not None
    if settings.max_error is None:
        return held, None
    order, n_path = rng.permutation(len(held_out.y)), path_size(len(held_out.y))
    return held.take(order[:n_path]), held.take(order[n_path:])


def judged(settings: Any, estimator: Any, data: Data) -> Classified:
    """What becomes of samples at the hands of an estimator."""
    answers, parts = Answers(estimator, data.X), as_combination(settings.measure)
    values = measured(answers, parts.ambiguity)
    typical = values if parts.outlier is None else measured(answers, parts.outlier)
    right = np.asarray(answers.predicted == data.y)
    return Classified(values, typical, right, cells_of(answers, settings.cells), answers.predicted)


def cross_fitted(settings: Any, estimator: Any, data: Data) -> Classified:
    """Every sample judged by a model that has not seen it.

    The folds' prototypes are not those of the model that will answer, so a sample's cell is taken from the latter: its
    nearest prototype of the class that was predicted.
    """
    if settings.max_error is not None and not (isinstance(settings.cv, int) or hasattr(settings.cv, "split")):
        raise ValueError(
            "cv as a list of splits does not go with max_error, which sets samples aside; give a number of folds or a "
            "splitter."
        )
    parts, tested = [], []
    everyone = np.arange(len(data.y))
    for train, test in check_cv(settings.cv, data.y, classifier=True).split(data.X, data.y, **data.for_split):
        test = everyone[test][data.counts[test]]
        if len(test):
            model = data.take(everyone[train]).trained(settings.estimator)
            parts.append(judged(settings, model, data.take(test)))
            tested.append(test)
    joined = Classified(*(np.concatenate(columns) for columns in zip(*parts)))
    answers = Answers(estimator, _rows(data.X, np.concatenate(tested)))
    if callable(settings.cells):
        return joined._replace(cell=cells_of(answers, settings.cells))
    by_class = settings.cells == "class" or (settings.cells == "auto" and answers.found is None)
    return joined if by_class else joined._replace(cell=answers.winner_for(joined.predicted))


# -- thresholds --------------------------------------------------------------------------------------------------------


class Calibration(NamedTuple):
    """All operating points there were, the one chosen, and the limits for outliers; by class where asked for."""

    path: Any
    point: Any
    limits: OutlierLimits | None


def calibrate(
    settings: Any, fitting: Classified, testing: Classified | None, wish: dict[str, Any], testing_share: float
) -> Calibration:
    """Limits for outliers, path and operating point."""
    parts, n_samples = as_combination(settings.measure), len(fitting.correct)
    limits = None
    if parts.outlier is not None:
        # settled on the fitting samples alone: a rule that looked at the testing samples would void the tests
        limits = _outlier_limits(fitting, parts.outlier_share, settings.min_cell_size)
        fitting = fitting.take(~limits.outlying(fitting.typical, fitting.cell))
        if testing is not None:
            testing = testing.take(~limits.outlying(testing.typical, testing.cell))
    if testing is None:
        path = _path(settings, fitting)
        if "coverage" in wish:  # outliers count as rejected
            wish = {"coverage": min(1.0, wish["coverage"] * n_samples / len(fitting.correct))}
        return Calibration(path, path.pick(**wish), limits)
    if not settings.per_class:
        return Calibration(*_certified(settings, fitting, testing, settings.confidence, testing_share), limits)
    paths, points = {}, {}
    groups = label_codes(testing.predicted)[0].tolist()
    for group in groups:
        confidence = 1 - (1 - settings.confidence) / len(groups)
        inside = fitting.take(fitting.predicted == group), testing.take(testing.predicted == group)
        paths[group], points[group] = _certified(
            settings,
            *inside,
            confidence,
            testing_share * len(inside[1].correct) / len(testing.correct),
            which=f"class {group!r} of {len(groups)}: ",
        )
    return Calibration(paths, points, limits)


def _outlier_limits(samples: Classified, share: float, min_cell_size: int) -> OutlierLimits:
    n_bad = int(np.count_nonzero(np.isnan(samples.typical)))
    if n_bad:
        raise ValueError(
            f"the outlier measure of RejectClassifier must not be NaN, got {n_bad} of {len(samples.typical)} values; "
            "give such samples a finite worst value."
        )
    cells, code = label_codes(samples.cell)
    limits = {}
    for index, label in enumerate(cells.tolist()):
        inside = samples.typical[code == index]
        if len(inside) >= min_cell_size:
            limits[label] = float(np.quantile(inside, share, method="lower"))
    return OutlierLimits(limits, float(np.quantile(samples.typical, share, method="lower")))


def _path(settings: Any, fitting: Classified) -> ThresholdPath:
    return local_thresholds(
        fitting.certainty,
        fitting.correct,
        fitting.cell,
        method=settings.thresholds,
        min_cell_size=settings.min_cell_size,
    )


def _certified(
    settings: Any, fitting: Classified, testing: Classified, confidence: float, share: float, which: str = ""
) -> tuple[ThresholdPath | None, CertifiedPoint | None]:
    """Path and certified point; None for the point where there is none and that is no error."""
    path = None
    try:
        if not len(fitting.correct) or not len(testing.correct):
            raise GuaranteeError(
                f"no threshold can be had from {len(fitting.correct)} samples for the path and {len(testing.correct)} "
                "for the tests; give more calibration samples.",
                "too_few_samples",
            )
        path = _path(settings, fitting).extend(fitting.certainty, fitting.correct, fitting.cell)
        wish = {"max_error": settings.max_error, "confidence": confidence, "procedure": settings.procedure}
        return path, certify(path, testing.certainty, testing.correct, testing.cell, **wish)
    except GuaranteeError as error:
        if settings.impossible == "reject":
            return path, None
        message, total = f"{which}{error}", error.samples_needed
        if total is not None:
            total = ceil(total / share)
            whose = " its" if which else ""
            message += (
                f" Of the samples given to fit, a share of {share:.3g} is for{whose} testing: give about {total}."
            )
        raise GuaranteeError(message, error.reason, total) from error


def plain_point(point: OperatingPoint | CertifiedPoint) -> OperatingPoint:
    """The thresholds, certified or not."""
    return point if isinstance(point, OperatingPoint) else point.point
