"""Every metric x link x cost: the objective's gradient equals finite differences, to a relative error of 1e-5.

The objective has kinks where the nearest own or the nearest other prototype changes. Samples near a kink are left out
when the problem is built, so that no step of the differences crosses one.
"""

from dataclasses import fields
from itertools import product

import numpy as np
import pytest

from lvq.model.costs import COSTS, GLVQCost, MarginCost
from lvq.model.links import KERNELS, Identity, RationalQuadratic
from lvq.model.objective import Objective, Params
from lvq.model.relevance import RELEVANCES, LocalDiagonalRelevance, MatrixRelevance, Relevance

LABELS = np.array([0, 0, 1, 1, 2])
FEATURES = 3
STEP = 1e-4
SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2)))


def costs():
    """Every registered cost with and without each of its options."""
    found = []
    for name, kind in COSTS.items():
        options = {field.name for field in fields(kind)}
        xi = {"xi": 0.4} if "xi" in options else {}
        found += [(name, kind(**xi)), (f"{name} alpha", kind(**xi, alpha=0.3))]
    return [*found, ("glvq sigmoid", GLVQCost(slope=3.0)), ("glvq sigmoid alpha", GLVQCost(alpha=0.3, slope=3.0))]


def links():
    """No kernel, and every registered one."""
    found = [("identity", Identity())] + [(name, kind(width=1.7)) for name, kind in KERNELS.items()]
    return [*found, ("rational_quadratic shape", RationalQuadratic(width=1.7, shape=2.5))]


def relevances():
    """Every registered shape of the metric once, and matrices of lower rank and per prototype."""
    shapes = {"plain": Relevance()} | {name: kind() for name, kind in RELEVANCES.items()}
    found = {type(rule.metric(LABELS)): (name, rule) for name, rule in reversed(shapes.items())}
    return [
        *reversed(found.values()),
        ("matrix rank 2", MatrixRelevance(rank=2)),
        ("matrix per class rank 1", MatrixRelevance(rank=1, local="class")),
        ("matrix per prototype", MatrixRelevance(local="prototype")),
        ("matrix per prototype rank 2", MatrixRelevance(rank=2, local="prototype")),
        ("weights per prototype", LocalDiagonalRelevance(local="prototype")),
    ]


def random_metric(rng, relevance, shape):
    """Random parameters of a metric, not negative where they are weights of features."""
    matrices = isinstance(relevance, MatrixRelevance)
    return rng.normal(size=shape) / 2 if matrices else rng.uniform(0.2, 1.0, shape)


