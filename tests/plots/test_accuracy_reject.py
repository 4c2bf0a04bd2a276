"""The curve of any classifier, and of a RejectClassifier with its own thresholds."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, RejectClassifier
from lvq.plots import AccuracyRejectDisplay
from lvq.rejection import accuracy_reject_curve, area_under_curve, certainty
from lvq.rejection.curves import AccuracyRejectCurve, accuracy_at, average_curves, path_curve

plt = pytest.importorskip("matplotlib.pyplot")


def assert_curve(display, curve):
    assert_allclose(display.line_.get_xdata(), curve.coverage)
    assert_allclose(display.line_.get_ydata(), curve.accuracy)


def test_model(data, fitted):
    X, y = data
    model = fitted["pipeline"]
    curve = accuracy_reject_curve(certainty(model, X), model.predict(X) == y)
    display = AccuracyRejectDisplay.from_estimator(model, X, y)
    assert_curve(display, curve)
    assert display.line_.get_label() == f"GMLVQ (area {area_under_curve(curve):.4f})"
    assert display.point_ is None


def test_any_classifier_and_measure(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    display = AccuracyRejectDisplay.from_estimator(model, X, y, measure="margin", name="linear")
    assert_curve(display, accuracy_reject_curve(certainty(model, X, "margin"), model.predict(X) == y))
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


def test_outliers_are_never_accepted(data):
    X, y = data
    far = np.vstack((X, X + 1000))
    both = np.append(y, y)
    model = RejectClassifier(GLVQ(random_state=0), measure="combined").fit(X, y)
    display = AccuracyRejectDisplay.from_estimator(model, far, both)
    assert display.coverage[0] == np.mean(model.reason(far) != "outlier") <= 0.5
    with pytest.raises(ValueError, match="got only outliers in X"):
        AccuracyRejectDisplay.from_estimator(model, X + 1000, y)


def test_another_measure(data):
    X, y = data
    model = RejectClassifier(GLVQ(random_state=0)).fit(X, y)
    display = AccuracyRejectDisplay.from_estimator(model, X, y, measure="distance")
    expected = accuracy_reject_curve(certainty(model.estimator_, X, "distance"), model.predict(X) == y)
    assert_curve(display, expected)


def test_from_predictions():
    display = AccuracyRejectDisplay.from_predictions(["a", "b", "b"], ["a", "a", "b"], [0.9, 0.1, 0.5], name="given")
    assert_curve(display, accuracy_reject_curve([0.9, 0.1, 0.5], [True, False, True]))
    assert display.name == "given"


def test_from_folds(data):
    X, y = data
    results = cross_validate(GLVQ(random_state=0), X, y, cv=5, return_estimator=True, return_indices=True)
    curves = [
        accuracy_reject_curve(certainty(model, X[test]), model.predict(X[test]) == y[test])
        for model, test in zip(results["estimator"], results["indices"]["test"])
    ]
    display, mean = AccuracyRejectDisplay.from_cv_results(results, X, y), average_curves(curves)
    assert_curve(display, mean)
    assert_allclose(display.standard_deviation, mean.standard_deviation)
    assert display.band_ is not None
    assert_allclose(display.area, np.mean([area_under_curve(curve) for curve in curves]))


def test_folds_without_models(data):
    with pytest.raises(ValueError, match="return_estimator=True and return_indices=True"):
        AccuracyRejectDisplay.from_cv_results(cross_validate(GLVQ(), *data, cv=2), *data)


def test_several_on_the_same_axes(data, fitted):
    first = AccuracyRejectDisplay.from_estimator(fitted["plain"], *data, name="one")
    second = AccuracyRejectDisplay.from_estimator(fitted["matrix"], *data, name="two", ax=first.ax_)
    assert first.line_.get_color() != second.line_.get_color()
    assert len(second.legend_.get_texts()) == 2


def test_curve_kwargs(data, fitted):
    display = AccuracyRejectDisplay.from_estimator(fitted["plain"], *data, curve_kwargs={"c": "red", "ls": ":"})
    assert (display.line_.get_color(), display.line_.get_linestyle()) == ("red", ":")


def test_inconsistent_lengths(data, fitted):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        AccuracyRejectDisplay.from_estimator(fitted["plain"], data[0], data[1][:-1])
