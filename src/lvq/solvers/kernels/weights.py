"""The loop for a relevance of each feature, shared or local; in the plain metric for soft costs and missing values.

Every step changes the metric or every prototype, so distances are computed sample by sample. Complete rows have a mask
of ones.
"""

from typing import NamedTuple

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, stored
from lvq.solvers.kernels.costs import decay_of, learn_width, moment_of, rate_of, touch, winner_of
from lvq.solvers.kernels.fisher import update_scores
from lvq.solvers.kernels.observed import observed_fraction, set_known
from lvq.solvers.kernels.rule import FISHER1, FISHER2, GRADIENT, HEBBIAN, HEBBIAN_SQUARED
from lvq.typing import Argument


class Work(NamedTuple):
    """Arrays of one sample."""

    distances: np.ndarray  # (M,)
    derivatives: np.ndarray  # (M,) of the cost by the distances
    active: np.ndarray  # (M,) indices of the prototypes that the step touches
    known: np.ndarray  # (n,) 1 observed, 0 missing
    seen: np.ndarray  # (G, n) relevances of what is observed
    fractions: np.ndarray  # (G, 2) see `observed_fraction`
    gradients: np.ndarray  # (G, n) steps of the relevances
    scores: np.ndarray  # (2, n) of the Fisher rules


@helper
def _new_work(W, relevances):
    """Arrays for samples of the type of W; the mask is that of complete rows."""
    count, features = W.shape
    return Work(
        np.zeros(count, W.dtype), np.zeros(count), np.zeros(count, np.int64), np.ones(features, W.dtype),
        np.zeros_like(relevances), np.ones((relevances.shape[0], 2)), np.zeros(relevances.shape),
        np.zeros((2, features)),
    )  # fmt: skip


@helper
def _observe(missing, relevances, variances, known, seen, fractions):
    """Fill in what depends on the mask of a sample."""
    complete = set_known(missing, known)
    for g in range(relevances.shape[0]):
        fraction, unit = observed_fraction(relevances[g], variances, known, complete)
        fractions[g, 0], fractions[g, 1] = fraction, unit
        for k in range(missing.shape[0]):
            seen[g, k] = relevances[g, k] * known[k]


@helper
def _measure(x, W, relevances, owner, distances):
    """Prototype j measures with row owner[j] of the relevances."""
    for j in range(W.shape[0]):
        total, own = x.dtype.type(0), relevances[owner[j]]
        for k in range(x.shape[0]):
            difference = x[k] - W[j, k]
            total += own[k] * difference * difference
        distances[j] = total


@helper
def _move(rule, x, known, w, relevances, change):
    """w += change m (x - w), feature by feature times its relevance where the step carries it."""
    reached = 0.0
    for k in range(x.shape[0]):
        factor = change * relevances[k] if rule.weighted_step else change
        rest = (1.0 - factor) * known[k] * (x[k] - w[k])
        reached += rest * rest
    if not reached <= rule.reach:
        return
    for k in range(x.shape[0]):
        factor = x.dtype.type(change * relevances[k] if rule.weighted_step else change)
        w[k] += factor * known[k] * (x[k] - w[k])


@helper
def _add_gradient(x, w, known, factor, gradient):
    """Add factor s dD/dlambda for a fixed s: m e^2."""
    for k in range(x.shape[0]):
        difference = known[k] * (x[k] - w[k])
        gradient[k] += factor * difference * difference


@helper
def _add_fraction_gradient(factor, fraction, variances, known, gradient):
    """The rest of it, by the observed fraction: -D v (m - s)/sum(lambda v); `factor` has D and the sum."""
    for k in range(gradient.shape[0]):
        gradient[k] -= factor * variances[k] * (known[k] - fraction)


@helper
def _add_hebbian(rule, x, w, known, factor, gradient):
    for k in range(x.shape[0]):
        difference = known[k] * abs(x[k] - w[k])
        gradient[k] += factor * (difference * difference if rule.relevance == HEBBIAN_SQUARED else difference)


