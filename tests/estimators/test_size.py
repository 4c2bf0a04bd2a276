"""Models with many classes and prototypes: memory stays bounded, and streams and files take them."""

import tracemalloc

import numpy as np

import lvq
from lvq.solvers.adam import Adam


def clusters(samples, classes, n=4, seed=0):
    random = np.random.default_rng(seed)
    centres = 4 * random.normal(size=(classes, n))
    y = np.arange(samples) % classes
    return centres[y] + random.normal(size=(samples, n)), y


def test_memory_grows_with_samples_plus_prototypes():
    """With 1,000 classes and 20,000 prototypes a matrix of all distances would be 3.2 GB, that of classes 160 MB."""
    X, y = clusters(20_000, 1000, n=8)
    tracemalloc.start()
    try:
        model = lvq.GLVQ(n_prototypes=20, init="samples", solver=Adam(batch_size=2000), max_iter=1).fit(X, y)
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
