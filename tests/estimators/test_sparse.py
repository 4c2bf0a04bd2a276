"""Sparse rows: results are those of dense rows to rounding, and nothing of the size of the dense rows is made."""

import importlib
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
    LGMLVQ,
    LOGM,
    LVQ1,
    LVQ3,
    LVQ21,
    MCE,
    OLVQ1,
    RLVQ,
    RSLVQ,
    SNPC,
    LVQClassifier,
)
from lvq.estimators import specification, training
from lvq.estimators.classifier import FORMS, TEXT_TOL, as_chosen
from lvq.estimators.cross_fit import make_folds
from lvq.model import importance
from lvq.model.links import Gaussian
from lvq.model.relevance import Matrix, Weights
from lvq.model.samples import ArraySamples
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online

FORMATS = ("csr_array", "csr_matrix", "csc_array", "coo_matrix", "lil_array", "dok_matrix", "bsr_array")
BATCH = [
    GLVQ(n_prototypes=3),
    GLVQ(init="means", n_prototypes=2, cost_matrix=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]),
    GLVQ(init="samples", n_prototypes=2, class_weight="balanced"),
    GLVQ(solver=Adam(validation_fraction=0.2), init="random"),
    GRLVQ(n_prototypes=2),
    GMLVQ(relevance=Matrix(rank=2)),
    GMLVQ(relevance=Matrix(rank=5)),
    LGMLVQ(relevance=Matrix(rank=3, local="class")),
    MCE(relevance="gradient"),
    LOGM(kernel=Gaussian(width="learned"), n_prototypes=2),
    SNPC(relevance="gradient"),
    RSLVQ(n_prototypes=2, decision="posterior"),
    LVQClassifier(),
    LVQClassifier(relevance=Matrix(rank=4, local="class", ridge=0.1)),
    LVQClassifier(relevance="local_diagonal"),
    LVQClassifier(cost="cross_entropy", relevance="gradient", kernel=None, n_prototypes=2),
    RSLVQ(relevance="local_scale", n_prototypes=2),
]
ONLINE = [
    LVQ1(n_prototypes=2),
    OLVQ1(),
    LVQ21(n_prototypes=2),
    LVQ3(n_prototypes=2),
    GLVQ(kernel=Gaussian(width="learned")),
    GLVQ(slope=5.0, solver=Online(step="relative"), n_prototypes=2),
    LOGM(alpha=0.01, solver=Online(schedule="inverse")),
    MCE(),
    SNPC(n_prototypes=2),
    RSLVQ(kernel="cauchy", n_prototypes=2),
    LVQClassifier(cost="cross_entropy", relevance=None, kernel=None, n_prototypes=2, calibration=None),
]
# a step changes every feature
FILLED = [RLVQ(), LVQ1(relevance="fc2"), GRLVQ(), GMLVQ(relevance=Matrix(rank=2)), GLVQ(relevance="local_diagonal")]


def configured(models, **params):
    return [clone(model).set_params(random_state=0, **params) for model in models]


def name(model):
    parts = [part if isinstance(part, str) else type(part).__name__ for part in (model.relevance, model.kernel)]
    return f"{type(model).__name__}({model.init}, {', '.join(parts)})"


def online(models):
    return [model if isinstance(model.solver, Online) else model.set_params(solver="online") for model in models]


