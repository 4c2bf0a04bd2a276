"""The public estimators: their names, and the modules that define them."""

from importlib import import_module

ESTIMATORS: dict[str, str] = {
    "LVQ1": "lvq.estimators.heuristic",
    "OLVQ1": "lvq.estimators.heuristic",
    "LVQ21": "lvq.estimators.heuristic",
    "LVQ3": "lvq.estimators.heuristic",
    "RLVQ": "lvq.estimators.heuristic",
    "GLVQ": "lvq.estimators.margin",
    "GRLVQ": "lvq.estimators.margin",
    "GMLVQ": "lvq.estimators.margin",
    "LGMLVQ": "lvq.estimators.margin",
    "MCE": "lvq.estimators.margin",
    "LOGM": "lvq.estimators.margin",
    "SNPC": "lvq.estimators.soft",
    "RSLVQ": "lvq.estimators.soft",
    "LVQClassifier": "lvq.estimators.classifier",
    "LVQClassifierCV": "lvq.estimators.search",
}


def estimator_types() -> dict[str, type]:
    """The classes of all public estimators, by name."""
    return {name: getattr(import_module(module), name) for name, module in ESTIMATORS.items()}
