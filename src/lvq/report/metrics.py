"""Metrics of predictions that accuracy hides: by class, with intervals, and of the probabilities.

Intervals of fractions are those of Clopper and Pearson. That of an AUC, A of m positive and n negative samples, holds
all t with |A - t| <= z sqrt(V(t)), where V is the variance of Hanley and McNeil (1982) in the form of Newcombe (2006,
method 5):

    V(t) = t (1 - t) (1 + N ((1 - t) / (2 - t) + t / (1 + t))) / (m n),  N = (m + n) / 2 - 1.

V is that of t, not of A, so that an AUC of 1, for which V(A) = 0, has an interval too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.rejection.guarantee import error_upper_bound
from lvq.typing import JSONValue

CONFIDENCE = 0.975  # one-sided confidence of each end of a 95 % interval
NORMAL = 1.959964  # the quantile of that confidence
SMALLEST = 1e-6  # of a probability in the log-loss


def confidence_interval(n_correct: int, n_samples: int) -> list[float] | None:
    """95 % interval of an accuracy (Clopper-Pearson).

    Examples
    --------
    >>> [round(end, 3) for end in confidence_interval(95, 100)], confidence_interval(0, 0)
    ([0.887, 0.984], None)
    """
    if not n_samples:
        return None
    low = 1 - float(error_upper_bound(n_samples - n_correct, n_samples, CONFIDENCE))
    return [low, float(error_upper_bound(n_correct, n_samples, CONFIDENCE))]


def fraction_of(count: int, total: int) -> dict[str, JSONValue]:
    """A fraction with its counts and its interval; its value is None where there is nothing to count.

    Examples
    --------
    >>> fraction_of(0, 0)
    {'value': None, 'count': 0, 'total': 0, 'interval': None}
    """
    value = count / total if total else None
    return {"value": value, "count": int(count), "total": int(total), "interval": confidence_interval(count, total)}


def roc_auc(positive: NDArray[np.bool_], score: NDArray[np.float64]) -> dict[str, JSONValue] | None:
    """Area under the ROC curve with its interval; None where one of the two classes is absent.

    Examples
    --------
    >>> roc_auc(np.array([False, False, True, True]), np.array([0.1, 0.4, 0.35, 0.8]))["value"]
    0.75
    >>> [round(end, 3) for end in roc_auc(np.arange(60) >= 30, np.arange(60.0))["interval"]]
    [0.933, 1.0]
    """
    from scipy.stats import rankdata

    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    if not n_positive or not n_negative:
        return None
    area = (rankdata(score)[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)
    interval = [
        _auc_lower(float(area), n_positive, n_negative),
        1 - _auc_lower(1 - float(area), n_positive, n_negative),
    ]
    return {"value": float(area), "interval": interval}


def _auc_lower(area: float, n_positive: int, n_negative: int) -> float:
    """Lower end of the interval of an AUC; the upper one is that of 1 less the AUC, as the variance is symmetric."""
    from scipy.optimize import brentq

    def excess(t: float) -> float:
        n = (n_positive + n_negative) / 2 - 1
        variance = t * (1 - t) * (1 + n * ((1 - t) / (2 - t) + t / (1 + t))) / (n_positive * n_negative)
        return area - t - NORMAL * float(np.sqrt(variance))

    # from above 0 to below 0 or, at an area of 1, back to 0
    return 0.0 if area <= 0 else float(brentq(excess, 0.0, min(area, 1 - 1e-9)))


def classification_metrics(
    y: ArrayLike, predicted: ArrayLike, classes: ArrayLike, probabilities: ArrayLike | None = None
) -> dict[str, JSONValue]:
    """Metrics of predictions for labelled samples, in JSON types.

    Parameters
    ----------
    y, predicted : array-like of shape (n_samples,)
        True and predicted classes.
    classes : array-like of shape (n_classes,)
        All classes, in the order of the columns of `probabilities`.
    probabilities : array-like of shape (n_samples, n_classes), optional
        Probabilities of the classes; columns may be missing at the end, for classes that the model does not know.

    Returns
    -------
    metrics : dict
        "accuracy", "majority" (accuracy of always predicting the most frequent class of y), "balanced_accuracy" (mean
        sensitivity of the classes that y has); "by_class", a list with "sensitivity", "specificity", "ppv", "npv" and
        "auc" of each class against all others; "auc" (of two classes, else the mean over the classes) and "log_loss",
        None without probabilities. Fractions have "value", "count", "total" and a 95 % "interval".

    Examples
    --------
    >>> metrics = classification_metrics([1, 1, 0, 0], [1, 0, 0, 0], [0, 1])
    >>> metrics["balanced_accuracy"], metrics["by_class"][1]["ppv"]["value"], metrics["majority"]["value"]
    (0.75, 1.0, 0.5)
    """
    true, guess, names = column_or_1d(y), column_or_1d(predicted), np.asarray(classes)
    check_consistent_length(true, guess)
    if not len(true):
        raise ValueError("classification_metrics needs at least one sample, got none.")
    table = None if probabilities is None else np.asarray(probabilities, dtype=np.float64)
    rows = [_of_class(true == name, guess == name, _column(table, place)) for place, name in enumerate(names)]
    if len(names) == 2 and rows[1]["auc"] is not None:
        rows[0]["auc"] = rows[1]["auc"]  # the same area, and the same interval
    sensitivities = [row["sensitivity"]["value"] for row in rows if row["sensitivity"]["total"]]
    areas = [row["auc"] for row in rows if row["auc"] is not None]
    auc = None
    if areas:
        auc = areas[0] if len(names) == 2 else {"value": float(np.mean([a["value"] for a in areas])), "interval": None}
    majority = max(int((true == name).sum()) for name in np.unique(true))
    return {
        "n_samples": len(true),
        "accuracy": fraction_of(int((true == guess).sum()), len(true)),
        "majority": fraction_of(majority, len(true)),
        "balanced_accuracy": float(np.mean(sensitivities)),
        "by_class": rows,
        "auc": auc,
        "log_loss": None if table is None else _log_loss(true, names, table),
    }


def _column(table: NDArray[np.float64] | None, place: int) -> NDArray[np.float64] | None:
    return None if table is None or place >= table.shape[1] else table[:, place]


def _of_class(
    positive: NDArray[np.bool_], called: NDArray[np.bool_], score: NDArray[np.float64] | None
) -> dict[str, JSONValue]:
    """One class against all others."""
    both, neither = int((positive & called).sum()), int((~positive & ~called).sum())
    return {
        "sensitivity": fraction_of(both, int(positive.sum())),
        "specificity": fraction_of(neither, int((~positive).sum())),
        "ppv": fraction_of(both, int(called.sum())),
        "npv": fraction_of(neither, int((~called).sum())),
        "auc": None if score is None else roc_auc(positive, score),
    }


def _log_loss(true: np.ndarray, names: np.ndarray, table: NDArray[np.float64]) -> float:
    place = {name: index for index, name in enumerate(names.tolist())}
    columns = np.array([place[name] for name in true.tolist()])
    known = columns < table.shape[1]
    chosen = np.where(known, table[np.arange(len(true)), np.where(known, columns, 0)], 0.0)
    return float(-np.log(np.maximum(chosen, SMALLEST)).mean())
