"""Names and units of features behind scalers, encoders, imputers, selectors and PCA."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, StandardNormalVariate
from lvq.report import render, summarize
from lvq.report.features import Features

X, Y = load_iris(return_X_y=True)


def test_a_table_with_text_columns():
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"])[np.arange(80) % 2]
    table = pd.DataFrame({"age": rng.normal(50, 9, 80) + 9 * (y == "yes"), "sex": rng.choice(["f", "m"], 80)})
    encoder = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["sex"]))
    model = make_pipeline(encoder, GMLVQ(random_state=0)).fit(table, y)
    summary = summarize(model, table, y)
    assert summary["data"]["features"] == ["age", "sex_f", "sex_m"]
    assert summary["data"]["n_columns"] == 2
    card = summary["explanations"]["least_certain"][0]
    (age,) = [f for f in card["features"] if f["name"] == "age"]
    assert age["value"] == pytest.approx(table["age"][card["sample"]], rel=1e-5)
    assert 30 < age["winner"] < 80  # years, not standard deviations


@pytest.mark.parametrize("as_table", [True, False])
def test_values_replaced_by_an_imputer_are_shown_as_missing(as_table):
    samples = X.copy()
    samples[::3, 2] = np.nan
    samples = pd.DataFrame(samples, columns=list("abcd")) if as_table else samples
    model = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), GMLVQ(random_state=0)).fit(samples, Y)
    summary = summarize(model, samples, Y)
    third = summary["data"]["features"][2]
    explanations = [*summary["explanations"]["wrong"], *summary["explanations"]["least_certain"]]
    shown = {
        card["sample"]: feature["value"]
        for card in explanations
        for feature in card["features"]
        if feature["name"] == third
    }
    assert len(shown) > 5
    assert all((value is None) == (sample % 3 == 0) for sample, value in shown.items())
    contributions = summary["map"]["points"]["contributions"]
    named = [(k, value) for k, features in enumerate(contributions) for f, _, value, *_ in features if f == 2]
    assert all((value is None) == (k % 3 == 0) for k, value in named)
    mean = pytest.approx(float(np.nanmean(np.asarray(samples)[:, 2])), rel=1e-5)
    filled = [feature for card in explanations for feature in card["features"] if feature["value"] is None]
    assert all(feature["filled"] == mean for feature in filled)
    assert all(
        rest == ([mean] if value is None else []) for row in contributions for f, _, value, *rest in row if f == 2
    )
    page = render(summary)
    assert f"missing, filled with {filled[0]['filled']:.3g}" in page
    assert "Missing values were filled before the model" in page


def test_values_that_the_model_ignores_are_not_filled():
    samples = np.where((np.arange(len(X)) % 3 == 0)[:, None] & (np.arange(4) == 2), np.nan, X)
    summary = summarize(GMLVQ(missing="ignore", random_state=0).fit(samples, Y), samples, Y)
    assert not summary["explanations"]["any_filled"]
    page = render(summary)
    assert ">missing</td>" in page
    assert "were filled" not in page


def test_features_removed_by_a_selector():
    model = make_pipeline(StandardScaler(), SelectKBest(k=2), GRLVQ(random_state=0)).fit(X, Y)
    summary = summarize(model, X, Y, feature_names=["a", "b", "c", "d"])
    assert summary["data"]["features"] == ["c", "d"]
    assert min(summary["prototypes"]["low"]) > 0  # centimetres


def test_combined_features_are_those_of_the_model():
    model = make_pipeline(PCA(n_components=2), GMLVQ(random_state=0)).fit(X, Y)
    summary = summarize(model, X, Y)
    assert not summary["prototypes"]["in_units"]
    assert summary["data"]["features"] == ["pca0", "pca1"]


def test_pictures_where_constant_pixels_were_left_out():
    """Prototypes and contributions are whole images, with 0 where the table has no pixel."""
    X, y = load_digits(return_X_y=True, as_frame=True)
    some = X.loc[:, X.nunique() > 1]
    assert some.shape[1] < 64
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0, tol=0.5)).fit(some, y)
    features = Features(model)
    images = features.pixels(model[-1].prototypes_)
    left_out = ~X.columns.isin(some.columns)
    assert features.side == 8
    assert not images[:, left_out].any()
    np.testing.assert_allclose(images[:, ~left_out], model[0].inverse_transform(model[-1].prototypes_), atol=1e-9)
    assert (
        np.flatnonzero(features.as_pixels(np.ones((1, some.shape[1])))[0]).tolist()
        == np.flatnonzero(~left_out).tolist()
    )


def test_a_block_that_keeps_names_but_not_columns_is_not_in_units():
    table = pd.DataFrame(X, columns=list("abcd"))
    blocks = make_column_transformer((StandardNormalVariate(), ["a", "b", "c"]), (StandardScaler(), ["d"]))
    model = make_pipeline(blocks, GMLVQ(random_state=0)).fit(table, Y)
    assert not Features(model).in_units
    assert not summarize(model, table, Y)["prototypes"]["in_units"]
