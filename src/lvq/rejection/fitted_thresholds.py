"""From samples as predicted to thresholds: the path, the operating point, and the limits for outliers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lvq.rejection.calibration_data import Control, ScoredSamples, Settings
from lvq.rejection.coverage import Calibrated, coverage_point
from lvq.rejection.guarantee import guaranteed_point, guaranteed_points
from lvq.rejection.guarantee_error import weaker_guarantee
from lvq.rejection.path import Paths, Points
from lvq.rejection.point import CellThresholds, CertifiedPoint, OperatingPoint
from lvq.rejection.thresholds import local_thresholds
from lvq.rejection.ties import Ties, in_steps, lower_edge
from lvq.rejection.validation import check_finite, label_codes
from lvq.typing import Argument


class Thresholds(NamedTuple):
    """The path, the operating point, limits for outliers, samples at the threshold, and notes.

    With `per_class` path and point are dictionaries by class.
    """

    path: Paths
    point: Points
    outlier_limits: CellThresholds | None
    ties: Ties | None = None
    notes: tuple[str, ...] = ()


def fit_thresholds(
    settings: Settings,
    fitting: ScoredSamples,
    testing: ScoredSamples | None,
    n_samples: int,
    control: Control | None = None,
) -> Thresholds:
    """Path, operating point and limits for outliers; `n_samples` were given to `fit`."""
    limits, every = None, fitting
    n_testing = 0 if testing is None else len(testing.correct)
    fitting, testing = fitting.take(fitting.enough), None if testing is None else testing.take(testing.enough)
    if settings.measure.outlier is not None:
        # from the fitting samples alone: a rule that depends on the testing samples would make the tests invalid
        limits = _outlier_limits(fitting, settings.measure.outlier_fraction, settings.min_cell_size)
        fitting = fitting.take(limits.accept(fitting.typicality, fitting.cell))
        if testing is not None:
            testing = testing.take(limits.accept(testing.typicality, testing.cell))
    options: dict[str, Argument] = {"method": settings.thresholds, "min_cell_size": settings.min_cell_size}
    if settings.guarantee is None or testing is None:
        name, value = settings.target
        if name == "min_coverage":
            return _for_coverage(value, every, control, limits, options)
        path = local_thresholds(*fitting.classified, **options)
        return Thresholds(path, path.pick(**{name: value}), limits)  # type: ignore[arg-type]
    options["on_failure"] = settings.on_failure
    guarantee = settings.guarantee._replace(fraction_tested=n_testing / n_samples)
    if not settings.per_class:
        certified = guaranteed_point(fitting.classified, testing.classified, guarantee, **options)
        return Thresholds(*certified, limits, notes=_weaker(settings, {"": certified[1]}, n_samples))
    found = guaranteed_points(
        fitting.classified, testing.classified, fitting.predicted, testing.predicted, guarantee, **options
    )
    points: dict[Hashable, OperatingPoint | None] = {label: point for label, (_, point) in found.items()}
    notes = _weaker(settings, {f"Class {label!r}: ": point for label, point in points.items()}, n_samples)
    return Thresholds({label: path for label, (path, _) in found.items()}, points, limits, notes=notes)


def _weaker(settings: Settings, points: Mapping[str, OperatingPoint | None], n_samples: int) -> tuple[str, ...]:
    """Notes on guarantees that are weaker than requested, or missing."""
    notes = []
    for group, point in points.items():
        if point is None and settings.on_failure == "relax":
            notes.append(f"{group}Nothing could be guaranteed, as there are no samples to test it; all are rejected.")
        elif isinstance(point, CertifiedPoint) and point.requested_error is not None:
            notes.append(weaker_guarantee(point, n_samples, group=group))
    return tuple(notes)


def _for_coverage(
    coverage: float,
    fitting: ScoredSamples,
    control: Control | None,
    limits: CellThresholds | None,
    options: dict[str, Argument],
) -> Thresholds:
    """Thresholds that accept a fraction of new samples; outliers and samples with too little known are rejected."""
    n_samples = len(fitting.correct)
    every, weight = fitting, np.ones(n_samples)
    if control is not None:
        every = ScoredSamples.joined((fitting, control.samples))
        weight = np.append(control.own_weight, control.weight)
    check_finite("certainty", every.certainty)
    typical, n_limits = every.enough, 0
    if limits is not None:  # each limit in use rejects about one new sample more, as every threshold does
        typical, n_limits = typical & limits.accept(every.typicality, every.cell), len(limits.cells) + 1
    outliers = float(weight[~typical].sum()) + n_limits
    own = fitting.take(typical[:n_samples])
    path = local_thresholds(in_steps(own.certainty), own.correct, own.cell, **options)
    path = replace(path, steps=path.steps._replace(threshold=lower_edge(path.steps.threshold)))
    every, weight = every.take(typical), weight[typical]
    samples = Calibrated(in_steps(every.certainty), every.second, every.correct, every.cell, weight)
    found = coverage_point(path, samples, coverage, n_samples=n_samples, expected_outliers=outliers)
    extended = path.extend(in_steps(own.certainty), own.correct, own.cell)
    return Thresholds(extended, found.point, limits, found.ties, found.notes)


def _outlier_limits(samples: ScoredSamples, fraction: float, min_cell_size: int) -> CellThresholds:
    """Quantiles of the outlier measure: one for each cell that is large enough for the fraction, one for all others."""
    check_finite("the outlier measure of RejectClassifier", samples.typicality)
    cells, code = label_codes(samples.cell)
    large = np.flatnonzero(np.bincount(code) >= max(min_cell_size, 1 / fraction if fraction else 1))
    limits = [np.quantile(samples.typicality[code == index], fraction, method="lower") for index in large]
    overall = float(np.quantile(samples.typicality, fraction, method="lower"))
    return CellThresholds(cells[large], np.array(limits, dtype=np.float64), overall)
