"""Starts from sparse rows against those from dense rows; directions agree up to their signs."""

import numpy as np
import pytest
from scipy import sparse

from lvq.model import sparse_starts
from lvq.model.directions import discriminant_directions, distinct_rows
from lvq.model.starts import STARTS, start_prototypes


def rows_of_classes(n_samples, n_features, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % n_classes
    X = rng.poisson(0.1 + 0.9 * (np.arange(n_features) % n_classes == y[:, None]), (n_samples, n_features))
    return X * rng.uniform(0.5, 1.0, X.shape), y, rng.integers(1, 4, n_samples).astype(float)


@pytest.mark.parametrize("init", STARTS)
def test_prototypes(init):
    X, y, weight = rows_of_classes(90, 20)
    given = y, weight, np.array([3, 1, 2]), init
    dense = start_prototypes(X, *given, np.random.RandomState(0))
    found = start_prototypes(sparse.csr_array(X), *given, np.random.RandomState(0))
    np.testing.assert_allclose(found[0], dense[0], atol=1e-12)
    np.testing.assert_array_equal(found[1], dense[1])


def test_copies_of_rows_are_not_drawn_twice():
    X = sparse.csr_array(np.repeat(np.eye(3), 4, axis=0))
    W, _ = start_prototypes(X, np.zeros(12, dtype=int), np.ones(12), np.array([3]), "kmeans", np.random.RandomState(0))
    np.testing.assert_allclose(np.sort(W, axis=0), np.sort(np.eye(3), axis=0))
    assert sparse_starts.distinct_rows(X, 10) == distinct_rows(X.toarray(), 10) == 3
    with pytest.warns(UserWarning, match="has 3 distinct samples for 4 prototypes"):
        start_prototypes(X, np.zeros(12, dtype=int), np.ones(12), np.array([4]), "kmeans", np.random.RandomState(0))


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("shape", [(90, 12), (40, 60), (30, 700)])
def test_directions(shape, rank):
    """More and fewer samples than features; 700 features are too many for the whole matrix of products."""
    X, y, weight = rows_of_classes(*shape)
    wanted = discriminant_directions(X, y, weight, rank)
    found = discriminant_directions(sparse.csr_array(X), y, weight, rank)
    found *= np.sign((found * wanted).sum(axis=1))[:, None]
    np.testing.assert_allclose(found, wanted, atol=1e-6 * np.abs(wanted).max())


def test_directions_without_spread_and_with_equal_means():
    X, y = np.repeat(np.eye(3), 4, axis=0), np.repeat([0, 1, 2], 4)
    rows = discriminant_directions(sparse.csr_array(X), y, np.ones(12), 2)
    wanted = discriminant_directions(X, y, np.ones(12), 2)
    np.testing.assert_allclose(rows.T @ rows, wanted.T @ wanted, atol=1e-10)
    same = discriminant_directions(sparse.csr_array(np.tile(np.eye(4), (2, 1))), np.repeat([0, 1], 4), np.ones(8), 2)
    assert same.shape == (2, 4)
    assert np.isfinite(same).all()


@pytest.mark.parametrize("n_samples", [1, 5, 1023, 1024, 1025])
def test_every_row_is_looked_at(n_samples):
    X = sparse.csr_array(np.arange(1.0, n_samples + 1)[:, None])
    assert sparse_starts.distinct_rows(X, 5000) == n_samples
    assert sparse_starts.distinct_rows(X, 3) == min(3, n_samples)


def test_equations_of_several_columns_are_solved_at_once():
    """Also a column of zeros, which is solved before the first step."""
    X, y, weight = rows_of_classes(60, 12)
    within, _ = sparse_starts._moments(sparse.csr_array(X), y, weight)
    B = np.random.default_rng(0).normal(size=(12, 3))
    B[:, 1] = 0.0
    solved = within.solve(B)
    np.testing.assert_allclose(within.times(solved), B, atol=1e-6)
    np.testing.assert_array_equal(solved[:, 1], 0)


def test_products_with_the_covariance_are_those_of_dense_rows():
    X, y, weight = rows_of_classes(60, 12)
    within, centred = sparse_starts._moments(sparse.csr_array(X), y, weight)
    fraction = weight / weight.sum()
    means = np.array([np.average(X[y == label], axis=0, weights=weight[y == label]) for label in range(3)])
    deviations = X - means[y]
    covariance = (fraction[:, None] * deviations).T @ deviations
    spread = np.trace(covariance) / 12
    expected = 0.9 * covariance + 0.1 * spread * np.eye(12)
    np.testing.assert_allclose(within.times(np.eye(12)), expected, rtol=1e-9, atol=1e-12)
    mass = np.bincount(y, fraction)
    np.testing.assert_allclose(centred, (means - fraction @ X) * np.sqrt(mass)[:, None], atol=1e-12)
    assert within.spread == pytest.approx(spread)
