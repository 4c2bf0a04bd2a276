"""Learning vector quantization: interpretable prototype classifiers with a reject option.

Importing this package is fast: a name is imported when it is first used. The first estimator loads scikit-learn, the
first online `fit` numba.
"""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING as _TYPE_CHECKING

from lvq.estimators.registry import ESTIMATORS as _ESTIMATORS

if _TYPE_CHECKING:
    from lvq.counterfactuals import counterfactual
    from lvq.estimators.classifier import LVQClassifier
    from lvq.estimators.cost_based import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, MCE, RSLVQ, SNPC
    from lvq.estimators.kohonen import LVQ1, LVQ3, LVQ21, OLVQ1, RLVQ
    from lvq.estimators.search import LVQClassifierCV
    from lvq.inspection.certify import certified_radius
    from lvq.inspection.exemplars import exemplars
    from lvq.inspection.explain import explain
    from lvq.inspection.importance import variable_importances
    from lvq.persistence import load, save
    from lvq.rejection import RejectClassifier
    from lvq.reports import report
    from lvq.streaming.fit_batches import fit_batches
    from lvq.versions import show_versions

__version__ = "0.1.0"

__all__ = [
    "GLVQ", "GMLVQ", "GRLVQ", "LGMLVQ", "LOGM", "LVQ1", "LVQ3", "LVQ21", "MCE", "OLVQ1", "RLVQ", "RSLVQ", "SNPC",
    "LVQClassifier", "LVQClassifierCV", "RejectClassifier", "certified_radius", "counterfactual", "exemplars",
    "explain", "fit_batches", "load", "report", "save", "show_versions", "variable_importances",
]  # fmt: skip

# Module of each name: the same as the imports above, which are only for type checkers; a test compares the two.
_MODULES = {name: module.removeprefix("lvq.") for name, module in _ESTIMATORS.items()} | {
    "RejectClassifier": "rejection",
    "certified_radius": "inspection.certify",
    "counterfactual": "counterfactuals",
    "exemplars": "inspection.exemplars",
    "explain": "inspection.explain",
    "fit_batches": "streaming.fit_batches",
    "load": "persistence",
    "report": "reports",
    "save": "persistence",
    "show_versions": "versions",
    "variable_importances": "inspection.importance",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        value = globals()[name] = getattr(_import_module(f"lvq.{_MODULES[name]}"), name)
        return value
    if not name.startswith("_") and _find_spec(f"lvq.{name}") is not None:
        return _import_module(f"lvq.{name}")
    raise AttributeError(f"module 'lvq' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
