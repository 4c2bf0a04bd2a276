"""The operating point that accepts a requested fraction of new samples, and the limits for outliers.

With one global threshold it is an order statistic: a threshold at the k-th lowest of n values rejects a new value with
probability k/(n + 1). With local thresholds the most accurate point of their path is taken that rejects no more samples
than requested; each of its thresholds counts as one sample more than it rejects. Then one level for all cells rises and
rejects the least certain of the others, until the requested fraction is rejected.

Samples of equal certainty at the level are all accepted, so more may be accepted than requested; a note says how many.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lvq.rejection.path import CellThresholds, OperatingPoint, ThresholdPath
from lvq.rejection.thresholds import step_of
from lvq.rejection.validation import BoolArray, FloatArray
from lvq.typing import Labels

NOTED = 0.02  # by how much the expected coverage is above the requested one where a note tells it


def coverage_point(
    path: ThresholdPath,
    samples: tuple[FloatArray, BoolArray, Labels],
    coverage: float,
    *,
    step: float = 1e-9,
    outliers: float = 0.0,
) -> tuple[OperatingPoint, tuple[str, ...]]:
    """The point for a requested coverage of new samples, and notes on what is not as requested.

    Parameters
    ----------
    path : ThresholdPath
        Fitted on the samples.
    samples : tuple of certainty, correct and cell
        Calibration samples that are no outliers.
    coverage : float
        Fraction of new samples to accept.
    step : float, default=1e-9
        The certainties are multiples of this step, and the thresholds of the path lie half a step below them.
    outliers : float, default=0.0
        Expected number of outliers among the calibration samples, which are rejected in any case.

    Returns
    -------
    point : OperatingPoint
    notes : tuple of str

    Examples
    --------
    >>> from lvq.rejection import local_thresholds
    >>> certainty, correct, cell = np.repeat([0.25, 0.75], [60, 39]), np.ones(99, dtype=bool), np.zeros(99)
    >>> path = local_thresholds(certainty, correct, cell)
    >>> point, notes = coverage_point(path, (certainty, correct, cell), 0.7)
    >>> point.coverage, notes[0][:42]
    (1.0, 'About 99.0 % of new samples will be accept')
    """
    certainty, _, cell = samples
    n_samples = len(certainty) + outliers
    to_reject = (1 - coverage) * (n_samples + 1) - outliers
    used, start = (path.pool_thresholds > -np.inf).sum(axis=1), 0
    if path.method != "global":
        rejected = path.n_samples - path.accepted + used
        start = path.best(rejected <= max(to_reject, 0.0), np.nan_to_num(path.accuracy, nan=-1.0))
    kept = path.point(start).accept(certainty, cell)
    values = np.sort(certainty[kept])
    rank = min(round(to_reject - np.count_nonzero(~kept) - used[start]), len(values))
    level = float(values[rank - 1]) - step / 2 if rank > 0 else -np.inf
    raised = replace(path, pool_thresholds=np.maximum(path.pool_thresholds[[start]], level))
    point = raised.evaluate(*samples).point(0)
    # each threshold in use rejects about one new sample more than it rejects here
    expected = (point.coverage * len(certainty) - used[start] - (rank > 0)) / n_samples
    return point, _notes(coverage, expected, to_reject, n_samples, outliers)


def _notes(coverage: float, expected: float, to_reject: float, n_samples: float, outliers: float) -> tuple[str, ...]:
    """What is not as requested."""
    if to_reject < -0.5:
        return (
            f"A coverage of {coverage:g} is not achievable: the outlier test alone rejects about "
            f"{100 * outliers / (n_samples + 1):.1f} % of the samples, so all others will be accepted.",
        )
    if to_reject < 0.5 and coverage < 1 and not outliers:
        return (
            f"A coverage of {coverage:g} is not achievable with {n_samples:g} calibration samples, of which no "
            "threshold rejects so few: all samples will be accepted. Give at least "
            f"{round(1 / (1 - coverage))} of them.",
        )
    if expected > coverage + max(NOTED, 2 / n_samples):
        return (
            f"About {100 * expected:.1f} % of new samples will be accepted, more than the requested "
            f"{100 * coverage:g} %: many samples have exactly the certainty of the threshold, and equal ones are "
            "accepted together.",
        )
    return ()


def outlier_limits(typicality: FloatArray, cell: Labels, fraction: float, min_cell_size: int) -> CellThresholds:
    """Quantiles of the outlier measure: one for each cell that is large enough for the fraction, one for all others.

    Examples
    --------
    >>> outlier_limits(np.arange(40.0), np.repeat([0, 1], [30, 10]), 0.1, 10).thresholds.round(3)
    array([ 2., 30.])
    """
    cells, code = np.unique(cell, return_inverse=True)
    large = np.flatnonzero(np.bincount(code) >= max(min_cell_size, 1 / fraction if fraction else 1))
    groups = [typicality[code == index] for index in large]
    half_step = step_of(typicality) / 2  # a sample at its limit is accepted, whatever the last digits are
    limits = np.array([np.quantile(group, fraction, method="lower") for group in groups], dtype=np.float64)
    overall = float(np.quantile(typicality, fraction, method="lower"))
    return CellThresholds(cells[large], limits - half_step, overall - half_step)
