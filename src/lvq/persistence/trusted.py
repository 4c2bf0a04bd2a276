"""Which classes and functions a model file may name: those below, and those that the caller trusts.

Trees, ensembles, support vector machines, clusters and neighbours of scikit-learn are not among them: their compiled
code trusts the indices and sizes of its arrays, which a file could set to anything.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any, TypeAlias

import numpy as np

from lvq.estimators.registry import estimator_types

MODULES = ("builtins", "numpy", "scipy.special")
PACKAGES = ("lvq.model.", "lvq.solvers.", "lvq.rejection.", "sklearn.")
# modules inside these packages: some are not for models, the compiled code of others trusts its arrays
EXCLUDED = frozenset(
    {"tests", "externals", "conftest", "datasets", "tree", "ensemble", "svm", "cluster", "neighbors", "manifold"}
)
SKLEARN_PARTS = (
    "sklearn.utils._metadata_requests.",  # bases of estimators, splitters and scorers
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.compose._column_transformer._RemainderColsList",  # columns of the remainder, in scikit-learn 1.6
    "sklearn.calibration._CalibratedClassifier",
)
SKLEARN_FUNCTIONS = ("sklearn.metrics", "sklearn.feature_selection")
Trusted: TypeAlias = str | type | Callable[..., object]  # a class or a function, or its full name
SCALARS = (bool, int, float, complex, str, bytes, object)


class UntrustedError(Exception):
    """A class or function that a model file may not name."""

    def __init__(self, name: str) -> None:
        hint = f"which is not trusted; if you trust it, pass trusted=[{name!r}] to lvq.save and lvq.load."
        never = str(name).partition(".")[0] in sys.stdlib_module_names  # Python's own modules are never needed
        super().__init__(f"{name}, {'which is not allowed in a model file.' if never else hint}")


@cache
def public_types() -> dict[str, type]:
    """The estimators of this library by their public names, which stay when a class moves to another module."""
    from lvq.preprocessing import NuisanceRemoval, SavitzkyGolay, StandardNormalVariate, TablePreprocessor
    from lvq.rejection.classifier import RejectClassifier
    from lvq.rejection.costs import CostClassifier

    transformers = NuisanceRemoval, StandardNormalVariate, SavitzkyGolay, TablePreprocessor
    steps = {f"lvq.preprocessing.{kind.__name__}": kind for kind in transformers}
    around = {"lvq.RejectClassifier": RejectClassifier, "lvq.rejection.CostClassifier": CostClassifier}
    return {f"lvq.{name}": kind for name, kind in estimator_types().items()} | around | steps


def name_of(item: type | Callable[..., object]) -> str:
    """The full name of a class or function."""
    if isinstance(item, np.ufunc):
        return f"{'numpy' if getattr(np, item.__name__, None) is item else 'scipy.special'}.{item.__name__}"
    public = (name for name, kind in public_types().items() if kind is item)
    return next(public, f"{item.__module__}.{item.__qualname__}")


def trusted_names(trusted: Iterable[Trusted]) -> frozenset[str]:
    """Classes and functions that a caller trusts, by their full names."""
    problem = f"trusted must be a list of classes, functions or their full names, got {trusted!r}."
    if isinstance(trusted, str):
        raise TypeError(problem)
    try:
        return frozenset(item if isinstance(item, str) else name_of(item) for item in trusted)
    except (TypeError, AttributeError):
        raise TypeError(problem) from None


def find(name: str, allowed: Callable[[object], bool], trusted: frozenset[str]) -> Any:  # noqa: ANN401 - a class or a function
    """What a name means; UntrustedError where it is neither trusted nor allowed, or not defined under this name."""
    module, _, attribute = name.rpartition(".")
    if name in public_types():
        return public_types()[name]
    inside = module in MODULES or (module + ".").startswith(PACKAGES)
    if name not in trusted and not (inside and EXCLUDED.isdisjoint(module.split("."))):
        raise UntrustedError(name)
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        raise UntrustedError(name) if name not in trusted else ImportError(f"{name} cannot be imported") from None
    if name in trusted or (allowed(found) and name_of(found) == name):
        return found
    raise UntrustedError(name)


def is_part(found: object) -> bool:
    """Whether this is a dataclass of this library, which is stored by its fields."""
    if not isinstance(found, type) or not is_dataclass(found):
        return False
    return found.__module__.startswith("lvq.") and name_of(found) not in public_types()


def is_class(found: object) -> bool:
    """Whether objects of this class may be built by setting their attributes."""
    if not isinstance(found, type) or found.__module__.startswith("lvq."):
        return is_part(found) or getattr(found, "__bases__", None) == (tuple,)
    bases = [f"{base.__module__}.{base.__qualname__}" for base in found.__mro__]
    return any(base.startswith(SKLEARN_PARTS) for base in bases)


def is_value(found: object) -> bool:
    """Whether an object may refer to this function or type."""
    if isinstance(found, type):
        return found in SCALARS or issubclass(found, np.generic) or is_class(found)
    function = isinstance(found, FunctionType) and found.__module__.startswith(SKLEARN_FUNCTIONS)
    return function or isinstance(found, np.ufunc)
