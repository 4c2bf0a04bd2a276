"""LVQClassifier: defaults that need no tuning, and every part a parameter."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, LGMLVQ, LOGM, RSLVQ, LVQClassifier
from lvq.model.costs import COSTS, GLVQCost
from lvq.model.links import KERNELS
from lvq.model.relevance import MatrixRelevance

quietly = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def quiet_fit(model, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*arguments)


@quietly
@pytest.mark.parametrize(
    ("load", "least"), [(load_iris, 0.93), (load_wine, 0.95), (load_breast_cancer, 0.95)], ids=["iris", "wine", "wdbc"]
)
def test_defaults_need_no_tuning(load, least):
    """Mean accuracy of 5-fold cross-validation on standardised features."""
    model = make_pipeline(StandardScaler(), LVQClassifier(random_state=0))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert cross_val_score(model, *load(return_X_y=True), cv=folds).mean() > least


@quietly
@pytest.mark.parametrize("solver", ["lbfgs", "adam", "online"])
@pytest.mark.parametrize("relevance", [None, "gradient", "matrix", "local_matrix", "local_diagonal"])
@pytest.mark.parametrize("cost", COSTS)
def test_every_choice_fits(cost, relevance, solver, data):
    X, y = data
    for kernel in (None, *KERNELS):
        model = LVQClassifier(
            cost=cost, relevance=relevance, kernel=kernel, solver=solver, max_iter=10, batch_size=30, random_state=0
        )
        model.fit(X, y)
        assert model.score(X, y) > 0.7, kernel
        proba = model.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
        assert np.isfinite(model.objective_value(X, y))


@pytest.mark.parametrize(
    ("general", "named"),
    [
        (LVQClassifier(cost="glvq", relevance=None, kernel=None, alpha=0.0, n_prototypes=2), GLVQ(n_prototypes=2)),
        (LVQClassifier(cost="glvq", relevance="matrix", ridge=0, kernel=None, alpha=0.0, n_prototypes=1), GMLVQ()),
        (
            LVQClassifier(cost=GLVQCost(slope=3.0), ridge=0, kernel=None, n_prototypes=1, local="class"),
            LGMLVQ(slope=3.0),
        ),
        (
            LVQClassifier(cost="logm", relevance=None, kernel="cauchy", alpha=0.1, xi=1.5),
            LOGM(kernel="cauchy", alpha=0.1, xi=1.5, n_prototypes=2),
        ),
        (
            LVQClassifier(cost="rslvq", relevance=None, kernel=None, alpha=0.0, xi=1.0, decision="posterior"),
            RSLVQ(decision="posterior", n_prototypes=2),
        ),
    ],
    ids=["GLVQ", "GMLVQ", "LGMLVQ", "LOGM", "RSLVQ"],
)
def test_named_models_are_configurations(general, named, data):
    X, y = data
    general = clone(general).set_params(calibration=None)
    general, named = (quiet_fit(clone(part).set_params(max_iter=15, random_state=0), X, y) for part in (general, named))
    np.testing.assert_array_equal(general.prototypes_, named.prototypes_)
    np.testing.assert_array_equal(general.predict_proba(X), named.predict_proba(X))


def test_a_cost_object_is_the_same_as_its_name(data):
    X, y = data
    settings = {"relevance": None, "kernel": None, "max_iter": 10, "random_state": 0}
    named = quiet_fit(LVQClassifier(cost="glvq", alpha=0.2, **settings), X, y)
    given = quiet_fit(LVQClassifier(cost=GLVQCost(0.2), **settings), X, y)
    np.testing.assert_array_equal(named.prototypes_, given.prototypes_)


@pytest.mark.parametrize("relevance", ["matrix", MatrixRelevance()])
def test_transform_only_with_one_matrix(relevance, data):
    X, y = data
    model = quiet_fit(LVQClassifier(relevance=relevance, rank=2, max_iter=10, random_state=0), X, y)
    np.testing.assert_allclose(model.transform(X), X @ model.omega_.T)
    assert model.transform(X).shape == (90, 2)
    for other in (None, "gradient", "local_matrix", "local_diagonal", "local_scale"):
        assert not hasattr(LVQClassifier(relevance=other), "transform")
        with pytest.raises(AttributeError, match="has no attribute 'transform'"):
            _ = LVQClassifier(relevance=other).transform


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (LVQClassifier(n_prototypes=2), (6, 4, 4)),
        (LVQClassifier(local="class"), (3, 4, 4)),
        (LVQClassifier(rank=2), (6, 2, 4)),
        (LVQClassifier(relevance="matrix"), (4, 4)),
        (LVQClassifier(relevance="matrix", rank=1), (1, 4)),
    ],
    ids=["prototype", "class", "rank 2", "shared", "shared rank 1"],
)
def test_shapes_of_the_matrices(model, shape, data):
    assert quiet_fit(clone(model).set_params(max_iter=2, random_state=0), *data).omega_.shape == shape


def test_shrinkage_makes_matrices_alike(data):
    """Each becomes a multiple of the identity, plus less and less that differs."""
    X, y = data
    distances = []
    for shrinkage in (0.0, 0.01, 1.0):
        model = quiet_fit(LVQClassifier(n_prototypes=2, shrinkage=shrinkage, random_state=0, max_iter=200), X, y)
        scales = np.trace(model.omega_, axis1=1, axis2=2)[:, None, None] / 4
        distances.append(np.linalg.norm(model.omega_ - scales * np.eye(4)) / np.linalg.norm(model.omega_))
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 0.2


def test_a_ridge_frees_the_size_and_shrinks_it(data):
    X, y = data
    model = LVQClassifier(relevance="matrix", random_state=0, max_iter=200)
    sizes = [
        float(np.linalg.norm(quiet_fit(clone(model).set_params(ridge=ridge), X, y).omega_))
        for ridge in (0, 1e-4, 1e-2, 1)
    ]
    assert sizes[0] == pytest.approx(1, rel=1e-12)
    assert sizes[1] > sizes[2] > sizes[3]


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize(
    "model", [LVQClassifier(), LVQClassifier(relevance="matrix", kernel=None)], ids=["default", "one"]
)
def test_the_unit_of_the_features_does_not_matter_to_the_start(model, factor, data):
    """The ridge weighs Omega, which is one over a length; but Omega starts in the data's own unit."""
    X, y = data
    settings = {"n_prototypes": 1, "solver": "adam", "learning_rate": 0.0, "max_iter": 1, "random_state": 0}
    one, other = (clone(model).set_params(**settings).fit(scale * X, y) for scale in (1.0, factor))
    np.testing.assert_allclose(other.predict_proba(factor * X), one.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("relevance", [None, "gradient"])
def test_rank_needs_a_matrix(relevance, data):
    with pytest.raises(ValueError, match="rank=2 of LVQClassifier needs relevance='matrix' or 'local_matrix'"):
        LVQClassifier(relevance=relevance, rank=2).fit(*data)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("cost", "hinge"), ("ridge", -1.0), ("local", "group"), ("rank", 0), ("xi", -2.0), ("solver", "newton")],
)
def test_bad_parameters(parameter, value, data):
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of LVQClassifier must be"):
        LVQClassifier(**{parameter: value}).fit(*data)
