"""Which points of a path are tested, in what order and at what level; and why none passed, if none did.

Rules kept here:
- a plan sees the path's own counts and the number of testing samples, never the testing counts;
- "fixed_sequence" goes from the most to the least cautious point, each at the full level, until the first failure;
  its first point is one where the path's own coverage predicts about three times the samples a perfect record needs,
  because a test of too few samples fails whatever the classifier is worth;
- "bonferroni" shares the level among points spread over the path: for scores whose surest samples are not the best;
- an error says whether more samples would help, and how many.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log, sqrt
from typing import NamedTuple

import numpy as np

from lvq.rejection.binomial import error_p_value, perfect_record, samples_at_rate
from lvq.rejection.path import ThresholdPath
from lvq.rejection.samples import FloatArray, IntArray


class GuaranteeError(ValueError):
    """No point of the path can be certified.

    Attributes
    ----------
    reason : {"too_few_samples", "error_rate", "order"}
        More samples would help; no number of them would; or the surest samples are not the best ones, so that
        "bonferroni" on new data may help.
    samples_needed : int or None
        About how many calibration samples would do, where more would help.
    """

    def __init__(self, message: str, reason: str, samples_needed: int | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.samples_needed = samples_needed

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None]]:
        # An exception is rebuilt from its message alone unless told otherwise; it must survive crossing processes.
        return type(self), (str(self), self.reason, self.samples_needed)


class Promise(NamedTuple):
    """What is to be shown, and the share of the calibration samples that is left for showing it."""

    max_error: float
    confidence: float
    share_tested: float = 1.0

    def __str__(self) -> str:
        return f"max_error={self.max_error:g} with confidence={self.confidence:g}"


# "No number of samples would cure that" is said where so many errors have at most this chance at a rate of max_error.
DOUBT = 0.05


# It is not said either where the rate falls so fast that up to this many times the samples would do.
FARTHEST = 1000
# Nor with fewer than so many times the samples of a perfect record: the surest could not be told from the rest.
ENOUGH = 3


class Plan(NamedTuple):
    """Points to test, in order; what a p-value must reach; whether the first failure ends it."""

    points: IntArray
    level: float
    stop_at_failure: bool


def fixed_sequence(path: ThresholdPath, n_testing: int, promise: Promise, n_tests: int) -> Plan:
    """All points from the first that is worth testing on, the fewest accepted samples first."""
    level = 1 - promise.confidence
    needed = perfect_record(promise.max_error, level)
    # With less than nine times the perfect record, three times it is too far along the path: start half-way (in ratio).
    start = min(3 * needed, sqrt(needed * n_testing))
    order, predicted = _cautious_first(path, n_testing)
    return Plan(order[predicted >= min(start, predicted[-1])], level, True)


def bonferroni(path: ThresholdPath, n_testing: int, promise: Promise, n_tests: int) -> Plan:
    """At most `n_tests` points, evenly spread from the least coverage that can be certified to the most."""
    needed = perfect_record(promise.max_error, (1 - promise.confidence) / n_tests)
    order, predicted = _cautious_first(path, n_testing)
    targets = np.linspace(min(needed, predicted[-1]), predicted[-1], n_tests)
    # Rounding must not push the last target beyond the last point.
    at = np.minimum(np.searchsorted(predicted, targets), len(order) - 1)
    points = order[np.unique(at)]
    return Plan(points, (1 - promise.confidence) / len(points), False)


PROCEDURES: dict[str, Callable[[ThresholdPath, int, Promise, int], Plan]] = {
    "fixed_sequence": fixed_sequence,
    "bonferroni": bonferroni,
}


def _cautious_first(path: ThresholdPath, n_testing: int) -> tuple[IntArray, FloatArray]:
    """The path's points by rising coverage, and how many testing samples each should accept.

    Of points that accept as many samples the later one goes first: it rejects more errors.
    """
    order = np.lexsort((-np.arange(len(path)), path.accepted))
    return order, path.coverage[order] * n_testing


def why_not(accepted: IntArray, errors: IntArray, n_testing: int, plan: Plan, promise: Promise) -> GuaranteeError:
    """The error that says what stands in the way, from the testing counts of all points of the path.

    It is judged by the point with the lowest error rate among those that accept enough samples to be judged at all.
    """
    first = int(accepted[plan.points[0]])
    if not plan.stop_at_failure:  # the other points never had a chance
        accepted, errors = accepted[plan.points], errors[plan.points]
    fewest = perfect_record(promise.max_error, plan.level)
    most = int(accepted.max())
    if most < fewest:
        total = ceil(max(n_testing, 1) * fewest / max(most, 1) / promise.share_tested)
        return GuaranteeError(
            f"{promise} needs at least {fewest} accepted testing samples even if none of them is an error, but at most "
            f"{most} of {n_testing} were accepted; give at least {total} calibration samples in all, raise max_error "
            "or lower confidence.",
            "too_few_samples",
            total,
        )
    rate = np.where(accepted >= fewest, errors / np.maximum(accepted, 1), np.inf)
    best = int(np.lexsort((accepted, rate))[0])
    found = f"{int(errors[best])} errors among {int(accepted[best])} accepted testing samples ({rate[best]:.2%})"
    if rate[best] >= promise.max_error:
        surest, all_of_them = int(np.where(accepted >= fewest, accepted, most + 1).argmin()), int(accepted.argmax())
        trend = int(errors[surest]), int(accepted[surest]), int(errors[all_of_them]), most
        return _too_many_errors(int(errors[best]), int(accepted[best]), trend, found, n_testing, plan, promise)
    shown = bool(error_p_value(errors[best], accepted[best], promise.max_error) <= plan.level)
    if shown and accepted[best] >= first >= fewest:
        return GuaranteeError(
            f"{promise} failed at the surest samples, although others had {found}: the certainty does not order the "
            'samples by how often they are right; use another measure, or procedure="bonferroni" on new samples.',
            "order",
        )
    if shown:  # but not where the tests began: too few were accepted there, or these are surer; more samples cure both
        needed = max(3 * fewest, int(accepted[best]) + 1)
    else:
        needed = max(samples_at_rate(float(rate[best]), promise.max_error, plan.level), int(accepted[best]) + 1)
    total = ceil(n_testing * needed / int(accepted[best]) / promise.share_tested)
    return GuaranteeError(
        f"{promise} could not be shown with {n_testing} testing samples, at best {found}: that takes about {needed} "
        f"accepted ones; give about {total} calibration samples in all, raise max_error or lower confidence.",
        "too_few_samples",
        total,
    )


def _too_many_errors(
    errors: int,
    accepted: int,
    trend: tuple[int, int, int, int],
    found: str,
    n_testing: int,
    plan: Plan,
    promise: Promise,
) -> GuaranteeError:
    """The lowest rate is not below max_error: undecided if chance allows that, or if it falls towards the surest."""
    chance = 1 - float(error_p_value(errors - 1, accepted, promise.max_error))
    if chance <= DOUBT:
        fewest = perfect_record(promise.max_error, plan.level)
        lowest = f"the lowest error rate at any threshold that accepts {fewest} testing samples or more was {found}"
        share = _share_that_would_do(*trend, promise.max_error / 2) * trend[1] / n_testing
        needed = samples_at_rate(promise.max_error / 2, promise.max_error, plan.level)
        if share * n_testing < needed < share * n_testing * FARTHEST:  # not where as many are there already, all alike
            total = ceil(needed / share / promise.share_tested)
            return GuaranteeError(
                f"{promise} could not be shown with {n_testing} testing samples: {lowest}, but the rate falls towards "
                f"the surest. At the pace it falls, about {total} calibration samples in all would do; else raise "
                "max_error, or use a better classifier or measure of certainty.",
                "too_few_samples",
                total,
            )
        if n_testing < ENOUGH * fewest:
            total = ceil(ENOUGH * fewest / promise.share_tested)
            return GuaranteeError(
                f"{promise} could not be shown with {n_testing} testing samples: {lowest}, and so few do not tell "
                f"whether surer ones are better; give at least {total} calibration samples in all to learn that, raise "
                "max_error, or use a better classifier or measure of certainty.",
                "too_few_samples",
                total,
            )
        return GuaranteeError(
            f"{promise} cannot be had: {lowest}, and no number of samples would cure that, as it does not fall low "
            "enough towards the surest; raise max_error, or use a better classifier or measure of certainty.",
            "error_rate",
        )
    needed = max(samples_at_rate(promise.max_error / 2, promise.max_error, plan.level), accepted + 1)
    total = ceil(n_testing * needed / accepted / promise.share_tested)
    return GuaranteeError(
        f"{promise} could not be shown with {n_testing} testing samples, at best {found}: too few to tell on which "
        f"side of max_error the true rate lies. If it is half of max_error, about {needed} accepted ones show it; give "
        f"about {total} calibration samples in all, raise max_error, or use a better classifier or measure.",
        "too_few_samples",
        total,
    )


def _share_that_would_do(errors: int, accepted: int, all_errors: int, most: int, rate: float) -> float:
    """Which share of the accepted samples would err at `rate` if errors thin out as they do so far; 0 if they do not.

    By a power of the share, through the two counts; that it falls at all must be more than chance (Fisher's test).
    """
    from scipy.stats import hypergeom  # slow to import, and wanted where all is lost only

    if accepted == most or hypergeom.cdf(errors, most, all_errors, accepted) > DOUBT:
        return 0.0
    power = log(all_errors * accepted / (errors * most)) / log(most / accepted)
    return (rate * accepted / errors) ** (1 / power)
