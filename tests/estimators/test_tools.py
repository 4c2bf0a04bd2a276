"""Use with scikit-learn's tools: pickle, clone, pipelines, searches, calibration, feature selection, threads."""

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQ1, LVQClassifier
from lvq.model.importance import feature_importances
from lvq.model.relevance import Matrix
from lvq.model.samples import ArraySamples
from tests.estimators.configurations import assert_same


@pytest.mark.parametrize("model", [LVQ1(relevance="fc2"), GMLVQ()], ids=repr)
def test_memory_mapped_models_continue(model, data, tmp_path):
    """joblib can load arrays as read-only maps of the file."""
    X, y = data
    model = clone(model).set_params(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    joblib.dump(model, tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    np.testing.assert_array_equal(mapped.predict_proba(X), model.predict_proba(X))
    assert_same(mapped.partial_fit(X, y), model.partial_fit(X, y))


@pytest.fixture(scope="module")
def informative():
    """Two informative features among eight, the second and the sixth."""
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 8))
    X[:, [1, 5]] += 2.5 * y[:, None]
    return X, y


RANKED = [LGMLVQ(), LVQ1(relevance="fc2"), GLVQ(relevance=Matrix(rank=2)), LVQClassifier()]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", RANKED, ids=repr)
def test_importances_select_features(model, informative):
    X, y = informative
    model = clone(model).set_params(random_state=0)
    selector = SelectFromModel(model, max_features=2, threshold=-np.inf).fit(X, y)
    importances = selector.estimator_.feature_importances_
    assert importances.shape == (8,)
    assert (importances >= 0).all()
    assert importances.sum() == pytest.approx(1)
    np.testing.assert_array_equal(selector.get_support(indices=True), [1, 5])
    np.testing.assert_array_equal(RFE(model, n_features_to_select=2).fit(X, y).get_support(indices=True), [1, 5])


@pytest.mark.parametrize(
    ("model", "reason"),
    [(GLVQ(), "it has no relevances"), (GRLVQ(), "changed by partial_fit")],
    ids=repr,
)
def test_no_importances(model, reason, informative):
    X, y = informative
    model = clone(model)
    with pytest.raises(AttributeError, match=f"This {type(model).__name__} instance is not fitted yet"):
        _ = model.feature_importances_
    model.partial_fit(X, y, classes=[0, 1])
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match=f"This {type(model).__name__} has no feature_importances_: .*{reason}"):
        _ = model.feature_importances_


@pytest.mark.parametrize("model", [LGMLVQ(relevance=Matrix(local="prototype")), GRLVQ()], ids=repr)
def test_importances_are_those_of_the_training_samples(model, informative):
    X, y = informative
    weight = np.linspace(1, 2, len(y))
    model = clone(model).set_params(random_state=0, max_iter=20, solver="adam").fit(X, y, sample_weight=weight)
    expected = feature_importances(model.model_, ArraySamples(X, y, weight))
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-9)
