"""Distances, pullbacks and searches of every metric against their formulas, also for rows with missing values."""

import numpy as np
import pytest
from scipy import sparse

from lvq.model.local_metrics import LocalDiagonal, LocalMahalanobis
from lvq.model.metrics import Diagonal, DistanceGradient, Euclidean, Mahalanobis, squared_distances
from lvq.model.observed import Observed
from tests.model.formulas import differences, distances

SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 3)))
FEATURES, GROUPS, LABELS = 5, (0, 2, 3, 7), np.array([0, 0, 1, 2, 2, 2, 2])
EACH = tuple(range(8))
METRICS = {
    "euclidean": (Euclidean(), None),
    "diagonal": (Diagonal(), (FEATURES,)),
    "matrix": (Mahalanobis(), (FEATURES, FEATURES)),
    "matrix rank 1": (Mahalanobis(), (1, FEATURES)),
    "local matrix": (LocalMahalanobis(GROUPS), (3, FEATURES, FEATURES)),
    "local matrix rank 2": (LocalMahalanobis(GROUPS), (3, 2, FEATURES)),
    "matrix of each": (LocalMahalanobis(EACH), (7, 2, FEATURES)),
    "local diagonal": (LocalDiagonal(GROUPS), (3, FEATURES)),
    "diagonal of each": (LocalDiagonal(EACH), (7, FEATURES)),
}
every_metric = pytest.mark.parametrize("name", METRICS)
every_row = pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])


class Case:
    """Samples, prototypes and parameters of a metric; of the samples with missing values one is complete, one empty."""

    def __init__(self, name, seed=0, missing=False, n_samples=11, dtype=np.float64):
        rng = self.rng = np.random.default_rng(seed)
        self.plain, shape = METRICS[name]
        self.X, self.W = rng.normal(size=(n_samples, FEATURES)), rng.normal(size=(7, FEATURES))
        weights = isinstance(self.plain, Diagonal | LocalDiagonal)
        self.R = None if shape is None else rng.uniform(0.1, 1, shape) if weights else rng.normal(size=shape)
        self.variances = rng.uniform(0.5, 2, FEATURES)
        self.metric = Observed(self.plain, self.variances) if missing else self.plain
        if missing:
            hidden = rng.random(self.X.shape) < 0.4
            hidden[0], hidden[1] = False, True
            self.X[hidden] = np.nan
        self.X, self.W = self.X.astype(dtype), self.W.astype(dtype)
        self.R = None if self.R is None else self.R.astype(dtype)

    def distances(self, W=None, R=None):
        """By the formula."""
        W, R = self.W if W is None else W, self.R if R is None else R
        return distances(self.plain, self.X, W, R, self.variances)

    def pullback(self, by_distance):
        prepared = self.metric.prepare(self.W, self.R)
        return prepared.pullback(self.X, prepared.distances(self.X)[1], by_distance)


def touched_and_dense(rng, n_samples, repeated=False):
    """The same derivatives in both forms: for two prototypes a sample, and for all."""
    touched = np.array([rng.choice(7, 2, replace=repeated) for _ in range(n_samples)])
    value, dense = rng.normal(size=(n_samples, 2)), np.zeros((n_samples, 7))
    np.add.at(dense, (np.arange(n_samples)[:, None], touched), value)
    return DistanceGradient(value, touched), DistanceGradient(dense)


@every_metric
@every_row
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_distances_equal_the_formula(name, missing, dtype, tolerance, seed):
    case = Case(name, seed, missing, 30, dtype)
    before = case.X.copy(), case.W.copy()
    D, _ = case.metric.prepare(case.W, case.R).distances(case.X)
    assert D.dtype == dtype
    assert (D >= 0).all()
    expected = case.distances()
    np.testing.assert_allclose(D, expected, rtol=tolerance, atol=tolerance * expected.max())
    np.testing.assert_array_equal(case.X, before[0])
    np.testing.assert_array_equal(case.W, before[1])


@every_metric
@every_row
@pytest.mark.parametrize("seed", SEEDS)
def test_pullback_equals_finite_differences(name, missing, seed):
    case = Case(name, seed, missing)
    s = case.rng.normal(size=(len(case.X), 7))
    by_prototype, by_metric = case.pullback(DistanceGradient(s))
    expected = differences(lambda W: (s * case.distances(W=W)).sum(), case.W)
    np.testing.assert_allclose(by_prototype, expected, rtol=1e-6, atol=1e-7)
    if case.R is None:
        assert by_metric is None
        return
    expected = differences(lambda R: (s * case.distances(R=R)).sum(), case.R)
    np.testing.assert_allclose(by_metric, expected, rtol=1e-6, atol=1e-7)


