"""Thresholds with a guarantee: P(error | accepted) <= max_error, with a stated confidence over the calibration samples.

The path of thresholds is fixed before the testing samples are used; then its points are tested on them (Learn then
Test, Angelopoulos et al. 2021). Samples are independent, so the errors among the accepted ones are binomial and the
tests exact.

Rules:
- nothing about the tests depends on the testing counts: neither the path, nor the order, nor where the testing starts;
- groups (predicted classes) each have their own path and tests, and the guarantee holds for all of them at once;
- where the requested error cannot be guaranteed, the lowest one that can be is wanted, at the same confidence
  ("relax"). If the path's own counts say that the request will not pass, falling errors are tested before it, from 15 %
  on, each at the first point of its own sequence, and the first failure ends the tests. All errors that passed are
  guaranteed at once, as in any fixed sequence: consider the first untrue one, at a point with true rate r and upper
  bound u. It passes only where u < r, which has at most the probability of the level, and all that was tested before it
  is true. Where a test fails, u may be guaranteed instead: as u is above the tested error, it is false only where that
  error is untrue and u < r, which is the same event. The lowest of these is taken. An error that passed can be requested too,
  as the tests before it are the same or fewer;
- with "bonferroni" all bounds hold at once, so the lowest of them is taken; where the testing samples are too few for
  any test to pass, nothing else is ever stated, and it is the lowest of the bounds at four points, which hold at once.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lvq.rejection.binomial import error_p_value, error_upper_bound, samples_needed
from lvq.rejection.corrections import CORRECTIONS, Guarantee, easier_first, weaker
from lvq.rejection.guarantee_error import GuaranteeError, explain_failure
from lvq.rejection.path import ThresholdPath
from lvq.rejection.point import CertifiedPoint
from lvq.rejection.thresholds import local_thresholds
from lvq.rejection.validation import BoolArray, FloatArray, IntArray, label_codes
from lvq.typing import Argument, Labels

ClassifiedSamples = tuple[FloatArray, BoolArray, Labels]  # certainty, correct, cell
CertifiedPath = tuple[ThresholdPath | None, CertifiedPoint | None]


def certify(
    path: ThresholdPath,
    certainty: ArrayLike,
    correct: ArrayLike,
    cell: ArrayLike,
    guarantee: Guarantee,
    *,
    relax: bool = False,
) -> CertifiedPoint:
    """The point of a path with the highest coverage among those certified on samples that the path was not fitted on.

    Parameters
    ----------
    path : ThresholdPath
        Fitted on other samples than those given here; `path.extend` continues it to coverage 0.
    certainty, correct, cell : array-like of shape (n_samples,)
        The testing samples.
    guarantee : Guarantee
        What is to be certified.
    relax : bool, default=False
        Where no point can be certified, return the one with the lowest bound that can be guaranteed instead.

    Returns
    -------
    point : CertifiedPoint

    Raises
    ------
    GuaranteeError
        If no point can be certified.

    Examples
    --------
    >>> certainty = np.arange(1000) / 1000
    >>> correct = (np.arange(1000) % 7 > 0) | (certainty > 0.5)
    >>> path = local_thresholds(certainty[::2], correct[::2], np.zeros(500))
    >>> point = certify(path, certainty[1::2], correct[1::2], np.zeros(500), Guarantee(max_error=0.05, level=0.05))
    >>> point.n_accepted, point.n_errors
    (303, 8)
    """
    testing = path.evaluate(certainty, correct, cell)
    plan = CORRECTIONS[guarantee.correction](path, testing.n_samples, guarantee)
    all_errors = testing.n_errors - testing.rejected_errors
    if relax and plan.stop_at_failure:
        lowest = _lowest_in_sequence(testing, path, guarantee)
        if lowest.max_error > guarantee.max_error:
            error = explain_failure(testing.accepted, all_errors, testing.n_samples, plan, guarantee)
            return _certified(testing, lowest, plan.level, guarantee, error)
    accepted, errors = testing.accepted[plan.points], all_errors[plan.points]
    passed = error_p_value(errors, accepted, guarantee.max_error) <= plan.level
    if plan.stop_at_failure:
        passed = np.logical_and.accumulate(passed)
    if passed.any():  # all points that passed are certified together, so any of them may be chosen
        best = Bound(guarantee.max_error, int(plan.points[np.where(passed, accepted, -1).argmax()]))
        return _certified(testing, best, plan.level, guarantee)
    error = explain_failure(testing.accepted, all_errors, testing.n_samples, plan, guarantee)
    if not relax:
        raise error
    if samples_needed(guarantee.max_error, plan.level) > testing.n_samples:
        plan = weaker(path, testing.n_samples, guarantee)
    bounds = _upper_bounds(testing, plan.points, plan.level)
    lowest = Bound(_rounded_up(bounds.min()), int(plan.points[bounds.argmin()]))
    return _certified(testing, lowest, plan.level, guarantee, error)


class Bound(NamedTuple):
    """A guaranteed bound of the error rate, and the index of the point that it holds for."""

    max_error: float
    point: int


def _lowest_in_sequence(testing: ThresholdPath, path: ThresholdPath, guarantee: Guarantee) -> Bound:
    """The requested error where it and all easier ones pass; else the lowest bound up to the first failure."""
    targets, points = easier_first(path, testing.n_samples, guarantee)
    bounds = _upper_bounds(testing, points, guarantee.level)
    failed = np.flatnonzero(bounds > targets)
    if not len(failed):
        return Bound(guarantee.max_error, int(points[-1]))
    at = int(failed[0])
    stated = [Bound(_rounded_up(bounds[at]), int(points[at]))]
    if at:
        stated.append(Bound(float(targets[at - 1]), int(points[at - 1])))
    return min(stated)


def _upper_bounds(testing: ThresholdPath, points: IntArray, level: float) -> FloatArray:
    errors = (testing.n_errors - testing.rejected_errors)[points]
    return error_upper_bound(errors, testing.accepted[points], 1 - level)


def _rounded_up(bound: float) -> float:
    """To tenths of a percent."""
    return min(ceil(1000 * bound) / 1000, 1.0)


def _certified(
    testing: ThresholdPath, bound: Bound, level: float, guarantee: Guarantee, failure: GuaranteeError | None = None
) -> CertifiedPoint:
    """The certified point; `failure` tells why the bound is not the requested one."""
    point = testing.point(bound.point)
    n_accepted = int(testing.accepted[bound.point])
    n_errors = testing.n_errors - point.rejected_errors
    instead: dict[str, Argument] = {}
    if failure is not None:
        given, needed = testing.n_samples / guarantee.fraction_tested, failure.samples_needed
        times = None if needed is None else needed / given
        instead = {"requested_error": guarantee.max_error, "times_needed": times}
    return CertifiedPoint(
        **vars(point),
        **instead,
        max_error=bound.max_error,
        confidence=guarantee.confidence,
        n_testing=testing.n_samples,
        n_accepted=n_accepted,
        n_errors=n_errors,
        p_value=float(error_p_value(n_errors, n_accepted, min(bound.max_error, 1 - 1e-12))),
        level=level,
    )


def guaranteed_point(
    fitting: ClassifiedSamples,
    testing: ClassifiedSamples,
    guarantee: Guarantee,
    *,
    method: str = "optimal",
    min_cell_size: int = 1,
    on_failure: str = "raise",
) -> CertifiedPath:
    """Fit a path on some samples and certify a point of it on others.

    Parameters
    ----------
    fitting, testing : tuples of certainty, correct and cell
        Independent samples that the classifier was not trained on.
    guarantee : Guarantee
        What is to be certified.
    method, min_cell_size
        As in `local_thresholds`.
    on_failure : {"raise", "reject", "relax"}, default="raise"
        What to do where no point can be certified: raise, return None for the point, or certify what is possible; None
        where there are no samples.

    Returns
    -------
    path : ThresholdPath or None
    point : CertifiedPoint or None
    """
    path = None
    try:
        if not len(fitting[0]) or not len(testing[0]):
            raise GuaranteeError(
                f"{guarantee} needs samples to fit the thresholds and others to test them, got {len(fitting[0])} and "
                f"{len(testing[0])}; give more calibration samples.",
                "too_few_samples",
            )
        path = local_thresholds(*fitting, method=method, min_cell_size=min_cell_size).extend(*fitting)
        return path, certify(path, *testing, guarantee, relax=on_failure == "relax")
    except GuaranteeError:
        if on_failure == "raise":
            raise
        return path, None


def guaranteed_points(
    fitting: ClassifiedSamples,
    testing: ClassifiedSamples,
    fitting_group: Labels,
    testing_group: Labels,
    guarantee: Guarantee,
    **options: Argument,
) -> dict[Hashable, CertifiedPath]:
    """`guaranteed_point` for every group, such as a predicted class; all guarantees hold at once.

    The level is divided equally among the groups of the testing samples. The options are those of `guaranteed_point`.
    """
    labels = label_codes(testing_group)[0].tolist()
    result: dict[Hashable, CertifiedPath] = {}
    for label in labels:
        own_fitting = _of_group(fitting, fitting_group == label)
        own_testing = _of_group(testing, testing_group == label)
        own = guarantee._replace(
            level=guarantee.level / len(labels),
            fraction_tested=guarantee.fraction_tested * len(own_testing[0]) / len(testing_group),
            group=f"class {label!r} of {len(labels)}: ",
        )
        result[label] = guaranteed_point(own_fitting, own_testing, own, **options)
    return result


def _of_group(samples: ClassifiedSamples, inside: BoolArray) -> ClassifiedSamples:
    certainty, correct, cell = samples
    return certainty[inside], correct[inside], cell[inside]
