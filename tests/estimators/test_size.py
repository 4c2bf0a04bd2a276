"""Models with many classes and prototypes: groups change the time, not the result; memory stays bounded."""

import tracemalloc

import numpy as np
import pytest

import lvq
from lvq.model import grouped_prediction, objective
from lvq.model.pairs import GroupedSearch
from lvq.solvers import state


def clusters(samples, classes, n=4, seed=0):
    random = np.random.default_rng(seed)
    centres = 4 * random.normal(size=(classes, n))
    y = np.arange(samples) % classes
    return centres[y] + random.normal(size=(samples, n)), y


@pytest.fixture
def groups_of_few(monkeypatch):
    for module in (objective, state):
        monkeypatch.setattr(module, "GROUPED", 20)
    monkeypatch.setattr(grouped_prediction, "MANY", 20)
    monkeypatch.setattr(grouped_prediction, "ROWS", 1)


MODELS = [
    lvq.GLVQ(n_prototypes=2, max_iter=10, random_state=0),
    lvq.GLVQ(n_prototypes=2, solver="adam", max_iter=3, random_state=0),
    lvq.GLVQ(kernel="cauchy", kernel_width="learned", max_iter=10, random_state=0),
    lvq.GMLVQ(rank=2, max_iter=10, random_state=0),
    lvq.GRLVQ(solver="lbfgs", max_iter=10, random_state=0),
    lvq.LOGM(max_iter=10, random_state=0),
]


@pytest.mark.filterwarnings("ignore:.*lbfgs stopped")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__name__}-{model.solver}-{model.kernel}")
def test_groups_do_not_change_a_fit(model, monkeypatch, request):
    X, y = clusters(600, 40)
    plain = model.fit(X, y)
    W, R, D, predicted = plain.prototypes_, plain.model_.relevance, plain.predict_proba(X), plain.predict(X)
    request.getfixturevalue("groups_of_few")
    searched, prepare = [], GroupedSearch.prepare
    monkeypatch.setattr(GroupedSearch, "prepare", lambda *given: searched.append(1) or prepare(*given))
    grouped = model.fit(X, y)
    assert searched
    np.testing.assert_allclose(grouped.prototypes_, W, rtol=1e-6, atol=1e-8)
    if R is not None:
        np.testing.assert_allclose(grouped.model_.relevance, R, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(grouped.predict(X), predicted)
    value = grouped.objective_value(X, y)
    monkeypatch.setattr(objective, "GROUPED", 10**9)
    assert grouped.objective_value(X, y) == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(grouped.predict_proba(X), D, rtol=1e-5, atol=1e-8)


def test_memory_grows_with_samples_plus_prototypes():
    """With 1,000 classes and 20,000 prototypes a matrix of all distances would be 3.2 GB, that of classes 160 MB."""
    X, y = clusters(20_000, 1000, n=8)
    tracemalloc.start()
    try:
        model = lvq.GLVQ(n_prototypes=20, init="samples", solver="adam", batch_size=2000, max_iter=1).fit(X, y)
        model.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(model.prototypes_) == 20_000
    assert peak < 100e6
    assert model.score(X[:2000], y[:2000]) > 0.9


def test_many_classes_in_a_stream_and_on_disk(tmp_path):
    X, y = clusters(4000, 1000)
    model = lvq.GLVQ(random_state=0).partial_fit(X[:2000], y[:2000], classes=np.arange(1000)).partial_fit(X, y)
    lvq.save(model, tmp_path / "model.lvq")
    np.testing.assert_array_equal(lvq.load(tmp_path / "model.lvq").predict(X), model.predict(X))
    table = model.predict_proba(X[:100])
    assert table.shape == (100, 1000)
    np.testing.assert_array_equal(table.argmax(axis=1), model.predict(X[:100]))
