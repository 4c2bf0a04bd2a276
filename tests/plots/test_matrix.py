"""The heat map is Lambda."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lvq.plots import LambdaDisplay, lambda_matrix

plt = pytest.importorskip("matplotlib.pyplot")


def test_the_matrix_is_drawn(fitted):
    model = fitted["matrix"]
    display = LambdaDisplay(matrix=lambda_matrix(model), feature_names=["a", "b", "c", "d"]).plot()
    assert_allclose(display.image_.get_array(), model.lambda_)
    low, high = display.image_.get_clim()
    assert -low == high == np.abs(model.lambda_).max()  # white means zero
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["a", "b", "c", "d"]
    assert display.colorbar_ is not None


@pytest.mark.parametrize(("kind", "expected"), [("plain", np.eye(4)), ("relevances", None)])
def test_diagonal_metrics(fitted, kind, expected):
    model = fitted[kind]
    expected = np.diag(model.relevances_) if expected is None else expected
    assert_allclose(LambdaDisplay.from_estimator(model).matrix, expected)


def test_mean_of_local_matrices(fitted):
    display = LambdaDisplay.from_estimator(fitted["local by class"])
    assert_allclose(display.matrix, fitted["local by class"].lambda_.mean(axis=0))
    assert display.ax_.get_title() == "Lambda, mean over the prototypes"


def test_ordered_features_have_their_numbers():
    names = [f"{850 + 2 * k} nm" for k in range(50)]
    display = LambdaDisplay(matrix=np.eye(50), feature_names=names).plot()
    display.figure_.canvas.draw()
    shown = [label.get_text() for label in display.ax_.get_xticklabels() if label.get_text()]
    assert shown[:3] == ["850", "870", "890"]
    assert display.ax_.get_xlabel() == display.ax_.get_ylabel() == "nm"
