"""Starting directions of a matrix, the span of few samples, and training in the coordinates of that span."""

import tracemalloc
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQ1, RSLVQ, LVQClassifier
from lvq.estimators import training
from lvq.model.links import Gaussian
from lvq.model.metrics import Mahalanobis
from lvq.model.objective import Params, sample_space
from lvq.model.relevance import Matrix
from lvq.model.samples import ArraySamples
from lvq.model.starts import _directions, discriminant_directions, span

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4)))
LABELS = np.array([0, 0, 1, 2, 2])


def samples_of(X, y=None, weight=None):
    """All of one class and of weight one, unless given."""
    return ArraySamples(X, np.zeros(len(X), int) if y is None else y, np.ones(len(X)) if weight is None else weight)


def nearest_mean_score(X, y, omega):
    """Fraction of samples that are nearest to the mean of their own class after the map."""
    Z = X @ omega.T
    means = np.array([Z[y == k].mean(axis=0) for k in np.unique(y)])
    return (((Z[:, None] - means) ** 2).sum(axis=2).argmin(axis=1) == y).mean()


@pytest.mark.parametrize("seed", SEEDS)
def test_discriminant_directions_use_the_informative_features(seed, two_of_many):
    """The truncated identity does not."""
    X, y = two_of_many(seed)
    for rank in (1, 2):
        rows = discriminant_directions(samples_of(X, y), rank)
        assert (rows[:, -2:] ** 2).sum() > 0.9 * (rows**2).sum()
    score = nearest_mean_score(X, y, Matrix(rank=2).start(samples_of(X, y), LABELS))
    assert score > 0.9
    assert nearest_mean_score(X, y, np.eye(10)[:2]) < 0.6


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_are_copies_and_order_does_not_matter(seed, two_of_many):
    X, y = two_of_many(seed, n_samples=45)
    rng = np.random.default_rng(seed)
    copies = rng.integers(1, 4, len(X))
    order = rng.permutation(copies.sum())
    given = samples_of(X, y, copies.astype(float)), samples_of(X.repeat(copies, 0)[order], y.repeat(copies)[order])
    for rank in (1, 2, 5):
        one, many = (discriminant_directions(samples, rank) for samples in given)
        np.testing.assert_allclose(one.T @ one, many.T @ many, rtol=1e-8, atol=1e-10)  # signs do not matter


