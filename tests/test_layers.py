"""Layers: outside `lvq.estimators` nothing reads a private attribute of an estimator, only `model_`."""

import ast
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import lvq
from lvq import RejectClassifier
from lvq.estimators.registry import estimator_types
from lvq.model.relevance import Matrix

PACKAGE = Path(lvq.__file__).parent
OUTSIDE = sorted(path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "estimators")
# scikit-learn's own protocol, which its transformers and pipelines have too
SKLEARN_PROTOCOL = {"_parameter_constraints", "_validate_params", "_n_features_out"}
BY_NAME = ("getattr", "hasattr", "setattr", "delattr")


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def fitted_estimators() -> list:
    """One fitted instance of every estimator, and of the reject classifier."""
    y = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, 2)) + 3 * y[:, None]
    quick = {"cv": 2, "candidates": ({"n_prototypes": 1, "relevance": Matrix(local="prototype", ridge=0.01)},)}
    made = [part(**(quick if name == "LVQClassifierCV" else {})) for name, part in estimator_types().items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [model.fit(X, y) for model in [*made, RejectClassifier(lvq.GLVQ())]]


@pytest.fixture(scope="session")
def private_names() -> frozenset[str]:
    """Private attributes and methods that some estimator has, of the class or of the instance."""
    names = {name for model in fitted_estimators() for name in dir(model) if is_private(name)}
    return frozenset(names - SKLEARN_PROTOCOL)


def imported_names(tree: ast.Module) -> set[str]:
    """Names of modules and of what is imported from them."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}


def own_classes(tree: ast.Module) -> set[str]:
    """Classes that the module defines, whose private parts are its own."""
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def private_reads(source: str, names: frozenset[str]) -> list[tuple[int, str]]:
    """Line and name of each private attribute that is not read of self, cls, an import or a class of the module."""
    tree = ast.parse(source)
    own = {"self", "cls"} | imported_names(tree) | own_classes(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            target, name = node.value, node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BY_NAME:
            constant = node.args[1] if len(node.args) > 1 else None
            if not isinstance(constant, ast.Constant) or not isinstance(constant.value, str):
                continue
            target, name = node.args[0], constant.value
        else:
            continue
        if is_private(name) and name in names and not (isinstance(target, ast.Name) and target.id in own):
            found.append((node.lineno, name))
    return found


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_private_attribute_of_an_estimator(path, private_names):
    reads = private_reads(path.read_text(encoding="utf-8"), private_names)
    assert not reads, "\n".join(f"{path.relative_to(PACKAGE)}:{line} reads {name}" for line, name in reads)


def test_what_counts_as_a_private_attribute(private_names):
    """The rule itself: a rule that finds nothing would pass every module."""
    assert {"_state", "_class_weight", "_parts", "_array"} <= private_names
    assert not {"_replace", "_asdict", "_fields"} & private_names
    source = """
import numpy as np
from lvq.estimators import training
class Own: pass
def read(model, self):
    self._state, np._state, training._state, Own._state, model._other, model.__dict__, model._validate_params()
    model._state
    model.estimator_._class_weight
    getattr(model, "_parts", None)
"""
    assert private_reads(source, private_names) == [(7, "_state"), (8, "_class_weight"), (9, "_parts")]
