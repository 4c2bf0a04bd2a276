"""The online solver around the compiled kernels: schedules, stopping, shuffling, streams and error messages."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from lvq.model.costs import GLVQCost, WinnerRule
from lvq.model.links import Identity
from lvq.model.objective import Objective, Params
from lvq.model.relevance import FisherPrototypes, Matrix, Relevance, Weights
from lvq.model.samples import ArraySamples
from lvq.solvers.online import Online, train
from lvq.solvers.state import TrainingState, Units, new_statistics

LABELS = np.array([0, 0, 1, 1, 2, 2])
FIXED = Online(learning_rate=0.05, relevance_rate=0.02, schedule="constant", step="gradient", shuffle=False)


class Run:
    """A small problem and a model to train on it."""

    def __init__(self, cost=GLVQCost(alpha=0.1), relevance=Relevance(), n_samples=60):  # noqa: B008 - frozen
        rng = np.random.default_rng(0)
        middle = 2 * rng.normal(size=(3, 4))
        self.y = rng.integers(0, 3, n_samples)
        self.X = middle[self.y] + rng.normal(size=(n_samples, 4))
        self.weight = rng.uniform(0.5, 1.5, n_samples)
        W = middle[LABELS] + rng.normal(size=(6, 4))
        self.cost, self.relevance = cost, relevance
        self.params = Params(W, relevance.start(ArraySamples(self.X, self.y, self.weight), LABELS))

    def train(self, settings=FIXED, units=Units(1.0, 1.0), max_iter=1, **more):  # noqa: B008 - a tuple
        """Result of a run from the start."""
        statistics = new_statistics(self.relevance, self.cost, self.params.prototypes.shape, 3, settings.learning_rate)
        state = TrainingState(self.cost, self.relevance, units, statistics, 0.0, np.random.RandomState(0))
        objective = Objective(self.relevance.metric(LABELS), Identity(), self.cost, LABELS)
        samples = ArraySamples(self.X, self.y, self.weight)
        return train(objective, self.params, samples, max_iter, settings, state, **more)[0]


def assert_same(one, other, rtol=0.0):
    for ours, theirs in zip(one.params, other.params):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=rtol)


# -- schedules ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "rate"),
    [
        ("constant", lambda t, n, epochs: 0.3),
        ("linear", lambda t, n, epochs: 0.3 * (1 - t / (n * epochs))),
    ],
)
def test_schedules_in_closed_form(schedule, rate):
    """All samples in one place: the remaining distance is the product of all 1 - rate."""
    run = Run(WinnerRule(), n_samples=5)
    run.X[:], run.y[:], run.weight[:] = 1.0, 0, 1.0
    run.params = Params(np.vstack((np.zeros((1, 4)), np.full((5, 4), 9.0))))
    result = run.train(replace(FIXED, learning_rate=0.3, schedule=schedule), max_iter=4)
    left = np.prod([1 - rate(t, 5, 4) for t in range(20)])
    np.testing.assert_allclose(result.params.prototypes[0], 1 - left, rtol=1e-12)


def test_a_stream_has_constant_rates_instead_of_a_linear_schedule():
    run = Run()
    result = run.train(replace(FIXED, schedule="linear"), stream=True)
    assert result.n_iter == len(result.history) == 1
    assert_same(result, run.train(replace(FIXED, learning_rate=0.1 * FIXED.learning_rate)))
    assert_same(run.train(FIXED, stream=True), run.train(FIXED))
    rules = Run(WinnerRule())
    assert_same(rules.train(replace(FIXED, schedule="linear"), stream=True), rules.train(FIXED))


# -- units -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relevance", [Relevance(), Weights(), FisherPrototypes(), Matrix()], ids=repr)
def test_the_scaled_step_is_the_gradient_step_in_units_of_the_spread(relevance):
    run = Run(relevance=relevance)
    scaled = run.train(replace(FIXED, step="scaled"), Units(2.5, 7.0))
    assert_same(scaled, run.train(replace(FIXED, learning_rate=0.05 * 2.5)), rtol=1e-12)
    run = Run(WinnerRule())  # rules have no unit
    assert_same(run.train(replace(FIXED, step="scaled"), Units(2.5, 7.0)), run.train())


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
