"""Distances and pullbacks against explicit loops over samples, prototypes and features."""

import numpy as np
import pytest

from lvq.model import local_matrix
from lvq.model import metrics as metrics_module
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.local_matrix import LocalMatrix
from lvq.model.metrics import (
    Diagonal,
    DistanceGradient,
    Euclidean,
    Matrix,
    additions,
    long_product,
    row_squares,
    squared_distances,
)

SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 3)))
FEATURES = 5
GROUPS = (0, 2, 3, 7)


def metrics(rng):
    """Every metric with random parameters; matrices of full and of lower rank."""
    return {
        "euclidean": (Euclidean(), None),
        "diagonal": (Diagonal(), rng.uniform(0, 1, FEATURES)),
        "matrix": (Matrix(), rng.normal(size=(FEATURES, FEATURES))),
        "matrix rank 1": (Matrix(), rng.normal(size=(1, FEATURES))),
        "local matrix": (LocalMatrix(GROUPS), rng.normal(size=(3, FEATURES, FEATURES))),
        "local matrix rank 2": (LocalMatrix(GROUPS), rng.normal(size=(3, 2, FEATURES))),
        "local diagonal": (LocalDiagonal(GROUPS), rng.uniform(0, 1, (3, FEATURES))),
    }


METRICS = tuple(metrics(np.random.default_rng(0)))


def problem(seed, name, n_samples=11):
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n_samples, FEATURES)), rng.normal(size=(7, FEATURES))
    return rng, X, W, *metrics(rng)[name]


def group_of(j):
    return np.searchsorted(GROUPS, j, side="right") - 1


def inner_matrix(metric, R, j):
    """Lambda of prototype j."""
    if R is None:
        return np.eye(FEATURES)
    own = R[group_of(j)] if isinstance(metric, LocalMatrix | LocalDiagonal) else R
    return np.diag(own) if own.ndim == 1 else own.T @ own


def touched_and_dense(rng, n_samples, repeated=False):
    """The same derivatives in both forms: for two prototypes a sample, and for all."""
    pairs = [rng.choice(7, 2, replace=repeated) for _ in range(n_samples)]
    touched, value = np.array(pairs), rng.normal(size=(n_samples, 2))
    dense = np.zeros((n_samples, 7))
    for i, row in enumerate(touched):
        for k, j in enumerate(row):
            dense[i, j] += value[i, k]
    return DistanceGradient(value, touched), DistanceGradient(dense)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", METRICS)
def test_distances_equal_loops(name, seed):
    _, X, W, metric, R = problem(seed, name)
    expected = [[(x - w) @ inner_matrix(metric, R, j) @ (x - w) for j, w in enumerate(W)] for x in X]
    np.testing.assert_allclose(metric.distances(X, W, R), expected, rtol=1e-12)


