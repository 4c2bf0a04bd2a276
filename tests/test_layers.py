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


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@pytest.fixture(scope="module")
def private_names() -> set[str]:
    """Private attributes and methods that some estimator has, of the class or of the fitted instance."""
    y = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, 2)) + 3 * y[:, None]
    quick = {"cv": 2, "candidates": ({"n_prototypes": 1, "relevance": Matrix(local="prototype", ridge=0.01)},)}
    made = [part(**(quick if name == "LVQClassifierCV" else {})) for name, part in estimator_types().items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = [model.fit(X, y) for model in [*made, RejectClassifier(lvq.GLVQ())]]
    return {name for model in fitted for name in dir(model) if is_private(name)} - SKLEARN_PROTOCOL


def private_reads(source: str, names: set[str]) -> list[tuple[int, str]]:
    """Line and name of each private attribute that is not read of self, cls, an import or a class of the module."""
    tree = ast.parse(source)
    own = {"self", "cls"} | {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            own |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            target, name = node.value, node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr", "setattr", "delattr"):
            target, name = node.args[0], ast.unparse(node.args[1]).strip("'")
        else:
            continue
        if is_private(name) and name in names and ast.unparse(target) not in own:
            found.append((node.lineno, name))
    return found


def test_no_private_attribute_of_an_estimator(private_names):
    reads = {path.relative_to(PACKAGE): private_reads(path.read_text("utf-8"), private_names) for path in OUTSIDE}
    assert {path: found for path, found in reads.items() if found} == {}


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
