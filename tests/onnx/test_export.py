"""Graphs of pipelines and reject classifiers, on real data."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import datasets as of_sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from lvq import GLVQ, GMLVQ, LGMLVQ, RSLVQ, LVQClassifier, RejectClassifier
from lvq.model.relevance import Matrix
from lvq.onnx import to_onnx
from lvq.preprocessing import NuisanceRemoval
from lvq.rejection import CostClassifier

pytestmark = [
    pytest.mark.usefixtures("run"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def spelled(model):
    return "".join(str(model).split())[:90]


CHAINS = {
    "glvq": make_pipeline(StandardScaler(), GLVQ(n_prototypes=2, random_state=0, max_iter=3)),
    "gmlvq": make_pipeline(MinMaxScaler(), GMLVQ(relevance=Matrix(rank=2), random_state=0, max_iter=3)),
    "lgmlvq": make_pipeline(StandardScaler(), PCA(4), LGMLVQ(random_state=0, max_iter=3)),
    "lvq": make_pipeline(StandardScaler(), PCA(3), LVQClassifier(random_state=0, max_iter=3)),
    "rslvq": make_pipeline(StandardScaler(), RSLVQ(decision="posterior", random_state=0, max_iter=3)),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("load", [of_sklearn.load_breast_cancer, of_sklearn.load_digits])
def test_real_data(load, chain, run):
    """Labels are those of the model for every sample."""
    wide, y = load(return_X_y=True)
    y = np.array([f"class {label}" for label in y])
    rows = np.random.default_rng(0).permutation(len(y))[:300]
    model = CHAINS[chain].fit(wide[rows], y[rows])
    found = run(to_onnx(model), wide)
    assert_array_equal(found["label"], model.predict(wide))
    assert_allclose(found["probabilities"], model.predict_proba(wide), atol=1e-6)


# -- rejecting ---------------------------------------------------------------------------------------------------------

REJECTING = [
    RejectClassifier(GLVQ(n_prototypes=2)),
    RejectClassifier(GMLVQ(relevance=Matrix(rank=2)), measure="relsim"),
    RejectClassifier(LGMLVQ(), measure="distance"),
    RejectClassifier(RSLVQ(n_prototypes=2), measure="probability"),
    RejectClassifier(RSLVQ(decision="posterior"), measure="probability", thresholds="optimal"),
    RejectClassifier(GLVQ(kernel="gaussian"), measure="combined"),
    RejectClassifier(RSLVQ(n_prototypes=2), measure="combined", thresholds="optimal"),
    RejectClassifier(LVQClassifier(cost="cross_entropy", n_prototypes=2), measure="combined"),
    RejectClassifier(CostClassifier(LVQClassifier(), [[0, 1, 2], [1, 0, 1], [3, 1, 0]]), measure="combined"),
    RejectClassifier(CostClassifier(GLVQ(), [[0, 1, 2], [1, 0, 1], [3, 1, 0]]), measure="combined"),
    RejectClassifier(GLVQ(), max_error=[0.001, 0.5], confidence=0.6, thresholds="optimal"),
    RejectClassifier(LVQClassifier(), cv=3),
    make_pipeline(StandardScaler(), RejectClassifier(make_pipeline(PCA(3), GLVQ()))),
]


@pytest.mark.parametrize("model", REJECTING, ids=spelled)
def test_rejecting(model, run, data):
    X, y = data
    short = {name: 5 for name in model.get_params() if name.split("__")[-1] == "max_iter"}
    model = model.set_params(**short).fit(X, y)
    last = model[-1] if hasattr(model, "steps") else model
    rng = np.random.default_rng(0)
    probes = np.concatenate((X, X + rng.normal(size=X.shape), 30 * X))
    inner = model[:-1].transform(probes) if hasattr(model, "steps") else probes
    found = run(to_onnx(model), probes)
    assert_allclose(found["certainty"], last.certainty(inner), rtol=1e-9, atol=1e-9)
    assert_array_equal(found["label"], last.predict(inner))
    assert_array_equal(found["accepted"], last.accept(inner))


def test_measures_that_are_not_supported(data):
    X, y = data
    for measure in (lambda estimator, X: X[:, 0], "radius", "margin"):
        model = RejectClassifier(GLVQ(random_state=0), measure=measure).fit(X, y)
        with pytest.raises(ValueError, match=r"to_onnx supports the measures 'relsim', .*, not"):
            to_onnx(model)


# -- pipelines ---------------------------------------------------------------------------------------------------------

STEPS = [
    StandardScaler(),
    MinMaxScaler(clip=True),
    RobustScaler(),
    PCA(2, whiten=True),
    TruncatedSVD(2),
    SelectKBest(k=2),
    Normalizer(),
    SimpleImputer(),
    SimpleImputer(missing_values=3.0, strategy="median"),
    make_column_transformer((StandardScaler(), slice(0, 2)), ("drop", [2]), ("passthrough", [3])),
    make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), [0, 1]), (MinMaxScaler(), [2])
    ),
]


@pytest.mark.parametrize("step", STEPS, ids=spelled)
def test_steps(step, run, data):
    X, y = data[0].copy(), data[1]
    if "SimpleImputer" in str(step) and "3.0" not in str(step):
        X[::5, 0] = np.nan
    model = make_pipeline(step, GLVQ(n_prototypes=2, random_state=0, max_iter=5)).fit(X, y)
    found = run(to_onnx(model), X)
    assert_array_equal(found["label"], model.predict(X))
    assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-9)


def test_a_nuisance_that_is_removed(run, data):
    X, y = data
    model = make_pipeline(NuisanceRemoval(cv=2, random_state=0), GLVQ(random_state=0))
    model.fit(X, y, nuisanceremoval__nuisance=X[:, 3] > 3)
    found = run(to_onnx(model), X)
    assert_array_equal(found["label"], model.predict(X))
    assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-9)


def test_booleans_are_numbers(run, data):
    """As features, and as categories; the graph takes them as 0 and 1."""
    X, y = data[0] > 3, data[1]
    for steps in ([], [OneHotEncoder(sparse_output=False)]):
        model = make_pipeline(*steps, GLVQ(random_state=0)).fit(X, y)
        assert_array_equal(run(to_onnx(model), X.astype(np.float64))["label"], model.predict(X))


@pytest.mark.parametrize("step", [PolynomialFeatures(2), KBinsDiscretizer(3, encode="ordinal")], ids=spelled)
def test_steps_that_skl2onnx_computes_in_float32(step, data):
    X, y = data
    model = make_pipeline(step, GLVQ(random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match=rf"to_onnx cannot convert (these steps: )?{type(step).__name__}"):
        to_onnx(model)


def test_infinite_values_that_a_transformer_clips(run, data):
    X, y = data
    model = make_pipeline(MinMaxScaler(clip=True), GLVQ(random_state=0)).fit(X, y)
    rows = X[:4].copy()
    rows[0, 1], rows[1, 1], rows[2, 1] = np.inf, np.nan, 1e300
    with pytest.raises(ValueError, match=r"infinity"):
        model.predict(rows[:1])
    found = run(to_onnx(model), rows)
    assert found["accepted"].tolist() == [False, False, True, True]
    assert np.isnan(found["certainty"]).tolist() == [True, True, False, False]


@pytest.mark.parametrize("options", [{}, {"drop": "first"}], ids=str)
def test_a_table_of_numbers_categories_and_missing_values(options, run):
    """Categories are standardised in their block of a ColumnTransformer, or after it; texts and integers."""
    X, y = table(np.random.default_rng(0))
    kept = (X["colour"] != "red") | (np.arange(len(X)) % 3 == 0)  # red is infrequent
    X, y = X[kept], y[kept]
    encoder, texts = OneHotEncoder(sparse_output=False, **options), ["colour", "grade"]
    blocks = [("order", OrdinalEncoder(), ["made"]), ("n", StandardScaler(), ["size"])]
    gaps = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    inside = ColumnTransformer(
        [*blocks, ("gaps", gaps, ["weight"]), ("t", make_pipeline(encoder, StandardScaler()), texts)]
    )
    around = ColumnTransformer([*blocks, ("t", encoder, texts)])
    for steps in ([inside], [around, StandardScaler()]):
        rows = X if steps == [inside] else X.drop(columns="weight")
        model = RejectClassifier(make_pipeline(*steps, GLVQ(n_prototypes=2, random_state=0))).fit(rows, y)
        found = run(to_onnx(model), columns_of(rows))
        assert_allclose(found["probabilities"], model.predict_proba(rows), atol=1e-9)
        assert_array_equal(found["label"], model.predict(rows))
        assert_array_equal(found["accepted"], model.accept(rows))


def table(rng, count=80):
    """Numbers with missing values, texts, and integers that are categories."""
    X = pd.DataFrame(
        {
            "size": rng.normal(size=count) * 100,
            "weight": rng.normal(size=count),
            "colour": rng.choice(["red", "green", "blue"], count),
            "grade": rng.integers(1, 4, count),
            "made": rng.choice(["here", "there"], count),
        }
    )
    X.loc[::7, "weight"] = np.nan
    y = np.where((X["size"] > 0) ^ (X["colour"] == "red"), "good", "bad")
    return X, y


def columns_of(X):
    kinds = {"size": np.float64, "weight": np.float64, "grade": np.int64}
    return {name: X[[name]].to_numpy(dtype=kinds.get(name, object)) for name in X}


def test_columns_of_any_name(run):
    """Names that are not identifiers, that differ in one character, or that are used inside the graph."""
    X, y = table(np.random.default_rng(0))
    X = X[["size", "colour", "made", "grade"]].set_axis(["matmul", "Größe (cm)", "a b", "a_b"], axis=1)
    steps = ColumnTransformer(
        [("a", StandardScaler(), ["matmul", "a_b"]), ("b", OneHotEncoder(), ["Größe (cm)", "a b"])], sparse_threshold=0
    )
    model = make_pipeline(steps, GLVQ(random_state=0)).fit(X, y)
    graph = to_onnx(model)
    assert [value.name for value in graph.graph.input] == list(X)
    given = {name: X[[name]].to_numpy(dtype=float if name in ("matmul", "a_b") else object) for name in X}
    assert_array_equal(run(graph, given)["label"], model.predict(X))


def test_columns_that_are_dropped_are_no_inputs(run):
    """They may hold strings, beside categories and beside numbers alone."""
    X, y = table(np.random.default_rng(0))
    X["size"] *= 10
    for columns in (["size"], ["size", "made"]):
        steps = [("a", StandardScaler(), ["size"]), ("b", OneHotEncoder(sparse_output=False), columns[1:])]
        chosen = ColumnTransformer(steps[: len(columns)])
        model = make_pipeline(chosen, GLVQ(random_state=0)).fit(X, y)
        graph = to_onnx(model)
        assert [value.name for value in graph.graph.input] == columns
        found = run(graph, {name: values for name, values in columns_of(X).items() if name in columns})
        assert_array_equal(found["label"], model.predict(X))
        assert found["accepted"].all()


def test_searches_and_frozen_ones(run, data):
    X, y = data
    inner = make_pipeline(StandardScaler(), GLVQ(random_state=0, solver="online", max_iter=3))
    search = GridSearchCV(inner, {"glvq__n_prototypes": [1, 2]}, cv=2).fit(X, y)
    frozen = FrozenEstimator(search.best_estimator_)
    rejecting = RejectClassifier(frozen).fit(X, y)
    for model in (search, frozen, rejecting):
        assert_array_equal(run(to_onnx(model), X)["label"], model.predict(X))


# -- the file ----------------------------------------------------------------------------------------------------------


def test_versions_and_names(data):
    import onnx

    X, y = data
    graph = to_onnx(RejectClassifier(make_pipeline(StandardScaler(), GLVQ(random_state=0))).fit(X, y))
    assert graph.ir_version == 10
    assert {entry.domain: entry.version for entry in graph.opset_import}[""] == 18
    assert graph.producer_name == "lvq"
    about = {entry.key: entry.value for entry in graph.metadata_props}
    assert about["estimator"] == "GLVQ"
    assert about["classes"] == '["ash", "birch", "cedar"]'
    inferred = onnx.shape_inference.infer_shapes(graph, check_type=True, strict_mode=True, data_prop=True)
    onnx.checker.check_model(inferred, full_check=True)
    shapes = {
        output.name: [axis.dim_value or None for axis in output.type.tensor_type.shape.dim]
        for output in graph.graph.output
    }
    assert shapes == {"label": [None], "probabilities": [None, 3], "certainty": [None], "accepted": [None]}
    assert [axis.dim_value or None for axis in graph.graph.input[0].type.tensor_type.shape.dim] == [None, 4]


# -- messages ----------------------------------------------------------------------------------------------------------


def test_messages(data):
    X, y = data
    with pytest.raises(NotFittedError):
        to_onnx(GLVQ())
    with pytest.raises(NotFittedError):
        to_onnx(RejectClassifier(GLVQ()))
    for model in (
        make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y),
        RejectClassifier(LogisticRegression()).fit(X, y),
        CalibratedClassifierCV(GLVQ(random_state=0), cv=2).fit(X, y),
    ):
        with pytest.raises(ValueError, match=r"to_onnx needs a model of this library"):
            to_onnx(model)


def test_texts_are_refused():
    model = make_pipeline(TfidfVectorizer(), GLVQ(random_state=0)).fit(["red", "blue"] * 5, [0, 1] * 5)
    with pytest.raises(ValueError, match=r"to_onnx needs steps that take tables, got TfidfVectorizer; transform X"):
        to_onnx(model)
