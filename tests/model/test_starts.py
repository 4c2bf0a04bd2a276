"""Starting prototypes: how many, where, and that a weight is exactly a number of copies."""

import numpy as np
import pytest

from lvq.model import starts
from lvq.model.samples import ArraySamples
from lvq.model.starts import STARTS, k_means, start_prototypes

SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6)))


def start(X, y, counts, init, seed=0, weight=None, names=None):
    weight = np.ones(len(X)) if weight is None else weight
    return start_prototypes(ArraySamples(X, y, weight), np.array(counts), init, np.random.RandomState(seed), names)


def blobs(seed, n_samples=40, n_features=None):
    """Samples of three classes, in no order."""
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(1, 12)) if n_features is None else n_features
    y = rng.permutation(np.arange(n_samples) % 3)
    return rng, rng.normal(size=(n_samples, n_features)) + 2 * y[:, None], y


# -- where -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", STARTS)
def test_prototypes_are_ordered_by_class_with_the_given_counts_and_type(init):
    for seed, dtype in enumerate((np.float64, np.float32)):
        _, X, y = blobs(seed)
        W, labels = start(X.astype(dtype), y, [2, 4, 1], init, seed)
        assert labels.tolist() == [0, 0, 1, 1, 1, 1, 2]
        assert W.shape == (7, X.shape[1])
        assert np.isfinite(W).all()
        assert W.dtype == start(X.astype(dtype), y, [1, 1, 1], init)[0].dtype == dtype


@pytest.mark.parametrize("seed", SEEDS)
def test_means_are_the_weighted_means_of_the_classes(seed):
    rng, X, y = blobs(seed)
    weight = rng.uniform(0.1, 3, len(X))
    expected = [sum(w * x for w, x in zip(weight[y == k], X[y == k])) / weight[y == k].sum() for k in range(3)]
    W, labels = start(X, y, [1, 1, 1], "means", weight=weight)
    np.testing.assert_allclose(W, expected, rtol=1e-12)
    assert labels.tolist() == [0, 1, 2]
    # the special case of one prototype per class and the general one agree
    mixed, labels = start(X, y, [1, 3, 1], "means", weight=weight)
    np.testing.assert_allclose(mixed[[0, 4]], np.array(expected)[[0, 2]], rtol=1e-12)
    deviation = np.sqrt(np.average((X[y == 1] - expected[1]) ** 2, axis=0, weights=weight[y == 1]))
    assert (np.abs(mixed[1:4] - expected[1]) < 0.6 * deviation).all()  # a small spread: six sigma of a tenth
    assert len(np.unique(mixed[1:4], axis=0)) == 3


@pytest.mark.parametrize("seed", SEEDS)
def test_samples_are_different_samples_of_the_class_and_random_places_in_its_range(seed):
    _, X, y = blobs(seed)
    W, labels = start(X, y, [3, 5, 2], "samples", seed)
    assert len(np.unique(W, axis=0)) == len(W)
    for w, label in zip(W, labels):
        assert (X[y == label] == w).all(axis=1).any()
    W, _ = start(X, y, [5, 5, 5], "random", seed)
    assert ((X.min(axis=0) <= W) & (X.max(axis=0) >= W)).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_k_means_ends_where_every_centre_is_the_weighted_mean_of_its_samples(seed, monkeypatch):
    """Once no sample changes its cluster; by default it ends when few do."""
    monkeypatch.setattr(starts, "SETTLED", 0.0)
    rng, X, _ = blobs(seed)
    weight = rng.integers(1, 4, len(X)).astype(float)
    centres = k_means(ArraySamples(X, np.zeros(len(X), int), weight), 5, np.random.RandomState(seed))
    nearest = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    for j, centre in enumerate(centres):
        np.testing.assert_allclose(
            centre, np.average(X[nearest == j], axis=0, weights=weight[nearest == j]), rtol=1e-10
        )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("init", STARTS)
def test_a_weight_is_exactly_a_number_of_copies_in_any_order(init, seed):
    rng, X, y = blobs(seed, n_samples=24)
    copies = rng.integers(1, 4, len(X))
    order = rng.permutation(copies.sum())
    W, labels = start(X, y, [3, 2, 1], init, seed, copies.astype(float))
    many, many_labels = start(X.repeat(copies, 0)[order], y.repeat(copies)[order], [3, 2, 1], init, seed)
    np.testing.assert_array_equal(labels, many_labels)
    np.testing.assert_allclose(W, many, rtol=1e-9, atol=1e-9)


# -- too few distinct samples ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("init", STARTS)
def test_a_class_with_too_few_distinct_samples_warns_and_gets_fewer_prototypes(init, seed):
    rng, X, y = blobs(seed, n_samples=30)
    X[y == 1] = X[y == 1][:2].repeat(5, axis=0)
    X, y = X[order := rng.permutation(30)], y[order]
    with pytest.warns(UserWarning, match="class b has 2 distinct samples for 4 prototypes") as caught:
        W, labels = start(X, y, [3, 4, 3], init, seed, names=np.array(["a", "b", "c"]))
    assert len(caught) == 1
    assert labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    assert len(W) == 8


def test_clusters_of_a_large_class_are_found_by_some_of_its_samples():
    rng = np.random.default_rng(0)
    middles = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    X = np.repeat(middles, 2000, axis=0) + 0.1 * rng.standard_normal((6000, 2))
    centres = k_means(ArraySamples(X, np.zeros(6000, int), np.ones(6000)), 3, np.random.RandomState(0))
    distance = np.linalg.norm(centres[:, None] - middles, axis=2)
    assert sorted(distance.argmin(axis=1)) == [0, 1, 2]
    assert distance.min(axis=1).max() < 0.05
