"""Rejection: coverage at an equal guarantee, by this library and by MAPIE's controller, and the speed of thresholds.

The guarantee is P(error | accepted) <= max_error with confidence 0.95. MAPIE's `MultiClassificationLTTController` has
selective accuracy as its risk (correct among the accepted) and the abstention rate as its criterion.
"""

import importlib.util
from typing import Any

import numpy as np

from benchmarks.workers import measures
from benchmarks.workers.models import Task

CONFIDENCE = 0.95
Samples = tuple[np.ndarray, np.ndarray]

# On the fitted model: a quarter of the calibration samples fits the path, the rest tests it.
OURS: dict[str, dict[str, Any]] = {
    "global": {"measure": "probability"},
    "local": {"measure": "probability", "thresholds": "optimal"},
    "RelSim, local": {"measure": "relsim", "thresholds": "optimal"},
}
# As it comes; and with thresholds where the scores are, from a quarter of the samples, as ours has for its path.
MAPIE: dict[str, tuple[str, bool]] = {
    "MAPIE default": ("bonferroni_holm", False),
    "MAPIE Bonferroni": ("bonferroni", False),
    "MAPIE fixed sequence, our grid": ("fixed_sequence", True),
}


def compare(task: Task) -> dict[str, Any]:
    """All methods at all levels for one model on one split: 40 % to train, 30 % to calibrate, 30 % to test."""
    data = measures.load(task["data"])
    rows = np.random.default_rng(task["seed"]).permutation(len(data["y"]))[: task["samples"]]
    cuts = [round(0.4 * len(rows)), round(0.7 * len(rows))]
    training, calibration, test = ((data["X"][part], data["y"][part]) for part in np.split(rows, cuts))
    model = make(task["model"], task["seed"]).fit(*training)
    wrong = model.predict(test[0]) != test[1]
    kept = {label: given for label, given in OURS.items() if given["measure"] != "relsim" or task["model"] == "logm"}
    found = []
    for level in task["levels"]:
        accepted = {label: by_us(model, calibration, test[0], level, given) for label, given in kept.items()}
        masks = {label: (mask, wrong) for label, mask in accepted.items()}
        if importlib.util.find_spec("mapie"):
            for label, how in MAPIE.items():
                masks[label] = (by_mapie(model, calibration, test[0], level, how), wrong)
        found += [summary(level, label, *mask) for label, mask in masks.items()]
    return {"rejection": found, "base_error": float(wrong.mean())}


def summary(level: float, method: str, accepted: np.ndarray, wrong: np.ndarray) -> dict[str, Any]:
    """Coverage and error on the test samples."""
    error = float(wrong[accepted].mean()) if accepted.any() else None
    return {"max_error": level, "method": method, "coverage": float(accepted.mean()), "error": error}


def make(model: str, seed: int) -> Any:
    """A prototype model and, as an example of any other classifier, a forest."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from lvq import LOGM

    if model == "forest":
        return RandomForestClassifier(100, min_samples_leaf=2, random_state=seed)
    prototypes = LOGM(n_prototypes=3, relevance="matrix", kernel="gaussian", max_iter=50, random_state=seed)
    return make_pipeline(StandardScaler(), prototypes)


def by_us(model: Any, calibration: Samples, X_test: np.ndarray, level: float, given: dict[str, Any]) -> np.ndarray:
    """Which test samples are accepted."""
    from sklearn.frozen import FrozenEstimator

    from lvq.rejection import GuaranteeError, RejectClassifier

    try:
        safe = RejectClassifier(FrozenEstimator(model), max_error=level, confidence=CONFIDENCE, **given)
        return safe.fit(*calibration).accept(X_test)
    except GuaranteeError:
        return np.zeros(len(X_test), dtype=bool)


def by_mapie(model: Any, calibration: Samples, X_test: np.ndarray, level: float, how: tuple[str, bool]) -> np.ndarray:
    """Which test samples are accepted."""
    from mapie.risk_control import MultiClassificationLTTController
    from mapie.risk_control.risks import BinaryRisk, abstention_rate
    from sklearn.model_selection import train_test_split

    method, our_grid = how
    (X, y), grid = calibration, np.linspace(0, 0.99, 100)
    if our_grid:
        first, X, _, y = train_test_split(X, y, train_size=0.25, random_state=0)
        needed = np.log(1 - CONFIDENCE) / np.log(1 - level)
        least = min(1.0, min(3 * needed, np.sqrt(needed * len(y))) / len(y))
        grid = np.unique(np.quantile(model.predict_proba(first).max(axis=1), np.linspace(0, 1 - least, 100)))
    risk = BinaryRisk(
        risk_occurrence=lambda y_true, y_pred: y_pred == y_true,
        risk_condition=lambda y_true, y_pred: ~np.isnan(y_pred),
        higher_is_better=True,
    )
    controller = MultiClassificationLTTController(
        model.predict_proba, risks=[risk], target_level=[1 - level], confidence_level=CONFIDENCE,
        best_predict_param_choice=abstention_rate, list_predict_params=grid, classes=model.classes_, fwer_method=method,
    )  # fmt: skip
    controller.calibrate(X, y)
    if controller.best_predict_param is None:
        return np.zeros(len(X_test), dtype=bool)
    return model.predict_proba(X_test).max(axis=1) >= float(controller.best_predict_param)


def speed(task: Task) -> dict[str, Any]:
    """Seconds of a search of thresholds: "optimal" with errors at low certainty."""
    from lvq.rejection import local_thresholds

    random, samples = np.random.default_rng(0), task["samples"]
    certainty, cell = random.random(samples), random.integers(0, 200, samples)
    correct = np.asarray(random.random(samples) < 0.7 + 0.3 * certainty)
    if task["method"] == "optimal":
        correct = np.ones(samples, dtype=bool)
        correct[np.argsort(certainty + random.normal(scale=0.5, size=samples))[: samples // 10]] = False
    return measures.times(lambda: local_thresholds(certainty, correct, cell, method=task["method"]))
