"""Counterfactuals within bounds, with immutable columns and whole categories, few changes, near real samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.counterfactuals import real_cases
from lvq.counterfactuals.boxed_moves import Distances, boxed_move
from lvq.counterfactuals.goals import Goal, predictions
from lvq.counterfactuals.mixed_tables import Layout, Mixed
from lvq.counterfactuals.real_cases import Limits
from lvq.estimators.find_model import FoundModel
from lvq.inspection.certify import checked_units
from lvq.inspection.columns import model_inputs
from lvq.inspection.linear import dense, input_map
from lvq.inspection.steps import Floats, Indices
from lvq.model.metrics import LocalMetric
from lvq.typing import Labels, MatrixLike

LARGEST_PROBLEM = 4_000_000  # prototypes times rank times columns beyond which numbers move along straight lines only


class Options(NamedTuple):
    """What the user asks for; see `counterfactual`."""

    samples: MatrixLike
    units: ArrayLike | None
    bounds: Mapping[str | int, tuple[float, float]]
    immutable: Sequence[str | int]
    max_changes: int | None
    plausible: bool


class Found(NamedTuple):
    """Changed samples, their distances, classes and lengths in the model's metric, and the units of the distances."""

    samples: MatrixLike
    distance: Floats
    label: Labels
    cost: Floats
    units: Floats


