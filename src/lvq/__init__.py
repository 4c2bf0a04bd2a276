"""Learning vector quantization: interpretable prototype classifiers with a reject option.

Importing this package is fast: a name is imported when it is first used. The first estimator loads scikit-learn, the
first online `fit` numba.
"""

from importlib import import_module as _import_module
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
# Public names outside of this module, for the hint of an AttributeError.
_ELSEWHERE = {
    "CostClassifier": "rejection",
    "Exemplars": "inspection",
    "GuaranteeError": "rejection",
    "LoadError": "persistence",
    "MODELS": "estimators.registry",
    "NearestCases": "inspection",
    "NuisanceRemoval": "preprocessing",
    "PrototypeModel": "model.prototype_model",
    "PrototypeHead": "torch",
    "SavitzkyGolay": "preprocessing",
    "StandardNormalVariate": "preprocessing",
    "VariableImportances": "inspection",
    "certified_accuracy": "inspection",
    "nearest_cases": "inspection",
    "to_onnx": "onnx",
}
_PACKAGES = (
    "counterfactuals", "estimators", "inspection", "model", "onnx", "persistence",
    "plots", "preprocessing", "rejection", "reports", "solvers", "streaming", "tables", "torch",
    "workflow",
)  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _MODULES:
        value = globals()[name] = getattr(_import_module(f"lvq.{_MODULES[name]}"), name)
        return value
    if name in _PACKAGES:
        return _import_module(f"lvq.{name}")
    module = "plots" if name.endswith("Display") else _ELSEWHERE.get(name)
    hint = f"; it is in lvq.{module}: from lvq.{module} import {name}" if module else ""
    raise AttributeError(f"module 'lvq' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
