"""Accuracy-reject curves averaged over runs, only where enough of them have a value (80 % in the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lvq.rejection.curves import AccuracyRejectCurve
from lvq.rejection.path import IntArray
from lvq.typing import Floats


class AveragedCurve(NamedTuple):
    """Mean and standard deviation over runs, of which `n_runs` have a value; coverage falls."""

    coverage: Floats
    accuracy: Floats
    standard_deviation: Floats
    n_runs: IntArray


def accuracy_at(curve: AccuracyRejectCurve, coverage: ArrayLike) -> Floats:
    """Accuracy at given coverages; NaN outside of the range of the curve.

    Examples
    --------
    >>> from lvq.rejection import accuracy_reject_curve
    >>> curve = accuracy_reject_curve([0.1, 0.9], [False, True])
    >>> accuracy_at(curve, [0.2, 0.5, 0.8, 1.0])
    array([  nan, 1.   , 0.625, 0.5  ])
    """
    wanted = np.asarray(coverage, dtype=np.float64)
    known, mass = curve.coverage[::-1], (curve.coverage * curve.accuracy)[::-1]
    inside = (wanted >= known[0]) & (wanted <= known[-1])
    return np.where(inside, np.interp(wanted, known, mass) / np.where(inside, wanted, 1.0), np.nan)


def average_curves(
    curves: Sequence[AccuracyRejectCurve], *, coverage: ArrayLike | None = None, min_fraction: float = 0.8
) -> AveragedCurve:
    """Average the curves of repeated runs at common coverages, where at least `min_fraction` of them have a value.

    Parameters
    ----------
    curves : sequence of AccuracyRejectCurve
    coverage : array-like, optional
        Where to average; by default 1.00, 0.99, ..., 0.01.
    min_fraction : float, default=0.8
        Fraction of the runs; 80 % in the paper.

    Returns
    -------
    AveragedCurve
        Only the coverages where enough runs have a value.

    Examples
    --------
    >>> from lvq.rejection import accuracy_reject_curve
    >>> runs = [accuracy_reject_curve([0.1, 0.9], [False, True]), accuracy_reject_curve([0.1, 0.1], [True, True])]
    >>> average_curves(runs, coverage=[1.0, 0.5])
    AveragedCurve(coverage=array([1.]), accuracy=array([0.75]), standard_deviation=array([0.25]), n_runs=array([2]))
    """
    if not len(curves):
        raise ValueError("curves must hold at least one curve, got none.")
    if not 0 <= min_fraction <= 1:
        raise ValueError(f"min_fraction must be between 0 and 1, got {min_fraction!r}.")
    grid = np.arange(100, 0, -1) / 100 if coverage is None else np.sort(np.asarray(coverage, dtype=np.float64))[::-1]
    values = np.stack([accuracy_at(curve, grid) for curve in curves])
    n_runs = np.count_nonzero(~np.isnan(values), axis=0)
    enough = n_runs >= max(1, int(np.ceil(min_fraction * len(curves) - 1e-9)))
    values = values[:, enough]
    return AveragedCurve(grid[enough], np.nanmean(values, axis=0), np.nanstd(values, axis=0), n_runs[enough])
