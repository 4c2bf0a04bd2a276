"""The loop for LVQ1 to LOGM in the plain metric, which looks ahead by a matrix product."""

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, inlined, stored
from lvq.solvers.kernels.costs import pair_derivatives
from lvq.solvers.kernels.rule import OLVQ1
from lvq.solvers.kernels.steps import decay_of, learn_width, update_olvq1_rate, within_reach
from lvq.solvers.kernels.winners import choose
from lvq.typing import Argument


@inlined
def _pair_distances(rows, sample, first, second):
    first_distance, second_distance = rows.dtype.type(0), rows.dtype.type(0)
    for k in range(rows.shape[1]):
        value = rows[sample, k]
        one, two = value - rows[first, k], value - rows[second, k]
        first_distance += one * one
        second_distance += two * two
    return float(first_distance), float(second_distance)


@helper
def _plain_epoch(
    rule, X, y, weights, order, step, rows, starts, width, products, distances, bits, keys, lengths, statistics
):
    """One pass of LVQ1 .. LOGM in the plain metric. Returns the sum of the costs.

    `rows` holds the M prototypes and below them a block of samples, so that one product gives the dot products of the
    block with the prototypes and with itself. A step moves at most two prototypes by w += c (x - w), after which their
    products with the next samples change by c (x_k'x - x_k'w), without reading the features again. The distances of the
    chosen two are computed again as sums of squared differences, so that rounding in the products cannot affect a step.
    """
    block = products.shape[0]
    count = lengths.shape[0]
    samples = rows[count:]
    zero, two = rows.dtype.type(0), rows.dtype.type(2)  # Python numbers would convert float32 to float64 and back
    total = 0.0
    for begin in range(0, order.shape[0], block):
        filled = min(block, order.shape[0] - begin)
        for b in range(filled):
            i = order[begin + b]
            for k in range(X.shape[1]):
                rows[count + b, k] = X[i, k]
        np.dot(samples, rows.T, products)
        for b in range(filled):
            i = order[begin + b]
            square = products[b, count + b]
            for j in range(count):
                distance = square + lengths[j] - two * products[b, j]
                distances[j] = distance if distance > zero else zero
            low, high = starts[y[i]], starts[y[i] + 1]
            first, second, first_own, second_own = choose(rule, distances, bits, keys, count, low, high)
            first_distance, second_distance = _pair_distances(rows, count + b, first, second)
            first_wins = first_distance < second_distance or (first_distance == second_distance and first < second)
            cost, first_derivative, second_derivative = pair_derivatives(
                rule, step, width[0], first_distance, second_distance, first_own, second_own, first_wins
            )
            total += cost * weights[i]
            decay = decay_of(rule, step) * weights[i]
            rate = 2.0 * rule.rate * decay
            if rule.cost == OLVQ1:
                winner = first if first_wins else second
                rate = 2.0 * statistics.rates[winner] * weights[i]
                update_olvq1_rate(statistics, rule, winner, first_wins)
            learn_width(rule, width, decay, first_derivative * first_distance + second_derivative * second_distance)
            first_change = within_reach(rule, rate * first_derivative, first_distance)
            second_change = within_reach(rule, rate * second_derivative, second_distance)
            if first_change != 0.0 and second_change != 0.0:
                _move_pair(rows, lengths, count + b, first, second, first_change, second_change)
                _update_products(products, count + b, b + 1, filled, first, first_change)
                _update_products(products, count + b, b + 1, filled, second, second_change)
            elif first_change != 0.0 or second_change != 0.0:
                moved, change = (first, first_change) if second_change == 0.0 else (second, second_change)
                lengths[moved] = _move(rows, count + b, moved, change)
                _update_products(products, count + b, b + 1, filled, moved, change)
            step += 1.0
    return total


@inlined
def _move(rows, sample, j, change):
    """w += change (x - w), and its new squared length."""
    factor, total = rows.dtype.type(change), rows.dtype.type(0)
    for k in range(rows.shape[1]):
        value = rows[j, k] + factor * (rows[sample, k] - rows[j, k])
        rows[j, k] = value
        total += value * value
    return total


@inlined
def _move_pair(rows, lengths, sample, first, second, first_change, second_change):
    """`_move` for two different prototypes at once: the sample is read once, and the two sums run side by side."""
    one, two = rows.dtype.type(first_change), rows.dtype.type(second_change)
    first_length, second_length = rows.dtype.type(0), rows.dtype.type(0)
    for k in range(rows.shape[1]):
        value = rows[sample, k]
        left, right = rows[first, k], rows[second, k]
        left += one * (value - left)
        right += two * (value - right)
        rows[first, k], rows[second, k] = left, right
        first_length += left * left
        second_length += right * right
    lengths[first], lengths[second] = first_length, second_length


@inlined
def _update_products(products, sample, begin, end, j, change):
    """Update the products of later samples with prototype j after its move towards `sample`."""
    factor = products.dtype.type(change)
    for later in range(begin, end):
        products[later, j] += factor * (products[later, sample] - products[later, j])


def _compiled(version: int) -> Argument:
    """The loop over epochs; the version goes into the key of numba's cache."""

    @stored
    def plain_epochs(
        rule, X, y, weights, orders, costs, step, rows, starts, width, products, distances, bits, keys, lengths,
        statistics,
    ):  # fmt: skip
        if version < 0:
            return
        for epoch in range(orders.shape[0]):
            costs[epoch] = _plain_epoch(
                rule, X, y, weights, orders[epoch], step, rows, starts, width, products, distances, bits, keys, lengths,
                statistics,
            )  # fmt: skip
            step += orders.shape[1]

    return plain_epochs


plain_epochs = _compiled(VERSION)
