"""Steps are followed by a table of known ones: weights count, bins are no categories, mixtures are no columns."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from lvq import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LVQClassifier,
    RejectClassifier,
    certified_radius,
    counterfactual,
    explain,
    variable_importances,
)
from lvq.estimators.find_model import find_model, need_model
from lvq.inspection.columns import (
    columns_of_features,
    input_cells,
    input_values,
    is_missing,
    to_original_units,
    used_columns,
)
from lvq.inspection.steps import input_map
from lvq.model.relevance import Matrix
from lvq.onnx import to_onnx
from lvq.preprocessing import NuisanceRemoval, SavitzkyGolay, StandardNormalVariate
from lvq.solvers.lbfgs import LBFGS


def draw(n_samples=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 2
    return (rng.normal(size=(n_samples, 4)) + 1.2 * y[:, None]) * [1, 10, 0.1, 3] + [0, 5, 0, -7], y


def flipped_inside(model, X, radius, seed=1):
    """Rows whose prediction changes by a random change that is shorter than the radius."""
    rng, before, flipped = np.random.default_rng(seed), model.predict(X), np.zeros(len(X), dtype=bool)
    for _ in range(30):
        way = rng.normal(size=X.shape)
        way *= 0.999 * np.minimum(radius, 1e6)[:, None] / np.linalg.norm(way, axis=1, keepdims=True)
        flipped |= model.predict(X + way) != before
    return flipped


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: CalibratedClassifierCV(model, ensemble=False),
        lambda model: CalibratedClassifierCV(FrozenEstimator(model)),
        TunedThresholdClassifierCV,
    ],
    ids=["calibrated", "calibrated frozen", "threshold"],
)
def test_wrappers_that_change_predictions_are_refused(wrap):
    X, y = draw()
    model = wrap(GLVQ(random_state=0).fit(X, y)).fit(X, y)
    for use in (explain, certified_radius, lambda model, X: counterfactual(model, X, samples=X), variable_importances):
        with pytest.raises(ValueError, match=rf"leave its predictions unchanged; got {type(model).__name__}"):
            use(model, X)
    with pytest.raises(ValueError, match=type(model).__name__):
        to_onnx(model)
    inside = make_pipeline(StandardScaler(), model).fit(X, y)
    with pytest.raises(ValueError, match=f"got Pipeline with {type(model).__name__} inside"):
        explain(inside, X)


def test_wrappers_that_keep_predictions_are_looked_through():
    X, y = draw()
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    search = GridSearchCV(model, {"glvq__n_prototypes": [1]}, cv=2).fit(X, y)
    reject = RejectClassifier(FrozenEstimator(search), min_coverage=0.8).fit(X, y)
    for wrapped in (search, FrozenEstimator(model), reject):
        found = find_model(wrapped)
        assert_array_equal(found.model.predict(found.inputs(X)), wrapped.predict(X))


def test_bins_are_no_categories():
    """A bin changes with a number, so there is no radius; the search for counterfactuals takes real samples."""
    X, y = draw()
    model = make_pipeline(KBinsDiscretizer(4, encode="onehot-dense"), GLVQ(random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match=r"certified_radius supports linear steps only .* got KBinsDiscretizer"):
        certified_radius(model, X)
    changed = counterfactual(model, X[:5], samples=X)
    assert changed.samples.dtype == np.float64
    assert np.all(changed.label != model.predict(X[:5]))


@pytest.mark.parametrize("model", [GLVQ(), GMLVQ()], ids=str)
def test_weights_of_blocks_count(model):
    X, y = draw()
    blocks = [("one", MinMaxScaler(), [2, 0]), ("two", make_pipeline(StandardScaler(), PCA(2)), [1, 3])]
    table = ColumnTransformer(blocks, transformer_weights={"one": 20.0, "two": 0.1})
    pipeline = make_pipeline(table, model.set_params(random_state=0)).fit(X, y)
    assert not flipped_inside(pipeline, X, certified_radius(pipeline, X)).any()
    found = need_model(pipeline, "")
    Z = pipeline[:-1].transform(X)
    assert_allclose(to_original_units(found, Z, "").values, X[:, [2, 0, 1, 3]], atol=1e-9)
    assert_allclose(input_values(found, Z).astype(float), X, atol=1e-9)
    explanation = explain(pipeline, X)
    inner = pipeline[-1].explain(Z)
    assert_allclose(explanation.contributions.sum(axis=1), inner.contributions.sum(axis=1), rtol=1e-9)
    assert_allclose(explanation.contributions[:, [2, 0]], inner.contributions[:, :2], atol=1e-9)


def test_a_block_of_weight_zero():
    X, y = draw()
    table = ColumnTransformer([("a", StandardScaler(), [0, 1]), ("b", StandardScaler(), [2, 3])],
                              transformer_weights={"b": 0.0})  # fmt: skip
    pipeline = make_pipeline(table, GLVQ(random_state=0)).fit(X, y)
    assert not explain(pipeline, X).contributions[:, 2:].any()
    assert input_values(need_model(pipeline, ""), pipeline[:-1].transform(X))[0, 2:].tolist() == [None, None]


@pytest.mark.parametrize("step", [Normalizer(), StandardNormalVariate(), SavitzkyGolay(3), NuisanceRemoval(), PCA()])
def test_steps_that_mix_columns_are_no_separate_columns(step):
    X, y = draw()
    fit = {"nuisance": y} if isinstance(step, NuisanceRemoval) else {}
    step.fit(X, **fit)
    model = make_pipeline(FrozenEstimator(step), GLVQ(random_state=0)).fit(X, y)
    assert columns_of_features(need_model(model, "")) is None
    assert used_columns([step], 4, 4).all()


class Doubled(StandardScaler):
    """A scaler that does more than its parent, whose table entry does not hold for it."""

    def transform(self, X, copy=None):
        return super().transform(X) @ np.array([[1.0, 1.0], [0.0, 2.0]])


def test_unknown_steps_are_refused():
    X, y = draw()
    model = make_pipeline(Doubled(), GLVQ(random_state=0)).fit(X[:, :2], y)
    for use in (certified_radius, explain):
        with pytest.raises(ValueError, match="got Doubled; transform X with that step first"):
            use(model, X[:, :2])


def test_missing_values_of_pandas():
    X = pd.DataFrame({"a": pd.array([1, None, 3, 4], dtype="Int64"), "b": pd.array(["x", None, "y", "x"], "string")})
    assert input_cells(X, 1) == [None, None]
    assert [is_missing(cell) for cell in (pd.NA, pd.NaT, None, np.float32("nan"), 0.0, "")] == [True] * 4 + [False] * 2
    table = ColumnTransformer([("a", SimpleImputer(), ["a"])])
    model = make_pipeline(table, GLVQ(random_state=0)).fit(X, [0, 0, 1, 1])
    assert variable_importances(model, X).importances.tolist() == [1.0, 0.0]
    values = dict(enumerate(explain(model, X).table()["value"]))
    assert values[0] == 1
    assert is_missing(values[2])


# -- linear maps -------------------------------------------------------------------------------------------------------


def of_blocks(*blocks):
    return ColumnTransformer([(str(number), step, columns) for number, (step, columns) in enumerate(blocks)])


STEPS = [
    [StandardScaler()],
    [SelectKBest(k=3)],
    [StandardScaler(), SelectKBest(k=3), MinMaxScaler()],
    [SelectKBest(k=4), PCA(2)],
    [PCA(3), SelectKBest(k=2)],
    [of_blocks((StandardScaler(), [4, 1]), ("passthrough", [0]))],
    [of_blocks((StandardScaler(), [4, 1]), (make_pipeline(MinMaxScaler(), PCA(1)), [0, 2])), RobustScaler()],
    [PCA(4), of_blocks((StandardScaler(), [3, 0]), (FunctionTransformer(), [1]))],
    [of_blocks((of_blocks((MinMaxScaler(), [1, 0])), [3, 4])), StandardScaler()],
]


@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_maps_change_as_the_steps_do(steps):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 5)) * [1, 10, 0.1, 3, 1], np.arange(30) % 2
    pipeline = make_pipeline(*steps, GLVQ(solver="online", max_iter=1)).fit(X, y)
    change = rng.normal(size=(30, 5))
    moved = pipeline[:-1].transform(X + change) - pipeline[:-1].transform(X)
    assert_allclose(change @ input_map(need_model(pipeline, ""), "a test").T, moved, atol=1e-9)


N_FEATURES = 1500


def wide_data():
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    return rng.normal(size=(24, N_FEATURES)) + 0.4 * y[:, None], y


QUICK = {"max_iter": 3, "random_state": 0, "solver": LBFGS(tol=1.0)}
MODELS = [
    GLVQ(**QUICK),
    GRLVQ(n_prototypes=2, solver="online", max_iter=2, random_state=0),
    LVQClassifier(relevance=Matrix(local="prototype", rank=2, ridge=0.1), n_prototypes=1, **QUICK),
    make_pipeline(VarianceThreshold(), GLVQ(**QUICK)),
    make_pipeline(of_blocks((StandardScaler(), slice(0, 1000)), (MinMaxScaler(), slice(1000, None))), GLVQ(**QUICK)),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model).replace("\n", "").replace(" ", "")[:60])
def test_many_features_need_no_matrix_of_their_pairs(model):
    """For any norm, and for changes of the least length."""
    X, y = wide_data()
    model.fit(X, y)
    tracemalloc.start()
    for norm in (1, 2, np.inf):
        assert certified_radius(model, X[:3], norm).min() > 0
    changed = counterfactual(model, X[:1], samples=X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < N_FEATURES**2 * 8 / 2
    assert_array_equal(model.predict(changed.samples), changed.label)
    assert np.all(changed.label != model.predict(X[:1]))
    radius = certified_radius(model, X[:1], units=changed.units)
    if len(getattr(model, "prototypes_", X[:2])) == 2:  # one for each class: the radius is exact
        assert np.all(changed.distance >= radius * (1 - 1e-6))
