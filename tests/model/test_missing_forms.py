"""Compiled forms of the distances to samples with missing values against the NumPy ones, and finite differences."""

import builtins
import sys

import numpy as np
import pytest

from lvq.model import missing_forms
from lvq.model.costs import COSTS, nearest_pair
from lvq.model.links import Identity
from lvq.model.metrics import Diagonal, DistanceGradient, Euclidean, Matrix
from lvq.model.missing import Observed, packed
from lvq.model.missing_forms import Forms, ImageForm, PairForm, VectorForm, nearest_pairs
from lvq.model.objective import Objective, Params
from tests.model.test_gradients import LABELS, differences, relative_error
from tests.model.test_missing import by_formula, incomplete

METRICS = {"none": Euclidean(), "relevances": Diagonal(), "low rank": Matrix(), "full rank": Matrix()}


def parameters(rng, kind, n_features):
    """Parameters of a metric."""
    if kind == "none":
        return None
    if kind == "relevances":
        return rng.uniform(0, 2, n_features)
    return rng.normal(size=(n_features if kind == "full rank" else max(1, n_features // 4), n_features))


def case(seed, kind, n_features, n_prototypes, dtype=np.float64):
    """Packed rows (some complete, one without a value), prototypes, parameters of the metric, and the metric."""
    rng = np.random.default_rng(seed)
    X = incomplete(rng, 40, n_features, fraction=0.25)
    X[3:6], X[7] = rng.normal(size=(3, n_features)), np.nan
    W, R = rng.normal(size=(n_prototypes, n_features)), parameters(rng, kind, n_features)
    v = rng.uniform(0.5, 2, n_features)
    R = None if R is None else R.astype(dtype)
    return rng, packed(X.astype(dtype)), W.astype(dtype), R, Observed(METRICS[kind], v)


def forms_of(metric, W, R):
    """Every form that can be used."""
    forms = Forms(W, R, metric.variances)
    if forms.vectors is not None:
        return [forms.vectors]
    return [ImageForm(*forms.given), PairForm(*forms.given)]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 2e-3)])
@pytest.mark.parametrize(("n_features", "n_prototypes"), [(2, 2), (7, 5), (12, 19)])
@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("touching", ["two", "all"])
def test_values_and_gradients_are_those_of_numpy(kind, n_features, n_prototypes, touching, dtype, tolerance):
    for seed in range(3):
        rng, X, W, R, metric = case(seed, kind, n_features, n_prototypes, dtype)
        order = rng.permuted(np.tile(np.arange(n_prototypes), (len(X), 1)), axis=1)
        touched = None if touching == "all" else order[:, :2]
        value = rng.normal(size=(len(X), n_prototypes if touched is None else 2)).astype(dtype)
        gradient = DistanceGradient(value, touched)
        expected = metric.measure(X, W, R)
        slopes = metric.back(X, W, R, expected, gradient)
        for form in forms_of(metric, W, R):
            found = form.forward(X)
            assert found.D.dtype == dtype
            np.testing.assert_allclose(found.D, expected.D, rtol=tolerance, atol=tolerance)
            for one, other in zip(slopes, form.back(X, found, gradient)):
                if one is None:
                    assert other is None
                    continue
                assert other.dtype == dtype
                np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance * abs(one).max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_near_to_prototypes_in_their_few_values(dtype):
    """Such distances are far below the terms of pairs of missing features, whose rounding errors must not be seen."""
    _, _, W, R, metric = case(0, "full rank", 12, 5, dtype)
    W[:, 0] = 1.5
    rows = np.full((5, 12), np.nan, dtype=dtype)
    rows[:, 0] = 1.5 + np.array([0, 1, 2, 4, 8]) * (2.0**-20 if dtype == np.float64 else 2.0**-10)
    X = packed(rows)
    D = PairForm(*Forms(W, R, metric.variances).given).forward(X).D
    assert (D[0] == 0).all()
    exact = metric.measure(*(part.astype(np.float64) for part in (X, W, R)))
    np.testing.assert_allclose(D, exact.D, rtol=1e-5)


