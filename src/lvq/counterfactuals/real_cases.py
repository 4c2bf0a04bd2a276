"""Counterfactuals between a sample and real samples of the other class.

Each starts from the nearest real samples that the model predicts as wanted: immutable columns keep the sample's values,
and what remains different is moved back as far as the prediction allows. Categories go back to the sample's own one by
one, and numbers by `boxed_moves`; where that cannot be used, along the straight line. So the result is never farther
than the nearest of those real samples. Distances are sqrt(sum of ((x_l - x'_l)/unit_l)^2 + n_changed_categories).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from lvq.counterfactuals.mixed_tables import Mixed
from lvq.inspection.steps import Floats, Indices

N_ENDS = 5  # nearest real samples that a counterfactual may start from
MOST_TRIED = 400  # nearest real samples that are tried with the immutable columns of a sample
BISECTIONS = 40
MOST_COMPARED = 1000  # real samples of a class that set how far apart neighbours are
QUANTILE = 0.95  # of the distances between neighbours, up to which a sample is plausible

Reached = Callable[[Indices, Mixed], NDArray[np.bool_]]  # whether changed samples of these rows are predicted as wanted
Scores = Callable[[Indices, Mixed], Floats]  # distance to what is wanted less distance to the rest
Shorten = Callable[
    [Indices, Mixed, Mixed, NDArray[np.bool_], tuple[Floats, Floats]], Floats
]  # numbers of shorter moves


class Limits(NamedTuple):
    """What a counterfactual may change, and by how much; numbers and categories apart."""

    fixed_numbers: NDArray[np.bool_]
    fixed_categories: NDArray[np.bool_]
    low: Floats
    high: Floats
    units: Floats
    max_changes: int | None


def lengths(units: Floats, one: Mixed, other: Mixed) -> Floats:
    """Distances between rows; a missing value is at distance 0."""
    difference = np.nan_to_num((one.numbers - other.numbers) / units)
    return np.sqrt((difference**2).sum(axis=1) + (one.categories != other.categories).sum(axis=1))


def all_lengths(units: Floats, one: Mixed, other: Mixed) -> Floats:
    """Distances between all rows of two tables, (n_one, n_other)."""
    centre = np.nan_to_num(np.nanmean(other.numbers, axis=0)) if other.numbers.size else np.zeros(len(units))
    numbers = [np.where(np.isnan(part.numbers), centre, part.numbers) / units for part in (one, other)]
    changed = np.zeros((len(one.numbers), len(other.numbers)))
    for ours, theirs in zip(one.categories.T, other.categories.T):
        changed += ours[:, None] != theirs[None, :]
    return np.sqrt(cdist(*numbers, "sqeuclidean") + changed)


def hybrids(x: Mixed, samples: Mixed, limits: Limits) -> Mixed:
    """Real samples with the immutable columns and missing values of one sample, within the bounds."""
    keep = limits.fixed_numbers | np.isnan(x.numbers) | np.isnan(samples.numbers)
    low, high = np.fmin(limits.low, x.numbers), np.fmax(limits.high, x.numbers)
    numbers = np.where(keep, x.numbers, np.clip(samples.numbers, low, high))
    return Mixed(numbers, np.where(limits.fixed_categories, x.categories, samples.categories))


class Jobs(NamedTuple):
    """Candidates: the rows of X that they are for, and changed samples that are predicted as wanted."""

    row: Indices
    end: Mixed

    def kept(self, which: NDArray[np.bool_]) -> Jobs:
        """Some of them."""
        return Jobs(self.row[which], self.end.take(np.flatnonzero(which)))

    def joined(self, other: Jobs) -> Jobs:
        """These and others."""
        ends = (np.concatenate(parts) for parts in zip(self.end, other.end))
        return Jobs(np.concatenate((self.row, other.row)), Mixed(*ends))


def starting_jobs(X: Mixed, rows: Indices, samples: Mixed, wanted: NDArray[np.bool_], limits: Limits,
                  reached: Reached) -> Jobs:  # fmt: skip
    """The nearest real samples of each row that are predicted as wanted; `wanted` is (n_rows, n_samples)."""
    found_rows, ends = list[Indices](), list[Mixed]()
    for place, row in enumerate(rows):
        chosen = np.flatnonzero(wanted[place])
        if not len(chosen):
            continue
        x = X.take(np.array([row]))
        mixed = hybrids(x, samples.take(chosen), limits)
        order = np.argsort(lengths(limits.units, x, mixed), kind="stable")[:MOST_TRIED]
        mixed = mixed.take(order)
        good = np.flatnonzero(reached(np.repeat(row, len(order)), mixed))[:N_ENDS]
        found_rows.append(np.repeat(row, len(good)))
        ends.append(mixed.take(good))
    if not ends:
        return Jobs(np.empty(0, dtype=np.intp), X.take(np.empty(0, dtype=np.intp)))
    numbers, categories = (np.concatenate([end[part] for end in ends]) for part in range(2))
    return Jobs(np.concatenate(found_rows), Mixed(numbers, categories))


def with_few_changes(X: Mixed, jobs: Jobs, most: int, reached: Reached, scores: Scores) -> Jobs:
    """Ends that differ from their sample in few columns: those whose change helps most, one after the other."""
    at, n_numbers = X.take(jobs.row), X.numbers.shape[1]
    done = reached(jobs.row, at)
    for _ in range(most):
        gain = np.full((len(jobs.row), n_numbers + X.categories.shape[1]), np.inf)
        for column in range(gain.shape[1]):
            trial = _with_column(at, jobs.end, column)
            differs = lengths(np.ones(n_numbers), trial, at) > 0
            tried = np.flatnonzero(differs & ~done)
            if len(tried):
                gain[tried, column] = scores(jobs.row[tried], trial.take(tried))
        best = gain.argmin(axis=1)
        for job in np.flatnonzero(~done & np.isfinite(gain.min(axis=1))):
            _set_column(at, jobs.end, int(best[job]), int(job))
        done |= reached(jobs.row, at)
    return Jobs(jobs.row, at).kept(done)


def _place(at: Mixed, column: int) -> tuple[int, int]:
    """Part and column of a column that is counted over numbers and then categories."""
    n_numbers = at.numbers.shape[1]
    return (0, column) if column < n_numbers else (1, column - n_numbers)


def _with_column(at: Mixed, end: Mixed, column: int) -> Mixed:
    trial, (part, place) = Mixed(at.numbers.copy(), at.categories.copy()), _place(at, column)
    trial[part][:, place] = end[part][:, place]
    return trial


def _set_column(at: Mixed, end: Mixed, column: int, job: int) -> None:
    part, place = _place(at, column)
    at[part][job, place] = end[part][job, place]


def with_own_categories(X: Mixed, jobs: Jobs, reached: Reached) -> Jobs:
    """Ends whose categories go back to those of the sample, one after the other, where the prediction allows."""
    categories = jobs.end.categories.copy()
    for column in range(categories.shape[1]):
        trial = categories.copy()
        trial[:, column] = X.categories[jobs.row, column]
        good = reached(jobs.row, Mixed(jobs.end.numbers, trial))
        categories[good] = trial[good]
    return Jobs(jobs.row, Mixed(jobs.end.numbers, categories))


def moved_back(X: Mixed, jobs: Jobs, limits: Limits, reached: Reached, shorten: Shorten) -> Mixed:
    """The shortest changes found between samples and ends, with the categories of the ends."""
    x, end = X.take(jobs.row), jobs.end
    fixed = (x.numbers == end.numbers) | np.isnan(x.numbers) if limits.max_changes is not None else (
        limits.fixed_numbers | np.isnan(x.numbers)
    )  # fmt: skip
    start = shorten(jobs.row, x, end, fixed, (limits.low, limits.high))
    longer = lengths(limits.units, Mixed(start, end.categories), x) > lengths(limits.units, end, x)
    start[longer] = x.numbers[longer]
    low, high = np.zeros(len(start)), np.ones(len(start))
    high[reached(jobs.row, Mixed(start, end.categories))] = 0.0
    difference = end.numbers - start
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        good = reached(jobs.row, Mixed(start + middle[:, None] * difference, end.categories))
        low, high = np.where(good, low, middle), np.where(good, middle, high)
    numbers = np.where((high == 1.0)[:, None], end.numbers, start + high[:, None] * difference)
    return Mixed(numbers, end.categories)


class Plausibility:
    """Whether samples are as near to real samples of a class as these are to each other."""

    def __init__(self, samples: Mixed, labels: NDArray[np.generic], units: Floats) -> None:
        self.samples, self.labels, self.units = samples, labels, units
        self.limits = {label: self._limit(np.flatnonzero(labels == label)) for label in np.unique(labels).tolist()}

    def _limit(self, rows: Indices) -> float:
        some = self.samples.take(rows[:: -(-len(rows) // MOST_COMPARED)])
        if len(some.numbers) < 2:
            return 0.0
        between = all_lengths(self.units, some, some)
        np.fill_diagonal(between, np.inf)
        return float(np.quantile(between.min(axis=1), QUANTILE))

    def __call__(self, changed: Mixed, labels: NDArray[np.generic]) -> NDArray[np.bool_]:
        """Whether each changed sample of a predicted class is plausible."""
        good = np.zeros(len(labels), dtype=np.bool_)
        for label in np.unique(labels).tolist():
            rows, own = np.flatnonzero(labels == label), np.flatnonzero(self.labels == label)
            if len(own):
                nearest = all_lengths(self.units, changed.take(rows), self.samples.take(own)).min(axis=1)
                good[rows] = nearest <= self.limits[label] * (1 + 1e-9)
        return good
