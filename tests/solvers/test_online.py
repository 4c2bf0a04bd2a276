"""The online solver around the compiled kernels: schedules, stopping, shuffling, streams and error messages."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from lvq.model.costs import GLVQCost, LOGMCost, RSLVQCost, WindowRule, WinnerRule
from lvq.model.links import Identity
from lvq.model.objective import Objective, Params
from lvq.model.relevance import FisherNeighbours, FisherPrototypes, Hebbian, Matrix, Relevance, Weights
from lvq.model.samples import ArraySamples
from lvq.solvers.online import Online, train
from lvq.solvers.state import TrainingState, Units, new_statistics

LABELS = np.array([0, 0, 1, 1, 2, 2])
FIXED = Online(learning_rate=0.05, relevance_rate=0.02, schedule="constant", step="gradient", shuffle=False)
RULES = {"lvq1": WinnerRule(), "olvq1": WinnerRule(own_rates=True), "lvq3": WindowRule(0.4, 0.3)}
COSTS = {"glvq": GLVQCost(alpha=0.1), "logm": LOGMCost(xi=0.5), "rslvq": RSLVQCost(xi=0.5)}
HEURISTICS = {
    "plain": Relevance(),
    "hebbian": Hebbian(),
    "fc1": FisherPrototypes(),
    "fc2": FisherNeighbours(),
    "fc2 nearest": FisherNeighbours(rivals="nearest"),
}
GRADIENTS = {
    "gradient": Weights(),
    "weights per prototype": Weights(local="prototype"),
    "matrix": Matrix(),
    "matrix per class": Matrix(rank=2, local="class"),
}
RELEVANCES = HEURISTICS | GRADIENTS
# one model of each compiled loop, and one of each rule with statistics
MODELS = [
    *[("olvq1", "plain"), ("lvq3", "fc1"), ("lvq1", "hebbian"), ("glvq", "plain"), ("logm", "gradient")],
    *[("glvq", "fc2"), ("logm", "fc2 nearest"), ("glvq", "matrix"), ("logm", "matrix per class"), ("rslvq", "plain")],
    ("glvq", "weights per prototype"),
]


class Run:
    """A small problem and a model to train on it."""

    def __init__(self, seed=0, cost="glvq", relevance="plain", n_samples=60, offset=0.0):
        rng = np.random.default_rng(seed)
        middle = 2 * rng.normal(size=(3, 4))
        self.y = rng.integers(0, 3, n_samples)
        self.X = middle[self.y] + rng.normal(size=(n_samples, 4)) + offset
        self.weight = rng.uniform(0.5, 1.5, n_samples)
        W = middle[LABELS] + rng.normal(size=(6, 4)) + offset
        self.cost, self.relevance = (RULES | COSTS)[cost], RELEVANCES[relevance]
        self.link = Identity()
        self.params = Params(W, self.relevance.start(ArraySamples(self.X, self.y, self.weight), LABELS))

    def state(self, settings=FIXED, units=Units(1.0, 1.0), random_state=0):  # noqa: B008 - a tuple
        statistics = new_statistics(self.relevance, self.cost, self.params.prototypes.shape, 3, settings.learning_rate)
        return TrainingState(self.cost, self.relevance, units, statistics, 0.0, np.random.RandomState(random_state))

    def train_on(self, rows, settings, params, state, max_iter=1, **more):
        """Result and state after some rows."""
        objective = Objective(self.relevance.metric(LABELS), self.link, self.cost, LABELS)
        samples = ArraySamples(self.X[rows], self.y[rows], self.weight[rows])
        return train(objective, params, samples, max_iter, settings, state, **more)

    def train(self, settings=FIXED, rows=slice(None), state=None, **more):
        """Result of a run from the start."""
        state = self.state(settings) if state is None else state
        return self.train_on(rows, settings, self.params, state, **more)[0]


def assert_same(one, other, **tolerance):
    for ours, theirs in zip(one.params, other.params):
        if theirs is None:
            assert ours is None
        elif tolerance:
            np.testing.assert_allclose(ours, theirs, **tolerance)
        else:
            np.testing.assert_array_equal(ours, theirs)


# -- schedules ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "rate"),
    [
        ("constant", lambda t, n, epochs: 0.3),
        ("linear", lambda t, n, epochs: 0.3 * (1 - t / (n * epochs))),
        ("inverse", lambda t, n, epochs: 0.3 / (1 + t / n)),
    ],
)
def test_schedules_in_closed_form(schedule, rate):
    """All samples in one place: the remaining distance is the product of all 1 - rate."""
    run = Run(n_samples=5)
    run.X[:], run.y[:], run.weight[:] = 1.0, 0, 1.0
    run.params = Params(np.vstack((np.zeros((1, 4)), np.full((5, 4), 9.0))))
    run.cost = WinnerRule()
    result = run.train(replace(FIXED, learning_rate=0.3, schedule=schedule), max_iter=4)
    left = np.prod([1 - rate(t, 5, 4) for t in range(20)])
    np.testing.assert_allclose(result.params.prototypes[0], 1 - left, rtol=1e-12)


def test_a_stream_has_constant_rates_in_place_of_a_linear_schedule():
    run = Run()
    result = run.train(replace(FIXED, schedule="linear"), stream=True)
    assert result.n_iter == len(result.history) == 1
    assert_same(result, run.train(replace(FIXED, learning_rate=0.1 * FIXED.learning_rate)))
    assert_same(run.train(FIXED, stream=True), run.train(FIXED))
    rules = Run(cost="lvq1")
    assert_same(rules.train(replace(FIXED, schedule="linear"), stream=True), rules.train(FIXED))


# -- streams -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cost", "relevance"), MODELS)
def test_a_stream_in_batches_equals_one_run(cost, relevance):
    """Batches of any size, with the training state in between: as if all samples had come at once."""
    run = Run(0, cost, relevance)
    run.cost = GLVQCost(alpha=0.1, slope="time") if cost == "glvq" else run.cost
    settings = replace(FIXED, learning_rate=0.3 if cost == "olvq1" else 0.05)
    whole = run.train(settings)
    state, params, costs = run.state(settings), run.params, 0.0
    for begin, end in ((0, 1), (1, 8), (8, 9), (9, 40), (40, 60)):
        part, state = run.train_on(slice(begin, end), settings, params, state, stream=True)
        params = part.params
        costs += part.history[0] * run.weight[begin:end].sum()
    assert state.step == 60
    assert_same(part, whole, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(costs / run.weight.sum(), whole.history[0], rtol=1e-9)


@pytest.mark.parametrize(("cost", "relevance"), MODELS)
def test_a_run_leaves_the_given_state_and_parameters_unchanged(cost, relevance):
    """Only the random state is used up: an interrupted call can be repeated."""
    run = Run(0, cost, relevance)
    before = run.state()
    first, state = run.train_on(slice(30), FIXED, run.params, before)
    copies = [array.copy() for array in (*state.statistics, first.params.prototypes)]
    run.train_on(slice(30, 60), FIXED, first.params, state)
    for array, copy in zip((*state.statistics, first.params.prototypes), copies):
        np.testing.assert_array_equal(array, copy)
    assert (before.step, state.step) == (0.0, 30.0)
    assert state.units == before.units


# -- units -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relevance", ["plain", "gradient", "fc1", "matrix"])
def test_the_scaled_step_is_the_gradient_step_in_units_of_the_spread(relevance):
    run = Run(0, "glvq", relevance)
    scaled = run.train(replace(FIXED, step="scaled"), state=run.state(units=Units(2.5, 7.0)))
    assert_same(scaled, run.train(replace(FIXED, learning_rate=0.05 * 2.5)), rtol=1e-12)
    run = Run(0, "lvq1")  # rules have no unit
    assert_same(run.train(replace(FIXED, step="scaled"), state=run.state(units=Units(2.5, 7.0))), run.train())


# -- inputs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed", [{"y": np.full(60, 3)}, {"X": sparse.csr_array(np.ones((60, 5)))}], ids=["classes", "features"]
)
def test_samples_that_do_not_fit_the_prototypes_are_refused(changed):
    """The compiled loops check no bounds, so this must raise before they are called."""
    run = Run()
    vars(run).update(changed)
    with pytest.raises(ValueError, match="needs prototypes of every class and feature"):
        run.train()
