"""Fractions of categories and of missing values, compared with means of samples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import GLVQ
from lvq.estimators.find_model import need_model
from lvq.inspection.columns import category_fractions, input_values


@pytest.fixture(scope="module")
def table():
    """Numbers, one with missing values, and two columns of categories."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 90),
            "age": rng.normal(50, 10, 90),
            "grade": rng.choice(["one", "two", "three"], 90),
            "dose": np.where(rng.random(90) < 0.3, np.nan, rng.normal(size=90)),
        }
    )
    return X, rng.integers(0, 2, 90)


def steps(**encoder):
    """One-hot codes, with a scaler behind them, and an imputer with an indicator."""
    codes = OneHotEncoder(sparse_output=False, **encoder)
    return make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["dose", "age"]),
        (make_pipeline(codes, StandardScaler()), ["grade", "sex"]),
    )


@pytest.mark.parametrize("options", [{}, {"drop": "first"}, {"drop": "if_binary"}, {"min_frequency": 0.34}])
def test_fractions_of_a_mean_are_those_of_its_samples(table, options):
    X, y = table
    model = make_pipeline(steps(**options), StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    found = need_model(model, "")
    mean = found.inputs(X).mean(axis=0, keepdims=True)
    fractions = category_fractions(found, mean)
    assert set(fractions.categories) == {0, 2}
    np.testing.assert_allclose(fractions.missing[3], X.dose.isna().mean())
    for column, name in ((0, "sex"), (2, "grade")):
        names, values = fractions.categories[column]
        counts = X[name].value_counts(normalize=True)
        rare = [label for label in counts.index if label not in names]
        expected = [counts[rare].sum() if label == "other" else counts[label] for label in names]
        np.testing.assert_allclose(values[0], expected, atol=1e-12)


def test_negative_codes_count_as_none(table):
    X, y = table
    model = make_pipeline(OneHotEncoder(sparse_output=False), GLVQ(random_state=0)).fit(X[["sex"]], y)
    fractions = category_fractions(need_model(model, ""), np.array([[2.0, -0.5], [0.0, 0.0]])).categories[0]
    assert fractions.fractions.tolist() == [[1.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("drop", [None, "first"])
def test_the_value_of_a_row_is_the_category_with_the_largest_fraction(table, drop):
    """Of a dropped category as well: of three that have .4, .35 and .25 it is the one with .4."""
    X, y = table
    model = make_pipeline(OneHotEncoder(drop=drop, sparse_output=False), GLVQ(random_state=0)).fit(X[["grade"]], y)
    codes = np.array([[0.25, 0.4, 0.35], [0.4, 0.25, 0.35], [0.0, 0.0, 1.0]])[:, 0 if drop is None else 1 :]
    found = need_model(model, "")
    assert input_values(found, codes)[:, 0].tolist() == ["three", "one", "two"]
    categories, fractions = category_fractions(found, codes).categories[0]
    np.testing.assert_allclose(np.sort(fractions[0]), [0.25, 0.35, 0.4])
    assert [categories[best] for best in fractions.argmax(axis=1)] == ["three", "one", "two"]
