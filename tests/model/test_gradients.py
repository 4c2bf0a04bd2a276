"""Every metric x link x cost: the objective's gradient equals finite differences, to a relative error of 1e-5.

The objective has kinks where the nearest own or the nearest other prototype changes. Samples near a kink are left out
when the problem is built, so that no step of the differences crosses one.
"""

from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest

from lvq.model.costs import COSTS, GLVQCost, LOGMCost, RSLVQCost
from lvq.model.links import KERNELS, Gaussian, Identity, RationalQuadratic
from lvq.model.local_metrics import PARAMETER_AXES
from lvq.model.objective import BlockObjective, Objective, Params, Problem
from lvq.model.observed import Observed
from lvq.model.relevance import RELEVANCES, DataScale, Matrix, Relevance, Weights
from lvq.model.samples import ArraySamples
from tests.model.formulas import differences, distances, value_and_gradient
from tests.model.test_relevance import SMOOTH

LABELS = np.array([0, 0, 1, 1, 2])
FEATURES = 3
COST_MATRIX = np.array([[0.0, 3.0, 0.5], [1.0, 0.0, 0.1], [2.0, 7.0, 0.0]])


def costs():
    """Every registered cost with and without each of its options."""
    found = {}
    for name, cost in COSTS.items():
        options = {field.name for field in fields(cost)}
        found[name] = cost = replace(cost, xi=0.4) if "xi" in options else cost
        if "alpha" in options:
            found[f"{name} alpha"] = replace(cost, alpha=0.3)
        if "cost_matrix" in options:
            found[f"{name} costs"] = replace(found.get(f"{name} alpha", cost), cost_matrix=COST_MATRIX)
    return found | {"glvq sigmoid": GLVQCost(slope=3.0), "glvq sigmoid alpha": GLVQCost(alpha=0.3, slope=3.0)}


def links():
    """No kernel, and every registered one."""
    found = {"identity": Identity()} | {name: kernel.with_width(1.7) for name, kernel in KERNELS.items()}
    return found | {"rational_quadratic shape": RationalQuadratic(width=1.7, shape=2.5)}


def relevances():
    """Every registered shape of the metric once, and matrices of lower rank and of each prototype."""
    shapes = {"plain": Relevance()} | RELEVANCES
    found = {type(rule.metric(LABELS)): (name, rule) for name, rule in reversed(shapes.items())}
    return dict(reversed(found.values())) | {
        "matrix rank 2": Matrix(rank=2),
        "matrix per class rank 1": Matrix(rank=1, local="class"),
        "matrix per prototype": Matrix(local="prototype"),
        "matrix per prototype rank 2": Matrix(rank=2, local="prototype"),
        "weights per prototype": Weights(local="prototype"),
    }


def random_params(rng, relevance, labels=LABELS, n_features=FEATURES):
    """Prototypes and random parameters of the metric, not negative where they are weights of features."""
    W = rng.normal(size=(len(labels), n_features))
    R = relevance.start(ArraySamples(W, labels, np.ones(len(W))), labels)
    if R is not None:
        R = rng.normal(size=R.shape) / 2 if isinstance(relevance, Matrix) else rng.uniform(0.2, 1.0, R.shape)
    return Params(W, R)


class Case:
    """Parameters, and samples whose two nearest prototypes of each class, and of all other classes, are clearly apart.

    With missing values, the last sample has none at all, and no gradient.
    """

    def __init__(self, seed, relevance, missing=False, count=10, n_features=FEATURES, params=None):
        rng = np.random.default_rng(seed)
        self.plain = relevance.metric(LABELS)
        self.params = random_params(rng, relevance, LABELS, n_features) if params is None else params
        missing = missing and type(self.plain) in PARAMETER_AXES  # others need all values
        self.variances = rng.uniform(0.5, 2, n_features)
        self.metric = Observed(self.plain, self.variances) if missing else self.plain
        X, y = np.empty((0, n_features)), np.empty(0, dtype=int)
        while len(X) < count:
            x, label = rng.normal(size=(1, n_features)) * 1.5, rng.integers(0, 3)
            x[0, rng.random(n_features) < 0.4 * missing] = np.nan
            D = distances(self.plain, x, *self.params[:2], self.variances)[0]
            own, other = np.sort(D[label == LABELS]), np.sort(D[label != LABELS])
            within = min(np.diff(np.sort(D[k == LABELS])[:2]).min(initial=1) for k in range(3))
            # a step of 1e-5 in one number moves a distance by far less than this
            if min(own[0], other[0], within, other[1] - other[0]) > 0.05:
                X, y = np.vstack((X, x)), np.append(y, label)
        if missing:
            X, y = np.vstack((X, np.full((1, n_features), np.nan))), np.append(y, 0)
        self.X, self.y, self.weight = X, y, rng.uniform(0.5, 2.0, len(X))

    def objective(self, link, cost):
        return Objective(self.metric, link, cost, LABELS)

    def evaluate(self, objective, at):
        """The mean cost by the formulas."""
        D = distances(self.plain, self.X, at.prototypes, at.relevance, self.variances)
        costs, _ = objective.cost.value_and_derivative(BlockObjective(objective, at).link.value(D), self.y, LABELS)
        return self.weight @ costs / self.weight.sum()


