"""The section of the summary about decisions: metrics by class, and what other prices of mistakes would change.

Each step of the page's slider multiplies the price of missing one class by a factor. With two classes a step is a
threshold on the probability of that class. All counts are computed here; the page only looks them up. Their number
grows with the square of the number of classes, so that with many of them the steps are coarser.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from lvq.estimators.found import find_layer
from lvq.rejection.costs import CostClassifier, cheapest_class
from lvq.report.metrics import classification_metrics
from lvq.typing import JSONValue, MatrixLike

FACTORS = 2.0 ** np.arange(-6, 6.25, 0.25)
IN_USE = 24  # the step with a factor of one
FINE_CLASSES, COARSE = 20, 4  # with more classes every fourth factor is a step
MAX_CLASSES = 50  # with more classes the slider is left out


def metrics_section(
    model: BaseEstimator, X: MatrixLike, codes: NDArray[np.intp], predicted: NDArray[np.intp], n_labels: int
) -> dict[str, JSONValue]:
    """`classification_metrics` of the held-out samples, and the decisions by other prices.

    Parameters
    ----------
    model : estimator
        A fitted classifier.
    X : array-like
        Held-out samples.
    codes, predicted : ndarray of int
        Indices of true and predicted classes.
    n_labels : int
        Number of labels; those that the model does not know are the last.
    """
    table = np.asarray(model.predict_proba(X), dtype=np.float64) if hasattr(model, "predict_proba") else None
    priced = find_layer(model, CostClassifier)
    return {
        **classification_metrics(codes, predicted, np.arange(n_labels), table),
        "prices": None if priced is None else priced.costs_.tolist(),
        "price": None if priced is None else _price(priced.costs_, codes, predicted),
        "decisions": None if table is None else decision_steps(table, codes, predicted, n_labels, priced),
    }


def decision_steps(
    table: NDArray[np.float64],
    codes: NDArray[np.intp],
    predicted: NDArray[np.intp],
    n_labels: int,
    priced: CostClassifier | None = None,
) -> dict[str, JSONValue] | None:
    """For each class and factor the predictions of each class, and how many of them are correct.

    Examples
    --------
    >>> table = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> steps = decision_steps(table, np.array([0, 0, 1]), np.array([0, 0, 1]), 2)
    >>> steps["classes"], steps["correct"][0][IN_USE], steps["correct"][0][IN_USE + 4]
    ([1], [2, 1], [1, 1])
    """
    n_classes = table.shape[1]
    if n_labels > MAX_CLASSES or n_classes < 2:
        return None
    factors, in_use = (FACTORS, IN_USE) if n_labels <= FINE_CLASSES else (FACTORS[::COARSE], IN_USE // COARSE)
    base = 1.0 - np.eye(n_classes) if priced is None else priced.costs_
    counts = np.bincount(codes, minlength=n_labels)[:n_classes]
    chosen = [int(counts.argmin()) if counts[0] != counts[-1] else 1] if n_classes == 2 else list(range(n_classes))
    correct, called, paid = [], [], []
    for moved in chosen:
        steps = [_moved(table, base, moved, factor) for factor in factors]
        steps[in_use] = predicted  # also where a tie was decided otherwise
        called.append([np.bincount(step, minlength=n_labels).tolist() for step in steps])
        correct.append([np.bincount(codes[step == codes], minlength=n_labels).tolist() for step in steps])
        paid.append([_mean_price(base, codes, step, n_classes) for step in steps])
    return {
        "classes": chosen,
        "factors": factors.tolist(),
        "in_use": in_use,
        "thresholds": [_threshold(base, chosen[0], factor) for factor in factors] if n_classes == 2 else None,
        "correct": correct,
        "called": called,
        "price": paid if priced is not None else None,
        "totals": np.bincount(codes, minlength=n_labels).tolist(),
    }


def _moved(table: NDArray[np.float64], base: NDArray[np.float64], moved: int, factor: float) -> NDArray[np.intp]:
    prices = base.copy()
    prices[moved] *= factor
    return cheapest_class(table, prices)


def _threshold(base: NDArray[np.float64], positive: int, factor: float) -> float:
    """Probability of a class from which it is predicted, for two classes."""
    missed, alarm = factor * base[positive, 1 - positive], base[1 - positive, positive]
    return float(alarm / (alarm + missed)) if alarm + missed > 0 else 0.5


def _price(
    base: NDArray[np.float64], codes: NDArray[np.intp], predicted: NDArray[np.intp]
) -> dict[str, JSONValue] | None:
    """Mean price of the predictions, and of always predicting the class that is then the cheapest."""
    single = [_mean_price(base, codes, np.full(len(codes), j), len(base)) for j in range(len(base))]
    known = [price for price in single if price is not None]
    return {"mean": _mean_price(base, codes, predicted, len(base)), "single_class": min(known)} if known else None


def _mean_price(
    base: NDArray[np.float64], codes: NDArray[np.intp], step: NDArray[np.intp], n_classes: int
) -> float | None:
    known = codes < n_classes
    return float(base[codes[known], step[known]].mean()) if known.any() else None
