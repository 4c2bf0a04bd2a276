"""From parts and samples to a fitted model: start, units, solver. Pure functions; no estimator is changed here.

A `Training` is a model during training: parameters, labels and link, and the solver's state. Each function takes one
and returns a new one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from lvq.estimators.parts import Parts
from lvq.model.arrays import as_numpy, like
from lvq.model.costs import SoftCost, WindowRule, WinnerRule
from lvq.model.decision import DecisionRule
from lvq.model.device_blocks import beside_samples
from lvq.model.feature_moments import FeatureMoments
from lvq.model.importance import feature_importances
from lvq.model.links import Identity, Kernel, Link
from lvq.model.objective import Objective, Params
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import LocalDiagonalRelevance, Relevance, VectorRelevance
from lvq.model.sample_space import sample_space
from lvq.model.samples import ArraySamples, Block
from lvq.model.structure import UNSTRUCTURED
from lvq.solvers import adam, lbfgs, online
from lvq.solvers.batch import Problem
from lvq.solvers.progress import Report
from lvq.solvers.state import (
    MIN_UNIT_SAMPLES,
    Result,
    TrainingState,
    Units,
    new_statistics,
    stretched,
    units_of,
)


@dataclass(frozen=True)
class Training:
    """A model during training."""

    params: Params
    labels: np.ndarray
    link: Link
    state: TrainingState

    def objective(self) -> Objective:
        """Metric, link, cost in plain numbers, and labels."""
        cost = self.state.scaled_cost(self.params.prototypes.dtype)
        return Objective(self.state.relevance.metric(self.labels), self.link, cost, self.labels)

    def with_result(self, result: Result, state: TrainingState) -> "Training":
        """After a solver's run; a width that was not learned stays."""
        params = result.params
        if params.width is None:
            params = params._replace(width=self.params.width)
        link = self.link
        if isinstance(link, Kernel) and params.width is not None:
            link = link.with_width(float(params.width))
        return replace(self, params=params, link=link, state=state)


def begin(
    parts: Parts,
    samples: ArraySamples,
    prototypes: np.ndarray,
    labels: np.ndarray,
    n_classes: int,
    random_state: np.random.RandomState,
    *,
    stream: bool = False,
    moments: FeatureMoments | None = None,
) -> Training:
    """Starting metric and kernel, and the units that make the rest independent of scale.

    `moments` are those of the features in a first pass over the stream, which the samples join; for missing values.
    """
    rule = parts.relevance.for_data(samples.n_samples, samples.n_features, len(labels))
    rule = rule.for_online(samples.n_features) if stream or parts.solver == "online" else rule
    variance = samples.typical_variance() if rule.needs_unit else 1.0
    rule = rule.in_units(variance)
    start = rule if stream else rule.in_span(samples.n_samples, samples.n_features)
    relevance = start.start(*_rows_for(rule, samples), labels)
    params = Params(prototypes, relevance, None)
    if parts.ignores_missing and samples.in_memory:
        moments = samples.moments() if moments is None else moments.joined(samples.moments())
    if moments is not None:
        variances: np.ndarray | None = moments.variances()
    else:
        variances = samples.variances() if parts.ignores_missing else None
    plain = Objective(samples.measured(rule.metric(labels), variances), Identity(), parts.cost, labels)
    link, units = parts.kernel, _first_units(plain, parts, params, samples)
    scaled = rule.scaled_start(relevance, units.link)
    if scaled is not relevance:
        params = params._replace(relevance=scaled)
        units = units_of(plain, Relevance(), params, samples.thinned())
    if isinstance(link, Kernel):
        width = float(np.sqrt(units.link)) if isinstance(parts.kernel_width, str) else float(parts.kernel_width)
        link, params = link.with_width(width), params._replace(width=width)
    if isinstance(link, Identity):
        units = stretched(units, rule, params)
    else:
        units = units_of(replace(plain, link=link), rule, params, samples.thinned())
    rate, units = parts.online.learning_rate, units._replace(variance=variance)
    statistics = new_statistics(rule, parts.cost, prototypes.shape, n_classes, rate)
    state = TrainingState(parts.cost, rule, units, statistics, 0.0, random_state, parts.start, variances, moments)
    return Training(params, labels, link, state)


def _first_units(plain: Objective, parts: Parts, params: Params, samples: ArraySamples) -> Units:
    """The spread of the data in the starting metric; rules in the plain metric have rates without a unit."""
    without = isinstance(parts.cost, WinnerRule | WindowRule) and type(parts.relevance) is Relevance
    if without and isinstance(parts.kernel, Identity) and samples.n_samples >= MIN_UNIT_SAMPLES:
        return Units(1.0, 1.0, float(samples.n_samples))
    return units_of(plain, Relevance(), params, samples.thinned())


def _rows_for(rule: Relevance, samples: ArraySamples) -> Block:
    """What a metric starts from; without a matrix only the number of features counts, and no sample is moved."""
    if type(rule) is Relevance or isinstance(rule, VectorRelevance | LocalDiagonalRelevance):
        return Block(samples.X, samples.y, samples.weight)
    return samples.metric_rows()


