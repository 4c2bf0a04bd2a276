"""RejectClassifier fitted to dask collections: split, thresholds and guarantees are those of arrays."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ
from lvq.rejection import GuaranteeError, RejectClassifier
from tests.rejection.populations import draw

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MODEL = GLVQ(n_prototypes=2, init="samples", solver="lbfgs", max_iter=6, random_state=0)
SETTINGS = [
    {},
    {"min_accuracy": 0.95},
    {"cost_ratio": 0.3},
    {"measure": "combined", "min_coverage": 0.8, "thresholds": "optimal"},
    {"random_state": 3, "cv": 0.5},
    {"max_error": 0.15},
]


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def numbers_of(value):
    """Everything that thresholds hold, as plain lists."""
    if dataclasses.is_dataclass(value):
        return {field.name: numbers_of(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): numbers_of(part) for key, part in value.items()}
    if isinstance(value, tuple) and not isinstance(value, str):
        return [numbers_of(part) for part in value]
    return np.asarray(value).tolist() if value is not None else None


def flat(value):
    """The numbers of a nested list or dictionary in order, and everything else."""
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list | tuple):
        parts = [flat(part) for part in value]
        return [x for numbers, _ in parts for x in numbers], [x for _, others in parts for x in others]
    return ([value], []) if isinstance(value, float) else ([], [value])


def assert_same(one, other):
    for name in ("path_", "point_", "outlier_limits_", "notes_"):
        (expected, others), (found, found_others) = (flat(numbers_of(getattr(model, name))) for model in (one, other))
        assert found_others == others
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert len(flat(numbers_of(one.path_))[0]) > 10


@pytest.mark.parametrize("parameters", SETTINGS, ids=lambda given: ", ".join(map(str, given)))
@pytest.mark.parametrize("seed", [0, 1])
def test_thresholds_are_those_of_arrays(parameters, seed):
    X, y = draw(600, seed)
    expected = RejectClassifier(MODEL, **parameters).fit(X, y)
    samples = da.from_array(X, chunks=(130, 3))
    found = RejectClassifier(MODEL, **parameters).fit(samples, da.from_array(y, chunks=200))
    assert_same(expected, found)
    np.testing.assert_allclose(found.estimator_.prototypes_, expected.estimator_.prototypes_, rtol=1e-9, atol=1e-10)
    assert found.n_features_in_ == 4
    np.testing.assert_array_equal(found.accept(samples).compute(), expected.accept(X))


def test_data_frames_with_unknown_lengths_and_empty_partitions():
    X, y = draw(500)
    frame, labels = pd.DataFrame(X, columns=list("abcd")), pd.Series(y)
    expected = RejectClassifier(MODEL, max_error=0.2).fit(frame, labels)
    collection = dd.from_pandas(frame, npartitions=4)
    empty = dd.concat([collection[collection.a > 1e9], collection])
    for samples in (collection, empty):
        for given in (dd.from_pandas(labels, npartitions=3), y):
            found = RejectClassifier(MODEL, max_error=0.2).fit(samples, given)
            assert_same(expected, found)
            assert found.feature_names_in_.tolist() == list("abcd")
    unknown = da.from_array(X, chunks=(90, 4))[da.from_array(np.arange(500) >= 0, chunks=90)]
    assert np.isnan(unknown.shape[0])
    assert_same(expected, RejectClassifier(MODEL, max_error=0.2).fit(unknown, y))


def test_weights():
    X, y = draw(500)
    weight = np.random.default_rng(0).integers(3, size=500).astype(float)
    weight[:120] = 0.0
    samples = da.from_array(X, chunks=(120, 4))
    model = RejectClassifier(MODEL)
    expected = clone(model).fit(X, y, sample_weight=weight)
    assert_same(expected, clone(model).fit(samples, y, sample_weight=da.from_array(weight, chunks=50)))


def test_a_prefit_pipeline():
    """Any fitted estimator: each partition goes through all of its steps."""
    X, y = draw(400)
    model = make_pipeline(StandardScaler(), GMLVQ(max_iter=5, random_state=0)).fit(*draw(300, 1))
    expected = RejectClassifier(model, cv="prefit", max_error=0.2).fit(X, y)
    samples = da.from_array(X, chunks=(70, 4))
    found = RejectClassifier(model, cv="prefit", max_error=0.2).fit(samples, y)
    assert_same(expected, found)
    labels = da.from_array(y, chunks=100)
    for name, arguments, lazy in (
        ("score", (X, y), (samples, labels)),
        ("accepted_accuracy", (X, y), (samples, labels)),
        ("coverage", (X,), (samples,)),
    ):
        assert getattr(found, name)(*lazy) == getattr(expected, name)(*arguments)
        weight = np.arange(400.0)
        weighted = getattr(expected, name)(*arguments, sample_weight=weight)
        assert getattr(found, name)(*lazy, sample_weight=da.from_array(weight, chunks=90)) == weighted


def test_samples_do_not_come_to_the_client(monkeypatch):
    """What is computed for the client has one axis, but for sums of the size of the model."""
    X, y = draw(600)
    brought, compute = [], dask.compute

    def watched(*args, **kwargs):
        results = compute(*args, **kwargs)
        brought.extend(results)
        return results

    monkeypatch.setattr(dask, "compute", watched)
    model = clone(MODEL).set_params(n_prototypes=1, init="means")
    RejectClassifier(model).fit(da.from_array(X, chunks=(200, 4)), y)

    def arrays(value):
        if isinstance(value, np.ndarray):
            return [value]
        return [array for part in value for array in arrays(part)] if isinstance(value, tuple | list) else []

    shapes = {array.shape for result in brought for array in arrays(result)}
    assert shapes
    assert all(len(shape) < 2 or shape[0] <= 3 for shape in shapes)


def test_other_errors():
    X, y = draw(240)
    samples = da.from_array(X, chunks=(60, 4))
    with pytest.raises(ValueError, match=r"y of RejectClassifier\.fit must have .* the 240 samples of X, got 239"):
        RejectClassifier(MODEL).fit(samples, y[1:])
    with pytest.raises(ValueError, match="the target y is None"):
        RejectClassifier(MODEL).fit(samples, None)
    with pytest.raises(TypeError, match="cv of RejectClassifier must be a fraction or 'prefit' where X is a dask"):
        RejectClassifier(MODEL, cv=3).fit(samples, y)
    with pytest.raises(GuaranteeError, match="max_error"):
        RejectClassifier(MODEL, max_error=0.001).fit(samples, y)
    with pytest.raises(ValueError, match="GLVQ takes dask collections with solver='lbfgs'"):
        RejectClassifier(GLVQ(solver="online")).fit(samples, y)
