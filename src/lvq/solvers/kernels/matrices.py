"""The loops for matrices, of margin costs and of soft ones."""

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, stored
from lvq.solvers.kernels.costs import pair_derivatives, soft_derivatives
from lvq.solvers.kernels.matrix_products import (
    difference_from,
    norm_after_step,
    project,
    pull_back,
    rank_two_step,
    square_norm,
    update_projections,
)
from lvq.solvers.kernels.steps import bounded_step, decay_of, learn_width
from lvq.solvers.kernels.winners import choose
from lvq.typing import Argument


@helper
def _project_distances(omega, scales, groups, x, W, P, z, distances):
    for g in range(omega.shape[0]):
        project(omega[g], x, z[g])
        for j in range(groups[g], groups[g + 1]):
            total = x.dtype.type(0)
            for r in range(z.shape[1]):
                difference = z[g, r] - P[j, r]
                total += difference * difference
            distances[j] = total * scales[g] * scales[g]


@helper
def _group_of(groups, j):
    g = 0
    while j >= groups[g + 1]:
        g += 1
    return g


@helper
def _matrix_epoch(
    rule, X, y, weights, order, step, W, starts, width, omega, groups, distances, bits, keys, P, scales, z, wide, tall
):
    """One pass of a margin model with one Omega for each group of prototypes. Returns the sum of the costs.

    True matrices are `scales[g] * omega[g]`, of unit Frobenius norm: dividing a scalar after each step is enough. The
    projections P of the prototypes are kept and follow the rank-two step, so a sample costs O(mn + M(m + n)).
    `wide` has five rows of n, `tall` six rows of m, for scratch.
    """
    u, v, u_back, v_back = wide[0], wide[1], wide[2], wide[3]
    a, b, first_new, second_new = tall[0], tall[1], tall[2], tall[3]
    total = 0.0
    for s in range(order.shape[0]):
        i = order[s]
        x = X[i]
        low, high = starts[y[i]], starts[y[i] + 1]
        _project_distances(omega, scales, groups, x, W, P, z, distances)
        first, second, _, _ = choose(rule, distances, bits, keys, W.shape[0], low, high)
        g, h = _group_of(groups, first), _group_of(groups, second)
        difference_from(P, first, z[g], a)
        difference_from(P, second, z[h], b)
        first_distance = float((a * a).sum() * scales[g] * scales[g])
        second_distance = float((b * b).sum() * scales[h] * scales[h])
        cost, first_derivative, second_derivative = pair_derivatives(
            rule, step, width[0], first_distance, second_distance, True, False, first_distance <= second_distance
        )
        total += cost * weights[i]
        decay = decay_of(rule, step) * weights[i]
        step += 1.0
        learn_width(rule, width, decay, first_derivative * first_distance + second_derivative * second_distance)
        if first_derivative == 0.0 and second_derivative == 0.0:
            continue
        difference_from(W, first, x, u)
        difference_from(W, second, x, v)
        if g == h:
            pull_back(omega[g], a, b, u_back, v_back)
        else:
            pull_back(omega[g], a, a, u_back, v_back)
            pull_back(omega[h], b, b, v_back, wide[4])
        rate = 2.0 * rule.rate * decay
        bounded_step(rule, W, first, u, u_back, rate * first_derivative * scales[g] * scales[g])
        bounded_step(rule, W, second, v, v_back, rate * second_derivative * scales[h] * scales[h])
        omega_rate = 2.0 * rule.relevance_rate * decay
        first_step, second_step = omega_rate * first_derivative, omega_rate * second_derivative
        if not _step_is_finite(first_step, second_step, first_distance, second_distance, u, v):
            _refresh(omega, groups, W, P, scales, first, second, g, h)
            continue
        if g == h:
            scales[g] = norm_after_step(scales[g], first_step, a, u, second_step, b, v)
        else:
            scales[g] = norm_after_step(scales[g], first_step, a, u, 0.0, b, v)
            scales[h] = norm_after_step(scales[h], 0.0, a, u, second_step, b, v)
        a *= x.dtype.type(first_step)
        b *= x.dtype.type(second_step)
        if g == h:
            update_projections(W, P, groups[g], groups[g + 1], a, u, b, v)
            rank_two_step(omega[g], a, u, b, v, W[first], W[second], first_new, second_new)
        else:
            zero_row = tall[4]
            zero_row[:] = 0
            update_projections(W, P, groups[g], groups[g + 1], a, u, zero_row, v)
            update_projections(W, P, groups[h], groups[h + 1], zero_row, u, b, v)
            rank_two_step(omega[g], a, u, zero_row, v, W[first], W[first], first_new, tall[5])
            rank_two_step(omega[h], zero_row, u, b, v, W[second], W[second], second_new, tall[5])
        P[first] = first_new
        P[second] = second_new
        _rescale(omega, scales, g, P, groups[g], groups[g + 1])
        if h != g:
            _rescale(omega, scales, h, P, groups[h], groups[h + 1])
    return total


