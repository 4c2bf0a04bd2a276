"""Steps of the relevances lambda, by Hebbian learning and by the gradient of the cost."""

import numpy as np

from lvq.solvers.kernels.compiling import helper
from lvq.solvers.kernels.rule import HEBBIAN_SQUARED


@helper
def to_simplex(candidate, relevances):
    """Clip at zero and divide by the sum. Returns False, and changes nothing, where that is impossible."""
    total = 0.0
    for k in range(candidate.shape[0]):
        if candidate[k] < 0.0:
            candidate[k] = 0.0
        total += candidate[k]
    if not (np.isfinite(total) and total > 0.0):
        return False
    for k in range(candidate.shape[0]):
        relevances[k] = candidate[k] / total
    return True


@helper
def hebbian_step(rule, x, W, winner, right, rate, relevances, candidate):
    sign = -1.0 if right else 1.0
    for k in range(x.shape[0]):
        difference = abs(x[k] - W[winner, k])
        if rule.relevance == HEBBIAN_SQUARED:
            difference *= difference
        candidate[k] = relevances[k] + sign * rate * difference
    if not to_simplex(candidate, relevances):
        relevances[:] = 1.0 / x.shape[0]


@helper
def gradient_step(x, W, derivatives, active, rate, relevances, owner, candidate):
    """lambda -= rate dE/dlambda with dE/dlambda = sum_j derivative_j (x - w_j)^2; -1 in `active` means none.

    Each row of the relevances has the sum over its own prototypes.
    """
    for g in range(relevances.shape[0]):
        for k in range(x.shape[0]):
            candidate[k] = relevances[g, k]
        for a in range(active.shape[0]):
            j = active[a]
            if j >= 0 and owner[j] == g:
                for k in range(x.shape[0]):
                    difference = x[k] - W[j, k]
                    candidate[k] -= rate * derivatives[j] * difference * difference
        to_simplex(candidate, relevances[g])


@helper
def add_gradient(x, W, derivatives, active, rate, gradient):
    """Add rate dE/dlambda of a sample."""
    for a in range(active.shape[0]):
        j = active[a]
        if j >= 0:
            for k in range(x.shape[0]):
                difference = x[k] - W[j, k]
                gradient[k] += rate * derivatives[j] * difference * difference


@helper
def take_step(relevances, gradient):
    """lambda -= gradient, which is then 0."""
    for k in range(gradient.shape[0]):
        gradient[k] = relevances[k] - gradient[k]
    to_simplex(gradient, relevances)
    gradient[:] = 0.0
