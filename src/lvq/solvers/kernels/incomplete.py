"""Steps on samples with missing values, for one sample: what is observed, and what the cost touches.

`lvq.model.missing` has the formula: d = e'Lambda e / s, e = m (x - w), m the mask. X is filled with any numbers where
values are missing, so that the loops need not look for NaN.

Prototypes and metric follow the gradient of the sample's cost times s, for each prototype its own. Without this factor
the step in an observed feature has the size 1/s: a row of which little is observed would move prototypes beyond itself,
and change the metric more than any other; a small weight could become the largest in one step. With it a step in a
feature is of the size that complete rows have.
"""

from lvq.solvers.kernels.compiling import helper
from lvq.solvers.kernels.costs import pair_derivatives, soft_derivatives
from lvq.solvers.kernels.rule import LVQ3, LVQ21, SNPC
from lvq.solvers.kernels.winners import nearest_pair, two_nearest


@helper
def set_known(missing, known):
    """Write the mask of a sample as numbers: 1 observed, 0 missing. Returns whether nothing is missing."""
    count = 0
    for k in range(missing.shape[0]):
        known[k] = not missing[k]
        count += missing[k]
    return count == 0


@helper
def observed_fraction(diagonal, variances, known, complete):
    """The observed fraction s, and 1/sum_l Lambda_ll v_l; (1, 0) where s does not depend on the metric."""
    if complete:
        return 1.0, 0.0
    seen, total = 0.0, 0.0
    for k in range(variances.shape[0]):
        weight = diagonal[k] * variances[k]
        seen += weight * known[k]
        total += weight
    if not (seen > 0.0 and total > 0.0):
        return 1.0, 0.0
    return seen / total, 1.0 / total


@helper
def touched_prototypes(rule, step, width, distances, derivatives, low, high, active):
    """The cost of a sample, and how many prototypes it touches; their indices and derivatives are written."""
    count = derivatives.shape[0]
    if rule.cost >= SNPC:
        for j in range(count):
            active[j] = j
        return soft_derivatives(rule, width, distances, derivatives, low, high), count
    if rule.cost == LVQ21 or rule.cost == LVQ3:
        first, second = two_nearest(distances, count)
    else:
        first, second = nearest_pair(distances, count, low, high)
    one, two = float(distances[first]), float(distances[second])
    first_wins = one < two or (one == two and first < second)
    active[0], active[1] = first, second
    cost, derivatives[first], derivatives[second] = pair_derivatives(
        rule, step, width, one, two, low <= first < high, low <= second < high, first_wins
    )
    return cost, 2


@helper
def moment_of(distances, derivatives, active, number):
    """Sum of derivative times distance over the touched prototypes."""
    moment = 0.0
    for a in range(number):
        moment += derivatives[active[a]] * distances[active[a]]
    return moment
