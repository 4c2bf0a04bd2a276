"""Folded prototypes give the labels of the distances, for every shared metric and type."""

import numpy as np
import pytest

from lvq.model import folded
from lvq.model.folded import FoldedPrototypes, folded_prototypes, within_limits
from lvq.model.metrics import Diagonal, Euclidean, Matrix
from lvq.model.prototype_model import PrototypeModel

METRICS = {"plain": Euclidean(), "diagonal": Diagonal(), "matrix": Matrix()}


def parameters(kind, n, random):
    return {"plain": None, "diagonal": random.random(n), "matrix": random.normal(size=(min(n, 4), n))}[kind]


def case(kind, n, shift, dtype, seed=0, count=600, prototypes=40):
    random = np.random.default_rng(seed)
    W = (random.normal(size=(prototypes, n)) + shift).astype(dtype)
    X = (2 * random.normal(size=(count, n)) + shift).astype(dtype)
    R = parameters(kind, n, random)
    return METRICS[kind], W, None if R is None else R.astype(dtype), X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("n", [1, 3, 70])
@pytest.mark.parametrize("kind", METRICS)
def test_labels_are_those_of_the_distances(kind, n, shift, dtype):
    metric, W, R, X = case(kind, n, shift, dtype)
    found = FoldedPrototypes(metric, W, R, X.dtype).nearest(X)
    np.testing.assert_array_equal(found, metric.distances(X, W, R).argmin(axis=1))


@pytest.mark.parametrize("kind", METRICS)
def test_close_rows_are_decided_by_the_distances(kind, monkeypatch):
    """Samples halfway between two prototypes: the product alone would decide some of them by rounding."""
    metric, W, R, _ = case(kind, 6, 1e4, np.float64)
    X = np.concatenate([(W[k] + W[k + 1 :]) / 2 for k in range(5)])
    seen = []
    distances = type(metric).distances
    monkeypatch.setattr(
        type(metric), "distances", lambda self, X, W, R: seen.append(len(X)) or distances(self, X, W, R)
    )
    found = FoldedPrototypes(metric, W, R, X.dtype).nearest(X)
    assert sum(seen) > 0
    D = metric.distances(X, W, R)
    np.testing.assert_array_less(D[np.arange(len(X)), found] - D.min(axis=1), 1e-9 * D.max(axis=1))


def test_ties_go_to_the_lowest_index():
    W = np.array([[1.0, 2.0], [1.0, 2.0], [5.0, 5.0], [5.0, 5.0]])
    found = FoldedPrototypes(Euclidean(), W, None, np.dtype(float)).nearest(np.array([[1.0, 1.0], [6.0, 6.0]]))
    assert found.tolist() == [0, 2]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200, -1e200])
@pytest.mark.parametrize("kind", METRICS)
def test_values_that_are_not_finite_or_too_large(kind, bad):
    metric, W, R, X = case(kind, 3, 0.0, np.float64)
    X[-1, 1] = bad
    assert FoldedPrototypes(metric, W, R, X.dtype).nearest(X) is None
    assert not within_limits(X)
    assert within_limits(X[:-1])


def test_blocks_give_the_same_and_may_run_in_any_map(monkeypatch):
    metric, W, R, X = case("matrix", 8, 0.0, np.float64, count=1000)
    whole = FoldedPrototypes(metric, W, R, X.dtype).nearest(X)
    monkeypatch.setattr(folded, "BLOCK_BYTES", 8 * (8 + 40) * 70)
    calls = []
    blocks = FoldedPrototypes(metric, W, R, X.dtype).nearest(
        X, lambda f, items: [calls.append(1) or f(i) for i in items]
    )
    np.testing.assert_array_equal(blocks, whole)
    assert len(calls) == -(-1000 // 70)


def test_folding_happens_once_for_each_type():
    model = PrototypeModel(np.eye(3), np.arange(3), np.arange(3))
    double = folded_prototypes(model, np.dtype(np.float64))
    assert folded_prototypes(model, np.dtype(np.float64)) is double
    assert folded_prototypes(model, np.dtype(np.float32)) is not double
    assert vars(model).keys() == {*PrototypeModel.__dataclass_fields__}


def test_one_prototype_and_no_samples():
    model = PrototypeModel(np.ones((1, 2)), np.array([0]), np.array(["a"]))
    assert model.predict(np.zeros((3, 2))).tolist() == ["a"] * 3
    assert model.predict(np.zeros((0, 2))).tolist() == []
