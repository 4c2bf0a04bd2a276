"""Counterfactuals between a sample and real samples: within bounds, with immutable columns and whole categories.

Each starts from the nearest real samples with the wanted prediction: immutable columns keep the sample's values, and
the other values are moved back as far as the prediction allows. Categories go back to the sample's own one by one, and
numbers by `moves`; a column of whole numbers stays whole. The result is never farther than the nearest of those real
samples. Distances are sqrt(sum of ((x_l - x'_l)/unit_l)^2 + number of changed categories).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar

from lvq.counterfactuals.moves import pulled_in
from lvq.inspection.certify import checked_units
from lvq.inspection.mixed_rows import Layout, Mixed, differ, is_gap, lengths
from lvq.inspection.steps import Indices
from lvq.typing import Floats

if TYPE_CHECKING:
    from lvq.counterfactuals.search import Task

N_ENDS = 5  # nearest real samples that a counterfactual may start from
MOST_TRIED = 400  # nearest real samples that are tried with the immutable columns of a sample


class Limits(NamedTuple):
    """What a counterfactual may change, and by how much; numbers and categories apart."""

    fixed_numbers: NDArray[np.bool_]
    fixed_categories: NDArray[np.bool_]
    low: Floats
    high: Floats
    units: Floats
    max_changes: int | None
    whole: NDArray[np.bool_]  # numbers of columns that hold whole ones alone


def limited(
    layout: Layout,
    samples: Mixed,
    units: ArrayLike | None,
    bounds: Mapping[str | int, tuple[float, float]],
    immutable: Sequence[str | int],
    max_changes: int | None,
) -> Limits:
    """What may change, from the parameters of `counterfactual`."""
    if max_changes is not None:
        check_scalar(max_changes, "max_changes of counterfactual", Integral, min_val=1)
    fixed = layout.mask(immutable, "immutable of counterfactual")
    low, high = layout.limits(bounds, samples.numbers)
    whole = (np.isnan(samples.numbers) | (samples.numbers == np.rint(samples.numbers))).all(axis=0)
    low, high = np.where(whole, np.ceil(low), low), np.where(whole, np.floor(high), high)
    if units is None:
        scale = np.nanstd(samples.numbers, axis=0) if samples.numbers.size else np.ones(len(layout.numeric))
        scale = np.where(scale > 0, scale, 1.0)
    else:
        scale = checked_units(units, len(layout.names), "counterfactual")[layout.numeric]
    return Limits(fixed[layout.numeric], fixed[layout.categorical], low, high, scale, max_changes, whole)


class Jobs(NamedTuple):
    """Candidates: the rows of X that they are for, and changed samples that are predicted as wanted."""

    row: Indices
    end: Mixed

    @classmethod
    def joined(cls, jobs: Sequence[Jobs]) -> Jobs:
        """All candidates of several."""
        numbers, categories = (np.concatenate(parts) for parts in zip(*(job.end for job in jobs)))
        return cls(np.concatenate([job.row for job in jobs]), Mixed(numbers, categories))


def nearest_changes(task: Task, samples: Mixed, limits: Limits) -> tuple[Mixed, NDArray[np.bool_]]:
    """Changed samples, and for which there is an answer; what is done stays."""
    jobs = _starts(task, samples, limits)
    if not limits.fixed_categories.all():  # and those that change numbers only
        more = _starts(task, samples, limits._replace(fixed_categories=np.ones_like(limits.fixed_categories)))
        jobs = Jobs.joined([jobs, more])
    if limits.max_changes is not None:
        jobs = _with_few_changes(task, jobs, limits.max_changes)
    jobs = _with_own_categories(task, jobs)
    changed = _moved_back(task, jobs, limits) if len(jobs.row) else jobs.end
    changed, distance = _with_whole_numbers(task, jobs, changed, limits)
    best, found = Mixed(task.X.numbers.copy(), task.X.categories.copy()), task.done.copy()
    order = np.argsort(distance, kind="stable")[::-1]  # the shortest comes last
    for job, row in zip(order, jobs.row[order]):
        best.numbers[row], best.categories[row], found[row] = changed.numbers[job], changed.categories[job], True
    return best, found


def _with_whole_numbers(task: Task, jobs: Jobs, changed: Mixed, limits: Limits) -> tuple[Mixed, Floats]:
    """Whole numbers in columns that hold no others: rounded, rounded up, or the end's values, whichever is shortest."""
    x = task.X.take(jobs.row)
    moved = limits.whole & (changed.numbers != x.numbers)
    numbers, shortest = jobs.end.numbers.copy(), lengths(limits.units, jobs.end, x)
    up = np.where(changed.numbers > x.numbers, np.ceil(changed.numbers), np.floor(changed.numbers))
    for rounded in (np.rint(changed.numbers), up):
        trial = Mixed(np.where(moved, rounded, changed.numbers), jobs.end.categories)
        length = lengths(limits.units, trial, x)
        better = task.reached(jobs.row, trial) & (length < shortest)
        numbers[better], shortest[better] = trial.numbers[better], length[better]
    return Mixed(numbers, jobs.end.categories), shortest