# -- fewer samples than features ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("copies", [1, 9])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_span_keeps_all_distances(seed, copies):
    """Only distinct samples count, also where there are more copies than features."""
    rng = np.random.default_rng(seed)
    X = np.tile(rng.normal(size=(6, 30)) * rng.uniform(0.1, 10, 30), (copies, 1))
    X[::6, 0] = 0.0
    X[-6, 0] = -0.0  # equal to zero
    rows = span(samples_of(X))
    assert rows.shape == (5, 30)
    np.testing.assert_allclose(rows @ rows.T, np.eye(5), atol=1e-12)
    differences, images = X[:, None] - X, (X[:, None] - X) @ rows.T
    np.testing.assert_allclose((differences**2).sum(axis=2), (images**2).sum(axis=2), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_directions_of_few_samples_are_those_of_all_features(seed, two_of_many):
    """The computation in the span of the samples equals that in all features."""
    X, y = two_of_many(seed, n_samples=21, n_features=50)
    samples = samples_of(X, y, np.random.default_rng(seed).uniform(0.5, 1.5, 21))
    for rank in (1, 2, 3, 10):
        fast, slow = discriminant_directions(samples, rank), _directions(samples, rank, 50)
        np.testing.assert_allclose(fast.T @ fast, slow.T @ slow, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("local", [None, "class", "prototype"])
def test_a_free_matrix_starts_as_the_identity_where_samples_differ(local, two_of_many):
    X, y = two_of_many(0, n_samples=12, n_features=30)
    rule = Matrix(local=local, ridge=0.01)
    start = rule.start(samples_of(X, y), LABELS).reshape(-1, 11, 30)
    Z = X @ start[0].T
    np.testing.assert_allclose(np.linalg.norm(Z[0] - Z[1:], axis=1), np.linalg.norm(X[0] - X[1:], axis=1) / 11**0.5)
    full = Matrix(local=local).start(samples_of(X, y), LABELS)  # without a ridge: all features
    assert full.shape[-2:] == (30, 30)


def test_more_directions_than_those_in_which_samples_differ(two_of_many):
    """The first are those of the highest rank in which samples differ; no sample differs in the others."""
    X, y = two_of_many(0, n_samples=8, n_features=20)
    found, inside = (discriminant_directions(samples_of(X, y), rank) for rank in (12, 7))
    np.testing.assert_allclose(found[:7], inside)
    np.testing.assert_allclose((X - X[0]) @ found[7:].T, 0, atol=1e-9)
    assert np.linalg.matrix_rank(found) == 12


# -- training in the span ---------------------------------------------------------------------------------------------


def wide_data(n_samples=24, n_features=70, seed=0):
    """Three classes with different means in a few directions."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 3
    means = rng.normal(size=(3, 4)) @ rng.normal(size=(4, n_features))
    return 5 + means[y] + rng.normal(size=(n_samples, n_features)), y


def fitted(model, X, y):
    return clone(model).set_params(random_state=0).fit(X, y)


@pytest.fixture
def spaces(monkeypatch):
    """The spaces that `fit` has asked for; None where it trains in all features."""
    seen = []
    monkeypatch.setattr(training, "sample_space", lambda *given: seen.append(sample_space(*given)) or seen[-1])
    return seen


MODELS = [
    GLVQ(kernel=Gaussian(width="learned")),
    LGMLVQ(relevance=Matrix(rank=3, local="class")),
    RSLVQ(n_prototypes=2, relevance=Matrix(rank=2)),
    LVQClassifier(n_prototypes=1, relevance="matrix"),
    LVQ1(n_prototypes=2),
    GMLVQ(relevance=Matrix(rank=2), solver="online"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model).replace("\n", "").replace(" ", ""))
def test_the_results_are_those_in_all_features(model, spaces, monkeypatch):
    """Few iterations: later ones magnify rounding errors."""
    X, y = wide_data()
    model = clone(model).set_params(max_iter=5)
    inside = fitted(model, X, y)
    assert spaces[0].rows.shape == (24, 70)
    assert fitted(model, X.astype(np.float32), y).prototypes_.dtype == np.float32
    monkeypatch.setattr(training, "sample_space", lambda *given: None)
    direct = fitted(model, X, y)
    np.testing.assert_allclose(inside.objective_history_, direct.objective_history_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(inside.prototypes_, direct.prototypes_, rtol=1e-6, atol=1e-6)
    if inside.model_.relevance is not None:
        one, other = (fit.model_.relevance for fit in (inside, direct))
        np.testing.assert_allclose(one, other, atol=1e-6 * np.abs(other).max())
    new, _ = wide_data(seed=10)  # outside of the span
    np.testing.assert_allclose(inside.predict_proba(new), direct.predict_proba(new), atol=1e-6)


GROUPS = [None, *range(69)]
SHRUNK = LGMLVQ(relevance=Matrix(rank=3, local="class", shrinkage=0.1), max_iter=2)  # towards the identity of features


@dataclass(frozen=True)
class Excluding(Matrix):
    """A rule of the user's own, of features: it leaves out the first ten."""

    def constrained(self, free):
        return super().constrained(free * (np.arange(free.shape[-1]) >= 10))


BY_FEATURES = [GRLVQ(), GLVQ(solver="adam", max_iter=2), LVQ1(relevance="fc2", max_iter=2), SHRUNK]
BY_FEATURES += [GMLVQ(relevance=part, max_iter=2) for part in (Matrix(smoothness=0.1), Matrix(feature_groups=GROUPS))]


@pytest.mark.parametrize("model", BY_FEATURES)
def test_axes_that_count_keep_all_features(model, spaces):
    """Relevances are of features, and Adam scales each coordinate; more samples would save nothing."""
    fitted(model, *wide_data())
    fitted(GLVQ(), *wide_data(24, 47))
    assert all(space is None for space in spaces)


def test_a_rule_of_the_users_own_is_of_features():
    omega = fitted(GMLVQ(relevance=Excluding(rank=2), max_iter=2), *wide_data()).omega_
    assert not omega[:, :10].any()
    assert omega[:, 10:].any()


def test_a_matrix_outside_of_the_span_keeps_all_features():
    X, _ = wide_data()
    space = sample_space(samples_of(X), Mahalanobis())
    inside, outside = X[:3].mean(axis=0, keepdims=True), np.random.default_rng(0).normal(size=(1, 70))
    assert space.inside(Params(inside, X[:2] - X[2])) is not None
    assert space.inside(Params(inside, outside)) is None


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


def test_a_warm_start_of_other_samples_is_trained_in_all_features(spaces, monkeypatch):
    """The prototypes of other samples are not in the span of these."""
    X, y = wide_data()
    other, _ = wide_data(seed=1)
    start = fitted(GMLVQ(relevance=Matrix(rank=2), max_iter=3, warm_start=True), X, y)
    one, two = deepcopy(start), deepcopy(start)
    one.fit(other, y)
    assert spaces[1].inside(Params(start.prototypes_, start.omega_)) is None
    monkeypatch.setattr(training, "sample_space", lambda *given: None)
    two.fit(other, y)
    np.testing.assert_array_equal(one.prototypes_, two.prototypes_)
