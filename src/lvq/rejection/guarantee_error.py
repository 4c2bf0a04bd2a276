"""The error that is raised where no operating point can be certified: why, and how many samples would be enough."""

from __future__ import annotations

from math import ceil, log

import numpy as np

from lvq.rejection.binomial import error_p_value, samples_needed
from lvq.rejection.corrections import Guarantee, Plan
from lvq.rejection.point import CertifiedPoint
from lvq.rejection.validation import IntArray

# "No number of samples is enough" is reported only where so many errors have at most this probability at max_error,
SIGNIFICANT = 0.05
# where even this many times the samples would not be enough,
LARGEST_FACTOR = 1000
# and where there are at least this many times the samples needed without any error.
SUFFICIENT_FACTOR = 3
# More than this many times the samples are not recommended to anyone.
REALISTIC_FACTOR = 100

OTHER_REMEDIES = "raise max_error, or use a better classifier or measure of certainty"


class GuaranteeError(ValueError):
    """No operating point can be certified.

    Attributes
    ----------
    reason : {"too_few_samples", "error_rate", "order"}
        More samples would help; no number of samples would; or the most certain samples are not the most accurate, so
        that "bonferroni" on new data may help.
    samples_needed : int or None
        About how many samples are needed in all, where more would help.
    """

    def __init__(self, message: str, reason: str, samples_needed: int | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.samples_needed = samples_needed

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None]]:
        # By default an exception is rebuilt from its message alone; it must be possible to send it between processes.
        return type(self), (str(self), self.reason, self.samples_needed)


def weaker_guarantee(point: CertifiedPoint, n_given: int, unit: str = "samples", group: str = "") -> str:
    """What is guaranteed in place of the requested bound, and how many samples would be enough for that.

    Parameters
    ----------
    point : CertifiedPoint
        Its `requested_error` is not None.
    n_given : int
        Number of samples given.
    unit : str, default="samples"
        What is counted.
    group : str, default=""
        The class that the guarantee is about, with a colon.

    Returns
    -------
    note : str
    """
    assert point.requested_error is not None
    if point.times_needed is None or point.times_needed > REALISTIC_FACTOR:
        more = f"No realistic number of {unit} would be enough for that: {OTHER_REMEDIES}."
    else:
        needed = max(ceil(point.times_needed * n_given), n_given + 1)
        more = f"About {needed} {unit} would be enough, {needed - n_given} more than now."
    return (
        f"{group}An error rate of at most {100 * point.requested_error:g} % could not be guaranteed. The lowest "
        f"bound found is {100 * point.max_error:g} % among accepted predictions, with confidence {point.confidence:g}, "
        f"at a coverage of {100 * point.coverage:.0f} %. {more}"
    )


def too_few(n_accepted: int, n_testing: int, level: float, guarantee: Guarantee) -> GuaranteeError | None:
    """The error for fewer accepted testing samples than are needed without any error; None where there are enough."""
    needed = samples_needed(guarantee.max_error, level)
    if n_accepted >= needed:
        return None
    return _more_samples(
        f"{guarantee} needs at least {_number(needed)} accepted testing samples even without any error, but at most "
        f"{n_accepted} of {n_testing} testing samples can be accepted",
        "raise max_error or lower confidence",
        max(n_testing, 1) * needed / max(n_accepted, 1),
        guarantee,
    )


