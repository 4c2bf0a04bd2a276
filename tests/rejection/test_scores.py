"""Measures of certainty: their values, for which predictions, and clear messages where there are none."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lvq import GLVQ, GMLVQ, LGMLVQ, SNPC
from lvq.inspection.certify import certified_radius
from lvq.rejection import certainty
from lvq.rejection.scores import Predictions, cells_of
from tests.placed import placed

QUICK = {"solver": "online", "max_iter": 5, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[np.arange(150) % 3]
    X = rng.normal(size=(150, 4)) + 2 * np.eye(3, 4)[np.arange(150) % 3]
    return X, y


def test_values():
    model = placed(np.array([[0.0], [1.0], [4.0]]), np.array(["a", "a", "b"]))
    X = [[0.0], [0.25], [2.0], [2.5], [4.0], [9.0]]
    near, far = np.array([0, 0.0625, 1, 2.25, 0, 25]), np.array([16, 14.0625, 4, 2.25, 9, 64])
    np.testing.assert_allclose(certainty(model, X, "relsim"), (far - near) / (far + near), atol=1e-12)
    np.testing.assert_allclose(certainty(model, X, "distance"), -np.sqrt(near), atol=1e-12)
    np.testing.assert_array_equal(certainty(model, X, "radius"), certified_radius(model, X))


@pytest.mark.parametrize("kernel", [None, "gaussian", "cauchy"])
def test_relsim_is_the_certainty_of_explain(data, kernel):
    X, y = data
    model = GMLVQ(n_prototypes=2, kernel=kernel, **QUICK).fit(X, y)
    np.testing.assert_allclose(certainty(model, X), model.explain(X).certainty)
    assert certainty(model, X).min() >= 0
    assert certainty(model, X).max() <= 1


def test_winner_and_rival_belong_to_the_prediction(data):
    """With predictions by the posterior the winner is the nearest prototype of the predicted class, not of all."""
    X, y = data
    model = SNPC(n_prototypes=4, decision="posterior", xi=0.3, **QUICK).fit(X, y)
    found = Predictions(model, X)
    predicted = model.predict(X)
    assert np.array_equal(found.predicted, predicted)
    assert np.array_equal(model.prototype_labels_[found.nearest.winner], predicted)
    assert not np.any(model.prototype_labels_[found.nearest.rival] == predicted)
    others = predicted != model.prototype_labels_[found.distances.argmin(axis=1)]
    assert others.any()  # otherwise nothing is tested
    assert np.all(certainty(model, X, "relsim")[others] < 0)
    np.testing.assert_allclose(certainty(model, X, "probability"), model.predict_proba(X).max(axis=1))


def test_any_classifier(data):
    X, y = data
    logistic = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(certainty(logistic, X), logistic.predict_proba(X).max(axis=1))
    np.testing.assert_allclose(certainty(logistic, X, "probability"), certainty(logistic, X))
    ridge = RidgeClassifier().fit(X, y)
    scores = np.sort(ridge.decision_function(X), axis=1)
    np.testing.assert_allclose(certainty(ridge, X), scores[:, -1] - scores[:, -2])
    binary = RidgeClassifier().fit(X[y != "c"], y[y != "c"])
    np.testing.assert_allclose(certainty(binary, X), np.abs(binary.decision_function(X)))
    assert cells_of(Predictions(logistic, X)).tolist() == logistic.predict(X).tolist()


def test_the_probability_is_that_of_the_predicted_class():
    class Contrary(LogisticRegression):
        def predict(self, X):
            return self.classes_[super().predict_proba(X).argmin(axis=1)]

    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    model = Contrary().fit(X, y)
    assert np.all(certainty(model, X, "probability") < 0.5)


def test_pipelines_are_measured_in_the_space_of_the_model(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), GLVQ(n_prototypes=2, **QUICK)).fit(X, y)
    inner, Z = pipeline[-1], pipeline[:-1].transform(X)
    for name in ("relsim", "distance", "probability"):
        np.testing.assert_array_equal(certainty(pipeline, X, name), certainty(inner, Z, name))
    assert np.array_equal(cells_of(Predictions(pipeline, X)), inner.model_.distances(Z).argmin(axis=1))
    assert not np.allclose(certainty(pipeline, X, "radius"), certainty(inner, Z, "radius"))


def test_a_user_function(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    assert certainty(model, X, lambda estimator, Z: -np.abs(Z[:, 0])).tolist() == (-np.abs(X[:, 0])).tolist()
    with pytest.raises(ValueError, match=r"one number per sample, shape \(150,\), got shape \(150, 3\)"):
        certainty(model, X, lambda estimator, Z: estimator.predict_proba(Z))


def test_refused(data):
    X, y = data
    logistic, local = LogisticRegression().fit(X, y), LGMLVQ(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"need a model of this library, .* got LogisticRegression; use measure='prob"):
        certainty(logistic, X, "relsim")
    assert np.all(certainty(local, X, "radius") >= 0)
    with pytest.raises(ValueError, match=r"'probability' needs .* predict_proba, which RidgeClassifier does not have"):
        certainty(RidgeClassifier().fit(X, y), X, "probability")
    with pytest.raises(ValueError, match=r"measure='margin' needs .* decision_function, which Forest does not have"):
        certainty(type("Forest", (NearestCentroid,), {"decision_function": property()})().fit(X, y), X, "margin")
    with pytest.raises(ValueError, match=r"measure must be one of 'auto', 'relsim', .*, got 'entropy'"):
        certainty(logistic, X, "entropy")
    with pytest.raises(ValueError, match=r"measure must be one of .*, or a function of \(estimator, X\), got 3"):
        certainty(logistic, X, 3)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_scores_of_pairs_of_classes_are_refused(n_classes):
    """Three classes have three pairs, so the shape alone does not show it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), np.arange(80) % n_classes
    pairs = SVC(decision_function_shape="ovo").fit(X, y)
    search = GridSearchCV(pairs, {"C": [1.0]}, cv=2).fit(X, y)
    for model in (pairs, make_pipeline(StandardScaler(), pairs).fit(X, y), FrozenEstimator(pairs), search):
        for measure in ("margin", "auto"):
            with pytest.raises(ValueError, match="got scores for pairs of classes; set decision_function_shape='ovr'"):
                certainty(model, X, measure)
    each = SVC(break_ties=True).fit(X, y)  # predicts by these scores, not by the votes
    scores = np.sort(each.decision_function(X), axis=1)
    np.testing.assert_allclose(certainty(each, X, "margin"), scores[:, -1] - scores[:, -2])
    two = pairs.fit(X[y < 2], y[y < 2])
    np.testing.assert_allclose(certainty(two, X, "margin"), np.abs(two.decision_function(X)))


def test_scores_of_another_shape_are_refused():
    votes = type("Votes", (LogisticRegression,), {"decision_function": lambda self, X: np.zeros((len(X), 6))})
    X, y = np.random.default_rng(0).normal(size=(80, 2)), np.arange(80) % 4
    with pytest.raises(ValueError, match=r"expected a column for each of 4 classes, got shape \(80, 6\)"):
        certainty(votes().fit(X, y), X, "margin")


# -- predictions -------------------------------------------------------------------------------------------------------


def test_a_calibrator_predicts_itself(data):
    """Its predictions need not be those of the model inside."""
    calibrated = CalibratedClassifierCV(GLVQ(**QUICK), cv=3).fit(*data)
    found = Predictions(calibrated, data[0])
    assert found.found is None
    np.testing.assert_array_equal(found.predicted, calibrated.predict(data[0]))