@pytest.mark.parametrize("kind", METRICS)
def test_features_without_weight_or_variance(kind):
    """Where the observed features have no part in the metric, the fraction is a constant 1."""
    _, X, W, R, metric = case(0, kind, 6, 4)
    metric = Observed(metric.metric, np.array([0, 0, 0, 0, 0, 1.0]))
    X[:10, 5] = X[:10, 11] = 0  # the only feature with variance is missing
    gradient = DistanceGradient(np.ones((len(X), 4)))
    expected = metric.measure(X, W, R)
    for form in forms_of(metric, W, R):
        found = form.forward(X)
        np.testing.assert_allclose(found.D, expected.D, atol=1e-12)
        for one, other in zip(metric.back(X, W, R, expected, gradient), form.back(X, found, gradient)):
            if one is not None:
                np.testing.assert_allclose(other, one, atol=1e-11)
    silent = Observed(metric.metric, np.zeros(6))
    for form in forms_of(silent, W, R):
        np.testing.assert_allclose(form.forward(X).D, silent.measure(X, W, R).D, atol=1e-12)


def test_nearest_pairs_are_those_of_numpy():
    """Ties go to the lowest index."""
    rng = np.random.default_rng(0)
    D, y, labels = rng.integers(0, 4, (200, 6)).astype(float), rng.integers(0, 3, 200), np.array([0, 0, 1, 1, 1, 2])
    for one, other in zip(nearest_pair(D, y, labels), nearest_pairs(D, y, labels)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("kind", METRICS)
def test_gradient_equals_finite_differences(cost, kind):
    cost, metric = COSTS[cost](), METRICS[kind]
    for seed in range(2):
        rng = np.random.default_rng(seed)
        v, W, R = rng.uniform(0.5, 2, 5), rng.normal(size=(len(LABELS), 5)), parameters(rng, kind, 5)
        X, y = np.empty((0, 5)), np.empty(0, dtype=int)
        while len(X) < 12:  # samples near a kink are left out
            x, label = np.where(rng.random(5) < 0.2, np.nan, rng.normal(size=5) * 1.5)[None], rng.integers(0, 3)
            D = by_formula(x, W, R, metric, v)[0]
            own, other = np.sort(D[label == LABELS]), np.sort(D[label != LABELS])
            if min(own[0], other[0]) > 0.01 and np.diff(own[:2]).min(initial=1) > 0.01 and other[1] - other[0] > 0.01:
                X, y = np.vstack((X, x)), np.append(y, label)
        weight = rng.uniform(0.5, 2.0, len(X))
        objective = Objective(Observed(metric, v), Identity(), cost, LABELS)
        value, gradient = objective.value_and_gradient(Params(W, R, None), packed(X), y, weight)

        def evaluate(W, R, X=X, y=y, v=v, weight=weight):
            return weight @ cost.value_and_derivative(by_formula(X, W, R, metric, v), y, LABELS)[0] / weight.sum()

        assert value == pytest.approx(evaluate(W, R), rel=1e-10)
        assert relative_error(gradient.prototypes, differences(lambda W, R=R: evaluate(W, R), W)) < 1e-5
        if R is not None:
            assert relative_error(gradient.relevance, differences(lambda R, W=W: evaluate(W, R), R)) < 1e-5


def test_which_form_is_used(monkeypatch):
    """Pairs for one Omega of sufficient rank, a table that fits in the cache, and few missing values."""
    rng, X, W, R, metric = case(0, "full rank", 8, 6)
    assert isinstance(Forms(W, None, metric.variances).of(X), VectorForm)
    assert isinstance(metric.forms(W, R).of(X), PairForm)
    assert isinstance(metric.forms(W, R[:2]).of(X), ImageForm)
    assert isinstance(metric.forms(np.ones((5000, 8)), R).of(X), ImageForm)
    many = packed(np.where(rng.random((40, 8)) < 0.7, np.nan, 1.0))
    assert isinstance(metric.forms(W, R).of(many), ImageForm)
    expected, imported = metric.distances(X, W, R), builtins.__import__

    def without_numba(name, *args, **kwargs):
        if name.startswith("numba"):
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "lvq.model.missing_kernels")
    monkeypatch.delattr("lvq.model.missing_kernels")
    monkeypatch.setattr(builtins, "__import__", without_numba)
    assert metric.forms(W, R) is None
    np.testing.assert_allclose(metric.distances(X, W, R), expected, rtol=1e-10, atol=1e-10)


def test_compiled_loops_release_the_lock_and_are_stored():
    """Blocks run in threads, and a second process need not compile them again."""
    pytest.importorskip("numba")
    from numba.core.caching import NullCache
    from numba.core.registry import CPUDispatcher

    compiled = [part for part in vars(missing_forms.kernels()).values() if isinstance(part, CPUDispatcher)]
    assert len(compiled) >= 10
    for function in compiled:
        assert function.targetoptions["nogil"] is True
        assert function.targetoptions["error_model"] == "numpy"
        assert not function.targetoptions["fastmath"] & {"nnan", "ninf", "fast"}
        assert not isinstance(function._cache, NullCache)
