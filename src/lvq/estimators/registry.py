"""The public estimators and their modules; importing this table loads no other module."""

from importlib import import_module

#: Module of each public estimator.
ESTIMATORS: dict[str, str] = {
    "LVQClassifier": "lvq.estimators.classifier",
    "LVQClassifierCV": "lvq.estimators.search",
    "LVQ1": "lvq.estimators.heuristic",
    "LVQ21": "lvq.estimators.heuristic",
    "LVQ3": "lvq.estimators.heuristic",
    "OLVQ1": "lvq.estimators.heuristic",
    "RLVQ": "lvq.estimators.heuristic",
    "GLVQ": "lvq.estimators.margin",
    "GRLVQ": "lvq.estimators.margin",
    "GMLVQ": "lvq.estimators.margin",
    "LGMLVQ": "lvq.estimators.margin",
    "MCE": "lvq.estimators.margin",
    "LOGM": "lvq.estimators.margin",
    "SNPC": "lvq.estimators.soft",
    "RSLVQ": "lvq.estimators.soft",
}


def estimator_types() -> dict[str, type]:
    """The public estimators by name."""
    return {name: getattr(import_module(module), name) for name, module in ESTIMATORS.items()}
