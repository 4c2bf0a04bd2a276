"""The operating point that accepts a requested fraction of new samples.

With one global threshold it is an order statistic: a threshold at the k-th lowest of n values rejects a new value with
probability k/(n + 1). With local thresholds, start from the most accurate point of their path that rejects no more
samples than requested; each of its thresholds counts as one sample more than it rejects. Then one level for all cells
rises and rejects the least certain of the others, until the requested fraction is rejected.

Samples of equal certainty at the level are all accepted, so more may be accepted than requested; a note says how many.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lvq.rejection.path import BoolArray, OperatingPoint, ThresholdPath
from lvq.typing import Floats, Labels

NOTED = 0.02  # how far the expected coverage must exceed the requested one for a note


def coverage_point(
    path: ThresholdPath,
    samples: tuple[Floats, BoolArray, Labels],
    coverage: float,
    *,
    step: float = 1e-9,
) -> tuple[OperatingPoint, tuple[str, ...]]:
    """The point for a requested coverage of new samples, and notes on deviations from the request.

    Parameters
    ----------
    path : ThresholdPath
        Fitted on the samples.
    samples : tuple of certainty, correct and cell
        Calibration samples.
    coverage : float
        Fraction of new samples to accept.
    step : float, default=1e-9
        The certainties are multiples of this step, and the thresholds of the path lie half a step below them.

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
    n_samples = len(certainty)
    to_reject = (1 - coverage) * (n_samples + 1)
    used, start = (path.thresholds > -np.inf).sum(axis=1), 0
    if path.method != "global":
        rejected = path.n_samples - path.accepted + used
        start = path.best(rejected <= to_reject, np.nan_to_num(path.accuracy, nan=-1.0))
    kept = path.point(start).accept(certainty, cell)
    values = np.sort(certainty[kept])
    rank = min(round(to_reject - np.count_nonzero(~kept) - used[start]), len(values))
    level = float(values[rank - 1]) - step / 2 if rank > 0 else -np.inf
    raised = replace(path, thresholds=np.maximum(path.thresholds[[start]], level))
    point = raised.evaluate(*samples).point(0)
    # each threshold in use rejects about one new sample more than it rejects here
    expected = point.coverage - (used[start] + (rank > 0)) / n_samples
    return point, _notes(coverage, expected, to_reject, n_samples)


def _notes(coverage: float, expected: float, to_reject: float, n_samples: int) -> tuple[str, ...]:
    """Deviations from the request."""
    if to_reject < 0.5 and coverage < 1:
        return (
            f"A coverage of {coverage:g} is not achievable with {n_samples} calibration samples, because no "
            "threshold rejects so few: all samples will be accepted. Give at least "
            f"{round(1 / (1 - coverage))} calibration samples.",
        )
    if expected > coverage + max(NOTED, 2 / n_samples):
        return (
            f"About {100 * expected:.1f} % of new samples will be accepted, more than the requested "
            f"{100 * coverage:g} %: many samples have exactly the certainty of the threshold, and they are all "
            "accepted.",
        )
    return ()
