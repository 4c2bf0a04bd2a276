"""Settings of `LVQClassifier` that are compared on the development pool, and the other models on the same folds."""

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

SVC_GRID = "SVC, grid"
DEFAULT = "mce local 2 auto xi 3.0"  # LVQClassifier's
LINEAR: dict[str, Any] = {
    "cost": "logm", "relevance": "matrix", "n_prototypes": 1, "kernel": None, "xi": 1.0, "alpha": 0.0
}  # fmt: skip


def settings() -> dict[str, dict[str, Any]]:
    """Name -> parameters; those that differ in their ridge alone follow each other."""
    table: dict[str, dict[str, Any]] = {}
    _add(table, "logm", "local", 2, ("auto", 0.003, 0.01, 0.03))
    _add(table, "logm", "local", 1, ("auto", 0.03))
    _add(table, "mce", "local", 2, ("auto", 0.003, 0.01, 0.03, 0.1))
    for xi in (3.0, 4.0):
        table[f"mce local 2 auto xi {xi}"] = {"cost": "mce", "n_prototypes": 2, "ridge": "auto", "xi": xi}
    _add(table, "mce", "local", 1, (0.003, 0.01, 0.03, 0.1))
    _add(table, "mce", "local", 4, (0.003, 0.01, 0.03))
    for count in (1, 2, 4, 10):
        _add(table, "mce", "local_diagonal", count, (0.001, 0.01))
    for count in (2, 4, 10):
        _add(table, "logm", "local_diagonal", count, (0.0003,))
    _add(table, "logm", "local_scale", 2, (0.001,))
    for ridge in (0.003, 0.03):
        table[f"linear {ridge}"] = LINEAR | {"ridge": ridge}
    for count in (1, 4, 10):
        _add(table, "mce", "matrix", count, (0.001, 0.01))
    _add(table, "logm", "matrix", 10, (0.001,))
    return table


_MATRICES = ("logm local 2 auto", "logm local 2 0.03", "logm local 1 auto")
_BEFORE = ("logm local 2 0.03", "logm local 2 auto", "logm local 1 0.03", "logm local 1 auto")
_OTHERS = ("logm local_scale 2 0.001", "linear 0.03")
_WEIGHTS = ("logm local_diagonal 4 0.0003",)
#: Name -> settings that a search compares, the preferred ones first.
SPACES: dict[str, tuple[str, ...]] = {
    "matrices and linear": (*_BEFORE, "linear 0.03", "linear 0.003"),
    "and weights": (*_MATRICES, *_WEIGHTS, "linear 0.03"),
    "and scales": (*_MATRICES, *_WEIGHTS, *_OTHERS),
    "and MCE": (*_MATRICES[:2], "mce local 2 auto", "mce local 1 0.003", *_WEIGHTS, *_OTHERS),
    "one MCE": (*_MATRICES, "mce local 1 0.003", *_WEIGHTS, "mce local_diagonal 10 0.001", *_OTHERS),
    "one MCE, ten by LOGM": (*_MATRICES, "mce local 1 0.003", *_WEIGHTS, "logm local_diagonal 10 0.0003", *_OTHERS),
    "and the default": (
        *("mce local 2 auto xi 3.0", *_MATRICES, "mce local 1 0.003", *_WEIGHTS),
        *("mce local_diagonal 10 0.001", *_OTHERS),
    ),
    "and one matrix": (
        *(*_MATRICES, "logm local 1 0.03", *_WEIGHTS, "logm local_diagonal 10 0.0003"),
        *("logm matrix 10 0.001", *_OTHERS),
    ),
    "and four prototypes": (
        *(*_MATRICES, "mce local 1 0.003", "mce local 4 0.003", *_WEIGHTS),
        *("mce local_diagonal 4 0.001", "mce local_diagonal 10 0.001", "logm matrix 10 0.001", *_OTHERS),
    ),
}


def _add(table: dict[str, dict[str, Any]], cost: str, metric: str, count: int, ridges: tuple[Any, ...]) -> None:
    relevance = {"local": "local_matrix", "none": None}.get(metric, metric)
    for ridge in ridges:
        name = f"{cost} {metric} {count}" + ("" if ridge is None else f" {ridge}")
        table[name] = {"cost": cost, "xi": 2.0, "relevance": relevance, "n_prototypes": count}
        if ridge is not None:
            table[name]["ridge"] = ridge


def others(n_features: int) -> dict[str, Any]:
    """Name -> estimator of scikit-learn, for samples of so many features."""
    grid = {"C": [0.1, 1, 10, 100], "gamma": [g / n_features for g in (0.03, 0.15, 0.6, 3)]}
    return {
        SVC_GRID: GridSearchCV(SVC(), grid, cv=5),
        "random forest": RandomForestClassifier(random_state=0),
        "gradient boosting": HistGradientBoostingClassifier(random_state=0),
        "logistic regression": LogisticRegression(max_iter=1000),
    }
