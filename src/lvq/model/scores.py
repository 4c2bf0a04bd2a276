"""From distances to decisions: winner and rival, certainty, scores and probabilities, and their temperature.

The largest score always belongs to the predicted class.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax, softmax

from lvq.model.costs import log_sum_exp
from lvq.model.links import Link
from lvq.model.metrics import class_starts, nearest_pair
from lvq.model.rows import first_argmin, namespace, take_columns
from lvq.typing import Array

STEEP_APART = 10.0  # xi times the distance to the nearest other prototype; best with one row of each of 150 intents
SHARPNESS = 5.0  # of the probabilities of a relative cost, unless its sigmoid has a slope
LARGEST_TEMPERATURE = 8.0  # and one over it is the smallest
PENALTY = 0.003  # of the squared logarithm of T: a few samples without an error do not mean certainty
SMALLEST_LOGARITHM = -1e4  # of a probability relative to the largest of its row


def class_distances(distances: np.ndarray, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Smallest distance of each class; infinite for a class without prototypes.

    Examples
    --------
    >>> import numpy as np
    >>> class_distances(np.array([[3.0, 1.0, 2.0]]), np.array([0, 2, 2]), 3).tolist()
    [[3.0, inf, 1.0]]
    """
    smallest = np.full((len(distances), n_classes), np.inf, dtype=distances.dtype)
    starts = class_starts(labels)
    smallest[:, labels[starts]] = np.minimum.reduceat(distances, starts, axis=1)
    return smallest


def class_scores(link: Link, distances: np.ndarray, xi: float | None) -> np.ndarray:
    """How much nearer each class is than all others, from the classes' smallest squared distances.

    xi (d_other - d_k) for a cost with a steepness xi, else (d_other - d_k)/(d_other + d_k) in [-1, 1].
    """
    linked = _linked(link, distances)
    nearest, second = linked.argmin(axis=1), np.partition(linked, 1, axis=1)[:, 1]
    others = np.where(np.arange(linked.shape[1]) == nearest[:, None], second[:, None], linked.min(axis=1)[:, None])
    known = np.isfinite(linked)
    gap = others - np.where(known, linked, 0)
    if xi is not None:
        largest = float(np.finfo(distances.dtype).max)  # a tiny spread makes xi too large for float32
        steep = np.clip(xi * gap.astype(np.float64), -largest, largest).astype(distances.dtype)
        return make_largest(np.where(known, steep, -np.inf), distances.argmin(axis=1))
    total = np.where(np.isfinite(others), others + np.where(known, linked, 0), np.inf)
    scores = np.where(np.isfinite(total) & (total > 0), gap, 0) / np.where(total > 0, total, 1)
    scores = np.where(np.isfinite(others), scores, 1)  # no other class has prototypes yet
    return make_largest(np.where(known, scores, -1), distances.argmin(axis=1))


def class_probabilities(link: Link, distances: np.ndarray, xi: float | None, sharpness: float) -> np.ndarray:
    """Softmax of -xi d_k for a cost with a steepness xi, else of the relative scores times half the sharpness.

    With two classes both are the logistic function of the score, so scores and probabilities rank alike.
    """
    logits = class_scores(link, distances, None) * (sharpness / 2) if xi is None else -xi * _behind(link, distances)
    return make_largest(softmax(logits, axis=1).astype(distances.dtype), distances.argmin(axis=1))


def class_log_probabilities(link: Link, distances: np.ndarray, xi: float) -> np.ndarray:
    """Logarithms of `class_probabilities`; with two classes the log-odds."""
    if distances.shape[1] == 2:
        return class_scores(link, distances, xi)
    smallest = float(np.finfo(distances.dtype).min)  # a tiny spread makes xi too large for float32
    table = np.maximum(log_softmax(-xi * _behind(link, distances), axis=1), smallest).astype(distances.dtype)
    return make_largest(np.where(np.isfinite(distances), table, -np.inf), distances.argmin(axis=1))


def posterior(link: Link, distances: np.ndarray, labels: np.ndarray, n_classes: int, xi: float) -> np.ndarray:
    """Sum over each class's prototypes of softmax(-xi H), in float64."""
    memberships = softmax(-xi * link.value(distances).astype(np.float64), axis=1)
    starts = class_starts(labels)
    result = np.zeros((len(distances), n_classes))
    result[:, labels[starts]] = np.add.reduceat(memberships, starts, axis=1)
    return result


def _linked(link: Link, distances: np.ndarray) -> np.ndarray:
    known = np.isfinite(distances)
    linked = np.where(known, link.value(np.where(known, distances, 0)), np.inf)
    # rounding in a kernel can exchange neighbours; none is nearer than the nearest in D
    return np.maximum(linked, np.take_along_axis(linked, distances.argmin(axis=1)[:, None], axis=1))


