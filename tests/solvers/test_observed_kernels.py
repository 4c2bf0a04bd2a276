"""The compiled loops for samples with missing values, beside the comparison with the slow steps of `reference.py`."""

import numpy as np
import pytest
from sklearn.base import clone

from lvq import LVQ1, LVQ3, LVQ21, OLVQ1
from lvq.model.links import Identity
from lvq.model.relevance import Relevance
from lvq.solvers.online import Online
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


@every_rule
def test_a_row_without_any_value_changes_nothing(relevance, cost):
    part, _, settings = ALL_COSTS[cost]
    problem = problem_of(relevance)
    problem.X[:] = np.nan
    params = problem.compiled(part, Identity(), settings, count=1).params
    np.testing.assert_array_equal(params.prototypes, problem.W)
    if problem.metric is not None:
        np.testing.assert_allclose(params.relevance, problem.metric, rtol=1e-15)


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


def rule_steps(model, X, y, W, labels, variances, rate=0.07, epochs=2):
    """Kohonen's rules, step by step: in what is observed, as if nothing else were there."""
    W, rates = W.copy(), np.full(len(W), rate)
    for x, label in [*zip(X, y)] * epochs:
        known = ~np.isnan(x)
        fraction = variances[known].sum() / variances.sum()
        distances = np.array([((x - w)[known] ** 2).sum() / fraction for w in W])
        first, second = np.argsort(distances, kind="stable")[:2]
        own = labels == label
        if isinstance(model, LVQ1 | OLVQ1):
            sign = 1.0 if own[first] else -1.0
            W[first, known] += sign * rates[first] * (x - W[first])[known]
            if isinstance(model, OLVQ1):
                rates[first] = min(rates[first] / (1 + sign * rates[first]), rate)
            continue
        ratio = np.sqrt(distances[first] / distances[second])
        if own[first] != own[second] and ratio > (1 - model.window) / (1 + model.window):
            for j in (first, second):
                W[j, known] += (1.0 if own[j] else -1.0) * rate * (x - W[j])[known]
        elif isinstance(model, LVQ3) and own[first] and own[second]:
            for j in (first, second):
                W[j, known] += model.epsilon * rate * (x - W[j])[known]
    return W


@pytest.mark.parametrize("model", [LVQ1(), OLVQ1(), LVQ21(window=0.5), LVQ3(window=0.5)], ids=str)
def test_rules_without_a_cost(model):
    rng = np.random.default_rng(0)
    y, labels = np.arange(40) % 2, np.array([0, 0, 1, 1])
    X = rng.normal(size=(40, 4)) + y[:, None]
    X[rng.random(X.shape) < 0.3] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    y = y[: len(X)]
    W = rng.normal(size=(4, 4)) + labels[:, None]
    solver = Online(learning_rate=0.07, schedule="constant", shuffle=False)
    given = {"init": (W, labels), "n_prototypes": 2, "max_iter": 2, "solver": solver}
    found = clone(model).set_params(missing="ignore", **given).fit(X, y)
    expected = rule_steps(model, X, y, W, labels, np.nanvar(X, axis=0))
    assert (np.abs(expected - W).max(axis=1) > 0.01).sum() >= 2
    np.testing.assert_allclose(found.prototypes_, expected, rtol=1e-9, atol=1e-12)
