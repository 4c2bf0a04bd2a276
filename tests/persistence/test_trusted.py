"""Trusted names: every part that a model can have, and nothing else."""

import importlib
import pkgutil
from dataclasses import is_dataclass

import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

import lvq
from lvq import preprocessing
from lvq.model.costs import COSTS
from lvq.model.links import KERNELS
from lvq.model.relevance import RELEVANCES
from lvq.persistence.trusted import (
    PACKAGES,
    UntrustedError,
    find,
    is_class,
    is_value,
    name_of,
    public_types,
)
from lvq.rejection import CostClassifier

NOTHING_TRUSTED = frozenset()
PARTS = [type(part) for part in (*COSTS.values(), *KERNELS.values(), *RELEVANCES.values())]


def test_every_public_estimator():
    types = [part for name in lvq.__all__ if isinstance(part := getattr(lvq, name), type)]
    estimators = {part for part in types if issubclass(part, BaseEstimator)}
    others = {CostClassifier, *(getattr(preprocessing, name) for name in preprocessing.__all__)}
    assert set(public_types().values()) == estimators | others
    for name, kind in public_types().items():
        module, _, attribute = name.rpartition(".")
        assert getattr(importlib.import_module(module), attribute) is kind
        assert name_of(kind) == name
        assert find(name, is_class, NOTHING_TRUSTED) is kind


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_every_part(part):
    assert find(name_of(part), is_class, NOTHING_TRUSTED) is part


def test_parts_of_this_library_are_plain():
    """Building one runs no code of its own: no `__new__`, no slots; `__setstate__` and `__reduce__` are not called."""
    checked = 0
    for package in PACKAGES[:-1]:
        outer = importlib.import_module(package.rstrip("."))
        for module in pkgutil.walk_packages(outer.__path__, package):
            if module.name == "lvq.model.fused":  # needs triton
                continue
            for part in vars(importlib.import_module(module.name)).values():
                if isinstance(part, type) and part.__module__ == module.name and is_class(part):
                    assert is_dataclass(part) or part._fields
                    assert part.__bases__ == (tuple,) or not {"__new__", "__slots__"} & set(vars(part))
                    checked += 1
    assert checked > 20


REFUSED = [
    ("os.system", is_value),
    ("builtins.eval", is_value),
    ("builtins.list", is_value),
    ("numpy.load", is_value),
    ("numpy.lib.npyio.load", is_value),
    ("sklearn.utils.fixes.np", is_value),
    ("sklearn.metrics._scorer.Bunch", is_class),
    ("sklearn.datasets._base.load_files", is_value),
    ("sklearn.tree._tree.Tree", is_class),
    ("lvq.estimators.base.BaseLVQ", is_class),
    ("lvq._files.Path", is_class),
    ("lvq.GLVQ.fit", is_value),
]


@pytest.mark.parametrize(("name", "allowed"), REFUSED)
def test_refused(name, allowed):
    with pytest.raises(UntrustedError, match=rf"{name}, which is not "):
        find(name, allowed, NOTHING_TRUSTED)


def test_trust_of_the_caller():
    assert find("builtins.eval", is_value, frozenset({"builtins.eval"})) is eval
    with pytest.raises(ImportError, match=r"nowhere.Thing cannot be imported"):
        find("nowhere.Thing", is_class, frozenset({"nowhere.Thing"}))


@pytest.mark.parametrize("part", [SVC, LinearSVC, KMeans, KNeighborsClassifier, RandomForestClassifier])
def test_compiled_code_that_trusts_its_arrays_is_not_trusted(part):
    """An SVC with a wrong number of support vectors ended the process."""
    with pytest.raises(UntrustedError, match=rf"{part.__name__}, which is not trusted"):
        find(name_of(part), is_class, NOTHING_TRUSTED)
    assert find(name_of(part), is_class, frozenset({name_of(part)})) is part
