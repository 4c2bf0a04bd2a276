"""Metrics of predictions that accuracy hides: by class, with intervals, by costs, and of probabilities.

Intervals of fractions are those of Clopper and Pearson. Where rows belong to groups, such as patients, they are not
independent: the groups are then drawn again at random, and the interval holds 95 % of the fractions that this gives.
The interval of an AUC, A of m positive and n negative samples, holds all t with |A - t| <= z sqrt(V(t)), where V is the
variance of Hanley and McNeil (1982) in the form of Newcombe (2006, method 5):

    V(t) = t (1 - t) (1 + N ((1 - t) / (2 - t) + t / (1 + t))) / (m n),  N = (m + n) / 2 - 1.

V is that of t, not of A, which gives an AUC of 1, for which V(A) = 0, an interval too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.intp]
Interval = tuple[float, float]

NORMAL = 1.959964  # the quantile of the normal distribution for a 95 % interval
SMALLEST = 1e-6  # of a probability in the log-loss
N_BINS = 10  # of probabilities
N_DRAWS = 2000  # of groups
MAX_CURVE_POINTS = 200


@dataclass(frozen=True)
class Fraction:
    """A count divided by a total, with a 95 % interval; None where there is nothing to count."""

    count: int
    total: int
    value: float | None
    interval: Interval | None


def fraction_of(hit: ArrayLike, of: ArrayLike | None = None, groups: NDArray[np.intp] | None = None) -> Fraction:
    """The fraction of the rows `of` that are a `hit`, with its interval; by groups where these are given.

    Examples
    --------
    >>> found = fraction_of([True] * 95 + [False] * 5)
    >>> found.value, [round(end, 3) for end in found.interval]
    (0.95, [0.887, 0.984])
    >>> fraction_of([], [])
    Fraction(count=0, total=0, value=None, interval=None)
    """
    from scipy.stats import binomtest

    chosen = np.ones(len(np.asarray(hit)), dtype=bool) if of is None else np.asarray(of, dtype=bool)
    hits = np.asarray(hit, dtype=bool) & chosen
    count, total = int(hits.sum()), int(chosen.sum())
    if not total:
        return Fraction(count, total, None, None)
    if groups is not None and 0 < count < total:
        return Fraction(count, total, count / total, _group_interval(hits, chosen, groups))
    # where all rows of groups are alike, each group counts once
    trials = total if groups is None else len(np.unique(groups[chosen]))
    found = binomtest(count * trials // total, trials).proportion_ci(0.95, method="exact")
    return Fraction(count, total, count / total, (float(found.low), float(found.high)))


def _group_interval(hits: Bools, chosen: Bools, groups: NDArray[np.intp]) -> Interval | None:
    """Percentiles of the fraction when groups are drawn again; None for a single group."""
    _, codes = np.unique(groups[chosen], return_inverse=True)
    total = np.bincount(codes).astype(np.float64)
    if len(total) < 2:
        return None
    count = np.bincount(codes, hits[chosen])
    drawn = np.random.default_rng(0).multinomial(len(total), np.full(len(total), 1 / len(total)), N_DRAWS)
    low, high = np.quantile((drawn @ count) / (drawn @ total), [0.025, 0.975])
    return float(low), float(high)


@dataclass(frozen=True)
class Area:
    """Area under the ROC curve with its interval; None for a mean over classes, and for rows in groups."""

    value: float
    interval: Interval | None = None


def roc_auc(positive: Bools, score: Floats, *, independent: bool = True) -> Area | None:
    """Area under the ROC curve; None where one of the two classes is absent.

    Examples
    --------
    >>> roc_auc(np.array([False, False, True, True]), np.array([0.1, 0.4, 0.35, 0.8])).value
    0.75
    >>> [round(end, 3) for end in roc_auc(np.arange(60) >= 30, np.arange(60.0)).interval]
    [0.933, 1.0]
    """
    from sklearn.metrics import roc_auc_score

    m, n = int(positive.sum()), int((~positive).sum())
    if not m or not n:
        return None
    area = float(roc_auc_score(positive, score))
    return Area(area, (_auc_lower(area, m, n), 1 - _auc_lower(1 - area, m, n)) if independent else None)


def _auc_lower(area: float, m: int, n: int) -> float:
    """Lower end of the interval of an AUC; the upper one is that of 1 less the AUC, as the variance is symmetric."""
    from scipy.optimize import brentq

    def excess(t: float) -> float:
        half = (m + n) / 2 - 1
        variance = t * (1 - t) * (1 + half * ((1 - t) / (2 - t) + t / (1 + t))) / (m * n)
        return area - t - NORMAL * float(np.sqrt(variance))

    return 0.0 if area <= 0 else float(brentq(excess, 0.0, min(area, 1 - 1e-9)))


@dataclass(frozen=True)
class ClassMetrics:
    """One class against all others."""

    sensitivity: Fraction
    specificity: Fraction
    ppv: Fraction
    npv: Fraction
    coverage: Fraction  # accepted predictions of the class's samples
    auc: Area | None
    mistaken_for: int | None  # the most frequent wrong prediction


@dataclass(frozen=True)
class Metrics:
    """Metrics of predictions for labelled samples; see `metrics_of`."""

    accuracy: Fraction
    majority: float
    most_frequent: int
    balanced_accuracy: float
    by_class: list[ClassMetrics]
    auc: Area | None
    log_loss: float | None


def metrics_of(
    y: Codes, predicted: Codes, accepted: Bools, n_classes: int, table: Floats | None, groups: Codes | None = None
) -> Metrics:
    """Metrics of predictions for labelled samples.

    Parameters
    ----------
    y, predicted : ndarray of int
        True and predicted classes, as indices.
    accepted : ndarray of bool
        Which predictions are accepted; only the coverage of each class depends on it.
    n_classes : int
        Number of classes.
    table : ndarray of shape (n_samples, n_classes) or None
        Probabilities of the classes; columns may be missing at the end, for classes that the model does not know.
    groups : ndarray of int or None
        Groups of samples that are not independent of each other.

    Returns
    -------
    metrics : Metrics
        `accuracy`, `majority` (accuracy of always predicting `most_frequent`, a class of y), `balanced_accuracy` (mean
        sensitivity of the classes that y has), `by_class` (each class against all others), `auc` (of two classes, else
        the mean over the classes) and `log_loss`, both None without probabilities.

    Examples
    --------
    >>> metrics = metrics_of(np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0]), np.ones(4, bool), 2, None)
    >>> metrics.balanced_accuracy, metrics.by_class[1].ppv.value, metrics.majority
    (0.75, 1.0, 0.5)
    """
    rows = [_of_class(label, y, predicted, accepted, table, groups) for label in range(n_classes)]
    counts = np.bincount(y)
    areas = [row.auc for row in rows if row.auc is not None]
    auc = None
    if areas:
        auc = areas[-1] if n_classes == 2 else Area(float(np.mean([area.value for area in areas])))
    return Metrics(
        accuracy=fraction_of(y == predicted, groups=groups),
        majority=float(counts.max() / len(y)),
        most_frequent=int(counts.argmax()),
        balanced_accuracy=float(np.mean([row.sensitivity.value for row in rows if row.sensitivity.total])),
        by_class=rows,
        auc=auc,
        log_loss=None if table is None else _log_loss(y, table),
    )


def _of_class(
    label: int, true: Codes, guess: Codes, accepted: Bools, table: Floats | None, groups: Codes | None
) -> ClassMetrics:
    fraction, positive, called = partial(fraction_of, groups=groups), true == label, guess == label
    score = None if table is None or label >= table.shape[1] else table[:, label]
    wrong = np.bincount(guess[positive & ~called], minlength=1)
    return ClassMetrics(
        sensitivity=fraction(called, positive),
        specificity=fraction(~called, ~positive),
        ppv=fraction(positive, called),
        npv=fraction(~positive, ~called),
        coverage=fraction(accepted, positive),
        auc=None if score is None else roc_auc(positive, score, independent=groups is None),
        mistaken_for=int(wrong.argmax()) if wrong.any() else None,
    )


def _log_loss(true: Codes, table: Floats) -> float:
    known = true < table.shape[1]
    chosen = np.where(known, table[np.arange(len(true)), np.where(known, true, 0)], 0.0)
    return float(-np.log(np.maximum(chosen, SMALLEST)).mean())


# -- costs of mistakes -----------------------------------------------------------------------------------------------


def mean_cost(costs: Floats, codes: Codes, predicted: Codes) -> float:
    """Mean cost of predictions; rows of classes without costs do not count."""
    known = codes < len(costs)
    return float(costs[codes[known], predicted[known]].mean()) if known.any() else float("nan")


@dataclass(frozen=True)
class Costs:
    """Costs of mistakes (rows are true classes), the mean cost of a sample, and that of the cheapest single class."""

    matrix: list[list[float]]
    mean: float
    cheapest_class: int
    cheapest: float


def costs_of_predictions(costs: Floats, codes: Codes, predicted: Codes) -> Costs:
    """Mean cost of predictions beside that of always predicting one class.

    Examples
    --------
    >>> found = costs_of_predictions(np.array([[0.0, 1.0], [5.0, 0.0]]), np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> round(found.mean, 3), found.cheapest_class
    (0.333, 1)
    """
    single = [mean_cost(costs, codes, np.full(len(codes), label)) for label in range(len(costs))]
    cheapest = int(np.nan_to_num(single, nan=np.inf).argmin())
    return Costs(costs.tolist(), mean_cost(costs, codes, predicted), cheapest, single[cheapest])


# -- probabilities -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassCurves:
    """ROC and precision-recall curves of the probability of one class."""

    label: int
    false_alarms: list[float]  # 1 - specificity
    sensitivity: list[float]
    recall: list[float]
    precision: list[float]


@dataclass(frozen=True)
class Probabilities:
    """How good probabilities are: how often the most probable class is the true one in bins, and curves by class."""

    is_calibrated: bool  # by a temperature
    calibration_error: float
    probability: list[float]
    accuracy: list[float]
    n_samples: list[int]
    brier: float
    brier_constant: float  # of always giving the fractions of the classes
    curves: list[ClassCurves]


def probabilities_of(table: Floats, codes: Codes, *, is_calibrated: bool = False) -> Probabilities:
    """Calibration in ten equal bins with its mean absolute difference, the Brier score, and curves.

    With two classes the Brier score is that of one of them, and curves are of the rarer one.

    Examples
    --------
    >>> table = np.array([[0.95, 0.05], [0.95, 0.05], [0.55, 0.45], [0.55, 0.45]])
    >>> found = probabilities_of(table, np.array([0, 0, 0, 1]))
    >>> found.accuracy, found.n_samples, round(found.calibration_error, 3), round(found.brier, 4)
    ([0.5, 1.0], [2, 2], 0.05, 0.1275)
    """
    n_classes, top, correct = table.shape[1], table.max(axis=1), table.argmax(axis=1) == codes
    bins = np.minimum((top * N_BINS).astype(int), N_BINS - 1)
    count = np.bincount(bins, minlength=N_BINS)
    known = count > 0
    probability, accuracy = (np.bincount(bins, values, N_BINS)[known] / count[known] for values in (top, correct))
    true = np.eye(max(n_classes, codes.max() + 1))[codes]
    table = np.pad(table, ((0, 0), (0, true.shape[1] - n_classes)))  # 0 for classes that the model does not know
    half = 2 if true.shape[1] == 2 else 1
    drawn = [int(true.sum(axis=0).argmin())] if n_classes == 2 else range(n_classes)
    return Probabilities(
        is_calibrated=is_calibrated,
        calibration_error=float(np.average(np.abs(accuracy - probability), weights=count[known])),
        probability=probability.tolist(),
        accuracy=accuracy.tolist(),
        n_samples=count[known].tolist(),
        brier=_brier(table, true) / half,
        brier_constant=_brier(true.mean(axis=0), true) / half,
        curves=[_curves(k, true[:, k] > 0, table[:, k]) for k in drawn if 0 < true[:, k].sum() < len(codes)],
    )


def _brier(table: Floats, true: Floats) -> float:
    return float(((table - true) ** 2).sum(axis=1).mean())


def _curves(label: int, positive: Bools, score: Floats) -> ClassCurves:
    from sklearn.metrics import precision_recall_curve, roc_curve

    false_alarms, sensitivity, _ = roc_curve(positive, score)
    precision, recall, _ = precision_recall_curve(positive, score, drop_intermediate=True)
    return ClassCurves(label, *map(_thinned, (false_alarms, sensitivity, recall, precision)))


def _thinned(values: Floats) -> list[float]:
    kept = np.unique(np.linspace(0, len(values) - 1, min(MAX_CURVE_POINTS, len(values))).astype(np.intp))
    return np.round(values[kept], 5).tolist()
