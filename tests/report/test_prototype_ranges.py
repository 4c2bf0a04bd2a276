"""Prototypes outside the range of the samples are named, in columns of numbers, in the units of the data."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import GLVQ, StandardNormalVariate
from lvq.report import render, summarize


def samples(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return pd.DataFrame({"a": rng.uniform(0, 1, n) + y, "b": rng.uniform(5, 6, n), "c": rng.uniform(-1, 0, n)}), y


def moved(model, changes):
    """The model with some values of prototypes replaced, in the units that it is trained in."""
    from lvq.estimators.replaced_prototypes import replace_prototypes

    W = np.array(model.prototypes_)
    for place, value in changes.items():
        W[place] = value
    replace_prototypes(model, W, np.arange(len(W)), W)  # GLVQ needs no samples for importances
    return model


def test_prototypes_outside_are_counted_and_the_farthest_feature_is_first():
    X, y = samples()
    model = GLVQ(init="means", max_iter=1, solver="online", random_state=0).fit(X, y)
    assert summarize(model, X, y)["prototypes"]["outside"] is None
    moved(model, {(1, 1): 6.4, (1, 2): 3.0})
    summary = summarize(model, X, y)
    assert summary["prototypes"]["outside"] == {"n_prototypes": 1, "features": ["c", "b"]}
    page = render(summary)
    assert "1 of 2 prototypes has values outside the range of the samples (c, b)" in page
    assert "sample_prototypes=True" in page


def test_the_range_is_that_of_the_training_samples():
    X, y = samples()
    model = moved(GLVQ(init="means", max_iter=1, solver="online", random_state=0).fit(X, y), {(0, 1): 5.5})
    held_out = X[X["b"] < 5.3]
    assert summarize(model, held_out, y[held_out.index])["prototypes"]["outside"]["features"] == ["b"]
    inside = summarize(model, held_out, y[held_out.index], X_train=X, y_train=y)
    assert inside["prototypes"]["outside"] is None


def test_categories_have_no_range_and_scaled_numbers_are_in_units():
    X, y = samples()
    X = X.assign(kind=np.array(["x", "y", "z"])[np.arange(len(X)) % 3])
    columns = make_column_transformer(
        (StandardScaler(), ["a", "b", "c"]), (OneHotEncoder(sparse_output=False), ["kind"])
    )
    model = make_pipeline(columns, GLVQ(init="means", max_iter=1, solver="online", random_state=0)).fit(X, y)
    moved(model[-1], {(0, 3): 2.5, (0, 4): -1.0})
    assert summarize(model, X, y)["prototypes"]["outside"] is None
    moved(model[-1], {(0, 0): -9.0})
    assert summarize(model, X, y)["prototypes"]["outside"] == {"n_prototypes": 1, "features": ["a"]}


def test_nothing_is_told_where_steps_have_no_inverse():
    X, y = samples()
    model = make_pipeline(StandardNormalVariate(), GLVQ(random_state=0)).fit(X, y)
    moved(model[-1], {(0, 0): 99.0})
    assert summarize(model, X, y)["prototypes"]["outside"] is None


def test_missing_values_have_no_part_in_the_ranges_of_the_samples():
    X, y = samples()
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.3).assign(d=np.nan)
    low, high = X.quantile(0.01), X.quantile(0.99)
    ignoring = GLVQ(
        missing="ignore",
        init=[[0.5, 9.0, -9.0, 0.0], [1.5, 9.0, 9.0, 0.0]],
        max_iter=1,
        solver="online",
        learning_rate=0,
    )
    filling = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=7.0, add_indicator=True), GLVQ(random_state=0)
    )
    for model in (ignoring, filling):
        summary = summarize(model.fit(X.assign(d=X["a"]), y), X, y)
        section = summary["prototypes"]
        for name, *ends in zip(section["features"], section["low"], section["high"]):
            if name in "abc":
                np.testing.assert_allclose(ends, [low[name], high[name]], rtol=1e-5)
            else:
                assert ends == [None, None]
        assert "1 % to 99 %" in render(summary)
    incomplete = int(X.isna().any(axis=1).sum())
    assert f"{incomplete} samples with missing values are drawn as if" in render(summarize(ignoring, X, y))
    assert "are drawn as if" not in render(summarize(filling, X, y))
