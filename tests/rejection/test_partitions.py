"""RejectClassifier and dask: predictions by partition are those of arrays; calibration needs a fitted estimator."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GMLVQ
from lvq.rejection import RejectClassifier
from tests.rejection.populations import draw

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
METHODS = ("predict", "predict_proba", "decision_function", "accept", "reason", "certainty", "cell")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture(scope="module")
def fitted():
    """Any fitted estimator: each partition goes through all of its steps."""
    X, y = draw(300, 1)
    frame = pd.DataFrame(X, columns=list("abcd"))
    return make_pipeline(StandardScaler(), GMLVQ(max_iter=5, random_state=0)).fit(frame, y)


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_results_are_those_of_arrays(fitted, kind):
    X, y = draw(400)
    frame = pd.DataFrame(X, columns=list("abcd"))
    given = frame
    lazy = dd.from_pandas(frame, npartitions=4)
    model = fitted
    if kind == "array":
        given, lazy = X, da.from_array(X, chunks=(70, 3))
        model = make_pipeline(StandardScaler(), GMLVQ(max_iter=5, random_state=0)).fit(*draw(300, 1))
    labels, weight = da.from_array(y, chunks=100), np.arange(400.0)
    expected = RejectClassifier(model, cv="prefit", max_error=0.2).fit(given, y)
    found = RejectClassifier(model, cv="prefit", max_error=0.2).fit(lazy, labels)
    np.testing.assert_array_equal(found.point_.thresholds, expected.point_.thresholds)
    for name in METHODS:
        values = getattr(found, name)(lazy)
        assert isinstance(values, da.Array)
        if name in ("predict_proba", "decision_function", "certainty"):  # rounding depends on the number of rows
            np.testing.assert_allclose(values.compute(), getattr(expected, name)(given), rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(values.compute(), getattr(expected, name)(given))
    assert found.predict_or_reject(lazy, "?").compute().tolist() == expected.predict_or_reject(given, "?").tolist()
    for name, arguments, own in (
        ("score", (given, y), (lazy, labels)),
        ("accepted_accuracy", (given, y), (lazy, labels)),
        ("coverage", (given,), (lazy,)),
    ):
        assert getattr(found, name)(*own) == getattr(expected, name)(*arguments)
        weighted = getattr(expected, name)(*arguments, sample_weight=weight)
        assert getattr(found, name)(*own, sample_weight=da.from_array(weight, chunks=90)) == weighted


def test_training_is_refused():
    X, y = draw(240)
    with pytest.raises(TypeError, match=r"trains on samples in memory, got a dask collection; fit the estimator to it"):
        RejectClassifier(GMLVQ()).fit(da.from_array(X, chunks=(60, 4)), y)