def _behind(link: Link, distances: np.ndarray) -> np.ndarray:
    """How much larger the linked distance of each class is than the smallest one."""
    linked = _linked(link, distances)
    return (linked - linked.min(axis=1, keepdims=True)).astype(np.float64)


def make_largest(scores: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Scores in which the predicted class has the largest.

    Far from all prototypes a kernel saturates and all classes tie; rounding can do the same.
    """
    rows = np.flatnonzero(scores.argmax(axis=1) != predicted)
    if len(rows):
        largest = scores[rows].max(axis=1)
        scores[rows, predicted[rows]] = np.nextafter(largest, np.asarray(np.inf, dtype=scores.dtype))
    return scores


@dataclass(frozen=True)
class DecisionRule:
    """How distances become scores, probabilities and a predicted class.

    Parameters
    ----------
    xi : float, optional
        Steepness of the cost in units of 1/H; None for a cost of relative distances.
    sharpness : float, default=5.0
        For relative costs: how steeply relative scores become probabilities.
    soft : bool, default=False
        Whether the cost defines a posterior, softmax(-xi H) over all prototypes.
    by_posterior : bool, default=False
        Predict the class of the largest posterior instead of the class of the nearest prototype.
    temperature : float, default=1.0
        Probabilities are raised to the power of one over the temperature; see `fitted_temperature`.
    log_probabilities : bool, default=False
        Scores are the logarithms of the probabilities, with two classes the log-odds.
    """

    xi: float | None = None
    sharpness: float = SHARPNESS
    soft: bool = False
    by_posterior: bool = False
    temperature: float = 1.0
    log_probabilities: bool = False


class Nearest(NamedTuple):
    """The winner of each sample and the nearest prototype of another class than the winner's, with their distances."""

    winner: Array
    rival: Array
    winner_distance: Array
    rival_distance: Array


def nearest(distances: Array, labels: Array, predicted: Array | None = None) -> Nearest:
    """Winner and rival of each row of distances.

    The winner is the nearest prototype, or with `predicted` the nearest of that class; the rival is the nearest of all
    other classes.

    Examples
    --------
    >>> import numpy as np
    >>> found = nearest(np.array([[3.0, 1.0, 2.0]]), np.array([0, 1, 1]))
    >>> int(found.winner[0]), int(found.rival[0])
    (1, 0)
    """
    if predicted is None:
        predicted = labels[first_argmin(distances)]
    winner, rival, *_ = nearest_pair(distances + 0, predicted, labels)
    return Nearest(winner, rival, take_columns(distances, winner), take_columns(distances, rival))


def relative_similarity(winner_distance: Array, rival_distance: Array) -> Array:
    """RelSim (d- - d+)/(d- + d+) in [0, 1] (Fischer et al. 2015); 0 where both are 0."""
    xp = namespace(winner_distance)
    total = winner_distance + rival_distance
    return (rival_distance - winner_distance) / xp.where(total > 0, total, xp.ones_like(total))


def tempered(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities to the power of 1/temperature, divided by their sum.

    Examples
    --------
    >>> import numpy as np
    >>> tempered(np.array([[0.8, 0.2]]), 0.5).round(3).tolist()
    [[0.941, 0.059]]
    """
    if temperature == 1:
        return probabilities
    raised = (probabilities / probabilities.max(axis=1, keepdims=True)) ** (1 / temperature)
    return raised / raised.sum(axis=1, keepdims=True)


def fitted_temperature(log_probabilities: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """The temperature of probabilities with the smallest log-loss, to which 0.003 log(T)^2 is added.

    Parameters
    ----------
    log_probabilities : ndarray of shape (n_samples, n_classes)
        Logarithms of probabilities, up to a constant in each row; -inf for a class that is impossible.
    y : ndarray of shape (n_samples,)
        Class indices.
    weight : ndarray of shape (n_samples,)
        Weights of the samples; only their ratios count.

    Returns
    -------
    temperature : float
        Between 1/8 and 8; below one where the probabilities were not sharp enough.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.log([[0.6, 0.4]] * 10)
    >>> round(fitted_temperature(p, np.array([0] * 9 + [1]), np.ones(10)), 2)  # nine of ten are correct, not six
    0.19
    """
    from scipy.optimize import minimize_scalar  # which predictions do not need

    behind = log_probabilities.astype(np.float64) - log_probabilities.max(axis=1, keepdims=True)
    behind = np.maximum(behind, SMALLEST_LOGARITHM)
    fraction = weight / weight.sum(dtype=np.float64)
    mean = float(fraction @ behind[np.arange(len(y)), y])

    def loss(logarithm: float) -> float:
        power = np.exp(-logarithm)
        return float(fraction @ log_sum_exp(power * behind)) - power * mean + PENALTY * logarithm**2

    limit = np.log(LARGEST_TEMPERATURE)
    return float(np.exp(minimize_scalar(loss, bounds=(-limit, limit), method="bounded").x))
