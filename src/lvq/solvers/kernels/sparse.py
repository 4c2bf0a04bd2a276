"""Compiled code for sparse samples: epochs in the plain metric whose steps cost O(M nnz(x)), whatever n is.

A prototype is a scale times a column of V, w_j = scales[j] V[:, j], and its squared length is kept. A step
``w += c (x - w)`` is then a factor of the scale and an addition at the stored columns of x, and the length follows from
the dot product that the search has already computed. V holds features in rows, so that one stored column of a sample
meets all prototypes in one place of the memory. At the end of each epoch the scales go into V and the lengths are
computed again, so that rounding errors do not accumulate. Costs, links and schedules are those of `costs.py` and
`steps.py`.
"""

from lvq.solvers.kernels.compiling import VERSION, helper, stored
from lvq.solvers.kernels.costs import pair_derivatives, soft_derivatives
from lvq.solvers.kernels.rule import LVQ3, LVQ21, OLVQ1, SNPC
from lvq.solvers.kernels.steps import decay_of, learn_width, length_after, update_olvq1_rate, within_reach
from lvq.solvers.kernels.winners import nearest_pair, two_nearest
from lvq.typing import Argument

SMALLEST, LARGEST = 1e-9, 1e9  # sizes of a scale between which V keeps its digits


@helper
def _products(values, columns, V, scales, products):
    """Dot products of a sample with all prototypes, and its squared length."""
    square = 0.0
    for j in range(products.shape[0]):
        products[j] = 0.0
    for k in range(values.shape[0]):
        value = float(values[k])
        square += value * value
        row = V[columns[k]]
        for j in range(products.shape[0]):
            products[j] += value * row[j]
    for j in range(products.shape[0]):
        products[j] *= scales[j]
    return square


@helper
def _move(values, columns, V, scales, lengths, j, change, product, square):
    """w_j += change (x - w_j)."""
    lengths[j] = length_after(lengths[j], change, product, square)
    scale = scales[j] * (1.0 - change)
    if not SMALLEST <= abs(scale) <= LARGEST:
        for k in range(V.shape[0]):
            V[k, j] *= scale
        scale = 1.0
    scales[j] = scale
    factor = change / scale
    for k in range(values.shape[0]):
        V[columns[k], j] += factor * values[k]


@helper
def settle(V, scales, lengths):
    """Put the scales into V, and compute the lengths anew."""
    lengths[:] = 0.0
    for k in range(V.shape[0]):
        for j in range(V.shape[1]):
            V[k, j] *= scales[j]
            lengths[j] += float(V[k, j]) * float(V[k, j])
    scales[:] = 1.0


@helper
def _sparse_epoch(
    rule, data, indices, pointers, y, weights, order, step, V, scales, lengths, starts, width, products, distances,
    derivatives, statistics,
):  # fmt: skip
    """One pass over the samples, of any cost. Returns the sum of the costs."""
    count = lengths.shape[0]
    total = 0.0
    for s in range(order.shape[0]):
        i = order[s]
        values, columns = data[pointers[i] : pointers[i + 1]], indices[pointers[i] : pointers[i + 1]]
        low, high = starts[y[i]], starts[y[i] + 1]
        square = _products(values, columns, V, scales, products)
        for j in range(count):
            distances[j] = max(0.0, square + lengths[j] - 2.0 * products[j])
        decay = decay_of(rule, step) * weights[i]
        rate = 2.0 * rule.rate * decay
        moment = 0.0
        if rule.cost >= SNPC:
            cost = soft_derivatives(rule, width[0], distances, derivatives, low, high)
            for j in range(count):
                moment += derivatives[j] * distances[j]
                change = within_reach(rule, rate * derivatives[j], distances[j])
                if change != 0.0:
                    _move(values, columns, V, scales, lengths, j, change, products[j], square)
        else:
            if rule.cost == LVQ21 or rule.cost == LVQ3:
                first, second = two_nearest(distances, count)
            else:
                first, second = nearest_pair(distances, count, low, high)
            one, two = distances[first], distances[second]
            first_wins = one < two or (one == two and first < second)
            cost, by_first, by_second = pair_derivatives(
                rule, step, width[0], one, two, low <= first < high, low <= second < high, first_wins
            )
            if rule.cost == OLVQ1:
                winner = first if first_wins else second
                rate = 2.0 * statistics.rates[winner] * weights[i]
                update_olvq1_rate(statistics, rule, winner, first_wins)
            moment = by_first * one + by_second * two
            change = within_reach(rule, rate * by_first, one)
            if change != 0.0:
                _move(values, columns, V, scales, lengths, first, change, products[first], square)
            change = within_reach(rule, rate * by_second, two)
            if change != 0.0:
                _move(values, columns, V, scales, lengths, second, change, products[second], square)
        learn_width(rule, width, decay, moment)
        total += cost * weights[i]
        step += 1.0
    return total


def _compiled(version: int) -> Argument:
    """The loop over epochs; the version goes into the key of numba's cache."""

    @stored
    def sparse_epochs(
        rule, data, indices, pointers, y, weights, orders, costs, step, V, scales, lengths, starts, width, products,
        distances, derivatives, statistics,
    ):  # fmt: skip
        if version < 0:
            return
        settle(V, scales, lengths)
        for epoch in range(orders.shape[0]):
            costs[epoch] = _sparse_epoch(
                rule, data, indices, pointers, y, weights, orders[epoch], step, V, scales, lengths, starts, width,
                products, distances, derivatives, statistics,
            )  # fmt: skip
            settle(V, scales, lengths)
            step += orders.shape[1]

    return sparse_epochs


sparse_epochs = _compiled(VERSION)
