"""Sums over pairs of missing features against images of masked prototypes, and against finite differences."""

import builtins
import sys

import numpy as np
import pytest

from lvq.model import missing, missing_pairs
from lvq.model.costs import COSTS
from lvq.model.links import Identity
from lvq.model.metrics import DistanceGradient, Matrix
from lvq.model.missing import Observed, packed
from lvq.model.missing_pairs import Pairs
from lvq.model.objective import Objective, Params
from tests.model.test_gradients import LABELS, differences, relative_error
from tests.model.test_missing import by_formula, incomplete


def case(seed, n_features, n_prototypes, rank, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = incomplete(rng, 40, n_features, fraction=0.25).astype(dtype)
    W, R = rng.normal(size=(n_prototypes, n_features)), rng.normal(size=(rank, n_features))
    return rng, packed(X), W.astype(dtype), R.astype(dtype), Observed(Matrix(), rng.uniform(0.5, 2, n_features))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 2e-3)])
@pytest.mark.parametrize(("n_features", "n_prototypes", "rank"), [(2, 2, 1), (7, 5, 7), (9, 8, 5), (12, 19, 12)])
@pytest.mark.parametrize("touching", ["two", "all"])
def test_values_and_gradients_are_those_of_images(n_features, n_prototypes, rank, touching, dtype, tolerance):
    for seed in range(3):
        rng, X, W, R, metric = case(seed, n_features, n_prototypes, rank, dtype)
        pairs = metric.pairs(W, R)
        assert pairs is not None
        expected, found = metric.measure(X, W, R), metric.measure(X, W, R, pairs)
        assert expected.images is not None
        assert found.images is None
        assert found.D.dtype == dtype
        np.testing.assert_allclose(found.D, expected.D, rtol=tolerance, atol=tolerance)
        touched = None if touching == "all" else rng.integers(n_prototypes, size=(len(X), 2))
        value = rng.normal(size=(len(X), n_prototypes if touched is None else 2)).astype(dtype)
        gradient = DistanceGradient(value, touched)
        for one, other in zip(metric.back(X, W, R, expected, gradient), metric.back(X, W, R, found, gradient, pairs)):
            assert other.dtype == dtype
            np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance * abs(one).max())


@pytest.mark.parametrize("cost", COSTS)
def test_gradient_equals_finite_differences(cost):
    cost = COSTS[cost]()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        v, W, R = rng.uniform(0.5, 2, 5), rng.normal(size=(len(LABELS), 5)), rng.normal(size=(5, 5)) / 3
        X, y = np.empty((0, 5)), np.empty(0, dtype=int)
        while len(X) < 12:  # samples near a kink are left out
            x, label = np.where(rng.random(5) < 0.2, np.nan, rng.normal(size=5) * 1.5)[None], rng.integers(0, 3)
            D = by_formula(x, W, R, Matrix(), v)[0]
            own, other = np.sort(D[label == LABELS]), np.sort(D[label != LABELS])
            if min(own[0], other[0]) > 0.01 and np.diff(own[:2]).min(initial=1) > 0.01 and other[1] - other[0] > 0.01:
                X, y = np.vstack((X, x)), np.append(y, label)
        assert 0 < np.isnan(X).mean() < missing_pairs.MAX_MISSING
        metric, weight = Observed(Matrix(), v), rng.uniform(0.5, 2.0, len(X))
        assert metric.measure(packed(X), W, R, metric.pairs(W, R)).seen is not None  # by pairs
        objective = Objective(metric, Identity(), cost, LABELS)
        value, gradient = objective.value_and_gradient(Params(W, R, None), packed(X), y, weight)

        def evaluate(W, R, X=X, y=y, v=v, weight=weight):
            return weight @ cost.value_and_derivative(by_formula(X, W, R, Matrix(), v), y, LABELS)[0] / weight.sum()

        assert value == pytest.approx(evaluate(W, R), rel=1e-10)
        assert relative_error(gradient.prototypes, differences(lambda W, R=R: evaluate(W, R), W)) < 1e-5
        assert relative_error(gradient.relevance, differences(lambda R, W=W: evaluate(W, R), R)) < 1e-5


def test_which_metrics_use_pairs(monkeypatch):
    """One Omega of sufficient rank, a table that fits in the cache, few missing values, and numba."""
    rng, X, W, R, metric = case(0, 8, 6, 8)
    assert isinstance(metric.pairs(W, R), Pairs)
    assert metric.pairs(W, None) is None
    assert metric.pairs(W, R[:2]) is None
    assert metric.pairs(np.ones((5000, 8)), R) is None
    many = packed(np.where(rng.random((40, 8)) < 0.7, np.nan, 1.0))
    assert metric.measure(many, W, R, metric.pairs(W, R)).images is not None
    expected, imported = metric.distances(X, W, R), builtins.__import__

    def without_numba(name, *args, **kwargs):
        if name.startswith("numba"):
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "lvq.model.missing_kernels")
    monkeypatch.delattr("lvq.model.missing_kernels")
    monkeypatch.setattr(builtins, "__import__", without_numba)
    assert metric.pairs(W, R) is None
    np.testing.assert_allclose(metric.distances(X, W, R), expected, rtol=1e-10, atol=1e-10)


def test_more_missing_values_change_no_value(monkeypatch):
    """The limit is of time alone."""
    _, X, W, R, metric = case(1, 8, 6, 8)
    expected = metric.distances(X, W, R)
    monkeypatch.setattr(missing, "MAX_MISSING", 0.0)
    np.testing.assert_allclose(metric.distances(X, W, R), expected, rtol=1e-10, atol=1e-10)


def test_compiled_sums_release_the_lock_and_are_stored():
    """Blocks run in threads, and a second process need not compile them again."""
    pytest.importorskip("numba")
    from numba.core.caching import NullCache
    from numba.core.registry import CPUDispatcher

    compiled = [part for part in vars(missing_pairs.kernels()).values() if isinstance(part, CPUDispatcher)]
    assert len(compiled) >= 2
    for function in compiled:
        assert function.targetoptions["nogil"] is True
        assert function.targetoptions["error_model"] == "numpy"
        assert not function.targetoptions["fastmath"] & {"nnan", "ninf", "fast"}
        assert not isinstance(function._cache, NullCache)
