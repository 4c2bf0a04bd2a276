"""Prototypes in the units of X, as a table, lines or images."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ
from lvq.plots import PrototypeDisplay
from lvq.plots.style import number
from lvq.preprocessing import StandardNormalVariate
from lvq.solvers.lbfgs import LBFGS

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    keep = y < 4
    model = make_pipeline(StandardScaler(), GLVQ(n_prototypes=2, random_state=0, solver=LBFGS(tol=0.5)))
    return model.fit(X[keep], y[keep])


def test_table_has_the_units_of_the_data(fitted):
    model = fitted["pipeline"]
    display = PrototypeDisplay.from_estimator(model)
    values = model[0].inverse_transform(model[-1].prototypes_)
    assert_allclose(display.values, values)
    shown = {text.get_position(): text.get_text() for text in display.texts_}
    for (prototype, feature), value in np.ndenumerate(values):
        assert shown[prototype, display.order_.tolist().index(feature)] == number(value, 3)
    W = model[-1].prototypes_
    assert_allclose(display.image_.get_array(), (W - W.mean(axis=0)).T)  # colours are of differences in the model


def test_the_most_relevant_features_first(fitted):
    model = fitted["relevances"]
    display = PrototypeDisplay.from_estimator(model, max_features=2)
    assert display.order_.tolist() == np.argsort(-model.feature_importances_)[:2].tolist()
    assert display.ax_.get_xlabel() == "The 2 most important of 4 features"


def test_removed_features_are_not_shown(data):
    model = make_pipeline(SelectKBest(k=2), GRLVQ(random_state=0)).fit(*data)
    display = PrototypeDisplay.from_estimator(model)
    assert display.order_.tolist() == np.flatnonzero(model[0].get_support()).tolist()
    assert_allclose(display.relevances[display.order_], model[-1].feature_importances_)


def test_lines(fitted):
    display = PrototypeDisplay.from_estimator(fitted["plain"], kind="line")
    for line, row in zip(display.lines_, fitted["plain"].prototypes_):
        assert_allclose(line.get_ydata(), row)
    assert [text.get_text() for text in display.legend_.get_texts()] == ["0", "1", "2"]


def test_many_numbered_features_give_lines():
    X = np.random.default_rng(0).normal(size=(10, 70)) + (np.arange(10) % 2)[:, None]
    display = PrototypeDisplay.from_estimator(GLVQ(random_state=0).fit(X, np.arange(10) % 2))
    assert len(display.lines_) == 2


def test_pixels_give_images(digits):
    display = PrototypeDisplay.from_estimator(digits)
    values = digits[0].inverse_transform(digits[-1].prototypes_)
    sheet = np.asarray(display.image_.get_array().filled(np.nan))
    assert_allclose(np.sort(sheet[~np.isnan(sheet)]), np.sort(values.ravel()))
    assert_allclose(sheet[2:10, :8], values[0].reshape(8, 8))  # two rows for a label, then the first image
    assert_allclose(sheet[12:20, :8], values[1].reshape(8, 8))  # the second of the same class is below
    assert [text.get_text() for text in display.texts_] == [f"{k}, {j} of 2" for k in range(4) for j in (1, 2)]


def test_wrong_parameters(data, fitted):
    three = GLVQ(random_state=0).fit(data[0][:, :3], data[1])
    with pytest.raises(
        ValueError, match=r"kind='image' of PrototypeDisplay needs .* pixels of a square image, got \['feature 0'"
    ):
        PrototypeDisplay.from_estimator(three, kind="image")


@pytest.mark.parametrize("kind", ["auto", "table", "line"])
def test_prototypes_behind_steps_without_inverse_are_as_the_model_sees_them(data, kind):
    model = make_pipeline(StandardNormalVariate(), StandardScaler(), GMLVQ(random_state=0)).fit(*data)
    display = PrototypeDisplay.from_estimator(model, kind=kind)
    assert_allclose(display.values, model[-1].prototypes_)
    assert list(display.feature_names) == [f"feature {k}" for k in range(4)]
    assert_allclose(display.relevances, model[-1].feature_importances_)
    assert display.ax_.get_title() == "After StandardNormalVariate, StandardScaler"
    assert PrototypeDisplay.from_estimator(model[1:], kind=kind).ax_.get_title() == ""
