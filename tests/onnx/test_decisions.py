"""Costs of mistakes, and samples of equal certainty in the graph, compared with the library."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import GLVQ, MCE, RSLVQ, RejectClassifier
from lvq.onnx import to_onnx
from lvq.rejection import CostClassifier, certainty

pytest.importorskip("skl2onnx")
COSTS = {"ash:birch": 50, "cedar:ash": 0.02}
BY_COST = [
    CostClassifier(GLVQ(random_state=0), COSTS),
    CostClassifier(make_pipeline(StandardScaler(), MCE(n_prototypes=2, random_state=0)), COSTS),
    CostClassifier(RSLVQ(random_state=0), COSTS),
    make_pipeline(StandardScaler(), CostClassifier(RSLVQ(decision="posterior", random_state=0), COSTS)),
]


@pytest.mark.parametrize(("model", "n_classes"), list(zip(BY_COST, (2, 3, 2, 3))), ids=lambda part: str(part)[:60])
def test_costs(model, n_classes, run, data):
    X, y = data
    if n_classes == 2:
        X, y = X[y != "cedar"], y[y != "cedar"]
        model.set_params(costs={"ash:birch": 50})
    model.fit(X, y)
    X = np.concatenate((X, X + 2 * np.random.default_rng(0).normal(size=X.shape)))
    likeliest = model.classes_[model.predict_proba(X).argmax(axis=1)]
    assert (model.predict(X) != likeliest).any()  # costs change predictions
    found = run(to_onnx(model), X)
    assert_array_equal(found["label"], model.predict(X))
    assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-9)
    assert_allclose(found["certainty"], certainty(model, X), rtol=1e-9, atol=1e-9)


def test_a_reject_classifier_inside_is_refused(data):
    X, y = data
    model = CostClassifier(RejectClassifier(GLVQ(random_state=0)), COSTS).fit(X, y)
    with pytest.raises(ValueError, match="needs a RejectClassifier around a CostClassifier, not inside it"):
        to_onnx(model)


def test_a_model_that_has_changed_since_calibration_is_refused(data):
    X, y = data
    model = RejectClassifier(make_pipeline(StandardScaler(), GLVQ(random_state=0)), max_error=0.4).fit(X, y)
    model.estimator_[-1].remove_class("cedar")
    with pytest.raises(ValueError, match="must be calibrated again"):
        to_onnx(model)


def test_an_imputer_by_a_constant_takes_the_type_of_its_column(run):
    rng = np.random.default_rng(4)
    y = np.arange(60) % 2
    numbers = np.where(rng.random((60, 2)) < 0.3, np.nan, rng.normal(size=(60, 2)) + y[:, None])
    X = pd.DataFrame({"width": numbers[:, 0], "bark": np.where(y == 1, "rough", "smooth"), "age": numbers[:, 1]})
    texts = make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), OneHotEncoder(sparse_output=False))
    steps = make_column_transformer((SimpleImputer(strategy="constant"), ["width", "age"]), (texts, ["bark"]))
    model = make_pipeline(steps, GLVQ(random_state=0)).fit(X, y)
    columns = {name: X[[name]].to_numpy(dtype=object if name == "bark" else float) for name in ("width", "age", "bark")}
    assert_array_equal(run(to_onnx(model), columns)["label"], model.predict(X))


# -- samples of equal certainty ----------------------------------------------------------------------------------------


def discrete(seed, n_samples=400):
    """Three features with two values each: eight distinct rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, 3)).astype(float)
    y = np.where(rng.random(n_samples) < 0.15 + 0.35 * X[:, 0] + 0.3 * X[:, 1], "yes", "no")
    return X, y


@pytest.mark.parametrize(
    ("measure", "target"),
    [("auto", {"min_coverage": 0.7}), ("combined", {"cost_ratio": 0.3}), ("probability", {"max_error": 0.45})],
    ids=str,
)
def test_equal_rows_are_accepted_together(target, measure, run):
    """By the graph as by the library, as one table and row by row."""
    X, y = discrete(0)
    model = RejectClassifier(GLVQ(random_state=0), measure=measure, **target).fit(X, y)
    new, graph = discrete(1)[0], to_onnx(model)
    found = run(graph, new)["accepted"]
    assert_array_equal(found, model.accept(new))
    assert_array_equal(found[:40], [run(graph, new[row : row + 1])["accepted"][0] for row in range(40)])
    for row in np.unique(new, axis=0):
        assert len(set(found[(new == row).all(axis=1)].tolist())) == 1
