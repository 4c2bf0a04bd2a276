"""Missing values in dask arrays and data frames: the models and predictions are those of arrays."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

import lvq
from lvq import clusters
from lvq.model import partitions

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

pytestmark = [
    pytest.mark.usefixtures("dask_in_this_thread"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
QUICK = {"max_iter": 6, "random_state": 0, "missing": "ignore"}
MODELS = [
    lvq.GLVQ(**QUICK),
    lvq.GLVQ(n_prototypes=3, init="samples", **QUICK),
    lvq.GLVQ(n_prototypes=2, solver="adam", batch_size=64, **QUICK),
    lvq.GRLVQ(solver="lbfgs", **QUICK),
    lvq.GMLVQ(n_prototypes=2, init="means", **QUICK),
    lvq.GMLVQ(rank=2, solver="adam", validation_fraction=0.2, **QUICK),
    lvq.LOGM(class_weight="balanced", kernel="gaussian", kernel_width="learned", **QUICK),
    lvq.LVQClassifier(**QUICK),
]


def name_of(model):
    return f"{type(model).__name__}-{model.solver}"


@pytest.fixture(params=[0, 1])
def data(request):
    """Of four partitions of 60 rows the second is complete, and the third has three rows without any value."""
    rng = np.random.default_rng(request.param)
    y = rng.integers(3, size=240)
    X = rng.normal(size=(240, 5)) + 1.5 * np.eye(3, 5)[y]
    holes = rng.uniform(size=X.shape) < 0.2
    holes[60:120] = False
    holes[120:123] = True
    return np.where(holes, np.nan, X), y


def in_partitions(X, rows=60):
    return da.from_array(X, chunks=(rows, 3 if X.shape[1] == 5 else X.shape[1]))


def assert_equal(one, other, tolerance=1e-10):
    assert other.n_iter_ == one.n_iter_
    for part in ("prototypes", "relevance", "importances", "variances"):
        a, b = getattr(one.model_, part), getattr(other.model_, part)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_the_model_is_that_of_arrays(model, data):
    X, y = data
    assert_equal(clone(model).fit(X, y), clone(model).fit(in_partitions(X), da.from_array(y, chunks=60)))


@pytest.mark.parametrize("model", [MODELS[0], MODELS[4]], ids=name_of)
def test_large_classes_start_from_sums(model, data, monkeypatch):
    X, y = data
    monkeypatch.setattr(partitions, "START_SAMPLES", 30)
    model = clone(model).set_params(n_prototypes=1, init="means")
    assert_equal(clone(model).fit(X, y), clone(model).fit(in_partitions(X, 70), y))


def test_weights(data):
    X, y = data
    weight = np.random.default_rng(0).integers(3, size=len(y)).astype(float)
    weight[:60] = 0
    expected = clone(MODELS[4]).fit(X, y, sample_weight=weight)
    assert_equal(expected, clone(MODELS[4]).fit(in_partitions(X), y, sample_weight=da.from_array(weight, chunks=60)))


def test_float32(data):
    X, y = data[0].astype(np.float32), data[1]
    expected, found = (clone(MODELS[4]).fit(samples, y) for samples in (X, in_partitions(X)))
    assert found.prototypes_.dtype == np.float32
    assert_equal(expected, found, 2e-3)


def without_rows(X, y):
    """All rows of class 2 without any value, and a partition of rows without any."""
    X = X.copy()
    X[y == 2] = np.nan
    X[60:120] = np.nan
    return X


def without_a_feature(X, y):
    """A feature that no row has, and one that a class has not."""
    X = X.copy()
    X[:, 0] = np.nan
    X[y == 1, 3] = np.nan
    return X


def in_empty_rows_only(X, y):
    """Rows that have either every value or none."""
    X = np.nan_to_num(X)
    X[30:90:3] = np.nan
    return X


@pytest.mark.parametrize("change", [without_rows, without_a_feature, in_empty_rows_only])
def test_rows_and_features_without_values(change, data):
    X, y = change(*data), data[1]
    model = clone(MODELS[4]).set_params(n_prototypes=1)
    assert_equal(clone(model).fit(X, y), clone(model).fit(in_partitions(X), y))


def test_nothing_is_known(data):
    X, y = data
    with pytest.raises(ValueError, match="GLVQ with missing='ignore' needs at least one value, but all values of"):
        clone(MODELS[0]).fit(in_partitions(np.full_like(X, np.nan)), y)


def test_nothing_is_missing(data):
    """Also where missing values are allowed, the fit is the ordinary one, bit for bit."""
    X, y = np.nan_to_num(data[0]), data[1]
    model = clone(MODELS[4])
    ordinary = clone(model).set_params(missing="raise").fit(in_partitions(X), y).model_
    found = clone(model).fit(in_partitions(X), y)
    np.testing.assert_array_equal(found.model_.prototypes, ordinary.prototypes)
    np.testing.assert_array_equal(found.model_.relevance, ordinary.relevance)
    assert_equal(clone(model).fit(X, y), found)  # with the variances, for later samples


SCORES = ("predict", "predict_proba", "decision_function")
REJECTING = ("accept", "reason", "certainty", "predict_or_reject", *SCORES)


@pytest.mark.parametrize("kind", ["array", "frame"])
@pytest.mark.parametrize("rejecting", [False, True])
def test_predictions(rejecting, kind, data):
    X, y = data
    X = X if kind == "array" else pd.DataFrame(X, columns=list("abcde"))
    collection = in_partitions(X) if kind == "array" else dd.from_pandas(X, npartitions=4)
    model = clone(MODELS[4]).fit(collection, y)
    if rejecting:
        model = lvq.RejectClassifier(model, cv="prefit").fit(collection, y)
    for name in REJECTING if rejecting else SCORES:
        found, expected = getattr(model, name)(collection).compute(), getattr(model, name)(X)
        assert found.dtype == expected.dtype
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        else:
            np.testing.assert_array_equal(found, expected)
    assert model.score(collection, y) == model.score(X, y)


@pytest.mark.parametrize(
    "parameters",
    [{"min_coverage": 0.8}, {"cv": 2}, {"min_known": 0.5}],
    ids=["held out", "cross-fitted", "known values"],
)
def test_rejection(parameters, data):
    X, y = data
    model = lvq.RejectClassifier(clone(MODELS[0]), random_state=0, **parameters)
    expected, found = clone(model).fit(X, y), clone(model).fit(in_partitions(X), y)
    for part in ("thresholds", "cells", "coverage", "accuracy"):
        np.testing.assert_allclose(getattr(found.point_, part), getattr(expected.point_, part), rtol=1e-9)


def test_infinite_values_are_an_error(data):
    X, y = data
    X[130, 2] = np.inf
    message = r"Partition 2 .* infinity .* The first is in row 10, counted from 0, column 2. GLVQ needs numbers that"
    with pytest.raises(ValueError, match=message):
        clone(MODELS[0]).fit(in_partitions(X), y)


def test_a_missing_value_is_an_error_unless_it_is_ignored(data):
    X, y = data
    X = np.nan_to_num(X)
    model = lvq.GLVQ(random_state=0).fit(in_partitions(X), y)
    X[70, 3] = np.nan
    message = r"Partition 1 .* contains NaN. The first is in row 10, counted from 0, column 3. .*missing='ignore'"
    with pytest.raises(ValueError, match=message):
        lvq.GLVQ().fit(in_partitions(X), y)
    with pytest.raises(ValueError, match=message):
        model.predict(in_partitions(X)).compute()


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_scaler(kind, data):
    X = data[0] * [1, 1e3, 1e-3, 1, 0] + [0, 0, 5, 1e3, 0.1]
    X = X if kind == "array" else pd.DataFrame(X, columns=list("abcde"))
    samples = in_partitions(X) if kind == "array" else dd.from_pandas(X, npartitions=3)
    expected, found = StandardScaler().fit(X), clusters.fit_scaler(samples)
    for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-10)
    np.testing.assert_allclose(clusters.transform(found, samples).compute(), expected.transform(X), atol=1e-10)
