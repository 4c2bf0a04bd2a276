"""Thresholds per cell: which predictions they accept, and the operating points that consist of them.

Rules:
- a sample is rejected iff its certainty is strictly below its cell's threshold; -inf rejects nothing, +inf the cell;
- a cell without calibration samples is rejected, because nothing is known about it; only a single threshold for all
  cells also applies to new cells;
- a certainty that is NaN or infinite is never accepted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lvq.rejection.validation import BoolArray, FloatArray, check_lengths, positions
from lvq.typing import Labels


@dataclass(frozen=True, eq=False)
class CellThresholds:
    """A threshold for each cell.

    Attributes
    ----------
    cells : array of shape (n_cells,)
        Labels of the cells.
    thresholds : array of shape (n_cells,)
        Reject iff certainty < threshold of the cell.
    unseen : float
        Threshold for cells that are not in `cells`.

    Examples
    --------
    >>> limits = CellThresholds(np.array(["a", "b"]), np.array([0.3, -np.inf]), np.inf)
    >>> limits.accept([0.3, 0.2, 0.1, 0.9], ["a", "a", "b", "new"])
    array([ True, False,  True, False])
    """

    cells: Labels
    thresholds: FloatArray
    unseen: float

    def threshold_of(self, cell: ArrayLike) -> FloatArray:
        """The threshold of every sample, by the label of its cell."""
        return np.append(self.thresholds, self.unseen)[positions(cell, self.cells)]

    def accept(self, certainty: ArrayLike, cell: ArrayLike) -> BoolArray:
        """Which samples are accepted: those whose certainty reaches the threshold of their cell.

        Parameters
        ----------
        certainty : array-like of shape (n_samples,)
            Higher is more certain; NaN and infinite values are rejected.
        cell : array-like of shape (n_samples,)
            Labels as they were when the thresholds were fitted.

        Returns
        -------
        accepted : bool ndarray of shape (n_samples,)
        """
        values, limit = np.asarray(certainty, dtype=np.float64), self.threshold_of(cell)
        check_lengths(certainty=values, cell=limit)
        return np.asarray((values >= limit) & np.isfinite(values))


@dataclass(frozen=True, eq=False)
class OperatingPoint(CellThresholds):
    """Thresholds, and what they did on the samples they were counted on.

    Attributes
    ----------
    rejected_correct, rejected_errors : int
        Rejected samples, by whether the prediction is correct.
    coverage : float
        Fraction of the samples that are accepted.
    accuracy : float
        Fraction of the accepted samples that are correct; NaN where none is accepted.
    index : int
        Index of the point on its path.
    """

    rejected_correct: int
    rejected_errors: int
    coverage: float
    accuracy: float
    index: int


@dataclass(frozen=True, eq=False)
class CertifiedPoint(OperatingPoint):
    """An operating point whose error rate among accepted samples is at most `max_error`, with the given confidence.

    Its counts are those on the testing samples.

    Attributes
    ----------
    max_error, confidence : float
        What is guaranteed.
    n_testing, n_accepted, n_errors : int
        Testing samples, accepted ones, and errors among these.
    p_value, level : float
        P-value of the exact test that certified the point, and the level of the test.
    requested_error : float or None
        The bound that was requested, where it could not be guaranteed and `max_error` is the one that could be.
    times_needed : float or None
        About how many times as many samples would be enough for the requested one, where more would help.
    """

    max_error: float
    confidence: float
    n_testing: int
    n_accepted: int
    n_errors: int
    p_value: float
    level: float
    requested_error: float | None = None
    times_needed: float | None = None
