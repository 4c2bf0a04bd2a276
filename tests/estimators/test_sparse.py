"""Sparse rows: results are those of dense rows to rounding, and nothing of the size of the dense rows is made."""

import importlib
import tempfile
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import lvq
from lvq import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LOGM,
    RSLVQ,
    LVQClassifier,
)
from lvq.estimators import specification, training
from lvq.estimators.classifier import FORMS, TEXT_TOL, as_chosen
from lvq.estimators.cross_fit import make_folds
from lvq.model import importance
from lvq.model.relevance import Matrix, Weights
from lvq.model.samples import ArraySamples
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online


def name(model):
    return f"{type(model).__name__}({model.relevance}, {type(model.kernel).__name__})"


@pytest.fixture(scope="module")
def counts():
    """Counts of 40 words in three classes; the last is in all documents, so that the centre is not the origin."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.poisson(0.2 + 0.8 * (np.arange(40) % 3 == y[:, None])) * rng.uniform(0.5, 1.0, (120, 40))
    X[:, -1] = rng.uniform(4, 6, 120)
    X[7], X[8] = 0.0, X[11]  # a row without numbers, and a copy
    return X, y


@pytest.mark.parametrize(
    "model",
    [
        RSLVQ(solver="online", max_iter=2),
        GRLVQ(solver="adam", max_iter=2),
    ],
    ids=name,
)
def test_nothing_of_dense_size_is_made(model, monkeypatch):
    """400 samples of 100,000 features are 320 MB dense; prototypes are a few megabytes, importances use few samples."""
    monkeypatch.setattr(importance, "MOST", 2**21)
    monkeypatch.setattr(importance, "FEW_SPARSE", 20)
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 100_000), density=2e-4, rng=rng, format="csr")
    y = np.arange(400) % 2
    X = sparse.csr_array(X + sparse.csr_array((np.ones(400), (np.arange(400), y)), shape=X.shape))
    model.fit(X[:10], y[:10])  # compiles
    tracemalloc.start()
    model.fit(X, y)
    assert model.predict(X).shape == (400,)
    model.predict_proba(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6


def test_online_within_twice_the_matrix():
    """Twenty prototypes are as large as the samples, and there are never two copies of them."""
    rng, stored, shape = np.random.default_rng(0), 400_000, (2500, 30_000)
    places = tuple(rng.integers(0, limit, stored, dtype=np.int32) for limit in shape)
    X, y = sparse.csr_array((rng.random(stored), places), shape=shape), np.arange(2500) % 20
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    model = GLVQ(solver="online", max_iter=2).fit(X[:50], y[:50])  # compiles
    for call in (lambda: model.fit(X, y), lambda: model.predict(X)):
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2 * size


@pytest.fixture
def texts():
    """1,200 words, of which each of three classes prefers some."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    rates = np.full((3, 1200), 0.01)
    rates[np.arange(3)[:, None], np.arange(60).reshape(3, 20)] = 0.15
    return sparse.csr_array(rng.poisson(rates[y]).astype(float)), np.array(["a", "b", "c"])[y]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_default_for_many_sparse_features(texts):
    """One prototype of each class in the plain metric; parameters stay as they are given."""
    X, y = texts
    model = LVQClassifier(random_state=0).fit(X[:180], y[:180])
    plain = LVQClassifier(relevance=FORMS[0].relevance, n_prototypes=1, solver=LBFGS(tol=TEXT_TOL), random_state=0)
    plain.fit(X[:180], y[:180])
    np.testing.assert_array_equal(model.prototypes_, plain.prototypes_)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.score(X[180:], y[180:]) > 0.85
    assert model.get_params() == LVQClassifier(random_state=0).get_params()
    again = clone(model).set_params(warm_start=True, max_iter=2).fit(X, y)
    assert again.fit(X, y).form_ == "plain"
    chosen = as_chosen(model).fit(X[:180], y[:180])
    np.testing.assert_array_equal(chosen.predict_proba(X), model.predict_proba(X))
    grouped = clone(model).fit(X, y, groups=np.arange(240) // 4)
    np.testing.assert_array_equal(grouped.prototypes_, clone(model).fit(X, y).prototypes_)


def test_words_that_no_text_of_the_folds_has_change_nothing(texts):
    X, y = texts
    wider = sparse.hstack([sparse.csr_array((240, 500)), X, sparse.csr_array((240, 500))], format="csr")
    one, other = (LVQClassifier(random_state=0).fit(rows, y) for rows in (X, wider))
    np.testing.assert_array_equal(one.predict(X), other.predict(wider))
    assert one.model_.decision.temperature == pytest.approx(other.model_.decision.temperature, rel=0.2)
    samples = ArraySamples(wider, np.arange(240) % 3, np.full(240, 1.0))
    assert make_folds(samples, np.arange(3)).narrow().samples.n_features == np.count_nonzero(X.sum(axis=0))


def test_online_leaves_other_prototypes_as_they_are(counts):
    """Those that are given, those of the last model, and samples that prototypes are placed on."""
    rows, y = sparse.csr_array(counts[0]), counts[1]
    W = np.array([counts[0][y == label][0] for label in range(3)], order="F", dtype=np.float64)
    given, labels = W.copy(), np.arange(3)
    model = GLVQ(solver="online", max_iter=3, init=(W, labels), warm_start=True).fit(rows, y)
    np.testing.assert_array_equal(W, given)
    first, stored = model.model_.prototypes, model.model_.prototypes.copy()
    model.fit(rows, y)
    assert (model.prototypes_ != stored).any()
    np.testing.assert_array_equal(first, stored)


def test_matrices_are_for_few_sparse_features():
    X, y = sparse.random_array((20, 5000), density=0.01, rng=np.random.default_rng(0), format="csr"), np.arange(20) % 2
    for rank in (None, 2):
        with pytest.raises(ValueError, match=r"GMLVQ .* sparse X of at most 1024 features; got 5000.*TruncatedSVD"):
            GMLVQ(relevance=Matrix(rank=rank)).fit(X, y)


@pytest.mark.parametrize(("method", "value"), [("predict", np.nan), ("explain", np.inf), ("predict_proba", 1e200)])
def test_invalid_numbers_are_refused(method, value, counts):
    X, y = counts
    model = GLVQ(max_iter=3, solver=LBFGS(tol=0.1)).fit(X, y)
    rows = sparse.csr_array(X)
    rows.data[5] = value
    with pytest.raises(ValueError, match=r"NaN|infinity|overflow"):
        getattr(model, method)(rows)
    with pytest.raises(ValueError, match=r"NaN|infinity|overflow"):
        GLVQ().fit(rows, y)


REFUSED = {
    "certified_radius": lambda model, X, y: lvq.certified_radius(model, X),
    "counterfactual": lambda model, X, y: lvq.counterfactual(model, X, samples=X),
    "plane": lambda model, X, y: importlib.import_module("lvq.plots").plane(model, X),
    "report": lambda model, X, y: lvq.report(model, X, y, tempfile.mkdtemp() + "/page.html"),
}


@pytest.mark.parametrize("function", REFUSED)
def test_what_needs_dense_samples_tells_what_to_do(function, counts):
    X, y = sparse.csr_array(counts[0]), counts[1]
    model = make_pipeline(MaxAbsScaler(), GLVQ(random_state=0)).fit(X, y)
    with pytest.raises(TypeError, match=r"needs dense samples, .* shape \(5, 40\).*toarray\(\).* sparse_output=False"):
        REFUSED[function](model, X[:5], y[:5])
    REFUSED[function](model, X[:5].toarray(), y[:5])  # and that works


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_solver_of_many_sparse_features(counts, monkeypatch):
    """Online where a step needs the stored features only, Adam elsewhere; unless a solver is chosen."""
    X, y = sparse.csr_array(counts[0]), counts[1]
    solvers = []
    run = training.run
    monkeypatch.setattr(training, "run", lambda parts, *rest: solvers.append(parts.solver) or run(parts, *rest))

    def used(model, features=40, X=X):
        monkeypatch.setattr(specification, "WIDE_SPARSE", features)
        model.set_params(random_state=0, max_iter=2).fit(X, y)
        return type(solvers.pop(0))

    costs = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert used(GLVQ(), features=41) is LBFGS
    assert used(GLVQ(), X=counts[0]) is LBFGS
    assert used(GLVQ(solver="lbfgs")) is LBFGS
    for model in (GLVQ(), LOGM(kernel="gaussian"), RSLVQ()):
        assert used(model) is Online
    changed = LVQClassifier(cost="glvq", relevance=None, cost_matrix=costs)
    for model in (GMLVQ(), changed, GRLVQ(relevance=Weights(smoothness=0.1))):
        assert used(model) is Adam
