"""Every display of every kind of model, on given axes and in a new figure; nothing is cut off or hidden."""

import inspect
import re
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lvq.plots
from lvq import GLVQ, GRLVQ
from lvq.plots import (
    AccuracyRejectDisplay,
    LambdaDisplay,
    ProjectionDisplay,
    PrototypeDisplay,
    RelevanceDisplay,
)
from lvq.solvers.lbfgs import LBFGS

plt = pytest.importorskip("matplotlib.pyplot")

DISPLAYS = {
    "reject": AccuracyRejectDisplay.from_estimator,
    "lambda": lambda model, X, y, **kw: LambdaDisplay.from_estimator(model, **kw),
    "projection": lambda model, X, y, **kw: ProjectionDisplay.from_estimator(model, X, y, resolution=30, **kw),
    "prototypes": lambda model, X, y, **kw: PrototypeDisplay.from_estimator(model, **kw),
    "relevance": lambda model, X, y, **kw: RelevanceDisplay.from_estimator(model, **kw),
}


CLASSES = [getattr(lvq.plots, name) for name in lvq.plots.__all__ if name.endswith("Display")]
METHODS = ["plot", "from_estimator", "from_importances", "from_explanation"]
KINDS = [
    "kernel", "relevances", "rank 1", "local by prototype", "posterior", "search", "reject around a pipeline",
    "pipeline around reject",
]  # fmt: skip


@pytest.fixture(params=DISPLAYS)
def make(request):
    return DISPLAYS[request.param]


def texts_of(figure):
    """All visible texts of a figure, including legends."""
    from matplotlib.text import Text

    hidden = [label for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for label in labels_outside(axis)]
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [text for text in texts if text not in hidden]


def labels_outside(axis):
    """Labels beyond the ends of an axis, which matplotlib does not draw."""
    low, high = np.sort(axis.get_view_interval())
    tolerance = 1e-9 * (high - low)
    ticks = [tick for tick in axis.get_major_ticks() if not low - tolerance <= tick.get_loc() <= high + tolerance]
    return [label for tick in ticks for label in (tick.label1, tick.label2)]


def assert_nothing_is_cut_off(figure):
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    edge = figure.bbox
    for text in texts_of(figure):
        box = text.get_window_extent(renderer)
        inside = box.x0 >= edge.x0 - 1 and box.x1 <= edge.x1 + 1 and box.y0 >= edge.y0 - 1 and box.y1 <= edge.y1 + 1
        assert inside, (text.get_text(), box, edge)


def assert_ticks_do_not_overlap(axis):
    """Neighbouring labels do not overlap; rotated ones are compared by their distance along the axis."""
    figure = axis.get_figure()
    figure.canvas.draw()
    labels = [label for label in axis.get_ticklabels() if label.get_text() and label not in labels_outside(axis)]
    boxes = [label.get_window_extent(figure.canvas.get_renderer()) for label in labels]
    if labels and labels[0].get_rotation():
        heights = [label.get_fontsize() * figure.dpi / 72 for label in labels]
        places = [
            axis.axes.transData.transform((at, at))[0 if axis.axis_name == "x" else 1] for at in axis.get_ticklocs()
        ]
        steps = np.abs(np.diff(places))
        assert (steps >= 0.9 * np.array(heights[:-1])).all()
        return
    for here, there in pairwise(boxes):
        assert not (here.overlaps(there) and min(here.y1, there.y1) - max(here.y0, there.y0) > 1.5)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model(data, fitted, kind, make):
    display = make(fitted[kind], *data)
    assert display.figure_ is display.ax_.figure
    assert_nothing_is_cut_off(display.figure_)


def test_without_matplotlib(monkeypatch, data, fitted, make):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'Display needs matplotlib.*pip install "lvq\[plot\]"'):
        make(fitted["matrix"], *data)


