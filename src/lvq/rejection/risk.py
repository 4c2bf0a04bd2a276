"""Thresholds with a guarantee: P(error | accepted) <= max_error, with a stated confidence over the calibration data.

The path of thresholds is fixed before the testing samples are looked at; then its points are tested on them (Learn then
Test, Angelopoulos et al. 2021). Samples are independent, so the errors among the accepted ones are binomial and the
tests exact.

Rules kept here:
- nothing about the tests depends on the testing counts: neither the path, nor the order, nor where the testing starts;
- a split of the calibration data is the same every time: drawing again until it suits would void the guarantee;
- groups (predicted classes) each get their own path and tests, and the promise holds for all of them at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lvq.rejection.binomial import error_p_value, perfect_record
from lvq.rejection.path import ThresholdPath
from lvq.rejection.point import OperatingPoint
from lvq.rejection.procedures import PROCEDURES, GuaranteeError, Plan, Promise, why_not
from lvq.rejection.samples import BoolArray, IntArray, Samples, check_lengths, check_samples, check_share, label_codes
from lvq.rejection.thresholds import local_thresholds


@dataclass(frozen=True, eq=False)
class CertifiedPoint:
    """An operating point whose error rate among accepted samples is at most `max_error`, with the given confidence.

    Attributes
    ----------
    point : OperatingPoint
        The thresholds; its counts are those on the testing samples.
    max_error, confidence : float
        What is promised.
    n_testing, n_accepted, n_errors : int
        Testing samples, those accepted, and the errors among these.
    p_value, level : float
        The exact test that certified the point, and the level it had to reach.
    """

    point: OperatingPoint
    max_error: float
    confidence: float
    n_testing: int
    n_accepted: int
    n_errors: int
    p_value: float
    level: float

    def accept(self, certainty: ArrayLike, cell: ArrayLike) -> BoolArray:
        """Which samples get an answer."""
        return self.point.accept(certainty, cell)


def certify(
    path: ThresholdPath,
    certainty: ArrayLike,
    correct: ArrayLike,
    cell: ArrayLike,
    *,
    max_error: float,
    confidence: float = 0.95,
    procedure: str = "fixed_sequence",
    n_tests: int = 20,
) -> CertifiedPoint:
    """The point of a given path that answers most often among those certified on samples the path has not seen.

    Parameters
    ----------
    path : ThresholdPath
        Fitted on other samples than those given here; `path.extend` takes it down to coverage 0.
    certainty, correct, cell : array-like of shape (n_samples,)
        The testing samples.
    max_error : float
        Highest error rate among accepted samples, strictly between 0 and 1.
    confidence : float, default=0.95
        Probability, over the testing samples, that the promise holds.
    procedure : {"fixed_sequence", "bonferroni"}, default="fixed_sequence"
        From the most cautious point on until a test fails, or points all over the path that share the level. Choose
        before looking at the samples.
    n_tests : int, default=20
        Number of points that "bonferroni" tests.

    Returns
    -------
    CertifiedPoint

    Raises
    ------
    GuaranteeError
        If no point can be certified; it says why.

    Examples
    --------
    >>> import numpy as np
    >>> certainty = np.arange(1000) / 1000
    >>> correct = (np.arange(1000) % 7 > 0) | (certainty > 0.5)
    >>> path = local_thresholds(certainty[::2], correct[::2], np.zeros(500))
    >>> answer = certify(path, certainty[1::2], correct[1::2], np.zeros(500), max_error=0.05)
    >>> answer.n_accepted, answer.n_errors
    (303, 8)
    """
    promise = _check_promise(max_error, confidence, procedure, n_tests)
    return _certify(path, check_samples(certainty, correct, cell), promise, procedure, n_tests)


def _certify(path: ThresholdPath, samples: Samples, promise: Promise, procedure: str, n_tests: int) -> CertifiedPoint:
    testing = path.evaluate(samples.certainty, samples.correct, samples.cells[samples.code])
    plan = PROCEDURES[procedure](path, testing.n_samples, promise, n_tests)
    errors_accepted = testing.n_errors - testing.rejected_errors
    accepted, errors = testing.accepted[plan.points], errors_accepted[plan.points]
    p_values = error_p_value(errors, accepted, promise.max_error)
    passed = p_values <= plan.level
    if plan.stop_at_failure:
        passed = np.logical_and.accumulate(passed)
    if not passed.any():
        raise why_not(testing.accepted, errors_accepted, testing.n_samples, plan, promise)
    # All points that passed are certified together, so the choice among them is free.
    best = int(np.where(passed, accepted, -1).argmax())
    return CertifiedPoint(
        point=testing.point(int(plan.points[best])),
        max_error=promise.max_error,
        confidence=promise.confidence,
        n_testing=testing.n_samples,
        n_accepted=int(accepted[best]),
        n_errors=int(errors[best]),
        p_value=float(p_values[best]),
        level=plan.level,
    )


def guaranteed_point(
    certainty: ArrayLike,
    correct: ArrayLike,
    cell: ArrayLike,
    *,
    max_error: float,
    confidence: float = 0.95,
    method: str = "optimal",
    min_cell_size: int = 1,
    procedure: str = "fixed_sequence",
    n_tests: int = 20,
    path_share: float = 0.25,
    random_state: int | np.random.Generator = 0,
) -> CertifiedPoint:
    """Thresholds with P(error | accepted) <= max_error: fit a path on one part of the samples, certify on the other.

    Parameters
    ----------
    certainty, correct, cell : array-like of shape (n_samples,)
        Calibration samples, which the classifier was not trained on, drawn as the samples to come will be.
    max_error, confidence, procedure, n_tests
        As in `certify`.
    method, min_cell_size
        As in `local_thresholds`.
    path_share : float, default=0.25
        Share of the samples that the path is fitted on; the tests need the larger part.
    random_state : int or Generator, default=0
        Draws the two parts.

    Returns
    -------
    CertifiedPoint

    Raises
    ------
    GuaranteeError
        If no point can be certified; it says why.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> certainty = rng.random(4000)
    >>> correct = rng.random(4000) < 0.7 + 0.3 * certainty
    >>> answer = guaranteed_point(certainty, correct, np.zeros(4000), max_error=0.1)
    >>> answer.n_errors / answer.n_accepted < 0.1
    True
    """
    promise = _check_promise(max_error, confidence, procedure, n_tests)
    promise = promise._replace(share_tested=1 - check_share("path_share", path_share, open_interval=True))
    samples = check_samples(certainty, correct, cell)
    order = np.random.default_rng(random_state).permutation(len(samples.code))
    n_path = max(1, round(path_share * len(order)))
    n_testing = len(order) - n_path
    if n_testing < perfect_record(max_error, 1 - confidence):  # known to fail before anything is fitted
        hopeless = Plan(np.zeros(1, dtype=np.intp), 1 - confidence, True)
        raise why_not(np.array([n_testing]), np.zeros(1, dtype=np.intp), n_testing, hopeless, promise)
    fitting, testing = _take(samples, order[:n_path]), _take(samples, order[n_path:])
    labels = fitting.cells[fitting.code]
    path = local_thresholds(fitting.certainty, fitting.correct, labels, method=method, min_cell_size=min_cell_size)
    path = path.extend(fitting.certainty, fitting.correct, labels)
    return _certify(path, testing, promise, procedure, n_tests)


def guaranteed_points_by_group(
    certainty: ArrayLike,
    correct: ArrayLike,
    cell: ArrayLike,
    group: ArrayLike,
    *,
    max_error: float,
    confidence: float = 0.95,
    impossible: str = "raise",
    **settings: Any,
) -> dict[Hashable, CertifiedPoint | None]:
    """Thresholds with P(error | accepted, group) <= max_error in every group, all at once with the given confidence.

    Parameters
    ----------
    certainty, correct, cell : array-like of shape (n_samples,)
        As in `guaranteed_point`.
    group : array-like of shape (n_samples,)
        Something known without the truth, such as the predicted class.
    max_error, confidence : float
        As in `guaranteed_point`; the level 1 - confidence is shared equally among the groups.
    impossible : {"raise", "reject"}, default="raise"
        What to do with a group nothing can be certified for: raise, or reject it whole (None stands for it).
    **settings
        Passed to `guaranteed_point`.

    Returns
    -------
    dict from group to CertifiedPoint or None
        See `accept_mask_by_group`.
    """
    if impossible not in ("raise", "reject"):
        raise ValueError(f"impossible must be 'raise' or 'reject', got {impossible!r}.")
    check_share("confidence", confidence, open_interval=True)
    samples = check_samples(certainty, correct, cell)
    groups, group_code = label_codes(group)
    check_lengths(certainty=samples.certainty, group=group_code)
    answers: dict[Hashable, CertifiedPoint | None] = {}
    for code, label in enumerate(groups.tolist()):
        part = _take(samples, np.flatnonzero(group_code == code))
        try:
            answers[label] = guaranteed_point(
                part.certainty,
                part.correct,
                part.cells[part.code],
                max_error=max_error,
                confidence=1 - (1 - confidence) / len(groups),
                **settings,
            )
        except GuaranteeError as error:
            if impossible == "raise":
                message = f"group {label!r} of {len(groups)}: {error}"
                raise GuaranteeError(message, error.reason, error.samples_needed) from error
            answers[label] = None
    return answers


def accept_mask_by_group(
    certainty: ArrayLike, cell: ArrayLike, group: ArrayLike, points: Mapping[Hashable, CertifiedPoint | None]
) -> BoolArray:
    """Which samples get an answer under thresholds per group; a group without any is rejected.

    Examples
    --------
    >>> accept_mask_by_group([0.9], [0], ["rare"], {"rare": None})
    array([False])
    """
    values = np.asarray(certainty, dtype=np.float64)
    cells, cell_code = label_codes(cell)
    groups, group_code = label_codes(group)
    check_lengths(certainty=values, cell=cell_code, group=group_code)
    accepted = np.zeros(len(values), dtype=np.bool_)
    for code, label in enumerate(groups.tolist()):
        answer = points.get(label)
        if answer is not None:
            here = np.flatnonzero(group_code == code)
            accepted[here] = answer.accept(values[here], cells[cell_code[here]])
    return accepted


def _take(samples: Samples, rows: IntArray) -> Samples:
    return Samples(samples.certainty[rows], samples.correct[rows], samples.cells, samples.code[rows])


def _check_promise(max_error: float, confidence: float, procedure: str, n_tests: int) -> Promise:
    check_share("max_error", max_error, open_interval=True)
    check_share("confidence", confidence, open_interval=True)
    if procedure not in PROCEDURES:
        raise ValueError(f"procedure must be one of {', '.join(map(repr, PROCEDURES))}, got {procedure!r}.")
    if not isinstance(n_tests, (int, np.integer)) or n_tests < 1:
        raise ValueError(f"n_tests must be an integer of 1 or more, got {n_tests!r}.")
    return Promise(float(max_error), float(confidence))
