"""Which points of a path are tested for a guarantee, in what order and at what level.

Rules:
- a plan depends on the path's own counts and on the number of testing samples, never on the testing counts;
- "fixed_sequence" tests by rising coverage, each point at the full level, until the first failure. It starts where the
  path's own counts promise the lowest upper bound of the error rate, whatever error is requested. So an error is
  certified iff the bound at the start is not above it, and that bound is the lowest error that can be requested;
- "bonferroni" divides the level among points spread over the path: for a certainty that does not order the samples;
- `weaker` divides it among few points, for the lowest bound that "bonferroni" can state where no test can pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from lvq.rejection.binomial import samples_needed
from lvq.rejection.path import ThresholdPath
from lvq.rejection.validation import FloatArray, IntArray

N_TESTS = 20  # points that "bonferroni" tests
N_WEAKER = 4  # points that `weaker` has


class Guarantee(NamedTuple):
    """P(error | accepted) <= max_error, with probability 1 - level over the calibration samples.

    `fraction_tested` is the fraction of the samples given that are used for the tests, for advice on sample sizes;
    `group` names the class that the guarantee is about, for messages.
    """

    max_error: float
    level: float
    correction: str = "fixed_sequence"
    fraction_tested: float = 1.0
    group: str = ""

    @property
    def confidence(self) -> float:
        """Probability that the guarantee holds."""
        return 1 - self.level

    def __str__(self) -> str:
        return f"{self.group}max_error={self.max_error:g} with confidence={self.confidence:g}"


class Plan(NamedTuple):
    """Points to test, in order; the level of each test; whether the first failure ends the tests."""

    points: IntArray
    level: float
    stop_at_failure: bool


def fixed_sequence(path: ThresholdPath, n_testing: int, guarantee: Guarantee) -> Plan:
    """All points by rising coverage, from the one that promises the lowest bound; of equal ones the last."""
    order, expected = _by_coverage(path, n_testing)
    bounds = _expected_bounds(path, order, expected, guarantee.confidence)
    return Plan(order[np.flatnonzero(bounds == bounds.min())[-1] :], guarantee.level, True)


def _expected_bounds(path: ThresholdPath, order: IntArray, expected: FloatArray, confidence: float) -> FloatArray:
    """Upper bounds of the error rate that the path's own samples let expect on the testing samples.

    The path has rejected the errors of its own samples, so that it has few or none at low coverage, and too few are
    counted there. So at least those of a power law are expected: of E errors E c^g are accepted at coverage c. The
    power is its maximum-likelihood estimate from the coverages at which errors are rejected; as with the rate, one
    error more is assumed, there in the mean position of errors that do not depend on the coverage (g = 1).
    """
    coverage, errors = path.coverage[order], (path.n_errors - path.rejected_errors)[order]
    rejected_next = np.maximum(np.diff(errors, prepend=0), 0)  # errors that the point of next lower coverage rejects
    some = rejected_next > 0
    positions = -np.sum(rejected_next[some] * np.log(coverage[some]))
    power = (rejected_next.sum() + 1) / (positions + 1)
    of_law = (path.n_errors + 1) / (path.n_samples + 1) * coverage**power
    counted = np.minimum(np.maximum(of_law, errors / path.n_samples) / np.maximum(coverage, 1e-12), 1.0) * expected
    inside = (expected > 0) & (counted < expected)
    bounds = betaincinv(counted + 1, np.where(inside, expected - counted, 1.0), confidence)
    return np.where(inside, bounds, 1.0)


def bonferroni(path: ThresholdPath, n_testing: int, guarantee: Guarantee) -> Plan:
    """At most `N_TESTS` points, evenly spread from the lowest coverage that can be certified to the highest."""
    needed = samples_needed(guarantee.max_error, guarantee.level / N_TESTS)
    expected = float(path.coverage.max()) * n_testing
    return _spread(path, n_testing, np.linspace(min(needed, expected), expected, N_TESTS), guarantee)


def weaker(path: ThresholdPath, n_testing: int, guarantee: Guarantee) -> Plan:
    """Points at a quarter, a half, three quarters and all of the highest coverage, whatever error was requested."""
    targets = np.arange(1, N_WEAKER + 1) / N_WEAKER * float(path.coverage.max()) * n_testing
    return _spread(path, n_testing, targets, guarantee)


CORRECTIONS: dict[str, Callable[[ThresholdPath, int, Guarantee], Plan]] = {
    "fixed_sequence": fixed_sequence,
    "bonferroni": bonferroni,
}


def _spread(path: ThresholdPath, n_testing: int, targets: FloatArray, guarantee: Guarantee) -> Plan:
    """The points that are expected to accept so many testing samples; the level is divided among them."""
    order, expected = _by_coverage(path, n_testing)
    # Rounding must not move the last target beyond the last point.
    points = order[np.unique(np.minimum(np.searchsorted(expected, targets), len(order) - 1))]
    return Plan(points, guarantee.level / len(points), False)


def _by_coverage(path: ThresholdPath, n_testing: int) -> tuple[IntArray, FloatArray]:
    """The path's points by rising coverage, and the expected number of accepted testing samples of each.

    Of points with equal coverage the later one comes first: it rejects more errors.
    """
    order = np.lexsort((-np.arange(len(path)), path.accepted))
    return order, path.coverage[order] * n_testing