@pytest.fixture(scope="module")
def counts():
    """Counts of 40 words in three classes; the last is in all documents, so that the centre is not the origin."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.poisson(0.2 + 0.8 * (np.arange(40) % 3 == y[:, None])) * rng.uniform(0.5, 1.0, (120, 40))
    X[:, -1] = rng.uniform(4, 6, 120)
    X[7], X[8] = 0.0, X[11]  # a row without numbers, and a copy
    return X, y


def same_model(dense, from_rows, tolerance):
    one, other = dense.model_, from_rows.model_
    np.testing.assert_allclose(other.prototypes, one.prototypes, atol=tolerance)
    np.testing.assert_allclose(from_rows.objective_history_, dense.objective_history_, atol=tolerance)
    if one.importances is not None:
        np.testing.assert_allclose(other.importances, one.importances, atol=tolerance)
    if one.relevance is not None:  # directions of a matrix have no sign
        np.testing.assert_allclose(np.abs(other.relevance), np.abs(one.relevance), atol=tolerance)


@pytest.mark.thin(3)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", configured(BATCH, max_iter=4), ids=name)
def test_batch_equals_dense(model, counts):
    """Few iterations: later ones may meet a kink of a margin cost, where a rounding error decides the next step."""
    X, y = counts
    weight = np.arange(len(y)) % 4 / 2
    dense = clone(model).fit(X, y, sample_weight=weight)
    from_rows = model.fit(sparse.csr_array(X), y, sample_weight=weight)
    same_model(dense, from_rows, 1e-8)
    if hasattr(model, "objective_value"):
        value = model.objective_value(sparse.csr_array(X), y)
        assert value == pytest.approx(model.objective_value(X, y), abs=1e-10)


@pytest.mark.thin(4)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", configured(online(ONLINE + FILLED), max_iter=4), ids=name)
def test_online_equals_dense(model, dtype, counts):
    X, y = counts[0].astype(dtype), counts[1]
    dense = clone(model).fit(X, y)
    from_rows = model.fit(sparse.csr_array(X), y)
    assert from_rows.prototypes_.dtype == dtype
    same_model(dense, from_rows, 1e-10 if dtype == np.float64 else 2e-4)


@pytest.mark.thin(4)
@pytest.mark.parametrize("model", configured(online(ONLINE + FILLED)), ids=name)
def test_stream_equals_dense(model, counts):
    X, y = counts
    dense, from_rows = clone(model), clone(model)
    for rows in (slice(0, 50), slice(50, 51), slice(51, 120)):
        dense.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        from_rows.partial_fit(sparse.csr_matrix(X[rows]), y[rows], classes=[0, 1, 2])
    same_model(dense, from_rows, 1e-10)


@pytest.mark.parametrize(
    "model",
    [
        GLVQ(n_prototypes=2),
        GRLVQ(kernel="gaussian"),
        GMLVQ(relevance=Matrix(rank=2)),
        LGMLVQ(relevance=Matrix(rank=2, local="class")),
        RSLVQ(decision="posterior"),
    ],
    ids=name,
)
def test_predictions_equal_dense(model, counts):
    X, y = counts
    model.set_params(max_iter=10, random_state=0, solver=LBFGS(tol=0.1)).fit(X, y)
    rows = sparse.csr_matrix(X)
    np.testing.assert_array_equal(model.predict(rows), model.predict(X))
    for method in ("predict_proba", "decision_function"):
        np.testing.assert_allclose(getattr(model, method)(rows), getattr(model, method)(X), atol=1e-10)
    if hasattr(model, "transform"):
        images = model.transform(rows)
        assert type(images) is np.ndarray
        np.testing.assert_allclose(images, model.transform(X), atol=1e-12)
    for found, wanted in zip(model.explain(rows), model.explain(X)):
        np.testing.assert_allclose(found, wanted, atol=1e-10)
    np.testing.assert_array_equal(model.model_.predict(rows), model.predict(X))
    assert model.score(rows, y) == model.score(X, y)


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", FORMATS)
def test_formats_give_the_same_bits(kind, counts):
    X, y = counts
    wanted = GLVQ(max_iter=5, solver=LBFGS(tol=0.1)).fit(sparse.csr_array(X), y)
    given = getattr(sparse, kind)(X)
    found = GLVQ(max_iter=5, solver=LBFGS(tol=0.1)).fit(given, y)
    np.testing.assert_array_equal(found.prototypes_, wanted.prototypes_)
    np.testing.assert_array_equal(found.decision_function(given), wanted.decision_function(sparse.csr_array(X)))


def test_unordered_columns_duplicates_and_stored_zeros_are_left_as_given(counts):
    """The user's matrix is not changed, and its form does not matter."""
    X, y = counts
    rows = sparse.csr_matrix(X)
    odd = sparse.csr_matrix(
        (
            np.concatenate([np.r_[part.data[::-1] / 2, part.data[::-1] / 2, 0.0] for part in (r for r in rows)]),
            np.concatenate([np.r_[part.indices[::-1], part.indices[::-1], 3] for part in (r for r in rows)]),
            2 * rows.indptr + np.arange(len(y) + 1),
        ),
        shape=X.shape,
    )
    before = odd.data.copy(), odd.indices.copy()
    found = GLVQ(n_prototypes=2, random_state=0, max_iter=5, solver=LBFGS(tol=0.1)).fit(odd, y)
    wanted = clone(found).fit(rows, y)
    np.testing.assert_array_equal(found.prototypes_, wanted.prototypes_)
    np.testing.assert_array_equal(odd.data, before[0])
    np.testing.assert_array_equal(odd.indices, before[1])


