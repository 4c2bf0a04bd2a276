"""Metrics of predictions that accuracy hides: by class, with intervals, by costs, and of probabilities.

Intervals of fractions are by Clopper and Pearson. Where rows belong to groups, such as patients, they are not
independent: the groups are then resampled, and the interval holds 95 % of the resulting fractions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lvq.typing import Floats

Bools = NDArray[np.bool_]
Codes = NDArray[np.intp]
Interval = tuple[float, float]

CHANCE = 0.05  # probability below which a difference is more than chance
N_BINS = 10  # of probabilities
N_DRAWS = 2000  # of groups


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
    """Percentiles of the fraction over resampled groups; None for a single group."""
    _, codes = np.unique(groups[chosen], return_inverse=True)
    total = np.bincount(codes).astype(np.float64)
    if len(total) < 2:
        return None
    count = np.bincount(codes, hits[chosen])
    drawn = np.random.default_rng(0).multinomial(len(total), np.full(len(total), 1 / len(total)), N_DRAWS)
    low, high = np.quantile((drawn @ count) / (drawn @ total), [0.025, 0.975])
    return float(low), float(high)


@dataclass(frozen=True)
class ClassMetrics:
    """One class against all others."""

    sensitivity: Fraction
    specificity: Fraction
    ppv: Fraction
    npv: Fraction
    coverage: Fraction  # accepted predictions of the class's samples
    auc: float | None
    mistaken_for: int | None  # the most frequent wrong prediction


@dataclass(frozen=True)
class Metrics:
    """Metrics of predictions for labelled samples; see `metrics_of`."""

    accuracy: Fraction
    majority: float
    most_frequent: int
    balanced_accuracy: float
    by_class: list[ClassMetrics]
    auc: float | None  # the mean over the classes
    auc_error: float | None  # standard error of an AUC that is chance; of two classes of independent samples
    log_loss: float | None

    @property
    def worst_first(self) -> list[int]:
        """The classes by sensitivity, those without samples last."""
        found = [2.0 if row.sensitivity.value is None else row.sensitivity.value for row in self.by_class]
        return np.argsort(found, kind="stable").tolist()


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
        Probabilities of the classes.
    groups : ndarray of int or None
        Groups of samples that are not independent of each other.

    Returns
    -------
    metrics : Metrics
        `accuracy`, `majority` (accuracy of always predicting `most_frequent`, a class of y), `balanced_accuracy` (mean
        sensitivity of the classes that y has), `by_class` (each class against all others), `auc` and `log_loss`, both
        None without probabilities.

    Examples
    --------
    >>> metrics = metrics_of(np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0]), np.ones(4, bool), 2, None)
    >>> metrics.balanced_accuracy, metrics.by_class[1].ppv.value, metrics.majority
    (0.75, 1.0, 0.5)
    """
    from sklearn.metrics import log_loss

    rows = [_of_class(label, y, predicted, accepted, table, groups) for label in range(n_classes)]
    counts, areas = np.bincount(y), [row.auc for row in rows if row.auc is not None]
    return Metrics(
        accuracy=fraction_of(y == predicted, groups=groups),
        majority=float(counts.max() / len(y)),
        most_frequent=int(counts.argmax()),
        balanced_accuracy=float(np.mean([row.sensitivity.value for row in rows if row.sensitivity.total])),
        by_class=rows,
        auc=float(np.mean(areas)) if areas else None,
        auc_error=float(np.sqrt((len(y) + 1) / 12 / counts.prod())) if groups is None and n_classes == 2 else None,
        log_loss=None if table is None else float(log_loss(y, table, labels=np.arange(n_classes))),
    )


def _of_class(
    label: int, true: Codes, guess: Codes, accepted: Bools, table: Floats | None, groups: Codes | None
) -> ClassMetrics:
    from sklearn.metrics import roc_auc_score

    fraction, positive, called = partial(fraction_of, groups=groups), true == label, guess == label
    both = positive.any() and not positive.all()
    wrong = np.bincount(guess[positive & ~called], minlength=1)
    return ClassMetrics(
        sensitivity=fraction(called, positive),
        specificity=fraction(~called, ~positive),
        ppv=fraction(positive, called),
        npv=fraction(~positive, ~called),
        coverage=fraction(accepted, positive),
        auc=float(roc_auc_score(positive, table[:, label])) if table is not None and both else None,
        mistaken_for=int(wrong.argmax()) if wrong.any() else None,
    )


# -- costs of mistakes -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Costs:
    """Costs of mistakes (rows are true classes), mean cost of a sample, and mean cost of always predicting a class."""

    matrix: list[list[float]]
    mean: float
    cheapest_class: int
    cheapest: float


def costs_of_predictions(costs: Floats, codes: Codes, predicted: Codes) -> Costs:
    """Mean cost of predictions, and of always predicting the cheapest class.

    Examples
    --------
    >>> found = costs_of_predictions(np.array([[0.0, 1.0], [5.0, 0.0]]), np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> round(found.mean, 3), found.cheapest_class
    (0.333, 1)
    """
    known = codes < len(costs)  # the model has no costs of classes that it does not know
    possible = costs[codes[known]]
    single = possible.mean(axis=0)
    mean = float(possible[np.arange(len(possible)), predicted[known]].mean())
    return Costs(costs.tolist(), mean, int(single.argmin()), float(single.min()))


# -- probabilities -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Probabilities:
    """How good probabilities are: how often the most probable class is the true one in bins, and the Brier score."""

    is_calibrated: bool  # by a temperature
    calibration_error: float
    probability: list[float]
    accuracy: list[float]
    n_samples: list[int]
    brier: float
    brier_constant: float  # of always giving the fractions of the classes
    drawn: list[int]  # classes with ROC and precision-recall curves
    table: Floats = field(repr=False)
    true: Bools = field(repr=False)  # whether each sample is of each class


def probabilities_of(table: Floats, codes: Codes, *, is_calibrated: bool = False) -> Probabilities:
    """Calibration in ten equal bins with its mean absolute difference, and the Brier score.

    With two classes the Brier score counts one of them, and curves are for the rarer one.

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
    true = np.eye(n_classes, dtype=bool)[codes]
    scale = 2 if n_classes == 2 else 1
    rarest = int(true.sum(axis=0).argmin())
    drawn = [rarest] if n_classes == 2 else list(range(n_classes))
    return Probabilities(
        is_calibrated=is_calibrated,
        calibration_error=float(np.average(np.abs(accuracy - probability), weights=count[known])),
        probability=probability.tolist(),
        accuracy=accuracy.tolist(),
        n_samples=count[known].tolist(),
        brier=float(((table - true) ** 2).sum(axis=1).mean()) / scale,
        brier_constant=float(((true.mean(axis=0) - true) ** 2).sum(axis=1).mean()) / scale,
        drawn=[label for label in drawn if 0 < true[:, label].sum() < len(codes)],
        table=table,
        true=true,
    )
