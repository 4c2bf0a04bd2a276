"""The table of the papers' names: every name exists, can be made, and learns."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import lvq
from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ1, LVQ3, LVQ21, MCE, OLVQ1, RLVQ, RSLVQ, SNPC
from lvq.estimators.paper_models import MODELS
from lvq.model.relevance import Hebbian, Matrix, Relevance

# every method of the papers' tables as it is printed there, the support vector machines aside
PUBLISHED = {
    "Jin": ["GLVQ", "LOGM", "MCE", "SNPC"],
    "Kaestner": ["DK-GLVQ", "DK-GMLVQ m=2", "DK-GMLVQ m=n", "GLVQ", "GMLVQ m=2", "GMLVQ m=n"],
    "Ridge": ["FC1GLVQ", "FC1LVQ1", "FC2GLVQ", "FC2LVQ1", "GLVQ", "GRLVQ", "LVQ1", "RLVQ"],
}
# which class a name must lead to, and what it must have switched on
MEANING = {
    "LVQ1": (LVQ1, {}),
    "LVQ2.1": (LVQ21, {}),
    "LVQ3": (LVQ3, {}),
    "OLVQ1": (OLVQ1, {}),
    "RLVQ": (RLVQ, {"relevance": Hebbian(squared=True)}),
    "GLVQ": (GLVQ, {"relevance": None, "kernel": None}),
    "GRLVQ": (GRLVQ, {}),
    "FC1LVQ1": (LVQ1, {"relevance": "fc1"}),
    "FC2LVQ1": (LVQ1, {"relevance": "fc2"}),
    "FC1GLVQ": (GLVQ, {"relevance": "fc1"}),
    "FC2GLVQ": (GLVQ, {"relevance": "fc2"}),
    "FC1MCE": (MCE, {"relevance": "fc1"}),
    "FC2MCE": (MCE, {"relevance": "fc2"}),
    "FC1LOGM": (LOGM, {"relevance": "fc1"}),
    "FC2LOGM": (LOGM, {"relevance": "fc2"}),
    "MCE": (MCE, {}),
    "LOGM": (LOGM, {}),
    "SNPC": (SNPC, {}),
    "RSLVQ": (RSLVQ, {}),
    "DK-GLVQ": (GLVQ, {"kernel": "gaussian"}),
    "GMLVQ": (GMLVQ, {"relevance": "matrix", "kernel": None}),
    "GMLVQ m=2": (GMLVQ, {"relevance": Matrix(rank=2), "kernel": None}),
    "DK-GMLVQ": (GMLVQ, {"relevance": "matrix", "kernel": "gaussian"}),
    "DK-GMLVQ m=2": (GMLVQ, {"relevance": Matrix(rank=2), "kernel": "gaussian"}),
    "LGMLVQ": (LGMLVQ, {}),
}


@pytest.fixture(scope="module", params=[load_iris, load_breast_cancer], ids=["iris", "wdbc"])
def standardised(request):
    X, y = request.param(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_learns(name, standardised):
    """Two prototypes per class, nothing tuned: far above the majority (0.33, 0.63)."""
    X, y = standardised
    model = MODELS[name].make(n_prototypes=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85
    assert len(model.prototypes_) == 2 * len(np.unique(y))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MODELS if not MODELS[name].make()._parts().is_online])
def test_learns_online(name, standardised):
    """As the papers train: sample by sample, here for few epochs."""
    X, y = standardised
    model = MODELS[name].make(n_prototypes=2, random_state=0, solver="online", max_iter=20).fit(X, y)
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("name", MODELS)
def test_parameters_exist(name):
    entry = MODELS[name]
    made = entry.make(random_state=3)
    assert type(made) is entry.estimator
    assert set(entry.parameters) <= set(made.get_params())
    expected = entry.estimator().get_params(deep=False) | entry.parameters | {"random_state": 3}
    assert made.get_params(deep=False) == expected


@pytest.mark.parametrize("name", MODELS)
def test_the_class_is_public(name):
    assert getattr(lvq, MODELS[name].estimator.__name__) is MODELS[name].estimator


@pytest.mark.parametrize("paper", PUBLISHED)
def test_published(paper):
    assert set(PUBLISHED[paper]) <= set(MODELS)


@pytest.mark.parametrize("name", MEANING)
def test_meaning(name):
    expected, parameters = MEANING[name]
    made = MODELS[name].make()
    assert type(made) is expected
    assert {key: getattr(made, key) for key in parameters} == parameters


def test_every_name_has_a_meaning():
    """What is not in the table above is a published variant of a name that is, or the same with m=n."""
    for name in set(MODELS) - set(MEANING):
        assert name.endswith((" (published)", " m=n"))
        assert name.removesuffix(" (published)").removesuffix(" m=n") in MEANING


def test_full_rank_names_mean_the_plain_ones():
    for name in ("GMLVQ", "DK-GMLVQ"):
        assert MODELS[f"{name} m=n"].make().get_params() == MODELS[name].make().get_params()


def test_making_does_not_change_the_table():
    before = dict(MODELS["FC2GLVQ"].parameters)
    made = MODELS["FC2GLVQ"].make(relevance="fc1")
    assert made.relevance == "fc1"
    assert MODELS["FC2GLVQ"].parameters == before


def test_published_variants_differ_from_the_print():
    """Each published variant changes something, or it would not need a name."""
    for name in MODELS:
        if name.endswith(" (published)"):
            printed, published = MODELS[name.removesuffix(" (published)")], MODELS[name]
            assert printed != published
            rule = published.parameters.get("relevance")
            assert rule is None or isinstance(rule, Relevance)


def test_rlvq_is_lvq1_with_the_hebbian_rule(standardised):
    X, y = standardised
    one = RLVQ(random_state=0, max_iter=5).fit(X, y)
    other = LVQ1(relevance="hebbian", random_state=0, max_iter=5).fit(X, y)
    np.testing.assert_array_equal(one.prototypes_, other.prototypes_)
    np.testing.assert_array_equal(one.relevances_, other.relevances_)


def test_grlvq_is_glvq_with_gradient_relevances(standardised):
    X, y = standardised
    one = GRLVQ(random_state=0, max_iter=5, solver="online").fit(X, y)
    other = GLVQ(relevance="gradient", random_state=0, max_iter=5, solver="online").fit(X, y)
    np.testing.assert_array_equal(one.prototypes_, other.prototypes_)
    np.testing.assert_array_equal(one.relevances_, other.relevances_)


def test_gmlvq_is_glvq_with_a_matrix(standardised):
    X, y = standardised
    one = GMLVQ(random_state=0, max_iter=5, solver="online").fit(X, y)
    other = GLVQ(relevance="matrix", random_state=0, max_iter=5, solver="online").fit(X, y)
    np.testing.assert_array_equal(one.omega_, other.omega_)
