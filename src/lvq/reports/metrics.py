"""Metrics of predictions that accuracy hides: by class, with intervals, by other decisions, and of probabilities.

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
FACTORS = 2.0 ** np.arange(-6, 6.25, 0.25)  # of the cost of missing a class
IN_USE = 24  # the factor of one
FINE_CLASSES, COARSE = 20, 4  # with more classes every fourth factor is a step
MAX_CLASSES = 50  # with more classes there are no other decisions


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
    auc: Area | None
    mistaken_for: int | None  # the most frequent wrong prediction


@dataclass(frozen=True)
class Metrics:
    """Metrics of predictions for labelled samples; see `metrics_of`."""

    accuracy: Fraction
    majority: float
    balanced_accuracy: float
    by_class: list[ClassMetrics]
    auc: Area | None
    log_loss: float | None


def metrics_of(y: Codes, predicted: Codes, n_classes: int, table: Floats | None, groups: Codes | None) -> Metrics:
    """Metrics of predictions for labelled samples.

    Parameters
    ----------
    y, predicted : ndarray of int
        True and predicted classes, as indices.
    n_classes : int
        Number of classes.
    table : ndarray of shape (n_samples, n_classes) or None
        Probabilities of the classes; columns may be missing at the end, for classes that the model does not know.
    groups : ndarray of int or None
        Groups of samples that are not independent of each other.

    Returns
    -------
    metrics : Metrics
        `accuracy`, `majority` (accuracy of always predicting the most frequent class of y), `balanced_accuracy` (mean
        sensitivity of the classes that y has), `by_class` (each class against all others), `auc` (of two classes, else
        the mean over the classes) and `log_loss`, both None without probabilities.

    Examples
    --------
    >>> metrics = metrics_of(np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0]), 2, None, None)
    >>> metrics.balanced_accuracy, metrics.by_class[1].ppv.value, metrics.majority
    (0.75, 1.0, 0.5)
    """
    rows = [_of_class(label, y, predicted, table, groups) for label in range(n_classes)]
    areas = [row.auc for row in rows if row.auc is not None]
    auc = None
    if areas:
        auc = areas[-1] if n_classes == 2 else Area(float(np.mean([area.value for area in areas])))
    return Metrics(
        accuracy=fraction_of(y == predicted, groups=groups),
        majority=float(np.bincount(y).max() / len(y)),
        balanced_accuracy=float(np.mean([row.sensitivity.value for row in rows if row.sensitivity.total])),
        by_class=rows,
        auc=auc,
        log_loss=None if table is None else _log_loss(y, table),
    )


def _of_class(label: int, true: Codes, guess: Codes, table: Floats | None, groups: Codes | None) -> ClassMetrics:
    fraction, positive, called = partial(fraction_of, groups=groups), true == label, guess == label
    score = None if table is None or label >= table.shape[1] else table[:, label]
    wrong = np.bincount(guess[positive & ~called], minlength=1)
    return ClassMetrics(
        sensitivity=fraction(called, positive),
        specificity=fraction(~called, ~positive),
        ppv=fraction(positive, called),
        npv=fraction(~positive, ~called),
        auc=None if score is None else roc_auc(positive, score, independent=groups is None),
        mistaken_for=int(wrong.argmax()) if wrong.any() else None,
    )


def _log_loss(true: Codes, table: Floats) -> float:
    known = true < table.shape[1]
    chosen = np.where(known, table[np.arange(len(true)), np.where(known, true, 0)], 0.0)
    return float(-np.log(np.maximum(chosen, SMALLEST)).mean())


# -- other decisions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decisions:
    """Counts for other costs of mistakes: each step of the page's slider multiplies the cost of missing a class.

    With two classes a step is a threshold on the probability of the class. `correct` and `called` have, for each class
    that is moved and each factor, the correct predictions and all predictions of each class.
    """

    classes: list[int]
    factors: list[float]
    in_use: int
    thresholds: list[float] | None
    correct: list[list[list[int]]]
    called: list[list[list[int]]]
    cost: list[list[float]] | None
    totals: list[int]


def other_decisions(
    table: Floats, codes: Codes, predicted: Codes, n_labels: int, costs: Floats | None = None
) -> Decisions | None:
    """What other costs would change; None for many classes.

    Examples
    --------
    >>> table = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> steps = other_decisions(table, np.array([0, 0, 1]), np.array([0, 0, 1]), 2)
    >>> steps.classes, steps.correct[0][IN_USE], steps.correct[0][IN_USE + 4]
    ([1], [2, 1], [1, 1])
    """
    n_classes = table.shape[1]
    if n_labels > MAX_CLASSES or n_classes < 2:
        return None
    factors, in_use = (FACTORS, IN_USE) if n_labels <= FINE_CLASSES else (FACTORS[::COARSE], IN_USE // COARSE)
    base = 1.0 - np.eye(n_classes) if costs is None else costs
    totals = np.bincount(codes, minlength=n_labels)
    moved = [int(totals[:2].argmin()) if totals[0] != totals[1] else 1] if n_classes == 2 else list(range(n_classes))
    steps = [[_moved(table, base, label, factor) for factor in factors] for label in moved]
    for of_class in steps:
        of_class[in_use] = predicted  # also where a tie was decided otherwise
    count = partial(np.bincount, minlength=n_labels)
    return Decisions(
        classes=moved,
        factors=factors.tolist(),
        in_use=in_use,
        thresholds=[_threshold(base, moved[0], factor) for factor in factors] if n_classes == 2 else None,
        correct=[[count(codes[step == codes]).tolist() for step in of_class] for of_class in steps],
        called=[[count(step).tolist() for step in of_class] for of_class in steps],
        cost=None if costs is None else [[mean_cost(base, codes, step) for step in of_class] for of_class in steps],
        totals=totals.tolist(),
    )


def _moved(table: Floats, base: Floats, label: int, factor: float) -> Codes:
    costs = base.copy()
    costs[label] *= factor
    return (table @ costs).argmin(axis=1)


def _threshold(base: Floats, positive: int, factor: float) -> float:
    """Probability of a class from which it is predicted, for two classes."""
    missed, alarm = factor * base[positive, 1 - positive], base[1 - positive, positive]
    return float(alarm / (alarm + missed)) if alarm + missed > 0 else 0.5


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
class Calibration:
    """How often the most probable class is the true one, in bins of its probability."""

    is_calibrated: bool  # by a temperature
    calibration_error: float
    probability: list[float]
    accuracy: list[float]
    n_samples: list[int]


def calibration(table: Floats, codes: Codes, *, is_calibrated: bool = False) -> Calibration:
    """Mean probability, accuracy and number of samples in ten equal bins, and their mean absolute difference.

    Examples
    --------
    >>> found = calibration(np.array([[0.95, 0.05], [0.95, 0.05], [0.55, 0.45], [0.55, 0.45]]), np.array([0, 0, 0, 1]))
    >>> found.accuracy, found.n_samples, round(found.calibration_error, 3)
    ([0.5, 1.0], [2, 2], 0.05)
    """
    top, correct = table.max(axis=1), table.argmax(axis=1) == codes
    bins = np.minimum((top * N_BINS).astype(int), N_BINS - 1)
    count = np.bincount(bins, minlength=N_BINS)
    known = count > 0
    probability, accuracy = (np.bincount(bins, values, N_BINS)[known] / count[known] for values in (top, correct))
    error = float(np.average(np.abs(accuracy - probability), weights=count[known]))
    return Calibration(is_calibrated, error, probability.tolist(), accuracy.tolist(), count[known].tolist())
