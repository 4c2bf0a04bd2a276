"""What several loops do at a step: schedule, reach, width of the kernel, rates of OLVQ1, lengths of prototypes."""

import numpy as np

from lvq.solvers.kernels.compiling import helper, inlined
from lvq.solvers.kernels.rule import INVERSE, LINEAR


@inlined
def decay_of(rule, step):
    if rule.schedule == LINEAR:
        return max(0.0, 1.0 - step / rule.horizon)
    if rule.schedule == INVERSE:
        return 1.0 / (1.0 + step / rule.horizon)
    return 1.0


@inlined
def update_olvq1_rate(statistics, rule, moved, own):
    """OLVQ1: the rate of the winner falls when it was right and rises, up to its start, when it was wrong."""
    rate = statistics.rates[moved]
    rate = rate / (1.0 + rate) if own else rate / (1.0 - rate)
    statistics.rates[moved] = min(rate, rule.rate)


@inlined
def within_reach(rule, change, distance):
    """The change, or 0 where it would move the prototype too far from the sample."""
    rest = 1.0 - change
    return change if rest * rest * distance <= rule.reach else 0.0


@inlined
def learn_width(rule, width, decay, moment):
    """dE/dlog(width) = -2 sum_j derivative_j D_j for every kernel, as each is a function of D / width^2."""
    if rule.width_rate > 0.0 and np.isfinite(moment):
        change = 2.0 * rule.width_rate * decay * moment
        width[0] = min(max(width[0] * np.exp(min(max(change, -1.0), 1.0)), width[1]), width[2])


@helper
def length_after(length, change, product, square):
    """Squared length of w + change (x - w)."""
    rest = 1.0 - change
    return max(0.0, rest * rest * length + 2.0 * change * rest * product + change * change * square)


@helper
def bounded_step(rule, W, j, u, direction, change):
    """w_j += change * direction, unless that leads out of reach; u = x - w_j."""
    factor = W.dtype.type(change)
    reached = 0.0
    for k in range(u.shape[0]):
        rest = u[k] - factor * direction[k]
        reached += rest * rest
    if reached <= rule.reach:
        for k in range(u.shape[0]):
            W[j, k] += factor * direction[k]
