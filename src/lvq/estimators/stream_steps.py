"""What only streams need: other costs, units from the first samples, and prototypes of classes that are new."""

from dataclasses import replace

import numpy as np

from lvq.estimators.parts import Parts
from lvq.estimators.training import Training
from lvq.model.incomplete_samples import samples_of
from lvq.model.links import Identity, Kernel
from lvq.model.metrics import LocalMetric
from lvq.model.objective import Objective, Params
from lvq.model.relevance import Relevance
from lvq.model.samples import ArraySamples
from lvq.solvers.state import (
    MIN_UNIT_SAMPLES,
    mean_units,
    new_statistics,
    units_of,
)


def with_cost(training: Training, parts: Parts) -> Training:
    """A stream whose cost may have other parameters than in the last batch, as its rates may have."""
    return replace(training, state=replace(training.state, cost=parts.cost))


def next_samples(training: Training, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[Training, ArraySamples]:
    """The next samples of a stream; where missing values are ignored, they count in the variances of the features."""
    given = ArraySamples(X, y, weight)
    if training.state.variances is None:
        return training, given
    training = with_moments(training, given)
    moments = training.state.moments
    return training, samples_of(X, y, weight, None if moments is None else moments.mean)


def with_moments(training: Training, samples: ArraySamples) -> Training:
    """The samples of a warm start or of a stream count in the variances of the features; those of partitions do not."""
    state = training.state
    if state.moments is None or not samples.in_memory:
        return training
    moments = state.moments.joined(samples.moments())
    return replace(training, state=replace(state, moments=moments, variances=moments.variances()))


def measure_units(training: Training, parts: Parts, samples: ArraySamples) -> Training:
    """The units of a stream, measured on its first samples: a first batch may have no spread at all."""
    state = training.state
    if state.units.samples >= MIN_UNIT_SAMPLES:
        return training
    params, link = training.params, training.link
    metric = samples.measured(state.relevance.metric(training.labels), state.variances)
    plain = Objective(metric, Identity(), state.cost, training.labels)
    if isinstance(link, Kernel) and isinstance(parts.kernel_width, str) and not parts.learns_width:
        here = units_of(plain, Relevance(), params, samples)
        width = _mean_width(link.width, state.units.samples, here.link, here.samples)
        link, params = link.with_width(width), params._replace(width=width)
    units = units_of(replace(plain, link=link), state.relevance, params, samples)
    return replace(training, params=params, link=link, state=replace(state, units=mean_units(state.units, units)))


def _mean_width(width: float, seen: float, spread: float, samples: float) -> float:
    """Root of the mean spread of the samples before and of these."""
    total = seen + samples
    return width if total == 0 else float(np.sqrt((seen * width**2 + samples * spread) / total))


def add_prototypes(
    training: Training,
    parts: Parts,
    prototypes: np.ndarray,
    labels: np.ndarray,
    samples: ArraySamples,
    n_classes: int,
) -> Training:
    """Add prototypes of classes that are new in a stream; those of the other classes and their statistics are kept."""
    params, state = training.params, training.state
    every = np.concatenate((training.labels, labels))
    order = np.argsort(every, kind="stable")
    merged = every[order]
    kept = np.flatnonzero(order < len(training.labels))
    relevance = params.relevance
    if relevance is not None and isinstance(state.relevance.metric(merged), LocalMetric):
        relevance = state.relevance.start(samples.X, samples.y, samples.weight, merged)
        assert relevance is not None
        per_prototype = len(relevance) == len(merged)
        relevance[kept if per_prototype else np.isin(np.unique(every), training.labels)] = params.relevance
    W = np.concatenate((params.prototypes, prototypes))[order]
    statistics = new_statistics(state.relevance, parts.cost, W.shape, n_classes, parts.online.learning_rate)
    for name, before in state.statistics._asdict().items():
        after = getattr(statistics, name)
        if name in ("seen", "scores"):  # of the classes and of the whole; all others are of the prototypes
            after[:] = before
        elif len(before):
            after[kept] = before
    grown = Params(W, relevance, params.width)
    return replace(training, params=grown, labels=merged, state=replace(state, statistics=statistics))
