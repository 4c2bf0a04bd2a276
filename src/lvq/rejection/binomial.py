"""Exact tests of an error rate from counts: k errors among n accepted samples.

Rules:
- counts are integers and the tail is exact (no normal approximation, no simulation);
- test and bound agree: the p-value is at most 1 - confidence iff the upper bound is at most the tested rate;
- without samples the p-value and the bound are 1.
"""

from __future__ import annotations

from math import ceil, log, log1p

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv

from lvq.rejection.validation import FloatArray, IntArray, check_fraction

LARGEST = 1e300  # number of samples that is reported


def error_p_value(n_errors: ArrayLike, n_accepted: ArrayLike, max_error: float) -> FloatArray:
    """P(Binomial(n_accepted, max_error) <= n_errors): probability of so few errors if the error rate is max_error.

    Examples
    --------
    >>> error_p_value([0, 1], [299, 299], 0.01).round(3)
    array([0.05 , 0.199])
    """
    check_fraction("max_error", max_error, open_interval=True)
    errors, correct = _check_counts(n_errors, n_accepted)
    # The tail is an incomplete beta function, whose parameter would be 0 where every sample is an error.
    return np.where(correct == 0, 1.0, betainc(np.maximum(correct, 1.0), errors + 1.0, 1.0 - max_error))


def error_upper_bound(n_errors: ArrayLike, n_accepted: ArrayLike, confidence: float = 0.95) -> FloatArray:
    """Clopper-Pearson upper bound of the error rate, with the given confidence, for one test fixed beforehand.

    Examples
    --------
    >>> error_upper_bound([0, 3, 0], [299, 100, 0]).round(4)
    array([0.01  , 0.0757, 1.    ])
    """
    check_fraction("confidence", confidence, open_interval=True)
    errors, correct = _check_counts(n_errors, n_accepted)
    return np.where(correct == 0, 1.0, betaincinv(errors + 1.0, np.maximum(correct, 1.0), confidence))


def _check_counts(n_errors: ArrayLike, n_accepted: ArrayLike) -> tuple[IntArray, IntArray]:
    """Checked counts of errors and of correct samples."""
    errors, accepted = np.asarray(n_errors), np.asarray(n_accepted)
    if errors.dtype.kind not in "iu" or accepted.dtype.kind not in "iu":
        raise ValueError("n_errors and n_accepted must be integers, got other types; give counts, not fractions.")
    if np.any(errors < 0) or np.any(errors > accepted):
        raise ValueError(
            "n_errors must lie between 0 and n_accepted, got counts outside this range; check their order."
        )
    return errors.astype(np.intp), accepted.astype(np.intp) - errors.astype(np.intp)


def samples_needed(max_error: float, level: float, rate: float = 0.0) -> int:
    """Accepted samples that certify max_error at `level` if the fraction of errors is `rate`, which is below max_error.

    Examples
    --------
    >>> samples_needed(0.01, 0.05)
    299
    >>> samples_needed(0.01, 0.05, rate=0.005)
    1182
    """
    check_fraction("max_error", max_error, open_interval=True)
    fewest = max(1, ceil(min(log(level) / log1p(-max_error), LARGEST) - 1e-9))
    if rate == 0:
        return fewest

    def suffices(n: int) -> bool:
        return bool(error_p_value(ceil(rate * n - 1e-9), n, max_error) <= level)

    low, high = fewest - 1, fewest
    while not suffices(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high
