"""The function that batch solvers minimise: its gradient by the free parameters, for any blocks and threads."""

import tracemalloc

import numpy as np
import pytest

from lvq.model.costs import GLVQCost, LOGMCost, RSLVQCost
from lvq.model.links import Gaussian, Identity
from lvq.model.metrics import Euclidean
from lvq.model.objective import Objective, Params
from lvq.model.relevance import (
    GradientRelevance,
    LocalDiagonalRelevance,
    LocalScaleRelevance,
    MatrixRelevance,
    Relevance,
)
from lvq.model.samples import ArraySamples
from lvq.solvers.batch import Problem
from lvq.solvers.threads import thread_map

LABELS = np.array([0, 0, 1, 1, 2])
FEATURES = 3
RULES = {
    "plain": Relevance(),
    "lambda": GradientRelevance(),
    "unit trace": MatrixRelevance(),
    "unit trace, determinant": MatrixRelevance(rank=2, log_determinant=0.3),
    "free size": MatrixRelevance(unit_trace=False, ridge=0.2),
    "free size, determinant": MatrixRelevance(unit_trace=False, ridge=0.2, log_determinant=0.3, rank=2),
    "of a class": MatrixRelevance(local="class", log_determinant=0.3),
    "of a prototype": MatrixRelevance(local="prototype", rank=2),
    "of a prototype, free size": MatrixRelevance(local="prototype", unit_trace=False, ridge=0.2),
    "lambda of a class": LocalDiagonalRelevance(),
    "lambda of a prototype, free size": LocalDiagonalRelevance(local="prototype", unit_trace=False, ridge=0.2),
    "scale of a prototype": LocalScaleRelevance(local="prototype", ridge=0.2),
}
COSTS = {"glvq": GLVQCost(0.1, 3.0), "logm": LOGMCost(0.1, 0.7), "rslvq": RSLVQCost(0.1, 0.7)}


