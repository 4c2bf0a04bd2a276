"""The loop for a relevance of each feature, shared or local, and for soft models in the plain metric."""

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, stored
from lvq.solvers.kernels.costs import pair_derivatives, soft_derivatives
from lvq.solvers.kernels.fisher import average_scores, of_neighbours, over_prototypes, record
from lvq.solvers.kernels.relevances import add_gradient, gradient_step, hebbian_step, take_step
from lvq.solvers.kernels.rule import FISHER1, FISHER2, GRADIENT, HEBBIAN, HEBBIAN_SQUARED, LVQ3, LVQ21, OLVQ1, SNPC
from lvq.solvers.kernels.steps import decay_of, learn_width, update_olvq1_rate
from lvq.solvers.kernels.winners import nearest_pair, two_nearest
from lvq.typing import Argument


@helper
def _weighted_distances(x, W, relevances, owner, distances):
    """Prototype j measures with row owner[j] of the relevances."""
    for j in range(W.shape[0]):
        total, own = x.dtype.type(0), relevances[owner[j]]
        for k in range(x.shape[0]):
            difference = x[k] - W[j, k]
            total += own[k] * difference * difference
        distances[j] = total


@helper
def _weighted_move(rule, x, W, j, relevances, change):
    """w_j += change (x - w_j), feature by feature times its relevance where the step carries it."""
    reached = 0.0
    for k in range(x.shape[0]):
        factor = change * relevances[k] if rule.weighted_step else change
        rest = (1.0 - factor) * (x[k] - W[j, k])
        reached += rest * rest
    if not reached <= rule.reach:
        return
    for k in range(x.shape[0]):
        factor = x.dtype.type(change * relevances[k] if rule.weighted_step else change)
        W[j, k] += factor * (x[k] - W[j, k])


@helper
def _weighted_epoch(
    rule, X, y, weights, order, step, W, starts, width, relevances, owner, distances, derivatives, statistics, scratch
):
    """One pass with a relevance for each feature, or of a soft model. Returns the sum of the costs.

    Every step changes the metric, or every prototype, so distances are computed sample by sample. `relevances` has a
    row for each group of prototypes; rules without a gradient have one.
    """
    before = np.empty_like(relevances)
    count = W.shape[0]
    soft = rule.cost >= SNPC
    everyone = np.arange(count)
    pair = np.empty(2, dtype=np.int64)
    total = 0.0
    for s in range(order.shape[0]):
        i = order[s]
        x = X[i]
        low, high = starts[y[i]], starts[y[i] + 1]
        _weighted_distances(x, W, relevances, owner, distances)
        decay = decay_of(rule, step) * weights[i]
        rate = 2.0 * rule.rate * decay
        active = everyone
        moment = 0.0
        if soft:
            cost = soft_derivatives(rule, width[0], distances, derivatives, low, high)
            winner = np.argmin(distances[:count])
            for j in range(count):
                moment += derivatives[j] * distances[j]
        else:
            if rule.cost == LVQ21 or rule.cost == LVQ3:
                first, second = two_nearest(distances, count)
            else:
                first, second = nearest_pair(distances, count, low, high)
            first_distance, second_distance = float(distances[first]), float(distances[second])
            winner = (
                first
                if first_distance < second_distance or (first_distance == second_distance and first < second)
                else second
            )
            cost, derivatives[first], derivatives[second] = pair_derivatives(
                rule,
                step,
                width[0],
                first_distance,
                second_distance,
                low <= first < high,
                low <= second < high,
                winner == first,
            )
            pair[0] = first if derivatives[first] != 0.0 else -1
            pair[1] = second if derivatives[second] != 0.0 else -1
            active = pair
            moment = derivatives[first] * first_distance + derivatives[second] * second_distance
        total += cost * weights[i]
        right = low <= winner < high
        if rule.cost == OLVQ1:
            rate = 2.0 * statistics.rates[winner] * weights[i]
            update_olvq1_rate(statistics, rule, winner, right)
        learn_width(rule, width, decay, moment)
        if rule.relevance == GRADIENT and rule.every > 1:
            add_gradient(x, W, derivatives, active, rule.relevance_rate * decay, scratch[1])
            _move_active(rule, x, W, active, relevances, owner, rate, derivatives)
            if (s + 1) % rule.every == 0 or s + 1 == order.shape[0]:
                take_step(relevances[0], scratch[1])
        elif rule.relevance == GRADIENT:
            before[:] = relevances  # the prototypes' step is taken in the metric before the step
            gradient_step(x, W, derivatives, active, rule.relevance_rate * decay, relevances, owner, scratch[0])
            _move_active(rule, x, W, active, before, owner, rate, derivatives)
        else:
            if rule.relevance == HEBBIAN or rule.relevance == HEBBIAN_SQUARED:
                before[:] = relevances
                hebbian_step(rule, x, W, winner, right, rule.relevance_rate * decay, relevances[0], scratch[0])
                _move_active(rule, x, W, active, before, owner, rate, derivatives)
            else:
                _move_active(rule, x, W, active, relevances, owner, rate, derivatives)
        if rule.relevance == FISHER1 or rule.relevance == FISHER2:
            record(statistics, x, winner, y[i], right, rule.relevance == FISHER2)
            if rule.relevance == FISHER1:
                defined = over_prototypes(statistics, W, starts, scratch[0], scratch[1], rule.even_classes)
            else:
                defined = of_neighbours(rule, statistics, distances, starts, winner, scratch[0], scratch[1])
            if defined:
                average_scores(rule, statistics, scratch[0], scratch[1], relevances[0])
        step += 1.0
    return total


@helper
def _move_active(rule, x, W, active, relevances, owner, rate, derivatives):
    for a in range(active.shape[0]):
        j = active[a]
        if j >= 0:
            _weighted_move(rule, x, W, j, relevances[owner[j]], rate * derivatives[j])


def _compiled(version: int) -> Argument:
    """The loop over epochs; the version goes into the key of numba's cache."""

    @stored
    def weighted_epochs(
        rule, X, y, weights, orders, costs, step, W, starts, width, relevances, owner, distances, derivatives,
        statistics, scratch,
    ):  # fmt: skip
        if version < 0:
            return
        for epoch in range(orders.shape[0]):
            costs[epoch] = _weighted_epoch(
                rule, X, y, weights, orders[epoch], step, W, starts, width, relevances, owner, distances, derivatives,
                statistics, scratch,
            )  # fmt: skip
            step += orders.shape[1]

    return weighted_epochs


weighted_epochs = _compiled(VERSION)
