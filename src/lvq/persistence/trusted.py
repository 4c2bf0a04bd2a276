"""Which types a model file may hold: these, what the caller names, and the scikit-learn estimators skops trusts itself.

Names, not types, because they are what a file holds, and because some of their modules are slow to import. They are
part of the file format: a class that moves to another module makes older files unreadable.
"""

from collections.abc import Iterable
from typing import Any

_OBJECTS = {
    "lvq.estimators.classifier": "LVQClassifier",
    "lvq.estimators.search": "LVQClassifierCV",
    "lvq.estimators.heuristic": "LVQ1 OLVQ1 LVQ21 LVQ3 RLVQ",
    "lvq.estimators.margin": "GLVQ GRLVQ GMLVQ LGMLVQ MCE LOGM",
    "lvq.estimators.soft": "SNPC RSLVQ",
    "lvq.rejection.classifier": "RejectClassifier",
    "lvq.rejection.measures": "Combination",
    "lvq.rejection.path": "ThresholdPath",
    "lvq.rejection.point": "CellThresholds OperatingPoint CertifiedPoint",
    "lvq.model.metrics": "Euclidean Diagonal Matrix LocalMatrix",
    "lvq.model.links": "Identity Gaussian Cauchy InverseMultiquadric RationalQuadratic",
    "lvq.model.costs": "GLVQCost MCECost LOGMCost SNPCCost RSLVQCost WinnerRule WindowRule",
    "lvq.model.relevance": "Relevance GradientRelevance MatrixRelevance LocalMatrixRelevance Hebbian FisherPrototypes "
    "FisherNeighbours",
    "lvq.solvers.online": "Memory",
    # what parameters and fitted transformers of scikit-learn hold beside estimators
    "sklearn.model_selection._split": "KFold StratifiedKFold GroupKFold StratifiedGroupKFold RepeatedKFold "
    "RepeatedStratifiedKFold ShuffleSplit StratifiedShuffleSplit GroupShuffleSplit LeaveOneOut PredefinedSplit "
    "TimeSeriesSplit",
    "sklearn.utils._metadata_requests": "MetadataRequest MethodMetadataRequest",
    "sklearn.metrics._scorer": "_PassthroughScorer _Scorer",
}
_FUNCTIONS = {
    "sklearn.feature_selection._univariate_selection": "f_classif f_regression chi2",
    "sklearn.feature_selection._mutual_info": "mutual_info_classif",
    "sklearn.metrics._classification": "accuracy_score balanced_accuracy_score",
}
_TUPLES = {
    "lvq.model.objective": "Params",
    "lvq.solvers.online": "Units Statistics",
    "lvq.rejection.path": "Steps",
}


def _names(table: dict[str, str]) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for module, names in table.items() for name in names.split())


OBJECTS = _names(_OBJECTS)
TUPLES = _names(_TUPLES)
TRUSTED = OBJECTS | TUPLES | _names(_FUNCTIONS) | {"numpy.dtype"}


def type_names(trusted: Iterable[Any]) -> frozenset[str]:
    """Types and functions that a caller trusts, by their full names.

    Examples
    --------
    >>> sorted(type_names(["my_package.MyCost", dict]))
    ['builtins.dict', 'my_package.MyCost']
    """
    if isinstance(trusted, str) or not isinstance(trusted, Iterable):
        raise TypeError(f"trusted must be a list of types or of their full names, got {trusted!r}.")
    return frozenset(_type_name(item) for item in trusted)


def _type_name(item: Any) -> str:
    if isinstance(item, str):
        return item
    if hasattr(item, "__module__") and hasattr(item, "__qualname__"):
        return f"{item.__module__}.{item.__qualname__}"
    raise TypeError(f"trusted must be a list of types or of their full names, got the entry {item!r}.")
