"""The public estimators and their modules, used by the package, stored files, ONNX and the command line.

Importing this file imports no large package.
"""

from importlib import import_module

ESTIMATORS: dict[str, str] = {
    "LVQClassifier": "lvq.estimators.classifier",
    "LVQClassifierCV": "lvq.estimators.search",
    "LVQ1": "lvq.estimators.kohonen",
    "OLVQ1": "lvq.estimators.kohonen",
    "LVQ21": "lvq.estimators.kohonen",
    "LVQ3": "lvq.estimators.kohonen",
    "RLVQ": "lvq.estimators.kohonen",
    "GLVQ": "lvq.estimators.margin",
    "GRLVQ": "lvq.estimators.margin",
    "GMLVQ": "lvq.estimators.margin",
    "LGMLVQ": "lvq.estimators.margin",
    "MCE": "lvq.estimators.margin",
    "LOGM": "lvq.estimators.margin",
    "SNPC": "lvq.estimators.soft",
    "RSLVQ": "lvq.estimators.soft",
}

#: Names of estimators on the command line that are not their class name in lower case.
SHORT_NAMES = {"LVQClassifier": "lvq", "LVQClassifierCV": "lvq-cv", "LVQ21": "lvq2.1"}
#: Names of `MODELS` of `paper_models.py` on the command line that are no estimator's; a test compares the two.
PAPER_NAMES = (
    "fc1lvq1", "fc2lvq1", "fc1glvq", "fc2glvq", "fc1mce", "fc2mce", "fc1logm", "fc2logm", "dk-glvq", "dk-gmlvq",
)  # fmt: skip


def short_name(name: str) -> str:
    """The name of an estimator on the command line.

    Examples
    --------
    >>> short_name("GLVQ"), short_name("LVQClassifier")
    ('glvq', 'lvq')
    """
    return SHORT_NAMES.get(name, name.lower())


def estimator_types() -> dict[str, type]:
    """The estimator classes by their names.

    Examples
    --------
    >>> estimator_types()["GLVQ"].__name__
    'GLVQ'
    """
    return {name: getattr(import_module(module), name) for name, module in ESTIMATORS.items()}