def explain_failure(
    accepted: IntArray, errors: IntArray, n_testing: int, plan: Plan, guarantee: Guarantee
) -> GuaranteeError:
    """The error for a plan without a point that passed, from the testing counts of all points of the path.

    It is based on the point with the lowest error rate among those that accept enough samples.
    """
    first = int(accepted[plan.points[0]])
    if not plan.stop_at_failure:  # the other points were not tested
        accepted, errors = accepted[plan.points], errors[plan.points]
    most = int(accepted.max())
    error = too_few(most, n_testing, plan.level, guarantee)
    if error is not None:
        return error
    fewest = samples_needed(guarantee.max_error, plan.level)
    rate = np.where(accepted >= fewest, errors / np.maximum(accepted, 1), np.inf)
    best = int(np.lexsort((accepted, rate))[0])
    n_accepted, n_errors = int(accepted[best]), int(errors[best])
    found = f"{n_errors} errors among {n_accepted} accepted testing samples ({rate[best]:.2%})"
    failed = f"{guarantee} could not be shown with {n_testing} testing samples"
    if rate[best] >= guarantee.max_error:
        if 1 - float(error_p_value(n_errors - 1, n_accepted, guarantee.max_error)) <= SIGNIFICANT:
            narrow, wide = int(np.where(accepted >= fewest, accepted, most + 1).argmin()), int(accepted.argmax())
            trend = int(errors[narrow]), int(accepted[narrow]), int(errors[wide]), most
            return _too_many_errors(trend, found, failed, n_testing, plan, guarantee)
        needed = max(samples_needed(guarantee.max_error, plan.level, guarantee.max_error / 2), n_accepted + 1)
        message = (
            f"{failed}. The lowest error rate is {found}: too few to decide whether the true rate is below max_error. "
            f"If it is half of max_error, about {needed} accepted samples are enough"
        )
        return _more_samples(message, OTHER_REMEDIES, n_testing * needed / n_accepted, guarantee)
    passes = bool(error_p_value(n_errors, n_accepted, guarantee.max_error) <= plan.level)
    if passes and n_accepted >= first >= fewest:
        return GuaranteeError(
            f"{guarantee} failed for the most certain samples, although others have {found}: the certainty does not "
            'order the samples by accuracy; use another measure, or correction="bonferroni" on new samples.',
            "order",
        )
    if passes:  # but not where the tests began, because too few were accepted there; more samples help
        needed = max(3 * fewest, n_accepted + 1)
    else:
        needed = max(samples_needed(guarantee.max_error, plan.level, float(rate[best])), n_accepted + 1)
    message = f"{failed}. The lowest error rate is {found}; about {needed} accepted samples are needed"
    return _more_samples(message, "raise max_error or lower confidence", n_testing * needed / n_accepted, guarantee)


def _too_many_errors(
    trend: tuple[int, int, int, int], found: str, failed: str, n_testing: int, plan: Plan, guarantee: Guarantee
) -> GuaranteeError:
    """The lowest rate is significantly above max_error: more samples help only if it falls with rising certainty."""
    fewest = samples_needed(guarantee.max_error, plan.level)
    lowest = f"the lowest error rate of all thresholds that accept at least {fewest} testing samples is {found}"
    accepted = _fraction_at_rate(*trend, guarantee.max_error / 2) * trend[1]
    needed = samples_needed(guarantee.max_error, plan.level, guarantee.max_error / 2)
    if accepted < needed < accepted * LARGEST_FACTOR:  # not where as many are accepted already, all equally certain
        message = f"{failed}: {lowest}, but it falls with rising certainty. At this trend more samples are enough"
        return _more_samples(message, OTHER_REMEDIES, needed * n_testing / accepted, guarantee)
    if n_testing < SUFFICIENT_FACTOR * fewest:
        message = f"{failed}: {lowest}, and so few samples do not show whether more certain ones are more accurate"
        return _more_samples(message, OTHER_REMEDIES, SUFFICIENT_FACTOR * fewest, guarantee)
    return GuaranteeError(
        f"{guarantee} is not achievable: {lowest}, and no number of samples is enough, because it does not fall far "
        f"enough with rising certainty; {OTHER_REMEDIES}.",
        "error_rate",
    )


def _fraction_at_rate(errors: int, accepted: int, all_errors: int, most: int, rate: float) -> float:
    """Which fraction of the accepted samples has errors at `rate` if the rate continues to fall; 0 if it does not fall.

    A power law through the two counts; that the rate falls must be significant (Fisher's exact test).
    """
    from scipy.stats import hypergeom  # slow to import, and needed only here

    if accepted == most or hypergeom.cdf(errors, most, all_errors, accepted) > SIGNIFICANT:
        return 0.0
    power = log(all_errors * accepted / (errors * most)) / log(most / accepted)
    return (rate * accepted / errors) ** (1 / power)


def _more_samples(message: str, otherwise: str, n_testing: float, guarantee: Guarantee) -> GuaranteeError:
    """The advice to use more samples: so many that `n_testing` of them are for testing."""
    total, fraction = ceil(n_testing / guarantee.fraction_tested), guarantee.fraction_tested
    use = "" if fraction == 1 else f" ({fraction:.3g} of them are used for testing)"
    return GuaranteeError(
        f"{message}; give about {_number(total)} samples in all{use}, {otherwise}.", "too_few_samples", total
    )


def _number(count: int) -> str:
    return str(count) if count < 1e9 else f"{count:.2g}"
