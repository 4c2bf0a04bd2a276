"""Importance of features: the diagonal of C Lambda C by its definition, and what must not change it."""

import tracemalloc

import numpy as np
import pytest

from lvq.model.importance import feature_importances

SHAPES = {"vector": (5,), "matrix": (5, 5), "matrix of rank 2": (2, 5), "local": (3, 4, 5), "local vectors": (3, 5)}
COUNTS = {"vector": [6], "matrix": [6], "matrix of rank 2": [6], "local": [1, 2, 3], "local vectors": [1, 2, 3]}


def draw(n_samples=50, n_features=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) @ rng.normal(size=(n_features, n_features)) + rng.normal(0, 5, 5)[0]
    return rng, X, rng.uniform(0.5, 2.0, n_samples)


def plain_importances(X, weight, R, counts):
    """By loops over features: each matrix's diagonal of C Lambda C, of sum one, averaged over the prototypes."""
    n = X.shape[1]
    fraction = weight / weight.sum()
    mean = fraction @ X
    C = np.zeros((n, n))
    for j in range(n):
        for k in range(n):
            C[j, k] = fraction @ ((X[:, j] - mean[j]) * (X[:, k] - mean[k]))
    if isinstance(R, list):
        matrices = [np.diag(weights) for weights in R]
    else:
        matrices = [np.diag(R)] if R.ndim == 1 else [omega.T @ omega for omega in R.reshape(-1, *R.shape[-2:])]
    diagonals = [np.diag(C @ Lambda @ C) for Lambda in matrices]
    return np.average([diagonal / diagonal.sum() for diagonal in diagonals], axis=0, weights=counts)


@pytest.mark.parametrize("n_samples", [50, 4], ids=["many samples", "fewer samples than features"])
@pytest.mark.parametrize("name", SHAPES)
def test_importances_equal_their_definition(name, n_samples):
    rng, X, weight = draw(n_samples)
    R = rng.uniform(0, 1, SHAPES[name]) if "vector" in name else rng.normal(size=SHAPES[name])
    R = list(R) if name == "local vectors" else R
    found = feature_importances(X, weight, R, np.array(COUNTS[name]))
    np.testing.assert_allclose(found, plain_importances(X, weight, R, COUNTS[name]), rtol=1e-9)
    assert found.sum() == pytest.approx(1.0)
    assert found.dtype == np.float64


def test_relevances_of_uncorrelated_features_with_equal_variance_are_their_importances():
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    found = feature_importances(X, np.ones(4), np.array([0.8, 0.2]), np.ones(1))
    np.testing.assert_allclose(found, [0.8, 0.2])


@pytest.mark.parametrize("n_samples", [60, 4])
def test_directions_without_variance_do_not_count(n_samples):
    """The third feature is the sum of the first two: Lambda can change along (1, 1, -1) without changing a distance."""
    rng, X, weight = draw(n_samples, 5)
    X[:, 2] = X[:, 0] + X[:, 1]
    omega = rng.normal(size=(2, 5))
    changed = omega + np.outer([3.0, -5.0], [1.0, 1.0, -1.0, 0.0, 0.0])
    Z, moved = X @ omega.T, X @ changed.T
    np.testing.assert_allclose(Z, moved, rtol=1e-9)
    assert np.abs(np.diag(omega.T @ omega) - np.diag(changed.T @ changed)).max() > 1
    one, other = (feature_importances(X, weight, R, np.ones(1)) for R in (omega, changed))
    np.testing.assert_allclose(one, other, rtol=1e-8)


def test_a_rotation_of_the_rows_of_omega_does_not_count():
    rng, X, weight = draw()
    omega, (rotation, _) = rng.normal(size=(3, 5)), np.linalg.qr(rng.normal(size=(3, 3)))
    one, other = (feature_importances(X, weight, R, np.ones(1)) for R in (omega, rotation @ omega))
    np.testing.assert_allclose(one, other, rtol=1e-10)


def test_weights_are_copies():
    rng, X, _ = draw(20)
    copies = rng.integers(1, 4, 20)
    omega = rng.normal(size=(2, 5))
    one = feature_importances(X, copies.astype(float), omega, np.ones(1))
    other = feature_importances(X.repeat(copies, axis=0), np.ones(copies.sum()), omega, np.ones(1))
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_the_unit_of_all_features_does_not_count(scale):
    """Fourth powers of the values would overflow or underflow."""
    rng, X, weight = draw()
    omega = rng.normal(size=(2, 5))
    one, other = (feature_importances(values, weight, omega, np.ones(1)) for values in (X, X * scale))
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize(
    ("X", "relevance"), [(np.ones((4, 2)), np.ones(2)), (np.eye(4, 2), np.zeros(2))], ids=["constant", "no relevance"]
)
def test_without_any_variance_or_relevance_all_are_equal(X, relevance):
    assert feature_importances(X, np.ones(4), relevance, np.ones(1)).tolist() == [0.5, 0.5]


def test_float32_is_computed_in_float64():
    rng, X, weight = draw()
    omega = rng.normal(size=(2, 5))
    X, weight, omega = (array.astype(np.float32) for array in (X, weight, omega))
    found = feature_importances(X, weight, omega, np.ones(1))
    np.testing.assert_allclose(found, plain_importances(*(a.astype(float) for a in (X, weight, omega)), [1]), rtol=1e-5)


def test_many_features_need_no_matrix_of_them():
    X = np.random.default_rng(0).normal(size=(10, 3000))
    tracemalloc.start()
    try:
        found = feature_importances(X, np.ones(10), np.full(3000, 1 / 3000), np.ones(1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found >= 0).all()
    assert peak < 20 * X.nbytes  # 5 MB; a matrix of all pairs of features takes 72 MB
