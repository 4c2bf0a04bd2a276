"""Steps of a pipeline are inverted, and features keep their names."""

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
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)

from lvq import GLVQ, RejectClassifier
from lvq.estimators.find_model import need_model
from lvq.inspection.columns import to_original_units
from lvq.plots import feature_names, prototypes_in_units

SCALERS = [
    StandardScaler(),
    MinMaxScaler(),
    RobustScaler(),
    PowerTransformer(),
    PCA(),
    FunctionTransformer(np.arcsinh, inverse_func=np.sinh),
    FunctionTransformer(),
    "passthrough",
    make_pipeline(StandardScaler(), PCA()),
]


@pytest.mark.parametrize("scaler", SCALERS, ids=lambda step: type(step).__name__)
def test_inverted(data, scaler):
    X, y = data
    model = make_pipeline(scaler, GLVQ(random_state=0)).fit(X, y)
    values = prototypes_in_units(model)
    assert_allclose(model[:-1].transform(values), model[-1].prototypes_, atol=1e-6)
    assert_allclose(prototypes_in_units(RejectClassifier(model, cv="prefit").fit(X, y)), values)


def test_prototypes_without_steps(fitted):
    assert_allclose(prototypes_in_units(fitted["matrix"]), fitted["matrix"].prototypes_)


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


def test_names_after_a_step_without_names(data):
    model = make_pipeline(FunctionTransformer(np.arcsinh), GLVQ(random_state=0)).fit(*data)
    assert len(feature_names(model)) == 4


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


def test_codes_of_categories_without_the_steps_behind_the_encoder(data):
    """Alone, in a block and behind it: 0 and 1, not standardised codes."""
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"length": data[0][:, 0], "colour": np.where(data[1] > 0, "red", "blue")})
    encoder, scaler = OneHotEncoder(sparse_output=False), StandardScaler()
    inside = ColumnTransformer([("texts", make_pipeline(encoder, scaler), ["colour"]), ("rest", scaler, ["length"])])
    around = ColumnTransformer([("texts", encoder, ["colour"]), ("rest", "passthrough", ["length"])])
    codes = encoder.fit(X[["colour"]]).transform(X[["colour"]])
    for steps, width in (([inside], 2), ([around, scaler], 2), ([encoder, scaler], 1)):
        model = make_pipeline(*steps, GLVQ(random_state=0)).fit(X.iloc[:, 2 - width :], data[1])
        assert feature_names(model, original=True).tolist() == ["colour_blue", "colour_red", "length"][: width + 1]
        found = need_model(model, "")
        values = to_original_units(found, found.inputs(X.iloc[:, 2 - width :]), "").values
        assert_allclose(values[:, :2], codes, atol=1e-12)
        assert_allclose(values[:, 2:], X[["length"]].to_numpy()[:, : width - 1])


@pytest.mark.parametrize(
    "columns", [[0, 2], slice(0, 3, 2), [True, False, True, False]], ids=["index", "slice", "mask"]
)
def test_columns_by_index_slice_and_mask(data, columns):
    X, y = data
    table = ColumnTransformer([("some", StandardScaler(), columns)], remainder="passthrough")
    model = make_pipeline(table, GLVQ(random_state=0)).fit(X, y)
    assert feature_names(model, original=True).tolist() == ["feature 0", "feature 2", "feature 1", "feature 3"]
    values, W = prototypes_in_units(model), model[-1].prototypes_
    assert_allclose((values[:, :2] - X[:, [0, 2]].mean(axis=0)) / X[:, [0, 2]].std(axis=0), W[:, :2])
    assert_allclose(values[:, 2:], W[:, 2:])


def test_indicators_of_a_first_imputer_stay(data):
    X, y = data[0].copy(), data[1]
    X[::7, 1] = np.nan
    model = make_pipeline(SimpleImputer(add_indicator=True), GLVQ(random_state=0)).fit(X, y)
    assert prototypes_in_units(model).shape == (3, 5)
    assert feature_names(model, original=True)[-1] == "missingindicator_feature 1"
    inside = make_pipeline(StandardScaler(), SimpleImputer(add_indicator=True), GLVQ(random_state=0)).fit(X, y)
    assert prototypes_in_units(inside).shape == (3, 4)
