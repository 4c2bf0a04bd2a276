"""Exact tests of an error rate from counts: k errors among n accepted samples.

Rules kept here:
- counts are integers and the tail is exact (no normal approximation, no simulation);
- test and bound agree: the p-value is at most 1 - confidence iff the upper bound is at most the tested rate;
- no samples prove nothing: their p-value is 1 and their bound is 1.
"""

from __future__ import annotations

from math import ceil, log

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv

from lvq.rejection.samples import FloatArray, IntArray, check_share


def error_p_value(n_errors: ArrayLike, n_accepted: ArrayLike, max_error: float) -> FloatArray:
    """P(Binomial(n_accepted, max_error) <= n_errors): how likely so few errors are if the rate is max_error or more.

    Examples
    --------
    >>> error_p_value([0, 1], [299, 299], 0.01).round(3)
    array([0.05 , 0.199])
    """
    check_share("max_error", max_error, open_interval=True)
    errors, accepted = _check_counts(n_errors, n_accepted)
    # The tail is an incomplete beta function, whose second parameter would be 0 where every sample is an error.
    all_wrong = errors == accepted
    return np.where(all_wrong, 1.0, betainc(np.where(all_wrong, 1.0, accepted - errors), errors + 1.0, 1.0 - max_error))


def error_upper_bound(n_errors: ArrayLike, n_accepted: ArrayLike, confidence: float = 0.95) -> FloatArray:
    """Clopper-Pearson: the error rate is at most this, with the given confidence (for one test fixed beforehand).

    Examples
    --------
    >>> error_upper_bound([0, 3, 0], [299, 100, 0]).round(4)
    array([0.01  , 0.0757, 1.    ])
    """
    check_share("confidence", confidence, open_interval=True)
    errors, accepted = _check_counts(n_errors, n_accepted)
    all_wrong = errors == accepted
    return np.where(all_wrong, 1.0, betaincinv(errors + 1.0, np.where(all_wrong, 1.0, accepted - errors), confidence))


def _check_counts(n_errors: ArrayLike, n_accepted: ArrayLike) -> tuple[IntArray, IntArray]:
    errors, accepted = np.asarray(n_errors), np.asarray(n_accepted)
    if errors.dtype.kind not in "iu" or accepted.dtype.kind not in "iu":
        raise ValueError("n_errors and n_accepted must be integers, got others; give counts, not shares.")
    if np.any(errors < 0) or np.any(errors > accepted):
        raise ValueError("n_errors must lie between 0 and n_accepted, got counts outside; are the two exchanged?")
    return errors.astype(np.intp), accepted.astype(np.intp)


def perfect_record(max_error: float, level: float) -> int:
    """The fewest accepted samples that certify max_error at `level` if none of them is an error.

    Examples
    --------
    >>> perfect_record(0.01, 0.05)
    299
    """
    check_share("max_error", max_error, open_interval=True)
    check_share("level", level, open_interval=True)
    return max(1, ceil(log(level) / log(1 - max_error) - 1e-9))


def samples_at_rate(rate: float, max_error: float, level: float) -> int:
    """About how many accepted samples certify max_error at `level` if they err at `rate`, which is below max_error."""
    fewest = perfect_record(max_error, level)

    def suffices(n: int) -> bool:
        return bool(error_p_value(ceil(rate * n - 1e-9), n, max_error) <= level)

    low, high = fewest - 1, fewest
    while not suffices(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high
