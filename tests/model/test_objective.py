"""The objective in any blocks, any order and little memory; its formula and gradient are in `test_gradients.py`."""

import pickle
import tracemalloc

import numpy as np
import pytest

from lvq.model import objective as module
from lvq.model.costs import CrossEntropyCost, GLVQCost, LOGMCost, RSLVQCost
from lvq.model.links import Gaussian, Identity, RationalQuadratic
from lvq.model.objective import BlockObjective, Objective, Params
from lvq.model.observed import Observed
from lvq.model.relevance import Matrix, Relevance, Weights
from lvq.model.samples import ArraySamples
from tests.model.formulas import value_and_gradient
from tests.model.test_gradients import random_params

LABELS = np.array([0, 0, 0, 1, 1, 2])
FEATURES = 4
COST_MATRIX = np.array([[0.0, 3.0, 0.5], [1.0, 0.0, 0.0], [2.0, 7.0, 0.0]])
RULES = {
    "plain": Relevance(),
    "weights": Weights(),
    "matrix": Matrix(),
    "matrix rank 2": Matrix(rank=2),
    "local matrix": Matrix(local="class"),
    "local weights": Weights(local="prototype"),
}


def draw(seed, relevance, count=60, labels=LABELS, n_features=FEATURES):
    """Parameters, and samples in no order of classes, of unequal weights."""
    rng = np.random.default_rng(seed)
    params = random_params(rng, relevance, labels, n_features)
    X, y, weight = rng.normal(size=(count, n_features)) * 1.5, rng.integers(0, 3, count), rng.uniform(0.5, 2.0, count)
    return params, ArraySamples(X, y, weight / weight.sum())


def assert_same(one, other, rtol=1e-9):
    """Equal values and gradients, to rounding."""
    (value, gradient), (expected, expected_gradient) = one, other
    np.testing.assert_allclose(value, expected, rtol=1e-11)
    for ours, theirs in zip(gradient, expected_gradient):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize(("relevance", "missing"), [(Matrix(), False), (Matrix(local="class"), True)])
def test_what_is_sent_is_of_the_size_of_the_parameters(relevance, missing):
    """Another process makes the rest anew."""
    labels = np.repeat([0, 1, 2], 4)
    params, block = draw(0, relevance, 40, labels, 32)
    metric = relevance.metric(labels)
    objective = Objective(Observed(metric, np.ones(32)) if missing else metric, Identity(), GLVQCost(), labels)
    if missing:
        block.X[np.random.default_rng(0).uniform(size=block.X.shape) < 0.1] = np.nan
    here = BlockObjective(objective, params)
    sent = pickle.dumps(here)
    assert len(sent) < sum(part.nbytes for part in params[:2] if part is not None) + 2_000
    one, other = here(block), pickle.loads(sent)(block)
    assert one.value == other.value
    for ours, theirs in zip(one.gradient, other.gradient):
        np.testing.assert_array_equal(ours, theirs)


def test_a_cost_matrix_multiplies_the_cost_above_its_minimum():
    """By hand: d+ = 4, d- = 1, mu = 3/5; with the factor 5 the cost is 5 (mu + 1) - 1."""
    W, labels = np.array([[2.0], [-1.0], [40.0]]), np.arange(3)
    factors = np.ones((3, 3))
    factors[0, 1] = 5.0
    objective = Objective(Relevance().metric(labels), Identity(), GLVQCost(cost_matrix=factors), labels)
    value, gradient = value_and_gradient(objective, Params(W), np.zeros((1, 1)), np.zeros(1, dtype=int), np.ones(1))
    assert value == pytest.approx(5 * 1.6 - 1)
    # de/dd+ = 2 d-/25, de/dd- = -2 d+/25; dd/dw = 2 (w - x)
    np.testing.assert_allclose(gradient.prototypes, [[5 * 2 / 25 * 4], [-5 * 8 / 25 * -2], [0.0]])


IN_BLOCKS = [LOGMCost(0.1, cost_matrix=COST_MATRIX), RSLVQCost(0.1), CrossEntropyCost(0.1, cost_matrix=COST_MATRIX)]


@pytest.mark.parametrize(("rule", "cost"), list(zip(RULES, 2 * IN_BLOCKS)), ids=RULES)
def test_blocks_and_the_order_of_samples_do_not_matter(cost, rule, monkeypatch):
    relevance = RULES[rule]
    params, (X, y, weight) = draw(5, relevance, count=500)
    params = params._replace(width=1.3)
    objective = Objective(relevance.metric(LABELS), RationalQuadratic(shape=2.5), cost, LABELS)
    whole = value_and_gradient(objective, params, X, y, weight)
    orders = np.argsort(y, kind="stable"), np.argsort(-y, kind="stable"), np.random.default_rng(0).permutation(500)
    for order in orders:
        assert_same(value_and_gradient(objective, params, X[order], y[order], weight[order]), whole)
    monkeypatch.setattr(module, "MIN_ROWS", 7)
    for numbers in (1, 600):
        monkeypatch.setattr("lvq.model.rows.BLOCK", numbers)
        assert BlockObjective(objective, params).rows(ArraySamples(X, y, weight)) < 250
        assert_same(value_and_gradient(objective, params, X, y, weight), whole)


MEMORY_CASES = {
    "margin": (LOGMCost(), Relevance(), 50, 8),
    "soft with a matrix": (RSLVQCost(), Matrix(), 10, 60),
    "local matrices": (LOGMCost(), Matrix(local="class"), 50, 6),
}


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("name", MEMORY_CASES)
def test_memory_does_not_depend_on_the_number_of_samples(name, missing, monkeypatch):
    monkeypatch.setattr("lvq.model.rows.BLOCK", 2**15)
    monkeypatch.setattr(module, "MIN_ROWS", 16)
    cost, relevance, prototypes, n_features = MEMORY_CASES[name]
    labels = np.repeat(np.arange(5), prototypes // 5)
    params, block = draw(0, relevance, 4000, labels, n_features)
    if missing:
        block.X[::2, 0] = np.nan
    metric, params = relevance.metric(labels), params._replace(width=1.0)
    objective = Objective(Observed(metric, np.ones(n_features)) if missing else metric, Gaussian(), cost, labels)
    peaks = []
    for count in (2000, 4000):
        tracemalloc.start()
        try:
            objective.total(params, ArraySamples(*(part[:count] for part in block)))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.05 * peaks[0]
    own = sum(part.nbytes for part in params[:2] if part is not None)
    assert peaks[1] < 10 * (2**18 + own)  # a soft cost has several functions of all distances
