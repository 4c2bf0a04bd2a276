"""Rows with missing values: what is observed of a sample.

`lvq.model.observed` has the formula: d = e'Lambda e / s, e = m (x - w), m the mask, s the observed fraction. X is
filled with any numbers where values are missing, so the loops need not look for NaN.

Prototypes and metric follow the gradient of the sample's cost times s, for each prototype its own. Without this factor
the step in an observed feature has the size 1/s: a row of which little is observed would move prototypes beyond itself,
and change the metric more than any other; a small weight could become the largest in one step. With it a step in a
feature is of the size that complete rows have.
"""

from lvq.solvers.kernels.compiling import helper


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
