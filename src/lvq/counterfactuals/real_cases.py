"""Counterfactuals between a sample and real samples: within bounds, with immutable columns and whole categories.

Each starts from the nearest real samples that the model predicts as wanted: immutable columns keep the sample's values,
and what remains different is moved back as far as the prediction allows. Categories go back to the sample's own one by
one, and numbers by `moves`. The result is never farther than the nearest of those real samples. Distances are
sqrt(sum of ((x_l - x'_l)/unit_l)^2 + number of changed categories).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.counterfactuals.mixed_rows import Layout, Mixed, lengths
from lvq.counterfactuals.moves import pulled_in
from lvq.estimators.find_model import FoundModel, rejecting_layer
from lvq.inspection.certify import checked_units, is_local
from lvq.inspection.columns import model_inputs
from lvq.inspection.steps import Floats, Indices
from lvq.model.rows import as_numpy
from lvq.typing import Label, Labels, MatrixLike

N_ENDS = 5  # nearest real samples that a counterfactual may start from
MOST_TRIED = 400  # nearest real samples that are tried with the immutable columns of a sample


class Goal(NamedTuple):
    """Which predictions to reach: a given class, any class except the first prediction, or any that is accepted."""

    first: Labels
    target: Labels | None
    rejecting: bool

    def reached(self, label: Labels, accepted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether each row is predicted as wanted."""
        if self.target is not None:
            return accepted & (label == self.target)
        return accepted if self.rejecting else label != self.first

    def take(self, rows: Indices) -> Self:
        """The goals of some rows, which may repeat."""
        return type(self)(self.first[rows], None if self.target is None else self.target[rows], self.rejecting)

    def allows(self, row: int | np.intp, label: Label) -> bool:
        """Whether a class may be reached from a row."""
        if self.target is not None:
            return bool(label == self.target[row])
        return self.rejecting or bool(label != self.first[row])


def predictions(model: BaseEstimator, X: MatrixLike) -> tuple[Labels, NDArray[np.bool_]]:
    """Predicted classes, and which are accepted: all, if the model rejects nothing."""
    label = np.asarray(as_numpy(model.predict(X)))
    reject, inputs = rejecting_layer(model, X)
    return label, np.ones(len(label), dtype=np.bool_) if reject is None else np.asarray(reject.accept(inputs))


class Limits(NamedTuple):
    """What a counterfactual may change, and by how much; numbers and categories apart."""

    fixed_numbers: NDArray[np.bool_]
    fixed_categories: NDArray[np.bool_]
    low: Floats
    high: Floats
    units: Floats
    max_changes: int | None


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


def _set_column(at: Mixed, end: Mixed, column: int, jobs: NDArray[np.bool_] | slice = slice(None)) -> Mixed:
    """Take over a column, counted over numbers and then categories, for some jobs."""
    n_numbers = at.numbers.shape[1]
    part, place = (0, column) if column < n_numbers else (1, column - n_numbers)
    at[part][jobs, place] = end[part][jobs, place]
    return at


