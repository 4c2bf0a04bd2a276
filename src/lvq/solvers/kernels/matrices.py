"""The loop for matrices, shared or local, of any cost, also for samples with missing values.

True matrices are `scales[g] * omega[g]`, of unit Frobenius norm: dividing a scalar after each step is enough.
`squares[g]` has the squared lengths of the columns of omega[g], the diagonal of Lambda but for the scale.

Where rows are complete and a step touches two prototypes, the projections P = W Omega' are kept: a step changes Omega
by one outer product for each touched prototype, which P follows, and a sample costs O(mn + M(m + n)). Soft costs touch
all prototypes, and on rows with missing values a step also changes the lengths of Omega's columns, through the observed
fraction; then all differences are projected for each sample, O(M m n).
"""

from typing import NamedTuple

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, stored
from lvq.solvers.kernels.costs import decay_of, learn_width, moment_of, touch
from lvq.solvers.kernels.observed import observed_fraction, set_known
from lvq.solvers.kernels.rule import SNPC
from lvq.typing import Argument

LARGEST_STEP = 1e6  # of Omega, which is of unit norm; a larger one could overflow


class Work(NamedTuple):
    """Arrays of one sample, and what is kept from one to the next."""

    kept: bool  # whether projections are kept
    P: np.ndarray  # (M, m) the kept projections
    scales: np.ndarray  # (G,)
    squares: np.ndarray  # (G, n)
    E: np.ndarray  # (M, n) observed differences m (x - w) of the touched prototypes, or of all
    A: np.ndarray  # (M, m) their projections
    z: np.ndarray  # (G, m) projections of the sample
    fractions: np.ndarray  # (G, 2) see `observed_fraction`
    known: np.ndarray  # (n,) 1 observed, 0 missing
    columns: np.ndarray  # (n,) relative changes of the columns of Omega
    back: np.ndarray  # (n,)
    distances: np.ndarray  # (M,)
    derivatives: np.ndarray  # (M,) of the cost by the distances
    steps: np.ndarray  # (M,) factors of A E' in the step of Omega
    active: np.ndarray  # (M,) indices of the prototypes that the step touches
    touched: np.ndarray  # (M,) those of one group


@helper
def _new_work(W, omega, kept):
    (count, features), (groups, rank), dtype = W.shape, omega.shape[:2], W.dtype
    return Work(
        kept, np.zeros((count, rank), dtype), np.ones(groups), np.zeros((groups, features)), np.zeros_like(W),
        np.zeros((count, rank), dtype), np.zeros((groups, rank), dtype), np.ones((groups, 2)), np.ones(features, dtype),
        np.zeros(features), np.zeros(features, dtype), np.zeros(count, dtype), np.zeros(count), np.zeros(count),
        np.zeros(count, np.int64), np.zeros(count, np.int64),
    )  # fmt: skip


# Four rows of Omega at a time: each vector is read once for four rows, and four sums are computed in parallel.
@helper
def _project(omega, x, out):
    rank, features = omega.shape
    whole = rank - rank % 4
    zero = omega.dtype.type(0)
    for r in range(0, whole, 4):
        p, q, s, t = zero, zero, zero, zero
        for k in range(features):
            value = x[k]
            p += omega[r, k] * value
            q += omega[r + 1, k] * value
            s += omega[r + 2, k] * value
            t += omega[r + 3, k] * value
        out[r], out[r + 1], out[r + 2], out[r + 3] = p, q, s, t
    for r in range(whole, rank):
        total = zero
        for k in range(features):
            total += omega[r, k] * x[k]
        out[r] = total


@helper
def _pull_back(omega, a, out):
    """Omega' a."""
    rank, features = omega.shape
    whole = rank - rank % 4
    out[:] = 0
    for r in range(0, whole, 4):
        p, q, s, t = a[r], a[r + 1], a[r + 2], a[r + 3]
        for k in range(features):
            out[k] += p * omega[r, k] + q * omega[r + 1, k] + s * omega[r + 2, k] + t * omega[r + 3, k]
    for r in range(whole, rank):
        for k in range(features):
            out[k] += a[r] * omega[r, k]


