"""Learning vector quantization: readable prototype classifiers that know when not to answer.

Importing this package loads nothing heavy: a name is imported when it is first asked for, so that the command line can
answer at once. The first estimator loads scikit-learn, the first online `fit` numba.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from lvq.counterfactuals import counterfactual
    from lvq.estimators.classifier import LVQClassifier
    from lvq.estimators.heuristic import LVQ1, LVQ3, LVQ21, OLVQ1, RLVQ
    from lvq.estimators.margin import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, MCE
    from lvq.estimators.names import MODELS
    from lvq.estimators.search import LVQClassifierCV
    from lvq.estimators.soft import RSLVQ, SNPC
    from lvq.onnx import to_onnx
    from lvq.persistence import LoadError, load, save
    from lvq.rejection import GuaranteeError, RejectClassifier
    from lvq.robustness import certified_accuracy, certified_radius

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
    "GuaranteeError",
    "LVQClassifier",
    "LVQClassifierCV",
    "LoadError",
    "RejectClassifier",
    "certified_accuracy",
    "certified_radius",
    "counterfactual",
    "load",
    "save",
    "to_onnx",
]

# Where each name is: the same as the imports above, which are for type checkers alone; a test compares the two.
_HOMES = {
    "counterfactuals": "counterfactual",
    "estimators.classifier": "LVQClassifier",
    "estimators.heuristic": "LVQ1 LVQ3 LVQ21 OLVQ1 RLVQ",
    "estimators.margin": "GLVQ GMLVQ GRLVQ LGMLVQ LOGM MCE",
    "estimators.names": "MODELS",
    "estimators.search": "LVQClassifierCV",
    "estimators.soft": "RSLVQ SNPC",
    "onnx": "to_onnx",
    "persistence": "LoadError load save",
    "rejection": "GuaranteeError RejectClassifier",
    "robustness": "certified_accuracy certified_radius",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
_ROOMS = (
    "counterfactuals", "datasets", "estimators", "evaluation", "model", "onnx", "persistence", "plots", "rejection",
    "report", "robustness", "solvers", "tables", "workflow",
)  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _HOME:
        value = globals()[name] = getattr(_import_module(f"lvq.{_HOME[name]}"), name)
        return value
    if name in _ROOMS:
        return _import_module(f"lvq.{name}")
    hint = f"; the displays are in lvq.plots: from lvq.plots import {name}" if name.endswith("Display") else ""
    raise AttributeError(f"module 'lvq' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
