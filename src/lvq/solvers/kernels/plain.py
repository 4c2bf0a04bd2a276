"""The loop for LVQ1 to LOGM in the plain metric, which looks ahead by a matrix product.

`table` holds the M prototypes and below them a block of samples: one product gives the dot products of the block with
the prototypes and with itself. A step moves at most two prototypes by w += c (x - w), after which their products with
the next samples change by c (x_k'x - x_k'w), without reading the features again. The distances of the chosen two are
computed again as sums of squared differences, so rounding in the products cannot affect a step.
"""

from typing import NamedTuple

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, inlined, stored
from lvq.solvers.kernels.costs import decay_of, learn_width, pair_derivatives, rate_of, two_nearest, within_reach
from lvq.solvers.kernels.rule import LVQ3, LVQ21
from lvq.typing import Argument


class Work(NamedTuple):
    """Arrays of a block of samples, and of one of them."""

    table: np.ndarray  # (M + block, n)
    products: np.ndarray  # (block, M + block)
    lengths: np.ndarray  # (M,) squared, of the prototypes
    distances: np.ndarray  # (M,)
    bits: np.ndarray  # (M,) the distances as integers
    keys: np.ndarray  # (M,) and more up to whole vectors
    shift: int  # 32 for float32, 0 for float64: position of the distance in its search key
    mask: int  # the lowest bits of a search key, which hold the prototype's index


@helper
def _new_work(W, search):
    """Eight samples ahead while the prototypes stay in the cache; many more where they do not."""
    count, features = W.shape
    block = 8 if W.size * W.itemsize <= 2**19 else 64
    table = np.zeros((count + block, features), W.dtype)
    table[:count] = W
    lengths = np.zeros(count, W.dtype)
    for j in range(count):
        for k in range(features):
            lengths[j] += W[j, k] * W[j, k]
    keys = np.full(-(-count // 16) * 16, np.iinfo(np.int64).max)
    mask = 1
    while mask <= count:
        mask *= 2
    shift = 32 if W.itemsize == 4 else 0
    products = np.zeros((block, count + block), W.dtype)
    return Work(table, products, lengths, search.distances, search.bits, keys, shift, mask - 1)


@inlined
def _nearest_own_and_other(bits, keys, coding, count, low, high):
    """The nearest prototype of the true class (rows low..high) and the nearest of all others.

    Non-negative floats order as the integers of their bits, and an integer minimum vectorises where a floating one,
    which must respect NaN, does not. The index goes into the lowest bits of a 64-bit key, so the minimum brings it
    along, and equal distances fall to the lowest index. float32 keeps all of its bits; float64 gives up the last
    log2(count), far below the rounding of a distance that was found by a product. Keys from `count` on are largest.
    """
    shift, mask = coding
    largest = np.iinfo(np.int64).max
    for j in range(count):
        keys[j] = ((np.int64(bits[j]) << shift) & ~mask) | j
    own, other = largest, largest
    for j in range(low, high):
        own = min(own, keys[j])
        keys[j] = largest
    for j in range(keys.shape[0]):
        other = min(other, keys[j])
    return own & mask, other & mask


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
def _move_pair(table, lengths, sample, first, second, first_change, second_change):
    """`_move` for two different prototypes at once: the sample is read once, and the two sums run side by side."""
    one, two = table.dtype.type(first_change), table.dtype.type(second_change)
    first_length, second_length = table.dtype.type(0), table.dtype.type(0)
    for k in range(table.shape[1]):
        value = table[sample, k]
        left, right = table[first, k], table[second, k]
        left += one * (value - left)
        right += two * (value - right)
        table[first, k], table[second, k] = left, right
        first_length += left * left
        second_length += right * right
    lengths[first], lengths[second] = first_length, second_length


@inlined
def _update_products(products, sample, begin, end, j, change):
    """Update the products of later samples with prototype j after its move towards `sample`."""
    factor = products.dtype.type(change)
    for later in range(begin, end):
        products[later, j] += factor * (products[later, sample] - products[later, j])


@helper
def _epoch(rule, rows, order, time, prototypes, work):
    """One pass over the samples, in blocks. Returns the sum of the costs.

    Fields of the tuples are read once, here: reading one for each sample would take as long as the step.
    """
    X, _, y, weight = rows
    _, starts, width, statistics = prototypes
    table, products, lengths, distances, bits, keys, shift, mask = work
    block, count, samples, coding = products.shape[0], lengths.shape[0], table[lengths.shape[0] :], (shift, mask)
    zero, two = table.dtype.type(0), table.dtype.type(2)  # Python numbers would convert float32 to float64 and back
    total = 0.0
    for begin in range(0, order.shape[0], block):
        filled = min(block, order.shape[0] - begin)
        for place in range(filled):
            i = order[begin + place]
            for k in range(X.shape[1]):
                table[count + place, k] = X[i, k]
        np.dot(samples, table.T, products)
        for place in range(filled):
            i = order[begin + place]
            square = products[place, count + place]
            for j in range(count):
                distance = square + lengths[j] - two * products[place, j]
                distances[j] = distance if distance > zero else zero
            low, high = starts[y[i]], starts[y[i] + 1]
            if rule.cost == LVQ21 or rule.cost == LVQ3:
                first, second = two_nearest(distances, count)
            else:
                first, second = _nearest_own_and_other(bits, keys, coding, count, low, high)
            first_distance, second_distance = _pair_distances(table, count + place, first, second)
            first_wins = first_distance < second_distance or (first_distance == second_distance and first < second)
            cost, first_derivative, second_derivative = pair_derivatives(
                rule,
                time,
                width[0],
                first_distance,
                second_distance,
                low <= first < high,
                low <= second < high,
                first_wins,
            )
            decay = decay_of(rule, time) * weight[i]
            winner = first if first_wins else second
            rate = rate_of(rule, statistics, decay, weight[i], winner, first_wins)
            moment = first_derivative * first_distance + second_derivative * second_distance
            learn_width(rule, width, decay, moment)
            first_change = within_reach(rule, rate * first_derivative, first_distance)
            second_change = within_reach(rule, rate * second_derivative, second_distance)
            if first_change != 0.0 and second_change != 0.0:
                _move_pair(table, lengths, count + place, first, second, first_change, second_change)
                _update_products(products, count + place, place + 1, filled, first, first_change)
                _update_products(products, count + place, place + 1, filled, second, second_change)
            elif first_change != 0.0 or second_change != 0.0:
                moved, change = (first, first_change) if second_change == 0.0 else (second, second_change)
                lengths[moved] = _move(table, count + place, moved, change)
                _update_products(products, count + place, place + 1, filled, moved, change)
            total += cost * weight[i]
            time += 1.0
    return total


def _compiled(version: int) -> Argument:
    """The loop over epochs; the version goes into the key of numba's cache."""

    @stored
    def plain_epochs(rule, rows, epochs, prototypes, search):
        if version < 0:
            return
        W, time = prototypes.W, epochs.step
        work = _new_work(W, search)
        for epoch in range(epochs.orders.shape[0]):
            epochs.costs[epoch] = _epoch(rule, rows, epochs.orders[epoch], time, prototypes, work)
            time += epochs.orders.shape[1]
        W[:] = work.table[: W.shape[0]]

    return plain_epochs


plain_epochs = _compiled(VERSION)
