"""The loop for a relevance of each feature, shared or local; in the plain metric for soft costs and missing values.

Every step changes the metric or every prototype, so distances are computed sample by sample. Complete rows have a mask
of ones.

For rows with missing values, see `lvq.model.observed`: d = e'Lambda e / s, e = m (x - w), m the mask, s the
observed fraction. X is filled with any numbers where values are missing, so the loops need not look for NaN. Prototypes
and metric follow the gradient of the sample's cost times s, for each prototype its own. Without this factor the step in
an observed feature has the size 1/s: a row of which little is observed would move prototypes beyond itself, and change
the metric more than any other; a small weight could become the largest in one step. With it a step in a feature is of
the size that complete rows have.
"""

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, stored
from lvq.solvers.kernels.costs import decay_of, learn_width, rate_of, touch, winner_of
from lvq.solvers.kernels.fisher import update_scores
from lvq.solvers.kernels.rule import FISHER1, FISHER2, GRADIENT, HEBBIAN


@helper
def observed_fraction(diagonal, variances, known):
    """The observed fraction s, and 1/sum_l Lambda_ll v_l; (1, 0) where s does not depend on the metric."""
    seen, total = 0.0, 0.0
    for k in range(variances.shape[0]):
        weight = diagonal[k] * variances[k]
        seen += weight * known[k]
        total += weight
    if not (seen > 0.0 and total > 0.0):
        return 1.0, 0.0
    return seen / total, 1.0 / total


@helper
def _measure(x, known, W, relevances, fraction, distances):
    """Distances to the prototypes of a group."""
    for j in range(W.shape[0]):
        total = x.dtype.type(0)
        for k in range(x.shape[0]):
            difference = known[k] * (x[k] - W[j, k])
            total += relevances[k] * difference * difference
        distances[j] = total / fraction


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
        gradient[k] += factor * (difference * difference if rule.squared else difference)


@helper
def _take_step(relevances, gradient, otherwise):
    """lambda -= gradient, clipped at zero and divided by the sum; where nothing remains, `otherwise`."""
    total = 0.0
    for k in range(gradient.shape[0]):
        gradient[k] = max(0.0, relevances[k] - gradient[k])
        total += gradient[k]
    possible = np.isfinite(total) and total > 0.0
    for k in range(gradient.shape[0]):
        relevances[k] = gradient[k] / total if possible else otherwise[k]


@stored
def weights_epoch(rule, rows, order, time, prototypes, metric, version=VERSION):
    """One pass over the samples. Returns the sum of the costs.

    Prototypes move before the relevances, whose gradient is already known then: both steps start from the same place.
    """
    X, observed, y, weight = rows
    W, starts, width, statistics = prototypes
    relevances, groups, variances = metric
    count, complete, gradient = W.shape[0], np.ones(X.shape[1], W.dtype), np.zeros(X.shape[1])
    distances, derivatives, active = np.zeros(count), np.zeros(count), np.zeros(count, np.int64)
    fractions, even = np.ones((relevances.shape[0], 2)), np.full_like(relevances[0], 1.0 / X.shape[1])
    masked, hebbian, total = observed.shape[0] > 0, rule.relevance == HEBBIAN, 0.0
    for place in range(order.shape[0]):
        i = order[place]
        x, known = X[i], observed[i] if masked else complete
        for g in range(relevances.shape[0]):
            low, high = groups[g], groups[g + 1]
            if masked:
                fractions[g, 0], fractions[g, 1] = observed_fraction(relevances[g], variances, known)
            _measure(x, known, W[low:high], relevances[g], fractions[g, 0], distances[low:high])
        low, high = starts[y[i]], starts[y[i] + 1]
        cost, number = touch(rule, time, width[0], distances, derivatives, active, starts, y[i])
        decay, winner = decay_of(rule, time) * weight[i], winner_of(distances, active, number)
        right = low <= winner < high
        rate = rate_of(rule, statistics, decay, weight[i], winner, right)
        learn_width(rule, width, decay, distances, derivatives, active, number)
        relevance_rate = rule.relevance_rate * decay
        for g in range(relevances.shape[0]):
            gradient[:] = 0.0
            if hebbian:
                _add_hebbian(rule, x, W[winner], known, relevance_rate if right else -relevance_rate, gradient)
            for a in range(number):
                j = active[a]
                if derivatives[j] == 0.0 or not groups[g] <= j < groups[g + 1]:
                    continue
                if rule.relevance == GRADIENT:
                    factor, fraction, unit = relevance_rate * derivatives[j], fractions[g, 0], fractions[g, 1]
                    _add_gradient(x, W[j], known, factor, gradient)
                    if unit > 0.0:
                        _add_fraction_gradient(factor * distances[j] * unit, fraction, variances, known, gradient)
                _move(rule, x, known, W[j], relevances[g], rate * derivatives[j])
            if rule.relevance == GRADIENT or hebbian:
                _take_step(relevances[g], gradient, even if hebbian else relevances[g])
        if rule.relevance == FISHER1 or rule.relevance == FISHER2:
            update_scores(rule, statistics, x, y[i], winner, distances, W, starts, relevances[0])
        total += cost * weight[i]
        time += 1.0
    return total
