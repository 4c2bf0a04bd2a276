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
    from lvq.estimators.margin import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, MCE
    from lvq.estimators.paper_models import MODELS
    from lvq.estimators.kohonen import LVQ1, LVQ3, LVQ21, OLVQ1, RLVQ
    from lvq.estimators.search import LVQClassifierCV
    from lvq.estimators.soft import RSLVQ, SNPC
    from lvq.explanation import explain
    from lvq.importances import VariableImportances, variable_importances
    from lvq.model.prototype_model import PrototypeModel
    from lvq.nearest_samples import Exemplars, exemplars
    from lvq.nuisance import NuisanceRemoval, remove_nuisance
    from lvq.null_space import null_space_corrected
    from lvq.onnx import to_onnx
    from lvq.persistence import LoadError, load, save
    from lvq.prices import PriceClassifier, cheapest_class, expected_prices, price_matrix
    from lvq.readable import readable_prototypes
    from lvq.rejection import GuaranteeError, RejectClassifier
    from lvq.resampled_importances import RelevanceIntervals, relevance_intervals
    from lvq.robustness import certified_accuracy, certified_radius
    from lvq.spectra import SavitzkyGolay, StandardNormalVariate
    from lvq.streaming import fit_batches
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
    "Exemplars",
    "GuaranteeError",
    "LVQClassifier",
    "LVQClassifierCV",
    "LoadError",
    "NuisanceRemoval",
    "PriceClassifier",
    "PrototypeModel",
    "RejectClassifier",
    "RelevanceIntervals",
    "SavitzkyGolay",
    "StandardNormalVariate",
    "VariableImportances",
    "certified_accuracy",
    "certified_radius",
    "cheapest_class",
    "counterfactual",
    "exemplars",
    "expected_prices",
    "explain",
    "fit_batches",
    "load",
    "null_space_corrected",
    "price_matrix",
    "readable_prototypes",
    "relevance_intervals",
    "remove_nuisance",
    "save",
    "show_versions",
    "to_onnx",
    "variable_importances",
]

# Module of each name: the same as the imports above, which are only for type checkers; a test compares the two.
_MODULES = {name: module.removeprefix("lvq.") for name, module in _ESTIMATORS.items()} | {
    "GuaranteeError": "rejection",
    "LoadError": "persistence",
    "MODELS": "estimators.paper_models",
    "NuisanceRemoval": "nuisance",
    "PriceClassifier": "prices",
    "PrototypeModel": "model.prototype_model",
    "cheapest_class": "prices",
    "expected_prices": "prices",
    "price_matrix": "prices",
    "RejectClassifier": "rejection",
    "RelevanceIntervals": "resampled_importances",
    "certified_accuracy": "robustness",
    "certified_radius": "robustness",
    "counterfactual": "counterfactuals",
    "Exemplars": "nearest_samples",
    "exemplars": "nearest_samples",
    "explain": "explanation",
    "fit_batches": "streaming",
    "load": "persistence",
    "null_space_corrected": "null_space",
    "readable_prototypes": "readable",
    "relevance_intervals": "resampled_importances",
    "remove_nuisance": "nuisance",
    "SavitzkyGolay": "spectra",
    "StandardNormalVariate": "spectra",
    "save": "persistence",
    "show_versions": "versions",
    "to_onnx": "onnx",
    "VariableImportances": "importances",
    "variable_importances": "importances",
}
_PACKAGES = (
    "counterfactuals", "datasets", "estimators", "evaluation", "model", "nuisance", "onnx", "persistence",
    "plots", "rejection", "report", "robustness", "solvers", "streaming", "tables", "workflow",
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
