"""The loop for sparse samples in the plain metric: a step costs O(M nnz(x)), whatever n is.

A prototype is a scale times a column of V, w_j = scales[j] V[:, j], and its squared length is kept. A step
``w += c (x - w)`` is then a factor of the scale and an addition at the stored columns of x, and the length follows from
the dot product that the search has already computed. V holds features in rows: one stored column of a sample meets all
prototypes in one place of the memory. At the end of an epoch the scales go into V, and at its start the lengths are
computed again, so rounding errors do not accumulate.
"""

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, inlined, stored
from lvq.solvers.kernels.costs import decay_of, learn_width, rate_of, touch, winner_of, within_reach

SMALLEST_SCALE, LARGEST_SCALE = 1e-9, 1e9  # sizes of a scale between which V keeps its digits


@helper
def _squared_lengths(V):
    lengths = np.zeros(V.shape[1])
    for k in range(V.shape[0]):
        for j in range(V.shape[1]):
            lengths[j] += float(V[k, j]) * float(V[k, j])
    return lengths


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
def _move(values, columns, V, scales, j, change):
    """w_j += change (x - w_j)."""
    scale = scales[j] * (1.0 - change)
    if not SMALLEST_SCALE <= abs(scale) <= LARGEST_SCALE:
        for k in range(V.shape[0]):
            V[k, j] *= scale
        scale = 1.0
    scales[j] = scale
    factor = change / scale
    for k in range(values.shape[0]):
        V[columns[k], j] += factor * values[k]


@inlined
def _length_after(length, change, product, square):
    """Squared length of w + change (x - w)."""
    rest = 1.0 - change
    return max(0.0, rest * rest * length + 2.0 * change * rest * product + change * change * square)


@stored
def sparse_epoch(rule, rows, order, time, prototypes, version=VERSION):
    """One pass over the samples. Returns the sum of the costs."""
    values, columns, pointers, y, weight = rows
    V, starts, width, statistics = prototypes
    count, lengths, total = V.shape[1], _squared_lengths(V), 0.0
    scales, products, distances, derivatives = np.ones(count), np.zeros(count), np.zeros(count), np.zeros(count)
    active = np.zeros(count, np.int64)
    for place in range(order.shape[0]):
        i = order[place]
        stored_at = slice(pointers[i], pointers[i + 1])
        x, features = values[stored_at], columns[stored_at]
        square = _products(x, features, V, scales, products)
        for j in range(count):
            distances[j] = max(0.0, square + lengths[j] - 2.0 * products[j])
        low, high = starts[y[i]], starts[y[i] + 1]
        cost, number = touch(rule, time, width[0], distances, derivatives, active, starts, y[i])
        decay, winner = decay_of(rule, time) * weight[i], winner_of(distances, active, number)
        rate = rate_of(rule, statistics, decay, weight[i], winner, low <= winner < high)
        learn_width(rule, width, decay, distances, derivatives, active, number)
        for a in range(number):
            j = active[a]
            change = within_reach(rule, rate * derivatives[j], distances[j])
            if change != 0.0:
                lengths[j] = _length_after(lengths[j], change, products[j], square)
                _move(x, features, V, scales, j, change)
        total += cost * weight[i]
        time += 1.0
    for k in range(V.shape[0]):
        for j in range(count):
            V[k, j] *= scales[j]
    return total