@pytest.mark.parametrize("method", [(cls, name) for cls in CLASSES for name in METHODS if hasattr(cls, name)], ids=str)
def test_every_parameter_is_described(method):
    text = inspect.getdoc(getattr(*method))
    names = list(inspect.signature(getattr(*method)).parameters)
    section = text.partition("Parameters\n----------\n")[2].partition("\n\nReturns\n")[0]
    entries = re.findall(r"^(?:\*\*)?(\w+) : .+\n    \S", section, flags=re.MULTILINE)
    assert entries == [name for name in names if name != "self"]
    assert max(map(len, text.splitlines())) <= 112


def test_given_axes(data, fitted, make):
    """Nothing is drawn elsewhere, and a display can be drawn again."""
    figure, ax = plt.subplots()
    display = make(fitted["local by class"], *data, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    _, other = plt.subplots()
    assert display.plot(ax=other) is display
    assert display.ax_ is other


def test_subfigures(data, fitted, make):
    figure = plt.figure(layout="constrained")
    left, _ = figure.subfigures(1, 2)
    assert make(fitted["matrix"], *data, ax=left.subplots()).figure_ is left
    figure.canvas.draw()


def test_not_of_this_library(data, make):
    from sklearn.linear_model import LogisticRegression

    other = LogisticRegression().fit(*data)
    if make is DISPLAYS["reject"]:
        assert make(other, *data).coverage[0] == 1  # any classifier has a curve
        return
    with pytest.raises(ValueError, match=r"needs a model of this library.*got LogisticRegression"):
        make(other, *data)


def test_not_fitted(data, make):
    from sklearn.exceptions import NotFittedError

    for model in (GLVQ(), make_pipeline(StandardScaler(), GLVQ())):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            make(model, *data)


def test_wrong_axes(data, fitted, make):
    _, both = plt.subplots(1, 2)
    with pytest.raises(TypeError, match=r"ax of \w+Display.plot must be one matplotlib Axes, got ndarray"):
        make(fitted["matrix"], *data, ax=both)


@pytest.fixture(scope="module")
def wide():
    """Thirty classes with long names, a hundred features with longer ones."""
    rng = np.random.default_rng(0)
    names = np.array([f"class number {k} of the thirty classes" for k in range(30)])
    y = np.arange(300) % 30
    X = rng.normal(size=(300, 100)) + 3 * rng.normal(size=(30, 100))[y]
    features = [f"a very long name of a feature that does not fit into the figure, feature {k}" for k in range(100)]
    X = pd.DataFrame(X, columns=features)
    return GRLVQ(random_state=0, solver=LBFGS(tol=0.5)).fit(X, names[y]), X, names[y]


@pytest.mark.parametrize("display", ["projection", "prototypes", "relevance", "lambda"])
def test_many_classes_and_long_names(wide, display):
    drawn = DISPLAYS[display](*wide)
    assert_nothing_is_cut_off(drawn.figure_)
    for axis in (drawn.ax_.xaxis, drawn.ax_.yaxis):
        assert_ticks_do_not_overlap(axis)


def test_the_legend_is_beside_the_map(data, fitted):
    display = DISPLAYS["projection"](fitted["local by prototype"], *data)
    display.figure_.canvas.draw()
    renderer = display.figure_.canvas.get_renderer()
    assert display.legend_.get_window_extent(renderer).x0 >= display.ax_.get_window_extent(renderer).x1


@pytest.mark.parametrize("display", [PrototypeDisplay, RelevanceDisplay])
def test_wrong_parameters(fitted, display):
    with pytest.raises(ValueError, match=rf"max_features of {display.__name__}.plot must be 1 or more, or None, got 0"):
        display.from_estimator(fitted["matrix"], max_features=0)
    with pytest.raises(ValueError, match=rf"kind of {display.__name__}.plot must be one of .*, got 'pie'"):
        display.from_estimator(fitted["matrix"], kind="pie")


@pytest.mark.parametrize("labels", [["<b>", "_x$", "x$_1^2$"], [True, False, True], [3.0, 1.0, 2.0]])
def test_labels_of_any_kind(data, labels):
    X, y = data
    model = GLVQ(random_state=0).fit(X, np.array(labels)[y])
    display = ProjectionDisplay.from_estimator(model, X, np.array(labels)[y], resolution=10)
    assert_nothing_is_cut_off(display.figure_)
    assert len(display.samples_) == len(set(labels))
