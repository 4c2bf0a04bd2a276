"""Use with scikit-learn's tools: pickle, clone, pipelines, searches, calibration, feature selection, threads."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQ1, OLVQ1, LVQClassifier, LVQClassifierCV
from lvq.model.importance import feature_importances
from lvq.model.relevance import FisherNeighbours, Matrix
from lvq.model.samples import ArraySamples

LEARNED = ("prototypes_", "relevances_", "omega_", "lambda_", "kernel_width_", "objective_history_")


def learned(model):
    """Everything that a fit has learned, by name."""
    return {name: getattr(model, name) for name in LEARNED if hasattr(model, name)}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_pickle(model, data):
    X, y = data
    model.fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    assert_same(learned(back), learned(model))
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert_same(learned(back.partial_fit(X, y)), learned(model.partial_fit(X, y)))


@pytest.mark.parametrize("model", [LVQ1(relevance="fc2"), GLVQ(), GMLVQ(), OLVQ1()], ids=repr)
def test_memory_mapped_models_continue(model, data, tmp_path):
    """joblib can load arrays as read-only maps of the file."""
    X, y = data
    model = clone(model).set_params(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    joblib.dump(model, tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    np.testing.assert_array_equal(mapped.predict_proba(X), model.predict_proba(X))
    assert_same(learned(mapped.partial_fit(X, y)), learned(model.partial_fit(X, y)))


def test_clone(model, data):
    copy = clone(model.fit(*data))
    assert not hasattr(copy, "prototypes_")
    assert copy.get_params() == model.get_params()


def test_clone_of_parts_and_arrays(data):
    X, y = data
    model = GLVQ(
        solver="online",
        init=(X[:3], [0, 1, 2]),
        relevance=FisherNeighbours(rivals="nearest"),
        n_prototypes={0: 1, 1: 1, 2: 1},
    )
    copy = clone(model)
    assert copy.relevance == model.relevance
    np.testing.assert_array_equal(copy.init[0], model.init[0])
    assert copy.fit(X, y).score(X, y) > 0.5


def test_repr_names_what_differs():
    assert repr(GMLVQ(solver="online", kernel="gaussian")) == "GMLVQ(kernel='gaussian', solver='online')"


def test_pipeline_and_grid_search(data):
    X, y = data
    search = GridSearchCV(
        make_pipeline(StandardScaler(), GLVQ(solver="online", max_iter=3, random_state=0)),
        {"glvq__kernel": [None, "gaussian", "cauchy"], "glvq__relevance": [None, "gradient", "matrix", "fc1", "fc2"]},
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 15
    assert search.best_score_ > 0.7
    assert search.predict_proba(X).shape == (90, 3)


def test_a_search_over_parameters_of_parts(data):
    """Also of parts that a string names; no fit changes the part of another."""
    grid = {"relevance__rank": [1, 2], "solver__learning_rate": [0.0, 0.1], "kernel__width": [1.0, "auto"]}
    base = GMLVQ(solver="online", kernel="gaussian", max_iter=3, random_state=0)
    search = GridSearchCV(base, grid, cv=2, error_score="raise").fit(*data)
    assert search.best_estimator_.relevance.rank == search.best_params_["relevance__rank"]
    assert search.best_estimator_.omega_.shape == (search.best_params_["relevance__rank"], 4)
    assert (base.relevance, base.solver, base.kernel) == ("matrix", "online", "gaussian")


def test_as_the_first_step_of_a_pipeline(data):
    """GMLVQ as a supervised projection in front of another classifier."""
    X, y = data
    steps = make_pipeline(
        StandardScaler(),
        GMLVQ(solver="online", relevance=Matrix(rank=2), max_iter=10, random_state=0),
        LVQ1(random_state=0),
    )
    assert cross_val_score(steps, X, y, cv=3, error_score="raise").mean() > 0.7


@pytest.fixture(scope="module")
def informative():
    """Two informative features among eight, the second and the sixth."""
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 8))
    X[:, [1, 5]] += 2.5 * y[:, None]
    return X, y


RANKED = [GRLVQ(), GMLVQ(), LGMLVQ(), LVQ1(relevance="fc2"), GLVQ(relevance=Matrix(rank=2)), LVQClassifier()]


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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_importances_of_a_search_are_those_of_its_winner(informative):
    X, y = informative
    model = LVQClassifierCV(cv=2, candidates=[{"relevance__ridge": 0.01}], random_state=0)
    np.testing.assert_array_equal(SelectFromModel(model, max_features=2).fit(X, y).get_support(indices=True), [1, 5])


@pytest.mark.parametrize(
    ("model", "reason"),
    [(GLVQ(), "it has no relevances"), (GRLVQ(), "trained by partial_fit"), (LVQ1(), "it has no relevances")],
    ids=repr,
)
def test_no_importances(model, reason, informative):
    X, y = informative
    model = clone(model)
    with pytest.raises(AttributeError, match=f"This {type(model).__name__} has no feature_importances_: .*not fitted"):
        _ = model.feature_importances_
    model.partial_fit(X, y, classes=[0, 1])
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match=f"This {type(model).__name__} has no feature_importances_: .*{reason}"):
        _ = model.feature_importances_


@pytest.mark.parametrize("model", [GMLVQ(), LGMLVQ(relevance=Matrix(local="prototype")), GRLVQ()], ids=repr)
def test_importances_are_those_of_the_training_samples(model, informative):
    X, y = informative
    weight = np.linspace(1, 2, len(y))
    model = clone(model).set_params(random_state=0, max_iter=20, solver="adam").fit(X, y, sample_weight=weight)
    expected = feature_importances(model.model_, ArraySamples(X, y, weight))
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-9)


def test_calibration(default, data):
    X, y = data
    calibrated = CalibratedClassifierCV(default.set_params(max_iter=3), cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.7


@pytest.mark.parametrize("number", [np.int64(10), np.float32(10), 10])
def test_a_slope_of_any_kind_of_number(number, data):
    """A grid made by NumPy holds NumPy's numbers."""
    X, y = data
    expected = GLVQ(solver="online", slope=10.0, max_iter=3, random_state=0).fit(X, y)
    found = GLVQ(solver="online", slope=number, max_iter=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.prototypes_, expected.prototypes_)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


def test_threads(data):
    """Fits in threads, as joblib runs them, are those of one thread."""
    X, y = data
    scores = [
        cross_val_score(GMLVQ(solver="online", max_iter=3, random_state=0), X, y, cv=4, n_jobs=jobs) for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*scores)
