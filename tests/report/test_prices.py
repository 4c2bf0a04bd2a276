"""The page of a model with prices is about its predictions, not about those of the nearest prototype."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import lvq
from lvq import CostClassifier, LVQClassifier, RejectClassifier
from lvq.report import render, summarize
from lvq.report.terms import terms


def numbers():
    return StandardScaler()


def columns():
    """Several features of the model belong to one column."""
    return make_column_transformer((OneHotEncoder(sparse_output=False), ["colour"]), (StandardScaler(), ["x0", "x1"]))


@pytest.fixture(scope="module", params=[numbers, columns])
def priced(request):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(300) % 3 == 0, "bad", "good")
    X = pd.DataFrame(rng.normal(1.2 * (y == "good")[:, None], size=(300, 2)), columns=["x0", "x1"])
    if request.param is columns:
        X["colour"] = rng.choice(["red", "blue"], 300)
    inner = make_pipeline(request.param(), LVQClassifier(n_prototypes=2, relevance=None, random_state=0))
    model = RejectClassifier(CostClassifier(inner, {"bad:good": 6}), cv=3).fit(X[:200], y[:200])
    return model, X[200:], y[200:], summarize(model, X[200:], y[200:])


def test_cards_and_map_explain_what_is_predicted(priced):
    model, X, _, summary = priced
    found, labels = lvq.explain(model, X), summary["map"]["prototypes"]["label"]
    points = summary["map"]["points"]
    assert points["winner"] == found.winner.tolist()
    assert points["rival"] == found.rival.tolist()
    assert [labels[winner] for winner in points["winner"]] == points["predicted"]
    cards = [*summary["explanations"]["wrong"], *summary["explanations"]["least_certain"]]
    rows = [card["sample"] for card in cards]
    sums = [sum(part["contribution"] for part in card["features"]) + card["other_features"] for card in cards]
    expected = found.contributions[rows].sum(axis=1) / np.abs(found.contributions[rows]).sum(axis=1)
    assert [card["winner"] for card in cards] == found.winner[rows].tolist()
    np.testing.assert_allclose(sums, expected, atol=1e-3)
    overridden = sum(value < 0 for value in sums)
    assert overridden
    assert render(summary).count("The latter is nearer; the prices decide.") == overridden


def test_prototypes_are_counted_as_winners_of_the_predicted_class(priced):
    model, X, _, summary = priced
    won = dict(zip(summary["prototypes"]["index"], summary["prototypes"]["n_won"]))
    assert won == dict(enumerate(np.bincount(lvq.explain(model, X).winner, minlength=4).tolist()))


def test_the_page_says_how_predictions_are_made(priced):
    *_, summary = priced
    page, found = render(summary), dict(terms(summary))
    assert "The class with the least expected price is predicted" in page
    assert "The class of the nearest prototype is predicted" not in page
    assert "its contributions then have a negative sum" in page
    assert f"{summary['metrics']['price']['mean']:.3f}" in page.partition('<section id="rejection"')[0]
    assert "expected price" in found["Certainty"]
    assert "nearest" not in found["Prototype"]
    assert all(len(line) <= 110 and line.endswith(".") for line in found.values())


def test_certified_accuracy_is_left_out(priced):
    *_, summary = priced
    assert set(summary["certified"]) == {"unavailable"}
    assert "with prices the class with the least expected price is predicted." in render(summary)
    assert "Certified accuracy" not in dict(terms(summary))


def test_a_page_without_prices_has_none_of_this(iris):
    page = render(iris.summary)
    assert iris.summary["metrics"]["price"] is None
    assert "prices" not in page.partition('<script type="application/json"')[0].lower()
