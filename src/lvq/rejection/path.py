"""A path of thresholds: from the classifier that always answers to one that hardly does, and the points on it.

Rules kept here:
- point 0 of every path is the classifier without rejection: all thresholds -inf;
- the counts belong to named data; `evaluate` gives the same thresholds with the counts of other data;
- cells of one pool share a threshold; new cells are treated as in `point.py`;
- thresholds are kept as steps (point, pool, threshold), because a point differs from the one before it in few cells: a
  path of 100,000 points over 200 cells would be 160 MB as a table. `thresholds` makes the table when asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lvq.rejection.point import OperatingPoint
from lvq.rejection.samples import BoolArray, FloatArray, IntArray, Samples, check_samples, check_share, sorted_by_pool


class Steps(NamedTuple):
    """From path point `point` on, the cells of `pool` have `threshold`; sorted by pool, then by point.

    Every pool has a step at point 0.
    """

    point: IntArray
    pool: IntArray
    threshold: FloatArray


@dataclass(frozen=True, eq=False)
class ThresholdPath:
    """Operating points, from no rejection towards more, with what each rejects on the data it was counted on.

    Attributes
    ----------
    rejected_correct, rejected_errors : int array of shape (n_points,)
        Rejected samples, by whether the classifier was right.
    n_correct, n_errors : int
        All samples, by whether the classifier was right.
    cells : array of shape (n_cells,)
        The cells' labels.
    pool : int array of shape (n_cells,)
        Cells of the same pool share a threshold.
    steps : Steps
        The thresholds, kept as changes.
    method : str
        How the path was found.

    Examples
    --------
    >>> from lvq.rejection import local_thresholds
    >>> path = local_thresholds([0.1, 0.2, 0.3, 0.4], [False, True, False, True], ["a", "a", "b", "b"])
    >>> path.rejected_correct, path.rejected_errors
    (array([0, 0]), array([0, 2]))
    >>> path.pick(accuracy=1.0).thresholds
    array([0.2, 0.4])
    """

    rejected_correct: IntArray
    rejected_errors: IntArray
    n_correct: int
    n_errors: int
    cells: NDArray[Any]
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
        """Share of the samples that are accepted, at every point."""
        return self.accepted / self.n_samples

    @property
    def accuracy(self) -> FloatArray:
        """Share of the accepted samples that are right, at every point; NaN where none is accepted."""
        right = (self.n_correct - self.rejected_correct).astype(np.float64)
        return np.divide(right, self.accepted, out=np.full(len(self), np.nan), where=self.accepted > 0)

    @cached_property
    def thresholds(self) -> FloatArray:
        """Thresholds of shape (n_points, n_cells), made on first use."""
        following = np.append(self.steps.point[1:], 0)
        # The next step of the same pool ends this one; a following 0 opens the next pool (or ends the list).
        following[following == 0] = len(self)
        rows = np.repeat(self.steps.threshold, following - self.steps.point).reshape(-1, len(self))
        return np.ascontiguousarray(rows[self.pool].T)

    def point(self, index: int) -> OperatingPoint:
        """The operating point at `index`, without making the whole table of thresholds."""
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
        coverage: float | None = None,
        accuracy: float | None = None,
        rejected_correct: int | None = None,
        cost_ratio: float | None = None,
    ) -> OperatingPoint:
        """The best point of the path for one wish; exactly one is given.

        Parameters
        ----------
        coverage : float, optional
            Highest accuracy among the points that accept at least this share.
        accuracy : float, optional
            Highest coverage among the points whose accepted samples are right at least this often.
        rejected_correct : int, optional
            Most rejected errors among the points that lose at most this many correct samples.
        cost_ratio : float, optional
            Lowest total cost where a rejection costs this share of an error (Chow): 0 rejects all it can to avoid
            errors, 1 rejects nothing.

        Returns
        -------
        OperatingPoint
            Of equally good points the one with the highest coverage.
        """
        wishes = {
            "coverage": coverage,
            "accuracy": accuracy,
            "rejected_correct": rejected_correct,
            "cost_ratio": cost_ratio,
        }
        given = {name: value for name, value in wishes.items() if value is not None}
        if len(given) != 1:
            raise ValueError(
                f"pick must be given exactly one of {', '.join(wishes)}, got {', '.join(given) or 'none'}; choose one."
            )
        ((name, value),) = given.items()
        if name == "rejected_correct":
            if value < 0:
                raise ValueError(f"rejected_correct must be a number of samples, 0 or more, got {value!r}.")
            allowed, merit = self.rejected_correct <= value, self.rejected_errors.astype(np.float64)
        else:
            allowed, merit = self._wish(name, check_share(name, value))
        if not allowed.any():
            raise ValueError(self._cannot(name, value))
        candidates = np.flatnonzero(allowed)
        order = np.lexsort((-self.accepted[candidates], -merit[candidates]))
        return self.point(int(candidates[order[0]]))

    def _wish(self, name: str, value: float) -> tuple[BoolArray, FloatArray]:
        """Which points are allowed, and what is to be as large as possible among them."""
        accuracy = np.nan_to_num(self.accuracy, nan=-1.0)  # nothing accepted is nobody's best accuracy
        if name == "coverage":
            return self.coverage >= value, accuracy
        if name == "accuracy":
            return accuracy >= value, self.coverage
        left = self.n_errors - self.rejected_errors
        return np.ones(len(self), dtype=np.bool_), -(left + value * (self.n_samples - self.accepted))

    def _cannot(self, name: str, value: float) -> str:
        if name == "accuracy" and self.accepted.any():
            best = np.nanmax(self.accuracy)
            return f"accuracy={value!r} is on no point of this path, whose best is {best:.6g}; ask for at most that."
        best = self.coverage.max()
        return f"{name}={value!r} is on no point of this path, whose coverage is at most {best:.6g}; ask for less."

    def evaluate(self, certainty: ArrayLike, correct: ArrayLike, cell: ArrayLike) -> ThresholdPath:
        """The same thresholds with the counts they give on other samples.

        Parameters
        ----------
        certainty, correct, cell : array-like of shape (n_samples,)
            As for `local_thresholds`.

        Returns
        -------
        ThresholdPath
        """
        samples = check_samples(certainty, correct, cell)
        pool_of_sample = self._pool_of(samples)
        counts = np.zeros((2, len(self)), dtype=np.intp)
        bounds = np.searchsorted(self.steps.pool, np.arange(self.n_pools + 1))
        for pool, sorted_values in enumerate(sorted_by_pool(samples, pool_of_sample, self.n_pools)):
            here = slice(bounds[pool], bounds[pool + 1])
            for row, values in enumerate(sorted_values):
                below = np.searchsorted(values, self.steps.threshold[here], side="left")
                counts[row, self.steps.point[here]] += np.diff(below, prepend=0)
        counts = counts.cumsum(axis=1)
        unseen = pool_of_sample < 0
        counts[0] += np.count_nonzero(unseen & samples.correct)
        counts[1] += np.count_nonzero(unseen & ~samples.correct)
        return replace(
            self,
            rejected_correct=counts[0],
            rejected_errors=counts[1],
            n_correct=samples.n_correct,
            n_errors=samples.n_errors,
        )

    def extend(self, certainty: ArrayLike, correct: ArrayLike, cell: ArrayLike, *, n_steps: int = 200) -> ThresholdPath:
        """The path carried on beyond its last point, down to coverage 0, by raising all thresholds along the certainty.

        A threshold that lies above the rising certainty stays until it is reached.

        Parameters
        ----------
        certainty, correct, cell : array-like of shape (n_samples,)
            The samples the path was fitted on: the counts of all points are taken from them.
        n_steps : int, default=200
            At most so many new points, with about equally many samples between them.

        Returns
        -------
        ThresholdPath
        """
        samples = check_samples(certainty, correct, cell)
        end = self.point(len(self) - 1)
        left = np.sort(samples.certainty[end.accept(samples.certainty, samples.cells[samples.code])])
        places = np.linspace(0, len(left), n_steps + 1).astype(np.intp)[1:]
        level = np.unique(np.append(left, np.inf)[places]) if len(left) else np.empty(0)
        level = level[level > left[0]] if len(left) else level
        by_pool = np.empty(self.n_pools)
        by_pool[self.pool] = end.thresholds
        new, pool = np.nonzero(level[:, None] > by_pool)
        steps = Steps(
            np.append(self.steps.point, len(self) + new),
            np.append(self.steps.pool, pool),
            np.append(self.steps.threshold, level[new]),
        )
        order = np.lexsort((steps.point, steps.pool))
        longer = np.zeros(len(self) + len(level), dtype=np.intp)
        path = replace(
            self,
            rejected_correct=longer,
            rejected_errors=longer,
            steps=Steps(steps.point[order], steps.pool[order], steps.threshold[order]),
        )
        return path.evaluate(certainty, correct, cell)

    def _pool_of(self, samples: Samples) -> IntArray:
        """Pool of every sample; -1 for a cell this path does not know."""
        if self.method == "global":
            return np.zeros(len(samples.code), dtype=np.intp)
        known = dict(zip(self.cells.tolist(), self.pool.tolist()))
        return np.array([known.get(label, -1) for label in samples.cells.tolist()], dtype=np.intp)[samples.code]
