"""dask arrays and data frames: the models equal those of arrays, predictions too, and messages name the partition."""

from itertools import pairwise

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

pytestmark = pytest.mark.usefixtures("dask_in_this_thread")

QUICK = {"max_iter": 8, "random_state": 0}
MODELS = [
    lvq.GLVQ(**QUICK),
    lvq.GLVQ(n_prototypes=3, init="samples", **QUICK),
    lvq.GLVQ(n_prototypes=2, init="random", **QUICK),
    lvq.GRLVQ(solver="lbfgs", **QUICK),
    lvq.GMLVQ(n_prototypes=2, init="means", rank=2, **QUICK),
    lvq.LOGM(class_weight="balanced", kernel="gaussian", kernel_width="learned", **QUICK),
    lvq.LVQClassifier(**QUICK),
]


@pytest.fixture(params=[0, 1])
def data(request):
    rng = np.random.default_rng(request.param)
    y = rng.integers(3, size=240)
    return rng.normal(size=(240, 5)) + 1.5 * np.eye(3, 5)[y], y


def fitted(model, *data, **weights):
    return clone(model).fit(*data, **weights)


def assert_equal(one, other, tolerance=1e-10):
    assert other.n_iter_ == one.n_iter_
    for part in ("prototypes", "relevance", "importances"):
        a, b = getattr(one.model_, part), getattr(other.model_, part)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_model_is_that_of_arrays(model, data):
    X, y = data
    assert_equal(fitted(model, X, y), fitted(model, da.from_array(X, chunks=(70, 3)), da.from_array(y, chunks=70)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [MODELS[0], MODELS[4], MODELS[6]], ids=lambda model: type(model).__name__)
def test_large_classes_start_from_sums(model, data, monkeypatch):
    """Means and covariances are exact; only starts from several samples of a class are drawn."""
    X, y = data
    monkeypatch.setattr(partitions, "START_SAMPLES", 30)
    model = clone(model).set_params(n_prototypes=1, init="means")
    assert_equal(fitted(model, X, y), fitted(model, da.from_array(X, chunks=(70, 3)), da.from_array(y, chunks=70)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights(data):
    X, y = data
    weight = np.random.default_rng(0).integers(3, size=len(y)).astype(float)
    weight[:60] = 0  # a partition without any
    chunks = da.from_array(X, chunks=(60, 5)), da.from_array(y, chunks=60)
    expected = fitted(MODELS[4], X, y, sample_weight=weight)
    assert_equal(expected, fitted(MODELS[4], *chunks, sample_weight=da.from_array(weight, chunks=60)))
    assert_equal(expected, fitted(MODELS[4], *chunks, sample_weight=weight))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_partitions_do_not_matter(data):
    """Also empty ones, of unknown sizes, and labels in other partitions than the samples."""
    X, y = data
    model = clone(MODELS[0]).set_params(max_iter=3)
    expected = fitted(model, X, y)
    unknown = da.from_array(X, chunks=(70, 5))[da.from_array(np.arange(240) >= 0, chunks=70)]
    assert np.isnan(unknown.shape[0])
    first_empty = da.concatenate([da.zeros((0, 5)), da.from_array(X, chunks=(100, 5))])
    for samples in (da.from_array(X, chunks=(33, 2)), unknown, first_empty):
        for labels in (da.from_array(y, chunks=50), y, y.tolist()):
            assert_equal(expected, fitted(model, samples, labels))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_data_frames(data):
    X, y = pd.DataFrame(data[0], columns=list("abcde")), pd.Series(data[1]).map(dict(enumerate("xyz")))
    frame = dd.from_pandas(X, npartitions=4)
    model = clone(MODELS[4]).set_params(max_iter=3)
    expected = fitted(model, X, y)
    for labels in (dd.from_pandas(y, npartitions=4), dd.from_pandas(y, npartitions=3), y):
        found = fitted(model, frame, labels)
        assert_equal(expected, found)
        assert found.classes_.tolist() == ["x", "y", "z"]
        assert found.feature_names_in_.tolist() == list("abcde")
    assert found.score(frame, y) == found.score(X, y)
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(frame.rename(columns={"a": "A"}))


SCORES = ("predict", "predict_proba", "decision_function")
REJECTING = ("accept", "reason", "certainty", "cell", "predict_or_reject", *SCORES)
METHODS = [*((False, name) for name in (*SCORES, "transform")), *((True, name) for name in REJECTING)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["array", "frame"])
@pytest.mark.parametrize(("rejecting", "name"), METHODS)
def test_predictions(rejecting, name, kind, data):
    X, y = data
    X = X if kind == "array" else pd.DataFrame(X, columns=list("abcde"))
    model = fitted(MODELS[4], X, y)
    if rejecting:
        model = lvq.RejectClassifier(model, cv="prefit").fit(X, y)
    expected = getattr(model, name)(X)
    collection = da.from_array(X, chunks=(70, 3)) if kind == "array" else dd.from_pandas(X, npartitions=3)
    found = getattr(model, name)(collection)
    assert isinstance(found, da.Array)
    assert found.dtype == expected.dtype
    assert found.ndim == expected.ndim
    np.testing.assert_array_equal(found.compute(), expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_predictions_of_an_empty_partition(data):
    X, y = data
    samples = da.concatenate([da.from_array(X, chunks=(100, 5)), da.zeros((0, 5))])
    model = fitted(MODELS[0], X, y)
    np.testing.assert_array_equal(model.predict(samples).compute(), model.predict(X))


def frames(*parts):
    """A dask data frame, or series, of given partitions, whose columns dask takes from the first."""
    return dd.from_map(parts.__getitem__, range(len(parts)), meta=parts[0].iloc[:0], enforce_metadata=False)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("empty", [[0], [1, 2], [4]])
def test_empty_partitions_of_a_data_frame(empty, data):
    X, y = pd.DataFrame(data[0], columns=list("abcde")), pd.Series(data[1])
    ends = [0, 60, 140, 240]
    own = [X.iloc[begin:end] for begin, end in pairwise(ends)]
    labels = [y.iloc[begin:end] for begin, end in pairwise(ends)]
    for place in empty:
        own.insert(place, X.iloc[:0])
        labels.insert(place, y.iloc[:0])
    frame = frames(*own)
    model = clone(MODELS[4]).set_params(max_iter=3)
    expected = fitted(model, X, y)
    for given in (frames(*labels), y):
        found = fitted(model, frame, given)
        assert_equal(expected, found)
    np.testing.assert_array_equal(found.predict(frame).compute(), found.predict(X))
    assert found.score(frame, y) == found.score(X, y)
    np.testing.assert_allclose(clusters.fit_scaler(frame).mean_, X.mean(), atol=1e-12)
    rejecting = lvq.RejectClassifier(clone(model), random_state=0)
    thresholds = [clone(rejecting).fit(samples, y).point_.thresholds for samples in (X, frame)]
    np.testing.assert_allclose(*thresholds, rtol=1e-9)


def test_messages_name_the_partition_of_a_data_frame(data):
    X, y = pd.DataFrame(data[0], columns=list("abcde")), data[1]
    parts = [X.iloc[begin : begin + 60] for begin in range(0, 240, 60)]
    holed = parts[2].copy()
    holed.iloc[7, 1] = np.nan
    model = lvq.GLVQ(random_state=0, max_iter=2).set_params(tol=1.0).fit(X, y)
    for number, part, fitting, predicting in (
        (1, parts[1].drop(columns="e"), "X has 4 features, but GLVQ is expecting 5", "feature names should match"),
        (2, holed, "contains NaN. The first is in row 7, counted from 0, column 'b'", "row 7, counted from 0"),
        (3, parts[3][list("abced")], r"X has the columns \['a', 'b', 'c', 'e', 'd'\]", "feature names"),
        (1, parts[1].astype({"c": str}).replace({"c": {parts[1]["c"].astype(str).iloc[0]: "x"}}), "'x'", "'x'"),
    ):
        frame = frames(*parts[:number], part, *parts[number + 1 :])
        with pytest.raises(ValueError, match=rf"Partition {number} .*{fitting}"):
            lvq.GLVQ().fit(frame, y)
        with pytest.raises(ValueError, match=rf"(?s)Partition {number} .*{predicting}"):
            model.predict(frame).compute()


def broken(X, number, part):
    """A dask array whose partition of a number is replaced; its declared shape stays."""
    parts = list(da.from_array(X, chunks=(60, 5)).to_delayed().ravel())
    parts[number] = dask.delayed(part)
    return da.concatenate([da.from_delayed(p, shape=(60, 5), dtype=float) for p in parts])


def test_messages_name_the_partition(data):
    X, y = data
    holed = X[:60].copy()
    holed[3, 2] = np.nan
    for number, part, message in (
        (1, holed, "Partition 1 .* contains NaN. The first is in row 3, counted from 0, column 2. GLVQ needs finite"),
        (2, X[:60, :4], "Partition 2 .* X has 4 features, but GLVQ is expecting 5"),
        (3, X[:60] * 1e300, "Partition 3 .* overflow"),
        (0, X[:50], "Partition 0 .* X has 50 samples and y has 60"),
    ):
        model = lvq.GLVQ()
        with pytest.raises(ValueError, match=message):
            model.fit(broken(X, number, part), y)
        assert not hasattr(model, "model_")
    model = lvq.GLVQ(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"Partition 1 .* contains NaN"):
        model.predict(broken(X, 1, holed)).compute()
    with pytest.raises(ValueError, match=r"Partition 2 .* X has 4 features, but GLVQ is expecting 5"):
        model.predict_proba(broken(X, 2, X[:60, :4])).compute()
    infinite = X[:60].copy()
    infinite[5, 1] = np.inf
    message = r"Partition 3 .* row 5, counted from 0, column 1. StandardScaler needs numbers that are not infinite"
    with pytest.raises(ValueError, match=message):
        clusters.fit_scaler(broken(X, 3, infinite))
    labels = y.astype(float)
    labels[130] = np.nan
    message = r"Partition 2 .* y contains NaN .* first is in row 10, counted from 0"
    with pytest.raises(ValueError, match=message):
        lvq.GLVQ().fit(da.from_array(X, chunks=(60, 5)), labels)
    for missing in (None, np.nan, pd.NA):
        names = np.array(["a", "b", "c"], dtype=object)[y]
        names[130] = missing
        with pytest.raises(ValueError, match=message):
            lvq.GLVQ().fit(da.from_array(X, chunks=(60, 5)), names)


def test_other_errors(data):
    X, y = data
    samples = da.from_array(X, chunks=(60, 5))
    with pytest.raises(ValueError, match=r"y of GLVQ\.fit must have .* the 240 samples of X, got 239"):
        lvq.GLVQ().fit(samples, y[1:])
    with pytest.raises(ValueError, match="at least two classes, got 1 class: 0"):
        lvq.GLVQ().fit(samples, 0 * y)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        lvq.GLVQ().fit(samples, X[:, 0])
    with pytest.raises(ValueError, match="all 2 partitions are empty"):
        lvq.GLVQ().fit(da.zeros((0, 5), chunks=((0, 0), (5,))), y[:0])
    with pytest.raises(ValueError, match="LVQ1 with solver='online' takes samples"):
        lvq.LVQ1().fit(samples, y)
    with pytest.raises(TypeError, match=r"GLVQ\.partial_fit needs samples in memory"):
        lvq.GLVQ().partial_fit(samples, y, classes=[0, 1, 2])


def test_scaler(data):
    X = data[0] * [1, 1e3, 1e-3, 1, 0] + [0, 0, 5, 1e3, 0.1]
    samples = da.from_array(X, chunks=(70, 2))
    expected, found = StandardScaler().fit(X), clusters.fit_scaler(samples)
    for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-10)
    np.testing.assert_allclose(clusters.transform(found, samples).compute(), expected.transform(X), atol=1e-10)
    with pytest.raises(TypeError, match="X must be a dask array or data frame, got ndarray"):
        clusters.fit_scaler(X)