@pytest.mark.parametrize("groups", [GROUPS, tuple(range(8))])
def test_few_samples_have_the_distances_of_many(groups, monkeypatch):
    rng, X, W, *_ = problem(0, "euclidean")
    metric, R = LocalMatrix(groups), rng.normal(size=(len(groups) - 1, 2, FEATURES))
    few = metric.distances(X, W, R)
    monkeypatch.setattr(local_matrix, "FEW", 0)
    np.testing.assert_allclose(few, metric.distances(X, W, R), rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", METRICS)
def test_pullback_equals_loops(name, seed):
    rng, X, W, metric, R = problem(seed, name)
    s = rng.normal(size=(len(X), len(W)))
    by_prototype, by_metric = metric.pullback(X, W, R, DistanceGradient(s))
    expected = [
        sum(-2 * s[i, j] * inner_matrix(metric, R, j) @ (x - w) for i, x in enumerate(X)) for j, w in enumerate(W)
    ]
    np.testing.assert_allclose(by_prototype, expected, rtol=1e-12, atol=1e-12)
    if R is None:
        assert by_metric is None
        return
    expected = np.zeros_like(R)
    for i, x in enumerate(X):
        for j, w in enumerate(W):
            place = group_of(j) if isinstance(metric, LocalMatrix | LocalDiagonal) else ...
            if isinstance(metric, Diagonal | LocalDiagonal):
                expected[place] += s[i, j] * (x - w) ** 2
            else:
                expected[place] += 2 * s[i, j] * np.outer(R[place] @ (x - w), x - w)
    np.testing.assert_allclose(by_metric, expected, rtol=1e-12, atol=1e-12)


@pytest.fixture(params=["dense", "sparse"])
def either_product(request, monkeypatch):
    """Products with the derivatives as a dense or as a sparse matrix, whatever their size."""
    monkeypatch.setattr("lvq.model.metrics.DENSE", 2**30 if request.param == "dense" else 0)


@pytest.mark.usefixtures("either_product")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("name", METRICS)
def test_touched_and_dense_derivatives_give_the_same_pullback(name, repeated, seed):
    rng, X, W, metric, R = problem(seed, name)
    touched, dense = touched_and_dense(rng, len(X), repeated)
    for ours, theirs in zip(metric.pullback(X, W, R, touched), metric.pullback(X, W, R, dense)):
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.usefixtures("either_product")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_and_products_of_derivatives(dtype, repeated, seed):
    rng = np.random.default_rng(seed)
    touched, dense = touched_and_dense(rng, 9, repeated)
    touched = touched._replace(value=touched.value.astype(dtype))
    rows, samples = rng.normal(size=(7, 3)).astype(dtype), rng.normal(size=(9, 3)).astype(dtype)
    for ours, theirs in (
        (touched.row_sums(), dense.value.sum(axis=1)),
        (touched.column_sums(7), dense.value.sum(axis=0)),
        (touched.gather(rows), dense.value @ rows),
        (touched.scatter(samples, 7), dense.value.T @ samples),
        (dense.row_sums(), dense.value.sum(axis=1)),
        (dense.column_sums(7), dense.value.sum(axis=0)),
        (dense.gather(rows), dense.value @ rows),
        (dense.scatter(samples, 7), dense.value.T @ samples),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    assert touched.column_sums(7).dtype == touched.gather(rows).dtype == touched.scatter(samples, 7).dtype == dtype


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", METRICS)
def test_distances_keep_their_precision_far_from_the_origin(name, seed):
    """All values are multiples of 1/1024, so that a shift by 2**27 is exact and must not change the distances."""
    _, X, W, metric, R = problem(seed, name)
    X, W = np.round(X * 1024) / 1024, np.round(W * 1024) / 1024
    near, far = metric.distances(X, W, R), metric.distances(X + 2.0**27, W + 2.0**27, R)
    np.testing.assert_allclose(far, near, rtol=1e-9, atol=1e-12 * near.max())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", METRICS)
def test_pullbacks_keep_their_precision_far_from_the_origin(name, sparse, seed):
    rng, X, W, metric, R = problem(seed, name)
    X, W = np.round(X * 1024) / 1024, np.round(W * 1024) / 1024
    derivatives = touched_and_dense(rng, len(X))[0 if sparse else 1]
    for near, far in zip(
        metric.pullback(X, W, R, derivatives), metric.pullback(X + 2.0**27, W + 2.0**27, R, derivatives)
    ):
        if near is not None:
            np.testing.assert_allclose(far, near, rtol=1e-9, atol=1e-12 * np.abs(near).max())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", METRICS)
def test_a_sample_at_a_prototype_is_at_distance_zero(name, seed):
    """Never below zero, and no more than rounding above."""
    _, _, W, metric, R = problem(seed, name)
    D = metric.distances(W, W, R)
    assert (D >= 0).all()
    assert np.diag(D).max() <= 1e-13 * D.max()


@pytest.mark.parametrize("seed", SEEDS)
def test_ties_between_round_numbers_go_to_the_lowest_index(seed):
    """Whole numbers, as counts and pixels are, have exact squared distances; prediction must not break their ties."""
    rng = np.random.default_rng(seed)
    X, W = rng.integers(0, 4, (400, 3)).astype(float), rng.integers(0, 4, (7, 3)).astype(float)
    exact = np.square(X[:, None] - W).sum(axis=2)
    np.testing.assert_array_equal(Euclidean().distances(X, W).argmin(axis=1), exact.argmin(axis=1))
    np.testing.assert_array_equal(squared_distances(X, W).argmin(axis=1), exact.argmin(axis=1))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", METRICS[:4])
def test_equal_prototypes_are_at_equal_distances(name, seed):
    """Ties go to the lowest index, so equal prototypes must have exactly equal distances."""
    rng = np.random.default_rng(seed)
    metric, R = metrics(rng)[name]
    for n_samples in (1, 2, 7, 33):
        for copies in (2, 3, 8, 17, 40):
            W = np.tile(rng.normal(size=FEATURES), (copies, 1))
            D = metric.distances(rng.normal(size=(n_samples, FEATURES)), W, R)
            assert (D.argmin(axis=1) == 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_special_cases_agree(seed):
    rng = np.random.default_rng(seed)
    X, W, relevances = rng.normal(size=(9, 4)), rng.normal(size=(6, 4)), rng.uniform(size=4)
    omega = rng.normal(size=(3, 4))
    diagonal = Diagonal().distances(X, W, relevances)
    np.testing.assert_allclose(diagonal, Matrix().distances(X, W, np.diag(relevances**0.5)), rtol=1e-12)
    np.testing.assert_allclose(Euclidean().distances(X, W), Diagonal().distances(X, W, np.ones(4)), rtol=1e-12)
    local = LocalMatrix((0, 1, 4, 6)).distances(X, W, np.stack([omega] * 3))
    np.testing.assert_allclose(local, Matrix().distances(X, W, omega), rtol=1e-11)


@pytest.mark.parametrize("name", METRICS)
def test_float32_stays_float32(name):
    rng, X, W, metric, R = problem(0, name)
    X, W, R = X.astype(np.float32), W.astype(np.float32), None if R is None else R.astype(np.float32)
    before = X.copy(), W.copy()
    touched, dense = touched_and_dense(rng, len(X))
    assert metric.distances(X, W, R).dtype == np.float32
    for derivatives in (touched, dense):
        by_prototype, by_metric = metric.pullback(
            X, W, R, derivatives._replace(value=derivatives.value.astype(np.float32))
        )
        assert by_prototype.dtype == np.float32
        assert by_metric is None or by_metric.dtype == np.float32
    np.testing.assert_array_equal(before[0], X)
    np.testing.assert_array_equal(before[1], W)


def test_a_feature_of_relevance_zero_is_ignored():
    X, W = np.array([[1.0, 5.0]]), np.array([[0.0, -7.0], [3.0, 5.0]])
    assert Diagonal().distances(X, W, np.array([1.0, 0.0])).tolist() == [[1.0, 4.0]]


@pytest.mark.parametrize(("length", "expected"), [(1, 1), (128, 128), (256, 256), (257, 131), (384, 131), (1000, 136)])
def test_long_products_of_float32_are_sums_of_parts(length, expected):
    """Of 128 products each; every part is one more addition. Shorter ones, and float64, have one part."""
    assert additions(length, np.dtype(np.float32)) == expected
    assert additions(length, np.dtype(np.float64)) == length
    rng = np.random.default_rng(length)
    A, B = rng.random((3, length)), rng.random((length, 2))
    for dtype in (np.float64, np.float32):
        found = long_product(A.astype(dtype), B.astype(dtype))
        assert found.dtype == dtype
        bound = additions(length, np.dtype(dtype)) * np.finfo(dtype).eps
        np.testing.assert_allclose(found, A.astype(dtype).astype(float) @ B.astype(dtype).astype(float), rtol=bound)
    np.testing.assert_allclose(long_product(A.astype(np.float32), B), A @ B, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_array_is_squared_in_parts(dtype, order, monkeypatch):
    """Parts that are too large are divided again; one row is not."""
    rows = np.asarray(np.random.default_rng(0).normal(size=(70, 9)).astype(dtype), order=order)
    whole = row_squares(rows)
    monkeypatch.setattr(metrics_module, "SQUARED", 8)
    np.testing.assert_allclose(row_squares(rows), whole, rtol=1e-6 if dtype == np.float32 else 1e-15)
    assert row_squares(rows).dtype == dtype
    assert row_squares(rows[:0]).shape == (0,)