@helper
def _dot(a, b):
    total = a.dtype.type(0)
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@helper
def _difference(x, y, out):
    for k in range(x.shape[0]):
        out[k] = x[k] - y[k]


@helper
def _measure_kept(omega, scale, x, z, P, distances):
    """Distances of a group from its kept projections."""
    _project(omega, x, z)
    for j in range(P.shape[0]):
        total = x.dtype.type(0)
        for r in range(z.shape[0]):
            difference = z[r] - P[j, r]
            total += difference * difference
        distances[j] = total * scale * scale


@helper
def _measure(omega, factor, x, known, W, E, A, distances):
    """E, A and distances of a group, in what is observed."""
    for j in range(W.shape[0]):
        for k in range(x.shape[0]):
            E[j, k] = known[k] * (x[k] - W[j, k])
    np.dot(E, omega.T, A)
    for j in range(W.shape[0]):
        distances[j] = _dot(A[j], A[j]) * factor


@helper
def _bounded_step(rule, w, u, direction, change):
    """w += change * direction, unless that leads out of reach; u = x - w."""
    factor = w.dtype.type(change)
    reached = 0.0
    for k in range(u.shape[0]):
        rest = u[k] - factor * direction[k]
        reached += rest * rest
    if reached <= rule.reach:
        for k in range(u.shape[0]):
            w[k] += factor * direction[k]


@helper
def _add_columns(factor, fraction, variances, known, columns):
    """Add the change of each column of Omega by the observed fraction, relative to the column; returns the largest."""
    largest = 0.0
    for k in range(columns.shape[0]):
        columns[k] += factor * variances[k] * (known[k] - fraction)
        largest = max(largest, abs(columns[k]))
    return largest


@helper
def _matrix_step(omega, squares, columns, E, A, steps, touched):
    """Omega -= sum_j step_j A_j E_j' of the touched prototypes, after its columns changed; their squares."""
    squares[:] = 0.0
    for r in range(omega.shape[0]):
        if columns.shape[0] > 0:
            for k in range(omega.shape[1]):
                omega[r, k] += omega[r, k] * columns[k]
        for a in range(0, touched.shape[0] - 1, 2):  # two at a time: each row is read and written once for both
            i, j = touched[a], touched[a + 1]
            one, two = omega.dtype.type(steps[i] * A[i, r]), omega.dtype.type(steps[j] * A[j, r])
            for k in range(omega.shape[1]):
                omega[r, k] -= one * E[i, k] + two * E[j, k]
        if touched.shape[0] % 2:
            j = touched[-1]
            one = omega.dtype.type(steps[j] * A[j, r])
            for k in range(omega.shape[1]):
                omega[r, k] -= one * E[j, k]
        for k in range(omega.shape[1]):
            squares[k] += omega[r, k] * omega[r, k]


@helper
def _follow(W, P, low, high, step, a, e):
    """P_i = Omega w_i of the prototypes low..high after Omega -= step a e'."""
    for i in range(low, high):
        factor = W.dtype.type(step * _dot(e, W[i]))
        for r in range(P.shape[1]):
            P[i, r] -= factor * a[r]


@helper
def _rescale(omega, squares, P):
    """The scalar that makes Omega one of unit norm; before it leaves a safe range it is folded into the arrays."""
    norm = np.sqrt(squares.sum())
    if 1e-3 < norm < 1e3:
        return 1.0 / norm
    if norm > 0.0:
        omega /= omega.dtype.type(norm)
        P /= omega.dtype.type(norm)
        squares /= norm * norm
    return 1.0


@helper
def _touched_of(active, derivatives, low, high, touched):
    """Write the indices of the active prototypes low..high that have a derivative; returns their number."""
    number = 0
    for a in range(active.shape[0]):
        j = active[a]
        if low <= j < high and derivatives[j] != 0.0:
            touched[number] = j
            number += 1
    return number


