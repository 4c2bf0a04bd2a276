"""Costs of mistakes: expected costs, the cheapest class, and the classifier that predicts it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lvq
from lvq import LVQClassifier, RejectClassifier
from lvq.estimators.find_model import find_layer, need_model
from lvq.rejection import CostClassifier, certainty, cost_matrix
from lvq.rejection.classifier import judged


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(400, 5, n_informative=3, n_redundant=0, random_state=0)
    return X, np.array(["bad", "good"])[y]


class Given(ClassifierMixin, BaseEstimator):
    """A classifier with given probabilities."""

    def __init__(self, p):
        self.p = p

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return self.p


def test_the_class_with_the_least_sum_of_costs_over_the_true_classes():
    rng = np.random.default_rng(0)
    p, costs = rng.dirichlet(np.ones(4), size=30), rng.random((4, 4))
    slow = np.array([[sum(row[i] * costs[i, j] for i in range(4)) for j in range(4)] for row in p])
    model = CostClassifier(Given(p), costs).fit(np.zeros((4, 1)), np.arange(4))
    np.testing.assert_allclose(model.decision_function(p), -slow)
    np.testing.assert_array_equal(model.predict(p), slow.argmin(axis=1))
    equal = CostClassifier(Given(p), 1 - np.eye(4)).fit(np.zeros((4, 1)), np.arange(4))
    np.testing.assert_array_equal(equal.predict(p), p.argmax(axis=1))


def test_a_reject_classifier_is_certain_where_the_choice_saves_most(data):
    X, y = data
    inner = CostClassifier(make_pipeline(StandardScaler(), LVQClassifier(random_state=0)), {"bad:good": 5})
    model = RejectClassifier(inner, min_coverage=0.8, cv=3).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), judged(model, X).predictions.predicted)
    np.testing.assert_allclose(certainty(model.estimator_, X), np.abs(model.estimator_.decision_function(X)))
    assert 0.7 < model.coverage(X) < 0.95


def test_what_needs_the_nearest_prototype_refuses(data):
    X, y = data
    model = CostClassifier(LVQClassifier(random_state=0), {"bad:good": 5}).fit(X, y)
    with pytest.raises(
        ValueError, match="certified_radius needs predictions by the nearest prototype, got predictions by"
    ):
        lvq.certified_radius(model, X)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"bda:good": 5}, "got 'bda:good'"),
        ({"bad:good": -1}, "finite numbers of 0 or more"),
        ({"bad:good": 0, "good:bad": 0}, "with one above 0"),
        ([[0, 1]], "one row and one column for each of the 2 classes"),
    ],
)
def test_wrong_costs(data, costs, message):
    with pytest.raises(ValueError, match=message):
        CostClassifier(LogisticRegression(), costs).fit(*data)


@pytest.fixture(scope="module")
def three_classes():
    X, y = make_classification(300, 4, n_informative=4, n_redundant=0, n_classes=3, random_state=1)
    return X, np.array(["a", "b", "c"])[y]


def wrapped(kind):
    """CostClassifiers in and around other layers."""
    costs, model = {"a:b": 6, "a:c": 6}, LVQClassifier(n_prototypes=2, relevance=None, random_state=0)
    by_cost = CostClassifier(make_pipeline(StandardScaler(), model), costs)
    return {
        "by_cost": by_cost,
        "in a pipeline": make_pipeline(StandardScaler(), CostClassifier(model, costs)),
        "in a RejectClassifier": RejectClassifier(by_cost, cv=3),
    }[kind]


KINDS = ["by_cost", "in a pipeline", "in a RejectClassifier"]


@pytest.mark.parametrize("kind", KINDS)
def test_explanations_are_of_the_predicted_class(three_classes, kind):
    X, y = three_classes
    model = wrapped(kind).fit(X, y)
    inner = need_model(model, "a test")
    found, labels = lvq.explain(model, X), inner.estimator.prototype_labels_
    D = inner.model.distances(inner.inputs(X))
    np.testing.assert_array_equal(found.label, model.predict(X))
    for row, label in enumerate(model.predict(X)):  # the obvious way
        own, others = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        assert found.winner[row] == own[D[row, own].argmin()]
        assert found.rival[row] == others[D[row, others].argmin()]
    rows = np.arange(len(X))
    difference = D[rows, found.rival] - D[rows, found.winner]
    np.testing.assert_allclose(found.contributions.sum(axis=1), difference, atol=1e-9)
    if isinstance(model, RejectClassifier):  # the certainty by which it rejects
        np.testing.assert_array_equal(found.certainty, model.certainty(X))
    else:
        np.testing.assert_array_equal(np.sign(found.certainty), np.sign(difference))
    overridden = model.predict(X) != labels[D.argmin(axis=1)]
    assert 0 < overridden.sum() < len(X)
    np.testing.assert_array_equal(difference < 0, overridden)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_maps_show_the_predictions_by_cost(three_classes, kind):
    pytest.importorskip("matplotlib").use("Agg")
    from lvq.plots import ProjectionDisplay

    X, y = three_classes
    model = wrapped(kind).fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y, resolution=20)
    np.testing.assert_array_equal(model.classes_[display.predicted_classes], model.predict(X))
    assert len(display.errors_.get_offsets()) == (model.predict(X) != y).sum()
    grid, found = display.regions, need_model(model, "a test")
    points = display.plane.inverse(np.column_stack((grid.xx.ravel(), grid.yy.ravel())))
    by_cost = find_layer(model, CostClassifier)
    expected = (found.estimator.predict_proba(points) @ by_cost.costs_).argmin(axis=1)
    np.testing.assert_array_equal(grid.classes.ravel(), expected)
    display.figure_.clear()


def test_a_key_that_can_be_read_in_two_ways_is_refused():
    with pytest.raises(ValueError, match="got 'a:b:c'; if names of classes contain colons"):
        cost_matrix({"a:b:c": 5}, ["a", "a:b", "b:c", "c"])
    assert cost_matrix({"a:b:c": 5}, ["a:b", "c"])[0, 1] == 5


def test_a_refit_forgets_feature_names(data):
    X, y = data
    model = CostClassifier(LogisticRegression(), {"bad:good": 5}).fit(pd.DataFrame(X, columns=list("abcde")), y)
    assert model.feature_names_in_.tolist() == list("abcde")
    assert not hasattr(model.fit(X, y), "feature_names_in_")
