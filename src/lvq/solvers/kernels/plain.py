"""The loop for costs of two prototypes in the plain metric, which looks ahead by a matrix product.

`table` holds the M prototypes and below them a block of samples: one product gives the dot products of the block with
the prototypes and with itself. A step moves at most two prototypes by w += c (x - w), after which their products with
the next samples change by c (x_k'x - x_k'w), without reading the features again. The distances of the chosen two are
computed again as sums of squared differences, so rounding in the products cannot affect a step.
"""

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, inlined, stored
from lvq.solvers.kernels.costs import decay_of, find_pair, learn_width, rate_of, touch_pair, winner_of, within_reach


@helper
def _new_table(W):
    """Room for a block of samples: eight while the prototypes stay in the cache; many more where they do not."""
    block = 8 if W.size * W.itemsize <= 2**19 else 64
    table = np.zeros((W.shape[0] + block, W.shape[1]), W.dtype)
    table[: W.shape[0]] = W
    return table


@helper
def _squared_lengths(W):
    lengths = np.zeros(W.shape[0], W.dtype)
    for j in range(W.shape[0]):
        for k in range(W.shape[1]):
            lengths[j] += W[j, k] * W[j, k]
    return lengths


@inlined
def _pair_distances(table, sample, first, second):
    first_distance, second_distance = table.dtype.type(0), table.dtype.type(0)
    for k in range(table.shape[1]):
        value = table[sample, k]
        one, two = value - table[first, k], value - table[second, k]
        first_distance += one * one
        second_distance += two * two
    return float(first_distance), float(second_distance)


@inlined
def _move(table, sample, j, change):
    """w += change (x - w), and its new squared length."""
    factor, total = table.dtype.type(change), table.dtype.type(0)
    for k in range(table.shape[1]):
        value = table[j, k] + factor * (table[sample, k] - table[j, k])
        table[j, k] = value
        total += value * value
    return total


@inlined
def _update_products(products, sample, begin, end, j, change):
    """Update the products of later samples with prototype j after its move towards `sample`."""
    factor = products.dtype.type(change)
    for later in range(begin, end):
        products[later, j] += factor * (products[later, sample] - products[later, j])


@stored
def plain_epoch(rule, rows, order, time, prototypes, version=VERSION):
    """One pass over the samples, in blocks. Returns the sum of the costs."""
    X, _, y, weight = rows
    W, starts, width, statistics = prototypes
    count, table, lengths = W.shape[0], _new_table(W), _squared_lengths(W)
    block, samples = table.shape[0] - count, table[count:]
    products = np.zeros((block, table.shape[0]), W.dtype)
    distances, derivatives, active = np.zeros(count), np.zeros(count), np.zeros(2, np.int64)
    zero, two = W.dtype.type(0), W.dtype.type(2)  # Python numbers would convert float32 to float64 and back
    total = 0.0
    for begin in range(0, order.shape[0], block):
        filled = min(block, order.shape[0] - begin)
        for place in range(filled):
            for k in range(X.shape[1]):
                samples[place, k] = X[order[begin + place], k]
        np.dot(samples, table.T, products)
        for place in range(filled):
            i, row = order[begin + place], count + place
            square = products[place, row]
            for j in range(count):
                distance = square + lengths[j] - two * products[place, j]
                distances[j] = distance if distance > zero else zero
            low, high = starts[y[i]], starts[y[i] + 1]
            first, second = find_pair(rule, distances, low, high)
            distances[first], distances[second] = _pair_distances(table, row, first, second)
            cost = touch_pair(rule, time, width[0], distances, derivatives, active, first, second, low, high)
            decay, winner = decay_of(rule, time) * weight[i], winner_of(distances, active, 2)
            rate = rate_of(rule, statistics, decay, weight[i], winner, low <= winner < high)
            learn_width(rule, width, decay, distances, derivatives, active, 2)
            for a in range(2):
                j = active[a]
                change = within_reach(rule, rate * derivatives[j], distances[j])
                if change != 0.0:
                    lengths[j] = _move(table, row, j, change)
                    _update_products(products, row, place + 1, filled, j, change)
            total += cost * weight[i]
            time += 1.0
    W[:] = table[:count]
    return total