class Search:
    """One search: the samples, the model, and what is asked for."""

    def __init__(self, model: BaseEstimator, found: FoundModel, X: MatrixLike, goal: Goal, options: Options) -> None:
        self.model, self.found, self.goal = model, found, goal
        self.layout = Layout(found, X)
        self.X, self.samples = self.layout.split(X), self.layout.split(options.samples)
        self.limits = self._limits(options)
        self.sample_labels, self.sample_accepted = predictions(model, options.samples)
        accepted = np.flatnonzero(self.sample_accepted)
        self.plausible = None
        if options.plausible:
            known = self.samples.take(accepted), self.sample_labels[accepted], self.limits.units
            self.plausible = real_cases.Plausibility(*known)
        self.map = self._linear_map()

    def _limits(self, options: Options) -> Limits:
        layout, numeric = self.layout, self.layout.numeric
        fixed = layout.mask(options.immutable, "immutable")
        low, high = layout.limits(options.bounds, self.samples.numbers)
        if options.units is None:
            units = np.nanstd(self.samples.numbers, axis=0) if self.samples.numbers.size else np.ones(len(numeric))
            units = np.where(units > 0, units, 1.0)
        else:
            units = checked_units(options.units, len(layout.names), "counterfactual")[numeric]
        return Limits(fixed[numeric], fixed[layout.categorical], low, high, units, options.max_changes)

    def _linear_map(self) -> Floats | None:
        """How numbers change the model's input while categories stay; None where a step is not linear."""
        try:
            full = input_map(self.found.steps, "counterfactual", clipping=False, categories=True)
        except ValueError:
            return None
        if full.ndim == 1:
            full = np.diag(np.broadcast_to(full, len(self.layout.names)))
        return dense(full)[:, self.layout.numeric] * self.limits.units

    def reached(self, rows: Indices, changed: Mixed) -> NDArray[np.bool_]:
        """Whether changed samples are predicted as wanted, and plausible where that is asked for."""
        if not len(rows):
            return np.zeros(0, dtype=np.bool_)
        label, accepted = predictions(self.model, self.layout.join(changed))
        good = self.goal.take(rows).reached(label, accepted)
        if self.plausible is not None and good.any():
            some = np.flatnonzero(good)
            good[some] = self.plausible(changed.take(some), label[some])
        return good

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

    def shorten(
        self, rows: Indices, x: Mixed, end: Mixed, fixed: NDArray[np.bool_], ends: tuple[Floats, Floats]
    ) -> Floats:
        """Numbers of moves that are shorter than those to the ends, by the geometry of the model."""
        model, units = self.found.model, self.limits.units
        wanted = self.wanted_prototypes(rows)
        rank = 1 if model.relevance is None or model.has_weights else model.relevance.shape[-2]
        size = len(model.prototypes) * rank * len(units)
        if self.map is None or size > LARGEST_PROBLEM or (self.goal.rejecting and self.goal.target is None):
            return x.numbers.copy()
        Z, at_end = (self.inputs(Mixed(part.numbers, end.categories)) for part in (x, end))
        D, result = np.where(wanted, model.distances(at_end), np.inf), x.numbers.copy()
        for job, target in enumerate(D.argmin(axis=1)):
            free = ~fixed[job]
            if not free.any():  # categories alone have changed
                continue
            rivals = np.flatnonzero(~wanted[job])
            start = ((end.numbers[job] - x.numbers[job]) / units)[free]
            low, high = ((limit - x.numbers[job]) / units for limit in ends)
            box = np.minimum(low, 0)[free], np.maximum(high, 0)[free]
            u = boxed_move(self._distances(Z[job], free), int(target), rivals, start, *box)
            result[job, free] += u * units[free]
        return result

    def _distances(self, z: NDArray[np.floating], free: NDArray[np.bool_]) -> Distances:
        """Distances of a sample as functions of the moves of its free numbers."""
        model = self.found.model
        assert self.map is not None
        roots = [model.matrix_of(j) for j in range(len(model.labels) if isinstance(model.metric, LocalMetric) else 1)]
        full = [np.diag(root) if root.ndim == 1 else root for root in roots]
        difference = z.astype(np.float64) - model.prototypes
        e = np.stack([full[j if len(full) > 1 else 0] @ row for j, row in enumerate(difference)])
        return Distances(e, np.stack([root @ self.map[:, free] for root in full]))

    def run(self, done: NDArray[np.bool_]) -> Found:
        """The search for all samples that are not done already."""
        todo, limits = np.flatnonzero(~done), self.limits
        wanted = [
            [bool(ok) and self.goal.allows(row, label) for label, ok in zip(self.sample_labels, self.sample_accepted)]
            for row in todo
        ]
        jobs = real_cases.starting_jobs(self.X, todo, self.samples, np.array(wanted), limits, self.reached)
        if len(self.layout.categorical) and not limits.fixed_categories.all():  # and those that change numbers only
            numbers = limits._replace(fixed_categories=np.ones_like(limits.fixed_categories))
            jobs = jobs.joined(
                real_cases.starting_jobs(self.X, todo, self.samples, np.array(wanted), numbers, self.reached)
            )
        if limits.max_changes is not None:
            jobs = real_cases.with_few_changes(self.X, jobs, limits.max_changes, self.reached, self.scores)
        jobs = real_cases.with_own_categories(self.X, jobs, self.reached)
        changed = real_cases.moved_back(self.X, jobs, limits, self.reached, self.shorten) if len(jobs.row) else jobs.end
        distance = real_cases.lengths(limits.units, changed, self.X.take(jobs.row))
        best = Mixed(self.X.numbers.copy(), self.X.categories.copy())
        shortest = np.where(done, 0.0, np.inf)
        for job in np.argsort(distance, kind="stable")[::-1]:  # the shortest comes last
            row = jobs.row[job]
            best.numbers[row], best.categories[row], shortest[row] = (
                changed.numbers[job], changed.categories[job], distance[job],
            )  # fmt: skip
        return self._result(best, shortest)

    def _result(self, best: Mixed, shortest: Floats) -> Found:
        label, _ = predictions(self.model, self.layout.join(best))
        change = self.inputs(best).astype(np.float64) - self.inputs(self.X)
        model = self.found.model
        roots = [model.matrix_of(j) for j in range(len(model.labels) if isinstance(model.metric, LocalMetric) else 1)]
        moved = [((change * root if root.ndim == 1 else change @ root.T) ** 2).sum(axis=1) for root in roots]
        cost = np.where(np.isinf(shortest), np.inf, np.sqrt(np.mean(moved, axis=0)))
        best.numbers[np.isinf(shortest)] = np.nan
        best.categories[np.isinf(shortest)] = None
        units = np.full(len(self.layout.names), np.nan)
        units[self.layout.numeric] = self.limits.units
        return Found(self.layout.join(best), shortest, label, cost, units)
