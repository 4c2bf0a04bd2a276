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


@pytest.mark.parametrize(
    ("kind", "group", "title"),
    [("local by class", np.int64(1), "class 1"), ("local by prototype", "0, 2 of 2", "prototype 0, 2 of 2")],
)
def test_one_local_matrix(fitted, kind, group, title):
    display = LambdaDisplay.from_estimator(fitted[kind], group=group)
    assert_allclose(display.image_.get_array(), fitted[kind].lambda_[1])
    assert display.ax_.get_title() == f"Lambda of {title}"


def test_mean_of_local_matrices(fitted):
    model = fitted["local by class"]
    display = LambdaDisplay.from_estimator(model)
    assert_allclose(display.matrix, lambda_matrix(model, per_matrix=True).mean(axis=0))
    assert "mean of 3" in display.ax_.get_title()


def test_ordered_features_have_their_numbers():
    names = [f"{850 + 2 * k} nm" for k in range(50)]
    display = LambdaDisplay(matrix=np.eye(50), feature_names=names).plot()
    display.figure_.canvas.draw()
    shown = [label.get_text() for label in display.ax_.get_xticklabels() if label.get_text()]
    assert shown[:3] == ["850", "870", "890"]
    assert display.ax_.get_xlabel() == display.ax_.get_ylabel() == "nm"


def test_wrong_parameters(fitted):
    for kind in ("local by class", "matrix"):
        with pytest.raises(ValueError, match=r"group of LambdaDisplay must be one of the local matrices .* got 3"):
            LambdaDisplay.from_estimator(fitted[kind], group=3)
