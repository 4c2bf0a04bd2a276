"""What a model has learned, as arrays, alone or wrapped; prototypes in the units of X; pixels and ordered features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)

from lvq import GLVQ, LGMLVQ, RejectClassifier
from lvq.estimators.find_model import need_model
from lvq.plots import (
    feature_names,
    lambda_matrix,
    plane,
    prototypes_in_units,
    relevance_profile,
)
from lvq.plots.arrays import model_inputs, ordered_axis, pixel_places
from lvq.solvers.lbfgs import LBFGS

SCALERS = [PowerTransformer(), FunctionTransformer(np.arcsinh, inverse_func=np.sinh), "passthrough", PCA()]


def test_inputs_of_the_model_give_its_predictions(data, model):
    X, _ = data
    found = need_model(model, "a test")
    assert (found.model.predict(model_inputs(found, X)) == model.predict(X)).all()


def test_the_default_is_the_mean_over_the_prototypes(data):
    X, y = data
    model = LGMLVQ(n_prototypes={0: 3, 1: 1, 2: 1}, random_state=0, solver=LBFGS(tol=0.5)).fit(X, y)
    rows = np.diagonal(model.lambda_, axis1=1, axis2=2)
    rows = rows / rows.sum(axis=1, keepdims=True)
    assert_allclose(relevance_profile(model, values="lambda"), np.array([3, 1, 1]) / 5 @ rows)
    assert_allclose(lambda_matrix(model), np.tensordot([0.6, 0.2, 0.2], model.lambda_, axes=1))


@pytest.mark.parametrize("kind", ["plain", "kernel", "relevances", "matrix", "rank 1", "pipeline"])
def test_lambda_measures_the_distances_of_the_model(data, fitted, kind):
    model = fitted[kind]
    found, matrix = need_model(model, "a test"), lambda_matrix(model)
    Z, inner = model_inputs(found, data[0]), found.model
    differences = Z[:, None] - inner.prototypes[None]
    assert_allclose(np.einsum("ijk,kl,ijl->ij", differences, matrix, differences), inner.distances(Z), atol=1e-8)
    assert_allclose(relevance_profile(model, values="lambda"), np.diag(matrix) / np.trace(matrix))


def test_a_missing_value_is_that_of_the_nearest_prototype():
    X = np.array([[0.0, 0.0], [0.0, 2.0], [6.0, 5.0], [6.0, 7.0]])
    model = GLVQ(missing="ignore", random_state=0).fit(X, [0, 0, 1, 1])
    Z = model_inputs(need_model(model, "a test"), [[1.0, np.nan], [np.nan, 6.0], [5.0, 4.0]])
    np.testing.assert_array_equal(Z[0], [1.0, model.prototypes_[0, 1]])
    np.testing.assert_array_equal(Z[1], [model.prototypes_[1, 0], 6.0])
    np.testing.assert_array_equal(Z[2], [5.0, 4.0])
    np.testing.assert_allclose(plane(model, [[1.0, np.nan]]).points, plane(model, Z[:1]).points)


# -- the units of X ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaler", SCALERS, ids=lambda step: type(step).__name__)
def test_inverted(data, scaler):
    X, y = data
    model = make_pipeline(scaler, GLVQ(random_state=0)).fit(X, y)
    values = prototypes_in_units(model)
    assert_allclose(model[:-1].transform(values), model[-1].prototypes_, atol=1e-6)
    assert_allclose(prototypes_in_units(RejectClassifier(model, cv="prefit").fit(X, y)), values)


def test_removed_features_are_nan(data):
    X, y = data
    model = make_pipeline(StandardScaler(), SelectKBest(k=2), GLVQ(random_state=0)).fit(X, y)
    values, kept = prototypes_in_units(model), model[1].get_support()
    assert np.isnan(values[:, ~kept]).all()
    scaled = (values[:, kept] - model[0].mean_[kept]) / model[0].scale_[kept]
    assert_allclose(scaled, model[-1].prototypes_)
    assert feature_names(model).tolist() == [f"feature {k}" for k in np.flatnonzero(kept)]
    assert len(feature_names(model, original=True)) == 4


@pytest.mark.parametrize("step", [PolynomialFeatures(), FunctionTransformer(np.arcsinh)], ids=["new", "one way"])
def test_steps_that_cannot_be_inverted(data, step):
    model = make_pipeline(StandardScaler(), step, GLVQ(random_state=0)).fit(*data)
    with pytest.raises(ValueError, match=rf"prototypes_in_units cannot invert {type(step).__name__}, step 1 of"):
        prototypes_in_units(model)


def test_names_of_tables(data):
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(data[0], columns=["größe", "b $x$", "c", "d"]), data[1]
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    assert feature_names(model).tolist() == X.columns.tolist()
    assert feature_names(model[-1]).tolist() == [f"feature {k}" for k in range(4)]
    tables = make_pipeline(StandardScaler(), PCA(2), GLVQ(random_state=0)).set_output(transform="pandas").fit(X, y)
    assert feature_names(tables).tolist() == ["pca0", "pca1"]
    assert feature_names(tables, original=True).tolist() == X.columns.tolist()


@pytest.fixture
def mixed(data):
    """A model of a table with text, missing values and numbers."""
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(data[0].copy(), columns=["length", "width", "height", "weight"])
    X["colour"] = np.where(data[1] > 0, "red", "blue")
    X.loc[::7, "width"] = np.nan
    steps = [
        ("numbers", StandardScaler(), ["length", "height"]),
        ("gaps", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["width"]),
        ("texts", OneHotEncoder(sparse_output=False), ["colour"]),
    ]
    return make_pipeline(ColumnTransformer(steps), GLVQ(random_state=0)).fit(X, data[1])


def test_tables_are_inverted_block_by_block(mixed):
    names = feature_names(mixed, original=True).tolist()
    assert names == ["length", "height", "width", "missingindicator_width", "colour_blue", "colour_red"]
    values, W = prototypes_in_units(mixed), mixed[-1].prototypes_
    scaler = mixed[0].named_transformers_["numbers"]
    assert_allclose(values[:, :2], scaler.inverse_transform(W[:, :2]))
    gaps = mixed[0].named_transformers_["gaps"][-1]
    assert_allclose(values[:, 2:4], gaps.inverse_transform(W[:, 2:4]))
    assert_allclose(values[:, 4:], W[:, 4:])


# -- pixels and features with an order ---------------------------------------------------------------------------------


def side(names):
    found = pixel_places(names)
    return None if found is None else found.side


def test_pixels_by_their_names():
    assert side([f"pixel_{row}_{column}" for row in range(8) for column in range(8)]) == 8
    assert side([f"feature {k}" for k in range(784)]) == 28
    assert side(["age", "height"] + [f"v{k}" for k in range(62)]) is None
    assert side([f"v{k}" for k in range(30)]) is None
    assert side([str(k) for k in range(256)]) == 16
    assert side([f"r{row}c{column}" for row in range(8) for column in range(8)]) == 8
    assert side([f"abs_{k:03}" for k in range(100)]) is None  # a spectrum
    assert side([f"band_{k}" for k in range(60)]) is None
    assert side([f"channel {k // 6} band {k % 6}" for k in range(60)]) is None  # far from a square
    assert side([f"pixel_{k}" for k in range(0, 600, 10)]) is None  # most pixels are missing


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("kind", ["pairs", "numbers"])
def test_places_of_pixels_where_some_are_left_out(first, kind):
    """Constant pixels at the edges and inside; the others are at their places."""
    kept = np.setdiff1d(np.arange(64), [0, 7, 20])
    if kind == "pairs":
        names = [f"pixel_{k // 8 + first}_{k % 8 + first}" for k in kept]
    else:
        names = [f"pixel{k + first}" for k in kept]
    found = pixel_places(names)
    assert found.side == 8
    assert found.places.tolist() == kept.tolist()
    image = found.whole(np.ones((1, len(kept))))
    assert np.flatnonzero(image[0]).tolist() == kept.tolist()


def test_features_with_an_order():
    assert ordered_axis(["band_001", "band_002"]).title == "band"
    assert ordered_axis(["9,5 nm", "9 nm"]).positions == [9.5, 9.0]
    assert ordered_axis(["2 nm", "1 nm", "3 nm"]) is None
    assert ordered_axis(["1 nm", "2 um"]) is None
