"""Adam: mini-batches, schedules, and warm starts from L-BFGS and back."""

import numpy as np
import pytest
from sklearn.base import clone

from lvq import GLVQ, GMLVQ, LOGM, RSLVQ, LVQClassifier
from lvq.model.costs import GLVQCost
from lvq.model.links import Gaussian, Identity
from lvq.model.metrics import Euclidean
from lvq.model.objective import Objective, Params, Problem
from lvq.model.relevance import Matrix, Relevance
from lvq.model.samples import ArraySamples
from lvq.solvers.adam import Adam, RunningMeans, train
from lvq.solvers.lbfgs import LBFGS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MODELS = [
    GLVQ(n_prototypes=2),
    GMLVQ(relevance=Matrix(log_determinant=0.01)),
    LOGM(kernel=Gaussian(width="learned"), n_prototypes=2),
    RSLVQ(n_prototypes=2),
    LVQClassifier(),
]


class Recorder:
    """A problem that records the number and the total weight of the samples of each evaluation."""

    def __init__(self, problem):
        self.problem, self.sizes, self.weights = problem, [], []
        self.free, self.params = problem.free, problem.params

    def value_and_gradient(self, free, data):
        self.sizes.append(len(data.X))
        self.weights.append(float(data.weight.sum()))
        return self.problem.value_and_gradient(free, data)


def problem_of(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    recorder = Recorder(Problem(Objective(Euclidean(), Identity(), GLVQCost(), np.arange(3)), Relevance()))
    start = Params(np.stack([X[y == label].mean(axis=0) for label in range(3)]))
    return recorder, start, ArraySamples(X[order], y[order], np.full(len(X), 1 / len(X)))


@pytest.mark.parametrize(("batch_size", "batches"), [(1, 90), (30, 3), (48, 2), (5000, 1)])
def test_an_epoch_takes_each_sample_once(batch_size, batches, data):
    recorder, start, samples = problem_of(data)
    one = train(recorder, start, samples, 1, Adam(batch_size=batch_size), np.random.RandomState(0))
    assert len(recorder.sizes) == batches
    other = train(problem_of(data)[0], start, samples, 1, Adam(batch_size=batch_size), np.random.RandomState(1))
    assert (one.params.prototypes != other.params.prototypes).any() == (batches > 1)  # in random order
    assert sum(recorder.sizes) == 90
    np.testing.assert_allclose(recorder.weights, 1.0)


def test_one_step_by_hand():
    """The first step of Adam is the rate times the sign of the gradient, the second follows the running means."""
    moments, free = RunningMeans(), Params(np.array([1.0, 2.0]))
    free = moments.step(free, Params(np.array([4.0, -0.5])), 0.1)
    np.testing.assert_allclose(free.prototypes, [0.9, 2.1], rtol=1e-6)
    free = moments.step(free, Params(np.array([0.0, -0.5])), 0.1)
    first = np.array([0.9 * 0.1 * 4.0, 0.9 * 0.1 * -0.5 + 0.1 * -0.5]) / (1 - 0.9**2)
    second = np.array([0.999 * 0.001 * 16.0, 0.999 * 0.001 * 0.25 + 0.001 * 0.25]) / (1 - 0.999**2)
    np.testing.assert_allclose(free.prototypes, np.array([0.9, 2.1]) - 0.1 * first / np.sqrt(second), rtol=1e-6)


class Constant:
    """A problem of gradient one everywhere, so that the length of each step is its rate."""

    def free(self, params):
        return params

    params = free

    def value_and_gradient(self, free, data):
        return float(free.prototypes[0, 0]), Params(np.ones((1, 1)))


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        ("constant", [0.1] * 8),
        ("linear", [0.1 * (1 - k / 8) for k in range(8)]),
    ],
)
def test_schedules(schedule, rates):
    """Four epochs of two batches; the sum of all steps is the sum of all rates."""
    samples = ArraySamples(np.zeros((4, 1)), np.zeros(4, dtype=int), np.full(4, 0.25))
    settings = Adam(learning_rate=0.1, batch_size=2, schedule=schedule)
    result = train(Constant(), Params(np.zeros((1, 1))), samples, 4, settings, np.random.RandomState(0))
    assert result.params.prototypes[0, 0] == pytest.approx(-sum(rates), rel=1e-5)


# -- from one solver into the other ------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_from_lbfgs_into_adam_and_back(model, data):
    X, y = data
    model = clone(model).set_params(solver=LBFGS(), warm_start=True, random_state=0, max_iter=300)
    first = model.fit(X, y).objective_value(X, y)
    settled = model.prototypes_.copy()
    model.set_params(solver=Adam(0.0), max_iter=1).fit(X, y)
    np.testing.assert_allclose(model.prototypes_, settled, rtol=1e-12, atol=1e-12)
    assert model.objective_value(X, y) == pytest.approx(first, rel=1e-10)
    model.set_params(solver=Adam(0.05, 30), max_iter=3).fit(X, y)
    shaken = model.objective_value(X, y)
    assert shaken != first
    start = clone(model).set_params(solver=Adam(0.0), max_iter=1).fit(X, y).objective_value(X, y)
    assert shaken < start - 1e-3
    model.set_params(solver=LBFGS(), max_iter=300).fit(X, y)
    assert model.objective_value(X, y) <= shaken