class Search:
    """One search: the samples, the model, and what is asked for."""

    limits: Limits

    def __init__(self, model: BaseEstimator, found: FoundModel, X: MatrixLike, goal: Goal, samples: MatrixLike) -> None:
        self.model, self.found, self.goal = model, found, goal
        self.layout = Layout(found, X)
        self.X, self.samples = self.layout.split(X), self.layout.split(samples)
        self.sample_labels, self.sample_accepted = predictions(model, samples)

    def limit(
        self,
        units: ArrayLike | None,
        bounds: Mapping[str | int, tuple[float, float]],
        immutable: Sequence[str | int],
        max_changes: int | None,
    ) -> None:
        """Set what may change, as in `counterfactual`."""
        layout, numeric = self.layout, self.layout.numeric
        if max_changes is not None and (not isinstance(max_changes, int | np.integer) or max_changes < 1):
            raise ValueError(
                f"max_changes of counterfactual must be a whole number of at least 1, or None, got {max_changes!r}."
            )
        fixed = layout.mask(immutable, "immutable")
        low, high = layout.limits(bounds, self.samples.numbers)
        if units is None:
            scale = np.nanstd(self.samples.numbers, axis=0) if self.samples.numbers.size else np.ones(len(numeric))
            scale = np.where(scale > 0, scale, 1.0)
        else:
            scale = checked_units(units, len(layout.names), "counterfactual")[numeric]
        self.limits = Limits(fixed[numeric], fixed[layout.categorical], low, high, scale, max_changes)

    def reached(self, rows: Indices, changed: Mixed) -> NDArray[np.bool_]:
        """Whether changed samples are predicted as wanted."""
        if not len(rows):
            return np.zeros(0, dtype=np.bool_)
        return self.goal.take(rows).reached(*predictions(self.model, self.layout.join(changed)))

    def scores(self, rows: Indices, changed: Mixed) -> Floats:
        """Distance to the nearest wanted prototype less that to the nearest other one."""
        D = self.found.model.distances(self.inputs(changed)).astype(np.float64)
        wanted = self.wanted_prototypes(rows)
        return np.where(wanted, D, np.inf).min(axis=1) - np.where(wanted, np.inf, D).min(axis=1, initial=0.0)

    def inputs(self, changed: Mixed) -> NDArray[np.floating]:
        """Samples as they reach the model."""
        return model_inputs(self.found, self.layout.join(changed), "counterfactual")

    def wanted_prototypes(self, rows: Indices) -> NDArray[np.bool_]:
        """Prototypes of classes that may be reached, (n_rows, n_prototypes)."""
        labels = self.found.model.classes[self.found.model.labels]
        return np.array([[self.goal.allows(row, label) for label in labels] for row in rows])

    def starts(self, rows: Indices, limits: Limits) -> Jobs:
        """The nearest real samples of each row that are predicted as wanted, with what the row must keep."""
        found_rows, ends = [np.zeros(0, dtype=np.intp)], [self.X.take(np.zeros(0, dtype=np.intp))]
        for row in rows:
            chosen = self.sample_accepted & [self.goal.allows(row, label) for label in self.sample_labels]
            x = self.X.take(np.array([row]))
            mixed = hybrids(x, self.samples.take(np.flatnonzero(chosen)), limits)
            mixed = mixed.take(np.argsort(lengths(limits.units, x, mixed), kind="stable")[:MOST_TRIED])
            good = np.flatnonzero(self.reached(np.repeat(row, len(mixed.numbers)), mixed))[:N_ENDS]
            found_rows.append(np.repeat(row, len(good)))
            ends.append(mixed.take(good))
        numbers, categories = (np.concatenate(parts) for parts in zip(*ends))
        return Jobs(np.concatenate(found_rows), Mixed(numbers, categories))

    def with_few_changes(self, jobs: Jobs, most: int) -> Jobs:
        """Ends that differ from their sample in few columns: those whose change helps most, one after the other."""
        at, n_numbers = self.X.take(jobs.row), self.X.numbers.shape[1]
        done = self.reached(jobs.row, at)
        for _ in range(most):
            gain = np.full((len(jobs.row), n_numbers + self.X.categories.shape[1]), np.inf)
            for column in range(gain.shape[1]):
                trial = _set_column(Mixed(at.numbers.copy(), at.categories.copy()), jobs.end, column)
                tried = np.flatnonzero((lengths(np.ones(n_numbers), trial, at) > 0) & ~done)
                if len(tried):
                    gain[tried, column] = self.scores(jobs.row[tried], trial.take(tried))
            best = gain.argmin(axis=1)
            for column in np.unique(best).tolist():
                _set_column(at, jobs.end, column, ~done & np.isfinite(gain.min(axis=1)) & (best == column))
            done |= self.reached(jobs.row, at)
        return Jobs(jobs.row[done], at.take(np.flatnonzero(done)))

    def with_own_categories(self, jobs: Jobs) -> Jobs:
        """Ends whose categories go back to those of the sample, one after the other, where the prediction allows."""
        categories = jobs.end.categories.copy()
        for column in range(categories.shape[1]):
            trial = categories.copy()
            trial[:, column] = self.X.categories[jobs.row, column]
            good = self.reached(jobs.row, Mixed(jobs.end.numbers, trial))
            categories[good] = trial[good]
        return Jobs(jobs.row, Mixed(jobs.end.numbers, categories))

    def moved_back(self, jobs: Jobs) -> Mixed:
        """The shortest changes found between samples and ends, with the categories of the ends."""
        limits, x, end = self.limits, self.X.take(jobs.row), jobs.end
        fixed = np.isnan(x.numbers) | (limits.fixed_numbers if limits.max_changes is None else x.numbers == end.numbers)
        low, high = (np.where(fixed, 0.0, (ends - x.numbers) / limits.units) for ends in (limits.low, limits.high))
        low, high = np.minimum(low, 0), np.maximum(high, 0)
        start = np.where(fixed, 0.0, (end.numbers - x.numbers) / limits.units)

        def changed(some: Indices, moves: Floats) -> Mixed:
            moved = np.where(fixed[some] | (moves == 0), x.numbers[some], x.numbers[some] + moves * limits.units)
            return Mixed(np.where(moves == start[some], end.numbers[some], moved), end.categories[some])

        moves = pulled_in(start, lambda some, u: self.reached(jobs.row[some], changed(some, u)), low, high)
        return changed(np.arange(len(moves)), moves)

    def run(self, done: NDArray[np.bool_]) -> tuple[MatrixLike, Floats, Labels, Floats, Floats]:
        """Changed samples with distances, classes, lengths in the model's metric, and units; what is done stays."""
        todo, limits = np.flatnonzero(~done), self.limits
        jobs = self.starts(todo, limits)
        if len(self.layout.categorical) and not limits.fixed_categories.all():  # and those that change numbers only
            more = self.starts(todo, limits._replace(fixed_categories=np.ones_like(limits.fixed_categories)))
            numbers, categories = (np.concatenate(parts) for parts in zip(jobs.end, more.end))
            jobs = Jobs(np.concatenate((jobs.row, more.row)), Mixed(numbers, categories))
        if limits.max_changes is not None:
            jobs = self.with_few_changes(jobs, limits.max_changes)
        jobs = self.with_own_categories(jobs)
        changed = self.moved_back(jobs) if len(jobs.row) else jobs.end
        distance = lengths(limits.units, changed, self.X.take(jobs.row))
        best = Mixed(self.X.numbers.copy(), self.X.categories.copy())
        shortest = np.where(done, 0.0, np.inf)
        for job in np.argsort(distance, kind="stable")[::-1]:  # the shortest comes last
            row = jobs.row[job]
            best.numbers[row], best.categories[row], shortest[row] = (
                changed.numbers[job], changed.categories[job], distance[job],
            )  # fmt: skip
        return self._result(best, shortest)

    def _result(self, best: Mixed, shortest: Floats) -> tuple[MatrixLike, Floats, Labels, Floats, Floats]:
        label, _ = predictions(self.model, self.layout.join(best))
        change = self.inputs(best).astype(np.float64) - self.inputs(self.X)
        model = self.found.model
        roots = [model.matrix_of(j) for j in range(len(model.labels) if is_local(model) else 1)]
        moved = [((change * root if root.ndim == 1 else change @ root.T) ** 2).sum(axis=1) for root in roots]
        cost = np.where(np.isinf(shortest), np.inf, np.sqrt(np.mean(moved, axis=0)))
        best.numbers[np.isinf(shortest)] = np.nan
        best.categories[np.isinf(shortest)] = None
        units = np.full(len(self.layout.names), np.nan)
        units[self.layout.numeric] = self.limits.units
        return self.layout.join(best), shortest, label, cost, units