def relative_error(ours, theirs):
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


def combinations():
    """Every pair of a cost and a rule with a link, on complete or incomplete rows, in turn; all of them are slow."""
    names = list(product(costs(), relevances()))
    for number, (cost, rule) in enumerate(names):
        every = list(links().items())
        step = number + number // len(relevances())  # so that neither costs nor rules always meet the same link
        chosen, missing = [every[step % len(every)]], bool(step // len(every) % 2)
        yield pytest.param(costs()[cost], relevances()[rule], chosen, missing, id=f"{cost}-{rule}")
        for missing in (False, True):
            name = f"{cost}-{rule}-{'missing' if missing else 'complete'}"
            yield pytest.param(costs()[cost], relevances()[rule], every, missing, id=name, marks=pytest.mark.slow)


@pytest.mark.parametrize(("cost", "relevance", "chosen", "missing"), list(combinations()))
def test_gradient_equals_finite_differences(cost, relevance, chosen, missing):
    for seed, (name, link) in enumerate(chosen):
        case = Case(seed, relevance, missing)
        at = case.params._replace(width=None if name == "identity" else 1.3)
        objective = case.objective(link, cost)
        value, gradient = value_and_gradient(objective, at, case.X, case.y, case.weight)
        assert value == pytest.approx(case.evaluate(objective, at), rel=1e-12)
        for part, start in at._asdict().items():
            ours = getattr(gradient, part)
            if start is None:
                assert ours is None
                continue

            def moved(values, part=part, case=case, objective=objective, at=at):
                values = float(np.exp(values)) if part == "width" else values
                return case.evaluate(objective, at._replace(**{part: values}))

            expected = differences(moved, np.array(np.log(start)) if part == "width" else start, 1e-5)
            assert np.shape(ours) == np.shape(start)
            assert relative_error(ours, expected) < 1e-5, (name, part)


# -- by the free parameters of batch solvers ---------------------------------------------------------------------------

FREE_COSTS = {"glvq": GLVQCost(0.1, 3.0), "logm": LOGMCost(0.1, 0.7), "rslvq": RSLVQCost(0.1, 0.7)}


def draw(problem):
    """Free parameters, and samples that are not near a tie of own or of other prototypes."""
    rng, rule = np.random.default_rng(0), problem.relevance
    R = rule.start(ArraySamples(rng.normal(size=(5, 4)), LABELS, np.ones(5)), LABELS)
    W = rng.normal(size=(len(LABELS), 4)) / problem.unit
    free = Params(W, None if R is None else rng.normal(size=R.shape), -0.3)
    case = Case(0, rule, count=12, n_features=4, params=problem.params(free))
    return free, ArraySamples(case.X, case.y, case.weight).arranged(np.zeros(4))


@pytest.mark.parametrize(("rule", "cost"), list(zip(["plain", *SMOOTH], 9 * [*FREE_COSTS])))
def test_gradient_by_the_free_parameters(rule, cost):
    """Unit, squares of lambda, unit size, penalties and the logarithm of a width, all by central differences."""
    relevance = SMOOTH.get(rule, Relevance())
    objective = Objective(relevance.metric(LABELS), Gaussian(), FREE_COSTS[cost], LABELS)
    problem = Problem(objective, relevance, 3.5, DataScale(2.5, 700))
    free, data = draw(problem)
    params = problem.params(free)
    for one, other in zip(problem.params(problem.free(params)), params):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)
    _, gradient = problem.value_and_gradient(free, data)
    for name, at in free._asdict().items():
        ours = getattr(gradient, name)
        if at is None:
            assert ours is None
            continue

        def value(values, name=name):
            values = float(values) if name == "width" else values
            return problem.value_and_gradient(free._replace(**{name: values}), data)[0]

        expected = differences(value, np.array(at), 1e-5)
        assert np.shape(ours) == np.shape(at)
        scale = max(np.abs(expected).max(), 1e-3)
        np.testing.assert_allclose(ours, expected, rtol=0, atol=2e-6 * scale, err_msg=name)


def test_a_fixed_metric_has_no_gradient():
    problem = Problem(Objective(Matrix().metric(LABELS), Identity(), GLVQCost(), LABELS), Matrix())
    free, data = draw(problem)
    free = free._replace(width=None)
    value, gradient = problem.value_and_gradient(free, data)
    same, other = replace(problem, fixed_relevance=True).value_and_gradient(free, data)
    assert value == same
    assert not other.relevance.any()
    np.testing.assert_array_equal(other.prototypes, gradient.prototypes)
