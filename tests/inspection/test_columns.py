"""Rows of the model's features go back to the columns they came from: values, and fractions of categories."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler

from lvq import GLVQ
from lvq.estimators.find_model import need_model
from lvq.inspection.columns import category_fractions, input_cells, input_values

QUICK = {"solver": "online", "max_iter": 2, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    """Two columns of numbers, two of categories, and one with missing values."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    frame = pd.DataFrame({"size": rng.normal(size=90) + y, "weight": rng.normal(5, 2, 90)})
    frame["colour"] = rng.choice(["red", "green", "blue"], 90)
    frame["grade"] = rng.choice(["low", "high"], 90)
    frame["dose"] = np.where(rng.random(90) < 0.3, np.nan, rng.normal(size=90))
    return frame, y


# -- values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scaler", "drop"), [((), None), ((StandardScaler(),), "first"), ((StandardScaler(),), "if_binary")]
)
def test_samples_go_back_to_themselves(table, scaler, drop):
    X, y = table[0].drop(columns="dose"), table[1]
    encoder = OneHotEncoder(drop=drop, sparse_output=False)
    steps = [
        ("texts", make_pipeline(SimpleImputer(strategy="most_frequent"), encoder, *scaler), ["colour"]),
        ("order", make_pipeline(OrdinalEncoder(), StandardScaler()), ["grade"]),
        ("numbers", make_pipeline(StandardScaler(), PCA()), ["weight", "size"]),
    ]
    model = make_pipeline(ColumnTransformer(steps), *scaler, GLVQ(**QUICK)).fit(X, y)
    found = input_values(need_model(model, "test"), model[:-1].transform(X))
    np.testing.assert_allclose(found[:, :2].astype(float), X[["size", "weight"]])
    assert found[:, 2:].tolist() == X[["colour", "grade"]].to_numpy().tolist()


def test_columns_without_an_inverse_are_none(table):
    X, y = table[0][["size", "weight"]], table[1]
    steps = [("mixed", PolynomialFeatures(), ["weight"]), ("plain", StandardScaler(), ["size"])]
    model = make_pipeline(ColumnTransformer(steps), GLVQ(**QUICK)).fit(X, y)
    found = input_values(need_model(model, "test"), model[:-1].transform(X))
    assert found[:, 1].tolist() == [None] * len(X)
    np.testing.assert_allclose(found[:, 0].astype(float), X["size"])
    for steps, expected in (((PolynomialFeatures(),), None), ((SelectKBest(k=1), StandardScaler()), [None])):
        model = make_pipeline(*steps, GLVQ(**QUICK)).fit(X.to_numpy(), y)
        found = input_values(need_model(model, "test"), model[:-1].transform(X.to_numpy()))
        assert (found is None) if expected is None else [None] in [column[:1].tolist() for column in found.T]


@pytest.mark.parametrize("drop", [None, "first"])
def test_the_value_of_a_row_is_the_category_with_the_largest_fraction(table, drop):
    """Of a dropped category as well: of three that have .4, .35 and .25 it is the one with .4; below 0 counts as 0."""
    X, y = table
    model = make_pipeline(OneHotEncoder(drop=drop, sparse_output=False), GLVQ(random_state=0)).fit(X[["colour"]], y)
    codes = np.array([[0.25, 0.4, 0.35], [0.4, 0.25, 0.35], [-0.5, 0.0, 2.0]])[:, 0 if drop is None else 1 :]
    found = need_model(model, "")
    assert input_values(found, codes)[:, 0].tolist() == ["green", "blue", "red"]
    categories, fractions = category_fractions(found, codes)[0]
    np.testing.assert_allclose(np.sort(fractions), [[0.25, 0.35, 0.4]] * 2 + [[0, 0, 1]])
    assert [categories[best] for best in fractions.argmax(axis=1)] == ["green", "blue", "red"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, lambda c: pytest.importorskip("pyarrow").table(c)])
def test_cells_of_frames(frame):
    X = frame({"a": [1.5, None], "b": ["x", "y"]})
    assert [input_cells(X, row) for row in range(2)] == [[1.5, "x"], [None, "y"]]


# -- fractions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"drop": "first"}, {"drop": "if_binary"}, {"min_frequency": 0.34}])
def test_fractions_of_a_mean_are_those_of_its_samples(table, options):
    """With a scaler behind the one-hot codes."""
    X, y = table
    steps = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["dose", "size"]),
        (make_pipeline(OneHotEncoder(sparse_output=False, **options), StandardScaler()), ["colour", "grade"]),
    )
    found = need_model(make_pipeline(steps, StandardScaler(), GLVQ(random_state=0)).fit(X, y), "")
    fractions = category_fractions(found, found.inputs(X).mean(axis=0, keepdims=True))
    assert set(fractions) == {2, 3}
    for column, name in ((2, "colour"), (3, "grade")):
        names, values = fractions[column]
        counts = X[name].value_counts(normalize=True)
        rare = [label for label in counts.index if label not in names]
        expected = [counts[rare].sum() if label == "other" else counts[label] for label in names]
        np.testing.assert_allclose(values[0], expected, atol=1e-12)
