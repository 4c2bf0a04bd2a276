"""Thresholds with a guarantee: P(error | accepted) <= max_error, with a stated confidence over the calibration samples.

The path of thresholds is fixed before the testing samples are used; then its points are tested on them (Learn then
Test, Angelopoulos et al. 2021). Samples are independent, so the errors among the accepted ones are binomial and the
tests exact: no normal approximation, no simulation.

Rules:
- nothing about the tests depends on the testing counts: neither the path, nor the order, nor where the testing starts;
- points are tested from the lowest to the highest coverage, each at the full level, until the first failure. The tests
  start where the path's own coverage predicts about three times as many accepted samples as are needed without any
  error, because a test of fewer samples fails for any classifier;
- several bounds are tested from the largest down, each at the start of its own sequence, and the first failure ends
  the tests; only the smallest continues along its sequence. All bounds that passed hold at once, so the smallest is
  stated;
- with groups, one row drawn from each group is tested: these are independent where rows are not. The guarantee is for
  such rows: a randomly chosen row of a new group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, binom

from lvq.rejection.path import IntArray, OperatingPoint, ThresholdPath
from lvq.typing import Floats

FEWEST_EXPECTED = 45  # accepted testing samples where the tests start
LARGEST = 1e300  # number of samples that is reported
SUFFICIENT_FACTOR = 3  # "not achievable" needs this many times the samples needed without any error
BOUNDS = "give max_error several bounds at once (as --max-error does, up to 50 %)"  # one by one may succeed by luck
REMEDIES = f"{BOUNDS}, or use a better classifier or measure of certainty"


@dataclass(frozen=True, eq=False)
class CertifiedPoint(OperatingPoint):
    """An operating point whose error rate among accepted samples is at most `max_error`, with the given confidence.

    Its counts are from the testing samples.

    Attributes
    ----------
    max_error, confidence : float
        What is guaranteed.
    n_testing, n_accepted, n_errors : int
        Testing samples, accepted ones, and errors among these.
    p_value : float
        P-value of the exact test that certified the point.
    unit : {"samples", "groups"}
        What the guarantee is for: a new sample, or a randomly chosen sample of a new group.
    requested_error : float or None
        The lowest of several bounds, if it could not be guaranteed; `max_error` is then the lowest that could be.
    """

    max_error: float
    confidence: float
    n_testing: int
    n_accepted: int
    n_errors: int
    p_value: float
    unit: str = "samples"
    requested_error: float | None = None

    @property
    def fallback(self) -> str:
        """What to do about a bound that is not the requested one."""
        return f"Requested alone, {100 * self.max_error:g} % may accept more rows; to choose it now, you need new data."


class Guarantee(NamedTuple):
    """P(error | accepted) <= max_error, with probability 1 - level over the calibration samples.

    `fraction_tested` is the fraction of the samples given that are used for the tests, for advice on sample sizes.
    """

    max_error: float
    level: float
    fraction_tested: float = 1.0
    unit: str = "samples"

    def __str__(self) -> str:
        return f"max_error={self.max_error:g} with confidence={1 - self.level:g}"


def certify(
    path: ThresholdPath,
    certainty: ArrayLike,
    correct: ArrayLike,
    cell: ArrayLike,
    guarantees: Sequence[Guarantee],
) -> tuple[CertifiedPoint, tuple[str, ...]]:
    """The certified point of a path with the highest coverage, tested on samples that the path was not fitted on.

    Parameters
    ----------
    path : ThresholdPath
        Fitted on other samples than those given here; `path.extend` continues it to coverage 0.
    certainty, correct, cell : array-like of shape (n_samples,)
        The testing samples.
    guarantees : sequence of Guarantee
        What to certify: one, or several that differ in `max_error`, to certify the lowest possible.

    Returns
    -------
    point : CertifiedPoint
    notes : tuple of str
        What the guarantee is for, if there are groups, and why the lowest of several bounds is not guaranteed.

    Raises
    ------
    GuaranteeError
        If no point can be certified.

    Examples
    --------
    >>> from lvq.rejection import local_thresholds
    >>> certainty = np.arange(1000) / 1000
    >>> correct = (np.arange(1000) % 7 > 0) | (certainty > 0.5)
    >>> path = local_thresholds(certainty[::2], correct[::2], np.zeros(500))
    >>> point, _ = certify(path, certainty[1::2], correct[1::2], np.zeros(500), [Guarantee(max_error=0.05, level=0.05)])
    >>> point.n_accepted, point.n_errors
    (303, 8)
    """
    counts = path.evaluate(certainty, correct, cell)
    falling = sorted(guarantees, key=lambda guarantee: -guarantee.max_error)
    n_testing = counts.n_samples
    possible = [one for one in falling if samples_needed(one.max_error, one.level) <= n_testing] or falling[:1]
    found: CertifiedPoint | None = None
    for guarantee in possible:
        points = fixed_sequence(path, n_testing, guarantee)
        p_value = error_p_value(counts.accepted_errors[points], counts.accepted[points], guarantee.max_error)
        passed = np.logical_and.accumulate(p_value <= guarantee.level)
        if not passed.any():
            if found is None:
                raise explain_failure(path, counts, guarantee)
            break
        if guarantee is not possible[-1]:
            passed[1:] = False  # only the smallest bound continues along its sequence
        best = int(np.where(passed, counts.accepted[points], -1).argmax())
        found = CertifiedPoint(
            **vars(counts.point(int(points[best]))),
            max_error=guarantee.max_error,
            confidence=1 - guarantee.level,
            n_testing=n_testing,
            n_accepted=int(counts.accepted[points[best]]),
            n_errors=int(counts.accepted_errors[points[best]]),
            p_value=float(p_value[best]),
            unit=guarantee.unit,
            requested_error=None if guarantee is falling[-1] else falling[-1].max_error,
        )
    assert found is not None
    return found, _notes(found, explain_failure(path, counts, falling[-1]))


def _notes(point: CertifiedPoint, why: GuaranteeError) -> tuple[str, ...]:
    notes = []
    if point.unit == "groups":
        notes.append(
            "The guarantee is stated for groups: it holds for a randomly chosen row of a new group, and was tested on "
            f"one row of each of {point.n_testing} groups. Rows of large groups may have a higher error rate."
        )
    if point.requested_error is not None:
        notes.append(
            f"An error rate of at most {100 * point.requested_error:g} % could not be guaranteed; "
            f"{100 * point.max_error:g} % is the lowest bound that can be guaranteed for accepted predictions, with "
            f"confidence {point.confidence:g}, at a coverage of {100 * point.coverage:.0f} %. "
            f"{point.fallback} Why: {why}"
        )
    return tuple(notes)


def fixed_sequence(path: ThresholdPath, n_testing: int, guarantee: Guarantee) -> IntArray:
    """All points from the first that can pass a test, by rising coverage; at equal coverage the later comes first."""
    needed = samples_needed(guarantee.max_error, guarantee.level)
    # With fewer than nine times the samples needed, three times is too far along the path: use the geometric mean.
    # Where few samples are expected, far fewer may be accepted, so there is a minimum.
    start = min(max(3 * needed, FEWEST_EXPECTED), sqrt(needed * n_testing))
    order = np.lexsort((-np.arange(len(path)), path.accepted))
    expected = path.coverage[order] * n_testing
    return order[expected >= min(start, expected[-1])]


# -- exact tests of an error rate --------------------------------------------------------------------------------------


def error_p_value(n_errors: ArrayLike, n_accepted: ArrayLike, max_error: float) -> Floats:
    """P(Binomial(n_accepted, max_error) <= n_errors): probability of so few errors if the error rate is max_error.

    Examples
    --------
    >>> error_p_value([0, 1], [299, 299], 0.01).round(3)
    array([0.05 , 0.199])
    """
    return np.asarray(binom.cdf(n_errors, n_accepted, max_error))


def error_upper_bound(n_errors: ArrayLike, n_accepted: ArrayLike, confidence: float = 0.95) -> Floats:
    """Clopper-Pearson upper bound of the error rate, with the given confidence, for one test fixed beforehand.

    Examples
    --------
    >>> error_upper_bound([0, 3, 0], [299, 100, 0]).round(4)
    array([0.01  , 0.0757, 1.    ])
    """
    n_correct = np.subtract(n_accepted, n_errors)
    bound = beta.ppf(confidence, np.add(n_errors, 1), np.maximum(n_correct, 1))
    return np.where(n_correct == 0, 1.0, bound)


def samples_needed(max_error: float, level: float, rate: float = 0.0) -> int:
    """Accepted samples that certify max_error at `level` if the fraction of errors is `rate`, which is below max_error.

    The fewest without any error, else about the fewest.

    Examples
    --------
    >>> samples_needed(0.01, 0.05)
    299
    >>> samples_needed(0.01, 0.05, rate=0.005)
    1188
    """
    needed = max(1, ceil(min(log(level) / log1p(-max_error), LARGEST) - 1e-9))
    while rate and error_p_value(ceil(rate * needed - 1e-9), needed, max_error) > level:
        needed += ceil(needed / 100)
    return needed


# -- why nothing can be certified --------------------------------------------------------------------------------------


class GuaranteeError(ValueError):
    """No operating point can be certified.

    Attributes
    ----------
    reason : {"too_few_samples", "error_rate"}
        More samples may help; or the error rate is too high.
    samples_needed : int or None
        About how many samples are needed in all, where more would help.
    """

    def __init__(self, message: str, reason: str = "", samples_needed: int | None = None) -> None:
        super().__init__(message)  # another process rebuilds an exception from this alone, then sets its attributes
        self.reason = reason
        self.samples_needed = samples_needed


def too_few(n_accepted: int, n_testing: int, guarantee: Guarantee) -> GuaranteeError | None:
    """The error if fewer testing samples are accepted than are needed without any error; None if they are enough."""
    needed = samples_needed(guarantee.max_error, guarantee.level)
    if n_accepted >= needed:
        return None
    most = f"at most {n_accepted} of {n_testing} testing samples can be accepted"
    most = most if n_accepted < n_testing else f"there are only {n_testing}"
    message = f"{guarantee} needs at least {needed:.9g} accepted testing samples even without any error, but {most}"
    total = max(n_testing, 1) * needed / max(n_accepted, 1)
    return _more_samples(message, total, guarantee, f"or {BOUNDS}")


def explain_failure(path: ThresholdPath, counts: ThresholdPath, guarantee: Guarantee) -> GuaranteeError:
    """The error for a sequence of points whose first one failed, from the testing counts of all points of the path.

    It is based on the point with the lowest error rate among those of the sequence that accept enough samples. Where a
    test of that point alone would pass, the order of the tests is the cause, and not the number of samples.
    """
    n_testing, sequence = counts.n_samples, fixed_sequence(path, counts.n_samples, guarantee)
    error = too_few(int(counts.accepted.max()), n_testing, guarantee)
    if error is not None:
        return error
    accepted, errors = counts.accepted[sequence], counts.accepted_errors[sequence]
    fewest = samples_needed(guarantee.max_error, guarantee.level)
    rate = np.where(accepted >= fewest, errors / np.maximum(accepted, 1), np.inf)
    best = int(np.lexsort((accepted, rate))[0])
    n_accepted, n_errors = int(accepted[best]), int(errors[best])
    shown = f"{guarantee} could not be shown with {n_testing} testing samples"
    p_value = error_p_value(errors, accepted, guarantee.max_error)
    if p_value[best] <= guarantee.level < p_value[0]:
        return GuaranteeError(
            f"{shown}. The strictest threshold ({accepted[0]} accepted, {errors[0]} wrong) already failed, so "
            "later ones were not tested. The most certain predictions are not the most accurate here: try another "
            "measure; more rows may not help.",
            "error_rate",
        )
    shown += (
        f": the lowest error rate of all thresholds to test that accept at least {fewest} of them is {n_errors} "
        f"{'error' if n_errors == 1 else 'errors'} among {n_accepted} ({rate[best]:.2%})"
    )
    below = rate[best] < guarantee.max_error
    if not below and n_testing >= SUFFICIENT_FACTOR * fewest:
        return GuaranteeError(
            f"{shown}. More samples help only if the most certain ones have a lower rate; otherwise {REMEDIES}.",
            "error_rate",
        )
    assumed = float(rate[best]) if below else guarantee.max_error / 2  # too few to decide whether it is below
    enough = samples_needed(guarantee.max_error, guarantee.level, assumed)
    needed = max(enough, SUFFICIENT_FACTOR * fewest, n_accepted + 1)
    message = (
        f"{shown}; about {needed} accepted samples are enough if the true rate is {assumed:.2%} and the most certain "
        "samples are the most accurate"
    )
    return _more_samples(message, n_testing * needed / n_accepted, guarantee)


def _more_samples(message: str, n_testing: float, guarantee: Guarantee, otherwise: str = REMEDIES) -> GuaranteeError:
    """The advice to use more samples: enough for `n_testing` of them to be used for testing."""
    total, fraction = ceil(n_testing / guarantee.fraction_tested), guarantee.fraction_tested
    use = "" if fraction == 1 else f" ({100 * fraction:.3g} % of these test the guarantee)"
    advice = f"give about {total:.9g} {guarantee.unit} to fit{use}, {otherwise}."
    return GuaranteeError(f"{message}; {advice}", "too_few_samples", total)
