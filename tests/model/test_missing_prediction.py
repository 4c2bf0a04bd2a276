"""Predictions of samples with missing values: the labels are those of the distances, complete rows are as ever."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQClassifier
from lvq.model import missing_prediction
from lvq.model.missing import packed
from lvq.model.missing_prediction import observed_prototypes

MODELS = {
    "plain": GLVQ(n_prototypes=2), "relevances": GRLVQ(), "matrix": GMLVQ(), "pairs": GMLVQ(n_prototypes=3),
    "rank 1": GMLVQ(rank=1), "local": LGMLVQ(), "local, rank 3": LGMLVQ(rank=3, n_prototypes=2),
    "local relevances": LVQClassifier(relevance="local_diagonal", calibration=None),
}  # fmt: skip
BY_SCORES = ["matrix", "pairs", "rank 1"]


def fitted(name, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 150)
    X = (rng.normal(size=(150, 6)) + 2 * np.eye(6)[y] + 30).astype(dtype)
    gaps = np.where(rng.random(X.shape) < 0.2, np.nan, X).astype(dtype)
    return clone(MODELS[name]).set_params(missing="ignore", max_iter=5, random_state=0).fit(gaps, y), X, gaps


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_labels_are_those_of_the_distances(name, dtype):
    estimator, X, gaps = fitted(name, dtype)
    model, mixed = estimator.model_, np.concatenate((gaps, X[:40]))
    D = model.distances(mixed)
    assert D.dtype == dtype
    wide = (
        None if part is None else part.astype(np.float64) for part in (packed(mixed), model.prototypes, model.relevance)
    )
    expected = model.observed().distances(*wide)
    np.testing.assert_allclose(D, expected, rtol=10 * np.finfo(dtype).eps, atol=100 * np.finfo(dtype).eps * D.max())
    np.testing.assert_array_equal(model.predicted(mixed), model.labels[D.argmin(axis=1)])
    complete = ~np.isnan(mixed).any(axis=1)
    np.testing.assert_array_equal(D[complete], model.distances(mixed[complete]))  # to the last bit
    for rows in (slice(0, 1), slice(20, 60)):
        np.testing.assert_array_equal(model.predicted(mixed[rows]), model.predicted(mixed)[rows])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_each_way_is_used(monkeypatch):
    """Loops where they are faster; each has the distances of the formulas in NumPy, which are used without numba."""
    used = set()
    for name in MODELS:
        estimator, X, gaps = fitted(name)
        found = observed_prototypes(estimator.model_)
        used |= {loop.func.__name__ for loop in (found.row_distances, found.row_labels) if loop is not None}
        mixed = np.concatenate((gaps, X[:9]))
        expected = estimator.model_.distances(mixed), estimator.predict(mixed)
        with monkeypatch.context() as patch:
            patch.setattr(missing_prediction, "row_kernels", lambda: None)
            patch.setattr("lvq.model.missing.kernels", lambda: None)
            patch.setattr(missing_prediction, "_known", type(missing_prediction._known)())
            np.testing.assert_allclose(estimator.model_.distances(mixed), expected[0], rtol=1e-9, atol=1e-9)
            np.testing.assert_array_equal(estimator.predict(mixed), expected[1])
    assert used == {"distances_by_weights", "distances_by_matrices", "predict_by_missing", "predict_by_images"}


@pytest.mark.parametrize("name", BY_SCORES)
@pytest.mark.parametrize("fraction", [0.02, 0.5, 0.9])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_few_and_many_missing_values(name, fraction):
    estimator, X, _ = fitted(name)
    rows = np.where(np.random.default_rng(1).random(X.shape) < fraction, np.nan, X)
    model = estimator.model_
    np.testing.assert_array_equal(model.predicted(rows), model.labels[model.distances(rows).argmin(axis=1)])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", BY_SCORES)
def test_ties_and_rows_without_values_are_decided_by_the_distances(name):
    """Two equal prototypes of different classes: every row is within the bound, and the first one wins."""
    estimator, _, gaps = fitted(name)
    model = estimator.model_
    twins = type(model)(
        np.repeat(model.prototypes[:1], len(model.prototypes), axis=0), model.labels, model.classes, model.metric,
        model.relevance, model.link, model.decision, variances=model.variances,
    )  # fmt: skip
    rows = np.concatenate((gaps, np.full((1, 6), np.nan)))
    decided = observed_prototypes(twins).predicted(rows)
    assert len(decided.close) == len(rows)
    assert (twins.predicted(rows) == 0).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_any_layout_of_the_rows(name):
    """Columns, every second number, rows from the last to the first, the other order of bytes, and no row at all."""
    estimator, _, gaps = fitted(name)
    expected, D = estimator.predict(gaps), estimator.model_.distances(gaps)
    for rows in (
        np.asfortranarray(gaps),
        np.repeat(gaps, 2, axis=1)[:, ::2],
        gaps[::-1].copy()[::-1],
        gaps.astype(">f8"),
    ):
        np.testing.assert_array_equal(estimator.predict(rows), expected)
        np.testing.assert_array_equal(estimator.model_.predicted(rows), estimator.model_.labels[D.argmin(axis=1)])
        np.testing.assert_array_equal(estimator.model_.distances(rows), D)
    assert estimator.model_.predict(gaps[:0]).shape == (0,)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_blocks_without_a_missing_value(name, monkeypatch):
    """A batch in several blocks, of which some are complete and one has no value."""
    estimator, X, gaps = fitted(name)
    rows = np.concatenate((X[:40], gaps[:40], np.full((20, 6), np.nan), X[40:80]))
    expected = estimator.predict(rows)
    monkeypatch.setattr(missing_prediction, "BLOCK_BYTES", 1)  # blocks of 16 rows
    np.testing.assert_array_equal(estimator.predict(rows), expected)
    np.testing.assert_array_equal(expected[:40], estimator.predict(X[:40]))


@pytest.mark.parametrize("name", ["plain", "matrix", "rank 1", "local"])
def test_a_stream_with_samples_of_one_class_so_far(name):
    """One prototype, and no difference to a first one."""
    rows = np.where(np.random.default_rng(0).random((30, 6)) < 0.2, np.nan, np.arange(180.0).reshape(30, 6))
    estimator = clone(MODELS[name]).set_params(missing="ignore", solver="online", n_prototypes=1)
    estimator.partial_fit(rows, np.full(30, 1), classes=[0, 1, 2])
    assert estimator.model_.distances(rows).shape == (30, 1)
    np.testing.assert_array_equal(estimator.predict(rows), 1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_prepared_once_and_forgotten_with_the_model():
    estimator, *_ = fitted("plain")
    assert observed_prototypes(estimator.model_) is observed_prototypes(estimator.model_)
    model = weakref.ref(estimator.model_)
    del estimator
    gc.collect()
    assert model() is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_the_first_predictions_at_the_same_time(name, monkeypatch):
    """Threads that all prepare the prototypes predict what one does."""
    estimator, X, gaps = fitted(name)
    rows = np.concatenate((gaps, X[:40]))
    expected = estimator.predict(rows), estimator.predict_proba(rows)
    monkeypatch.setattr(missing_prediction, "_known", type(missing_prediction._known)())
    together = threading.Barrier(4)

    def predictions(_):
        together.wait()
        return estimator.predict(rows), estimator.predict_proba(rows)

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(predictions, range(4)):
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("name", ["plain", "matrix"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_infinite_and_too_large_values_are_refused(name):
    estimator, _, gaps = fitted(name)
    for value in (np.inf, -np.inf, 1e200):
        wrong = gaps.copy()
        wrong[5, 2] = value
        assert estimator.model_.predicted(wrong) is None
        with pytest.raises(ValueError, match=r"infinity|overflow|too large"):
            estimator.predict(wrong)
        with pytest.raises(ValueError, match=r"infinity|overflow|too large"):
            estimator.predict_proba(wrong)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_with_a_constant_feature_alone_are_equally_near_to_all():
    """Whatever else is in the batch, which decides by which form it is measured."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.arange(90) % 3
        X = rng.normal(size=(90, 8)) + y[:, None]
        X[rng.random(X.shape) < 0.2], X[:, 0] = np.nan, 1.0
        estimator = GMLVQ(missing="ignore", max_iter=20, random_state=0).fit(X, y)
        X[::7, 1:] = np.nan
        np.testing.assert_array_equal(estimator.predict(X)[::7], 0)
        np.testing.assert_allclose(estimator.predict_proba(X)[::7], 1 / 3)
        np.testing.assert_allclose(estimator.predict_proba(X[::7]), 1 / 3)