@helper
def _step_is_finite(first_step, second_step, first_distance, second_distance, u, v):
    """Whether the step of Omega stays finite: its size against that of Omega, which is of unit norm."""
    size = abs(first_step) * np.sqrt(first_distance * float((u * u).sum())) + abs(second_step) * np.sqrt(
        second_distance * float((v * v).sum())
    )
    return size <= 1e6


@helper
def _refresh(omega, groups, W, P, scales, first, second, g, h):
    project(omega[g], W[first], P[first])
    project(omega[h], W[second], P[second])


@helper
def _rescale(omega, scales, g, P, low, high):
    """From the squared norm in scales[g] to the scalar that makes Omega one of unit norm; before it leaves a safe range
    it is folded into the arrays."""
    norm = np.sqrt(scales[g])
    if 1e-3 < norm < 1e3:
        scales[g] = 1.0 / norm
        return
    norm = np.sqrt(square_norm(omega[g]))
    if norm > 0.0:
        omega[g] /= omega.dtype.type(norm)
        P[low:high] /= omega.dtype.type(norm)
    scales[g] = 1.0


@helper
def _soft_matrix_epoch(
    rule, X, y, weights, order, step, W, starts, width, omega, groups, distances, derivatives, P, scales, z
):
    """One pass of SNPC or RSLVQ with matrices: every prototype moves, so a sample costs O(M m n), by products."""
    count = W.shape[0]
    U = np.empty_like(W)
    A = np.empty_like(P)
    total = 0.0
    for s in range(order.shape[0]):
        i = order[s]
        x = X[i]
        _project_distances(omega, scales, groups, x, W, P, z, distances)
        total += weights[i] * soft_derivatives(rule, width[0], distances, derivatives, starts[y[i]], starts[y[i] + 1])
        decay = decay_of(rule, step) * weights[i]
        step += 1.0
        moment, size = 0.0, 0.0
        for j in range(count):
            moment += derivatives[j] * distances[j]
        learn_width(rule, width, decay, moment)
        omega_rate = 2.0 * rule.relevance_rate * decay
        for g in range(omega.shape[0]):
            for j in range(groups[g], groups[g + 1]):
                difference_from(W, j, x, U[j])
                difference_from(P, j, z[g], A[j])
                size += abs(omega_rate * derivatives[j]) * np.sqrt(distances[j] * float((U[j] * U[j]).sum()))
                A[j] *= x.dtype.type(derivatives[j])
        for g in range(omega.shape[0]):
            low, high = groups[g], groups[g + 1]
            rate = 2.0 * rule.rate * decay * scales[g] * scales[g]
            back = np.dot(A[low:high], omega[g])
            for j in range(low, high):
                bounded_step(rule, W, j, U[j], back[j - low], rate)
            if size <= 1e6:
                omega[g] -= x.dtype.type(omega_rate) * np.dot(A[low:high].T, U[low:high])
                scales[g] = square_norm(omega[g])
                _rescale(omega, scales, g, P, low, high)
            P[low:high] = np.dot(W[low:high], omega[g].T)
    return total


@helper
def _refresh_projections(omega, groups, W, P, scales):
    """Scale the matrices to unit norm and project all prototypes again, so that rounding errors do not accumulate."""
    for g in range(omega.shape[0]):
        norm = np.sqrt(square_norm(omega[g]))
        if norm > 0.0:
            omega[g] /= omega.dtype.type(norm)
        scales[g] = 1.0
        for j in range(groups[g], groups[g + 1]):
            project(omega[g], W[j], P[j])


def _compiled(version: int) -> tuple[Argument, Argument]:
    """The loops over epochs, of margin costs and of soft ones; the version goes into the key of numba's cache."""

    @stored
    def matrix_epochs(
        rule, X, y, weights, orders, costs, step, W, starts, width, omega, groups, distances, bits, keys, P, scales, z,
        wide, tall,
    ):  # fmt: skip
        if version < 0:
            return
        for epoch in range(orders.shape[0]):
            _refresh_projections(omega, groups, W, P, scales)
            costs[epoch] = _matrix_epoch(
                rule, X, y, weights, orders[epoch], step, W, starts, width, omega, groups, distances, bits, keys, P,
                scales, z, wide, tall,
            )  # fmt: skip
            step += orders.shape[1]

    @stored
    def soft_matrix_epochs(
        rule, X, y, weights, orders, costs, step, W, starts, width, omega, groups, distances, derivatives, P, scales, z
    ):
        if version < 0:
            return
        for epoch in range(orders.shape[0]):
            _refresh_projections(omega, groups, W, P, scales)
            costs[epoch] = _soft_matrix_epoch(
                rule, X, y, weights, orders[epoch], step, W, starts, width, omega, groups, distances, derivatives, P,
                scales, z,
            )  # fmt: skip
            step += orders.shape[1]

    return matrix_epochs, soft_matrix_epochs


matrix_epochs, soft_matrix_epochs = _compiled(VERSION)
