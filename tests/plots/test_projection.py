"""The map shows what the model predicts, and states what it cannot show."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lvq import GLVQ
from lvq.plots import ProjectionDisplay, plane, regions
from lvq.plots.region_predictions import predict_points
from lvq.plots.style import class_colours

plt = pytest.importorskip("matplotlib.pyplot")


def drawn(model, X, y=None, **keywords):
    return ProjectionDisplay.from_estimator(model, X, y, **{"resolution": 20} | keywords)


@pytest.mark.parametrize("kind", ["local by class", "reject around a pipeline"])
def test_samples_and_prototypes(data, fitted, kind):
    (X, y), model = data, fitted[kind]
    display, view = drawn(model, X, y), plane(model, X)
    for label in range(3):
        hollow = [points.get_offsets() for points in display.rejected_samples_]
        shown = np.vstack([display.samples_[label].get_offsets(), *hollow])
        assert all((np.abs(shown - point).sum(axis=1) < 1e-9).any() for point in view.points[y == label])
        assert_allclose(display.prototypes_[label].get_offsets(), view.prototypes[display.prototype_classes == label])
    total = sum(len(points.get_offsets()) for points in display.samples_ + display.rejected_samples_)
    assert total == len(X)


def test_regions_have_the_colours_of_the_predictions(data, fitted):
    X, y = data
    model = fitted["matrix"]
    display, grid = drawn(model, X, y), regions(model, plane(model, X), 20)
    image = display.regions_.get_array()
    from matplotlib.colors import to_rgb

    colours = np.array([to_rgb(colour) for colour in class_colours(3)])
    assert_allclose(image[..., :3], colours[grid.classes])
    assert image[..., 3].ravel()[grid.certainty.argmin()] == image[..., 3].min()
    left, right, bottom, top = display.regions_.get_extent()
    assert left < grid.xx.min() < grid.xx.max() < right
    assert bottom < grid.yy.min() < grid.yy.max() < top
    assert len(display.borders_) == 3


def test_borders_lie_between_the_classes(data, fitted):
    """On the lines that are drawn, the margin between the two nearest classes is small."""
    for kind in ("matrix", "local by class", "posterior"):
        model = fitted[kind]
        display = drawn(model, *data, resolution=60)
        paths = [path for border in display.borders_ for path in border.get_paths()]
        line = max(paths, key=lambda path: len(path.vertices))
        assert len(line.vertices) > 20
        margin = predict_points(model, display.plane.inverse(line.vertices)).margin
        assert np.median(margin) < 0.1 * np.median(display.regions.margin)


def test_errors_have_rings(data, fitted):
    X, y = data
    display = drawn(fitted["plain"], X, y)
    wrong = fitted["plain"].predict(X) != y
    assert wrong.any()
    assert_allclose(display.errors_.get_offsets(), plane(fitted["plain"], X).points[wrong])


def test_without_classes_the_predictions_are_drawn(data, fitted):
    X, _ = data
    display = drawn(fitted["plain"], X)
    assert (display.sample_classes == fitted["plain"].predict(X)).all()
    assert display.errors_ is None


def test_rejected_samples_are_hollow_and_the_area_of_rejection_hatched(data, fitted):
    X, y = data
    model = fitted["reject around a model"]
    display = drawn(model, X, y)
    assert (display.sample_accepted == model.accept(X)).all()
    assert sum(len(points.get_offsets()) for points in display.rejected_samples_) == (~model.accept(X)).sum() > 0
    assert all(len(points.get_facecolors()) == 0 for points in display.rejected_samples_)
    assert (display.regions.accepted == regions(model, plane(model, X), 20).accepted).all()
    assert display.rejected_area_ is not None
    labels = [text.get_text() for text in display.legend_.get_texts()]
    assert {"rejected sample", "area of rejection", "error", "prototype"} <= set(labels)


def test_the_title_states_the_agreement_of_a_slice(data, fitted):
    X, y = data
    view = plane(fitted["matrix"], X)
    display = drawn(fitted["matrix"], X, y)
    agreement = np.mean(fitted["matrix"].predict(view.inverse(view.points)) == fitted["matrix"].predict(X))
    assert display.agreement == agreement
    assert "of the samples lie in the region of their predicted class" in display.ax_.get_title()
    exact = drawn(fitted["rank 2"], X, y)
    assert exact.agreement == 1
    assert exact.ax_.get_title() == ""


def test_axis_labels(data, fitted):
    display = drawn(fitted["matrix"], *data)
    assert display.ax_.get_xlabel().startswith("Eigenvector 1 of Lambda (")
    assert display.ax_.get_ylabel().endswith(" of squared distances)")


def test_parts_can_be_omitted(data, fitted):
    display = drawn(fitted["matrix"], *data, plot_regions=False, plot_samples=False, legend=False)
    assert display.regions_ is None
    assert display.samples_ == []
    assert display.legend_ is None
    assert len(display.prototypes_) == 3


def test_scatter_kwargs(data, fitted):
    display = drawn(fitted["matrix"], *data, scatter_kwargs={"s": 3, "ec": "red"})
    assert display.samples_[0].get_sizes().tolist() == [3]
    assert_allclose(display.samples_[0].get_edgecolors()[0, :3], (1, 0, 0))


def test_names_of_classes(data, fitted):
    display = drawn(fitted["matrix"], *data, class_names=["a", "b", "c"])
    assert [text.get_text() for text in display.legend_.get_texts()][:3] == ["a", "b", "c"]
    with pytest.raises(ValueError, match="class_names of ProjectionDisplay must have one name for each of the 3"):
        drawn(fitted["matrix"], *data, class_names=["a"])


def test_unknown_classes(data, fitted):
    X, y = data
    with pytest.raises(ValueError, match=r"y of ProjectionDisplay contains \[5\], not among the model's classes"):
        drawn(fitted["matrix"], X, np.where(y == 0, 5, y))


def test_inconsistent_lengths(data, fitted):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        drawn(fitted["matrix"], data[0], data[1][:-1])


def test_tables(data):
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(data[0], columns=list("abcd")), pandas.Series(data[1])
    display = drawn(GLVQ(random_state=0).fit(X, y), X, y)
    assert display.plane.points.shape == (150, 2)


def test_one_region(fitted):
    """A map of samples around one prototype may have a single class."""
    model = fitted["plain"]
    near = model.prototypes_[:1] + 1e-3 * np.random.default_rng(0).normal(size=(5, 4))
    view = plane(model, near)
    grid = regions(model, view, 5)._replace(classes=np.zeros((5, 5), dtype=int))
    display = ProjectionDisplay(
        plane=view, classes=[0, 1, 2], sample_classes=np.zeros(5), prototype_classes=model.model_.labels, regions=grid
    ).plot()
    assert display.borders_ == []
