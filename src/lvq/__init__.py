"""Learning vector quantization: readable prototype classifiers that know when not to answer.

Importing this package loads scikit-learn and nothing heavier; numba is loaded by the first online `fit`.
"""

from lvq.counterfactual import counterfactual
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
