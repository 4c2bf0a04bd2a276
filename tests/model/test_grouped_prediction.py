"""Predictions by groups of prototypes: the labels are those of the distances, for every shared metric and type."""

import numpy as np
import pytest

from lvq.model import grouped_prediction, groups, prototype_model
from lvq.model.folded import FoldedPrototypes
from lvq.model.grouped_prediction import GroupedPrediction, prediction_by
from lvq.model.metrics import Diagonal, Euclidean, Matrix
from lvq.model.prototype_model import PrototypeModel

METRICS = {"plain": Euclidean(), "diagonal": Diagonal(), "matrix": Matrix()}
TYPES = [(np.float64, np.float64), (np.float32, np.float32), (np.float64, np.float32), (np.float32, np.float64)]


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch):
    monkeypatch.setattr(grouped_prediction, "MANY", 100)
    monkeypatch.setattr(grouped_prediction, "ROWS", 10)
    monkeypatch.setattr(grouped_prediction, "BLOCK", 150)
    monkeypatch.setattr(groups, "ROWS", 64)


def make_model(kind, n, shift, dtype, prototypes=200, classes=20):
    random = np.random.default_rng(n)
    centres = 5 * random.normal(size=(10, n)) + shift
    W = (centres[random.integers(10, size=prototypes)] + random.normal(size=(prototypes, n))).astype(dtype)
    R = {"plain": None, "diagonal": random.random(n), "matrix": random.normal(size=(min(n, 4), n))}[kind]
    labels = np.sort(np.arange(prototypes) % classes)
    return PrototypeModel(W, labels, np.arange(classes), METRICS[kind], None if R is None else R.astype(dtype))


def samples(model, count, dtype):
    """Samples around the prototypes, and some near the midplane of two, nearer and nearer."""
    random = np.random.default_rng(1)
    W = model.prototypes.astype(np.float64)
    one, other = W[random.integers(len(W), size=(2, count))]
    X = one + random.normal(size=one.shape)
    X[::2] = ((one + other) / 2 + 10.0 ** -random.integers(1, 9, (count, 1)) * (one - other))[::2]
    return X.astype(dtype)


@pytest.mark.parametrize(("of_model", "of_samples"), TYPES)
@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("n", [1, 3, 70, 300])
@pytest.mark.parametrize("kind", METRICS)
def test_labels_are_those_of_the_distances(kind, n, shift, of_model, of_samples):
    model = make_model(kind, n, shift, of_model)
    X = samples(model, 400, of_samples)
    assert isinstance(prediction_by(model, X), GroupedPrediction)
    np.testing.assert_array_equal(model.predicted(X), model.over_blocks(model.decide, X))


def test_close_rows_are_decided_by_the_distances(monkeypatch):
    """Samples halfway between prototypes: scores alone would decide some of them by rounding."""
    model = make_model("plain", 6, 1e4, np.float64)
    X = np.concatenate([(model.prototypes[k] + model.prototypes[k + 1 :]) / 2 for k in range(3)])
    close = prediction_by(model, X).predicted(X).close
    assert 0 < len(close) < len(X)
    monkeypatch.setattr(prototype_model, "SMALL", 0)  # of these rows alone
    np.testing.assert_array_equal(model.predicted(X)[close], model.decide(model.distances(X[close])))


def test_equal_prototypes_of_one_class_are_not_close():
    model = make_model("plain", 3, 0.0, np.float64)
    W = np.repeat(model.prototypes[::2], 2, axis=0)  # each twice, in the same class
    twice = PrototypeModel(W, model.labels, model.classes)
    X = W[::2] + 1e-3
    np.testing.assert_array_equal(prediction_by(twice, X).predicted(X).close, [])


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_values_that_need_an_error(value):
    model = make_model("plain", 3, 0.0, np.float64)
    X = samples(model, 400, np.float64)
    X[399, 1] = value
    assert model.predicted(X) is None


def test_few_samples_or_prototypes_need_no_groups():
    model = make_model("plain", 3, 0.0, np.float64)
    X = samples(model, 50, np.float64)
    assert isinstance(prediction_by(model, X[:5]), FoldedPrototypes)
    prediction_by(model, X)
    assert isinstance(prediction_by(model, X[:5]), GroupedPrediction)  # they are made
    few = make_model("plain", 3, 0.0, np.float64, prototypes=50)
    assert isinstance(prediction_by(few, X), FoldedPrototypes)
