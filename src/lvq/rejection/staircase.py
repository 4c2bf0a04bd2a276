"""The staircase of a cell: how many errors are rejected together with k correct samples.

Rules:
- errors with the certainty of an accepted correct sample are accepted: rejection is strict;
- `errors[k]` is defined for every k = 0..C; `realisable` is False where k separates samples of equal certainty;
- errors increase only at realisable k, so the useful points of a staircase (`rises`) are all realisable.

In the notation of the paper the rank of the k-th correct sample is a(k) = errors[k-1] + k, with a(C+1) = size + 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lvq.rejection.validation import BoolArray, FloatArray, IntArray


class Staircase(NamedTuple):
    """Rejected errors and thresholds of a cell by the number k = 0..C of rejected correct samples.

    Attributes
    ----------
    errors : int array of shape (C + 1,)
        Rejected errors, ascending.
    threshold : float array of shape (C + 1,)
        Certainty of the first accepted correct sample; -inf where nothing is rejected, +inf at k = C.
    realisable : bool array of shape (C + 1,)
        False where samples of equal certainty would be separated.
    """

    errors: IntArray
    threshold: FloatArray
    realisable: BoolArray

    @property
    def rises(self) -> IntArray:
        """The useful k: 0, and every k that rejects more errors than k - 1."""
        return np.flatnonzero(np.diff(self.errors, prepend=-1) > 0)


def staircase(correct_certainty: FloatArray, error_certainty: FloatArray) -> Staircase:
    """The staircase of a cell from its sorted certainties.

    Parameters
    ----------
    correct_certainty, error_certainty : sorted arrays
        Certainties of the correct samples and of the errors of the cell.

    Returns
    -------
    Staircase

    Examples
    --------
    Thirteen samples, of which those of rank 1, 5, 7 and 10 are correct:

    >>> import numpy as np
    >>> steps = staircase(np.array([1.0, 5, 7, 10]), np.array([2.0, 3, 4, 6, 8, 9, 11, 12, 13]))
    >>> steps.errors
    array([0, 3, 4, 6, 9])
    >>> steps.errors + np.arange(1, 6)
    array([ 1,  5,  7, 10, 14])
    """
    errors = np.append(np.searchsorted(error_certainty, correct_certainty, side="left"), len(error_certainty))
    threshold = np.append(correct_certainty, np.inf)
    if errors[0] == 0:
        threshold[0] = -np.inf
    realisable = np.append(correct_certainty > np.append(-np.inf, correct_certainty[:-1]), True)
    return Staircase(errors, threshold, realisable)
