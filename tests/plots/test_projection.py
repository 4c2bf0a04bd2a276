"""The map: the plane, the model's predictions on it, and how both are drawn."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from lvq import GLVQ, GMLVQ, RejectClassifier
from lvq.estimators.find_model import need_model
from lvq.plots import ProjectionDisplay, lambda_matrix, plane, regions
from lvq.plots.arrays import model_inputs
from lvq.plots.projection import _axes, class_indices, judged_points
from lvq.plots.style import class_colours
from lvq.rejection import certainty

RESOLUTION = 12

# -- the plane ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "relevances", "matrix", "rank 2"])
def test_axes_are_the_principal_axes_in_the_metric_of_the_model(data, fitted, kind):
    X, _ = data
    model = fitted[kind]
    inputs = X if kind == "plain" else X * np.sqrt(model.relevances_) if kind == "relevances" else model.transform(X)
    known, view = PCA(n_components=2).fit(inputs), plane(model, X)
    assert_allclose(np.abs(view.points), np.abs(known.transform(inputs)), atol=1e-6)
    assert_allclose(view.explained, known.explained_variance_ratio_)
    assert view.exact == (kind == "rank 2")
    assert view.axis_names[0] == ("principal axis 1" if kind == "plain" else "learned axis 1")


def test_the_mean_of_local_metrics_is_that_of_lambda(data, fitted):
    X, _ = data
    model = fitted["local by class"]
    view = plane(model, X)
    between, along = X[0] - X[1:], view.points[0] - view.points[1:]
    squares = np.einsum("ij,jk,ik->i", between, lambda_matrix(model), between)
    assert ((along**2).sum(axis=1) <= squares + 1e-9).all()  # a projection
    assert not view.exact


def assert_drawn_where_they_are(model, Z, view):
    """The samples that points represent are drawn at these points."""
    down, *_ = _axes(model, Z - Z.mean(axis=0))
    assert_allclose((view.inverse(view.points) - Z.mean(axis=0)) @ down.T, view.points, atol=1e-7)


def test_points_and_inverse(data, model):
    """A point of the plane represents a sample that is drawn at that point; explained fractions sum to at most one."""
    found = need_model(model, "a test")
    view = plane(found.estimator, found.inputs(data[0]))
    assert_drawn_where_they_are(found.model, model_inputs(found, data[0]), view)
    assert (view.explained >= 0).all()
    assert view.explained.sum() <= 1 + 1e-9
    assert len(set(view.axis_names)) == 2


def test_rank_one_has_a_second_axis_that_the_model_does_not_use(data, fitted):
    view = plane(fitted["rank 1"], data[0])
    assert view.explained[1] == 0
    assert_allclose(view.explained[0], 1)
    assert view.points[:, 1].std() > 0
    assert "not used by the model" in view.axis_names[1]


@pytest.mark.parametrize("seed", range(4))
def test_directions_in_which_samples_do_not_vary_are_no_axes(seed):
    """The columns of a one-hot encoding have a constant sum; its differences are rounding errors."""
    rng, y = np.random.default_rng(seed), np.arange(90) % 2
    X = np.column_stack([rng.normal(size=(90, 2)) + 5 * y[:, None], np.eye(3)[rng.integers(3, size=90)]])
    model = GMLVQ(random_state=0).fit(X, y)
    view = plane(model, X)
    assert (np.ptp(view.points, axis=0) > 1e-6 * np.ptp(view.points)).all()
    assert_drawn_where_they_are(model.model_, X, view)


def test_one_feature():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1]
    view = plane(GLVQ(random_state=0).fit(X, y), X)
    assert not view.points[:, 1].any()
    assert_allclose(view.inverse(view.points), X)
    assert view.axis_names[1] == "no further axis"


def test_features_of_relevance_zero_stay_at_the_mean(data, fitted):
    X, _ = data
    model = replace(fitted["relevances"].model_, relevance=np.array([0.5, 0.0, 0.5, 0.0]))
    down, up, explained, _ = _axes(model, X - X.mean(axis=0))
    assert not up[[1, 3]].any()
    assert not down[:, [1, 3]].any()
    assert_allclose(explained.sum(), 1)


@pytest.mark.parametrize("rows", [1, 2])
def test_few_samples(data, model, rows):
    view = plane(model, data[0][:rows])
    assert view.points.shape == (rows, 2)
    assert np.isfinite(view.points).all()
    assert np.isfinite(view.explained).all()


# -- predictions on the plane ------------------------------------------------------------------------------------------


def grid_points(view, grid):
    return view.inverse(np.column_stack((grid.xx.ravel(), grid.yy.ravel())))


def test_regions_are_the_predictions_of_the_model(data, model):
    X, _ = data
    inner, view = need_model(model, "a test").estimator, plane(model, X)
    grid = regions(model, view, RESOLUTION)
    assert grid.xx.shape == grid.yy.shape == grid.classes.shape == grid.certainty.shape == (RESOLUTION, RESOLUTION)
    assert (inner.classes_[grid.classes.ravel()] == inner.predict(grid_points(view, grid))).all()
    assert_allclose(grid.certainty.ravel(), certainty(inner, grid_points(view, grid)))
    for shown in (view.points, view.prototypes):
        assert (shown.min(axis=0) > [grid.xx.min(), grid.yy.min()]).all()
        assert (shown.max(axis=0) < [grid.xx.max(), grid.yy.max()]).all()


def own_measure(estimator, X):
    """A measure of the samples as the pipeline takes them."""
    return -np.abs(np.asarray(X)[:, 0] - 5)


@pytest.mark.parametrize("measure", ["auto", "radius", "margin", "combined", own_measure])
def test_area_of_rejection(data, measure):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), GLVQ(random_state=0))
    reject = RejectClassifier(pipeline, measure=measure, min_coverage=0.7).fit(X, y)
    view = plane(reject, X)
    grid = regions(reject, view, RESOLUTION)
    original = reject.estimator_[0].inverse_transform(grid_points(view, grid))
    assert_allclose(grid.certainty.ravel(), reject.certainty(original), atol=1e-9)
    assert (grid.accepted.ravel() == reject.accept(original)).all()


def test_removed_features(data):
    pipeline = make_pipeline(StandardScaler(), SelectKBest(k=3), GLVQ(random_state=0))
    reject = RejectClassifier(pipeline, measure="radius").fit(*data)
    view = plane(reject, data[0])
    assert np.isfinite(regions(reject, view, RESOLUTION).certainty).all()


def test_a_measure_of_samples_before_a_step_without_inverse(data):
    pipeline = make_pipeline(PolynomialFeatures(include_bias=False), GLVQ(random_state=0))
    reject = RejectClassifier(pipeline, measure=own_measure).fit(*data)
    with pytest.raises(ValueError, match="cannot invert PolynomialFeatures"):
        regions(reject, plane(reject, data[0]), RESOLUTION)


def test_tables_with_names(data):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(data[0], columns=list("abcd"))
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).set_output(transform="pandas").fit(X, data[1])
    view = plane(model, X)
    assert len(np.unique(regions(model, view, RESOLUTION).classes)) > 1
    assert drawn(model, X, pandas.Series(data[1])).plane.points.shape == (150, 2)


# -- the display -------------------------------------------------------------------------------------------------------


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
    """A step of the grid away from the lines there is more than one class."""
    for kind in ("matrix", "local by class", "posterior"):
        display = drawn(fitted[kind], *data, resolution=60)
        grid = display.regions
        line = np.vstack([path.vertices for border in display.borders_ for path in border.get_paths()])
        assert len(line) > 20
        step = [grid.xx[0, 1] - grid.xx[0, 0], grid.yy[1, 0] - grid.yy[0, 0]]
        beside = [line + np.array(side) * step for side in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        found = [judged_points(fitted[kind], display.plane.inverse(points)) for points in beside]
        classes = [class_indices(each.predictions) for each in found]
        assert (np.ptp(classes, axis=0) > 0).mean() > 0.95


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
    assert "of the samples fall in the region of their predicted class" in display.ax_.get_title()
    assert display.ax_.get_xlabel().startswith("Learned axis 1 (")
    assert display.ax_.get_ylabel().endswith(" of squared distances)")
    exact = drawn(fitted["rank 2"], X, y)
    assert exact.agreement == 1
    assert exact.ax_.get_title() == ""


def test_unknown_classes(data, fitted):
    X, y = data
    with pytest.raises(ValueError, match=r"y of ProjectionDisplay contains \[5\], not among the model's classes"):
        drawn(fitted["matrix"], X, np.where(y == 0, 5, y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        drawn(fitted["matrix"], X, y[:-1])
