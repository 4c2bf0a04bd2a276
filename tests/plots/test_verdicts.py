"""Regions are the model's own answers, its own certainty, its own rejections."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from lvq import GLVQ, RejectClassifier
from lvq.plots.views import parts, plane, regions, verdicts
from lvq.rejection import Combination, certainty

RESOLUTION = 12


def grid_points(view, grid):
    return view.back(np.column_stack((grid.xx.ravel(), grid.yy.ravel())))


def test_regions_are_the_models_answers(data, model):
    X, _ = data
    inner, view = parts(model)[1], plane(model, X)
    grid = regions(model, view, RESOLUTION)
    assert grid.xx.shape == grid.yy.shape == grid.classes.shape == grid.certainty.shape == (RESOLUTION, RESOLUTION)
    assert (inner.classes_[grid.classes.ravel()] == inner.predict(grid_points(view, grid))).all()
    assert_allclose(grid.certainty.ravel(), certainty(inner, grid_points(view, grid)))


def test_the_grid_covers_samples_and_prototypes(data, model):
    view = plane(model, data[0])
    grid = regions(model, view, RESOLUTION)
    for shown in (view.points, view.prototypes):
        assert (shown.min(axis=0) > [grid.xx.min(), grid.yy.min()]).all()
        assert (shown.max(axis=0) < [grid.xx.max(), grid.yy.max()]).all()


def test_the_grid_covers_other_samples(data, fitted):
    X, _ = data
    view = plane(fitted["pipeline"], X)
    far = regions(fitted["pipeline"], view, RESOLUTION, X=X * 10)
    assert far.xx.max() > regions(fitted["pipeline"], view, RESOLUTION).xx.max()


def test_samples_get_their_own_answers(data, fitted):
    X, _ = data
    judged = verdicts(fitted["plain"], X)
    assert (judged.classes == fitted["plain"].predict(X)).all()
    assert judged.accepted is None


def own_measure(estimator, X):
    """A measure that wants samples as the pipeline takes them."""
    return -np.abs(np.asarray(X)[:, 0] - 5)


@pytest.mark.parametrize(
    "measure", ["auto", "boundary", "distance", "radius", "margin", "combined", Combination(own_measure), own_measure]
)
def test_rejected_areas_are_those_of_the_classifier(data, measure):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), GLVQ(random_state=0))
    wary = RejectClassifier(pipeline, measure=measure, min_coverage=0.7).fit(X, y)
    view = plane(wary, X)
    grid = regions(wary, view, RESOLUTION)
    original = wary.estimator_[0].inverse_transform(grid_points(view, grid))
    assert_allclose(grid.certainty.ravel(), wary.certainty(original), atol=1e-9)
    assert (grid.accepted.ravel() == wary.accept(original)).all()


def test_rejection_for_each_class(data):
    X, y = data
    wary = RejectClassifier(GLVQ(random_state=0), max_error=0.4, per_class=True, on_failure="reject").fit(X, y)
    view = plane(wary, X)
    grid = regions(wary, view, RESOLUTION)
    assert (grid.accepted.ravel() == wary.accept(grid_points(view, grid))).all()


def test_nothing_is_rejected_by_a_model_that_always_answers(data, fitted):
    view = plane(fitted["matrix"], data[0])
    assert regions(fitted["matrix"], view, 5).accepted is None


def test_features_that_are_left_out_do_no_harm(data):
    pipeline = make_pipeline(StandardScaler(), SelectKBest(k=3), GLVQ(random_state=0))
    wary = RejectClassifier(pipeline, measure="radius").fit(*data)
    view = plane(wary, data[0])
    assert np.isfinite(regions(wary, view, RESOLUTION).certainty).all()


def test_a_measure_that_needs_what_cannot_be_undone(data):
    pipeline = make_pipeline(PolynomialFeatures(include_bias=False), GLVQ(random_state=0))
    wary = RejectClassifier(pipeline, measure=own_measure).fit(*data)
    with pytest.raises(ValueError, match="cannot undo PolynomialFeatures"):
        regions(wary, plane(wary, data[0]), RESOLUTION)


def test_names_are_no_trouble(data):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(data[0], columns=list("abcd"))
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).set_output(transform="pandas").fit(X, data[1])
    view = plane(model, X)
    assert len(np.unique(regions(model, view, RESOLUTION).classes)) > 1


def test_more_points_than_fit_at_once(data, fitted):
    view = plane(fitted["plain"], data[0])
    grid = regions(fitted["plain"], view, 70)  # 4,900 points
    assert (grid.classes.ravel() == fitted["plain"].predict(grid_points(view, grid))).all()


def test_resolution(data, fitted):
    with pytest.raises(ValueError, match="resolution of regions must be 2 or more, got 1"):
        regions(fitted["plain"], plane(fitted["plain"], data[0]), 1)
