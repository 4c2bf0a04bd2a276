"""Relevances, prototypes, certified accuracy, history and folds equal those of the library."""

import json

import numpy as np
import pytest

import lvq
from lvq import GLVQ, GRLVQ, variable_importances
from lvq.report import summarize


def test_relevances_and_matrix(wdbc):
    inner, relevance = wdbc.model.estimator_[-1], wdbc.summary["relevance"]
    weights = variable_importances(wdbc.model, wdbc.X_train).importances
    np.testing.assert_allclose(relevance["values"], np.sort(weights)[::-1][:20])
    assert relevance["rest"] == pytest.approx(1 - sum(relevance["values"]))
    assert relevance["features"][0] == wdbc.summary["data"]["features"][int(weights.argmax())]
    top = relevance["index"][:15]
    assert top == np.argsort(-weights)[:15].tolist()
    np.testing.assert_allclose(
        relevance["matrices"][0]["values"], (inner.lambda_ / np.trace(inner.lambda_))[np.ix_(top, top)], rtol=1e-5
    )
    assert len(relevance["folds"]) == 3
    assert np.all(np.diag(relevance["matrices"][0]["sign_agreement"]) == 1)  # a diagonal is positive in every fold


def test_local_weights_are_shown_by_their_importances():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + y[:, None] * np.array([2.0, 1.0, 0.0, 0.0])
    model = GLVQ(relevance="local_diagonal", random_state=0).fit(X, y)
    summary = summarize(model, X, y)
    assert summary["model"]["metric"] == "3 sets of weights of 4 features"
    np.testing.assert_allclose(summary["relevance"]["values"], np.sort(model.feature_importances_)[::-1])
    assert summary["relevance"]["matrices"] == []


def test_prototypes_are_in_the_units_of_the_data(wdbc):
    scaler, inner = wdbc.model.estimator_[0], wdbc.model.estimator_[-1]
    part = wdbc.summary["prototypes"]
    expected = scaler.inverse_transform(inner.prototypes_)[:, wdbc.summary["relevance"]["index"]]
    np.testing.assert_allclose(part["values"], expected, rtol=1e-5)
    assert part["in_units"]
    assert sum(part["n_won"]) == len(wdbc.y)


def test_certified_accuracy_equals_that_of_the_library(iris):
    part = iris.summary["certified"]
    expected = lvq.certified_accuracy(iris.model, iris.X, iris.y, part["radii"])
    np.testing.assert_array_equal(part["accuracy"], expected)
    assert part["accuracy"][0] == iris.model.score(iris.X, iris.y)
    assert part["accuracy"][-1] < 0.5


def test_folds(wdbc):
    part = wdbc.summary["folds"]
    assert part["mean"] == pytest.approx(np.mean(part["accuracy"]))
    assert sum(part["n_samples"]) == wdbc.summary["data"]["n_train"] == sum(wdbc.summary["data"]["train_counts"])
    assert all(0 < value <= 1 for value in part["accuracy"])


def test_history(iris):
    assert iris.summary["history"]["n_iter"] == iris.model.n_iter_
    np.testing.assert_allclose(iris.summary["history"]["objective"], iris.model.objective_history_, rtol=1e-5)


def test_only_the_most_relevant_of_a_thousand_features_are_shown():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    samples = rng.normal(size=(60, 1000))
    samples[:, 7] += 4 * labels
    model = GRLVQ(max_iter=20, tol=1e-2, random_state=0).fit(samples, labels)
    summary = summarize(model, samples, labels)
    assert len(summary["relevance"]["features"]) == 20
    assert summary["relevance"]["n_rest"] == 980
    assert summary["relevance"]["rest"] + sum(summary["relevance"]["values"]) == pytest.approx(1)
    assert len(summary["prototypes"]["features"]) == 20
    assert len(json.dumps(summary)) < 1e6


def test_images(digits):
    part = digits.summary["prototypes"]
    assert part["image_side"] == 8
    np.testing.assert_allclose(part["images"], digits.model.prototypes_, rtol=1e-5)
    card = digits.summary["explanations"]["least_certain"][0]
    np.testing.assert_allclose(card["image"], digits.X[card["sample"]])
    assert max(map(abs, card["pixel_contributions"])) == 1
    assert part["pixel_range"] == [0, 16]
