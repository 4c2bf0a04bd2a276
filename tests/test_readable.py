"""Prototypes that are possible samples: in the range of the data, with whole categories, and of some use."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

import lvq
from lvq import GLVQ, GMLVQ, LGMLVQ, LVQClassifier, RejectClassifier, explain, readable_prototypes

NUMBERS = ["age", "weight"]
MODELS = [GLVQ(n_prototypes=3), GMLVQ(n_prototypes=3), LGMLVQ(n_prototypes=2, max_iter=500), LVQClassifier()]


def table(n_samples=150):
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 2
    frame = pd.DataFrame({"age": rng.uniform(20, 90, n_samples), "weight": rng.normal(70, 10, n_samples) + 8 * y})
    frame.loc[::9, "age"] = np.nan
    frame["site"] = np.where(rng.random(n_samples) < 0.7, np.array(["n", "s"])[y], "w")
    return frame, y


def pipeline_of(model, scaler="passthrough"):
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    texts = make_pipeline(OneHotEncoder(sparse_output=False), scaler)
    blocks = [("texts", texts, ["site"]), ("numbers", numbers, NUMBERS)]
    return make_pipeline(ColumnTransformer(blocks), model)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("scaler", ["passthrough", StandardScaler()], ids=str)
def test_prototypes_are_possible_samples(model, scaler, tmp_path):
    X, y = table()
    pipeline = pipeline_of(clone(model).set_params(random_state=0), scaler).fit(X, y)
    readable = readable_prototypes(pipeline, X)
    values = pd.DataFrame(explain(readable, X[:1]).prototype_values, columns=X.columns)
    for name in NUMBERS:
        assert values[name].astype(float).between(X[name].min() - 1e-9, X[name].max() + 1e-9).all()
    assert set(values["site"]) <= {"n", "s", "w"}
    seen = pipeline[0].transform(X)[:, :3]
    assert all(code in seen.tolist() for code in readable[-1].prototypes_[:, :3].tolist())
    # the categories were not whole before, so there was something to do
    assert not np.isin(pipeline[-1].prototypes_[:, :3], seen).all()
    assert readable.score(X, y) > pipeline.score(X, y) - 0.1
    lvq.save(readable, tmp_path / "model.lvq")
    assert np.array_equal(lvq.load(tmp_path / "model.lvq").predict(X), readable.predict(X))


@pytest.mark.parametrize("kind", [GLVQ, LGMLVQ])
def test_unused_prototypes_are_removed(kind, tmp_path):
    rng = np.random.default_rng(0)
    W, labels = np.array([[0.0, 0], [50, 50], [1, 1], [4, 0], [60, 60]]), np.array([0, 0, 0, 1, 1])
    X, y = rng.normal(size=(100, 2)), np.repeat([0, 1], 50)
    X[y == 1, 0] += 4
    settings = {
        "solver": "online",
        "learning_rate": 0,
        "relevance_rate": 0,
        "max_iter": 1,
        "n_prototypes": {0: 3, 1: 2},
    }
    if kind is LGMLVQ:
        settings["local"] = "prototype"
    model = kind(init=(W, labels), **settings).fit(X, y)
    readable = readable_prototypes(model, X, within_range=False)
    assert readable.prototypes_.tolist() == W[[0, 2, 3]].tolist()
    assert np.array_equal(readable.predict(X), model.predict(X))
    if kind is LGMLVQ:
        assert np.array_equal(readable.model_.relevance, model.model_.relevance[[0, 2, 3]])
    lvq.save(readable, tmp_path / "model.lvq")  # the training state fits, and so does a stream
    lvq.load(tmp_path / "model.lvq").partial_fit(X, y)
    kept = readable_prototypes(model, X, remove_unused=False, within_range=False)
    assert kept.prototypes_.tolist() == W.tolist()
    alone = readable_prototypes(model, X[y == 0] - 2, within_range=False)  # each class keeps one
    assert alone.model_.labels.tolist() == [0, 1]


def test_only_what_is_asked_for():
    X, y = table()
    pipeline = pipeline_of(GLVQ(n_prototypes=2, random_state=0)).fit(X, y)
    W = pipeline[-1].prototypes_
    ranged = readable_prototypes(pipeline, X, whole_categories=False, remove_unused=False)[-1].prototypes_
    np.testing.assert_array_equal(ranged[:, :3], W[:, :3])
    whole = readable_prototypes(pipeline, X, within_range=False, remove_unused=False)[-1].prototypes_
    np.testing.assert_allclose(whole[:, 3:5], W[:, 3:5])
    same = readable_prototypes(pipeline, X, within_range=False, whole_categories=False, remove_unused=False)
    np.testing.assert_array_equal(same[-1].prototypes_, W)


def test_mixing_steps_and_accuracy():
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), PCA(5), GMLVQ(n_prototypes=2, random_state=0)).fit(X, y)
    readable = readable_prototypes(pipeline, X)
    assert readable.score(X, y) > 0.95
    np.testing.assert_allclose(readable[-1].feature_importances_.sum(), 1)


def test_refused():
    X, y = load_wine(return_X_y=True)
    reject = RejectClassifier(GLVQ(random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match=r"does not support RejectClassifier, .* fit a new one to the result"):
        readable_prototypes(reject, X)
    bent = make_pipeline(PolynomialFeatures(), StandardScaler(), GLVQ(random_state=0)).fit(X[:, :3], y)
    with pytest.raises(ValueError, match=r"needs steps with inverses before the model, .* one of PolynomialFeatures"):
        readable_prototypes(bent, X[:, :3])