def problem(seed, relevance, count=10):
    """Parameters, and samples whose two nearest own and two nearest other prototypes are clearly apart."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(len(LABELS), FEATURES))
    R = relevance.start(W, LABELS, np.ones(len(W)), LABELS)
    if R is not None:
        R = random_metric(rng, relevance, R.shape)
    X, y = np.empty((0, FEATURES)), np.empty(0, dtype=int)
    while len(X) < count:
        x, label = rng.normal(size=(1, FEATURES)) * 1.5, rng.integers(0, 3)
        D = relevance.metric(LABELS).distances(x, W, R)[0]
        own, other = np.sort(D[label == LABELS]), np.sort(D[label != LABELS])
        # a step of 1e-4 in one number moves a distance by far less than this
        if min(own[0], other[0]) > 0.05 and np.diff(own[:2]).min(initial=1) > 0.05 and other[1] - other[0] > 0.05:
            X, y = np.vstack((X, x)), np.append(y, label)
    return Params(W, R, None), X, y, rng.uniform(0.5, 2.0, count)


def differences(function, start):
    """Central differences by every number of an array."""
    gradient = np.empty(start.size)
    for index in range(start.size):
        values = []
        for step in (-STEP, STEP):
            moved = start.copy()
            moved.flat[index] += step
            values.append(function(moved))
        gradient[index] = (values[1] - values[0]) / (2 * STEP)
    return gradient.reshape(start.shape)


def relative_error(ours, theirs):
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


def chosen_links():
    """Every cost and relevance rule without a kernel and with one, in turn; the slow cases take all links."""
    found, kernels = [], links()[1:]
    for number, ((cost_name, cost), (rule_name, rule)) in enumerate(product(costs(), relevances())):
        chosen = [links()[0], kernels[number % len(kernels)]]
        found.append(pytest.param(cost, rule, chosen, id=f"{cost_name}-{rule_name}"))
        found.append(pytest.param(cost, rule, links(), id=f"{cost_name}-{rule_name}-all", marks=pytest.mark.slow))
    return found


@pytest.mark.parametrize(("cost", "relevance", "chosen"), chosen_links())
def test_gradient_equals_finite_differences(cost, relevance, chosen):
    for seed, (name, link) in enumerate(chosen):
        params, X, y, weight = problem(seed, relevance)
        width = None if name == "identity" else 1.3
        at = params._replace(width=width)
        objective = Objective(relevance.metric(LABELS), link, cost, LABELS)
        value, gradient = objective.value_and_gradient(at, X, y, weight)

        def evaluate(at, objective=objective, X=X, y=y, weight=weight):
            H = objective.linked(at).value(objective.metric.distances(X, at.prototypes, at.relevance))
            return weight @ objective.cost.value_and_derivative(H, y, LABELS)[0] / weight.sum()

        assert value == pytest.approx(evaluate(at), rel=1e-14)
        by_prototype = differences(lambda W, at=at: evaluate(at._replace(prototypes=W)), at.prototypes)
        assert relative_error(gradient.prototypes, by_prototype) < 1e-5, name
        assert gradient.prototypes.shape == params.prototypes.shape
        if params.relevance is None:
            assert gradient.relevance is None
        else:
            by_relevance = differences(lambda R, at=at: evaluate(at._replace(relevance=R)), at.relevance)
            assert relative_error(gradient.relevance, by_relevance) < 1e-5, name
            assert gradient.relevance.shape == params.relevance.shape
        if width is None:
            assert gradient.width is None
        else:
            by_width = differences(lambda log, at=at: evaluate(at._replace(width=np.exp(log[0]))), np.log([width]))
            assert relative_error(gradient.width, by_width) < 1e-5, name


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cost", [cost for _, cost in costs()], ids=[name for name, _ in costs()])
def test_weights_are_copies_and_only_their_ratios_count(cost, seed):
    """The objective is the weighted mean of the samples' costs."""
    params, X, y, _ = problem(seed, Relevance())
    copies = np.random.default_rng(seed).integers(1, 4, len(X))
    objective = Objective(Relevance().metric(LABELS), Identity(), cost, LABELS)
    value, gradient = objective.value_and_gradient(params, X, y, copies.astype(float))
    many, expected = objective.value_and_gradient(params, X.repeat(copies, 0), y.repeat(copies), np.ones(copies.sum()))
    scaled, same = objective.value_and_gradient(params, X, y, copies * 7.0)
    np.testing.assert_allclose([value, scaled], many, rtol=1e-13)
    np.testing.assert_allclose(gradient.prototypes, expected.prototypes, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(gradient.prototypes, same.prototypes, rtol=1e-11, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("relevance", [rule for _, rule in relevances()], ids=[name for name, _ in relevances()])
@pytest.mark.parametrize("cost", [cost for _, cost in costs()], ids=[name for name, _ in costs()])
def test_blocks_and_the_order_of_samples_do_not_matter(cost, relevance, seed):
    params, X, y, weight = problem(seed, relevance)
    params = params._replace(width=1.3)
    order = np.argsort(y, kind="stable")
    parts = relevance.metric(LABELS), RationalQuadratic(shape=2.5), cost, LABELS
    value, gradient = Objective(*parts).value_and_gradient(params, X, y, weight)
    sliced = Objective(*parts, memory=1).value_and_gradient(params, X, y, weight)
    ordered = Objective(*parts).value_and_gradient(params, X[order], y[order], weight[order])
    for other, other_gradient in (sliced, ordered):
        np.testing.assert_allclose(other, value, rtol=1e-12)
        for ours, theirs in zip(other_gradient, gradient):
            if theirs is not None:
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_width_in_the_parameters_replaces_that_of_the_link(seed):
    params, X, y, weight = problem(seed, Relevance())
    for kind in KERNELS.values():
        learned = Objective(Relevance().metric(LABELS), kind(width=9.0), GLVQCost(), LABELS)
        fixed = Objective(Relevance().metric(LABELS), kind(width=0.8), GLVQCost(), LABELS)
        value, gradient = learned.value_and_gradient(params._replace(width=0.8), X, y, weight)
        expected, other = fixed.value_and_gradient(params, X, y, weight)
        assert value == expected
        np.testing.assert_array_equal(gradient.prototypes, other.prototypes)


@pytest.mark.parametrize("kind", [kind for kind in COSTS.values() if issubclass(kind, MarginCost)])
def test_ties_go_to_the_lowest_index(kind):
    """Two own prototypes at one place, two others at another: only the first of each has a gradient."""
    W = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 0.0], [2.0, 0.0]])
    objective = Objective(Relevance().metric(LABELS), Identity(), kind(), np.array([0, 0, 1, 1]))
    _, gradient = objective.value_and_gradient(Params(W), np.array([[1.0, 0.0]]), np.array([0]), np.ones(1))
    assert (gradient.prototypes != 0).any(axis=1).tolist() == [True, False, True, False]
