"""Settings of `LVQClassifier` that are compared on the development pool, and the other models on the same folds."""

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

SVC_GRID = "SVC, grid"
LINEAR: dict[str, Any] = {"relevance": "matrix", "n_prototypes": 1, "kernel": None, "xi": 1.0, "alpha": 0.0}
RIDGES: tuple[float | str, ...] = (0.001, 0.003, 0.01, 0.03, 0.1)


def settings() -> dict[str, dict[str, Any]]:
    """Name -> parameters; those that differ in their ridge alone follow each other, the important ones first."""
    table: dict[str, dict[str, Any]] = {}
    _add(table, "logm", "local", 2, ("auto", 0.003, 0.01))
    _add(table, "mce", "local", 2, ("auto", 0.003, 0.01, 0.03, 0.1))
    _add(table, "mce", "local", 1, (0.003, 0.01, 0.03, 0.1))
    for cost in ("mce",):
        for count in (1, 2, 4, 10):
            _add(table, cost, "local_diagonal", count, (0.001, 0.01))
    _add(table, "mce", "local", 4, (0.003, 0.01, 0.03))
    for ridge in (0.003, 0.03):
        table[f"linear {ridge}"] = LINEAR | {"ridge": ridge}
    for count in (1, 4, 10):
        _add(table, "mce", "matrix", count, (0.001, 0.01))
    for count in (2, 6):
        _add(table, "mce", "local_scale", count, (0.001,))
    for count in (4, 10):
        _add(table, "mce", "gradient", count, (None,))
    _add(table, "mce", "none", 10, (None,))
    _add(table, "logm", "local_diagonal", 4, (0.001,))
    table["mce local 2 .003 log_determinant .01"] = {
        "cost": "mce",
        "n_prototypes": 2,
        "ridge": 0.003,
        "log_determinant": 0.01,
    }
    table["mce local 2 .003 no kernel"] = {"cost": "mce", "n_prototypes": 2, "ridge": 0.003, "kernel": None}
    return table


def _names(text: str, *ends: str) -> tuple[str, ...]:
    return tuple(f"{text} {end}" for end in ends)


_LOCAL = (*_names("mce local 2", "0.01", "auto", "0.03", "0.1"), *_names("mce local 1", "0.003", "0.03", "0.1"))
_SCALES = ("mce local_scale 2 0.001", "mce local_scale 6 0.001")
_DIAGONAL = ("mce local_diagonal 2 0.001", "mce local_diagonal 10 0.001")
_MANY = ("mce local 4 0.003", "mce local 4 0.01")
_SHARED = ("mce matrix 4 0.001", "mce matrix 10 0.001")
_LINEAR = ("linear 0.003", "linear 0.03")
#: Name -> settings that a search compares, the preferred ones first.
SPACES: dict[str, tuple[str, ...]] = {
    "two prototypes, ridges": _LOCAL[:4],
    "one or two, ridges": _LOCAL,
    "and linear": (*_LOCAL, *_LINEAR),
    "and scales": (*_LOCAL, *_LINEAR, *_SCALES),
    "and diagonal": (*_LOCAL, *_LINEAR, *_SCALES, *_DIAGONAL),
    "and four prototypes": (*_LOCAL, *_LINEAR, *_SCALES, *_MANY),
    "and one matrix": (*_LOCAL, *_LINEAR, *_SCALES, *_SHARED),
    "all of these": (*_LOCAL, *_LINEAR, *_SCALES, *_MANY, *_SHARED, *_DIAGONAL),
}


def _add(table: dict[str, dict[str, Any]], cost: str, metric: str, count: int, ridges: tuple[Any, ...]) -> None:
    relevance = {"local": "local_matrix", "none": None}.get(metric, metric)
    for ridge in ridges:
        name = f"{cost} {metric} {count}" + ("" if ridge is None else f" {ridge}")
        table[name] = {"cost": cost, "relevance": relevance, "n_prototypes": count}
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
