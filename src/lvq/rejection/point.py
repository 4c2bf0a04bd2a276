"""One operating point: a threshold per cell, and the question it answers, "does this sample get an answer?".

Rules kept here:
- a sample is rejected iff its certainty is strictly below its cell's threshold; -inf rejects nothing, +inf the cell;
- a cell that was not there when the thresholds were fitted is rejected, because nothing is known about it; only one
  threshold for all cells goes for new cells as well, for it never looked at the cell;
- a NaN certainty is rejected always.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lvq.rejection.samples import BoolArray, FloatArray, check_lengths, label_codes


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """Thresholds to use, and what they did on the data they were counted on.

    Attributes
    ----------
    cells : array of shape (n_cells,)
        The cells' labels.
    thresholds : array of shape (n_cells,)
        Reject iff certainty < threshold of the cell.
    unseen : float
        Threshold for cells that are not in `cells`.
    rejected_correct, rejected_errors : int
        Rejected samples, by whether the classifier was right.
    coverage : float
        Share of the samples that are accepted.
    accuracy : float
        Share of the accepted samples that are right; NaN where none is accepted.
    index : int
        Where on its path the point lies.
    """

    cells: NDArray[Any]
    thresholds: FloatArray
    unseen: float
    rejected_correct: int
    rejected_errors: int
    coverage: float
    accuracy: float
    index: int

    def accept(self, certainty: ArrayLike, cell: ArrayLike) -> BoolArray:
        """Which samples get an answer; see `accept_mask`."""
        return accept_mask(certainty, cell, self)


def accept_mask(
    certainty: ArrayLike, cell: ArrayLike, thresholds: OperatingPoint | Mapping[Hashable, float]
) -> BoolArray:
    """Which samples get an answer: those whose certainty reaches the threshold of their cell.

    Parameters
    ----------
    certainty : array-like of shape (n_samples,)
        Higher is surer; NaN is rejected.
    cell : array-like of shape (n_samples,)
        Labels as they were when the thresholds were fitted.
    thresholds : OperatingPoint or mapping from cell to threshold
        A cell that is not in a mapping is rejected; a point says itself what it does with one (`unseen`).

    Returns
    -------
    bool array of shape (n_samples,)

    Examples
    --------
    >>> accept_mask([0.3, 0.2, 0.9], ["a", "a", "new"], {"a": 0.3})
    array([ True, False, False])
    """
    values = np.asarray(certainty, dtype=np.float64)
    cells, code = label_codes(cell)
    check_lengths(certainty=values, cell=code)
    if isinstance(thresholds, OperatingPoint):
        known, unseen = dict(zip(thresholds.cells.tolist(), thresholds.thresholds.tolist())), thresholds.unseen
    else:
        known, unseen = dict(thresholds), np.inf
    limit = np.array([known.get(label, unseen) for label in cells.tolist()], dtype=np.float64)[code]
    # +inf rejects the whole cell, a certainty of +inf included; a comparison with NaN is False, which rejects.
    return np.asarray((values >= limit) & (limit < np.inf))
