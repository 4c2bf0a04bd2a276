"""`fit_batches` of rows with missing values: as `partial_fit` by hand; errors name the row."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from lvq import GLVQ, GMLVQ, fit_batches


@pytest.fixture
def gaps(rows):
    """The rows without a quarter of their values."""
    X, y = rows[0].copy(), rows[1]
    X[np.random.default_rng(3).random(X.shape) < 0.25] = np.nan
    return X, y


def batches_of(X, y, size=130):
    return lambda: ((X[begin : begin + size], y[begin : begin + size]) for begin in range(0, len(X), size))


@pytest.mark.parametrize("scaler", [StandardScaler(), MaxAbsScaler()], ids=str)
def test_the_first_pass_is_over_the_observed_values(scaler, gaps):
    X, y = gaps
    model = fit_batches(make_pipeline(scaler, GMLVQ(missing="ignore")), batches_of(X, y), epochs=5, batch_rows=64)
    if isinstance(scaler, StandardScaler):
        np.testing.assert_allclose(model[0].mean_, np.nanmean(X, axis=0), rtol=1e-12)
        np.testing.assert_allclose(model[0].var_, np.nanvar(X, axis=0), rtol=1e-12)
        np.testing.assert_allclose(model[1].model_.variances, 1.0, rtol=1e-12)
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("model", [GLVQ(), SGDClassifier()], ids=str)
def test_a_model_that_needs_all_values_names_the_row(model, gaps):
    X, y = gaps
    row, column = np.argwhere(np.isnan(X[130:]))[0]
    complete = np.nan_to_num(X[:130])
    with pytest.raises(ValueError, match=rf"batch 2, row {131 + row}: the value in column {column} is nan.*'ignore'"):
        fit_batches(model, [(complete, y[:130]), (X[130:], y[130:])], classes=[0, 1, 2])


def test_a_feature_without_any_value(gaps):
    X, y = gaps[0].copy(), gaps[1]
    X[:, 3] = np.nan
    for scaler in (StandardScaler(), MaxAbsScaler()):
        model = make_pipeline(scaler, GLVQ(missing="ignore"))
        with pytest.raises(ValueError, match=r"column 3 has none .* leave the column out"):
            fit_batches(model, [(X, y)])
    assert fit_batches(GLVQ(missing="ignore"), [(X, y)]).score(X, y) > 0.5
