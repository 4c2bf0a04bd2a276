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
    from lvq.estimators.registry import MODELS
    from lvq.estimators.search import LVQClassifierCV
    from lvq.inspection.certify import certified_accuracy, certified_radius
    from lvq.inspection.exemplars import Exemplars, exemplars
    from lvq.inspection.explain import explain
    from lvq.inspection.importance import VariableImportances, variable_importances
    from lvq.model.prototype_model import PrototypeModel
    from lvq.onnx import to_onnx
    from lvq.persistence import LoadError, load, save
    from lvq.preprocessing import NuisanceRemoval, SavitzkyGolay, StandardNormalVariate
    from lvq.rejection import CostClassifier, GuaranteeError, RejectClassifier
    from lvq.reports import report
    from lvq.streaming.fit_batches import fit_batches
    from lvq.versions import show_versions

__version__ = "0.1.0"

__all__ = [
    "GLVQ",
    "GMLVQ",
    "GRLVQ",
    "LGMLVQ",
    "LOGM",
    "LVQ1",
    "LVQ3",
    "LVQ21",
    "MCE",
    "MODELS",
    "OLVQ1",
    "RLVQ",
    "RSLVQ",
    "SNPC",
    "CostClassifier",
    "Exemplars",
    "GuaranteeError",
    "LVQClassifier",
    "LVQClassifierCV",
    "LoadError",
    "NuisanceRemoval",
    "PrototypeModel",
    "RejectClassifier",
    "SavitzkyGolay",
    "StandardNormalVariate",
    "VariableImportances",
    "certified_accuracy",
    "certified_radius",
    "counterfactual",
    "exemplars",
    "explain",
    "fit_batches",
    "load",
    "report",
    "save",
    "show_versions",
    "to_onnx",
    "variable_importances",
]

# Module of each name: the same as the imports above, which are only for type checkers; a test compares the two.
_MODULES = {name: module.removeprefix("lvq.") for name, module in _ESTIMATORS.items()} | {
    "GuaranteeError": "rejection",
    "LoadError": "persistence",
    "MODELS": "estimators.registry",
    "NuisanceRemoval": "preprocessing",
    "CostClassifier": "rejection",
    "PrototypeModel": "model.prototype_model",
    "RejectClassifier": "rejection",
    "certified_accuracy": "inspection.certify",
    "certified_radius": "inspection.certify",
    "counterfactual": "counterfactuals",
    "Exemplars": "inspection.exemplars",
    "exemplars": "inspection.exemplars",
    "explain": "inspection.explain",
    "fit_batches": "streaming.fit_batches",
    "load": "persistence",
    "report": "reports",
    "SavitzkyGolay": "preprocessing",
    "StandardNormalVariate": "preprocessing",
    "save": "persistence",
    "show_versions": "versions",
    "to_onnx": "onnx",
    "VariableImportances": "inspection.importance",
    "variable_importances": "inspection.importance",
}
_PACKAGES = (
    "counterfactuals", "estimators", "inspection", "model", "onnx", "persistence",
    "plots", "preprocessing", "rejection", "reports", "solvers", "streaming", "tables", "workflow",
)  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _MODULES:
        value = globals()[name] = getattr(_import_module(f"lvq.{_MODULES[name]}"), name)
        return value
    if name in _PACKAGES:
        return _import_module(f"lvq.{name}")
    hint = f"; the displays are in lvq.plots: from lvq.plots import {name}" if name.endswith("Display") else ""
    raise AttributeError(f"module 'lvq' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
