"""The list of trusted types: all of ours that a model can hold, and nothing that is not there."""

import importlib
from dataclasses import is_dataclass

import pytest
from sklearn.base import BaseEstimator

import lvq
from lvq.model.costs import COSTS
from lvq.model.links import KERNELS
from lvq.model.relevance import RELEVANCES
from lvq.persistence.trusted import OBJECTS, TRUSTED, TUPLES, type_names

OURS = [
    *(part for name in lvq.__all__ if isinstance(part := getattr(lvq, name), type) and issubclass(part, BaseEstimator)),
    *COSTS.values(),
    *KERNELS.values(),
    *RELEVANCES.values(),
]


@pytest.mark.parametrize("part", OURS, ids=lambda part: part.__name__)
def test_ours_are_trusted(part):
    assert f"{part.__module__}.{part.__qualname__}" in OBJECTS


@pytest.mark.parametrize("name", sorted(TRUSTED))
def test_names_exist(name):
    module, _, attribute = name.rpartition(".")
    assert getattr(importlib.import_module(module), attribute).__name__ == attribute


@pytest.mark.parametrize("name", sorted(name for name in OBJECTS if name.startswith("lvq.")))
def test_ours_are_plain(name):
    """None of ours does anything when it is given its attributes: no `__setstate__` of its own, no slots."""
    module, _, attribute = name.rpartition(".")
    part = getattr(importlib.import_module(module), attribute)
    assert is_dataclass(part) or issubclass(part, BaseEstimator)
    for kind in part.__mro__:
        if kind.__module__.startswith("lvq."):
            assert not {"__setstate__", "__reduce__", "__reduce_ex__", "__new__", "__slots__"} & set(vars(kind))


@pytest.mark.parametrize("name", sorted(TUPLES))
def test_tuples_are_named_tuples(name):
    module, _, attribute = name.rpartition(".")
    part = getattr(importlib.import_module(module), attribute)
    assert part.__bases__ == (tuple,)
    assert part._fields


def test_names_of_types_and_functions():
    assert type_names([lvq.GLVQ, len, "a.b"]) == {"lvq.estimators.margin.GLVQ", "builtins.len", "a.b"}
