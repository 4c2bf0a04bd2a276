"""Curves of features with an order: which have one, and the numbers that are drawn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, SavitzkyGolay, StandardNormalVariate
from lvq.report import render, summarize
from lvq.report.ordered_features import axis_of, ordered


def spectra(n_samples=80, n_features=100):
    rng, y = np.random.default_rng(0), np.arange(n_samples) % 2
    axis = np.linspace(0, 1, n_features)
    peaks = np.exp(-((axis - 0.4 - 0.15 * y[:, None]) ** 2) / 0.02) * rng.uniform(0.5, 2, (n_samples, 1))
    names = [f"{850 + 2 * k} nm" for k in range(n_features)]
    return pd.DataFrame(peaks + rng.normal(0, 0.02, peaks.shape), columns=names), y


def test_axes_of_names():
    assert axis_of(["band_001", "band_002", "band_010"]) == ("band", [1.0, 2.0, 10.0])
    assert axis_of(["4000", "3998,5", "3997"]) == ("feature", [4000.0, 3998.5, 3997.0])
    assert axis_of(["x1", "x3", "x2"]) is None
    assert axis_of(["x1", "y2"]) is None
    assert axis_of(["r0c0", "r0c1"]) is None


def test_numbered_features_without_an_order_have_no_axis():
    X, _ = spectra()
    assert ordered(list(X.columns), X.to_numpy()) is not None
    noise = np.random.default_rng(0).normal(size=X.shape)
    assert ordered(list(X.columns), noise) is None
    assert ordered(list(X.columns)[:10], X.to_numpy()[:, :10]) is None  # few are better as bars


@pytest.mark.parametrize(
    "steps", [(StandardScaler(),), (StandardNormalVariate(), SavitzkyGolay(derivative=1))], ids=str
)
def test_the_curves_are_those_of_the_model(steps):
    X, y = spectra()
    model = make_pipeline(*steps, GMLVQ(rank=2, tol=1e-2, random_state=0)).fit(X, y)
    summary = summarize(model, X, y)
    curves = summary["curves"]
    assert curves["title"] == "nm"
    assert curves["positions"] == [850.0 + 2 * k for k in range(100)]
    values = model[-1].prototypes_
    if isinstance(steps[0], StandardScaler):
        values = model[0].inverse_transform(values)  # in the units of the data
        np.testing.assert_allclose(curves["high"], np.quantile(X, 0.99, axis=0), rtol=1e-5)
    np.testing.assert_allclose(curves["prototypes"], values, rtol=1e-4, atol=1e-6)
    assert sum(curves["importance"]) == pytest.approx(1, abs=1e-3)
    matrix = model[-1].lambda_ / np.trace(model[-1].lambda_)
    assert len(curves["matrix"]["values"]) == 60
    assert curves["matrix"]["values"][0][0] == pytest.approx(matrix[:2, :2].mean(), rel=1e-4)
    edges = curves["matrix"]["edges"]
    assert (edges[0], edges[-1], len(edges)) == (850.0, 1048.0, 61)
    assert np.all(np.diff(edges) > 0)


def test_pages_without_relevances_and_without_order():
    X, y = spectra()
    plain = summarize(GLVQ(random_state=0).fit(X, y), X, y)
    assert plain["curves"]["importance"] is None
    assert plain["curves"]["matrix"] is None
    assert 'data-chart="prototype-curves"' in render(plain)
    mixed = X.sample(frac=1, axis=1, random_state=0)
    assert summarize(GLVQ(random_state=0).fit(mixed, y), mixed, y)["curves"] is None
