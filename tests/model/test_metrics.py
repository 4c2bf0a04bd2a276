"""Distances of every metric against their formula, also for rows with missing values; forms of rows and derivatives.

Pullbacks and searches are compared with formulas in `test_gradients.py`.
"""

import sys
from types import ModuleType

import numpy as np
import pytest
from scipy import sparse

from lvq import model
from lvq.model import metrics
from lvq.model.local_metrics import LocalDiagonal, LocalMahalanobis
from lvq.model.metrics import (
    Diagonal,
    DistanceGradient,
    Euclidean,
    Mahalanobis,
    fused_kernels,
    nearest_pair,
)
from lvq.model.observed import Observed
from tests.model.formulas import distances

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

    def distances(self):
        """By the formula."""
        return distances(self.plain, self.X, self.W, self.R, self.variances)

    def pullback(self, by_distance):
        prepared = self.metric.prepare(self.W, self.R)
        return prepared.pullback(self.X, prepared.distances(self.X)[1], by_distance)


def touched_and_dense(rng, n_samples):
    """The same derivatives in both forms: for two prototypes a sample, in some rows the same one, and for all."""
    touched = rng.integers(0, 7, (n_samples, 2))
    value, dense = rng.normal(size=(n_samples, 2)), np.zeros((n_samples, 7))
    np.add.at(dense, (np.arange(n_samples)[:, None], touched), value)
    return DistanceGradient(value, touched), DistanceGradient(dense)


@every_metric
@every_row
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_distances_equal_the_formula(name, missing, dtype, tolerance):
    case = Case(name, 0, missing, 30, dtype)
    before = case.X.copy(), case.W.copy()
    D, _ = case.metric.prepare(case.W, case.R).distances(case.X)
    assert D.dtype == dtype
    assert (D >= 0).all()
    expected = case.distances()
    np.testing.assert_allclose(D, expected, rtol=tolerance, atol=tolerance * expected.max())
    np.testing.assert_array_equal(case.X, before[0])
    np.testing.assert_array_equal(case.W, before[1])


@pytest.fixture(params=["dense", "sparse"])
def either_product(request, monkeypatch):
    """Products with the derivatives as a dense or as a sparse matrix, whatever their size."""
    monkeypatch.setattr("lvq.model.metrics.DENSE", 2**30 if request.param == "dense" else 0)


@pytest.mark.usefixtures("either_product")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@every_row
@every_metric
def test_touched_and_dense_derivatives_give_the_same_pullback(name, missing, dtype):
    case = Case(name, 0, missing, dtype=dtype)
    forms = touched_and_dense(case.rng, len(case.X))
    touched, dense = (case.pullback(form._replace(value=form.value.astype(dtype))) for form in forms)
    tolerance = 1e-11 if dtype == np.float64 else 1e-4
    for ours, theirs in zip(touched, dense):
        if theirs is not None:
            assert ours.dtype == theirs.dtype == dtype
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())


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


@pytest.mark.parametrize("name", list(METRICS)[:4])
def test_equal_prototypes_are_at_equal_distances(name):
    """Ties go to the lowest index, so equal prototypes must have exactly equal distances."""
    case = Case(name)
    for n_samples in (1, 2, 7, 33):
        for copies in (2, 3, 8, 17, 40):
            W = np.tile(case.rng.normal(size=FEATURES), (copies, 1))
            D, _ = case.metric.prepare(W, case.R).distances(case.rng.normal(size=(n_samples, FEATURES)))
            assert (D.argmin(axis=1) == 0).all()


# -- missing values ----------------------------------------------------------------------------------------------------


def test_distances_are_unbiased_for_uncorrelated_differences():
    rng = np.random.default_rng(0)
    v, omega = np.array([0.5, 1.0, 4.0, 2.0]), rng.normal(size=(4, 4))
    X, W = rng.normal(size=(200_000, 4)) * np.sqrt(v), np.zeros((1, 4))
    ordinary = Mahalanobis().prepare(W, omega).distances(X)[0].mean()
    for seen in ([True, False, True, False], [False, False, True, True], [True, False, False, False]):
        D = Observed(Mahalanobis(), v).prepare(W, omega).distances(np.where(seen, X, np.nan))[0]
        assert D.mean() == pytest.approx(ordinary, rel=0.02)