def _starts(task: Task, samples: Mixed, limits: Limits) -> Jobs:
    """The nearest real samples of each row with the wanted prediction, changed by what the row must keep."""
    labels, accepted = task.predicted(task.layout.join(samples))
    none = np.zeros(0, dtype=np.intp)
    found = [Jobs(none, task.X.take(none))]
    for row in np.flatnonzero(~task.done):
        x = task.X.take(np.array([row]))
        mixed = _hybrids(x, samples.take(np.flatnonzero(accepted & task.wanted(row, labels))), limits)
        mixed = mixed.take(np.argsort(lengths(limits.units, x, mixed), kind="stable")[:MOST_TRIED])
        good = np.flatnonzero(task.reached(np.repeat(row, len(mixed.numbers)), mixed))[:N_ENDS]
        found.append(Jobs(np.repeat(row, len(good)), mixed.take(good)))
    return Jobs.joined(found)


def _hybrids(x: Mixed, samples: Mixed, limits: Limits) -> Mixed:
    """Real samples with the immutable columns and missing values of one sample, within the bounds."""
    keep = limits.fixed_numbers | is_gap(x.numbers) | is_gap(samples.numbers)
    keep_categories = limits.fixed_categories | is_gap(x.categories) | is_gap(samples.categories)
    low, high = np.fmin(limits.low, x.numbers), np.fmax(limits.high, x.numbers)
    numbers = np.where(keep, x.numbers, np.clip(samples.numbers, low, high))
    return Mixed(numbers, np.where(keep_categories, x.categories, samples.categories))


def _with_few_changes(task: Task, jobs: Jobs, most: int) -> Jobs:
    """Ends that differ from their sample in few columns, chosen one after another by how much their change helps."""
    at = task.X.take(jobs.row)
    done = task.reached(jobs.row, at)
    columns = [(part, k) for part in range(2) for k in range(at[part].shape[1])]  # of numbers, and of categories
    for _ in range(most):
        gain = np.full((len(jobs.row), len(columns)), np.inf)
        for place, (part, k) in enumerate(columns):
            tried = np.flatnonzero(differ(jobs.end[part][:, k], at[part][:, k]) & ~done)
            trial = at.take(tried)
            trial[part][:, k] = jobs.end[part][tried, k]
            if len(tried):
                gain[tried, place] = _scores(task, jobs.row[tried], trial)
        for job in np.flatnonzero(np.isfinite(gain.min(axis=1, initial=np.inf))):
            part, k = columns[gain[job].argmin()]
            at[part][job, k] = jobs.end[part][job, k]
        done |= task.reached(jobs.row, at)
    return Jobs(jobs.row[done], at.take(np.flatnonzero(done)))


def _scores(task: Task, rows: Indices, changed: Mixed) -> Floats:
    """Distance to the nearest wanted prototype minus the distance to the nearest other one."""
    model = task.found.model
    D = model.distances(task.inputs(changed)).astype(np.float64)
    wanted = task.wanted(rows[:, None], model.classes[model.labels])
    return np.where(wanted, D, np.inf).min(axis=1) - np.where(wanted, np.inf, D).min(axis=1, initial=0.0)


def _with_own_categories(task: Task, jobs: Jobs) -> Jobs:
    """Ends whose categories go back to the sample's own, one after another, where the prediction allows."""
    categories = jobs.end.categories.copy()
    for column in range(categories.shape[1]):
        trial = categories.copy()
        trial[:, column] = task.X.categories[jobs.row, column]
        good = task.reached(jobs.row, Mixed(jobs.end.numbers, trial))
        categories[good] = trial[good]
    return Jobs(jobs.row, Mixed(jobs.end.numbers, categories))


def _moved_back(task: Task, jobs: Jobs, limits: Limits) -> Mixed:
    """The shortest changes found between samples and ends, with the categories of the ends."""
    x, end = task.X.take(jobs.row), jobs.end
    fixed = np.isnan(x.numbers) | (limits.fixed_numbers if limits.max_changes is None else x.numbers == end.numbers)
    low, high = (np.where(fixed, 0.0, (ends - x.numbers) / limits.units) for ends in (limits.low, limits.high))
    low, high = np.minimum(low, 0), np.maximum(high, 0)
    start = np.where(fixed, 0.0, (end.numbers - x.numbers) / limits.units)

    def changed(some: Indices, moves: Floats) -> Mixed:
        moved = np.where(fixed[some] | (moves == 0), x.numbers[some], x.numbers[some] + moves * limits.units)
        return Mixed(np.where(moves == start[some], end.numbers[some], moved), end.categories[some])

    moves = pulled_in(start, lambda some, u: task.reached(jobs.row[some], changed(some, u)), low, high)
    return changed(np.arange(len(moves)), moves)
