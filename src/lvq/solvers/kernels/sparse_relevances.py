"""Compiled code for sparse samples in the weighted metric: steps that cost O(M nnz(x)), whatever n is.

As in `sparse.py` a prototype is a scale times a column of V. The relevances change every `rule.every` samples, so
that the weighted lengths of the prototypes can be kept in between, and the prototypes' step does not carry them. Their
gradient is the sum of p (x - w)^2 over the samples and the prototypes that these move, each with its own factor p:

- p (x^2 - 2 x w) concerns the stored features of x alone, and goes into `gradient`;
- p w^2 concerns all features. As w = scale V, `squares[j]` collects p scale^2 for the V of the next step of the
  relevances. Where V changes until then, at a stored feature, what came before belonged to the old value:
  squares[j] (V_new^2 - V_old^2) is subtracted there.

So the gradient is exact, and all features are read once every `rule.every` samples. Costs, links and schedules are
those of `costs.py` and `steps.py`; rules without a cost have no gradient.
"""

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, stored
from lvq.solvers.kernels.costs import margin_derivatives, soft_derivatives
from lvq.solvers.kernels.relevances import to_simplex
from lvq.solvers.kernels.rule import SNPC
from lvq.solvers.kernels.steps import decay_of, learn_width, length_after, within_reach
from lvq.solvers.kernels.winners import nearest_pair
from lvq.typing import Argument

# Sizes of a scale between which V^2 and `squares` keep their digits: what is subtracted may be 1/scale^2 times as large
# as the result.
SMALLEST, LARGEST = 1e-3, 1e3


@helper
def _weighted_products(values, columns, V, scales, relevances, products):
    """Weighted dot products of a sample with all prototypes; its weighted and its plain squared length."""
    weighted, plain = 0.0, 0.0
    products[:] = 0.0
    for k in range(values.shape[0]):
        value = float(values[k])
        factor = value * relevances[columns[k]]
        weighted += factor * value
        plain += value * value
        row = V[columns[k]]
        for j in range(products.shape[0]):
            products[j] += factor * row[j]
    for j in range(products.shape[0]):
        products[j] *= scales[j]
    return weighted, plain


@helper
def _add_gradient(values, columns, V, scales, squares, gradient, j, push):
    """Add push (x - w_j)^2 to the gradient by the relevances; returns the plain product x'w_j."""
    scale, product = scales[j], 0.0
    for k in range(values.shape[0]):
        value, before = float(values[k]), scale * V[columns[k], j]
        product += value * before
        gradient[columns[k]] += push * value * (value - 2.0 * before)
    squares[j] += push * scale * scale
    return product


@helper
def _move(values, columns, V, scales, squares, gradient, j, change):
    """w_j += change (x - w_j)."""
    scale = scales[j] * (1.0 - change)
    if not SMALLEST <= abs(scale) <= LARGEST:
        for k in range(V.shape[0]):
            gradient[k] += squares[j] * float(V[k, j]) * float(V[k, j])
            V[k, j] *= scale
        squares[j], scale = 0.0, 1.0
    scales[j] = scale
    factor = change / scale
    for k in range(values.shape[0]):
        before = float(V[columns[k], j])
        V[columns[k], j] += factor * values[k]
        after = float(V[columns[k], j])
        gradient[columns[k]] -= squares[j] * (after - before) * (after + before)


@helper
def settle(V, scales, relevances, lengths, plain_lengths, squares, gradient):
    """Take the step of the relevances, put the scales into V, and compute the lengths anew."""
    for k in range(V.shape[0]):
        total = gradient[k]
        for j in range(V.shape[1]):
            total += squares[j] * float(V[k, j]) * float(V[k, j])
        gradient[k] = relevances[k] - total
    to_simplex(gradient, relevances)
    lengths[:], plain_lengths[:] = 0.0, 0.0
    for k in range(V.shape[0]):
        gradient[k] = 0.0
        for j in range(V.shape[1]):
            V[k, j] *= scales[j]
            square = float(V[k, j]) * float(V[k, j])
            plain_lengths[j] += square
            lengths[j] += relevances[k] * square
    scales[:], squares[:] = 1.0, 0.0


@helper
def _epoch(
    rule, data, indices, pointers, y, weights, order, step, V, scales, relevances, lengths, plain_lengths, squares,
    gradient, starts, width, products, distances, derivatives,
):  # fmt: skip
    """One pass over the samples, of any cost. Returns the sum of the costs."""
    count = lengths.shape[0]
    everyone, pair = np.arange(count), np.empty(2, dtype=np.int64)
    total = 0.0
    for s in range(order.shape[0]):
        i = order[s]
        values, columns = data[pointers[i] : pointers[i + 1]], indices[pointers[i] : pointers[i + 1]]
        low, high = starts[y[i]], starts[y[i] + 1]
        square, plain_square = _weighted_products(values, columns, V, scales, relevances, products)
        for j in range(count):
            distances[j] = max(0.0, square + lengths[j] - 2.0 * products[j])
        decay = decay_of(rule, step) * weights[i]
        active = everyone
        if rule.cost >= SNPC:
            cost = soft_derivatives(rule, width[0], distances, derivatives, low, high)
        else:
            pair[0], pair[1] = nearest_pair(distances, count, low, high)
            cost, derivatives[pair[0]], derivatives[pair[1]] = margin_derivatives(
                rule, step, width[0], distances[pair[0]], distances[pair[1]]
            )
            active = pair
        moment = 0.0
        for a in range(active.shape[0]):
            j = active[a]
            if derivatives[j] == 0.0:
                continue
            moment += derivatives[j] * distances[j]
            push = rule.relevance_rate * decay * derivatives[j]
            product = _add_gradient(values, columns, V, scales, squares, gradient, j, push)
            plain_distance = max(0.0, plain_square + plain_lengths[j] - 2.0 * product)
            change = within_reach(rule, 2.0 * rule.rate * decay * derivatives[j], plain_distance)
            if change != 0.0:
                _move(values, columns, V, scales, squares, gradient, j, change)
                lengths[j] = length_after(lengths[j], change, products[j], square)
                plain_lengths[j] = length_after(plain_lengths[j], change, product, plain_square)
        learn_width(rule, width, decay, moment)
        total += cost * weights[i]
        step += 1.0
        if (s + 1) % rule.every == 0 or s + 1 == order.shape[0]:
            settle(V, scales, relevances, lengths, plain_lengths, squares, gradient)
    return total


def _compiled(version: int) -> Argument:
    """The loop over epochs; the version goes into the key of numba's cache."""

    @stored
    def sparse_relevance_epochs(
        rule, data, indices, pointers, y, weights, orders, costs, step, V, scales, relevances, lengths, plain_lengths,
        squares, gradient, starts, width, products, distances, derivatives,
    ):  # fmt: skip
        if version < 0:
            return
        settle(V, scales, relevances, lengths, plain_lengths, squares, gradient)
        for epoch in range(orders.shape[0]):
            costs[epoch] = _epoch(
                rule, data, indices, pointers, y, weights, orders[epoch], step, V, scales, relevances, lengths,
                plain_lengths, squares, gradient, starts, width, products, distances, derivatives,
            )  # fmt: skip
            step += orders.shape[1]

    return sparse_relevance_epochs


sparse_relevance_epochs = _compiled(VERSION)
