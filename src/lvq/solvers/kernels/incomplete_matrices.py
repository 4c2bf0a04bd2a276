"""The loop for samples with missing values and matrices, of margin costs and of soft ones."""

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, stored
from lvq.solvers.kernels.incomplete import moment_of, observed_fraction, set_known, touched_prototypes
from lvq.solvers.kernels.steps import bounded_step, decay_of, learn_width
from lvq.typing import Argument


@helper
def _measure(x, known, W, omega, scales, groups, fractions, E, A, distances):
    """E_j = m (x - w_j), A_j = omega E_j and the distances."""
    for g in range(omega.shape[0]):
        low, high = groups[g], groups[g + 1]
        for j in range(low, high):
            for k in range(x.shape[0]):
                E[j, k] = known[k] * (x[k] - W[j, k])
        np.dot(E[low:high], omega[g].T, A[low:high])
        for j in range(low, high):
            total = x.dtype.type(0)
            for r in range(A.shape[1]):
                total += A[j, r] * A[j, r]
            distances[j] = total * scales[g] * scales[g] / fractions[g, 0]


@helper
def _pull_back(omega, a, known, out):
    """m (omega'a)."""
    out[:] = 0
    for r in range(omega.shape[0]):
        for k in range(out.shape[0]):
            out[k] += omega[r, k] * a[r]
    for k in range(out.shape[0]):
        out[k] *= known[k]


@helper
def _set_columns(factor, fraction, unit, variances, known, columns):
    """Add the change of each column of Omega by the observed fraction, relative to the column; returns the largest."""
    largest = 0.0
    for k in range(columns.shape[0]):
        columns[k] += factor * unit * variances[k] * (known[k] - fraction)
        largest = max(largest, abs(columns[k]))
    return largest


@helper
def _matrix_step(omega, columns, E, A, steps, active, number, low, high, squares):
    """Omega -= sum_j step_j A_j E_j' of the touched prototypes low..high, after its columns grew; their squares."""
    squares[:] = 0.0
    one = omega.dtype.type(1)
    for r in range(omega.shape[0]):
        for k in range(omega.shape[1]):
            omega[r, k] *= one + columns[k]
        for a in range(number):
            j = active[a]
            if low <= j < high:
                factor = omega.dtype.type(steps[j] * A[j, r])
                for k in range(omega.shape[1]):
                    omega[r, k] -= factor * E[j, k]
        for k in range(omega.shape[1]):
            squares[k] += omega[r, k] * omega[r, k]


@helper
def _rescale(omega, squares):
    """The scalar that makes Omega one of unit norm; before it leaves a safe range it is folded into the arrays."""
    norm = np.sqrt(squares.sum())
    if 1e-3 < norm < 1e3:
        return 1.0 / norm
    if norm > 0.0:
        omega /= omega.dtype.type(norm)
        squares /= norm * norm
    return 1.0


@helper
def _square_columns(omega, squares):
    squares[:] = 0.0
    for r in range(omega.shape[0]):
        for k in range(omega.shape[1]):
            squares[k] += omega[r, k] * omega[r, k]


@helper
def _epoch(
    rule, X, missing, y, weights, order, step, W, starts, width, omega, groups, variances, distances, derivatives,
    scales, squares, fractions, E, A, steps, wide,
):  # fmt: skip
    """One pass. Returns the sum of the costs.

    True matrices are `scales[g] * omega[g]`, of unit Frobenius norm; `squares[g]` has the squared lengths of the
    columns of omega[g], the diagonal of Lambda but for the scale, which the observed fraction does not depend on. By
    that fraction a step also changes the columns' lengths, so projections of prototypes cannot be kept, and a sample
    costs O(M m n). `wide` has three rows of n, for scratch.
    """
    known, back, columns = wide[0], wide[1], wide[2]
    active = np.empty(W.shape[0], dtype=np.int64)
    total = 0.0
    for place in range(order.shape[0]):
        i = order[place]
        x = X[i]
        complete = set_known(missing[i], known)
        for g in range(omega.shape[0]):
            fractions[g, 0], fractions[g, 1] = observed_fraction(squares[g], variances, known, complete)
        _measure(x, known, W, omega, scales, groups, fractions, E, A, distances)
        cost, number = touched_prototypes(
            rule, step, width[0], distances, derivatives, starts[y[i]], starts[y[i] + 1], active
        )
        total += cost * weights[i]
        decay = decay_of(rule, step) * weights[i]
        step += 1.0
        learn_width(rule, width, decay, moment_of(distances, derivatives, active, number))
        omega_rate = 2.0 * rule.relevance_rate * decay
        for g in range(omega.shape[0]):
            low, high, fraction, unit = groups[g], groups[g + 1], fractions[g, 0], fractions[g, 1]
            touched, size = False, 0.0
            columns[:] = 0
            for a in range(number):
                j = active[a]
                steps[j] = 0.0
                if not low <= j < high or derivatives[j] == 0.0:
                    continue
                touched = True
                _pull_back(omega[g], A[j], known, back)
                bounded_step(rule, W, j, E[j], back, 2.0 * rule.rate * decay * derivatives[j] * scales[g] * scales[g])
                steps[j] = omega_rate * derivatives[j]
                moved = abs(steps[j]) * np.sqrt(distances[j] * fraction * float((E[j] * E[j]).sum()))
                factor = steps[j] * distances[j] / (scales[g] * scales[g])
                size += moved + _set_columns(factor, fraction, unit, variances, known, columns)
            if touched and size <= 1e6:  # else the step of Omega, which is of unit norm, could overflow
                _matrix_step(omega[g], columns, E, A, steps, active, number, low, high, squares[g])
                scales[g] = _rescale(omega[g], squares[g])
    return total


def _compiled(version: int) -> Argument:
    """The loop over epochs; the version goes into the key of numba's cache."""

    @stored
    def incomplete_matrix_epochs(
        rule, X, missing, y, weights, orders, costs, step, W, starts, width, omega, groups, variances, distances,
        derivatives, scales, squares, fractions, E, A, steps, wide,
    ):  # fmt: skip
        if version < 0:
            return
        for g in range(omega.shape[0]):
            _square_columns(omega[g], squares[g])
        for epoch in range(orders.shape[0]):
            for g in range(omega.shape[0]):
                scales[g] = _rescale(omega[g], squares[g])
            costs[epoch] = _epoch(
                rule, X, missing, y, weights, orders[epoch], step, W, starts, width, omega, groups, variances,
                distances, derivatives, scales, squares, fractions, E, A, steps, wide,
            )  # fmt: skip
            step += orders.shape[1]

    return incomplete_matrix_epochs


incomplete_matrix_epochs = _compiled(VERSION)
