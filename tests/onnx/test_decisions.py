"""Prices of mistakes, missing values and samples of equal certainty in the graph, compared with the library."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import GLVQ, MCE, RSLVQ, CostClassifier, RejectClassifier
from lvq.onnx import to_onnx
from lvq.onnx.rejection import bounds_of_step
from lvq.rejection import certainty
from lvq.rejection.ties import in_steps

pytest.importorskip("skl2onnx")
PRICES = {"ash:birch": 50, "cedar:ash": 0.02}
PRICED = [
    CostClassifier(GLVQ(random_state=0), PRICES),
    CostClassifier(make_pipeline(StandardScaler(), MCE(n_prototypes=2, random_state=0)), PRICES),
    CostClassifier(RSLVQ(random_state=0), PRICES),
    make_pipeline(StandardScaler(), CostClassifier(RSLVQ(decision="posterior", random_state=0), PRICES)),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("model", PRICED, ids=lambda model: str(model)[:60])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_prices(model, n_classes, dtype, run, data):
    X, y = data
    X, y = (X, y) if n_classes == 3 else (X[y != "cedar"], y[y != "cedar"])
    prices = PRICES if n_classes == 3 else {"ash:birch": 50}
    last = "costclassifier__costs" if hasattr(model, "steps") else "prices"
    model.set_params(**{last: prices}).fit(X, y)
    X = np.concatenate((X, X + 2 * np.random.default_rng(0).normal(size=X.shape)))
    likeliest = model.classes_[model.predict_proba(X).argmax(axis=1)]
    assert (model.predict(X) != likeliest).any()  # prices change predictions
    found = run(to_onnx(model, dtype=dtype), X.astype(dtype))
    if dtype == "float64":
        assert_array_equal(found["label"], model.predict(X))
    else:
        assert np.mean(found["label"] != model.predict(X)) < 0.03
    digits = 1e-9 if dtype == "float64" else 1e-3
    assert_allclose(found["probabilities"], model.predict_proba(X), atol=digits)
    if dtype == "float64":
        assert_allclose(found["certainty"], certainty(model, X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("measure", ["auto", "margin", "relsim", "probability", "distance"])
def test_rejecting_by_price(measure, run, data):
    X, y = data
    inner = make_pipeline(StandardScaler(), MCE(n_prototypes=2, random_state=0))
    model = RejectClassifier(CostClassifier(inner, PRICES), measure=measure, min_coverage=0.7).fit(X, y)
    found = run(to_onnx(model), X)
    assert_array_equal(found["label"], model.predict(X))
    assert_allclose(found["certainty"], model.certainty(X), rtol=1e-9, atol=1e-9)
    assert_array_equal(found["accepted"], model.accept(X))
    assert 0.5 < found["accepted"].mean() < 0.9


def test_a_reject_classifier_inside_is_refused(data):
    X, y = data
    model = CostClassifier(RejectClassifier(GLVQ(random_state=0)), PRICES).fit(X, y)
    with pytest.raises(ValueError, match="needs a RejectClassifier around a CostClassifier, not inside it"):
        to_onnx(model)


# -- missing values ----------------------------------------------------------------------------------------------------


def incomplete(seed, n_samples=300):
    """Three numbers with missing values, one of them often, and a text."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_samples) < 0.5, "ash", "birch")
    numbers = rng.normal(size=(n_samples, 3)) + (y == "ash")[:, None]
    numbers[rng.random(numbers.shape) < [0.1, 0.3, 0.6]] = np.nan
    texts = np.where(rng.random(n_samples) < 0.2, "(missing)", np.where(y == "ash", "rough", "smooth"))
    return pd.DataFrame({"width": numbers[:, 0], "bark": texts, "height": numbers[:, 1], "age": numbers[:, 2]}), y


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("options", [{}, {"measure": "distance"}, {"min_known": 0.8}, {"min_known": None}])
def test_missing_numbers(options, dtype, run):
    X, y = incomplete(0)
    numbers = X.drop(columns="bark").to_numpy()
    model = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), GLVQ(random_state=0))
    model = RejectClassifier(model, min_coverage=0.8, **options).fit(numbers, y)
    new = incomplete(1)[0].drop(columns="bark").to_numpy()
    found = run(to_onnx(model, dtype=dtype), new.astype(dtype))
    assert_array_equal(found["label"], model.predict(new))
    digits = 1e-9 if dtype == "float64" else 1e-3
    assert_allclose(found["certainty"], model.certainty(new), rtol=digits, atol=digits)
    tied = 0.03 if options.get("min_known", 0.5) is None else 0  # rows of medians are equal, and some are drawn
    assert np.mean(found["accepted"] != model.accept(new)) <= (tied if dtype == "float64" else 0.03)
    if dtype == "float64":
        assert not (found["accepted"] & ~model.accept(new)).any()
    assert ("too little known" in model.reason(new)) == (options.get("min_known", 0.5) is not None)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_missing_numbers_and_texts(dtype, run):
    X, y = incomplete(2)
    steps = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["width", "height"]),
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["bark"]),
    )  # the age does not reach the model
    model = RejectClassifier(make_pipeline(steps, GLVQ(random_state=0)), min_coverage=0.8).fit(X, y)
    new = incomplete(3)[0]
    columns = {
        name: new[[name]].to_numpy(dtype=str if name == "bark" else dtype).astype(object if name == "bark" else dtype)
        for name in new
    }
    found = run(to_onnx(model, dtype=dtype), columns)
    digits = 1e-9 if dtype == "float64" else 1e-3
    assert_allclose(found["certainty"], model.certainty(new), rtol=digits, atol=digits)
    assert np.mean(found["accepted"] != model.accept(new)) < (1e-9 if dtype == "float64" else 0.05)
    assert (model.known_fraction(new) < 1).any()


