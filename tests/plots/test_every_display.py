"""Every display of every kind of model, on given axes and on its own; nothing is cut off or hidden."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GRLVQ, LGMLVQ
from lvq.plots import (
    AccuracyRejectDisplay,
    CertifiedAccuracyDisplay,
    LambdaDisplay,
    LossCurveDisplay,
    ProjectionDisplay,
    PrototypeDisplay,
    RelevanceDisplay,
)

plt = pytest.importorskip("matplotlib.pyplot")

WAYS = {
    "reject": AccuracyRejectDisplay.from_estimator,
    "certified": CertifiedAccuracyDisplay.from_estimator,
    "lambda": lambda model, X, y, **kw: LambdaDisplay.from_estimator(model, **kw),
    "loss": lambda model, X, y, **kw: LossCurveDisplay.from_estimator(model, **kw),
    "projection": lambda model, X, y, **kw: ProjectionDisplay.from_estimator(model, X, y, resolution=30, **kw),
    "prototypes": lambda model, X, y, **kw: PrototypeDisplay.from_estimator(model, **kw),
    "relevance": lambda model, X, y, **kw: RelevanceDisplay.from_estimator(model, **kw),
}


@pytest.fixture(params=WAYS)
def make(request):
    return WAYS[request.param]


def texts_of(figure):
    """Everything written in a figure, legends included."""
    from matplotlib.text import Text

    hidden = [label for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for label in outside(axis)]
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [text for text in texts if text not in hidden]


def outside(axis):
    """Labels that matplotlib keeps beyond the ends of an axis, and does not draw."""
    low, high = np.sort(axis.get_view_interval())
    room = 1e-9 * (high - low)
    return [tick.label1 for tick in axis.get_major_ticks() if not low - room <= tick.get_loc() <= high + room] + [
        tick.label2 for tick in axis.get_major_ticks() if not low - room <= tick.get_loc() <= high + room
    ]


def assert_nothing_is_cut(figure):
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    page = figure.bbox
    for text in texts_of(figure):
        box = text.get_window_extent(renderer)
        inside = box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1 and box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1
        assert inside, (text.get_text(), box, page)


def assert_ticks_do_not_overlap(axis):
    """Boxes of neighbouring labels are apart; those of turned ones are compared by their distance along the axis."""
    figure = axis.get_figure()
    figure.canvas.draw()
    labels = [label for label in axis.get_ticklabels() if label.get_text() and label not in outside(axis)]
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


def test_every_kind_of_model(data, kind, model, make):
    if make is WAYS["certified"] and kind == "posterior":
        with pytest.raises(ValueError, match="answers by the nearest prototype"):
            make(model, *data)
        return
    display = make(model, *data)
    assert display.figure_ is display.ax_.figure
    assert_nothing_is_cut(display.figure_)


def test_given_axes(data, fitted, make):
    """Nothing is drawn elsewhere, and plotting again works."""
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
    if make is WAYS["reject"]:
        assert make(other, *data).coverage[0] == 1  # any classifier has a curve
        return
    with pytest.raises(ValueError, match=r"needs.* models? of this library.*got LogisticRegression"):
        make(other, *data)


def test_not_fitted(data, make):
    from sklearn.exceptions import NotFittedError

    for model in (GLVQ(), make_pipeline(StandardScaler(), GLVQ())):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            make(model, *data)


def test_axes_that_are_none(data, fitted, make):
    _, both = plt.subplots(1, 2)
    with pytest.raises(TypeError, match=r"ax of \w+Display.plot must be one matplotlib Axes, got ndarray"):
        make(fitted["matrix"], *data, ax=both)


@pytest.mark.parametrize("way", ["prototypes", "lambda", "relevance"])
def test_names_fit_small_axes(way):
    """Thirty features in one of eight pictures."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 30)) + y[:, None]
    model = GRLVQ(random_state=0, max_iter=3, solver="online").fit(X, y)
    _, grid = plt.subplots(2, 4, figsize=(16, 8))
    display = WAYS[way](model, X, y, feature_names=[f"measurement {k}" for k in range(30)], ax=grid[0, 0])
    assert_ticks_do_not_overlap(display.ax_.yaxis)


@pytest.fixture(scope="module")
def wide():
    """Thirty classes with long names, a hundred features with longer ones."""
    rng = np.random.default_rng(0)
    names = np.array([f"class number {k} of the thirty classes" for k in range(30)])
    y = np.arange(300) % 30
    X = rng.normal(size=(300, 100)) + 3 * rng.normal(size=(30, 100))[y]
    model = GRLVQ(random_state=0, max_iter=5, solver="online").fit(X, names[y])
    features = [f"a very long name that nobody would want to read in full, feature {k}" for k in range(100)]
    return model, X, names[y], features


@pytest.mark.parametrize("way", ["projection", "prototypes", "relevance", "lambda", "reject"])
def test_many_classes_and_long_names(wide, way):
    model, X, y, features = wide
    named = {"feature_names": features} if way in ("prototypes", "relevance", "lambda") else {}
    display = WAYS[way](model, X, y, **named)
    assert_nothing_is_cut(display.figure_)
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        assert_ticks_do_not_overlap(axis)


@pytest.mark.parametrize("way", ["projection", "prototypes", "relevance", "lambda"])
def test_a_thousand_features(way):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 1000)) + y[:, None]
    model = GRLVQ(random_state=0, max_iter=3, solver="online").fit(X, y)
    display = WAYS[way](model, X, y)
    assert_nothing_is_cut(display.figure_)
    assert max(display.figure_.get_size_inches()) < 20
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        assert_ticks_do_not_overlap(axis)


def test_legends_stand_beside_the_data(data):
    model = LGMLVQ(n_prototypes=3, local="prototype", random_state=0, max_iter=3, solver="online").fit(*data)
    for way in ("projection", "relevance"):
        display = WAYS[way](model, *data)
        display.figure_.canvas.draw()
        renderer = display.figure_.canvas.get_renderer()
        assert display.legend_.get_window_extent(renderer).x0 >= display.ax_.get_window_extent(renderer).x1


@pytest.mark.parametrize("labels", [["<b>", "_x$", "x$_1^2$"], [True, False, True], [3.0, 1.0, 2.0]])
def test_labels_of_any_kind(data, labels):
    X, y = data
    model = GLVQ(random_state=0).fit(X, np.array(labels)[y])
    display = ProjectionDisplay.from_estimator(model, X, np.array(labels)[y], resolution=10)
    assert_nothing_is_cut(display.figure_)
    assert len(display.samples_) == len(set(labels))
