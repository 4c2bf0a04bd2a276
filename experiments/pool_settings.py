"""Settings of `LVQClassifier` that are compared on the development pool, and the other models on the same folds."""

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from lvq.model.relevance import RELEVANCES

SVC_GRID = "SVC, grid"
LINEAR: dict[str, Any] = {"relevance": "matrix", "n_prototypes": 1, "kernel": None, "xi": 1.0, "alpha": 0.0}
RIDGES: tuple[float | str, ...] = (0.001, 0.003, 0.01, 0.03, 0.1)


def settings() -> dict[str, dict[str, Any]]:
    """Name -> parameters; those that differ in their ridge alone follow each other, the important ones first."""
    table: dict[str, dict[str, Any]] = {}
    for cost in ("logm", "mce"):
        _add(table, cost, "local", 2, ("auto", *RIDGES))
        _add(table, cost, "local", 1, RIDGES)
        _add(table, cost, "local", 4, RIDGES[:4])
        _add(table, cost, "local", 3, RIDGES[1:4])
        _add(table, cost, "local", 6, (0.003, 0.01, 0.03))
    for ridge in RIDGES:
        table[f"linear {ridge}"] = LINEAR | {"ridge": ridge}
    for cost in ("logm", "mce"):
        for count in (1, 2, 4, 6, 10):
            _add(table, cost, "matrix", count, (0.001, 0.01))
        for count in (4, 10):
            _add(table, cost, "gradient", count, (None,))
            _add(table, cost, "none", count, (None,))
        if "local_gradient" in RELEVANCES:
            for count in (1, 2, 4, 6, 10):
                _add(table, cost, "local_gradient", count, (0.001, 0.01))
    _variants(table)
    return table


def _variants(table: dict[str, dict[str, Any]]) -> None:
    """One parameter of a good setting changed."""
    for cost in ("logm", "mce"):
        base = {"cost": cost, "n_prototypes": 2, "ridge": 0.003}
        changes: dict[str, dict[str, Any]] = {
            "no kernel": {"kernel": None}, "rank 2": {"rank": 2}, "log_determinant .01": {"log_determinant": 0.01},
            "xi 1": {"xi": 1.0}, "xi 4": {"xi": 4.0}, "alpha 0": {"alpha": 0.0}, "alpha .1": {"alpha": 0.1},
            "by class": {"local": "class"}, "30 iterations": {"max_iter": 30},
        }  # fmt: skip
        for name, change in changes.items():
            table[f"{cost} local 2 .003 {name}"] = base | change
    for count in (1, 2, 4):
        table[f"glvq local {count} .003"] = {"cost": "glvq", "n_prototypes": count, "ridge": 0.003}
    soft = {"cost": "rslvq", "decision": "posterior", "ridge": 0.003}
    table["rslvq local 2 .003"] = soft | {"n_prototypes": 2}
    table["rslvq local 4 .003"] = soft | {"n_prototypes": 4}
    table["rslvq matrix 6 .003"] = soft | {"n_prototypes": 6, "relevance": "matrix"}


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
