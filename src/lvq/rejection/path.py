"""Thresholds per cell, and paths of them: operating points from full coverage to low coverage.

A classified sample is a triple: how certain its prediction is (`certainty`, higher is more certain), whether the
prediction is correct (`correct`), and the cell of the sample (`cell`: the winning prototype or the predicted class).
A certainty is finite, because a threshold of -inf means "reject nothing" and +inf "reject the whole cell".

Rules:
- a sample is accepted iff its certainty is at least its cell's threshold; -inf rejects nothing, +inf the whole cell;
- a cell without calibration samples is rejected, because nothing is known about it; only a single threshold for all
  cells also applies to new cells;
- a certainty that is NaN or infinite is never accepted;
- point 0 of every path is the classifier without rejection: all thresholds are -inf;
- the counts belong to certain samples; `evaluate` gives the same thresholds with the counts of other samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from lvq.typing import Floats, Labels, LabelsLike

IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """A threshold for each cell, and what they did on the samples they were counted on.

    Attributes
    ----------
    cells : array of shape (n_cells,)
        Labels of the cells.
    thresholds : array of shape (n_cells,)
        Reject iff certainty < threshold of the cell.
    unseen : float
        Threshold for cells that are not in `cells`.
    rejected_correct, rejected_errors : int
        Rejected samples, by whether the prediction is correct.
    coverage : float
        Fraction of the samples that are accepted.
    accuracy : float
        Fraction of the accepted samples that are correct; NaN where none is accepted.
    """

    cells: Labels
    thresholds: Floats
    unseen: float
    rejected_correct: int
    rejected_errors: int
    coverage: float
    accuracy: float

    def __post_init__(self) -> None:
        check_consistent_length(self.cells, self.thresholds)

    def threshold_of(self, cell: ArrayLike) -> Floats:
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
        check_consistent_length(values, limit)
        return np.asarray((values >= limit) & np.isfinite(values))


@dataclass(frozen=True, eq=False)
class ThresholdPath:
    """Operating points from no rejection to more, with the counts of what each rejects.

    Attributes
    ----------
    cells : array of shape (n_cells,)
        Labels of the cells.
    thresholds : float array of shape (n_points, n_columns)
        The thresholds of each point; cells that share a threshold have one column.
    columns : int array of shape (n_cells,)
        The column of each cell.
    method : str
        How the path was found.
    rejected_correct, rejected_errors : int array of shape (n_points,)
        Rejected samples, by whether the prediction is correct.
    n_correct, n_errors : int
        All samples, by whether the prediction is correct.

    Examples
    --------
    >>> from lvq.rejection import local_thresholds
    >>> path = local_thresholds([0.1, 0.2, 0.3, 0.4], [False, True, False, True], ["a", "a", "b", "b"])
    >>> path.rejected_correct, path.rejected_errors
    (array([0, 0]), array([0, 2]))
    >>> path.with_accuracy(1.0).thresholds
    array([0.2, 0.4])
    """

    cells: Labels
    thresholds: Floats
    columns: IntArray
    method: str
    rejected_correct: IntArray
    rejected_errors: IntArray
    n_correct: int
    n_errors: int

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def n_samples(self) -> int:
        """Number of samples the counts are taken from."""
        return self.n_correct + self.n_errors

    @property
    def accepted(self) -> IntArray:
        """Number of accepted samples at every point."""
        return self.n_samples - self.rejected_correct - self.rejected_errors

    @property
    def coverage(self) -> Floats:
        """Fraction of the samples that are accepted, at every point."""
        return self.accepted / self.n_samples

    @property
    def accuracy(self) -> Floats:
        """Accuracy of the accepted samples, at every point; NaN where none is accepted."""
        correct = (self.n_correct - self.rejected_correct).astype(np.float64)
        return np.divide(correct, self.accepted, out=np.full(len(self), np.nan), where=self.accepted > 0)

    @property
    def accepted_errors(self) -> IntArray:
        """Number of errors among the accepted samples, at every point."""
        return self.n_errors - self.rejected_errors

    def point(self, index: int) -> OperatingPoint:
        """The operating point at `index`."""
        return OperatingPoint(
            cells=self.cells,
            thresholds=self.thresholds[index, self.columns],
            unseen=float(self.thresholds[index, 0]) if self.method == "global" else np.inf,
            rejected_correct=int(self.rejected_correct[index]),
            rejected_errors=int(self.rejected_errors[index]),
            coverage=float(self.coverage[index]),
            accuracy=float(self.accuracy[index]),
        )

    def with_accuracy(self, min_accuracy: float) -> OperatingPoint:
        """The point with the highest coverage among all with at least this accuracy of the accepted samples."""
        accuracy = np.nan_to_num(self.accuracy, nan=-1.0)  # NaN at a point that accepts nothing
        if accuracy.max() < min_accuracy:
            raise ValueError(
                f"min_accuracy={min_accuracy!r} is not reached at any threshold; the highest accuracy is "
                f"{accuracy.max():.6g}."
            )
        return self.point(self.best(accuracy >= min_accuracy, self.coverage))

    def cheapest(self, cost_ratio: float) -> OperatingPoint:
        """The point with the lowest total cost, where a rejection costs this fraction of an error (Chow).

        0 rejects all errors it can, 1 rejects nothing. Among equally good points, the highest coverage wins.
        """
        costs = self.accepted_errors + cost_ratio * (self.n_samples - self.accepted)
        return self.point(self.best(np.ones(len(self), dtype=np.bool_), -costs))

    def best(self, allowed: BoolArray, merit: Floats) -> int:
        """Index of the allowed point with the largest merit; if several, the one with the highest coverage."""
        candidates = np.flatnonzero(allowed)
        return int(candidates[np.lexsort((-self.accepted[candidates], -merit[candidates]))[0]])

    def evaluate(self, certainty: ArrayLike, correct: ArrayLike, cell: ArrayLike) -> ThresholdPath:
        """The same thresholds with the counts on other samples.

        Parameters
        ----------
        certainty, correct, cell : array-like of shape (n_samples,)
            As for `local_thresholds`.

        Returns
        -------
        ThresholdPath
        """
        values, flags, cell = check_samples(certainty, correct, cell)
        elsewhere = 0 if self.method == "global" else -1
        column = np.append(self.columns, elsewhere)[positions(cell, self.cells)]
        rejected = []
        for side in (flags, ~flags):
            count = np.full(len(self), np.count_nonzero(side & (column < 0)))  # of cells that are not on this path
            for own, thresholds in enumerate(self.thresholds.T):
                count += np.searchsorted(np.sort(values[side & (column == own)]), thresholds, side="left")
            rejected.append(count)
        n_correct = int(np.count_nonzero(flags))
        return replace(
            self,
            rejected_correct=rejected[0],
            rejected_errors=rejected[1],
            n_correct=n_correct,
            n_errors=len(flags) - n_correct,
        )

    def extend(self, certainty: ArrayLike, correct: ArrayLike, cell: ArrayLike, *, n_steps: int = 200) -> ThresholdPath:
        """The path continued beyond its last point to coverage 0, by raising all thresholds through the certainties.

        A threshold above the current certainty stays until it is reached.

        Parameters
        ----------
        certainty, correct, cell : array-like of shape (n_samples,)
            The samples the path was fitted on: the counts of all points are taken from them.
        n_steps : int, default=200
            At most this many new points, with about equally many samples between them.

        Returns
        -------
        ThresholdPath
        """
        values = np.asarray(certainty, dtype=np.float64)
        left = np.append(np.sort(values[self.point(-1).accept(values, cell)]), np.inf)
        level = np.unique(left[np.linspace(0, len(left) - 1, n_steps + 1).astype(np.intp)[1:]])
        level = level[level > left[0]]
        further = np.maximum(self.thresholds[-1], level[:, None])
        longer = replace(self, thresholds=np.vstack((self.thresholds, further)))
        return longer.evaluate(certainty, correct, cell)


# -- checks of the arrays ----------------------------------------------------------------------------------------------


def check_samples(certainty: ArrayLike, correct: ArrayLike, cell: ArrayLike) -> tuple[Floats, BoolArray, Labels]:
    """The three arrays, checked."""
    values, flags, cell = check_certainty(certainty), check_flags(correct), np.asarray(column_or_1d(cell))
    check_consistent_length(values, flags, cell)
    return values, flags, cell


def check_certainty(certainty: ArrayLike) -> Floats:
    """One-dimensional, non-empty, finite numbers as float64."""
    return column_or_1d(check_array(certainty, ensure_2d=False, dtype=np.float64, input_name="certainty"))


def check_flags(correct: ArrayLike) -> BoolArray:
    """One-dimensional True/False (or 1/0) as booleans."""
    values = column_or_1d(correct)
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        raise ValueError(
            f"correct must hold only True/False or 1/0, got {np.unique(values.astype(str))[:5].tolist()}; "
            "use a comparison, such as y_pred == y_true."
        )
    return values.astype(np.bool_)


def positions(labels: LabelsLike, known: Labels) -> IntArray:
    """Index of every label among the known labels; -1 for a label that is not among them.

    Examples
    --------
    >>> positions(["b", "z", "b"], np.array(["a", "b"]))
    array([ 1, -1,  1])
    """
    distinct, code = np.unique(np.asarray(labels), return_inverse=True)
    index = {label: position for position, label in enumerate(known.tolist())}
    return np.array([index.get(label, -1) for label in distinct.tolist()], dtype=np.intp)[code]
