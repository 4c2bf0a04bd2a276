"""Which points of a path are tested for a guarantee, in what order and at what level.

Rules:
- a plan depends on the path's own counts and on the number of testing samples, never on the testing counts;
- "fixed_sequence" tests from the lowest to the highest coverage, each point at the full level, until the first failure.
  It starts where the path's own coverage predicts about three times as many accepted samples as are needed without any
  error, because a test of fewer samples fails for any classifier. Where even all testing samples are too few, no test
  can pass, and the only point is the one whose upper bound the path's own counts predict to be lowest: a weaker bound
  may be stated there, which is valid because the point was chosen without the testing counts;
- "bonferroni" divides the level among points spread over the path: for a certainty that does not order the samples.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np

from lvq.rejection.binomial import error_upper_bound, samples_needed
from lvq.rejection.path import ThresholdPath
from lvq.rejection.validation import FloatArray, IntArray

N_TESTS = 20  # points that "bonferroni" tests


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
    """All points from the first that can pass a test, by rising coverage."""
    needed = samples_needed(guarantee.max_error, guarantee.level)
    # With fewer than nine times the samples needed, three times is too far along the path: use the geometric mean.
    start = min(3 * needed, sqrt(needed * n_testing))
    order, expected = _by_coverage(path, n_testing)
    if needed > n_testing:
        return Plan(order[[_lowest_bound(path, order, expected, guarantee)]], guarantee.level, True)
    return Plan(order[expected >= min(start, expected[-1])], guarantee.level, True)


def _lowest_bound(path: ThresholdPath, order: IntArray, expected: FloatArray, guarantee: Guarantee) -> int:
    """Where in the order the expected counts have the lowest upper bound; the highest coverage among equal ones."""
    accepted = np.floor(expected).astype(np.intp)
    own = path.accepted[order]
    errors = np.ceil(accepted * ((path.n_errors - path.rejected_errors)[order] / np.maximum(own, 1))).astype(np.intp)
    bounds = error_upper_bound(errors, accepted, guarantee.confidence)
    return len(bounds) - 1 - int(bounds[::-1].argmin())


def bonferroni(path: ThresholdPath, n_testing: int, guarantee: Guarantee) -> Plan:
    """At most `N_TESTS` points, evenly spread from the lowest coverage that can be certified to the highest."""
    needed = samples_needed(guarantee.max_error, guarantee.level / N_TESTS)
    order, expected = _by_coverage(path, n_testing)
    targets = np.linspace(min(needed, expected[-1]), expected[-1], N_TESTS)
    # Rounding must not move the last target beyond the last point.
    points = order[np.unique(np.minimum(np.searchsorted(expected, targets), len(order) - 1))]
    return Plan(points, guarantee.level / len(points), False)


CORRECTIONS: dict[str, Callable[[ThresholdPath, int, Guarantee], Plan]] = {
    "fixed_sequence": fixed_sequence,
    "bonferroni": bonferroni,
}


def _by_coverage(path: ThresholdPath, n_testing: int) -> tuple[IntArray, FloatArray]:
    """The path's points by rising coverage, and the expected number of accepted testing samples of each.

    Of points with equal coverage the later one comes first: it rejects more errors.
    """
    order = np.lexsort((-np.arange(len(path)), path.accepted))
    return order, path.coverage[order] * n_testing