def test_features_without_weight_or_variance_leave_finite_distances():
    X = np.array([[1.0, np.nan, np.nan], [np.nan, 2.0, np.nan], [np.nan, np.nan, np.nan]])
    prepared = Observed(Diagonal(), np.array([0.0, 1.0, 1.0])).prepare(np.zeros((1, 3)), np.array([0.5, 0.0, 0.5]))
    assert prepared.distances(X)[0].ravel().tolist() == [0.5, 0.0, 0.0]


# -- the nearest own and the nearest other prototype -------------------------------------------------------------------


@pytest.mark.parametrize("order", ["ascending", "descending", "mixed", "one class", "interrupted"])
@pytest.mark.parametrize(("labels", "ties"), [([0, 1], "all"), ([0, 0, 1, 2, 2, 2], "some"), ([0, 1, 1, 3], "none")])
@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_the_nearest_pair_by_loops(kind, order, labels, ties):
    """Also with classes without samples and a class index without prototypes; of equal scores the first."""
    rng, labels = np.random.default_rng(len(labels)), np.array(labels)
    D = {"none": lambda size: rng.normal(size=size), "some": lambda size: rng.integers(0, 3, size), "all": np.zeros}[
        ties
    ]((80, len(labels)))
    y = rng.choice(np.unique(labels), 80)
    orders = {"ascending": np.sort(y), "descending": np.sort(y)[::-1].copy(), "mixed": y, "one class": y * 0}
    orders["interrupted"] = np.repeat([0, labels[-1], 0], [30, 5, 45])  # long runs, of which two are of the same class
    D, y = D.astype(np.float32 if order == "mixed" else np.float64), orders[order]
    place = pytest.importorskip("torch").tensor if kind == "tensor" else np.array
    own, other, d_plus, d_minus = (np.asarray(part) for part in nearest_pair(place(D), place(y), place(labels)))
    assert d_plus.dtype == d_minus.dtype == D.dtype
    for i, (row, label) in enumerate(zip(D, y)):
        assert own[i] == min((j for j in range(len(labels)) if labels[j] == label), key=lambda j: row[j])
        assert other[i] == min((j for j in range(len(labels)) if labels[j] != label), key=lambda j: row[j])
        assert (d_plus[i], d_minus[i]) == (row[own[i]], row[other[i]])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_search_on_a_gpu(dtype):
    """The fused kernels give the result of NumPy, ties included."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    rng = np.random.default_rng(0)
    for features, classes, each in ((2, 3, 4), (70, 3, 40), (33, 1, 1)):
        labels = np.repeat(np.arange(classes + 1), each)
        P = rng.integers(-2, 3, size=(len(labels), features)).astype(dtype)
        Z, y = rng.integers(-3, 4, size=(1000, features)).astype(dtype), rng.integers(0, classes + 1, 1000)
        expected, _ = Euclidean().prepare(P).nearest_pair(Z, y, labels)
        Z, y, P, labels = (torch.as_tensor(part, device="cuda") for part in (Z, y, P, labels))
        for ours, theirs in zip(Euclidean().prepare(P).nearest_pair(Z, y, labels)[0], expected):
            np.testing.assert_array_equal(ours.cpu().numpy(), theirs)


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("hip", [None, "6.0"])
def test_gpu_kernels_need_triton_and_no_amd(installed, hip, monkeypatch):
    torch = pytest.importorskip("torch")

    class OnGpu(torch.Tensor):
        is_cuda = True

    kernels = ModuleType("lvq.model.fused")
    monkeypatch.setitem(sys.modules, "lvq.model.fused", kernels)
    monkeypatch.setattr(model, "fused", kernels, raising=False)
    monkeypatch.setattr(metrics, "find_spec", lambda name: object() if installed and name == "triton" else None)
    monkeypatch.setattr(torch.version, "hip", hip)
    rows = torch.zeros(2, dtype=torch.float32).as_subclass(OnGpu)
    assert fused_kernels(rows) is (kernels if installed and hip is None else None)
    assert fused_kernels(rows.double()) is None
    assert fused_kernels(torch.zeros(2)) is None
