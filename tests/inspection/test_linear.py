"""Linear maps of steps: against the steps themselves, and without a matrix of all pairs of features."""

import tracemalloc

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, RobustScaler, StandardScaler

from lvq import GLVQ, GRLVQ, LVQClassifier, certified_radius, counterfactual
from lvq.inspection.linear import compose, dense, input_map, project, pull_back
from lvq.model.relevance import Matrix
from lvq.solvers.lbfgs import LBFGS


def table(*blocks):
    return ColumnTransformer([(str(number), step, columns) for number, (step, columns) in enumerate(blocks)])


STEPS = [
    [StandardScaler()],
    [SelectKBest(k=3)],
    [StandardScaler(), SelectKBest(k=3), MinMaxScaler()],
    [SelectKBest(k=4), PCA(2)],
    [PCA(3), SelectKBest(k=2)],
    [table((StandardScaler(), [4, 1]), ("passthrough", [0]))],
    [table((StandardScaler(), [4, 1]), (make_pipeline(MinMaxScaler(), PCA(1)), [0, 2])), RobustScaler()],
    [PCA(4), table((StandardScaler(), [3, 0]), (FunctionTransformer(), [1]))],
    [table((table((MinMaxScaler(), [1, 0])), [3, 4])), StandardScaler()],
]


@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_maps_change_as_the_steps_do(steps):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 5)) * [1, 10, 0.1, 3, 1], np.arange(30) % 2
    pipeline = make_pipeline(*steps).fit(X, y)
    linear = input_map([step for _, step in pipeline.steps], "a test")
    change = rng.normal(size=(30, 5))
    moved = pipeline.transform(X + change) - pipeline.transform(X)
    np.testing.assert_allclose(project(change, linear), moved, atol=1e-9)
    full = dense(linear) if linear.ndim == 2 else np.diag(np.broadcast_to(linear, 5))
    slopes = rng.normal(size=(4, len(full)))
    np.testing.assert_allclose(pull_back(slopes, linear), slopes @ full, atol=1e-12)
    for after in (rng.normal(size=len(full)), rng.normal(size=(2, len(full)))):
        whole = (np.diag(after) if after.ndim == 1 else after) @ full
        found = compose(after, linear)
        np.testing.assert_allclose(dense(found) if found.ndim == 2 else np.diag(found), whole, atol=1e-12)


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
    make_pipeline(StandardScaler(), GLVQ(**QUICK)),
    make_pipeline(VarianceThreshold(), GLVQ(**QUICK)),
    make_pipeline(table((StandardScaler(), slice(0, 1000)), (MinMaxScaler(), slice(1000, None))), GLVQ(**QUICK)),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model).replace("\n", "").replace(" ", "")[:60])
def test_many_features_need_no_matrix_of_their_pairs(model):
    """For any norm, and for changes of the least length."""
    X, y = wide_data()
    model.fit(X, y)
    tracemalloc.start()
    for norm in (1, 2, np.inf):
        assert certified_radius(model, X[:3], norm).min() > 0
    changed = counterfactual(model, X[:3])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < N_FEATURES**2 * 8 / 2
    np.testing.assert_array_equal(model.predict(changed.samples), changed.label)
    assert np.all(changed.label != model.predict(X[:3]))
    radius = certified_radius(model, X[:3])
    if len(getattr(model, "prototypes_", X[:2])) == 2:  # one for each class: the radius is exact
        assert np.all(changed.distance >= radius * (1 - 1e-6))
