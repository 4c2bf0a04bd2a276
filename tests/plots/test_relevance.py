"""Bars and lines are the relevances; the title states what is omitted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GMLVQ, GRLVQ, variable_importances
from lvq.plots import LambdaDisplay, RelevanceDisplay, lambda_matrix
from lvq.preprocessing import SavitzkyGolay

plt = pytest.importorskip("matplotlib.pyplot")


def widths(display):
    return np.array([bar.get_width() for bar in display.bars_])


def test_bars_are_sorted_relevances(fitted):
    model = fitted["relevances"]
    display = RelevanceDisplay.from_estimator(model, values="lambda")
    assert_allclose(widths(display), np.sort(model.relevances_)[::-1])
    assert_allclose(model.relevances_[display.order_], widths(display))
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [f"feature {k}" for k in display.order_]
    assert display.ax_.yaxis_inverted()  # the first on top


def test_the_title_names_the_euclidean_metric(fitted):
    display = RelevanceDisplay.from_estimator(fitted["plain"])
    assert_allclose(widths(display), 0.25)
    assert "all features have the same weight" in display.ax_.get_title()


@pytest.mark.parametrize("kind", ["relevances", "matrix", "local by class"])
def test_importances_are_drawn_without_being_asked_for(fitted, kind):
    model = fitted[kind]
    display = RelevanceDisplay.from_estimator(model, max_features=2)
    best = np.argsort(-model.feature_importances_)[:2]
    assert display.order_.tolist() == best.tolist()
    assert_allclose(widths(display), model.feature_importances_[best])
    assert display.ax_.get_xlabel().startswith("Importance")
    assert "total importance of the others" in display.ax_.get_title()
    assert display.legend_ is None


@pytest.mark.parametrize("kind", ["bar", "line"])
def test_intervals_have_whiskers(data, kind):
    found = variable_importances(GRLVQ(random_state=0).fit(*data), *data, n_resamples=4)
    display = RelevanceDisplay.from_importances(found, kind=kind)
    assert [text.get_text() for text in display.legend_.get_texts()] == ["90 % interval"]
    if kind == "bar":
        assert_allclose(widths(display), found.importances[display.order_])
        segments = np.array(display.errorbar_.lines[2][0].get_segments())
        ends = np.column_stack([found.lower, found.upper])[display.order_]
        assert_allclose(segments[:, :, 0], ends, atol=1e-12)
    else:
        corners = display.errorbar_.get_paths()[0].vertices[:, 1]
        assert corners.min() == pytest.approx(found.lower.min())
        assert corners.max() == pytest.approx(found.upper.max())


def test_values_that_are_not_available(fitted):
    with pytest.raises(ValueError, match=r"values must be .*got 'omega'"):
        RelevanceDisplay.from_estimator(fitted["matrix"], values="omega")
    with pytest.raises(ValueError, match=r"must be .*'lambda'.* for this model, which has no relevances"):
        RelevanceDisplay.from_estimator(fitted["plain"], values="importance")


def test_columns_of_x_before_steps_that_keep_their_names(data):
    """Behind a derivative a feature has the name of a column, but is another one; with X the columns are shown."""
    X, y = data
    model = make_pipeline(SavitzkyGolay(window=3, derivative=1), StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
    own = RelevanceDisplay.from_estimator(model)
    assert own.ax_.get_title() == "After SavitzkyGolay, StandardScaler"
    assert_allclose(own.relevances, model[-1].feature_importances_)
    of_columns = RelevanceDisplay.from_importances(variable_importances(model, X))
    assert of_columns.ax_.get_title() == ""
    assert_allclose(of_columns.relevances, variable_importances(model, X).importances)
    assert_allclose(of_columns.relevances.sum(), 1)
    assert not np.allclose(of_columns.relevances, own.relevances)


# -- pairs of features -------------------------------------------------------------------------------------------------


def test_the_matrix_is_drawn(fitted):
    model = fitted["matrix"]
    display = LambdaDisplay.from_estimator(model)
    assert_allclose(display.image_.get_array(), model.lambda_)
    low, high = display.image_.get_clim()
    assert -low == high == np.abs(model.lambda_).max()  # white means zero
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == [f"feature {k}" for k in range(4)]
    assert display.colorbar_ is not None
    of_local_ones = LambdaDisplay.from_estimator(fitted["local by class"])
    assert_allclose(of_local_ones.matrix, lambda_matrix(fitted["local by class"]))
    assert of_local_ones.ax_.get_title() == "Lambda, mean over the prototypes"


def test_ordered_features_have_their_numbers():
    names = [f"{850 + 2 * k} nm" for k in range(50)]
    display = LambdaDisplay(matrix=np.eye(50), feature_names=names).plot()
    display.figure_.canvas.draw()
    shown = [label.get_text() for label in display.ax_.get_xticklabels() if label.get_text()]
    assert shown[:3] == ["850", "870", "890"]
    assert display.ax_.get_xlabel() == display.ax_.get_ylabel() == "nm"
