"""Curves of accuracy and coverage, and of certified accuracy."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.averages import accuracy_at
from lvq import GLVQ, RejectClassifier
from lvq.plots import AccuracyRejectDisplay
from lvq.rejection import accuracy_reject_curve, area_under_curve, certainty
from lvq.rejection.curves import AccuracyRejectCurve, path_curve

plt = pytest.importorskip("matplotlib.pyplot")

# -- accuracy and coverage ---------------------------------------------------------------------------------------------


def assert_curve(display, curve):
    assert_allclose(display.line_.get_xdata(), curve.coverage)
    assert_allclose(display.line_.get_ydata(), curve.accuracy)


def test_the_curve_of_a_model(data, fitted):
    X, y = data
    model = fitted["pipeline"]
    curve = accuracy_reject_curve(certainty(model, X), model.predict(X) == y)
    display = AccuracyRejectDisplay.from_estimator(model, X, y)
    assert_curve(display, curve)
    assert display.line_.get_label() == f"GMLVQ (area {area_under_curve(curve):.4f})"
    assert display.point_ is None


def test_any_classifier(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    display = AccuracyRejectDisplay.from_estimator(model, X, y, name="linear")
    assert_curve(display, accuracy_reject_curve(certainty(model, X), model.predict(X) == y))
    assert display.line_.get_label().startswith("linear (area ")


@pytest.mark.parametrize("in_pipeline", [False, True])
def test_reject_classifier(data, in_pipeline):
    X, y = data
    if in_pipeline:
        model = make_pipeline(StandardScaler(), RejectClassifier(GLVQ(random_state=0), min_coverage=0.8)).fit(X, y)
        reject, Z = model[-1], model[0].transform(X)
    else:
        model = RejectClassifier(make_pipeline(StandardScaler(), GLVQ(random_state=0)), min_coverage=0.8).fit(X, y)
        reject, Z = model, X
    correct = reject.predict(Z) == y
    display = AccuracyRejectDisplay.from_estimator(model, X, y)
    assert_curve(display, path_curve(reject.path_.evaluate(reject.certainty(Z), correct, reject.cell(Z))))
    accepted = reject.accept(Z)
    assert_allclose(display.point, (accepted.mean(), correct[accepted].mean()))
    assert_allclose(display.point_.get_xydata()[0], display.point)
    curve = AccuracyRejectCurve(display.coverage, display.accuracy)
    assert abs(accuracy_at(curve, display.point[0]) - display.point[1]) < 0.01  # the operating point lies on the curve
    label = display.point_.get_label()
    assert re.fullmatch(r"operating point: coverage [\d.]+ %, accuracy [\d.]+ %", label)


def test_outliers_are_rejected_by_the_threshold(data):
    X, y = data
    joined = RejectClassifier(GLVQ(random_state=0), measure="combined").fit(X, y)
    display = AccuracyRejectDisplay.from_estimator(joined, np.vstack((X, X + 1000)), np.append(y, y))
    assert (display.coverage[0], display.point[0]) == (1, joined.coverage(X) / 2)


# -- all curves --------------------------------------------------------------------------------------------------------


def test_several_on_the_same_axes(data, fitted):
    first = AccuracyRejectDisplay.from_estimator(fitted["plain"], *data, name="one")
    second = AccuracyRejectDisplay.from_estimator(fitted["matrix"], *data, name="two", ax=first.ax_)
    assert first.line_.get_color() != second.line_.get_color()
    assert [text.get_text()[:3] for text in second.legend_.get_texts()] == ["one", "two"]
