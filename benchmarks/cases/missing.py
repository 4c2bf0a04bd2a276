"""Samples with a fifth of their values missing beside the same samples complete: fits and predictions."""

import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from benchmarks import data, text
from benchmarks.results import select
from benchmarks.rounds import Row, Run
from benchmarks.workers.measures import quartiles
from lvq import GLVQ, GMLVQ, GRLVQ, LVQClassifier
from lvq.estimators.base import CostBasedLVQ
from lvq.solvers.threads import single_threaded_products

TITLE = "Missing values"
MINUTES = 4.0
SETS = ("wdbc", "heart", "ionosphere", "vehicle")
MODELS: dict[str, CostBasedLVQ] = {
    "glvq": GLVQ(n_prototypes=3), "grlvq": GRLVQ(n_prototypes=3), "gmlvq": GMLVQ(), "gmlvq-3": GMLVQ(n_prototypes=3),
    "default": LVQClassifier(),
}  # fmt: skip
NAMES = {
    "glvq": "GLVQ, 3 per class", "grlvq": "GRLVQ, 3 per class", "gmlvq": "GMLVQ", "gmlvq-3": "GMLVQ, 3 per class",
    "default": "`LVQClassifier()`",
}  # fmt: skip
MISSING = 0.2
PREDICTIONS = 20  # calls of `predict` in a measurement
LIMIT = 2.0


def cells(quick: bool) -> list[Row]:
    """Four sets, five models."""
    if quick:
        return [{"set": "wine", "model": "glvq"}]
    return [{"set": name, "model": model} for name in SETS for model in MODELS]


def run(cell: Row, run: Run) -> list[Row]:
    """Both kinds of samples by turns, in one thread; CPU time, as other programs may run."""
    X, y = data.pool_rows(cell["set"])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    gaps = np.where(np.random.default_rng(0).random(X.shape) < MISSING, np.nan, X)
    models = [clone(MODELS[cell["model"]]).set_params(random_state=0, missing="ignore") for _ in range(2)]
    times: dict[str, list[list[float]]] = {"fit": [[], []], "predict": [[], []]}
    with single_threaded_products(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for number in range(run.repeat + 1):  # the first is not counted
            for place, (model, samples) in enumerate(zip(models, (X, gaps))):
                found = {"fit": seconds(partial(model.fit, samples, y))}
                found["predict"] = seconds(partial(model.predict, samples), PREDICTIONS)
                for name, value in found.items():
                    times[name][place] += [value] * (number > 0 or not run.repeat)
    return [
        {
            "library": "lvq", "status": "ok", "threads": 1, "missing": place == 1, "iterations": int(model.n_iter_),
            "fit": quartiles(times["fit"][place]), "predict": quartiles(times["predict"][place]),
        }
        for place, model in enumerate(models)
    ]  # fmt: skip


def seconds(call: Callable[[], object], count: int = 1) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count


def ratios(rows: list[Row]) -> list[Row]:
    """For each set and model: times with missing values over those without."""
    found = []
    for name, model in dict.fromkeys((row["set"], row["model"]) for row in select(rows, status="ok")):
        pair = {row["missing"]: row for row in select(rows, set=name, model=model, status="ok")}
        if len(pair) < 2:
            continue
        ratio = {key: pair[True][key]["median"] / pair[False][key]["median"] for key in ("fit", "predict")}
        found.append({"set": name, "model": model, **ratio, "rows": pair})
    return found


def largest(rows: list[Row], key: str) -> float | None:
    """The largest ratio of all sets and models; None where one of them was not measured."""
    found = ratios(rows)
    return max(row[key] for row in found) if len(found) == len(SETS) * len(MODELS) else None


def report(rows: list[Row]) -> str:
    """A line for each set and model."""
    lines = []
    for row in ratios(rows):
        shown = [f"**{row[key]:.2f}**" if row[key] > LIMIT else f"{row[key]:.2f}" for key in ("fit", "predict")]
        times = [text.seconds(row["rows"][missing][key]["median"]) for key in ("fit", "predict") for missing in
                 (False, True)]  # fmt: skip
        iterations = ", ".join(str(row["rows"][missing]["iterations"]) for missing in (False, True))
        lines.append(
            [text.name(row["set"]), NAMES[row["model"]], shown[0], *times[:2], iterations, shown[1], *times[2:]]
        )
    head = [
        "set",
        "model",
        "fit",
        "fit, complete",
        "missing",
        "iterations",
        "predict",
        "predict, complete",
        "missing",
    ]
    rule = (
        f'`missing="ignore"` with {MISSING:.0%} of the values removed at random: CPU time over that of the complete '
        "samples, in one thread, medians. The iterations, without and with missing values, differ: the objectives do, "
        f"and fits with missing values stop earlier. Bold is above {LIMIT:g}."
    )
    return f"{rule}\n\n{text.table(head, lines)}"
