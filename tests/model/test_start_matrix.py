"""Starting directions of a matrix of low rank, and the span of fewer samples than features."""

import numpy as np
import pytest
from scipy import sparse

from lvq.model.relevance import Matrix
from lvq.model.samples import ArraySamples
from lvq.model.start_matrix import _directions, class_means, class_moments, discriminant_directions, span

SEEDS = (0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6)))
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
@pytest.mark.parametrize("rank", [1, 2])
def test_discriminant_directions_use_the_informative_features(rank, seed, two_of_many):
    X, y = two_of_many(seed)
    rows = discriminant_directions(samples_of(X, y), rank)
    fraction = (rows[:, -2:] ** 2).sum() / (rows**2).sum()
    assert rows.shape == (rank, 10)
    assert fraction > 0.9


@pytest.mark.parametrize("seed", SEEDS)
def test_discriminant_directions_are_better_than_the_truncated_identity(seed, two_of_many):
    X, y = two_of_many(seed)
    score = nearest_mean_score(X, y, Matrix(rank=2).start(samples_of(X, y), LABELS))
    assert score > 0.9
    assert nearest_mean_score(X, y, np.eye(10)[:2]) < 0.6


@pytest.mark.parametrize("seed", SEEDS)
def test_further_directions_are_linearly_independent(seed, two_of_many):
    X, y = two_of_many(seed)
    for rank in range(1, 10):
        rows = discriminant_directions(samples_of(X, y), rank)
        assert rows.shape == (rank, 10)
        assert np.linalg.matrix_rank(rows) == rank
    # the third follows the largest remaining spread, that of the first feature
    assert np.abs(discriminant_directions(samples_of(X, y), 3)[2]).argmax() == 0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rank", [1, 2, 5])
def test_weights_are_copies_and_order_does_not_matter(rank, seed, two_of_many):
    X, y = two_of_many(seed, n_samples=45)
    rng = np.random.default_rng(seed)
    copies = rng.integers(1, 4, len(X))
    order = rng.permutation(copies.sum())
    one = discriminant_directions(samples_of(X, y, copies.astype(float)), rank)
    many = discriminant_directions(samples_of(X.repeat(copies, 0)[order], y.repeat(copies)[order]), rank)
    np.testing.assert_allclose(one.T @ one, many.T @ many, rtol=1e-8, atol=1e-10)  # signs do not matter


@pytest.mark.parametrize("seed", SEEDS)
def test_constant_features_and_few_samples(seed, two_of_many):
    X, y = two_of_many(seed, n_samples=6)
    X[:, 3] = 7.0
    for rank in (1, 2, 6, 9):
        rows = discriminant_directions(samples_of(X, y), rank)
        assert np.isfinite(rows).all()
        assert np.linalg.matrix_rank(rows) == rank
    assert np.abs(discriminant_directions(samples_of(X, y), 2)[:, 3]).max() < 1e-8


def test_classes_without_any_spread():
    X, y = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 1.0]]), np.array([0, 0, 1])
    rows = discriminant_directions(samples_of(X, y), 1)
    assert abs(rows[0, 0]) > 0
    assert abs(rows[0, 1]) < 1e-12


# -- fewer samples than features ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_the_span_keeps_all_distances(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, 30)) * rng.uniform(0.1, 10, 30)
    X[6] = X[0]  # a copy adds no direction
    rows = span(samples_of(X))
    assert rows.shape == (5, 30)
    np.testing.assert_allclose(rows @ rows.T, np.eye(5), atol=1e-12)
    differences, images = X[:, None] - X, (X[:, None] - X) @ rows.T
    np.testing.assert_allclose((differences**2).sum(axis=2), (images**2).sum(axis=2), rtol=1e-9, atol=1e-9)