@helper
def _take_step(relevances, gradient):
    """lambda -= gradient, clipped at zero and divided by the sum; the gradient is then 0.

    Returns False, and leaves lambda as it is, where nothing remains.
    """
    total = 0.0
    for k in range(gradient.shape[0]):
        gradient[k] = max(0.0, relevances[k] - gradient[k])
        total += gradient[k]
    possible = np.isfinite(total) and total > 0.0
    for k in range(gradient.shape[0]):
        if possible:
            relevances[k] = gradient[k] / total
        gradient[k] = 0.0
    return possible


@helper
def _epoch(rule, rows, order, time, prototypes, weights, work):
    """One pass. Returns the sum of the costs.

    Prototypes move before the relevances, whose gradient is already known then: both steps start from the same place.
    Fields of the tuples are read once, here: reading one for each sample would take as long as the step.
    """
    X, missing, y, weight = rows
    W, starts, width, statistics = prototypes
    relevances, owner, variances = weights
    distances, derivatives, active, known, seen, fractions, gradients, scores = work
    hebbian = rule.relevance == HEBBIAN or rule.relevance == HEBBIAN_SQUARED
    masked, total = missing.shape[0] > 0, 0.0
    for place in range(order.shape[0]):
        i = order[place]
        x = X[i]
        if masked:
            _observe(missing[i], relevances, variances, known, seen, fractions)
            _measure(x, W, seen, owner, distances)
            for j in range(W.shape[0]):
                distances[j] /= fractions[owner[j], 0]
        else:
            _measure(x, W, relevances, owner, distances)
        cost, number = touch(rule, time, width[0], distances, derivatives, active, starts, y[i])
        winner = winner_of(distances, active, number)
        right = starts[y[i]] <= winner < starts[y[i] + 1]
        decay = decay_of(rule, time) * weight[i]
        rate = rate_of(rule, statistics, decay, weight[i], winner, right)
        learn_width(rule, width, decay, moment_of(distances, derivatives, active, number))
        relevance_rate = rule.relevance_rate * decay
        if hebbian:
            _add_hebbian(rule, x, W[winner], known, relevance_rate if right else -relevance_rate, gradients[0])
        for a in range(number):
            j = active[a]
            if derivatives[j] == 0.0:
                continue
            g = owner[j]
            if rule.relevance == GRADIENT:
                factor, fraction, unit = relevance_rate * derivatives[j], fractions[g, 0], fractions[g, 1]
                _add_gradient(x, W[j], known, factor, gradients[g])
                if unit > 0.0:
                    _add_fraction_gradient(factor * distances[j] * unit, fraction, variances, known, gradients[g])
            _move(rule, x, known, W[j], relevances[g], rate * derivatives[j])
        if rule.relevance == GRADIENT or hebbian:
            for g in range(relevances.shape[0]):
                if not _take_step(relevances[g], gradients[g]) and hebbian:
                    relevances[g] = 1.0 / x.shape[0]
        if rule.relevance == FISHER1 or rule.relevance == FISHER2:
            update_scores(rule, statistics, x, y[i], winner, distances, W, starts, relevances[0], scores)
        total += cost * weight[i]
        time += 1.0
    return total


def _compiled(version: int) -> Argument:
    """The loop over epochs; the version goes into the key of numba's cache."""

    @stored
    def weights_epochs(rule, rows, epochs, prototypes, weights):
        if version < 0:
            return
        work, time = _new_work(prototypes.W, weights.relevances), epochs.step
        for epoch in range(epochs.orders.shape[0]):
            epochs.costs[epoch] = _epoch(rule, rows, epochs.orders[epoch], time, prototypes, weights, work)
            time += epochs.orders.shape[1]

    return weights_epochs


weights_epochs = _compiled(VERSION)
