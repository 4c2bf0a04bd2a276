"""An estimator is a specification: parameters set after `fit` change no output until the next `fit`."""

import numpy as np
import pytest
from sklearn.base import clone

from lvq import GMLVQ, LOGM, RSLVQ, LVQClassifier, LVQClassifierCV
from lvq.estimators.registry import estimator_types
from lvq.model.costs import MCECost
from lvq.model.links import Gaussian
from lvq.model.relevance import Matrix
from lvq.solvers.online import Online

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
ATTRIBUTES = [
    *["classes_", "prototypes_", "prototype_labels_", "relevances_", "omega_", "lambda_", "kernel_width_"],
    *["feature_importances_", "n_iter_", "objective_history_", "best_score_", "n_features_in_"],
]
METHODS = ("predict", "predict_proba", "decision_function", "explain", "transform")
EXAMPLES = [
    *(part(random_state=0) for name, part in estimator_types().items() if name != "LVQClassifierCV"),
    GMLVQ(kernel="gaussian", relevance=Matrix(rank=2, log_determinant=0.1), random_state=0),
    RSLVQ(decision="posterior", n_prototypes=2, random_state=0),
    LVQClassifierCV(
        estimator=LVQClassifier(max_iter=10),
        cv=2,
        candidates=[{"relevance": Matrix(ridge=0.1)}, {"relevance": Matrix(ridge=0.01)}],
        random_state=0,
    ),
]


def outputs(model, X, y):
    """All outputs of a fitted estimator, by name."""
    found = {name: getattr(model, name)(X) for name in METHODS if hasattr(model, name)}
    found |= {name: getattr(model, name) for name in ATTRIBUTES if hasattr(model, name)}
    found["score"] = model.score(X, y, np.linspace(1, 2, len(y)))
    if hasattr(model, "objective_value"):
        found["objective_value"] = model.objective_value(X, y)
        found["weighted objective_value"] = model.objective_value(X, y, np.linspace(1, 2, len(y)))
    if hasattr(model, "get_feature_names_out"):
        found["get_feature_names_out"] = model.get_feature_names_out()
    return found


def assert_same(one, other, message):
    assert one.keys() == other.keys(), message
    for name in one:
        parts = zip(one[name], other[name]) if name == "explain" else [(one[name], other[name])]
        for left, right in parts:
            np.testing.assert_array_equal(left, right, err_msg=f"{name} after {message}")


@pytest.mark.thin(4)
@pytest.mark.parametrize("model", EXAMPLES, ids=str)
def test_parameters_set_after_fit_change_no_output(model, data):
    X, y = data
    model = clone(model).fit(X, y)
    before, given = outputs(model, X, y), model.get_params(deep=False)
    for name, value in given.items():
        model.set_params(**{name: "something else"})
        assert_same(outputs(model, X, y), before, f"another {name}")
        model.set_params(**{name: value})
    model.set_params(**dict.fromkeys(given, "something else"))
    assert_same(outputs(model, X, y), before, "all of them together")


def test_parts_are_copied(data):
    """A part is the user's, and may change after `fit`."""
    X, y = data
    parts = {"relevance": Matrix(rank=2), "solver": Online(), "kernel": Gaussian(), "cost": MCECost(0.0, 2.0)}
    model = LVQClassifier(**parts, random_state=0, max_iter=3).fit(X, y)
    before = outputs(model, X, y)
    others = {"relevance": {"rank": 3}, "solver": {"shuffle": False}, "kernel": {"width": 9.0}, "cost": {"xi": 9.0}}
    for name, part in parts.items():
        part.set_params(**others[name])
    assert_same(outputs(model, X, y), before, "changed parts")
    assert LVQClassifier().set_params(cost__xi=9.0).cost.xi != LVQClassifier()._cost().xi  # defaults are not shared


def test_the_next_fit_uses_them(data):
    """Else the tests above could pass for an estimator that ignores its parameters."""
    X, y = data
    model = LOGM(random_state=0).fit(X, y)
    model.set_params(xi=0.3, n_prototypes=2, kernel="gaussian")
    again, fresh = model.fit(X, y), LOGM(**model.get_params()).fit(X, y)
    assert_same(outputs(again, X, y), outputs(fresh, X, y), "a second fit")
    assert again.prototypes_.shape == (6, 4)