def restarted(
    parts: Parts, training: Training, n_samples: int, n_classes: int, random_state: np.random.RandomState
) -> Training:
    """A warm start: the parameters of the last fit, which no solver may use up, with new statistics."""
    n_prototypes, n_features = training.params.prototypes.shape
    rule = parts.relevance.for_data(n_samples, n_features, n_prototypes)
    rule = rule.for_online(n_features) if parts.solver == "online" else rule
    rule = rule.in_units(training.state.units.variance)
    shape, rate = training.params.prototypes.shape, parts.online.learning_rate
    statistics = new_statistics(rule, parts.cost, shape, n_classes, rate)
    before = training.state
    known = before.variances, before.moments
    state = TrainingState(parts.cost, rule, before.units, statistics, 0.0, random_state, parts.start, *known)
    W = training.params.prototypes.view()
    W.flags.writeable = False
    return replace(training, params=training.params._replace(prototypes=W), state=state)


def run(parts: Parts, training: Training, samples: ArraySamples, report: Report) -> tuple[Training, Result]:
    """Train by the solver of the parts; with few samples of many features in coordinates of their span."""
    metric = training.state.relevance.metric(training.labels)
    # Adam scales every coordinate, and a structure is one of the features
    structured = getattr(training.state.relevance, "structure", UNSTRUCTURED) != UNSTRUCTURED
    space = None if parts.solver == "adam" or structured else sample_space(samples, metric)
    params = None if space is None else space.inside(training.params)
    if space is None or params is None:
        return _solve(parts, training, samples, report)
    found, result = _solve(parts, replace(training, params=params), space.samples(samples), report)
    params = space.outside(found.params)
    return replace(found, params=params), result._replace(params=params)


def _solve(parts: Parts, training: Training, samples: ArraySamples, report: Report) -> tuple[Training, Result]:
    if parts.solver == "online":
        return run_online(parts, training, samples, report)
    return run_batch(parts, training, samples, report)


def run_online(
    parts: Parts, training: Training, samples: ArraySamples, report: Report, *, stream: bool = False
) -> tuple[Training, Result]:
    """Train sample by sample."""
    params = training.params if parts.learns_width else training.params._replace(width=None)
    result, state = online.train(
        training.objective(), params, samples, parts.online, training.state, report, stream=stream
    )
    return training.with_result(result, state), result


def run_batch(parts: Parts, training: Training, samples: ArraySamples, report: Report) -> tuple[Training, Result]:
    """Train by L-BFGS or Adam, where the samples are."""
    centre, state = samples.centre(), training.state
    objective = training.objective()
    objective = replace(objective, metric=samples.measured(objective.metric, state.variances))
    unit, given = float(np.sqrt(state.units.step)), training.params
    single = parts.solver == "lbfgs" and lbfgs.in_single(given, samples, unit, parts.batch.tol)
    arranged = samples.arranged(centre, single=single)
    objective, params = beside_samples(objective, given, arranged.X)
    relevance = None if params.relevance is None else like(params.relevance, arranged.X)
    width = params.width if parts.learns_width else None
    params = Params(like(params.prototypes - centre, arranged.X), relevance, width)
    feature_unit = float(np.sqrt(state.units.variance))
    objective = objective.with_groups(params, arranged.X)
    problem = Problem(objective, state.relevance, unit, parts.fixed_prototypes, feature_unit)
    if parts.solver == "lbfgs":
        settings = parts.batch.max_iter, parts.batch.tol
        result = lbfgs.train(problem, params, arranged, *settings, report, parts.max_runs)
    else:
        result = adam.train(problem, params, arranged, parts.batch, state.random_state, report)
    W, R, learned = (as_numpy(part) for part in result.params)
    W, R = like(W, given.prototypes) + as_numpy(centre), None if R is None else like(R, given.relevance)
    params = Params(W, R, None if learned is None else float(learned))
    result = result._replace(params=params)
    return training.with_result(result, state), result


def fitted_model(
    training: Training,
    parts: Parts,
    classes: np.ndarray,
    names: Iterable[object] | None,
    samples: ArraySamples | None,
    temperature: float = 1.0,
) -> PrototypeModel:
    """The model as frozen arrays and parts; with samples also the importances of features."""
    params, cost = training.params, training.state.scaled_cost(training.params.prototypes.dtype)
    xi = getattr(cost, "xi", None)
    xi = None if xi is None else float(xi)
    rule = DecisionRule(xi, parts.sharpness, isinstance(cost, SoftCost), parts.by_posterior, temperature)
    metric = training.state.relevance.metric(training.labels)
    model = PrototypeModel(
        prototypes=params.prototypes,
        labels=training.labels,
        classes=classes,
        metric=metric,
        relevance=params.relevance,
        link=training.link,
        decision=rule,
        feature_names=None if names is None else tuple(str(name) for name in names),
        variances=training.state.variances,
    )
    if params.relevance is None or samples is None:
        return model
    return replace(model, importances=feature_importances(model, samples))
