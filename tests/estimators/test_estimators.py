"""Fitted estimators: labels of any kind, attributes, the float type of the data, and models that learn."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, LVQ1
from lvq.estimators.registry import MODELS
from tests.estimators.configurations import assert_same

# -- fitted attributes ------------------------------------------------------------------------------------------------


def test_learned_attributes(model, data):
    X, y = data
    model.fit(X, y)
    count = 3 * model.n_prototypes
    assert model.prototypes_.shape == (count, 4)
    np.testing.assert_array_equal(model.prototype_labels_, np.repeat([0, 1, 2], model.n_prototypes))
    assert model.n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")
    assert 0 < model.n_iter_ == len(model.objective_history_) <= model.max_iter
    if hasattr(model, "relevances_"):
        groups = {None: (), "class": (3,), "prototype": (count,)}[getattr(model._relevance(), "local", None)]
        assert model.relevances_.shape == (*groups, 4)
    if hasattr(model, "omega_"):
        np.testing.assert_allclose(model.lambda_, np.swapaxes(model.omega_, -1, -2) @ model.omega_)
    assert hasattr(model, "kernel_width_") == (model.kernel is not None)


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ({"relevance": "matrix"}, {"relevance": "fc2"}, ["omega_", "lambda_"]),
        ({"relevance": "fc2"}, {"relevance": "matrix"}, ["relevances_"]),
        ({"kernel": "gaussian"}, {"kernel": None}, ["kernel_width_"]),
    ],
)
def test_a_second_fit_removes_attributes_of_the_first(before, after, gone, data):
    X, y = data
    model = GLVQ(solver="online", max_iter=2, random_state=0, **before).fit(X, y).set_params(**after).fit(X, y)
    fresh = GLVQ(solver="online", max_iter=2, random_state=0, **after).fit(X, y)
    for name in gone:
        assert not hasattr(model, name)
    assert_same(model, fresh)


# -- float32 -----------------------------------------------------------------------------------------------------------


@pytest.mark.thin(5)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_type_is_kept(model, data, dtype):
    X, y = data[0].astype(dtype), data[1]
    model.fit(X, y)
    for name in ("prototypes_", "relevances_", "omega_", "lambda_"):
        if hasattr(model, name):
            assert getattr(model, name).dtype == dtype, name
    for name in ("decision_function", "predict_proba", "transform"):
        if hasattr(model, name):
            assert getattr(model, name)(X).dtype == dtype, name
    explanation = model.explain(X)
    assert explanation.certainty.dtype == dtype
    assert explanation.contributions.dtype == dtype


# -- learning ---------------------------------------------------------------------------------------------------------


def test_one_prototype_a_class_has_no_variance_for_fc1(data):
    """Without any variance within the classes the Fisher criterion is undefined, and no update is made."""
    X, y = data
    model = LVQ1(relevance="fc1", random_state=0, max_iter=3).fit(X, y)
    np.testing.assert_array_equal(model.relevances_, np.full(4, 0.25))


# -- the papers' names ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[load_iris, load_breast_cancer], ids=["iris", "wdbc"])
def standardised(request):
    X, y = request.param(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.thin(3)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_learns(name, standardised):
    """Two prototypes per class, nothing tuned: far above the majority (0.33, 0.63)."""
    X, y = standardised
    model = MODELS[name].make(n_prototypes=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85
    assert len(model.prototypes_) == 2 * len(np.unique(y))


def test_full_rank_names_mean_the_plain_ones():
    for name in ("GMLVQ", "DK-GMLVQ"):
        assert MODELS[f"{name} m=n"].make().get_params() == MODELS[name].make().get_params()
