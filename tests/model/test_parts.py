"""Parts carry their own parameters, as scikit-learn's `clone` and searches expect them."""

import pickle
from dataclasses import FrozenInstanceError, fields

import pytest
from sklearn.base import clone

from lvq.model.costs import COSTS, GLVQCost, LOGMCost, WindowRule, WinnerRule
from lvq.model.links import KERNELS, Gaussian, Identity
from lvq.model.relevance import RELEVANCES, Matrix, Relevance, Scale
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online

PARTS = [
    *COSTS.values(), *KERNELS.values(), *RELEVANCES.values(), WinnerRule(), WindowRule(), Identity(), Relevance(),
    LBFGS(), Adam(), Online(),
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_every_part_is_made_again_from_its_parameters(part):
    params = part.get_params()
    assert params == part.get_params(deep=False)
    assert set(params) == {field.name for field in fields(part) if field.init}
    for copied in (type(part)(**params), clone(part), pickle.loads(pickle.dumps(part))):
        assert copied == part
        assert copied.get_params() == params
        assert copied is not part


def test_parameters_are_set_by_name():
    rule = Matrix(rank=2)
    assert rule.set_params(rank=3, local="class") is rule
    assert rule == Matrix(rank=3, local="class")
    assert clone(rule).set_params(ridge=0.5).free_size
    assert not rule.free_size
    assert LOGMCost().set_params(xi=5.0).get_params()["xi"] == 5.0
    assert Gaussian().set_params(width=2.0).with_width(3.0).width == 3.0
    assert Online().set_params() == Online()


@pytest.mark.parametrize("name", ["ranks", "free_size", "structure", "smooth"])
def test_unknown_parameters_are_refused(name):
    with pytest.raises(ValueError, match=rf"Matrix has no parameter '{name}'; it has \['feature_groups', .*'rank'"):
        Matrix().set_params(**{name: 1})


def test_fixed_fields_are_no_parameters():
    assert set(Scale().get_params()) == {"local", "ridge"}
    with pytest.raises(ValueError, match="Scale has no parameter 'sparsity'"):
        Scale().set_params(sparsity=0.1)


def test_parts_are_frozen_otherwise():
    with pytest.raises(FrozenInstanceError):
        GLVQCost().slope = 3.0