@pytest.mark.parametrize("imputes", [False, True])
def test_steps_outside_come_before_the_count(imputes, run):
    """An imputer outside the RejectClassifier leaves no missing value to count, a scaler leaves all."""
    X, y = incomplete(4)
    X = X.drop(columns="bark").to_numpy()
    inner = make_pipeline(*([] if imputes else [SimpleImputer()]), StandardScaler(), GLVQ(random_state=0))
    model = RejectClassifier(inner, min_coverage=0.8)
    outside = SimpleImputer(add_indicator=True) if imputes else StandardScaler()
    pipeline = make_pipeline(outside, model).fit(X, y)
    new = incomplete(5)[0].drop(columns="bark").to_numpy()
    found, transformed = run(to_onnx(pipeline), new), pipeline[:-1].transform(new)
    assert (pipeline[-1].known_fraction(transformed) < 1).any() == (not imputes)
    assert_allclose(found["certainty"], pipeline[-1].certainty(transformed), rtol=1e-9, atol=1e-9)


# -- samples of equal certainty ----------------------------------------------------------------------------------------


def discrete(seed, n_samples=400):
    """Three features with two values each: eight distinct rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, 3)).astype(float)
    y = np.where(rng.random(n_samples) < 0.15 + 0.35 * X[:, 0] + 0.3 * X[:, 1], "yes", "no")
    return X, y


@pytest.mark.parametrize("coverage", [0.9, 0.7, 0.5, 0.3])
def test_equal_samples_are_rejected_where_some_are(coverage, run):
    X, y = discrete(0)
    model = RejectClassifier(GLVQ(random_state=0), min_coverage=coverage).fit(X, y)
    new = discrete(1)[0]
    found, accepted = run(to_onnx(model), new)["accepted"], model.accept(new)
    rows, code = np.unique(new, axis=0, return_inverse=True)
    fractions = np.bincount(code, accepted) / np.bincount(code)
    assert_array_equal(found, (fractions == 1)[code])  # a row is accepted iff the model accepts all of its copies
    assert len(rows) == 8


@pytest.mark.parametrize("seed", range(4))
def test_the_second_certainty_is_in_the_graph(seed, run):
    """Certainties that saturate at 1: only the second certainty separates the samples."""
    rng = np.random.default_rng(seed)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 2)) + 40 * y[:, None]
    model = RejectClassifier(MCE(xi=50, random_state=0), measure="probability", min_coverage=0.7).fit(X, y)
    assert model.ties_ is not None
    found, accepted = run(to_onnx(model), X)["accepted"], model.accept(X)
    assert 0.5 < accepted.mean() < 0.85
    assert not (found & ~accepted).any()
    assert np.mean(found != accepted) <= 2 / 300  # the samples at the threshold itself, of which one may be drawn


@pytest.mark.parametrize("step", in_steps(np.array([0.75, 0.5, 0.1, 1.0, 3.7e8, -0.3, -2.0])).tolist())
def test_bounds_of_a_step(step):
    low, high = bounds_of_step(step)
    around = np.linspace(low - 2 * (high - low), high + 2 * (high - low), 100001)
    inside = in_steps(around) == step
    edge = 1e-9 * (high - low)
    assert_array_equal(inside[(around < low - edge) | (around > high + edge)], False)
    assert inside[(around > low + edge) & (around < high - edge)].all()
