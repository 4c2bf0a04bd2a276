"""The function that batch solvers minimise: its gradient by the free parameters, for any blocks and threads."""

import numpy as np
import pytest

from lvq.model.costs import GLVQCost, LOGMCost, RSLVQCost
from lvq.model.links import Gaussian
from lvq.model.objective import Objective, Params, Problem
from lvq.model.relevance import DataScale, Relevance
from lvq.model.samples import ArraySamples
from tests.model.formulas import differences
from tests.model.test_gradients import LABELS, Case
from tests.model.test_relevance import SMOOTH

FEATURES = 4
COSTS = {"glvq": GLVQCost(0.1, 3.0), "logm": LOGMCost(0.1, 0.7), "rslvq": RSLVQCost(0.1, 0.7)}


def draw(problem):
    """Free parameters, and samples that are not near a tie of own or of other prototypes."""
    rng, rule = np.random.default_rng(0), problem.relevance
    R = rule.start(ArraySamples(rng.normal(size=(5, FEATURES)), LABELS, np.ones(5)), LABELS)
    W = rng.normal(size=(len(LABELS), FEATURES)) / problem.unit
    free = Params(W, None if R is None else rng.normal(size=R.shape), -0.3)
    case = Case(0, rule, count=12, n_features=FEATURES, params=problem.params(free))
    return free, ArraySamples(case.X, case.y, case.weight).arranged(np.zeros(FEATURES))


@pytest.mark.parametrize(("rule", "cost"), list(zip(["plain", *SMOOTH], 9 * [*COSTS])))
def test_gradient_by_the_free_parameters(rule, cost):
    """Unit, squares of lambda, unit size, penalties and the logarithm of a width, all by central differences."""
    relevance = SMOOTH.get(rule, Relevance())
    objective = Objective(relevance.metric(LABELS), Gaussian(), COSTS[cost], LABELS)
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
