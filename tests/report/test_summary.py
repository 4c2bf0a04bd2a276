"""The summary says what the library computes, for every kind of model, in JSON's own types."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_blobs
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import lvq
from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, RSLVQ, LVQClassifier, LVQClassifierCV, RejectClassifier
from lvq.rejection import Combination, certainty, confusion_with_reject
from lvq.rejection.binomial import error_upper_bound
from lvq.report import summarize
from lvq.report.slider import SHOWN_CLASSES

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def accepted_at(summary, position):
    """Which of the samples on the map are accepted at a position, as the page finds out."""
    toggles = summary["map"]["points"]["toggles"]
    return np.array([sum(turn <= position for turn in turns) % 2 == 0 for turns in toggles])


# -- numbers -----------------------------------------------------------------------------------------------------------


def test_scores_are_the_model_s(wdbc):
    score = wdbc.summary["scores"]
    accepted = wdbc.model.accept(wdbc.X)
    right = wdbc.model.predict(wdbc.X) == wdbc.y
    assert score["accuracy"] == right.mean()
    assert score["coverage"] == accepted.mean()
    assert score["accepted_accuracy"] == wdbc.model.accepted_accuracy(wdbc.X, wdbc.y)
    assert score["interval"][0] == 1 - error_upper_bound((~right).sum(), len(right), 0.975)
    assert score["interval"][0] < score["accuracy"] < score["interval"][1]


def test_a_model_that_answers_always_has_no_coverage(iris):
    assert iris.summary["scores"]["coverage"] is None
    assert iris.summary["scores"]["accuracy"] == iris.model.score(iris.X, iris.y)
    assert iris.summary["rejection"]["chosen"] == 0


@pytest.mark.parametrize("case", ["wdbc", "digits", "iris"])
def test_positions_are_counted_on_their_masks(case, request):
    case = request.getfixturevalue(case)
    predicted, rejection = case.model.predict(case.X), case.summary["rejection"]
    labels = np.unique(case.y)
    assert rejection["coverage"][0] == 1
    assert rejection["coverage"] == sorted(rejection["coverage"], reverse=True)
    for position in range(len(rejection["coverage"])):
        accepted = accepted_at(case.summary, position)
        assert rejection["n_accepted"][position] == accepted.sum()
        assert rejection["coverage"][position] == accepted.mean()
        assert rejection["accuracy"][position] == (predicted == case.y)[accepted].mean()
        expected = confusion_with_reject(case.y, predicted, accepted, labels=labels).matrix
        assert rejection["confusion"][position] == expected.tolist()


@pytest.mark.parametrize("case", ["digits", "iris"])
def test_one_threshold_of_a_plain_model(case, request):
    case = request.getfixturevalue(case)
    values = certainty(case.model, case.X)
    for position, (low, high) in enumerate(case.summary["rejection"]["threshold"]):
        expected = values >= (-np.inf if low is None else low)
        np.testing.assert_array_equal(accepted_at(case.summary, position), expected)
        assert low == high


@pytest.mark.parametrize("case", ["wdbc", "digits", "iris"])
def test_no_position_rests_on_a_handful(case, request):
    rejection = request.getfixturevalue(case).summary["rejection"]
    others = [n for position, n in enumerate(rejection["n_accepted"]) if position != rejection["chosen"]]
    assert 10 <= min(others) <= 0.3 * max(others)


def test_the_position_as_fitted_is_the_model_s_own(wdbc):
    np.testing.assert_array_equal(
        accepted_at(wdbc.summary, wdbc.summary["rejection"]["chosen"]), wdbc.model.accept(wdbc.X)
    )


def test_positions_follow_the_model_s_path(wdbc):
    """Every mask is that of a point of the path."""
    values, cell, path = wdbc.model.certainty(wdbc.X), wdbc.model.cell(wdbc.X), wdbc.model.path_
    masks = {path.point(index).accept(values, cell).tobytes() for index in range(len(path))}
    n_positions = len(wdbc.summary["rejection"]["coverage"])
    assert n_positions > 10
    assert all(accepted_at(wdbc.summary, position).tobytes() in masks for position in range(n_positions))


def test_relevances_and_matrix(wdbc):
    inner, relevance = wdbc.model.estimator_[-1], wdbc.summary["relevance"]
    weights = np.diag(inner.lambda_) / np.trace(inner.lambda_)
    np.testing.assert_allclose(relevance["values"], np.sort(weights)[::-1][:20])
    assert relevance["rest"] == pytest.approx(1 - sum(relevance["values"]))
    assert relevance["features"][0] == wdbc.summary["data"]["features"][int(weights.argmax())]
    top = relevance["index"][:15]
    np.testing.assert_allclose(
        relevance["matrices"][0]["values"], (inner.lambda_ / np.trace(inner.lambda_))[np.ix_(top, top)], rtol=1e-5
    )
    assert len(relevance["folds"]) == 3
    assert np.all(np.diag(relevance["matrices"][0]["agreement"]) == 1)  # a diagonal is positive in every fold


def test_prototypes_are_in_the_units_of_the_data(wdbc):
    scaler, inner = wdbc.model.estimator_[0], wdbc.model.estimator_[-1]
    part = wdbc.summary["prototypes"]
    expected = scaler.inverse_transform(inner.prototypes_)[:, wdbc.summary["relevance"]["index"]]
    np.testing.assert_allclose(part["values"], expected, rtol=1e-5)
    assert part["in_units"]
    assert sum(part["won"]) == len(wdbc.y)


def test_explanations_are_the_model_s(wdbc):
    scaler, inner = wdbc.model.estimator_[0], wdbc.model.estimator_[-1]
    predicted, values = wdbc.model.predict(wdbc.X), wdbc.model.certainty(wdbc.X)
    wrong = np.flatnonzero(predicted != wdbc.y)
    part = wdbc.summary["explanations"]
    assert part["n_wrong"] == len(wrong)
    assert [card["sample"] for card in part["wrong"]] == wrong[np.argsort(-values[wrong], kind="stable")][:6].tolist()
    others = [k for k in np.argsort(values, kind="stable").tolist() if k not in [c["sample"] for c in part["wrong"]]]
    assert [card["sample"] for card in part["unsure"]] == others[:6]
    card = part["unsure"][0]
    found = inner.explain(scaler.transform(wdbc.X[[card["sample"]]]))
    shares = found.contributions[0] / np.abs(found.contributions[0]).sum()
    assert (card["winner"], card["rival"]) == (found.winner[0], found.rival[0])
    first = card["features"][0]
    column = wdbc.summary["data"]["features"].index(first["name"])
    assert column == np.abs(shares).argmax()
    assert first["share"] == pytest.approx(shares[column], abs=1e-4)
    assert first["value"] == pytest.approx(wdbc.X[card["sample"], column], rel=1e-5)
    assert card["others"] == pytest.approx(shares.sum() - sum(f["share"] for f in card["features"]), abs=1e-3)


def test_certified_accuracy_is_the_library_s(iris):
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
    np.testing.assert_allclose(iris.summary["history"]["values"], iris.model.objective_history_, rtol=1e-5)


def test_the_map_is_the_model_s_own_projection(wdbc):
    points = wdbc.summary["map"]["points"]
    seen = wdbc.model.estimator_[-1].transform(wdbc.model.estimator_[0].transform(wdbc.X))
    np.testing.assert_allclose(np.column_stack((points["x"], points["y"])), seen, atol=1e-4 * np.ptp(seen))
    assert wdbc.summary["map"]["exact"]


def test_regions_cover_the_map_without_overlap(iris):
    regions = iris.summary["map"]["regions"]
    areas = [(b - a) * (d - c) for a, b, c, d in zip(regions["x"], regions["x2"], regions["y"], regions["y2"])]
    width, height = (max(regions[f"{side}2"]) - min(regions[side]) for side in "xy")
    assert sum(areas) == pytest.approx(width * height, rel=1e-3)
    assert set(regions["label"]) == {0, 1, 2}


def test_a_map_of_one_direction_is_scattered_to_be_seen():
    """Of three features two are constant, so that the samples do not vary along the second axis."""
    rng = np.random.default_rng(0)
    labels = np.arange(100) % 2
    table = np.column_stack((rng.normal(size=100) + 2 * labels, np.ones(100), np.ones(100)))
    view = summarize(GMLVQ(random_state=0).fit(table, labels), table, labels)["map"]
    assert "scattered" in view["axes"][1]
    assert len(set(view["points"]["y"])) > 50
    assert view["regions"]["height"] / view["regions"]["width"] > 0.5
    assert set(view["regions"]["label"]) == {0, 1}


# -- JSON --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["wdbc", "digits", "iris", "nasty"])
def test_json_round_trip(case, request):
    summary = request.getfixturevalue(case).summary
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [name for name in lvq.MODELS if "published" not in name and "m=n" not in name])
def test_every_model_of_the_papers(name):
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
        LVQClassifierCV(max_iter=5, cv=2, ridges=(0.01,)),
        RSLVQ(max_iter=5, decision="posterior"),
        LGMLVQ(max_iter=5, n_prototypes=2, local="prototype"),
        GMLVQ(max_iter=5, rank=1),
        make_pipeline(StandardScaler(), PCA(n_components=2), GMLVQ(max_iter=5)),
        make_pipeline(StandardScaler(), SelectKBest(k=2), GRLVQ(max_iter=5)),
        RejectClassifier(GLVQ(max_iter=5), min_coverage=0.8),
        RejectClassifier(GLVQ(max_iter=5), thresholds="global"),
        RejectClassifier(GLVQ(max_iter=5), measure=Combination("relsim", "distance", 0.1)),
        RejectClassifier(GLVQ(max_iter=5), max_error=0.2, per_class=True, on_failure="reject"),
        RejectClassifier(GLVQ(max_iter=5), max_error=0.001, on_failure="reject"),
        make_pipeline(StandardScaler(), RejectClassifier(GMLVQ(max_iter=5), cost_ratio=0.2)),
    ],
    ids=lambda model: str(model).replace("\n", "")[:60],
)
def test_every_kind_of_estimator(model):
    model.fit(X, NAMES)
    summary = summarize(model, X, NAMES, X_train=X, y_train=NAMES)
    json.dumps(summary, allow_nan=False)
    classifier, inputs = lvq.rejection.scorers.find_reject_classifier(model, X)
    accepted = np.ones(len(X), dtype=bool) if classifier is None else classifier.accept(inputs)
    np.testing.assert_array_equal(accepted_at(summary, summary["rejection"]["chosen"]), accepted)
    assert (summary["scores"]["coverage"] is None) == (classifier is None)
    assert "absent" in summary["certified"] or summary["certified"]["accuracy"][0] == np.mean(model.predict(X) == NAMES)


# -- data of all sorts -------------------------------------------------------------------------------------------------


def test_a_table_with_text_columns():
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"])[np.arange(80) % 2]
    table = pd.DataFrame({"age": rng.normal(50, 9, 80) + 9 * (y == "yes"), "sex": rng.choice(["f", "m"], 80)})
    encoder = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["sex"]))
    model = make_pipeline(encoder, GMLVQ(random_state=0)).fit(table, y)
    summary = summarize(model, table, y)
    assert summary["data"]["features"] == ["age", "sex_f", "sex_m"]
    assert summary["data"]["n_columns"] == 2
    card = summary["explanations"]["unsure"][0]
    (age,) = [f for f in card["features"] if f["name"] == "age"]
    assert age["value"] == pytest.approx(table["age"][card["sample"]], rel=1e-5)
    assert 30 < age["winner"] < 80  # years, not standard deviations


def test_samples_are_called_as_in_their_table():
    table = pd.DataFrame(X, index=[f"patient {k}" for k in range(len(X))])
    summary = summarize(GLVQ(random_state=0).fit(table, Y), table[10:40], Y[10:40])
    assert summary["data"]["indexed"]
    assert summary["map"]["points"]["name"][:2] == ["patient 10", "patient 11"]
    for card in summary["explanations"]["unsure"]:
        assert card["name"] == f"patient {10 + card['sample']}"
    plain = summarize(GLVQ(random_state=0).fit(X, Y), X[10:40].tolist(), Y[10:40])
    assert not plain["data"]["indexed"]
    assert plain["map"]["points"]["name"] == list(range(30))


@pytest.mark.parametrize("as_table", [True, False])
def test_what_an_imputer_filled_in_is_not_told_as_measured(as_table):
    samples = X.copy()
    samples[::3, 2] = np.nan
    samples = pd.DataFrame(samples, columns=list("abcd")) if as_table else samples
    model = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), GMLVQ(random_state=0)).fit(samples, Y)
    summary = summarize(model, samples, Y)
    third = summary["data"]["features"][2]
    told = {card["sample"]: feature["value"] for part in ("wrong", "unsure") for card in summary["explanations"][part]
            for feature in card["features"] if feature["name"] == third}  # fmt: skip
    assert len(told) > 5
    assert all((value is None) == (sample % 3 == 0) for sample, value in told.items())
    named = [(k, value) for k, why in enumerate(summary["map"]["points"]["why"]) for f, _, value in why if f == 2]
    assert all((value is None) == (k % 3 == 0) for k, value in named)


def test_features_left_out_by_a_selector():
    model = make_pipeline(StandardScaler(), SelectKBest(k=2), GRLVQ(random_state=0)).fit(X, Y)
    summary = summarize(model, X, Y, feature_names=["a", "b", "c", "d"])
    assert summary["data"]["features"] == ["c", "d"]
    assert min(summary["prototypes"]["low"]) > 0  # centimetres


def test_mixed_features_are_shown_as_the_model_sees_them():
    model = make_pipeline(PCA(n_components=2), GMLVQ(random_state=0)).fit(X, Y)
    summary = summarize(model, X, Y)
    assert not summary["prototypes"]["in_units"]
    assert summary["data"]["features"] == ["pca0", "pca1"]


def test_at_most_so_many_points_from_every_class():
    samples, labels = make_blobs([500, 30, 3], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    model = GLVQ(random_state=0).fit(samples, labels)
    summary = summarize(model, samples, labels, max_points=50)
    drawn = np.bincount(summary["map"]["points"]["true"])
    assert drawn.sum() == summary["map"]["n_shown"] == 50
    assert drawn.min() >= 1
    assert 40 <= drawn[0] <= 48
    assert summary["rejection"]["n_accepted"][0] == len(labels)


def test_many_classes_are_counted_one_by_one():
    samples, labels = make_blobs(600, centers=80, n_features=5, cluster_std=3, random_state=0)
    model = GLVQ(random_state=0, max_iter=5, tol=1.0).fit(samples, labels)
    summary = summarize(model, samples, labels)
    rejection = summary["rejection"]
    assert rejection["confusion"] is None
    assert len(rejection["by_class"]) == SHOWN_CLASSES + 1
    predicted = model.predict(samples)
    for position in (0, len(rejection["coverage"]) // 2):
        accepted = accepted_at(summary, position)
        table = np.array([row["counts"][position] for row in rejection["by_class"]])
        sides = (accepted & (predicted == labels), accepted & (predicted != labels), ~accepted)
        np.testing.assert_array_equal(table.sum(axis=0), [side.sum() for side in sides])
        row = rejection["by_class"][0]
        assert row["counts"][position][2] == (~accepted & (labels == row["label"])).sum()


def test_a_thousand_features_are_cut_to_the_most_relevant():
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


def test_a_class_the_model_has_never_met():
    model = GLVQ(random_state=0).fit(X[:100], NAMES[:100])
    summary = summarize(model, X, NAMES)
    assert summary["data"]["classes"] == ["setosa", "versicolor", "virginica"]
    assert summary["scores"]["accuracy"] == pytest.approx(np.mean(model.predict(X) == NAMES))


def test_pictures(digits):
    part = digits.summary["prototypes"]
    assert part["side"] == 8
    np.testing.assert_allclose(part["pictures"], digits.model.prototypes_, rtol=1e-5)
    card = digits.summary["explanations"]["unsure"][0]
    np.testing.assert_allclose(card["picture"], digits.X[card["sample"]])
    assert max(map(abs, card["shares"])) == 1
    assert part["pixel_range"] == [0, 16]


def test_limits_name_what_is_uncertain(wdbc, iris):
    assert any("confidence 95.0 %" in sentence for sentence in wdbc.summary["limits"])
    assert any("fewer than 20" in sentence for sentence in iris.summary["limits"])
    assert any("answers always" in sentence for sentence in iris.summary["limits"])


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_refusals():
    model = GLVQ(random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="needs held-out samples, got none"):
        summarize(model, X[:0], Y[:0])
    with pytest.raises(ValueError, match="max_points of summarize must be 1 or more, got 0"):
        summarize(model, X, Y, max_points=0)
    with pytest.raises(ValueError, match="a name for each of the 4 columns of X, got 1"):
        summarize(model, X, Y, feature_names=["a"])
    with pytest.raises(ValueError, match=r"the report needs a model of this library.*got LogisticRegression"):
        summarize(LogisticRegression(max_iter=1000).fit(X, Y), X, Y)
