"""The objective by the two nearest prototypes equals that by the whole matrix, in any blocks and within its memory."""

import pickle
import tracemalloc

import numpy as np
import pytest

from lvq.model.costs import GLVQCost, LOGMCost, MCECost, RSLVQCost
from lvq.model.links import KERNELS, Gaussian, Identity, RationalQuadratic
from lvq.model.missing import Observed, packed
from lvq.model.objective import Objective, Params
from lvq.model.objective_parts import GeneralPart, MarginPart
from lvq.model.pairs import search_for
from lvq.model.relevance import GradientRelevance, LocalMatrixRelevance, MatrixRelevance, Relevance
from lvq.model.samples import Block

LABELS = np.array([0, 0, 0, 1, 1, 2])
FEATURES = 4
PRICES = np.array([[0.0, 3.0, 0.5], [1.0, 0.0, 0.0], [2.0, 7.0, 0.0]])
COSTS = {
    "glvq": GLVQCost,
    "glvq sigmoid": lambda **options: GLVQCost(slope=3.0, **options),
    "mce": lambda **options: MCECost(xi=0.7, **options),
    "logm": lambda **options: LOGMCost(xi=0.7, **options),
}
OPTIONS = {"plain": {}, "alpha": {"alpha": 0.3}, "prices": {"prices": PRICES}, "both": {"alpha": 0.3, "prices": PRICES}}
LINKS = {"identity": Identity()} | {name: kind(width=1.7) for name, kind in KERNELS.items()}
SHARED = {
    "plain": Relevance(),
    "vector": GradientRelevance(),
    "matrix": MatrixRelevance(),
    "matrix of rank 2": MatrixRelevance(rank=2),
}


