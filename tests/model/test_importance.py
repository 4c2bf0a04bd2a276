"""Importance of features: explained variance of the model's outputs by its definition; what must not change it."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from lvq.model import importance
from lvq.model.importance import explained_fractions, feature_importances
from lvq.model.links import Gaussian, Identity
from lvq.model.metrics import Diagonal
from lvq.model.prototype_model import PrototypeModel
from lvq.model.samples import ArraySamples
from lvq.model.scores import DecisionRule, nearest
from tests.model.test_prototype_model import LABELS, METRICS, make_model


def draw(n_samples=60, seed=0):
    """Correlated features, one of two values, with weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 4)) @ rng.normal(size=(4, 4)) + rng.normal(0, 5, 4)
    X[:, 3] = X[:, 3] > np.median(X[:, 3])
    return rng, X, rng.uniform(0.5, 2.0, n_samples)


def made(rng, X, name, **parts):
    """A model of random arrays, whose prototypes are samples."""
    return replace(make_model(name), prototypes=X[rng.choice(len(X), len(LABELS), replace=False)], **parts)


def samples_of(X, weight):
    return ArraySamples(X, np.zeros(X.shape[0], dtype=int), weight)


def plain_fractions(model, X, weight):
    """By loops: a least squares fit of every output function for each feature, and the pair of every sample."""
    w = weight / weight.sum()
    D = model.distances(X)
    H, P = model.link.value(D), model.probabilities(D)

    def variance(f):
        return w @ (f - w @ f) ** 2

    def explained_part(f, x):
        t = np.tanh((x - w @ x) / np.sqrt(variance(x)))
        design = np.stack([np.ones_like(t), t, t**2, t**3], axis=1)
        root = np.sqrt(w)
        coefficients = np.linalg.lstsq(design * root[:, None], f * root, rcond=1e-10)[0]
        return variance(design @ coefficients)

    functions = []
    for i, row in enumerate(D):
        winner = row.argmin()
        rival = min((j for j in range(len(row)) if LABELS[j] != LABELS[winner]), key=lambda j: row[j])
        functions.append((w[i], H[:, rival] - H[:, winner]))
    result = []
    for x in X.T:
        by_class = sum(explained_part(p, x) for p in P.T) / sum(variance(p) for p in P.T)
        by_pair = sum(m * explained_part(f, x) for m, f in functions) / sum(m * variance(f) for m, f in functions)
        result.append((by_class + by_pair) / 2)
    return np.array(result)


POSTERIOR = {"xi": 1.0, "soft": True, "by_posterior": True}
OUTPUTS = [(Identity(), {}), (Gaussian(3.0), {"xi": 2.0}), (Identity(), POSTERIOR)]


@pytest.mark.parametrize(("name", "number"), list(zip(METRICS, [0, 1, 2, 0, 1])))
def test_importances_equal_their_definition(name, number, monkeypatch):
    """Also in blocks of samples and of features."""
    rng, X, weight = draw()
    link, decision = OUTPUTS[number]
    model = made(rng, X, name, link=link, decision=DecisionRule(**decision))
    if model.decision.by_posterior:  # the winner is of the predicted class there
        monkeypatch.setattr(PrototypeModel, "nearest", lambda self, D: (nearest(D, LABELS), None))
    monkeypatch.setattr("lvq.model.rows.BLOCK", 7 * 7)
    monkeypatch.setattr(importance, "FEATURES_HELD", 2)
    found = explained_fractions(model, samples_of(X, weight))
    np.testing.assert_allclose(found, plain_fractions(model, X, weight), rtol=1e-6, atol=1e-9)
    shares = feature_importances(model, samples_of(X, weight))
    np.testing.assert_allclose(shares, found / found.sum())
    assert ((found >= 0) & (found <= 1 + 1e-9)).all()


UNITS = np.array([1.0, 1000.0, 0.01, 1.0])


@pytest.mark.parametrize(("unit", "inverse"), [(1e-140, 1), (UNITS, 1 / UNITS)], ids=["tiny", "own"])
def test_units_do_not_count(unit, inverse):
    """Of all features, where squares of squared distances would overflow or underflow, or of each."""
    rng, X, weight = draw()
    model = made(rng, X, "matrix")
    other = replace(model, prototypes=model.prototypes * unit, relevance=model.relevance * inverse)
    one, two = (feature_importances(m, samples_of(Z, weight)) for m, Z in ((model, X), (other, X * unit)))
    np.testing.assert_allclose(one, two, rtol=1e-6)


def test_features_that_count_only_together_are_found():
    """XOR: no class depends on one of the two features alone, but the nearest prototypes do."""
    X = np.random.default_rng(0).normal(size=(400, 6))
    W = np.zeros((4, 6))
    W[:, :2] = [[1, 1], [-1, -1], [1, -1], [-1, 1]]
    relevance = np.array([1.0, 1.0, 0, 0, 0, 0])
    model = PrototypeModel(W, np.array([0, 0, 1, 1]), np.array([0, 1]), Diagonal(), relevance)
    found = feature_importances(model, samples_of(X, np.ones(400)))
    assert found[:2].min() > 5 * found[2:].max()


def test_of_many_prototypes_the_most_frequent_count(monkeypatch):
    """As if the others had no samples and were not there."""
    rng, X, weight = draw(200)
    model = made(rng, X, "euclidean")
    winner = model.nearest(model.distances(X))[0].winner
    monkeypatch.setattr(importance, "OUTPUTS", 2)
    kept = importance.Outputs.uncalibrated(model).most_frequent(samples_of(X, weight), 50)
    assert set(kept.prototypes) == set(np.argsort(np.bincount(winner, weight, len(LABELS)))[-2:])
    values, pair = kept.of(X)
    assert values.shape == (200, 4)
    np.testing.assert_array_equal(pair[:, 0] >= 0, np.isin(winner, kept.prototypes))


@pytest.mark.parametrize("shape", [(5000, 4), (10, 30_000)], ids=["prototypes", "features"])
def test_no_matrix_of_all_prototypes_or_features(shape):
    """A number for each pair of them would take 200 MB and 7 GB."""
    X, count = np.random.default_rng(0).normal(size=shape), shape[0]
    model = PrototypeModel(X, np.arange(count), np.arange(count), Diagonal(), np.full(shape[1], 1 / shape[1]))
    tracemalloc.start()
    found = feature_importances(model, samples_of(X, np.ones(count)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.sum() == pytest.approx(1)
    assert peak < 150e6