@every_metric
@every_row
@pytest.mark.parametrize("order", ["mixed", "by class"])
def test_the_nearest_pair_is_that_of_the_distances(name, missing, order):
    case = Case(name, 0, missing, 60)
    y = case.rng.integers(0, 3, 60)
    y = np.sort(y) if order == "by class" else y
    D, mine = case.distances(), y[:, None] == LABELS
    pair, cache = case.metric.prepare(case.W, case.R).nearest_pair(case.X, y, LABELS)
    own, other = np.where(mine, D, np.inf), np.where(mine, np.inf, D)
    np.testing.assert_allclose(pair.d_plus, own.min(axis=1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pair.d_minus, other.min(axis=1), rtol=1e-12, atol=1e-12)
    known = ~np.isnan(case.X).all(axis=1)  # an empty row is as far from all
    np.testing.assert_array_equal(pair.own[known], own.argmin(axis=1)[known])
    np.testing.assert_array_equal(pair.other[known], other.argmin(axis=1)[known])
    slopes = DistanceGradient(np.ones((60, 2)), np.stack([pair.own, pair.other], axis=1))
    for ours, theirs in zip(case.metric.prepare(case.W, case.R).pullback(case.X, cache, slopes), case.pullback(slopes)):
        np.testing.assert_array_equal(ours, theirs)


@pytest.fixture(params=["dense", "sparse"])
def either_product(request, monkeypatch):
    """Products with the derivatives as a dense or as a sparse matrix, whatever their size."""
    monkeypatch.setattr("lvq.model.metrics.DENSE", 2**30 if request.param == "dense" else 0)


@pytest.mark.usefixtures("either_product")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("repeated", [False, True])
@every_row
@every_metric
def test_touched_and_dense_derivatives_give_the_same_pullback(name, missing, repeated, dtype):
    case = Case(name, 0, missing, dtype=dtype)
    forms = touched_and_dense(case.rng, len(case.X), repeated)
    touched, dense = (case.pullback(form._replace(value=form.value.astype(dtype))) for form in forms)
    tolerance = 1e-11 if dtype == np.float64 else 1e-4
    for ours, theirs in zip(touched, dense):
        if theirs is not None:
            assert ours.dtype == theirs.dtype == dtype
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())


@pytest.mark.usefixtures("either_product")
@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_and_products_of_derivatives(dtype, repeated):
    rng = np.random.default_rng(0)
    touched, dense = touched_and_dense(rng, 9, repeated)
    S, rows, samples = dense.value, rng.normal(size=(7, 3)).astype(dtype), rng.normal(size=(9, 3)).astype(dtype)
    expected = S.sum(axis=1), S.sum(axis=0), S @ rows, S.T @ samples, S.sum(1)[:, None] * samples - S @ rows
    for form in (touched, dense):
        form = form._replace(value=form.value.astype(dtype))
        found = form.row_sums(), form.column_sums(7), form.gather(rows), form.scatter(samples, 7)
        for ours, theirs in zip((*found, form.differences(samples, rows)), expected):
            assert ours.dtype == dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
        for ours, theirs in zip(form.scatter_all(samples, 7), (expected[3], expected[1])):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@every_metric
def test_sparse_rows_give_the_result_of_dense_ones(name):
    case = Case(name, n_samples=20)
    case.X[case.rng.random(case.X.shape) < 0.5] = 0.0
    y, dense = case.rng.integers(0, 3, 20), case.metric.prepare(case.W, case.R)
    rows, gradients = sparse.csr_array(case.X), touched_and_dense(case.rng, 20)
    D, cache = dense.distances(rows)
    np.testing.assert_allclose(D, case.distances(), rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(dense.nearest_pair(rows, y, LABELS)[0], dense.nearest_pair(case.X, y, LABELS)[0]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    for gradient in gradients:
        for ours, theirs in zip(dense.pullback(rows, cache, gradient), case.pullback(gradient)):
            if theirs is not None:
                np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-11)


@every_metric
@pytest.mark.parametrize("seed", SEEDS)
def test_a_sample_at_a_prototype_is_at_distance_zero(name, seed):
    """Never below zero, and no more than rounding above."""
    case = Case(name, seed)
    D, _ = case.metric.prepare(case.W, case.R).distances(case.W)
    assert (D >= 0).all()
    assert np.diag(D).max() <= 1e-13 * D.max()


@pytest.mark.parametrize("seed", SEEDS)
def test_ties_between_round_numbers_go_to_the_lowest_index(seed):
    """Whole numbers, as counts and pixels are, have exact squared distances; prediction must not break their ties."""
    rng = np.random.default_rng(seed)
    X, W = rng.integers(0, 4, (400, 3)).astype(float), rng.integers(0, 4, (7, 3)).astype(float)
    exact = np.square(X[:, None] - W).sum(axis=2)
    np.testing.assert_array_equal(Euclidean().prepare(W).distances(X)[0], exact)
    np.testing.assert_array_equal(squared_distances(X, W), exact)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", list(METRICS)[:4])
def test_equal_prototypes_are_at_equal_distances(name, seed):
    """Ties go to the lowest index, so equal prototypes must have exactly equal distances."""
    case = Case(name, seed)
    for n_samples in (1, 2, 7, 33):
        for copies in (2, 3, 8, 17, 40):
            W = np.tile(case.rng.normal(size=FEATURES), (copies, 1))
            D, _ = case.metric.prepare(W, case.R).distances(case.rng.normal(size=(n_samples, FEATURES)))
            assert (D.argmin(axis=1) == 0).all()


def test_a_feature_of_relevance_zero_is_ignored():
    X, W = np.array([[1.0, 5.0]]), np.array([[0.0, -7.0], [3.0, 5.0]])
    assert Diagonal().prepare(W, np.array([1.0, 0.0])).distances(X)[0].tolist() == [[1.0, 4.0]]
