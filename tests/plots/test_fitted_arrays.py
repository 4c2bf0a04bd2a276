"""What a model has learned, as arrays, alone or wrapped."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, LGMLVQ
from lvq.estimators.find_model import need_model
from lvq.model.relevance import Matrix
from lvq.plots import group_names, lambda_matrix, plane, prototype_names, relevance_profile
from lvq.plots.fitted_arrays import completed, estimator_name, model_inputs
from lvq.solvers.lbfgs import LBFGS


def test_inputs_of_the_model_give_its_predictions(data, model):
    X, _ = data
    found = need_model(model, "a test")
    assert (found.model.predict(model_inputs(found, X)) == model.predict(X)).all()


def test_not_fitted():
    with pytest.raises(NotFittedError, match="GLVQ"):
        relevance_profile(GLVQ())


def test_relevances_are_the_diagonal_of_lambda(model):
    diagonal = np.diagonal(lambda_matrix(model, per_matrix=True), axis1=1, axis2=2)
    profile = relevance_profile(model, per_matrix=True)
    assert_allclose(profile, diagonal / diagonal.sum(axis=1, keepdims=True))
    assert_allclose(profile.sum(axis=1), 1)


def test_the_default_is_the_mean_over_the_prototypes(data):
    X, y = data
    model = LGMLVQ(n_prototypes={0: 3, 1: 1, 2: 1}, random_state=0, solver=LBFGS(tol=0.5)).fit(X, y)
    assert_allclose(
        relevance_profile(model, values="lambda"), np.array([3, 1, 1]) / 5 @ relevance_profile(model, per_matrix=True)
    )
    assert_allclose(lambda_matrix(model), np.tensordot([0.6, 0.2, 0.2], model.lambda_, axes=1))


def test_the_most_relevant_feature_of_the_default_model(fitted):
    """The default model has local matrices; its profile still has one value for each feature."""
    model = fitted["default"]
    assert len(group_names(model)) > 1
    profile = relevance_profile(model)
    assert profile.shape == (4,)
    assert 0 <= profile.argmax() < 3  # the last feature is noise


def test_lambda_measures_the_distances_of_the_model(data, model):
    found = need_model(model, "a test")
    Z, inner = model_inputs(found, data[0]), found.model
    matrices = lambda_matrix(model, per_matrix=True)[inner.group]
    differences = Z[:, None] - inner.prototypes[None]
    expected = np.einsum("ijk,jkl,ijl->ij", differences, matrices, differences)
    assert_allclose(expected, inner.distances(Z), atol=1e-8)


def test_names_of_local_matrices(data, fitted):
    X, y = data
    assert group_names(fitted["matrix"]).tolist() == [""]
    assert group_names(fitted["local by class"]).tolist() == ["0", "1", "2"]
    assert group_names(fitted["local by prototype"]).tolist()[:3] == ["0, 1 of 2", "0, 2 of 2", "1, 1 of 2"]
    single = LGMLVQ(relevance=Matrix(local="prototype"), random_state=0).fit(X, np.array(["a", "b", "c"])[y])
    assert group_names(single).tolist() == ["a", "b", "c"]


def test_names_of_prototypes(fitted):
    assert prototype_names(fitted["matrix"]).tolist() == ["0", "1", "2"]
    assert prototype_names(fitted["plain"], ["x", "y", "z"]).tolist()[-1] == "z, 2 of 2"


def test_names_of_estimators(data, fitted):
    assert estimator_name(fitted["pipeline"]) == "GMLVQ"
    assert estimator_name(fitted["pipeline around reject"]) == "RejectClassifier"
    search = GridSearchCV(make_pipeline(StandardScaler(), GLVQ(random_state=0)), {"glvq__n_prototypes": [1]}, cv=2)
    assert estimator_name(search.fit(*data)) == "GLVQ"


def test_a_missing_value_is_that_of_the_nearest_prototype():
    X = np.array([[0.0, 0.0], [0.0, 2.0], [6.0, 5.0], [6.0, 7.0]])
    model = GLVQ(missing="ignore", random_state=0).fit(X, [0, 0, 1, 1])
    Z = completed(model.model_, np.array([[1.0, np.nan], [np.nan, 6.0], [5.0, 4.0]]))
    np.testing.assert_array_equal(Z[0], [1.0, model.prototypes_[0, 1]])
    np.testing.assert_array_equal(Z[1], [model.prototypes_[1, 0], 6.0])
    np.testing.assert_array_equal(Z[2], [5.0, 4.0])
    np.testing.assert_allclose(plane(model, [[1.0, np.nan]]).points, plane(model, Z[:1]).points)
