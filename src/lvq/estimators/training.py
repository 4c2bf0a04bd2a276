"""From parts and samples to a fitted model: start, units, solver. Pure functions; no estimator is changed here.

A `Training` is a model during training: parameters, labels and link, and the solver's state. Each function takes one
and returns a new one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from lvq.estimators.specification import Parts
from lvq.model.costs import CrossEntropyCost, SoftCost, counts_steps
from lvq.model.importance import feature_importances
from lvq.model.links import Identity, Kernel, Link
from lvq.model.metrics import Metric
from lvq.model.objective import Objective, Params, Problem, sample_space
from lvq.model.observed import Observed
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import DataScale, Matrix, Relevance
from lvq.model.rows import as_numpy, has_missing, like, unit_rows
from lvq.model.samples import ArraySamples, FeatureMoments, filled, typical_variance
from lvq.model.scores import DecisionRule
from lvq.solvers import adam, lbfgs, online
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.state import Report, Result, TrainingState, new_statistics, spread_of, stretched

MEANS = ("means", "kmeans")  # starts that are means of samples


@dataclass(frozen=True)
class Training:
    """A model during training."""

    params: Params
    labels: np.ndarray
    link: Link
    state: TrainingState

    def objective(self, samples: ArraySamples) -> Objective:
        """Metric, link, cost in plain numbers, and labels."""
        metric = metric_for(self.state.relevance.metric(self.labels), samples, self.state.variances)
        return Objective(metric, self.link, self.state.scaled_cost(), self.labels)

    def with_result(self, result: Result, state: TrainingState) -> "Training":
        """After a solver's run; a width that was not learned stays."""
        params = result.params
        if params.width is None:
            params = params._replace(width=self.params.width)
        link = self.link
        if isinstance(link, Kernel) and params.width is not None:
            link = link.with_width(float(params.width))
        return replace(self, params=params, link=link, state=state)


def metric_for(metric: Metric, samples: ArraySamples, variances: np.ndarray | None) -> Metric:
    """The metric over observed features where some samples have missing values; else the metric itself."""
    if variances is None or not samples.in_memory or not has_missing(samples.X):
        return metric
    return Observed(metric, variances)


def begin(
    parts: Parts,
    samples: ArraySamples,
    prototypes: np.ndarray,
    labels: np.ndarray,
    n_classes: int,
    random_state: np.random.RandomState,
    *,
    stream: bool = False,
) -> Training:
    """Starting metric and kernel, and then, once, the units that make the rest independent of scale."""
    rule, known = parts.relevance, filled(samples) if samples.in_memory else samples
    moments = samples.reduce(FeatureMoments.of, samples.block_rows()) if parts.ignores_missing else None
    variances = None if moments is None else moments.variances()
    metric = metric_for(rule.metric(labels), samples, variances)
    params = Params(prototypes, rule.start(known, labels, stream=stream), None)
    link, units = parts.kernel, spread_of(metric, params, samples)
    if rule.free_size:  # it starts at a mean smallest squared distance of one
        assert params.relevance is not None
        params = params._replace(relevance=rule.scaled(params.relevance, 1 / units.step))
        units = units._replace(step=1.0, link=1.0)
    if isinstance(link, Kernel):
        width = float(np.sqrt(units.step)) if isinstance(link.width, str) else float(link.width)
        link, params = link.with_width(width), params._replace(width=width)
    if not isinstance(link, Identity):
        units = spread_of(metric, params, samples, link)
    variance = typical_variance(known) if rule.free_size else 1.0  # what a ridge is measured in
    units = stretched(units, rule, params)._replace(scale=DataScale(variance, known.n_samples))
    statistics = new_statistics(rule, parts.cost, prototypes.shape, n_classes, parts.online.learning_rate)
    init = dict(parts.start).get("init")
    are_means = isinstance(init, str) and init in MEANS and not parts.is_online
    given = variances, moments, prototypes if are_means else None
    state = TrainingState(parts.cost, rule, units, statistics, 0.0, random_state, parts.start, *given)
    return Training(params, labels, link, state)


def restarted(parts: Parts, training: Training, samples: ArraySamples, random_state: np.random.RandomState) -> Training:
    """A warm start: the parameters of the last fit, with new statistics."""
    rule, before = parts.relevance, training.state
    shape, rate = training.params.prototypes.shape, parts.online.learning_rate
    statistics = new_statistics(rule, parts.cost, shape, len(before.statistics.seen), rate)
    units = before.units._replace(scale=before.units.scale._replace(n_samples=samples.n_samples))
    known = before.variances, before.moments, before.starts
    state = TrainingState(parts.cost, rule, units, statistics, 0.0, random_state, parts.start, *known)
    return replace(training, state=state)


