"""The loop for matrices, shared or local, of any cost, also for samples with missing values.

Every Omega has unit Frobenius norm, after each step again: `omegas` and P hold multiples of it, and `norms` the
factors, because dividing a number after each step is enough. Where rows are complete and a step touches two prototypes,
the projections P = W Omega' are kept: a step changes Omega by one outer product for each touched prototype, which P
follows, and a sample costs O(mn + M(m + n)). Other costs touch many prototypes, and on rows with missing values the
observed fraction changes all columns of Omega; then all differences are projected for each sample, O(M m n).
"""

import numpy as np

from lvq.solvers.kernels.compiling import VERSION, helper, stored
from lvq.solvers.kernels.costs import decay_of, learn_width, touch
from lvq.solvers.kernels.rule import PAIR_COSTS
from lvq.solvers.kernels.weights import observed_fraction

LARGEST_STEP = 1e6  # of Omega, which is of unit norm; a larger one could overflow
SMALLEST_NORM = 1e-3  # of a multiple of Omega, and one over the largest, at which it is divided by its norm


@helper
def _dot(a, b):
    total = a.dtype.type(0)
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@helper
def _subtract(z, P, j, A):
    for r in range(z.shape[0]):
        A[j, r] = z[r] - P[j, r]


@helper
def _observed_difference(x, known, w, e):
    for k in range(x.shape[0]):
        e[k] = known[k] * (x[k] - w[k])


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
def _step_of_two(omega, i, j, steps, A, E, W, P):
    """Omega -= steps_i A_i E_i' + steps_j A_j E_j', then P_i = Omega w_i and P_j; returns the new norm of Omega."""
    share, square = 0.5 if i == j else 1.0, 0.0  # one prototype counts as two halves
    for r in range(omega.shape[0]):
        left, right = W.dtype.type(share * steps[i] * A[i, r]), W.dtype.type(share * steps[j] * A[j, r])
        first, second, total = W.dtype.type(0), W.dtype.type(0), W.dtype.type(0)
        for k in range(omega.shape[1]):
            entry = omega[r, k] - (left * E[i, k] + right * E[j, k])
            omega[r, k] = entry
            first += entry * W[i, k]
            second += entry * W[j, k]
            total += entry * entry
        P[i, r], P[j, r] = first, second
        square += total
    return np.sqrt(square)


@helper
def _follow_two(i, j, steps, A, E, W, P):
    """P = W Omega' of all prototypes, before the same step."""
    share = 0.5 if i == j else 1.0
    for w in range(W.shape[0]):
        left, right = W.dtype.type(0), W.dtype.type(0)
        for k in range(W.shape[1]):
            left += E[i, k] * W[w, k]
            right += E[j, k] * W[w, k]
        left *= W.dtype.type(share * steps[i])
        right *= W.dtype.type(share * steps[j])
        for r in range(P.shape[1]):
            P[w, r] -= left * A[i, r] + right * A[j, r]


@helper
def _touched_of(active, derivatives, low, high, touched):
    """The active prototypes low..high that have a derivative."""
    number = 0
    for a in range(active.shape[0]):
        j = active[a]
        if low <= j < high and derivatives[j] != 0.0:
            touched[number] = j
            number += 1
    return touched[:number]


@stored
def matrices_epoch(rule, rows, order, time, prototypes, metric, version=VERSION):
    """One pass over the samples. Returns the sum of the costs."""
    X, observed, y, weight = rows
    W, starts, width, _ = prototypes
    omegas, groups, variances = metric
    count, features, rank, dtype = W.shape[0], W.shape[1], omegas.shape[1], W.dtype
    masked = observed.shape[0] > 0
    kept = rule.cost <= PAIR_COSTS and not masked
    E, A, P = np.zeros_like(W), np.zeros((count, rank), dtype), np.zeros((count, rank), dtype)
    z, back, complete, columns = np.zeros(rank, dtype), np.zeros(features, dtype), np.ones(features, dtype), W[0] * 0
    distances, derivatives, steps = np.zeros(count), np.zeros(count), np.zeros(count)
    active, touched = np.zeros(count, np.int64), np.zeros(count, np.int64)
    fractions, norms, total = np.ones((omegas.shape[0], 2)), np.ones(omegas.shape[0]), 0.0
    for g in range(omegas.shape[0]):
        low, high = groups[g], groups[g + 1]
        np.dot(W[low:high], omegas[g].T, P[low:high])
    for place in range(order.shape[0]):
        i = order[place]
        x, known = X[i], observed[i] if masked else complete
        for j in range(0 if kept else count):
            _observed_difference(x, known, W[j], E[j])
        for g in range(omegas.shape[0]):
            omega, low, high = omegas[g], groups[g], groups[g + 1]
            if kept:
                np.dot(omega, x, z)
            else:
                np.dot(E[low:high], omega.T, A[low:high])
            if masked:
                diagonal = (omega * omega).sum(axis=0)
                fractions[g, 0], fractions[g, 1] = observed_fraction(diagonal, variances, known)
            for j in range(low, high):
                if kept:
                    _subtract(z, P, j, A)
                distances[j] = _dot(A[j], A[j]) / (fractions[g, 0] * norms[g] * norms[g])
        cost, number = touch(rule, time, width[0], distances, derivatives, active, starts, y[i])
        decay = decay_of(rule, time) * weight[i]
        learn_width(rule, width, decay, distances, derivatives, active, number)
        for a in range(number if kept else 0):
            _observed_difference(x, known, W[active[a]], E[active[a]])
        for g in range(omegas.shape[0]):
            omega, low, high, fraction, unit = omegas[g], groups[g], groups[g + 1], fractions[g, 0], fractions[g, 1]
            here, size = _touched_of(active[:number], derivatives, low, high, touched), 0.0
            columns[:] = 0.0
            for a in range(here.shape[0]):
                j = here[a]
                np.dot(omega.T, A[j], back)
                back *= known / dtype.type(norms[g] * norms[g])
                _bounded_step(rule, W[j], E[j], back, 2.0 * rule.rate * decay * derivatives[j])
                steps[j] = 2.0 * rule.relevance_rate * decay * derivatives[j]
                size += abs(steps[j]) * np.sqrt(distances[j] * fraction * float(_dot(E[j], E[j])))
                if masked:  # the change of each column of Omega by the observed fraction, relative to the column
                    columns += steps[j] * distances[j] * unit * variances * (known - fraction)
                    size += np.abs(columns).max()
            if here.shape[0] == 0:
                continue
            if size > LARGEST_STEP:
                steps[here], columns[:] = 0.0, 0.0
            if masked:
                omega += omega * columns
            norm, last = 0.0, here.shape[0] - 1
            for a in range(0, last + 1, 2):
                one, two = here[a], here[min(a + 1, last)]
                if kept:
                    _follow_two(one, two, steps, A, E, W[low:high], P[low:high])
                norm = _step_of_two(omega, one, two, steps, A, E, W, P)
            if norm > 0.0:
                norms[g] = norm
            if masked or not SMALLEST_NORM < norms[g] < 1.0 / SMALLEST_NORM:
                omega /= dtype.type(norms[g])
                P[low:high] /= dtype.type(norms[g])
                norms[g] = 1.0
        total += cost * weight[i]
        time += 1.0
    for g in range(omegas.shape[0]):
        omegas[g] /= dtype.type(norms[g])
    return total
