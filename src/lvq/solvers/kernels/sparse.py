"""The loop for sparse samples in the plain metric: a step costs O(M nnz(x)), whatever n is.

A prototype is a scale times a column of V, w_j = scales[j] V[:, j], and its squared length is kept. A step
``w += c (x - w)`` is then a factor of the scale and an addition at the stored columns of x, and the length follows from
the dot product that the search has already computed. V holds features in rows: one stored column of a sample meets all
prototypes in one place of the memory. At the end of each epoch the scales go into V and the lengths are computed again,
so rounding errors do not accumulate.
"""

from typing import NamedTuple

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, inlined, stored
from lvq.solvers.kernels.costs import decay_of, learn_width, moment_of, rate_of, touch, winner_of, within_reach
from lvq.typing import Argument

SMALLEST, LARGEST = 1e-9, 1e9  # sizes of a scale between which V keeps its digits


class Work(NamedTuple):
    """Numbers of each prototype."""

    scales: np.ndarray
    lengths: np.ndarray  # squared
    products: np.ndarray  # with one sample
    distances: np.ndarray
    derivatives: np.ndarray  # of the cost by the distances
    active: np.ndarray  # indices of the prototypes that the step touches


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
    if not SMALLEST <= abs(scale) <= LARGEST:
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


@helper
def settle(V, scales, lengths):
    """Put the scales into V, and compute the lengths anew."""
    lengths[:] = 0.0
    for k in range(V.shape[0]):
        for j in range(V.shape[1]):
            V[k, j] *= scales[j]
            lengths[j] += float(V[k, j]) * float(V[k, j])
    scales[:] = 1.0


@inlined
def _take_sample(rule, rows, i, time, prototypes, work):
    """The step of sample i. Returns its cost times its weight."""
    begin, end = rows.pointers[i], rows.pointers[i + 1]
    values, columns, V = rows.values[begin:end], rows.columns[begin:end], prototypes.W
    distances, derivatives, active, lengths = work.distances, work.derivatives, work.active, work.lengths
    square = _products(values, columns, V, work.scales, work.products)
    for j in range(lengths.shape[0]):
        distances[j] = max(0.0, square + lengths[j] - 2.0 * work.products[j])
    starts, own = prototypes.starts, rows.y[i]
    cost, number = touch(rule, time, prototypes.width[0], distances, derivatives, active, starts, own)
    winner = winner_of(distances, active, number)
    decay = decay_of(rule, time) * rows.weight[i]
    rate = rate_of(rule, prototypes.statistics, decay, rows.weight[i], winner, starts[own] <= winner < starts[own + 1])
    learn_width(rule, prototypes.width, decay, moment_of(distances, derivatives, active, number))
    for a in range(number):
        j = active[a]
        change = within_reach(rule, rate * derivatives[j], distances[j])
        if change != 0.0:
            lengths[j] = _length_after(lengths[j], change, work.products[j], square)
            _move(values, columns, V, work.scales, j, change)
    return cost * rows.weight[i]


def _compiled(version: int) -> Argument:
    """The loop over epochs; the version goes into the key of numba's cache."""

    @stored
    def sparse_epochs(rule, rows, epochs, prototypes):
        if version < 0:
            return
        V, time = prototypes.W, epochs.step
        M = V.shape[1]
        work = Work(np.ones(M), np.zeros(M), np.zeros(M), np.zeros(M), np.zeros(M), np.zeros(M, np.int64))
        settle(V, work.scales, work.lengths)
        for epoch in range(epochs.orders.shape[0]):
            for place in range(epochs.orders.shape[1]):
                epochs.costs[epoch] += _take_sample(rule, rows, epochs.orders[epoch, place], time, prototypes, work)
                time += 1.0
            settle(V, work.scales, work.lengths)

    return sparse_epochs


sparse_epochs = _compiled(VERSION)