def run(parts: Parts, training: Training, samples: ArraySamples, report: Report) -> tuple[Training, Result]:
    """Train by the solver of the parts; with few samples of many features in coordinates of their span."""
    rule = training.state.relevance
    if parts.max_iter == 0 or (parts.is_online and _only_prototypes(training)):
        return training, Result(training.params, 0, [], converged=True)
    # Adam scales every coordinate; a structure, a shrinkage to the identity and rules of the user's own are of features
    of_features = type(rule) not in (Relevance, Matrix) or getattr(rule, "feature_groups", None) is not None
    of_features = of_features or any(getattr(rule, name, 0) for name in ("smoothness", "shrinkage"))
    outside = isinstance(parts.solver, Adam) or of_features or parts.unit_length
    space = None if outside else sample_space(samples, rule.metric(training.labels))
    params = None if space is None else space.inside(training.params)
    solve = run_online if parts.is_online else _run_batch
    if space is None or params is None:
        return solve(parts, training, samples, report)
    found, result = solve(parts, replace(training, params=params), space.samples(samples), report)
    params = space.outside(found.params)
    return replace(found, params=params), result._replace(params=params)


def _only_prototypes(training: Training) -> bool:
    """Whether every sample is a prototype: a metric would only grow, so the cross-entropy learns prototypes alone.

    With one row a class they move away from rows of other classes, as far as the pull to their own allows.
    """
    return isinstance(training.state.cost, CrossEntropyCost) and not training.state.units.samples


def run_online(
    parts: Parts, training: Training, samples: ArraySamples, report: Report, *, stream: bool = False
) -> tuple[Training, Result]:
    """Train sample by sample."""
    params = training.params if parts.learns_width else training.params._replace(width=None)
    objective = replace(training.objective(samples), metric=training.state.relevance.metric(training.labels))
    result, state = online.train(
        objective, params, samples, 1 if stream else parts.max_iter, parts.online, training.state, report, stream=stream
    )
    return training.with_result(result, state), result


def _run_batch(parts: Parts, training: Training, samples: ArraySamples, report: Report) -> tuple[Training, Result]:
    """Train by L-BFGS or Adam, where the samples are."""
    solver, state, given, centre = parts.solver, training.state, training.params, samples.centre()
    unit = float(np.sqrt(state.units.step))
    single = isinstance(solver, LBFGS) and lbfgs.in_single(given, samples, unit, solver.tol)
    arranged = samples.arranged(centre, single=single)
    objective, params = training.objective(samples).beside(given, arranged, centre)
    params = params if parts.learns_width else params._replace(width=None)
    origin = like(centre, params.prototypes) if parts.unit_length else None
    fixed = _only_prototypes(training)
    problem = Problem(objective, state.relevance, unit, state.units.scale, fixed, origin)
    if isinstance(solver, LBFGS):
        result = lbfgs.train(problem, params, arranged, parts.max_iter, solver.tol, report, parts.max_runs)
    else:
        assert isinstance(solver, Adam)
        result = adam.train(problem, params, arranged, parts.max_iter, solver, state.random_state, report)
    W, R, learned = (as_numpy(part) for part in result.params)
    W, R = like(W, given.prototypes) + as_numpy(centre), None if R is None else like(R, given.relevance)
    W = unit_rows(W) if parts.unit_length else W
    result = result._replace(params=Params(W, R, None if learned is None else float(learned)))
    return training.with_result(result, state), result


def objective_value(training: Training, samples: ArraySamples) -> float:
    """The mean cost of samples with its penalty, as batch solvers minimise it; the cost of mu for a slope of "time"."""
    centre = samples.centre()
    arranged, objective = samples.arranged(centre), training.objective(samples)
    if counts_steps(objective.cost):
        objective = replace(objective, cost=replace(objective.cost, slope=0.0))  # type: ignore[type-var]
    objective, params = objective.beside(training.params, arranged, centre)
    problem = Problem(objective, training.state.relevance, scale=training.state.units.scale)
    return float(problem.value_and_gradient(problem.free(params._replace(width=None)), arranged)[0])


def fitted_model(
    training: Training,
    parts: Parts,
    classes: np.ndarray,
    names: Iterable[object] | None,
    samples: ArraySamples | None,
    temperature: float = 1.0,
) -> PrototypeModel:
    """The model as frozen arrays and parts; with samples also the importances of features."""
    params, cost = training.params, training.state.scaled_cost()
    xi = getattr(cost, "xi", None)
    xi = None if xi is None else float(xi)
    soft, log_probabilities = isinstance(cost, SoftCost), isinstance(cost, CrossEntropyCost)
    by_posterior = isinstance(parts.cost, SoftCost) and parts.cost.decision == "posterior"
    rule = DecisionRule(xi, parts.sharpness, soft, by_posterior, temperature, log_probabilities)
    model = PrototypeModel(
        prototypes=params.prototypes,
        labels=training.labels,
        classes=classes,
        metric=training.state.relevance.metric(training.labels),
        relevance=params.relevance,
        link=training.link,
        decision=rule,
        feature_names=None if names is None else tuple(str(name) for name in names),
        variances=training.state.variances,
        unit_length=parts.unit_length,
    )
    if params.relevance is None or samples is None:
        return model
    return replace(model, importances=feature_importances(model, samples))
