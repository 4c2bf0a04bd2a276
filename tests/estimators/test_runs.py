"""Runs of `fit`: reproducible by seed, warm start, early stopping, progress reports."""

import numpy as np
import pytest
from sklearn.base import clone

from lvq import GLVQ, LOGM, LVQ1, LVQClassifier
from lvq.model.links import RationalQuadratic
from lvq.solvers.online import Online
from tests.estimators.configurations import assert_same

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# -- seeds -------------------------------------------------------------------------------------------------------------


def test_another_seed_another_order(default, data):
    X, y = data
    default.set_params(init="random", n_prototypes=2, max_iter=3)
    one, two = clone(default).fit(X, y), default.set_params(random_state=1).fit(X, y)
    assert (one.prototypes_ != two.prototypes_).any()


def test_without_shuffling_no_seed_matters(default, data):
    X, y = data
    default.set_params(solver__shuffle=False, max_iter=3, init="means")
    one, two = clone(default).fit(X, y), default.set_params(random_state=1).fit(X, y)
    assert_same(one, two)


# -- warm start and stopping -------------------------------------------------------------------------------------------


def test_warm_start_continues(online_model, data):
    """Two warm fits of a constant rate without shuffling are one fit of twice the length.

    The statistics of OLVQ1 and of the Fisher rules, and a slope that grows with time, start again with each fit.
    """
    X, y = data
    model = online_model
    memory = type(model).__name__ == "OLVQ1" or str(getattr(model, "relevance", "")).startswith("fc")
    if memory or getattr(model, "slope", None) == "time":
        pytest.skip("counts its steps within one fit")
    model.set_params(solver__schedule="constant", solver__shuffle=False, max_iter=4)
    long = clone(model).set_params(max_iter=8).fit(X, y)
    model.set_params(warm_start=True).fit(X, y)
    middle = model.prototypes_.copy()
    model.fit(X, y)
    np.testing.assert_allclose(model.prototypes_, long.prototypes_, rtol=1e-7, atol=1e-9)
    assert (model.prototypes_ != middle).any()
    assert model.n_iter_ == 4


def test_warm_start_takes_new_weights_of_parts(data):
    """Rates and steepness may change between two warm fits; the prototypes stay where they are."""
    X, y = data
    model = LOGM(solver="online", warm_start=True, random_state=0).fit(X, y)
    before = model.prototypes_.copy()
    model.set_params(solver=Online(learning_rate=0.0), xi=7.0).fit(X, y)
    np.testing.assert_allclose(model.prototypes_, before, rtol=1e-12)


@pytest.mark.parametrize("change", [{"relevance__ridge": 0.0}, {"solver": "online"}], ids=str)
def test_warm_start_without_the_ridge_is_refused(change, data):
    """Units measured with a matrix of free size do not fit one of unit trace."""
    X, y = data
    model = LVQClassifier(relevance="matrix", warm_start=True, max_iter=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="'ridge' has changed"):
        model.set_params(**change).fit(X, y)


def test_warm_start_with_another_ridge(data):
    """The strength of the penalties may change: that is how a path of ridges is made."""
    X, y = data
    model = LVQClassifier(relevance="matrix", warm_start=True, max_iter=2, random_state=0)
    before = model.set_params(relevance__ridge=0.1).fit(X, y).objective_value(X, y)
    assert model.set_params(relevance__ridge=0.001).fit(X, y).objective_value(X, y) < before


def test_warm_start_with_new_equal_parts(data):
    """Equal arrays, dicts and objects are no change."""
    X, y = data
    parts = {"init": X[:3], "n_prototypes": {0: 1, 1: 1, 2: 1}, "kernel": RationalQuadratic(shape=2.0)}
    model = LOGM(solver="online", warm_start=True, max_iter=2, random_state=0, **parts).fit(X, y)
    equal = {"init": X[:3].copy(), "n_prototypes": {0: 1, 1: 1, 2: 1}, "kernel": RationalQuadratic(shape=2.0)}
    assert model.set_params(**equal).fit(X, y).n_iter_ == 2


@pytest.mark.parametrize(("dtype", "unit", "max_iter"), [(np.float64, 1.0, 1), (np.float32, 1e-12, 100)])
def test_lbfgs_with_nothing_to_learn(dtype, unit, max_iter):
    """With one sample per class the prototypes start at the samples; there is still a history."""
    X = unit * np.array([[0.126, -0.132, 0.64], [0.105, -0.536, 0.362]])
    model = GLVQ(solver="lbfgs", max_iter=max_iter).fit(X.astype(dtype), [0, 1])
    np.testing.assert_allclose(model.prototypes_, X, rtol=1e-5)
    assert len(model.objective_history_) > 0


# -- verbose -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [GLVQ(solver="online"), LVQ1(), GLVQ(solver="adam")], ids=str)
def test_verbose_prints_lines_and_nothing_is_printed_by_default(model, data, capsys):
    clone(model).set_params(max_iter=2).fit(*data)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    model.set_params(max_iter=3, verbose=True).fit(*data)
    last = capsys.readouterr().out.splitlines()[-1]
    for part in (type(model).__name__, "3/3", f"objective {model.objective_history_[-1]:.5g}"):
        assert part in last
