"""Thresholds per cell, and paths of them: operating points from full coverage to low coverage.

Rules:
- a sample is accepted iff its certainty is at least its cell's threshold; -inf rejects nothing, +inf the whole cell;
- a cell without calibration samples is rejected, because nothing is known about it; only a single threshold for all
  cells also applies to new cells;
- a certainty that is NaN or infinite is never accepted;
- point 0 of every path is the classifier without rejection: all thresholds are -inf;
- the counts belong to certain samples; `evaluate` gives the same thresholds with the counts of other samples;
- thresholds are stored as steps (point, pool, threshold), because a point differs from the one before it in few cells:
  a path of 100,000 points over 200 cells would be 160 MB as a table. `thresholds` computes the table on first use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from lvq.rejection.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_fraction,
    check_lengths,
    check_samples,
    positions,
    sorted_by_pool,
)
from lvq.typing import Argument, Labels


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

    def raised(self, level: float) -> Self:
        """The thresholds raised to a common level, where they are below it."""
        return replace(self, thresholds=np.maximum(self.thresholds, level), unseen=max(self.unseen, level))

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


class Steps(NamedTuple):
    """From path point `point` on, the cells of `pool` have `threshold`; sorted by pool, then by point.

    Every pool has a step at point 0.
    """

    point: IntArray
    pool: IntArray
    threshold: FloatArray


def sorted_steps(point: IntArray, pool: IntArray, threshold: FloatArray) -> Steps:
    """Steps in any order, sorted."""
    order = np.lexsort((point, pool))
    return Steps(point[order], pool[order], threshold[order])


@dataclass(frozen=True, eq=False)
class ThresholdPath:
    """Operating points from no rejection to more, with the counts of what each rejects.

    Attributes
    ----------
    rejected_correct, rejected_errors : int array of shape (n_points,)
        Rejected samples, by whether the prediction is correct.
    n_correct, n_errors : int
        All samples, by whether the prediction is correct.
    cells : array of shape (n_cells,)
        Labels of the cells.
    pool : int array of shape (n_cells,)
        Cells of the same pool share a threshold.
    steps : Steps
        The thresholds, stored as changes.
    method : str
        How the path was found.

    Examples
    --------
    >>> from lvq.rejection import local_thresholds
    >>> path = local_thresholds([0.1, 0.2, 0.3, 0.4], [False, True, False, True], ["a", "a", "b", "b"])
    >>> path.rejected_correct, path.rejected_errors
    (array([0, 0]), array([0, 2]))
    >>> path.pick(min_accuracy=1.0).thresholds
    array([0.2, 0.4])
    """

    rejected_correct: IntArray
    rejected_errors: IntArray
    n_correct: int
    n_errors: int
    cells: Labels
    pool: IntArray
    steps: Steps
    method: str

    def __len__(self) -> int:
        return len(self.rejected_correct)

    @property
    def n_samples(self) -> int:
        """Number of samples the counts are taken from."""
        return self.n_correct + self.n_errors

    @property
    def n_pools(self) -> int:
        """Number of thresholds that can differ."""
        return int(self.pool.max()) + 1

    @property
    def accepted(self) -> IntArray:
        """Number of accepted samples at every point."""
        return self.n_samples - self.rejected_correct - self.rejected_errors

    @property
    def coverage(self) -> FloatArray:
        """Fraction of the samples that are accepted, at every point."""
        return self.accepted / self.n_samples

    @property
    def accuracy(self) -> FloatArray:
        """Accuracy of the accepted samples, at every point; NaN where none is accepted."""
        correct = (self.n_correct - self.rejected_correct).astype(np.float64)
        return np.divide(correct, self.accepted, out=np.full(len(self), np.nan), where=self.accepted > 0)

    @cached_property
    def thresholds(self) -> FloatArray:
        """Thresholds of shape (n_points, n_cells), computed on first use."""
        following = np.append(self.steps.point[1:], 0)
        # The next step of the same pool ends this one; a following 0 begins the next pool (or ends the list).
        following[following == 0] = len(self)
        rows = np.repeat(self.steps.threshold, following - self.steps.point).reshape(-1, len(self))
        return np.ascontiguousarray(rows[self.pool].T)

    def point(self, index: int) -> OperatingPoint:
        """The operating point at `index`, without computing the whole table of thresholds."""
        index = range(len(self))[index]
        reached = self.steps.point <= index
        by_pool = np.empty(self.n_pools)
        # Of several steps of one pool the last written is the latest: steps are sorted by point within a pool.
        by_pool[self.steps.pool[reached]] = self.steps.threshold[reached]
        return OperatingPoint(
            cells=self.cells,
            thresholds=by_pool[self.pool],
            unseen=float(by_pool[0]) if self.method == "global" else np.inf,
            rejected_correct=int(self.rejected_correct[index]),
            rejected_errors=int(self.rejected_errors[index]),
            coverage=float(self.coverage[index]),
            accuracy=float(self.accuracy[index]),
            index=index,
        )

    def pick(
        self,
        *,
        min_coverage: float | None = None,
        min_accuracy: float | None = None,
        max_rejected_correct: int | None = None,
        cost_ratio: float | None = None,
    ) -> OperatingPoint:
        """The best point of the path for one target; exactly one is given.

        Parameters
        ----------
        min_coverage : float, optional
            Highest accuracy among the points that accept at least this fraction of the samples.
        min_accuracy : float, optional
            Highest coverage among the points whose accepted samples have at least this accuracy.
        max_rejected_correct : int, optional
            Most rejected errors among the points that reject at most this many correct samples.
        cost_ratio : float, optional
            Lowest total cost, where a rejection costs this fraction of an error (Chow): 0 rejects all errors it can,
            1 rejects nothing.

        Returns
        -------
        point : OperatingPoint
            Of equally good points the one with the highest coverage.
        """
        targets = {
            "min_coverage": min_coverage,
            "min_accuracy": min_accuracy,
            "max_rejected_correct": max_rejected_correct,
            "cost_ratio": cost_ratio,
        }
        given = {name: value for name, value in targets.items() if value is not None}
        if len(given) != 1:
            raise ValueError(f"pick takes exactly one of {', '.join(targets)}, got {', '.join(given) or 'none'}.")
        ((name, value),) = given.items()
        allowed, merit = self._target(name, value)
        if not allowed.any():
            best = np.nanmax(self.accuracy) if name == "min_accuracy" and self.accepted.any() else self.coverage.max()
            what = "accuracy" if name == "min_accuracy" and self.accepted.any() else "coverage"
            raise ValueError(f"{name}={value!r} is not reached on this path, whose highest {what} is {best:.6g}.")
        candidates = np.flatnonzero(allowed)
        order = np.lexsort((-self.accepted[candidates], -merit[candidates]))
        return self.point(int(candidates[order[0]]))

    def _target(self, name: str, value: float) -> tuple[BoolArray, FloatArray]:
        """Which points satisfy a target, and what is to be as large as possible among them."""
        if name == "max_rejected_correct":
            if value < 0:
                raise ValueError(f"max_rejected_correct must be a number of samples, 0 or more, got {value!r}.")
            return self.rejected_correct <= value, self.rejected_errors.astype(np.float64)
        check_fraction(name, value)
        accuracy = np.nan_to_num(self.accuracy, nan=-1.0)  # of a point that accepts nothing
        if name == "min_coverage":
            return self.coverage >= value, accuracy
        if name == "min_accuracy":
            return accuracy >= value, self.coverage
        errors = self.n_errors - self.rejected_errors
        return np.ones(len(self), dtype=np.bool_), -(errors + value * (self.n_samples - self.accepted))

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
        samples = check_samples(certainty, correct, cell)
        elsewhere = 0 if self.method == "global" else -1  # the pool of a cell that is not on this path
        pool_of_sample = np.append(self.pool, elsewhere)[positions(samples.cells, self.cells)][samples.code]
        counts = np.zeros((2, len(self)), dtype=np.intp)
        bounds = np.searchsorted(self.steps.pool, np.arange(self.n_pools + 1))
        for pool, sorted_values in enumerate(sorted_by_pool(samples, pool_of_sample, self.n_pools)):
            here = slice(bounds[pool], bounds[pool + 1])
            for row, values in enumerate(sorted_values):
                below = np.searchsorted(values, self.steps.threshold[here], side="left")
                counts[row, self.steps.point[here]] += np.diff(below, prepend=0)
        unseen = samples.correct[pool_of_sample < 0]
        rejected = np.add(counts.cumsum(axis=1), [[unseen.sum()], [(~unseen).sum()]])
        totals: dict[str, Argument] = {"n_correct": samples.n_correct, "n_errors": samples.n_errors}
        return replace(self, rejected_correct=rejected[0], rejected_errors=rejected[1], **totals)

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
        samples = check_samples(certainty, correct, cell)
        end = self.point(len(self) - 1)
        accepted = end.accept(samples.certainty, samples.cells[samples.code])
        left = np.append(np.sort(samples.certainty[accepted]), np.inf)
        level = np.unique(left[np.linspace(0, len(left) - 1, n_steps + 1).astype(np.intp)[1:]])
        level = level[level > left[0]]
        by_pool = np.empty(self.n_pools)
        by_pool[self.pool] = end.thresholds
        new, pool = np.nonzero(level[:, None] > by_pool)
        steps = sorted_steps(
            np.append(self.steps.point, len(self) + new),
            np.append(self.steps.pool, pool),
            np.append(self.steps.threshold, level[new]),
        )
        longer = np.zeros(len(self) + len(level), dtype=np.intp)
        path = replace(self, rejected_correct=longer, rejected_errors=longer, steps=steps)
        return path.evaluate(certainty, correct, cell)

    def lowered(self, by: float) -> ThresholdPath:
        """All thresholds lowered by a number, without a change of the counts; see `lvq.rejection.thresholds.STEP`."""
        return replace(self, steps=self.steps._replace(threshold=self.steps.threshold - by))
