"""dask arrays and data frames: the models equal those of arrays, predictions too, and messages name the partition."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import lvq
from lvq.estimators import partitions
from lvq.model.links import Gaussian
from lvq.model.relevance import Matrix
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

pytestmark = [
    pytest.mark.usefixtures("dask_in_this_thread"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

QUICK = {"max_iter": 8, "random_state": 0}
MATRIX = lvq.GMLVQ(n_prototypes=2, init="means", relevance=Matrix(rank=2), **QUICK)
MODELS = [
    MATRIX,
    lvq.GLVQ(**QUICK),
    lvq.GLVQ(n_prototypes="auto", **QUICK),
    lvq.GLVQ(n_prototypes=3, init="samples", **QUICK),
    lvq.GRLVQ(n_prototypes=2, init="random", **QUICK),
    lvq.LOGM(class_weight="balanced", kernel=Gaussian(width="learned"), **QUICK),
    lvq.RSLVQ(decision="posterior", n_prototypes=2, **QUICK),
    lvq.LVQClassifier(**QUICK),
]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=240)
    return rng.normal(size=(240, 5)) + 1.5 * np.eye(3, 5)[y], y


@pytest.fixture
def frame(data):
    """The same samples with names of columns, and classes that are text."""
    return pd.DataFrame(data[0], columns=list("abcde")), pd.Series(data[1]).map(dict(enumerate("xyz")))


def fitted(model, *data, **weights):
    return clone(model).fit(*data, **weights)


def assert_equal(one, other, tolerance=1e-10):
    assert other.n_iter_ == one.n_iter_
    assert other.model_.decision.temperature == pytest.approx(one.model_.decision.temperature, rel=1e-6)
    np.testing.assert_array_equal(other.classes_, one.classes_)
    for part in ("prototypes", "relevance", "importances"):
        a, b = getattr(one.model_, part), getattr(other.model_, part)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)


@pytest.mark.thin(2)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__name__}-{model.init}")
def test_the_model_is_that_of_arrays(model, data):
    X, y = data
    assert_equal(fitted(model, X, y), fitted(model, da.from_array(X, chunks=(70, 3)), da.from_array(y, chunks=70)))


@pytest.mark.parametrize("model", [MATRIX, lvq.GLVQ(relevance="gradient", **QUICK)], ids=str)
def test_large_classes_start_from_sums(model, data, monkeypatch):
    """Means and covariances are exact; only starts from several samples of a class are drawn."""
    X, y = data
    monkeypatch.setattr(partitions, "START_SAMPLES", 30)
    model = clone(model).set_params(n_prototypes=1, init="means")
    assert_equal(fitted(model, X, y), fitted(model, da.from_array(X, chunks=(70, 3)), da.from_array(y, chunks=70)))


@pytest.mark.parametrize("k", [None, 50, 1000])
def test_samples_are_drawn_from_all_partitions(k, data, monkeypatch):
    """Without replacement, at most k of them, or so many of each class; each with its class and weight."""
    X, y = data
    monkeypatch.setattr(partitions, "START_SAMPLES", 30)
    model, given = lvq.GLVQ(), (da.from_array(X, chunks=(70, 5)), y, 1.0 + np.arange(240))
    samples, _, _ = partitions.training_partitions(model, LBFGS(), *given, reset=True)
    found = samples.sample(k, np.random.RandomState(0))
    rows = np.rint(found.weight).astype(int) - 1
    np.testing.assert_array_equal(X[rows], found.X)
    np.testing.assert_array_equal(y[rows], found.y)
    assert len(set(rows)) == len(rows) == (90 if k is None else min(k, 240))
    assert {int(row) // 70 for row in rows} == {0, 1, 2, 3}


def test_sums_do_not_depend_on_threads(data):
    """In partitions in a fixed tree: the same bits in any number of threads, and the sum of arrays to rounding."""
    X, y = data
    chunks = da.from_array(X, chunks=(12, 5)), da.from_array(y, chunks=12), 1.0 + np.arange(240)
    samples, _, _ = partitions.training_partitions(lvq.GLVQ(), LBFGS(), *chunks, reset=True)
    found = samples.reduce(lambda block: block.weight @ block.X, rows=7)
    np.testing.assert_allclose(found / found.sum(), (chunks[2] @ X) / (chunks[2] @ X).sum(), rtol=1e-12)
    with dask.config.set(scheduler="threads"):
        for _ in range(5):
            np.testing.assert_array_equal(samples.reduce(lambda block: block.weight @ block.X, rows=7), found)


def test_weights(data):
    X, y = data
    weight = np.random.default_rng(0).integers(3, size=len(y)).astype(float)
    weight[:60] = 0  # a partition without any
    chunks = da.from_array(X, chunks=(60, 5)), da.from_array(y, chunks=60)
    expected = fitted(MATRIX, X, y, sample_weight=weight)
    for given in (weight, da.from_array(weight, chunks=60), da.from_array(weight, chunks=90)):
        assert_equal(expected, fitted(MATRIX, *chunks, sample_weight=given))
    for class_weight in ({0: 3.0}, {0: 0.0, 2: 0.5}):
        model = clone(MATRIX).set_params(class_weight=class_weight)
        assert_equal(fitted(model, X, y), fitted(model, *chunks))


def test_the_partitions_do_not_matter(data):
    """Also empty ones, of unknown sizes, and labels in other partitions than the samples."""
    X, y = data
    model = lvq.GLVQ(max_iter=3, random_state=0)
    expected = fitted(model, X, y)
    unknown = da.from_array(X, chunks=(70, 5))[da.from_array(np.arange(240) >= 0, chunks=70)]
    assert np.isnan(unknown.shape[0])
    first_empty = da.concatenate([da.zeros((0, 5)), da.from_array(X, chunks=(100, 5))])
    for samples in (da.from_array(X, chunks=(33, 2)), unknown, first_empty):
        for labels in (da.from_array(y, chunks=50), y, y.tolist()):
            assert_equal(expected, fitted(model, samples, labels))
        np.testing.assert_array_equal(expected.predict(samples).compute(), expected.predict(X))


def test_data_frames(frame):
    X, y = frame
    collection, model = dd.from_pandas(X, npartitions=4), clone(MATRIX).set_params(max_iter=3)
    expected = fitted(model, X, y)
    texts = (y, y.astype("category"), y.astype("string"))
    for labels in (*texts, *(dd.from_pandas(text, npartitions=4) for text in texts), dd.from_pandas(y, npartitions=3)):
        found = fitted(model, collection, labels)
        assert_equal(expected, found)
        assert found.feature_names_in_.tolist() == list("abcde")
        assert found.score(collection, labels) == found.score(X, y)
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(collection.rename(columns={"a": "A"}))


@pytest.mark.parametrize(("name", "kind"), [("predict", "frame"), ("predict_proba", "array"), ("transform", "array")])
def test_predictions_are_lazy(name, kind, frame):
    X, y = frame
    X = X if kind == "frame" else X.to_numpy()
    model = fitted(MATRIX, X, y)
    expected = getattr(model, name)(X)
    collection = da.from_array(X, chunks=(70, 3)) if kind == "array" else dd.from_pandas(X, npartitions=3)
    found = getattr(model, name)(collection)
    assert isinstance(found, da.Array)
    assert found.dtype == expected.dtype
    assert found.ndim == expected.ndim
    np.testing.assert_array_equal(found.compute(), expected)


def frames(*parts):
    """A dask data frame, or series, of given partitions, whose columns dask takes from the first."""
    return dd.from_map(parts.__getitem__, range(len(parts)), meta=parts[0].iloc[:0], enforce_metadata=False)


@pytest.mark.parametrize("empty", [[0], [1, 2]])
def test_empty_partitions_of_a_data_frame(empty, frame):
    X, y = frame
    ends = [0, 60, 140, 240]
    own = [X.iloc[begin:end] for begin, end in pairwise(ends)]
    labels = [y.iloc[begin:end] for begin, end in pairwise(ends)]
    for place in empty:
        own.insert(place, X.iloc[:0])
        labels.insert(place, y.iloc[:0])
    collection, model = frames(*own), clone(MATRIX).set_params(max_iter=3)
    expected = fitted(model, X, y)
    for given in (frames(*labels), y):
        found = fitted(model, collection, given)
        assert_equal(expected, found)
    np.testing.assert_array_equal(found.predict(collection).compute(), found.predict(X))
    assert found.score(collection, y) == found.score(X, y)


# -- errors ------------------------------------------------------------------------------------------------------------


def test_messages_name_the_partition_of_a_data_frame(frame):
    X, y = frame
    parts = [X.iloc[begin : begin + 60] for begin in range(0, 240, 60)]
    holed = parts[2].copy()
    holed.iloc[7, 1] = np.nan
    text = parts[1].astype({"c": str}).replace({"c": {parts[1]["c"].astype(str).iloc[0]: "x"}})
    model = fitted(MODELS[1], X, y)
    for number, part, fitting, predicting in (
        (1, parts[1].drop(columns="e"), "feature names should match", "feature names should match"),
        (2, holed, "contains NaN. The first is in row 7, counted from 0, column 'b'", "row 7, counted from 0"),
        (3, parts[3][list("abced")], "feature names", "feature names"),
        (1, text, "'x'", "'x'"),
    ):
        collection = frames(*parts[:number], part, *parts[number + 1 :])
        with pytest.raises(ValueError, match=rf"Partition {number} .*{fitting}"):
            lvq.GLVQ().fit(collection, y)
        with pytest.raises(ValueError, match=rf"(?s)Partition {number} .*{predicting}"):
            model.predict(collection).compute()


def broken(X, number, part):
    """A dask array whose partition of a number is replaced; its declared shape stays."""
    parts = list(da.from_array(X, chunks=(60, 5)).to_delayed().ravel())
    parts[number] = dask.delayed(part)
    return da.concatenate([da.from_delayed(p, shape=(60, 5), dtype=float) for p in parts])


def test_messages_name_the_partition(data):
    X, y = data
    holed = X[:60].copy()
    holed[3, 2] = np.nan
    with dask.config.set(scheduler="threads"):
        for number, part, message in (
            (1, holed, "Partition 1 .* contains NaN. The first is in row 3, counted from 0, column 2"),
            (2, X[:60, :4], "Partition 2 .* X has 4 features, but GLVQ is expecting 5"),
            (3, X[:60] * 1e300, "squared distances, which overflow"),
            (0, X[:50], "Partition 0 .* inconsistent numbers of samples: .*50, 60"),
        ):
            model = lvq.GLVQ()
            with pytest.raises(ValueError, match=message):
                model.fit(broken(X, number, part), y)
            assert vars(model) == vars(lvq.GLVQ())  # nothing is left of a failed fit


@pytest.mark.parametrize("label", [None, pd.NA, 7], ids=str)
def test_labels_that_are_missing_or_of_two_kinds(label, data):
    names = np.array(["a", "b", "c"], dtype=object)[data[1]]
    names[130] = label
    with pytest.raises(ValueError, match=r"Partition 2 .* the class of every sample"):
        lvq.GLVQ().fit(da.from_array(data[0], chunks=(60, 5)), names)


def test_other_errors(data):
    X, y = data
    samples = da.from_array(X, chunks=(60, 5))
    for model, labels, message in (
        (lvq.GLVQ(), y[1:], "one value for each of the 240 samples of X, got 239"),
        (lvq.GLVQ(), 0 * y, r"at least two classes .* got 1 class: \[0\]"),
        (lvq.GLVQ(), X[:, 0], "Unknown label type: continuous"),
        (lvq.GLVQ(), None, "needs X of two dimensions, got 2, and y, got NoneType"),
        (lvq.LVQ1(), y, "LVQ1 takes dask collections only with solver='lbfgs' on the CPU"),
        (lvq.GLVQ(solver=Adam()), y, "takes dask collections only with solver='lbfgs' on the CPU"),
        (lvq.GLVQ(missing="ignore"), y, "missing='ignore' of GLVQ needs samples in memory"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(samples, labels)
    with pytest.raises(ValueError, match=r"Partition \d .* Negative values in data"):
        lvq.GLVQ().fit(samples, y, sample_weight=-np.ones(240))
    with pytest.raises(ValueError, match="underflow for features whose range"):
        lvq.GLVQ().fit(1e-160 * samples, y)
    with pytest.raises(ValueError, match="needs X of two dimensions, got 1"):
        lvq.GLVQ().fit(samples[:, 0], y)
    with pytest.raises(ValueError, match="has no samples: all partitions are empty"):
        lvq.GLVQ().fit(da.zeros((0, 5), chunks=((0, 0), (5,))), y[:0])
    with pytest.raises(TypeError, match=r"GLVQ\.partial_fit needs samples in memory"):
        lvq.GLVQ().partial_fit(samples, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="groups need samples in memory, got a dask collection"):
        lvq.LVQClassifier().fit(samples, y, groups=np.arange(240) // 4)
