"""Training in the span of the samples gives the results of training in all features."""

import tracemalloc
import warnings
from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ1, RSLVQ, LVQClassifier
from lvq.estimators import training
from lvq.model.links import Gaussian
from lvq.model.metrics import Diagonal, Euclidean, Mahalanobis
from lvq.model.objective import Params
from lvq.model.relevance import Matrix
from lvq.model.sample_space import sample_space
from lvq.model.samples import ArraySamples


def wide_data(n_samples=24, n_features=70, seed=0, dtype=np.float64):
    """Three classes with different means in a few directions."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 3
    means = rng.normal(size=(3, 4)) @ rng.normal(size=(4, n_features))
    return (5 + means[y] + rng.normal(size=(n_samples, n_features))).astype(dtype), y


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).set_params(random_state=0).fit(X, y)


@pytest.fixture
def spaces(monkeypatch):
    """The spaces that `fit` has asked for; None where it trains in all features."""
    seen = []
    monkeypatch.setattr(training, "sample_space", lambda *given: seen.append(sample_space(*given)) or seen[-1])
    return seen


MODELS = [
    GLVQ(),
    GLVQ(kernel=Gaussian(width="learned")),
    GMLVQ(relevance=Matrix(rank=2)),
    LGMLVQ(relevance=Matrix(rank=3, local="class")),
    LOGM(relevance=Matrix(rank=2), alpha=0.1),
    RSLVQ(n_prototypes=2, relevance=Matrix(rank=2)),
    LVQClassifier(n_prototypes=1, relevance=Matrix(rank=4, ridge=0.1)),
    LVQClassifier(n_prototypes=1, relevance="matrix"),
    LVQ1(n_prototypes=2),
    GMLVQ(relevance=Matrix(rank=2), solver="online"),
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model).replace("\n", "").replace(" ", ""))
def test_the_results_are_those_in_all_features(model, seed, spaces, monkeypatch):
    """Few iterations: later ones magnify rounding errors."""
    X, y = wide_data(seed=seed)
    model = clone(model).set_params(max_iter=5)
    inside = fitted(model, X, y)
    assert spaces[0].rows.shape == (24, 70)
    monkeypatch.setattr(training, "sample_space", lambda *given: None)
    direct = fitted(model, X, y)
    np.testing.assert_allclose(inside.objective_history_, direct.objective_history_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(inside.prototypes_, direct.prototypes_, rtol=1e-6, atol=1e-6)
    if inside.model_.relevance is not None:
        one, other = (fit.model_.relevance for fit in (inside, direct))
        np.testing.assert_allclose(one, other, atol=1e-6 * np.abs(other).max())
    new, _ = wide_data(seed=seed + 10)  # outside of the span
    np.testing.assert_allclose(inside.predict_proba(new), direct.predict_proba(new), atol=1e-6)


def test_float32_stays_float32(spaces):
    X, y = wide_data(dtype=np.float32)
    model = fitted(LGMLVQ(relevance=Matrix(rank=2, local="class"), max_iter=5), X, y)
    assert spaces[0] is not None
    assert model.prototypes_.dtype == model.omega_.dtype == np.float32
    double = fitted(LGMLVQ(relevance=Matrix(rank=2, local="class"), max_iter=5), X.astype(np.float64), y)
    np.testing.assert_allclose(model.prototypes_, double.prototypes_, atol=1e-3)


@pytest.mark.parametrize(
    "model", [GRLVQ(), GLVQ(solver="adam", max_iter=2), GLVQ(relevance="gradient"), LVQ1(relevance="fc2", max_iter=2)]
)
def test_axes_that_count_keep_all_features(model, spaces):
    """Relevances are of features, and Adam scales each coordinate."""
    fitted(model, *wide_data())
    assert all(space is None for space in spaces)


def test_samples_are_at_most_half_as_many_as_features(spaces):
    X, y = wide_data(24, 47)
    fitted(GLVQ(), X, y)
    assert spaces == [None]


def test_prototypes_outside_of_the_span_keep_all_features():
    X, _ = wide_data()
    samples = ArraySamples(X, np.zeros(24, dtype=int), np.ones(24))
    space = sample_space(samples, Euclidean())
    inside, outside = X[:3].mean(axis=0, keepdims=True), np.random.default_rng(0).normal(size=(1, 70))
    assert space.inside(Params(inside)) is not None
    assert space.inside(Params(outside)) is None
    assert space.inside(Params(inside, X[:2] - X[2])) is not None
    assert space.inside(Params(inside, outside)) is None
    assert sample_space(samples, Diagonal()) is None
    assert sample_space(samples, Mahalanobis()) is not None


@pytest.mark.parametrize("init", ["random", np.random.default_rng(0).normal(size=(3, 70))], ids=["random", "given"])
def test_other_starts_are_trained_in_all_features(init, spaces, monkeypatch):
    X, y = wide_data()
    model = fitted(GLVQ(init=init, max_iter=5), X, y)
    monkeypatch.setattr(training, "sample_space", lambda *given: None)
    np.testing.assert_array_equal(model.prototypes_, fitted(GLVQ(init=init, max_iter=5), X, y).prototypes_)


def test_a_full_matrix_of_many_features_has_the_rank_of_the_samples():
    X, y = wide_data(n_samples=30, n_features=1500)
    tracemalloc.start()
    model = fitted(GMLVQ(max_iter=10), X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.omega_.shape == (29, 1500)
    assert peak < 1500 * 1500 * 8
    np.testing.assert_allclose(np.linalg.norm(model.omega_), 1)
    assert model.score(X, y) == 1


def test_a_full_matrix_of_a_stream_has_all_features():
    """Later samples may differ elsewhere."""
    X, y = wide_data(n_samples=30, n_features=1001)
    model = GMLVQ(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    assert model.omega_.shape == (1001, 1001)


def test_a_warm_start_of_other_samples_is_trained_in_all_features(spaces, monkeypatch):
    """The prototypes of other samples are not in the span of these."""
    X, y = wide_data()
    other, _ = wide_data(seed=1)
    start = fitted(GMLVQ(relevance=Matrix(rank=2), max_iter=3, warm_start=True), X, y)
    one, two = deepcopy(start), deepcopy(start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one.fit(other, y)
        assert spaces[1].inside(Params(start.prototypes_, start.omega_)) is None
        monkeypatch.setattr(training, "sample_space", lambda *given: None)
        two.fit(other, y)
    np.testing.assert_array_equal(one.prototypes_, two.prototypes_)