def test_the_span_of_enough_samples_is_the_identity():
    X = np.random.default_rng(0).normal(size=(4, 4))
    assert span(samples_of(X)).tolist() == np.eye(4).tolist()
    assert span(samples_of(np.ones((2, 3)))).tolist() == np.eye(3).tolist()  # no sample differs


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_the_span_of_huge_and_tiny_values(size):
    X = np.random.default_rng(0).normal(size=(4, 9))
    one, other = span(samples_of(X)), span(samples_of(X * size))
    np.testing.assert_allclose(one.T @ one, other.T @ other, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_are_copies_in_the_span(seed):
    rng = np.random.default_rng(seed)
    X, copies = rng.normal(size=(6, 40)), rng.integers(1, 4, 6)
    one, many = span(samples_of(X, weight=copies.astype(float))), span(samples_of(X.repeat(copies, 0)))
    np.testing.assert_allclose(one.T @ one, many.T @ many, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rank", [1, 2, 3, 10])
def test_directions_of_few_samples_are_those_of_all_features(rank, seed, two_of_many):
    """The computation in the span of the samples equals that in all features."""
    X, y = two_of_many(seed, n_samples=21, n_features=50)
    samples = samples_of(X, y, np.random.default_rng(seed).uniform(0.5, 1.5, 21))
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


def test_a_sample_of_no_weight_adds_no_direction():
    X = np.random.default_rng(0).normal(size=(5, 20))
    one, other = span(samples_of(X, weight=np.array([1.0, 1.0, 0.0, 1.0, 1.0]))), span(samples_of(X[[0, 1, 3, 4]]))
    np.testing.assert_allclose(one.T @ one, other.T @ other, atol=1e-12)


def test_only_distinct_samples_count():
    """More rows than features, but fewer distinct ones: the span is that of the distinct ones."""
    X = np.random.default_rng(0).normal(size=(4, 6))
    X[0, 0] = 0.0
    many = np.tile(X, (5, 1))
    many[4, 0] = -0.0  # equal to zero
    one, other = span(samples_of(X)), span(samples_of(many))
    assert other.shape == (3, 6)
    np.testing.assert_allclose(one.T @ one, other.T @ other, atol=1e-12)


def test_more_directions_than_those_in_which_samples_differ(two_of_many):
    """The first are those of the highest rank in which samples differ; no sample differs in the others."""
    X, y = two_of_many(0, n_samples=8, n_features=20)
    found, inside = (discriminant_directions(samples_of(X, y), rank) for rank in (12, 7))
    np.testing.assert_allclose(found[:7], inside)
    np.testing.assert_allclose((X - X[0]) @ found[7:].T, 0, atol=1e-9)
    assert np.linalg.matrix_rank(found) == 12


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_one_class_has_principal_axes_alone(rank):
    """By falling spread, in units of the typical spread."""
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 5.0, 2.0]
    found = discriminant_directions(samples_of(X), rank)
    centred = X - X.mean(axis=0)
    axes = np.linalg.svd(centred)[2][:rank] / np.sqrt((centred**2).mean())
    np.testing.assert_allclose(np.abs(found), np.abs(axes), rtol=1e-9)


@pytest.mark.parametrize("kind", ["array", "tensor", "sparse"])
def test_class_moments_are_their_definition(kind):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(60, 4)) * [1, 1e3, 1e-3, 0], rng.integers(0, 3, 60), rng.uniform(0.5, 2, 60)
    means = np.array([np.average(X[y == k], axis=0, weights=weight[y == k]) for k in range(3)])
    residual = X - means[y]
    place = {
        "array": np.asarray,
        "sparse": sparse.csr_array,
        "tensor": lambda X: pytest.importorskip("torch").tensor(X),
    }
    every = place["tensor"] if kind == "tensor" else np.asarray
    samples = ArraySamples(place[kind](X), every(y), every(weight))
    expected = np.bincount(y, weight), means, (residual.T * weight) @ residual / weight.sum()
    for ours, theirs in zip((*class_moments(samples), *class_means(samples)), (*expected, *expected[:2])):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
