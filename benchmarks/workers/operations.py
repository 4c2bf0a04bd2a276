"""What a task can ask for: task -> result, both dictionaries of plain values."""

import importlib.metadata
import json
from functools import partial
from typing import Any

import numpy as np

from benchmarks.workers import measures, online, peers, r_class, reach, rejection
from benchmarks.workers.measures import load
from benchmarks.workers.models import Model, Ours, ScikitLearn, Task

LIBRARIES: dict[str, type[Model]] = {
    "lvq": Ours, "scikit-learn": ScikitLearn, "sklvq": peers.Sklvq, "sklearn-lvq": peers.SklearnLvq,
    "prosemble": peers.Prosemble, "prototorch": peers.Prototorch, "r-class": r_class.RClass,
}  # fmt: skip
#: Rows on which accuracies of models without prototypes are measured, and on which predictions are compared.
MOST_ROWS, COMPARED_ROWS = 10_000, 200


def fit(task: Task) -> dict[str, Any]:
    """Seconds of `fit`; with "evaluate" also accuracies and, for models with prototypes, the objective."""
    data, model = load(task["data"]), LIBRARIES[task["library"]](task)
    model.prepare(data["X"])
    found = measures.times(lambda: model.fit(data["X"], data["y"]), task.get("at_least", 0.2))
    found |= model.own_times or {}
    return found | (evaluate(model, data) if task.get("evaluate") else {})


def evaluate(model: Model, data: dict[str, np.ndarray]) -> dict[str, Any]:
    """Training and test accuracy, objective, and whether the library's own predictions are those of its prototypes."""
    iterations = getattr(getattr(model, "fitted", None), "n_iter_", None)
    found: dict[str, Any] = {"iterations": int(iterations)} if isinstance(iterations, int | np.integer) else {}
    X_test, y_test = data.get("X_test", data["X"][:0]), data.get("y_test", data["y"][:0])
    found["tests"] = len(y_test)
    prototypes = None if hasattr(data["X"], "toarray") else model.prototypes()  # of sparse rows only accuracies
    if prototypes is None:
        X, y = data["X"][:MOST_ROWS], data["y"][:MOST_ROWS]
        found["train_accuracy"] = float((model.predict(X) == y).mean())
        if len(y_test):
            found["test_accuracy"] = float((model.predict(X_test) == y_test).mean())
        return found
    scores = measures.prototype_scores(data["X"], data["y"], *prototypes)
    found |= {"train_accuracy": scores["accuracy"], "objective": scores["objective"]}
    if len(y_test):
        found["test_accuracy"] = measures.prototype_scores(X_test, y_test, *prototypes)["accuracy"]
    X, y = data["X"][:COMPARED_ROWS], data["y"][:COMPARED_ROWS]
    own = float((model.predict(X) == y).mean())
    return found | {"difference": abs(own - measures.prototype_scores(X, y, *prototypes)["accuracy"])}


def memory(task: Task) -> dict[str, Any]:
    """Megabytes that `fit` and `predict` need besides the data, in a process that has done nothing else.

    A small fit before loads what the library imports and compiles.
    """
    model, random = LIBRARIES[task["library"]](task), np.random.default_rng(0)
    model.fit(random.standard_normal((60, 4)), np.repeat(np.arange(3), 20))
    data = load(task["data"])
    found: dict[str, Any] = {}
    fit_once = lambda: found.update(measures.times(lambda: model.fit(data["X"], data["y"]), 0))  # noqa: E731
    found["fit_megabytes"] = measures.extra_megabytes(fit_once)
    found["predict_megabytes"] = measures.extra_megabytes(lambda: model.predict(data["X"]))
    return found | (evaluate(model, data) if task.get("evaluate") else {})


def fitted(task: Task) -> Model:
    """A fitted model; that of an equal task is kept, so that rounds do not fit again."""
    key = json.dumps({name: task.get(name) for name in ("library", "data", "model", "per_class", "rank")})
    if key not in _fitted:
        model, data = LIBRARIES[task["library"]](task), load(task["data"])
        model.fit(data["X"], data["y"])
        _fitted[key] = model
    return _fitted[key]


_fitted: dict[str, Model] = {}


def predict(task: Task) -> dict[str, Any]:
    """Seconds a row of `predict` on many rows: more rows until they take long enough or do not fit into memory."""
    data, model = load(task["data"]), fitted(task)
    X, rows, fitting = data["X_test"], 256, 256
    while rows < len(X):
        try:
            once = (measures.times(partial(model.predict, X[:rows]), 0) | (model.own_times or {}))["wall"]
        except (MemoryError, RuntimeError):
            break
        fitting = rows
        if once > 0.5:
            break
        rows *= 8
    rows = fitting if rows < len(X) else len(X)
    found = measures.times(partial(model.predict, X[:rows]), task.get("at_least", 0.3)) | (model.own_times or {})
    return {key: found[key] / rows for key in ("wall", "cpu")} | {"rows": rows}


def single(task: Task) -> dict[str, Any]:
    """Seconds of `predict` of one sample."""
    row, model = load(task["data"])["X_test"][:1], fitted(task)
    return measures.times(lambda: model.predict(row), task.get("at_least", 0.3), 5000)


def product(task: Task) -> dict[str, Any]:
    """Seconds a row of the bare product and argmin: the fastest of whole and of several blocks."""
    data = load(task["data"])
    X = data[task.get("array", "X_test")]
    random = np.random.default_rng(0)
    F = random.standard_normal((X.shape[1], task["prototypes"])).astype(X.dtype)
    b = random.standard_normal((1, task["prototypes"])).astype(X.dtype)[0]
    kinds = [
        measures.times(partial(measures.product_and_argmin, X, F, b, rows), task.get("at_least", 0.3))
        for rows in (None, 512, 2048)
    ]
    best = min(kinds, key=lambda found: found["wall"])
    return {key: best[key] / len(X) for key in ("wall", "cpu")} | {"rows": len(X)}


def folds(task: Task) -> dict[str, Any]:
    """Accuracy on each fold, features standardised on the training part; ends early when `seconds` are used up."""
    data, model = load(task["data"]), LIBRARIES[task["library"]](task)
    model.prepare(data["X"])
    accuracies: list[float] = []
    cpu: list[float] = []
    for test in [numbers == number for numbers in data["folds"].T for number in np.unique(numbers)]:
        train = ~test
        mean, scale = data["X"][train].mean(axis=0), data["X"][train].std(axis=0)
        X = (data["X"] - mean) / np.where(scale > 0, scale, 1)
        fit_fold = partial(model.fit, X[train], data["y"][train])
        cpu.append((measures.times(fit_fold, 0) | (model.own_times or {}))["cpu"])
        accuracies.append(float((model.predict(X[test]) == data["y"][test]).mean()))
        if sum(cpu) > task.get("seconds", np.inf):
            break
    return {"accuracies": accuracies, "cpu": float(np.median(cpu)), "wall": float(np.median(cpu))}


def versions(task: Task) -> dict[str, Any]:
    """The versions of packages."""
    return {"versions": {name: importlib.metadata.version(name) for name in task["packages"]}}


OPERATIONS = {
    "fit": fit, "memory": memory, "predict": predict, "single": single, "product": product, "folds": folds,
    "versions": versions, "online_rate": online.rate, "rejection": rejection.compare,
    "rejection_speed": rejection.speed, "reach": reach.reach,
}  # fmt: skip
