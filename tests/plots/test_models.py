"""What a model has learned, as arrays, whatever it is wrapped in."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, LGMLVQ
from lvq.plots.models import estimator_name
from lvq.plots.views import (
    cell_names,
    image_side,
    parts,
    prototype_names,
    relation_matrix,
    relevance_profile,
    square_side,
)


def test_parts_do_what_the_whole_does(data, model):
    X, _ = data
    transformer, inner = parts(model)
    assert (inner.predict(X if transformer is None else transformer.transform(X)) == model.predict(X)).all()


def test_parts_of_wrappers(data):
    X, y = data
    search = GridSearchCV(make_pipeline(StandardScaler(), GLVQ(random_state=0)), {"glvq__n_prototypes": [1]}, cv=2)
    assert type(parts(search.fit(X, y))[1]).__name__ == "GLVQ"
    assert parts(FrozenEstimator(GLVQ().fit(X, y)))[0] is None


def test_not_fitted():
    with pytest.raises(NotFittedError, match="GLVQ"):
        relevance_profile(GLVQ())


def test_relevances_sum_to_one(model):
    profile = relevance_profile(model)
    assert_allclose(profile.sum(axis=-1), 1)
    assert (profile >= 0).all()


def test_relevances_are_the_diagonal(model):
    matrix = relation_matrix(model)
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    assert_allclose(relevance_profile(model), diagonal / diagonal.sum(axis=-1, keepdims=True))


def test_the_matrix_measures_as_the_model_does(data, kind, fitted):
    X, _ = data
    transformer, inner = parts(fitted[kind])
    Z = X if transformer is None else transformer.transform(X)
    matrices = relation_matrix(inner)
    if matrices.ndim == 2:
        matrices = np.array([matrices] * len(inner.prototypes_))
    elif len(matrices) < len(inner.prototypes_):
        matrices = matrices[inner._labels]
    for j, w in enumerate(inner.prototypes_):
        assert_allclose(np.einsum("ik,kl,il->i", Z - w, matrices[j], Z - w), inner._distances(Z)[:, j], atol=1e-8)


def test_cells(data, fitted):
    X, y = data
    assert cell_names(fitted["matrix"]).tolist() == [""]
    assert cell_names(fitted["local by class"]).tolist() == ["0", "1", "2"]
    assert cell_names(fitted["local by prototype"]).tolist()[:3] == ["0, 1 of 2", "0, 2 of 2", "1, 1 of 2"]
    single = LGMLVQ(local="prototype", random_state=0).fit(X, np.array(["a", "b", "c"])[y])
    assert cell_names(single).tolist() == ["a", "b", "c"]


def test_names_of_prototypes(fitted):
    assert prototype_names(fitted["matrix"]).tolist() == ["0", "1", "2"]
    assert prototype_names(fitted["plain"], ["x", "y", "z"]).tolist()[-1] == "z, 2 of 2"


def test_squares():
    assert [square_side(count) for count in (1, 4, 36, 63, 64, 65, 256, 784, 1000)] == [
        None, None, None, None, 8, None, 16, 28, None,
    ]  # fmt: skip


def test_squares_with_names():
    assert image_side([f"pixel_{row}_{column}" for row in range(8) for column in range(8)]) == 8
    assert image_side([f"feature {k}" for k in range(784)]) == 28
    assert image_side(["age", "height"] + [f"v{k}" for k in range(62)]) is None
    assert image_side([f"v{k}" for k in range(30)]) is None
    assert image_side([str(k) for k in range(256)]) == 16
    assert image_side([f"r{row}c{column}" for row in range(8) for column in range(8)]) == 8
    assert image_side([f"abs_{k:03}" for k in range(100)]) is None  # a spectrum


def test_names_of_estimators(fitted):
    assert estimator_name(fitted["pipeline"]) == "GMLVQ"
    assert estimator_name(fitted["pipeline around reject"]) == "RejectClassifier"