@helper
def _epoch(rule, rows, order, time, prototypes, matrices, work):
    """One pass. Returns the sum of the costs.

    Fields of the tuples are read once, here: reading one for each sample would take as long as the step.
    """
    X, missing, y, weight = rows
    W, starts, width, _ = prototypes
    omega, groups, variances = matrices
    kept, P, scales, squares, E, A, z, fractions, known, columns, back, distances, derivatives, steps = work[:14]
    active, touched = work.active, work.touched
    masked, total = missing.shape[0] > 0, 0.0
    for place in range(order.shape[0]):
        i = order[place]
        x = X[i]
        complete = set_known(missing[i], known) if masked else True
        for g in range(omega.shape[0]):
            low, high = groups[g], groups[g + 1]
            if kept:
                _measure_kept(omega[g], scales[g], x, z[g], P[low:high], distances[low:high])
                continue
            fractions[g, 0], fractions[g, 1] = observed_fraction(squares[g], variances, known, complete)
            factor = scales[g] * scales[g] / fractions[g, 0]
            _measure(omega[g], factor, x, known, W[low:high], E[low:high], A[low:high], distances[low:high])
        cost, number = touch(rule, time, width[0], distances, derivatives, active, starts, y[i])
        total += cost * weight[i]
        decay = decay_of(rule, time) * weight[i]
        time += 1.0
        learn_width(rule, width, decay, moment_of(distances, derivatives, active, number))
        for g in range(omega.shape[0]):
            low, high, fraction, unit, square = (
                groups[g],
                groups[g + 1],
                fractions[g, 0],
                fractions[g, 1],
                scales[g] ** 2,
            )
            here = touched[: _touched_of(active[:number], derivatives, low, high, touched)]
            size = 0.0
            columns[:] = 0.0
            for a in range(here.shape[0]):
                j = here[a]
                if kept:
                    _difference(x, W[j], E[j])
                    _difference(z[g], P[j], A[j])
                _pull_back(omega[g], A[j], back)
                if masked:
                    back *= known
                _bounded_step(rule, W[j], E[j], back, 2.0 * rule.rate * decay * derivatives[j] * square)
                steps[j] = 2.0 * rule.relevance_rate * decay * derivatives[j]
                size += abs(steps[j]) * np.sqrt(distances[j] * fraction * float(_dot(E[j], E[j])))
                if unit > 0.0:
                    factor = steps[j] * distances[j] / square * unit
                    size += _add_columns(factor, fraction, variances, known, columns)
            if here.shape[0] > 0 and size <= LARGEST_STEP:
                _matrix_step(omega[g], squares[g], columns if masked else columns[:0], E, A, steps, here)
                if kept:
                    for a in range(here.shape[0]):
                        _follow(W, P, low, high, steps[here[a]], A[here[a]], E[here[a]])
                scales[g] = _rescale(omega[g], squares[g], P[low:high])
            if kept:
                for a in range(here.shape[0]):
                    _project(omega[g], W[here[a]], P[here[a]])
    return total


@helper
def _refresh(W, matrices, work):
    """Scale the matrices to unit norm and project all prototypes again, so that rounding errors do not accumulate."""
    for g in range(matrices.omega.shape[0]):
        omega = matrices.omega[g]
        norm = 0.0
        for r in range(omega.shape[0]):
            for k in range(omega.shape[1]):
                norm += float(omega[r, k]) * float(omega[r, k])
        if norm > 0.0:
            omega /= omega.dtype.type(np.sqrt(norm))
        work.scales[g] = 1.0
        work.squares[g] = 0.0
        for r in range(omega.shape[0]):
            for k in range(omega.shape[1]):
                work.squares[g, k] += omega[r, k] * omega[r, k]
        for j in range(matrices.groups[g], matrices.groups[g + 1]):
            _project(omega, W[j], work.P[j])


def _compiled(version: int) -> Argument:
    """The loop over epochs; the version goes into the key of numba's cache."""

    @stored
    def matrices_epochs(rule, rows, epochs, prototypes, matrices):
        if version < 0:
            return
        kept, time = rule.cost < SNPC and rows.missing.shape[0] == 0, epochs.step
        work = _new_work(prototypes.W, matrices.omega, kept)
        for epoch in range(epochs.orders.shape[0]):
            _refresh(prototypes.W, matrices, work)
            epochs.costs[epoch] = _epoch(rule, rows, epochs.orders[epoch], time, prototypes, matrices, work)
            time += epochs.orders.shape[1]

    return matrices_epochs


matrices_epochs = _compiled(VERSION)
