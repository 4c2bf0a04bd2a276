"""The plane: coordinates, the inverse map, and the explained fractions."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ
from lvq.estimators.find_model import need_model
from lvq.plots.planes import _axes, plane


def test_rank_two_is_the_models_own_space(data, fitted):
    X, _ = data
    model = fitted["rank 2"]
    view = plane(model, X)
    assert_allclose(view.points, model.transform(X))
    assert_allclose(view.prototypes, model.prototypes_ @ model.omega_.T)
    assert_allclose(view.explained.sum(), 1)
    assert view.exact


def test_distances_of_rank_two_are_those_of_the_plane(data, fitted):
    X, _ = data
    model = fitted["rank 2"]
    view = plane(model, X)
    apart = ((view.points[:, None] - view.prototypes[None]) ** 2).sum(axis=2)
    assert_allclose(apart, model.model_.distances(X), atol=1e-9)


def test_matrix_takes_the_leading_eigenvectors(data, fitted):
    X, _ = data
    model = fitted["matrix"]
    view = plane(model, X)
    values, vectors = np.linalg.eigh(model.lambda_)
    for side in (0, 1):
        along = X @ vectors[:, -1 - side] * np.sqrt(values[-1 - side])
        assert_allclose(np.abs(view.points[:, side]), np.abs(along), atol=1e-9)
    whole = (X - X.mean(axis=0)) @ model.omega_.T
    assert_allclose(view.explained, view.points.var(axis=0) / whole.var(axis=0).sum())
    assert not view.exact


def test_local_matrices_take_the_eigenvectors_of_their_mean(data, fitted):
    X, _ = data
    model = fitted["local by class"]
    values, vectors = np.linalg.eigh(model.lambda_.mean(axis=0))
    along = X @ vectors[:, -1] * np.sqrt(values[-1])
    assert_allclose(np.abs(plane(model, X).points[:, 0]), np.abs(along), atol=1e-9)


def test_the_euclidean_metric_takes_principal_axes(data, fitted):
    X, _ = data
    view, known = plane(fitted["plain"], X), PCA(n_components=2).fit(X)
    assert_allclose(np.abs(view.points), np.abs(known.transform(X)), atol=1e-9)
    assert_allclose(view.explained, known.explained_variance_ratio_)


def test_relevances_weight_the_principal_axes(data, fitted):
    X, _ = data
    model = fitted["relevances"]
    known = PCA(n_components=2).fit_transform(X * np.sqrt(model.relevances_))
    assert_allclose(np.abs(plane(model, X).points), np.abs(known), atol=1e-6)


def test_points_and_inverse(data, model):
    """A point of the plane represents a sample that is drawn at that point; explained fractions sum to at most one."""
    found = need_model(model, "a test")
    view = plane(found.estimator, found.inputs(data[0]))
    assert_allclose(view.project(view.inverse(view.points)), view.points, atol=1e-7)
    assert (view.explained >= 0).all()
    assert view.explained.sum() <= 1 + 1e-9
    assert len(set(view.axis_names)) == 2


def test_other_directions_stay_at_the_mean(data, fitted):
    X, _ = data
    view = plane(fitted["plain"], X)
    assert_allclose(view.inverse(view.points.mean(axis=0)[None])[0], X.mean(axis=0))
    off = view.inverse(view.points) - X.mean(axis=0)
    assert np.linalg.matrix_rank(off) == 2


def test_pipeline(data, fitted):
    X, _ = data
    pipeline = fitted["pipeline"]
    view, inner = plane(pipeline, X), plane(pipeline[-1], pipeline[0].transform(X))
    assert_allclose(view.points, inner.points)
    assert_allclose(view.prototypes, inner.prototypes)


@pytest.mark.parametrize("kind", ["rank 1", "rank 2"])
def test_exact_planes_decide_the_prediction(data, fitted, kind):
    X, _ = data
    model = fitted[kind]
    view = plane(model, X)
    assert view.exact
    assert (model.predict(view.inverse(view.points)) == model.predict(X)).all()


def test_rank_one_has_a_second_axis_that_the_model_does_not_use(data, fitted):
    view = plane(fitted["rank 1"], data[0])
    assert view.explained[1] == 0
    assert_allclose(view.explained[0], 1)
    assert view.points[:, 1].std() > 0
    assert "not used by the model" in view.axis_names[1]


def test_two_features(data):
    X, y = data[0][:, :2], data[1]
    view = plane(GLVQ(random_state=0).fit(X, y), X)
    assert view.exact
    assert_allclose(view.inverse(view.points), X)


def test_one_feature():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1]
    view = plane(GLVQ(random_state=0).fit(X, y), X)
    assert not view.points[:, 1].any()
    assert_allclose(view.inverse(view.points), X)
    assert view.axis_names[1] == "no further axis"


def test_features_of_relevance_zero_stay_at_the_mean(data, fitted):
    X, _ = data
    model = replace(fitted["relevances"].model_, relevance=np.array([0.5, 0.0, 0.5, 0.0]))
    axes = _axes(model, X - X.mean(axis=0))
    assert not axes.up[[1, 3]].any()
    assert not axes.down[:, [1, 3]].any()
    assert axes.exact
    assert axes.measured.all()


@pytest.mark.parametrize("rows", [1, 2])
def test_few_samples(data, model, rows):
    view = plane(model, data[0][:rows])
    assert view.points.shape == (rows, 2)
    assert np.isfinite(view.points).all()
    assert np.isfinite(view.explained).all()


def test_equal_models_give_equal_planes(data):
    X, y = data
    views = [plane(GMLVQ(random_state=0).fit(X, y), X) for _ in range(2)]
    assert (views[0].points == views[1].points).all()


def test_other_models(data):
    X, y = data
    with pytest.raises(ValueError, match=r"plane needs a model of this library.*got Pipeline"):
        plane(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), X)
