"""The loop for samples with missing values, in the plain metric and with a relevance of each feature, also local."""

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, stored
from lvq.solvers.kernels.incomplete import moment_of, observed_fraction, set_known, touched_prototypes
from lvq.solvers.kernels.relevances import take_step
from lvq.solvers.kernels.rule import GRADIENT, OLVQ1
from lvq.solvers.kernels.steps import decay_of, learn_width, update_olvq1_rate
from lvq.typing import Argument


@helper
def _distances(x, seen, W, owner, fractions, distances):
    """Prototype j measures with row owner[j] of the relevances of what is observed."""
    for j in range(W.shape[0]):
        total, own = x.dtype.type(0), seen[owner[j]]
        for k in range(x.shape[0]):
            difference = x[k] - W[j, k]
            total += own[k] * difference * difference
        distances[j] = total / fractions[owner[j], 0]


@helper
def _add_gradient(x, known, w, variances, fraction, unit, distance, factor, gradient):
    """Add factor s dD/dlambda: m e^2 - D v (m - s)/sum(lambda v), the last by the observed fraction."""
    by_fraction = factor * distance * unit
    for k in range(x.shape[0]):
        difference = known[k] * (x[k] - w[k])
        gradient[k] += factor * difference * difference - by_fraction * variances[k] * (known[k] - fraction)


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
        factor = change * relevances[k] if rule.weighted_step else change
        w[k] += x.dtype.type(factor * known[k]) * (x[k] - w[k])


@helper
def _epoch(
    rule, X, missing, y, weights, order, step, W, starts, width, relevances, owner, variances, distances, derivatives,
    gradients, fractions, known, statistics,
):  # fmt: skip
    """One pass. Returns the sum of the costs.

    `gradients` has a row for each row of the relevances. Prototypes move before the relevances, whose gradient is
    already known then, so that both steps are taken from the same place.
    """
    active, seen = np.empty(W.shape[0], dtype=np.int64), np.empty_like(relevances)
    total = 0.0
    for place in range(order.shape[0]):
        i = order[place]
        x = X[i]
        complete = set_known(missing[i], known)
        for g in range(relevances.shape[0]):
            fractions[g, 0], fractions[g, 1] = observed_fraction(relevances[g], variances, known, complete)
            for k in range(x.shape[0]):
                seen[g, k] = relevances[g, k] * known[k]
        _distances(x, seen, W, owner, fractions, distances)
        cost, number = touched_prototypes(
            rule, step, width[0], distances, derivatives, starts[y[i]], starts[y[i] + 1], active
        )
        total += cost * weights[i]
        decay = decay_of(rule, step) * weights[i]
        rate = 2.0 * rule.rate * decay
        if rule.cost == OLVQ1:
            correct = derivatives[active[0]] != 0.0
            winner = active[0] if correct else active[1]
            rate = 2.0 * statistics.rates[winner] * weights[i]
            update_olvq1_rate(statistics, rule, winner, correct)
        step += 1.0
        learn_width(rule, width, decay, moment_of(distances, derivatives, active, number))
        for a in range(number):
            j = active[a]
            g, derivative = owner[j], derivatives[j]
            fraction, unit = fractions[g, 0], fractions[g, 1]
            if derivative == 0.0:
                continue
            if rule.relevance == GRADIENT:
                factor = rule.relevance_rate * decay * derivative
                _add_gradient(x, known, W[j], variances, fraction, unit, distances[j], factor, gradients[g])
            _move(rule, x, known, W[j], relevances[g], rate * derivative)
        if rule.relevance == GRADIENT and ((place + 1) % rule.every == 0 or place + 1 == order.shape[0]):
            for g in range(relevances.shape[0]):
                take_step(relevances[g], gradients[g])
    return total


def _compiled(version: int) -> Argument:
    """The loop over epochs; the version goes into the key of numba's cache."""

    @stored
    def incomplete_weight_epochs(
        rule, X, missing, y, weights, orders, costs, step, W, starts, width, relevances, owner, variances, distances,
        derivatives, gradients, fractions, known, statistics,
    ):  # fmt: skip
        if version < 0:
            return
        for epoch in range(orders.shape[0]):
            costs[epoch] = _epoch(
                rule, X, missing, y, weights, orders[epoch], step, W, starts, width, relevances, owner, variances,
                distances, derivatives, gradients, fractions, known, statistics,
            )  # fmt: skip
            step += orders.shape[1]

    return incomplete_weight_epochs


incomplete_weight_epochs = _compiled(VERSION)
