"""The operating point that accepts a requested fraction of new samples.

From the path of thresholds the most accurate point is taken that rejects no more samples than requested. Then one level
for all cells rises, and rejects the least certain of the others, until the requested fraction is rejected; samples that
are equal at this level are treated as in `ties.py`. The path alone would not do: it has no points where no error is
left to reject.

What counts is the expected number of rejections among new samples. A threshold at the k-th lowest of n values rejects a
new value with probability k/(n + 1), which is one more of n + 1 than the k - 1 below it. So each threshold in use
counts as one sample more than it rejects, and the level is set for the sum.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lvq.rejection.path import ThresholdPath
from lvq.rejection.point import OperatingPoint
from lvq.rejection.ties import Ties, lower_edge
from lvq.rejection.validation import BoolArray, FloatArray, IntArray, positions
from lvq.typing import Labels

EQUAL = 1.5  # weight of the samples at the level from which several are equal
OUTLIER_REMEDY = " Use a single measure, or a smaller outlier_fraction."
NOTED_TIES = 0.02  # fraction of the samples at the threshold from which a note tells about the draw


class CoveragePoint(NamedTuple):
    """An operating point, what happens at its level, and notes on what cannot be as requested."""

    point: OperatingPoint
    ties: Ties | None
    notes: tuple[str, ...]


class Calibrated(NamedTuple):
    """Samples that are no outliers: certainty in steps, second certainty, whether correct, cell, weight in counts."""

    certainty: FloatArray
    second: FloatArray
    correct: BoolArray
    cell: Labels
    weight: FloatArray


def coverage_point(
    path: ThresholdPath, samples: Calibrated, coverage: float, *, n_samples: int, expected_outliers: float = 0.0
) -> CoveragePoint:
    """The point for a requested coverage of new samples.

    Parameters
    ----------
    path : ThresholdPath
        Fitted on calibration samples.
    samples : Calibrated
        Those that are no outliers. Weights may be negative; they sum to the number of calibration samples.
    coverage : float
        Fraction of new samples to accept.
    n_samples : int
        Number of calibration samples with the outliers.
    expected_outliers : float, default=0.0
        Expected number of outliers among as many new samples.

    Returns
    -------
    CoveragePoint

    Examples
    --------
    >>> from lvq.rejection import local_thresholds
    >>> certainty, cell = np.repeat([0.25, 0.75], [60, 39]), np.zeros(99)
    >>> samples = Calibrated(certainty, np.zeros(99), np.ones(99, dtype=bool), cell, np.ones(99))
    >>> path = local_thresholds(certainty, samples.correct, cell)
    >>> found = coverage_point(path, samples, 0.7, n_samples=99)
    >>> found.ties.certainty, round(found.ties.rejected_fraction, 2)
    (0.25, 0.49)
    """
    to_reject = (1 - coverage) * (n_samples + 1) - expected_outliers
    start, kept = _start(path, samples, to_reject)
    thresholds = _by_pool(path, start)
    order = np.flatnonzero(kept)
    order = order[np.lexsort((samples.second[order], samples.certainty[order]))]
    pairs = np.column_stack((samples.certainty[order], samples.second[order]))
    first = np.flatnonzero(np.append(True, (pairs[1:] != pairs[:-1]).any(axis=1))) if len(order) else order
    total = np.append(0.0, np.cumsum(samples.weight[order]))
    size = np.diff(total[np.append(first, len(order))])  # of groups of equal samples
    own = _surplus_above(path, thresholds, samples, kept, pairs[first, 0])
    rejected = samples.weight[~kept].sum() + total[first] + own  # with a level at the first of each group
    rejected = np.maximum.accumulate(rejected)  # negative weights
    reached = np.flatnonzero(rejected + 0.5 <= to_reject)
    notes = _impossible(to_reject, coverage, n_samples, expected_outliers)
    if not len(reached):
        return CoveragePoint(_counted(path, start, -np.inf, samples, None), None, notes)
    group = int(reached[-1])
    level, second = pairs[first[group]]
    alone = size[group] <= EQUAL
    fraction = 0.0 if alone else float(np.clip((to_reject - rejected[group]) / (size[group] + 1), 0, 1))
    saturated = samples.weight[kept & (samples.certainty == level)].sum() > EQUAL
    ties = Ties(float(level), float(second), fraction) if saturated else None
    if not alone and size[group] > NOTED_TIES * n_samples:
        notes += (_about_ties(float(size[group]) / n_samples, fraction),)
    return CoveragePoint(_counted(path, start, float(level), samples, ties), ties, notes)


def _start(path: ThresholdPath, samples: Calibrated, to_reject: float) -> tuple[int, BoolArray]:
    """The most accurate point that is not expected to reject more, and what it accepts; of equal ones the first."""
    rejected = path.n_samples - path.accepted + _active(path)
    accuracy = np.nan_to_num(path.accuracy, nan=-1.0)
    for fraction in (1.0, 0.8, 0.6, 0.4, 0.2, 0.0):  # less where the counts of the path do not hold for the samples
        allowed = np.flatnonzero(rejected <= max(fraction * to_reject, 0.0))
        start = int(allowed[np.lexsort((-path.accepted[allowed], -accuracy[allowed]))[0]])
        kept = path.point(start).accept(samples.certainty, samples.cell)
        if samples.weight[~kept].sum() + _active(path)[start] <= to_reject:
            break
    return start, kept


def _active(path: ThresholdPath) -> IntArray:
    """Number of thresholds in use at each point."""
    steps = path.steps
    active = (steps.threshold > -np.inf).astype(np.intp)
    change = np.diff(active, prepend=0)
    begins = steps.point == 0  # of a pool
    change[begins] = active[begins]
    total = np.zeros(len(path), dtype=np.intp)
    np.add.at(total, steps.point, change)
    return np.cumsum(total)


def _by_pool(path: ThresholdPath, index: int) -> FloatArray:
    """The thresholds of a point, one for each pool."""
    by_pool = np.empty(path.n_pools)
    by_pool[path.pool] = path.point(index).thresholds
    return by_pool


def _surplus_above(
    path: ThresholdPath, thresholds: FloatArray, samples: Calibrated, kept: BoolArray, levels: FloatArray
) -> FloatArray:
    """For each level how many more samples than counted the thresholds above it are expected to reject.

    One for each of them, divided by the number of samples that are equal at the threshold: among many equal samples it
    does not separate neighbours.
    """
    place = positions(samples.cell, path.cells)
    pool = np.append(path.pool, -1)[place]
    used = np.flatnonzero((thresholds > -np.inf) & (thresholds < np.inf))
    surplus = np.ones(len(used))
    for index, number in enumerate(used):
        inside = kept & (pool == number)
        if inside.any():
            equal = inside & (samples.certainty == samples.certainty[inside].min())
            surplus[index] = 1 / max(1.0, float(samples.weight[equal].sum()))
    order = np.argsort(thresholds[used])
    left = surplus.sum() - np.append(0.0, np.cumsum(surplus[order]))
    return left[np.searchsorted(thresholds[used][order], levels, side="right")]


def _counted(path: ThresholdPath, start: int, level: float, samples: Calibrated, ties: Ties | None) -> OperatingPoint:
    """The point with its thresholds raised to the level; of samples that are equal there the expected number counts."""
    lowered = float(lower_edge(np.array([level]))[0])
    begin = path.point(start)
    raised = replace(begin, thresholds=np.maximum(begin.thresholds, lowered), unseen=max(begin.unseen, lowered))
    accepted = raised.accept(samples.certainty, samples.cell).astype(np.float64)
    if ties is not None:
        equal = accepted.astype(np.bool_) & (samples.certainty == ties.certainty)
        accepted[equal & (samples.second < ties.second)] = 0.0
        accepted[equal & (samples.second == ties.second)] = 1 - ties.rejected_fraction
    counted = accepted * samples.weight
    correct, errors = (max(0.0, float(counted[side].sum())) for side in (samples.correct, ~samples.correct))
    return replace(
        raised,
        rejected_correct=max(0, path.n_correct - round(correct)),
        rejected_errors=max(0, path.n_errors - round(errors)),
        coverage=min(1.0, (correct + errors) / path.n_samples),
        accuracy=correct / (correct + errors) if correct + errors else float("nan"),
    )


def _impossible(to_reject: float, coverage: float, n_samples: int, outliers: float) -> tuple[str, ...]:
    """Why the requested coverage is not achievable, where this is so."""
    if coverage >= 1 and not outliers:
        return ()
    if to_reject < -0.5:
        return (
            f"A coverage of {coverage:g} is not achievable: the outlier test alone rejects about "
            f"{100 * outliers / (n_samples + 1):.1f} % of the samples, so all others will be "
            f"accepted.{OUTLIER_REMEDY}",
        )
    if to_reject < 0.5 and coverage < 1 and not outliers:
        return (
            f"A coverage of {coverage:g} is not achievable with {n_samples} calibration samples, of which no threshold "
            f"rejects so few: all samples will be accepted. Give at least {round(1 / (1 - coverage))} of them.",
        )
    return ()


def _about_ties(equal: float, fraction: float) -> str:
    return (
        f"{100 * equal:.1f} % of the calibration samples are equal in certainty at the threshold. Of such samples "
        f"{100 * (1 - fraction):.1f} % will be accepted, by a draw from the values of the row and the number of "
        "identical rows before it in the table."
    )
