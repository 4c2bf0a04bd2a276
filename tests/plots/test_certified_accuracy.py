"""The step function is the certified accuracy, at every size of change."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lvq import certified_radius
from lvq.inspection import certified_accuracy
from lvq.plots import CertifiedAccuracyDisplay

plt = pytest.importorskip("matplotlib.pyplot")


def values_at(display, sizes):
    """Values of the step function that is drawn: those of the next step to the right."""
    x, y = display.line_.get_xdata(), display.line_.get_ydata()
    return y[np.minimum(np.searchsorted(x, sizes, side="left"), len(x) - 1)]


@pytest.mark.parametrize(
    ("kind", "norm"), [("plain", 1), ("pipeline", np.inf), ("local by class", 2), ("reject around a pipeline", 2)]
)
def test_the_curve_is_the_certified_accuracy(data, fitted, kind, norm):
    X, y = data
    sizes = np.sort(np.append(np.linspace(0, 4, 60), certified_radius(fitted[kind], X[:30], norm)))
    display = CertifiedAccuracyDisplay.from_estimator(fitted[kind], X, y, norm=norm)
    assert_allclose(values_at(display, sizes), certified_accuracy(fitted[kind], X, y, sizes, norm))
    assert display.line_.get_drawstyle() == "steps-pre"


def test_from_predictions():
    display = CertifiedAccuracyDisplay.from_predictions(
        [0, 1, 1, 0], [0, 1, 0, 0], [0.5, 2.0, 9.0, np.inf], norm=np.inf
    )
    assert_allclose(values_at(display, [0, 0.5, 0.6, 2.0, 2.1]), [0.75, 0.75, 0.5, 0.5, 0.25])
    assert "largest change of a feature" in display.ax_.get_xlabel()


def test_no_correct_prediction():
    display = CertifiedAccuracyDisplay.from_predictions([0, 1], [1, 0], [1.0, 2.0])
    assert not np.any(display.accuracy)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [0], [1.0], 3), "norm of CertifiedAccuracyDisplay must be 1, 2 or inf, got 3"),
        (([0], [0], [-1.0], 2), "radius of CertifiedAccuracyDisplay must be 0 or more"),
        (([0, 1], [0], [1.0], 2), "inconsistent numbers of samples"),
    ],
)
def test_wrong_parameters(arguments, message):
    *columns, norm = arguments
    with pytest.raises(ValueError, match=message):
        CertifiedAccuracyDisplay.from_predictions(*columns, norm=norm)


def test_several_on_the_same_axes(data, fitted):
    first = CertifiedAccuracyDisplay.from_estimator(fitted["plain"], *data)
    second = CertifiedAccuracyDisplay.from_estimator(fitted["matrix"], *data, ax=first.ax_, name="matrix")
    assert [text.get_text() for text in second.legend_.get_texts()] == ["GLVQ", "matrix"]