@pytest.mark.parametrize(
    "model",
    [
        GLVQ(solver="online", max_iter=2),
        LOGM(solver="online", max_iter=2, n_prototypes=2, random_state=0),
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


@pytest.mark.parametrize(
    ("model", "dtype"),
    [
        (GLVQ(), np.float32),
        (GLVQ(), np.float64),
        (LOGM(), np.float64),
    ],
    ids=str,
)
def test_online_within_twice_the_matrix(model, dtype):
    """Twenty prototypes are as large as the samples, and there are never two copies of them."""
    rng, stored, shape = np.random.default_rng(0), 800_000, (5000, 60_000)
    places = tuple(rng.integers(0, limit, stored, dtype=np.int32) for limit in shape)
    X, y = sparse.csr_array((rng.random(stored, dtype=dtype), places), shape=shape), np.arange(5000) % 20
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    model = clone(model).set_params(solver="online", max_iter=2).fit(X[:50], y[:50])  # compiles
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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "given",
    [{"kernel": "cauchy"}, {"relevance": "gradient", "n_prototypes": 2}, {"relevance": None, "n_prototypes": 2}],
    ids=str,
)
def test_what_is_given_counts(given, texts):
    X, y = texts
    model = LVQClassifier(random_state=0, max_iter=2, calibration=None, **given).fit(X, y)
    assert (model.model_.relevance is None) == (given.get("relevance", "auto") is None)
    assert len(model.prototypes_) == (3 if "kernel" in given else 6)
    assert type(model.model_.link).__name__ == ("Cauchy" if "kernel" in given else "Identity")
    dense = LVQClassifier(random_state=0, max_iter=2, calibration=None).fit(X.toarray(), y)
    assert dense.model_.relevance is not None


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
    placed = LVQClassifier(relevance=None, solver="online", max_iter=3, sample_prototypes=True, random_state=0).fit(
        rows, y
    )
    assert all((counts[0] == prototype).all(axis=1).any() for prototype in placed.prototypes_)


def test_matrices_are_for_few_sparse_features():
    X, y = sparse.random_array((20, 5000), density=0.01, rng=np.random.default_rng(0), format="csr"), np.arange(20) % 2
    for rank in (None, 2):
        with pytest.raises(ValueError, match=r"GMLVQ .* sparse X of at most 1024 features; got 5000.*TruncatedSVD"):
            GMLVQ(relevance=Matrix(rank=rank)).fit(X, y)


@pytest.mark.thin(5)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "explain"])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
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
    "certified_accuracy": lambda model, X, y: lvq.inspection.certified_accuracy(model, X, y, [0.1]),
    "counterfactual": lambda model, X, y: lvq.counterfactual(model, X),
    "plane": lambda model, X, y: importlib.import_module("lvq.plots").plane(model, X),
}


@pytest.mark.parametrize("function", REFUSED)
@pytest.mark.parametrize("steps", [[], [MaxAbsScaler()]], ids=["model", "pipeline"])
def test_what_needs_dense_samples_tells_what_to_do(function, steps, counts):
    X, y = sparse.csr_array(counts[0]), counts[1]
    model = make_pipeline(*steps, GLVQ(random_state=0)).fit(X, y)
    with pytest.raises(TypeError, match=r"needs dense samples, .* shape \(5, 40\).*toarray\(\)"):
        REFUSED[function](model, X[:5], y[:5])
    REFUSED[function](model, X[:5].toarray(), y[:5])  # and that works


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_solver_of_many_sparse_features(counts, monkeypatch):
    """Online where a step needs the stored features only, Adam elsewhere; unless a solver is chosen."""
    X, y = sparse.csr_array(counts[0]), counts[1]
    solvers = []
    run = training._solve
    monkeypatch.setattr(training, "_solve", lambda parts, *rest: solvers.append(parts.solver) or run(parts, *rest))

    def used(model, features=40, X=X):
        monkeypatch.setattr(specification, "WIDE_SPARSE", features)
        model.set_params(random_state=0, max_iter=2).fit(X, y)
        return type(solvers.pop(0))

    prices = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert used(GLVQ(), features=41) is LBFGS
    assert used(GLVQ(), X=counts[0]) is LBFGS
    assert used(GLVQ(solver="lbfgs")) is LBFGS
    for model in (GLVQ(), LOGM(kernel="gaussian"), RSLVQ()):
        assert used(model) is Online
    for model in (
        GRLVQ(),
        GMLVQ(),
        GLVQ(cost_matrix=prices),
        GRLVQ(relevance=Weights(sparsity=0.1)),
        LVQClassifier(relevance="local_diagonal", calibration=None),
    ):
        assert used(model) is Adam


@pytest.mark.parametrize("stored", [60, 2000, 10**6])
def test_importances_of_many_sparse_features_equal_dense(counts, monkeypatch, stored):
    """Also in several blocks."""
    X, y = counts
    monkeypatch.setattr("lvq.model.rows.BLOCK", stored)
    model = GRLVQ(n_prototypes=2, max_iter=5, solver=LBFGS(tol=0.1), random_state=0)
    dense, from_rows = clone(model).fit(X, y), clone(model).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(from_rows.feature_importances_, dense.feature_importances_, atol=1e-8)


@pytest.mark.parametrize("model", configured([LVQ1(), GLVQ(solver="online")], max_iter=2), ids=name)
def test_models_of_sparse_samples_can_be_saved(model, tmp_path):
    """Their prototypes are in another order of the memory."""
    X = sparse.random(60, 20, density=0.2, random_state=0, format="csr")
    model = clone(model).fit(X, np.arange(60) % 3)
    lvq.save(model, tmp_path / "model.lvq")
    loaded = lvq.load(tmp_path / "model.lvq")
    np.testing.assert_array_equal(loaded.prototypes_, model.prototypes_)
    assert loaded.model_.prototypes.strides == model.model_.prototypes.strides
