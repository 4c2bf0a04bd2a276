"""Which points of a path are tested for a guarantee, in what order and at what level.

Rules:
- a plan depends on the path's own counts and on the number of testing samples, never on the testing counts;
- "fixed_sequence" tests from the lowest to the highest coverage, each point at the full level, until the first failure.
  It starts where the path's own coverage predicts about three times as many accepted samples as are needed without any
  error, because a test of fewer samples fails for any classifier;
- `easier_first` are errors that are tested before the requested one, where the path's own counts say that this one
  will not pass and the lowest possible one is wanted: they fall, each is tested at the start of its own sequence, and
  the first failure ends the tests;
- "bonferroni" divides the level among points spread over the path: for a certainty that does not order the samples;
- `weaker` divides it among few points, for the lowest bound that "bonferroni" can state where no test can pass.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np

from lvq.rejection.binomial import samples_needed
from lvq.rejection.path import ThresholdPath
from lvq.rejection.validation import FloatArray, IntArray

N_TESTS = 20  # points that "bonferroni" tests
N_WEAKER = 4  # points that `weaker` has
# errors that `easier_first` tests; the starts of larger ones accept so few samples that they would fail by chance
EASIER = (0.15, 0.1, 0.075, 0.05, 0.03, 0.02, 0.015, 0.01, 0.0075, 0.005, 0.003, 0.002, 0.001)


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
    return Plan(order[expected >= min(start, expected[-1])], guarantee.level, True)


def easier_first(path: ThresholdPath, n_testing: int, guarantee: Guarantee) -> tuple[FloatArray, IntArray]:
    """Falling errors, of which the requested one is the last, and the point at which each is tested.

    The requested one alone where it may pass: easier ones could only fail before it.
    """
    errors = [guarantee.max_error]
    if not _may_pass(path, n_testing, guarantee):
        errors = [*(error for error in EASIER if error > guarantee.max_error), guarantee.max_error]
    plans = [fixed_sequence(path, n_testing, guarantee._replace(max_error=error)) for error in errors]
    return np.array(errors), np.array([plan.points[0] for plan in plans], dtype=np.intp)


def _may_pass(path: ThresholdPath, n_testing: int, guarantee: Guarantee) -> bool:
    """Whether samples are enough, and the path's own samples let expect a lower error where the sequence starts.

    The path rejects the errors of its own samples first, so that too few are counted at low coverage. So at least those
    of a power law are expected: of E errors E c^g are accepted at coverage c. Its power g is the maximum-likelihood
    estimate from the coverages at which errors are rejected, with one error more whose position says nothing (g = 1).
    """
    if samples_needed(guarantee.max_error, guarantee.level) > n_testing:
        return False
    order, start = _by_coverage(path, n_testing)[0], int(fixed_sequence(path, n_testing, guarantee).points[0])
    errors = path.n_errors - path.rejected_errors
    coverage, rejected_next = path.coverage[order], np.maximum(np.diff(errors[order], prepend=0), 0)
    some = rejected_next > 0
    power = (rejected_next.sum() + 1) / (1 - np.sum(rejected_next[some] * np.log(coverage[some])))
    accepted = float(path.coverage[start])
    of_law = (path.n_errors + 1) / (path.n_samples + 1) * accepted**power
    return bool(max(of_law, errors[start] / path.n_samples) <= guarantee.max_error * accepted)


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
