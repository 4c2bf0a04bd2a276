"""The summary for every kind of estimator, in JSON types."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lvq
from lvq import GLVQ, GMLVQ, LGMLVQ, RSLVQ, LVQClassifier, LVQClassifierCV, RejectClassifier, exemplars
from lvq.rejection import Combination
from lvq.rejection.guarantee import error_upper_bound
from lvq.report import render, summarize

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def test_scores_equal_those_of_the_model(wdbc):
    score = wdbc.summary["scores"]
    accepted = wdbc.model.accept(wdbc.X)
    correct = wdbc.model.predict(wdbc.X) == wdbc.y
    assert score["accuracy"] == correct.mean()
    assert score["coverage"] == accepted.mean()
    assert score["accepted_accuracy"] == correct[accepted].mean()
    assert score["interval"][0] == 1 - error_upper_bound((~correct).sum(), len(correct), 0.975)
    assert score["interval"][0] < score["accuracy"] < score["interval"][1]


def test_a_model_without_rejection_has_no_coverage(iris):
    assert iris.summary["scores"]["coverage"] is None
    assert iris.summary["scores"]["accuracy"] == iris.model.score(iris.X, iris.y)
    assert iris.summary["rejection"]["fitted"] == 0


@pytest.mark.parametrize("case", ["wdbc", "digits", "hostile"])
def test_json_round_trip(case, cases):
    summary = cases[case].summary
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["LVQ1", "FC1GLVQ", "SNPC", "DK-GMLVQ m=2"])
def test_models_of_each_kind(name):
    model = lvq.MODELS[name].make(max_iter=5, random_state=0).fit(X, NAMES)
    summary = summarize(model, X, NAMES)
    json.dumps(summary, allow_nan=False)
    assert summary["scores"]["accuracy"] == model.score(X, NAMES)
    assert summary["data"]["classes"] == ["setosa", "versicolor", "virginica"]
    assert (summary["relevance"] is None) == (not hasattr(model, "relevances_") and not hasattr(model, "lambda_"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        LVQClassifier(max_iter=5),
        LVQClassifierCV(estimator=LVQClassifier(max_iter=5), cv=2, candidates=[{"ridge": 0.01}]),
        RSLVQ(max_iter=5, decision="posterior"),
        LGMLVQ(max_iter=5, n_prototypes=2, local="prototype"),
        GMLVQ(max_iter=5, rank=1),
        RejectClassifier(GLVQ(max_iter=5), thresholds="global"),
        RejectClassifier(GLVQ(max_iter=5), measure=Combination("relsim", "distance", 0.1)),
        RejectClassifier(GLVQ(max_iter=5), max_error=[0.001, 0.2, 0.5]),
        make_pipeline(StandardScaler(), RejectClassifier(GMLVQ(max_iter=5), cost_ratio=0.2)),
    ],
    ids=lambda model: str(model).replace("\n", "")[:60],
)
def test_every_kind_of_estimator(model, accepted_at):
    model.fit(X, NAMES)
    summary = summarize(model, X, NAMES, X_train=X, y_train=NAMES)
    json.dumps(summary, allow_nan=False)
    classifier, inputs = lvq.rejection.classifier.find_reject_classifier(model, X)
    accepted = np.ones(len(X), dtype=bool) if classifier is None else classifier.accept(inputs)
    np.testing.assert_array_equal(accepted_at(summary, summary["rejection"]["fitted"]), accepted)
    assert (summary["scores"]["coverage"] is None) == (classifier is None)
    assert summary["model"]["by_posterior"] == (getattr(model, "decision", None) == "posterior")
    assert "unavailable" in summary["certified"] or summary["certified"]["accuracy"][0] == np.mean(
        model.predict(X) == NAMES
    )


def test_a_class_that_was_not_in_the_training_data():
    model = GLVQ(random_state=0).fit(X[:100], NAMES[:100])
    summary = summarize(model, X, NAMES)
    assert summary["data"]["classes"] == ["setosa", "versicolor", "virginica"]
    assert summary["scores"]["accuracy"] == pytest.approx(np.mean(model.predict(X) == NAMES))


def test_limits_name_small_classes_and_the_guarantee(wdbc, iris):
    assert any("confidence 95.0 %" in sentence for sentence in wdbc.summary["limits"])
    assert any("fewer than 20" in sentence for sentence in iris.summary["limits"])
    assert any("rejects no sample" in sentence for sentence in iris.summary["limits"])


def test_errors():
    model = GLVQ(random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="needs held-out samples, got none"):
        summarize(model, X[:0], Y[:0])
    with pytest.raises(ValueError, match="max_points of summarize must be 1 or more, got 0"):
        summarize(model, X, Y, max_points=0)
    with pytest.raises(ValueError, match="a name for each of the 4 columns of X, got 1"):
        summarize(model, X, Y, feature_names=["a"])
    with pytest.raises(ValueError, match=r"the report needs a model of this library.*got LogisticRegression"):
        summarize(LogisticRegression(max_iter=1000).fit(X, Y), X, Y)


def test_exemplars_are_named_only_where_asked_for():
    table = pd.DataFrame(X, index=[f"patient {row}" for row in range(len(X))])
    model = GLVQ(n_prototypes=2, random_state=0).fit(table, NAMES)
    assert summarize(model, table, NAMES)["prototypes"]["exemplars"] is None
    assert "patient" not in render(summarize(model, X[::2], NAMES[::2], X_train=table, y_train=NAMES))
    summary = summarize(model, X[::2], NAMES[::2], X_train=table, y_train=NAMES, exemplars=2)
    found = exemplars(model, table, 2, y=NAMES)
    assert summary["prototypes"]["exemplars"] == found.names.tolist()
    page = render(summary)
    assert "this page names people" in page
    assert ", ".join(found.names[3]) in page
    few = summarize(model, X[[0, 60, 110]], NAMES[[0, 60, 110]], exemplars=5)["prototypes"]["exemplars"]
    assert few == [["0"]] * 2 + [["1"]] * 2 + [["2"]] * 2  # as many as every class has
    none = summarize(model, X[:2], NAMES[:2], exemplars=1)["prototypes"]["exemplars"]
    assert none == exemplars(model, X[:2], 1).rows.astype(str).tolist()  # not all classes have samples
    with pytest.raises(ValueError, match=r"exemplars of summarize must be a whole number .* got -1"):
        summarize(model, X, NAMES, exemplars=-1)


def test_rows_are_named_as_in_a_file():
    model = GLVQ(random_state=0).fit(X, NAMES)
    table = pd.DataFrame(X, index=range(150))
    summary = summarize(model, table[::3], NAMES[::3], first_row=2, exemplars=1)
    points = summary["map"]["points"]
    assert points["name"] == [3 * row + 2 for row in points["index"]]
    assert [one["name"] for one in summary["explanations"]["wrong"]] == [
        3 * one["sample"] + 2 for one in summary["explanations"]["wrong"]
    ]
    expected = exemplars(model, table[::3], 1, y=NAMES[::3]).names.astype(int) + 2
    assert summary["prototypes"]["exemplars"] == expected.astype(str).tolist()
    assert "their row in the file, where the header is row 1" in render(summary)
    named = summarize(model, pd.DataFrame(X, index=[f"p{k}" for k in range(150)]), NAMES, first_row=2)
    assert named["map"]["points"]["name"][:2] == ["p0", "p1"]


@pytest.mark.parametrize("complete", [0, 20])
def test_a_model_that_ignores_missing_values_has_a_page(complete):
    """Certificates are those of complete samples; a missing value has no contribution and is shown as missing."""
    gone = np.random.default_rng(0).random(X.shape) < 0.2
    gone[np.arange(len(X)), np.arange(len(X)) % 4] = True  # every sample lacks a value
    gone[1 : 1 + 2 * complete : 2] = False
    data = np.where(gone, np.nan, X)
    model = make_pipeline(StandardScaler(), GMLVQ(missing="ignore", max_iter=20, tol=1e-2, random_state=0))
    model.fit(np.where(gone, np.nan, X)[::2], NAMES[::2])
    summary = summarize(model, data[1::2], NAMES[1::2])
    certified = summary["certified"]
    assert "each of these has some" in certified["unavailable"] if not complete else certified["n_samples"] == complete
    lacking = [part for part in summary["explanations"]["wrong"] if gone[1::2][part["sample"]].any()]
    assert lacking
    for part in lacking:
        for feature in part["features"]:
            missing = gone[1::2][part["sample"], summary["data"]["features"].index(feature["name"])]
            assert (feature["value"] is None) == missing
            assert feature["contribution"] == 0 or not missing
    assert all(np.isfinite(summary["map"]["points"][name]).all() for name in "xy")
    assert "Robustness" in render(summary)
