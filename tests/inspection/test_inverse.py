"""Rows of the model's features go back to the values that the steps would turn into them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler

from lvq import GLVQ
from lvq.estimators.find_model import need_model
from lvq.inspection.columns import input_cells, input_values

QUICK = {"solver": "online", "max_iter": 2, "random_state": 0}


def table(n_samples=60):
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 2
    frame = pd.DataFrame({"size": rng.normal(size=n_samples) + y, "weight": rng.normal(5, 2, n_samples)})
    frame["colour"] = rng.choice(["red", "green", "blue"], n_samples)
    frame["grade"] = rng.choice(["low", "high"], n_samples)
    return frame, y


@pytest.mark.parametrize(
    ("scaler", "drop"), [((), None), ((StandardScaler(),), "first"), ((StandardScaler(),), "if_binary")]
)
def test_samples_go_back_to_themselves(scaler, drop):
    X, y = table()
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


def test_columns_without_an_inverse_are_none():
    X, y = table()
    X = X[["size", "weight"]]
    steps = [("mixed", PolynomialFeatures(), ["weight"]), ("plain", StandardScaler(), ["size"])]
    model = make_pipeline(ColumnTransformer(steps), GLVQ(**QUICK)).fit(X, y)
    found = input_values(need_model(model, "test"), model[:-1].transform(X))
    assert found[:, 1].tolist() == [None] * len(X)
    np.testing.assert_allclose(found[:, 0].astype(float), X["size"])
    for steps, expected in (((PolynomialFeatures(),), None), ((SelectKBest(k=1), StandardScaler()), [None])):
        model = make_pipeline(*steps, GLVQ(**QUICK)).fit(X.to_numpy(), y)
        found = input_values(need_model(model, "test"), model[:-1].transform(X.to_numpy()))
        assert (found is None) if expected is None else [None] in [column[:1].tolist() for column in found.T]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, lambda c: pytest.importorskip("pyarrow").table(c)])
def test_cells_of_frames(frame):
    X = frame({"a": [1.5, None], "b": ["x", "y"]})
    assert [input_cells(X, row) for row in range(2)] == [[1.5, "x"], [None, "y"]]


def test_cells_of_arrays():
    for X in (np.array([[1.0, 2.0], [3.0, np.nan]]), [[1.0, 2.0], [3.0, np.nan]]):
        assert [input_cells(X, row) for row in range(2)] == [[1.0, 2.0], [3.0, None]]
    assert input_cells(sparse.csr_array([[0.0, 2.0], [3.0, 0.0]]), 1) == [3.0, 0.0]
