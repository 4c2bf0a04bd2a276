"""The map and the explanations: coordinates, regions, contributions, names of samples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_blobs

from lvq import GLVQ, GMLVQ
from lvq.report import summarize

X, Y = load_iris(return_X_y=True)


def test_explanations_equal_those_of_the_model(wdbc):
    scaler, inner = wdbc.model.estimator_[0], wdbc.model.estimator_[-1]
    predicted, values = wdbc.model.predict(wdbc.X), wdbc.model.certainty(wdbc.X)
    wrong = np.flatnonzero(predicted != wdbc.y)
    part = wdbc.summary["explanations"]
    assert part["n_wrong"] == len(wrong)
    assert [card["sample"] for card in part["wrong"]] == wrong[np.argsort(-values[wrong], kind="stable")][:6].tolist()
    others = [k for k in np.argsort(values, kind="stable").tolist() if k not in [c["sample"] for c in part["wrong"]]]
    assert [card["sample"] for card in part["least_certain"]] == others[:6]
    card = part["least_certain"][0]
    found = inner.explain(scaler.transform(wdbc.X[[card["sample"]]]))
    fractions = found.contributions[0] / np.abs(found.contributions[0]).sum()
    assert (card["winner"], card["rival"]) == (found.winner[0], found.rival[0])
    first = card["features"][0]
    column = wdbc.summary["data"]["features"].index(first["name"])
    assert column == np.abs(fractions).argmax()
    assert first["contribution"] == pytest.approx(fractions[column], abs=1e-4)
    assert first["value"] == pytest.approx(wdbc.X[card["sample"], column], rel=1e-5)
    assert card["other_features"] == pytest.approx(
        fractions.sum() - sum(f["contribution"] for f in card["features"]), abs=1e-3
    )


def test_the_map_is_the_projection_of_the_model(wdbc):
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


def test_a_map_along_one_axis_has_jitter():
    """Two of three features are constant, so that the samples do not vary along the second axis."""
    rng = np.random.default_rng(0)
    labels = np.arange(100) % 2
    table = np.column_stack((rng.normal(size=100) + 2 * labels, np.ones(100), np.ones(100)))
    view = summarize(GMLVQ(random_state=0).fit(table, labels), table, labels)["map"]
    assert "jitter" in view["axes"][1]
    assert len(set(view["points"]["y"])) > 50
    assert view["regions"]["height"] / view["regions"]["width"] > 0.5
    assert set(view["regions"]["label"]) == {0, 1}


def test_samples_are_named_by_the_index_of_their_table():
    table = pd.DataFrame(X, index=[f"patient {k}" for k in range(len(X))])
    summary = summarize(GLVQ(random_state=0).fit(table, Y), table[10:40], Y[10:40])
    assert summary["data"]["has_index"]
    assert summary["map"]["points"]["name"][:2] == ["patient 10", "patient 11"]
    for card in summary["explanations"]["least_certain"]:
        assert card["name"] == f"patient {10 + card['sample']}"
    plain = summarize(GLVQ(random_state=0).fit(X, Y), X[10:40].tolist(), Y[10:40])
    assert not plain["data"]["has_index"]
    assert plain["map"]["points"]["name"] == list(range(30))


def test_max_points_selects_from_every_class():
    samples, labels = make_blobs([500, 30, 3], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    model = GLVQ(random_state=0).fit(samples, labels)
    summary = summarize(model, samples, labels, max_points=50)
    drawn = np.bincount(summary["map"]["points"]["true"])
    assert drawn.sum() == summary["map"]["n_shown"] == 50
    assert drawn.min() >= 1
    assert 40 <= drawn[0] <= 48
    assert summary["rejection"]["n_accepted"][0] == len(labels)
