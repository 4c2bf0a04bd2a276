"""The compiled loops for samples with missing values, beside the comparison with the slow steps of `reference.py`."""

import numpy as np
import pytest

from lvq.model.links import Identity
from lvq.model.relevance import Relevance
from tests.solvers.test_kernels import ALL_COSTS, FEATURES, GRADIENTS, Problem

RELEVANCES = {"plain": Relevance()} | {name: rule for name, (rule, _) in GRADIENTS.items() if "rank 1" not in name}
every_rule = pytest.mark.parametrize(("relevance", "cost"), list(zip(RELEVANCES, 4 * ["glvq", "rslvq alpha", "logm"])))


def problem_of(relevance, dtype=np.float64):
    problem = Problem(0, RELEVANCES[relevance], dtype=dtype).on("incomplete")
    problem.rate, problem.relevance_rate = 0.05, 0.02
    return problem


@every_rule
def test_complete_rows_among_incomplete_ones_have_the_ordinary_step(relevance, cost):
    """A row without any value, of the same class, changes nothing and makes the loop look at masks."""
    part, _, settings = ALL_COSTS[cost]
    problem = problem_of(relevance)
    problem.X = np.nan_to_num(problem.X, nan=2.0)
    ordinary = problem.compiled(part, Identity(), settings, max_iter=3).params
    problem.X = np.vstack((problem.X, np.full(FEATURES, np.nan)))
    problem.y, problem.weight = np.append(problem.y, problem.y[0]), np.append(problem.weight, 1.0)
    mixed = problem.compiled(part, Identity(), settings, max_iter=3).params
    np.testing.assert_allclose(mixed.prototypes, ordinary.prototypes, rtol=1e-10)
    if problem.metric is not None:
        np.testing.assert_allclose(mixed.relevance, ordinary.relevance, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("relevance", ["gradient", "matrix per class"])
def test_rows_of_features_without_weight(relevance):
    """Where all weight is on features that are missing, s is tiny or 0; nothing overflows or becomes NaN."""
    problem = problem_of(relevance, np.float32)
    problem.X[:, 0] = np.nan
    for tiny in (0.0, 1e-45, 1e-38, 1e-20):
        problem.metric = np.full_like(problem.metric, tiny)
        problem.metric[..., 0] = 1.0
        for cost in ("glvq", "logm", "rslvq alpha"):
            result = problem.compiled(ALL_COSTS[cost][0], Identity(), {}, max_iter=2)
            for found in (result.params.prototypes, result.params.relevance, result.history):
                assert np.isfinite(found).all()