def draw(seed, problem, count=12):
    """Free parameters, and samples that are not near a tie of own or of other prototypes."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(len(LABELS), FEATURES)) / problem.unit
    R = problem.relevance.start(rng.normal(size=(5, FEATURES)), LABELS, np.ones(5), LABELS)
    free = Params(W, None if R is None else rng.normal(size=R.shape), -0.3)
    params = problem.params(free)
    X, y = rng.normal(size=(40 * count, FEATURES)) * 1.5, rng.integers(0, 3, 40 * count)
    D = problem.objective.metric.distances(X, params.prototypes, params.relevance)
    mine = y[:, None] == LABELS
    own, other = np.sort(np.where(mine, D, np.inf)), np.sort(np.where(mine, np.inf, D))
    gap = 0.01 * D.mean()
    with np.errstate(invalid="ignore"):
        alone = np.isinf(own[:, 1])
        clear = np.flatnonzero((alone | (own[:, 1] - own[:, 0] > gap)) & (other[:, 1] - other[:, 0] > gap))[:count]
    assert len(clear) == count
    samples = ArraySamples(X[clear], y[clear], rng.uniform(0.5, 2.0, count))
    return free, samples.arranged(np.zeros(FEATURES))


def assert_same(one, other):
    np.testing.assert_allclose(one[0], other[0], rtol=1e-12)
    for ours, theirs in zip(one[1], other[1]):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(("seed", "unit"), [(0, 3.5), pytest.param(1, 1.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("rule", RULES)
def test_gradient_by_the_free_parameters(rule, cost, seed, unit):
    """Unit, squares of lambda, unit trace, penalties and the logarithm of a width, all by central differences."""
    objective = Objective(RULES[rule].metric(LABELS), Gaussian(), COSTS[cost], LABELS)
    problem = Problem(objective, RULES[rule], unit, feature_unit=unit / 5)
    free, data = draw(seed, problem)
    _, gradient = problem.value_and_gradient(free, data)
    for part, name in enumerate(Params._fields):
        if free[part] is None:
            assert gradient[part] is None
            continue
        start = np.atleast_1d(np.asarray(free[part], dtype=float))
        expected = np.empty(start.size)
        for index in range(start.size):
            values = []
            for step in (-1e-5, 1e-5):
                moved = start.copy()
                moved.flat[index] += step
                moved = float(moved[0]) if name == "width" else moved
                values.append(problem.value_and_gradient(free._replace(**{name: moved}), data)[0])
            expected[index] = (values[1] - values[0]) / 2e-5
        assert np.shape(gradient[part]) == np.shape(free[part])
        scale = max(np.abs(expected).max(), 1e-3)
        np.testing.assert_allclose(np.ravel(gradient[part]), expected, rtol=0, atol=2e-6 * scale, err_msg=name)


@pytest.mark.parametrize("rule", RULES)
def test_free_parameters_are_inverted(rule):
    relevance = RULES[rule]
    rng = np.random.default_rng(2)
    problem = Problem(Objective(relevance.metric(LABELS), Gaussian(), LOGMCost(), LABELS), relevance, 2.5)
    R = relevance.start(rng.normal(size=(20, FEATURES)), np.arange(20) % 3, np.ones(20), LABELS)
    R = R if R is None else relevance.constrained(R * rng.uniform(0.5, 2, R.shape))
    params = Params(rng.normal(size=(5, FEATURES)), R, 0.7)
    back = problem.params(problem.free(params))
    np.testing.assert_allclose(back.prototypes, params.prototypes, rtol=1e-14)
    assert back.width == pytest.approx(0.7, rel=1e-14)
    if R is not None:
        np.testing.assert_allclose(back.relevance, R, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("rule", ["lambda", "unit trace", "of a class"])
def test_constraints_hold_for_any_free_parameters(rule):
    """Numbers of any size and sign."""
    rng = np.random.default_rng(0)
    start = RULES[rule].start(rng.normal(size=(20, FEATURES)), np.arange(20) % 3, np.ones(20), LABELS)
    for scale in (1e-3, 1.0, 1e3):
        R = RULES[rule].constrained(scale * rng.normal(size=start.shape))
        if R.ndim == 1:
            assert R.min() >= 0
            assert R.sum() == pytest.approx(1)
        else:
            np.testing.assert_allclose((R * R).sum((-2, -1)), 1)


@pytest.mark.parametrize("rule", ["free size", "free size, determinant", "of a prototype, free size"])
def test_penalty_is_the_formula(rule):
    """ridge |Omega|^2 - log_determinant/2 log det(Omega Omega'), added to the mean cost; summed over the matrices."""
    relevance = RULES[rule]
    objective = Objective(relevance.metric(LABELS), Identity(), LOGMCost(), LABELS)
    problem = Problem(objective, relevance)
    free, data = draw(4, problem)
    free = free._replace(width=None)
    bare = objective.value_and_gradient(free, data.X, data.y, data.weight)[0]
    expected = 0.0
    for omega in np.reshape(free.relevance, (-1, *free.relevance.shape[-2:])):
        expected += relevance.ridge * np.square(omega).sum()
        expected -= relevance.log_determinant / 2 * np.log(np.linalg.det(omega @ omega.T))
    assert problem.value_and_gradient(free, data)[0] - bare == pytest.approx(expected, rel=1e-10)


def large(count=20_000, prototypes=30, features=5, cost=None, memory=256 * 2**20):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), prototypes // 3)
    y = np.sort(rng.integers(0, 3, count))
    problem = Problem(Objective(Euclidean(), Gaussian(), cost or GLVQCost(), labels, memory), Relevance(), 1.5)
    data = ArraySamples(rng.normal(size=(count, features)), y, np.full(count, 1 / count))
    return problem, Params(rng.normal(size=(len(labels), features))), data


@pytest.mark.parametrize("cost", [GLVQCost(), RSLVQCost()], ids=["margin", "soft"])
def test_threads_do_not_change_a_bit(cost):
    problem, free, data = large(cost=cost)
    assert problem.n_blocks(free, data) >= 2
    one = problem.value_and_gradient(free, data)
    with thread_map(3) as mapping:
        many = problem.value_and_gradient(free, data, mapping)
    assert many[0] == one[0]
    np.testing.assert_array_equal(many[1].prototypes, one[1].prototypes)


@pytest.mark.parametrize("memory", [1, 4000, 100_000])
def test_the_size_of_blocks_does_not_change_the_result(memory):
    problem, free, data = large(count=500)
    small, _, _ = large(count=500, memory=memory)
    assert small.n_blocks(free, data) > problem.n_blocks(free, data) == 1
    assert_same(small.value_and_gradient(free, data), problem.value_and_gradient(free, data))


def test_threads_share_one_memory_budget():
    """Blocks that are in memory at the same time fit together: the budget is that of an evaluation."""
    problem, free, data = large(count=6000, prototypes=1500, memory=8 * 2**20)
    with thread_map(4) as mapping:
        tracemalloc.start()
        try:
            problem.value_and_gradient(free, data, mapping)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 1.2 * 8 * 2**20