def draw(seed, relevance, count=60):
    """Parameters and samples in no order of classes, of unequal weights."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(len(LABELS), FEATURES))
    R = relevance.start(W, LABELS, np.ones(len(W)), LABELS)
    if R is not None:
        R = rng.uniform(0.2, 1.0, R.shape) if R.ndim == 1 else rng.normal(size=R.shape) / 2
    weight = rng.uniform(0.5, 2.0, count)
    return Params(W, R), rng.normal(size=(count, FEATURES)) * 1.5, rng.integers(0, 3, count), weight / weight.sum()


def assert_same(one, other, rtol=1e-9):
    """Equal values and gradients, to rounding."""
    (value, gradient), (expected, expected_gradient) = one, other
    np.testing.assert_allclose(value, expected, rtol=1e-11)
    for ours, theirs in zip(gradient, expected_gradient):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("cost", [GLVQCost(), RSLVQCost()], ids=["margin", "soft"])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("relevance", [Relevance(), MatrixRelevance(), LocalMatrixRelevance()])
def test_what_is_sent_is_of_the_size_of_the_parameters(relevance, missing, cost):
    """A part makes the rest anew: with pairs of missing features that would be a table of n^2 M numbers."""
    n, labels = 32, np.repeat([0, 1, 2], 4)
    rng = np.random.default_rng(0)
    W = rng.normal(size=(len(labels), n))
    R = relevance.start(W, labels, np.ones(len(W)), labels)
    metric = relevance.metric(labels)
    objective = Objective(Observed(metric, np.ones(n)) if missing else metric, Identity(), cost, labels)
    part = objective.part(Params(W, R), search_for(W))
    sent = pickle.dumps(part)
    assert len(sent) < W.nbytes + (0 if R is None else R.nbytes) + 2_000
    X = rng.normal(size=(40, n))
    X[rng.uniform(size=X.shape) < 0.1] = np.nan if missing else 0.0
    block = Block(packed(X) if missing else X, rng.integers(3, size=40), np.full(40, 1 / 40))
    one, other = part(block), pickle.loads(sent)(block)
    assert one.value == other.value
    for ours, theirs in zip(one.gradient, other.gradient):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("relevance", SHARED.values(), ids=SHARED)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("cost", COSTS)
def test_margin_costs_need_only_two_prototypes_per_sample(cost, options, relevance):
    for seed, (name, link) in enumerate(LINKS.items()):
        params, X, y, weight = draw(seed, relevance)
        params = params._replace(width=None if name == "identity" else 1.3)
        objective = Objective(relevance.metric(LABELS), link, COSTS[cost](**OPTIONS[options]), LABELS)
        short = objective.part(params, search_for(X))
        assert isinstance(short, MarginPart)
        one, other = short(Block(X, y, weight)), GeneralPart(objective, params)(Block(X, y, weight))
        assert_same((one.value, one.gradient), (other.value, other.gradient))


@pytest.mark.parametrize(
    ("cost", "relevance"), [(RSLVQCost(), MatrixRelevance()), (LOGMCost(), LocalMatrixRelevance())]
)
def test_soft_costs_and_local_matrices_use_the_general_part(cost, relevance):
    params, X, _, _ = draw(0, relevance)
    assert isinstance(
        Objective(relevance.metric(LABELS), Identity(), cost, LABELS).part(params, search_for(X)), GeneralPart
    )


@pytest.mark.parametrize("kind", [GLVQCost, MCECost, LOGMCost])
def test_prices_of_one_and_of_zero(kind):
    params, X, y, weight = draw(3, Relevance())

    def evaluate(prices):
        objective = Objective(Relevance().metric(LABELS), Identity(), kind(prices=prices), LABELS)
        return objective.value_and_gradient(params, X, y, weight)

    assert_same(evaluate(np.ones((3, 3))), evaluate(None))
    value, gradient = evaluate(np.zeros((3, 3)))
    assert value == pytest.approx(kind().least, abs=1e-15)
    assert not gradient.prototypes.any()


def test_a_price_multiplies_the_cost_above_its_minimum():
    """By hand: d+ = 4, d- = 1, mu = 3/5; with the price 5 the cost is 5 (mu + 1) - 1."""
    W, labels = np.array([[2.0], [-1.0], [40.0]]), np.arange(3)
    prices = np.ones((3, 3))
    prices[0, 1] = 5.0
    objective = Objective(Relevance().metric(labels), Identity(), GLVQCost(prices=prices), labels)
    value, gradient = objective.value_and_gradient(Params(W), np.zeros((1, 1)), np.zeros(1, dtype=int), np.ones(1))
    assert value == pytest.approx(5 * 1.6 - 1)
    # de/dd+ = 2 d-/25, de/dd- = -2 d+/25; dd/dw = 2 (w - x)
    np.testing.assert_allclose(gradient.prototypes, [[5 * 2 / 25 * 4], [-5 * 8 / 25 * -2], [0.0]])


@pytest.mark.parametrize("relevance", [*SHARED.values(), LocalMatrixRelevance()], ids=[*SHARED, "local"])
@pytest.mark.parametrize("cost", [LOGMCost(alpha=0.1, prices=PRICES), RSLVQCost(alpha=0.1)], ids=["margin", "soft"])
def test_blocks_and_the_order_of_samples_do_not_matter(cost, relevance):
    params, X, y, weight = draw(5, relevance, count=500)
    params = params._replace(width=1.3)
    parts = relevance.metric(LABELS), RationalQuadratic(shape=2.5), cost, LABELS
    whole = Objective(*parts).value_and_gradient(params, X, y, weight)
    for memory in (5000, 20_000):
        objective = Objective(*parts, memory=memory)
        assert objective.block_rows(X, objective.part(params, search_for(X))) < 500
        assert_same(objective.value_and_gradient(params, X, y, weight), whole)
    for order in (
        np.argsort(y, kind="stable"),
        np.argsort(-y, kind="stable"),
        np.random.default_rng(0).permutation(500),
    ):
        assert_same(Objective(*parts).value_and_gradient(params, X[order], y[order], weight[order]), whole)


MEMORY_CASES = {
    "margin": (LOGMCost(), Relevance()),
    "margin with a matrix": (GLVQCost(), MatrixRelevance()),
    "soft": (RSLVQCost(), Relevance()),
    "soft with a matrix": (RSLVQCost(), MatrixRelevance()),
    "local matrices": (LOGMCost(), LocalMatrixRelevance()),
    "matrix per prototype": (LOGMCost(), MatrixRelevance(local="prototype")),
    "soft, local matrices": (RSLVQCost(), LocalMatrixRelevance()),
}


def peak(objective, params, X, y, weight):
    """Largest number of bytes that one evaluation allocates at a time."""
    tracemalloc.start()
    try:
        objective.value_and_gradient(params, X, y, weight)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def large(relevance, count, prototypes, features):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), prototypes // 5)
    W = rng.normal(size=(len(labels), features))
    R = relevance.start(W, labels, np.ones(len(W)), labels)
    y = np.sort(rng.integers(0, 5, count))  # as solvers arrange them
    return Params(W, R, 1.0), rng.normal(size=(count, features)), y, labels


@pytest.mark.parametrize("name", ["margin", "soft"])
def test_memory_stays_below_the_budget_at_200_000_samples(name):
    """The matrix of distances alone would take 80 MB. The weights, one number a sample, count as data."""
    cost, relevance = MEMORY_CASES[name]
    params, X, y, labels = large(relevance, 200_000, 50, 8)
    objective = Objective(relevance.metric(labels), Gaussian(), cost, labels, memory=32 * 2**20)
    assert peak(objective, params, X, y, np.ones(len(X))) < 32 * 2**20


@pytest.mark.parametrize("name", MEMORY_CASES)
@pytest.mark.parametrize(("prototypes", "features"), [(50, 6), (10, 60)])
def test_memory_stays_below_a_small_budget(name, prototypes, features):
    """Two megabytes: so little that the budget, not the processor's cache, sets the size of the blocks.

    A few arrays of the parameters' own size, and a twentieth for what is not counted by samples, come on top.
    """
    cost, relevance = MEMORY_CASES[name]
    params, X, y, labels = large(relevance, 8_000, prototypes, features)
    objective = Objective(relevance.metric(labels), Gaussian(), cost, labels, memory=2 * 2**20)
    own = params.prototypes.nbytes + (0 if params.relevance is None else params.relevance.nbytes)
    assert peak(objective, params, X, y, np.ones(len(X))) < 1.05 * 2 * 2**20 + 4 * own + y.nbytes
