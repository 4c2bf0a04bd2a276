"""Tables with categories: one row for each column, in the table of prototypes, the explanations and the map."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import GLVQ, GMLVQ, explain
from lvq.report import render, summarize

ENCODER = OneHotEncoder(sparse_output=False)


@pytest.fixture(
    scope="module",
    params=[(GLVQ, ENCODER, ()), (GMLVQ, make_pipeline(ENCODER, StandardScaler()), ()),
            (GMLVQ, ENCODER, (StandardScaler(),))],
    ids=["codes", "standardised", "all standardised"],
)  # fmt: skip
def case(request):
    """Species of birds by island, sex and two measures, one of them with missing values."""
    kind, encoder, after = request.param
    rng = np.random.default_rng(0)
    y = rng.choice(["gull", "tern"], 120)
    X = pd.DataFrame(
        {
            "island": np.where(rng.random(120) < 0.8, np.where(y == "gull", "North", "South"), "East"),
            "bill": np.where(rng.random(120) < 0.1, np.nan, 30 + 10 * (y == "gull") + rng.normal(size=120)),
            "sex": rng.choice(["female", "male"], 120),
            "mass": 400 + 20 * rng.normal(size=120),
        }
    )
    table = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), "passthrough" if after else StandardScaler()), ["bill"]),
        ("passthrough" if after else StandardScaler(), ["mass"]),
        (encoder, ["island", "sex"]),
    )
    model = make_pipeline(table, *after, kind(max_iter=10, tol=1e-2, random_state=0)).fit(X[:80], y[:80])
    return model, X, summarize(model, X[80:], y[80:], X_train=X[:80], y_train=y[:80], exemplars=2)


def test_one_row_for_each_column(case):
    prototypes = case[2]["prototypes"]
    assert sorted(prototypes["features"]) == ["bill", "island", "mass", "sex"]
    assert prototypes["n_features"] == 4
    island, bill = prototypes["features"].index("island"), prototypes["features"].index("bill")
    assert [row[island] for row in prototypes["values"]] == ["North", "South"]
    assert all(0.5 < row[island] <= 1 for row in prototypes["fractions"])
    assert prototypes["n_categories"][island] == 3
    assert prototypes["low"][island] is None
    assert prototypes["n_categories"][bill] is None
    assert prototypes["fractions"][0][bill] is None
    assert prototypes["values"][0][bill] > 35 > prototypes["values"][1][bill]
    assert prototypes["details"][0][island].startswith("North")
    assert len(prototypes["exemplars"]) == 2


def test_explanations_are_those_of_explain(case):
    model, X, summary = case
    for one in (*summary["explanations"]["wrong"], *summary["explanations"]["least_certain"]):
        sample = X[80:].iloc[[one["sample"]]]
        lines = explain(model, sample).table()
        found = {line.feature: line for line in lines.itertuples()}
        assert len(one["features"]) == 4
        for shown in one["features"]:
            np.testing.assert_allclose(shown["contribution"], found[shown["name"]].fraction, atol=1e-4)
            given = sample[shown["name"]].iloc[0]
            assert shown["value"] == (
                given if isinstance(given, str) else None if given != given else pytest.approx(given, rel=1e-4)
            )


def test_the_map_names_columns(case):
    summary = case[2]
    assert summary["data"]["variables"] == ["island", "bill", "sex", "mass"]
    for point in summary["map"]["points"]["contributions"]:
        assert all(isinstance(value, str) == (k in (0, 2)) for k, _, value, *_ in point)


def test_the_page_shows_categories_and_fractions(case):
    page = render(case[2])
    assert 'title="North' in page
    assert "3 categories" in page
    assert "island_North" not in page.split("<script")[0]
