"""Preprocessing of spectra: against plain formulas, in pipelines, files and graphs."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.signal import savgol_filter
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lvq
from lvq import GMLVQ, certified_radius, explain
from lvq.model.relevance import Matrix
from lvq.onnx import to_onnx
from lvq.preprocessing import SavitzkyGolay, StandardNormalVariate
from lvq.solvers.lbfgs import LBFGS

STEPS = [StandardNormalVariate(), SavitzkyGolay(window=7), SavitzkyGolay(window=9, degree=3, derivative=2, spacing=2.0)]


def spectra(n_samples=60, n_features=40):
    rng, y = np.random.default_rng(0), np.arange(n_samples) % 2
    axis = np.linspace(0, 1, n_features)
    peaks = np.exp(-((axis - 0.4 - 0.15 * y[:, None]) ** 2) / 0.02)
    return peaks * rng.uniform(0.5, 2, (n_samples, 1)) + rng.normal(0, 0.02, (n_samples, n_features)), y


@parametrize_with_checks([StandardNormalVariate()])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_formulas():
    X, _ = spectra()
    expected = np.array([(row - row.mean()) / row.std() for row in X])
    assert_allclose(StandardNormalVariate().fit_transform(X), expected)
    assert_allclose(StandardNormalVariate().fit_transform(np.ones((2, 5))), 0)
    for step in STEPS[1:]:
        expected = savgol_filter(X, step.window, step.degree, step.derivative, step.spacing, axis=1)
        assert_allclose(clone(step).fit_transform(X), expected, atol=1e-12)
        single = clone(step).fit(X.astype(np.float32)).transform(X.astype(np.float32))
        assert single.dtype == np.float32
        assert_allclose(single, expected, atol=1e-4)


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_pipelines_files_and_graphs(step, tmp_path):
    X, y = spectra()
    table = pd.DataFrame(X, columns=[f"{850 + 2 * k} nm" for k in range(X.shape[1])])
    model = make_pipeline(clone(step), StandardScaler(), GMLVQ(relevance=Matrix(rank=2), random_state=0)).fit(table, y)
    assert model.score(table, y) > 0.95
    assert model[0].get_feature_names_out().tolist() == table.columns.tolist()
    lvq.save(model, tmp_path / "model.lvq")
    assert np.array_equal(lvq.load(tmp_path / "model.lvq").predict(table), model.predict(table))
    if isinstance(step, SavitzkyGolay):  # each filtered value stands for the wavelength at its place
        inner = model[-1].explain(model[:-1].transform(table)).contributions
        assert_allclose(explain(model, table).contributions, inner, atol=1e-9 * np.abs(inner).max())
    else:
        with pytest.raises(ValueError, match="got StandardNormalVariate; transform X with that step first"):
            explain(model, table)
    onnxruntime = pytest.importorskip("onnxruntime")
    plain = make_pipeline(clone(step), StandardScaler(), GMLVQ(relevance=Matrix(rank=2), random_state=0)).fit(X, y)
    session = onnxruntime.InferenceSession(to_onnx(plain).SerializeToString())
    given = {session.get_inputs()[0].name: X}
    label, probabilities = session.run(["label", "probabilities"], given)
    assert np.array_equal(label, plain.predict(X))
    assert_allclose(probabilities, plain.predict_proba(X), atol=1e-9)


def test_radii_through_a_filter():
    """Exact with one prototype per class: no smaller change changes a prediction, and a little larger one does."""
    X, y = spectra()
    model = make_pipeline(
        SavitzkyGolay(window=7, derivative=1), GMLVQ(relevance=Matrix(rank=2), solver=LBFGS(tol=1e-2), random_state=0)
    ).fit(X, y)
    radius, rng = certified_radius(model, X), np.random.default_rng(1)
    before = model.predict(X)
    for _ in range(50):
        change = rng.normal(size=X.shape)
        change *= 0.999 * (radius / np.linalg.norm(change, axis=1))[:, None]
        assert np.array_equal(model.predict(X + change), before)
    found = lvq.counterfactual(model, X[:10], samples=X, units=np.ones(X.shape[1]))
    assert np.all(found.distance >= radius[:10] * (1 - 1e-9))
    with pytest.raises(ValueError, match=r"supports linear steps only .* got StandardNormalVariate"):
        certified_radius(
            make_pipeline(StandardNormalVariate(), GMLVQ(solver=LBFGS(tol=1e-2), random_state=0)).fit(X, y), X
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 8}, "must be odd, above degree=2 and at most the number of features, 40, got 8"),
        ({"window": 41}, "window of SavitzkyGolay must be odd, .* got 41"),
        ({"window": 5, "degree": 5}, "must be odd, above degree=5"),
        ({"derivative": 3}, "derivative of SavitzkyGolay must be at most degree=2, got 3; give a larger degree"),
        ({"window": 0}, "The 'window' parameter of SavitzkyGolay must be an int"),
    ],
)
def test_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        SavitzkyGolay(**settings).fit(spectra()[0])
