"""Regions are the predictions, certainties and rejections of the model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from lvq import GLVQ, RejectClassifier
from lvq.estimators.find_model import need_model
from lvq.plots import plane, regions
from lvq.plots.region_predictions import predict_points
from lvq.rejection import Combination, certainty

RESOLUTION = 12


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


def test_the_grid_covers_other_samples(data, fitted):
    X, _ = data
    view = plane(fitted["pipeline"], X)
    far = regions(fitted["pipeline"], view, RESOLUTION, X=X * 10)
    assert far.xx.max() > regions(fitted["pipeline"], view, RESOLUTION).xx.max()


def test_predictions_of_samples(data, fitted):
    X, _ = data
    predictions = predict_points(fitted["plain"], X)
    assert (predictions.classes == fitted["plain"].predict(X)).all()
    assert predictions.accepted is None


def own_measure(estimator, X):
    """A measure of the samples as the pipeline takes them."""
    return -np.abs(np.asarray(X)[:, 0] - 5)


@pytest.mark.parametrize("measure", ["auto", "boundary", "radius", "margin", "combined", Combination(own_measure)])
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


def test_more_points_than_one_block(data, fitted):
    view = plane(fitted["plain"], data[0])
    grid = regions(fitted["plain"], view, 70)  # 4,900 points
    assert (grid.classes.ravel() == fitted["plain"].predict(grid_points(view, grid))).all()


def test_resolution(data, fitted):
    with pytest.raises(ValueError, match="resolution of regions must be 2 or more, got 1"):
        regions(fitted["plain"], plane(fitted["plain"], data[0]), 1)
