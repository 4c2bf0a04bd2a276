"""The curves are the training histories."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from lvq import GLVQ
from lvq.estimators.find_model import need_model
from lvq.plots import LossCurveDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.mark.parametrize("kind", ["plain", "pipeline around reject"])
def test_the_history_is_drawn(fitted, kind):
    display = LossCurveDisplay.from_estimator(fitted[kind])
    history = need_model(fitted[kind], "a test").estimator.objective_history_
    assert_allclose(display.lines_[0].get_ydata(), history)
    assert_allclose(display.lines_[0].get_xdata(), np.arange(1, len(history) + 1))


def test_several_models(fitted):
    display = LossCurveDisplay.from_estimator([fitted["plain"], fitted["matrix"], fitted["kernel"]])
    assert display.names == ["GLVQ 1", "GMLVQ", "GLVQ 2"]
    named = LossCurveDisplay.from_estimator({"one": fitted["plain"], "two": fitted["pipeline"]})
    assert [text.get_text() for text in named.legend_.get_texts()] == ["one", "two"]
    assert_allclose(named.lines_[1].get_ydata(), fitted["pipeline"][-1].objective_history_)


def test_more_models_than_colours(fitted):
    display = LossCurveDisplay.from_estimator([fitted["plain"]] * 12)
    looks = {(line.get_color(), line.get_linestyle()) for line in display.lines_}
    assert len(looks) == 12


def test_several_on_the_same_axes(fitted):
    first = LossCurveDisplay.from_estimator(fitted["plain"], name="one")
    second = LossCurveDisplay.from_estimator(fitted["matrix"], ax=first.ax_)
    assert second.lines_[0].get_color() != first.lines_[0].get_color()


def test_one_point_for_each_partial_fit(data):
    X, y = data
    model = GLVQ(random_state=0)
    for _ in range(3):
        model.partial_fit(X, y, classes=[0, 1, 2])
    assert len(LossCurveDisplay.from_estimator(model).lines_[0].get_ydata()) == 3


def test_curve_kwargs(fitted):
    models = [fitted["plain"], fitted["matrix"]]
    display = LossCurveDisplay.from_estimator(models, curve_kwargs=[{"lw": 3}, {"c": "red"}])
    assert display.lines_[0].get_linewidth() == 3
    assert display.lines_[1].get_color() == "red"
    with pytest.raises(ValueError, match="must be a dict, or a list of 2, one for each curve; got 1"):
        LossCurveDisplay.from_estimator(models, curve_kwargs=[{}])


def test_wrong_models(data):
    with pytest.raises(ValueError, match=r"LossCurveDisplay needs a model of this library.*got LogisticRegression"):
        LossCurveDisplay.from_estimator([LogisticRegression().fit(*data)])
    with pytest.raises(ValueError, match="must have at least one model, got none"):
        LossCurveDisplay.from_estimator([])
