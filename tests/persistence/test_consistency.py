"""Consistency of loaded estimators, part by part."""

from types import SimpleNamespace

import numpy as np
import pytest

from lvq import GLVQ
from lvq.persistence.consistency import check, check_state

SHAPES = {"wins": (3,), "seen": (3,), "mean": (3, 4), "scatter": (3, 4), "scores": (1,), "rates": (3,)}


def state(step=0.0, units=(1.0, 2.0), **statistics):
    arrays = {name: np.zeros(shape) for name, shape in SHAPES.items()} | statistics
    return SimpleNamespace(step=step, units=units, statistics=SimpleNamespace(**arrays))


@pytest.fixture(scope="module")
def model(data):
    return GLVQ(random_state=0).fit(*data).model_


def test_a_training_state_that_fits(model):
    check_state(state(), model)
    empty = {name: np.zeros((0,) * len(shape)) for name, shape in SHAPES.items() if name != "scores"}
    check_state(state(**empty), model)


@pytest.mark.parametrize("name", SHAPES)
def test_statistics_of_another_shape_type_or_value(name, model):
    shape = SHAPES[name]
    others = [np.zeros((shape[0] + 1, *shape[1:])), np.zeros(shape, dtype=np.float32), np.full(shape, np.nan)]
    for values in (*others, np.zeros((*shape, 1)), *([np.zeros(0)] if name == "scores" else [])):
        with pytest.raises(ValueError, match=rf"statistics \({name}\) that do not fit"):
            check_state(state(**{name: values}), model)


@pytest.mark.parametrize("units", [(0.0, 1.0), (1.0, np.inf), (np.nan, 1.0)])
def test_units(units, model):
    with pytest.raises(ValueError, match=r"steps or units that are not valid"):
        check_state(state(units=units), model)


@pytest.mark.parametrize("step", [-1.0, np.nan, np.inf])
def test_steps(step, model):
    with pytest.raises(ValueError, match=r"steps or units that are not valid"):
        check_state(state(step=step), model)


def test_parameters():
    check(GLVQ(max_iter=5))
    with pytest.raises(ValueError, match=r"The 'max_iter' parameter of GLVQ must be"):
        check(GLVQ(max_iter=-5))


def test_feature_names(data):
    estimator = GLVQ(random_state=0).fit(*data)
    estimator.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    with pytest.raises(ValueError, match=r"PrototypeModel has 3 feature names|GLVQ has prototypes of 4 features"):
        check(estimator)
