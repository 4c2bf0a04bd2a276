"""Models with up to 100,000 prototypes: how time grows with them, and what a fit with 10,000 classes takes.

Run as ``python -m experiments.many_prototypes``; it writes ``experiments/results/many_prototypes.json``. Times are CPU
seconds with one thread for products. "nested" data have classes in groups of classes, as most data with many classes;
the centres of "independent" ones are independent in all 32 features, where bounds of distances exclude almost nothing.
``--fit`` adds the large fit, which takes minutes.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from lvq import GLVQ
from lvq.model import grouped_prediction
from lvq.model.objective import Objective, Params
from lvq.model.prototype_model import PrototypeModel
from lvq.model.samples import ArraySamples

RESULTS = Path(__file__).parent / "results" / "many_prototypes.json"
FEATURES, PER_CLASS, SAMPLES, SPREAD = 32, 10, 8192, 0.3
SIZES = (1000, 4000, 16_000, 50_000, 100_000)  # prototypes


def centres(kind: str, classes: int, random: np.random.Generator) -> np.ndarray:
    """Centres of the classes."""
    if kind == "independent":
        return random.normal(size=(classes, FEATURES))
    groups = 3 * random.normal(size=(int(classes**0.5), FEATURES))
    return groups[random.integers(len(groups), size=classes)] + random.normal(size=(classes, FEATURES))


def around(points: np.ndarray, y: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Samples of the classes."""
    return points[y] + SPREAD * random.normal(size=(len(y), FEATURES))


def seconds(call: Callable[[], object]) -> float:
    """CPU seconds of the second call; the first prepares what is kept."""
    call()
    start = time.process_time()
    call()
    return round(time.process_time() - start, 4)


def cell(kind: str, prototypes: int) -> dict[str, float]:
    """Predictions and one evaluation of the objective, with groups and without."""
    random, classes = np.random.default_rng(prototypes), prototypes // PER_CLASS
    points = centres(kind, classes, random)
    labels = np.repeat(np.arange(classes), PER_CLASS)
    W = around(points, labels, random)
    y = np.sort(random.integers(classes, size=SAMPLES))
    X = around(points, y, random)
    model = PrototypeModel(W, labels, np.arange(classes))
    result: dict[str, float] = {"prototypes": prototypes}
    with patch.object(grouped_prediction, "MANY", 0):
        result["predict"] = seconds(lambda: model.predict(X))
        by_groups = model.predict(X)
    plain = PrototypeModel(W, labels, np.arange(classes))
    with patch.object(grouped_prediction, "MANY", 10**9):
        result["predict_without"] = seconds(lambda: plain.predict(X))
        assert (plain.predict(X) == by_groups).all()
    cost = GLVQ()._parts().cost
    params, samples = Params(W), ArraySamples(X, y, np.full(SAMPLES, 1 / SAMPLES))
    every = Objective(model.metric, model.link, cost, labels)
    with patch("lvq.model.objective.GROUPED", 0):
        grouped = every.with_groups(params, X)
    result["evaluate"] = seconds(lambda: grouped.total(params, samples))
    result["evaluate_without"] = seconds(lambda: every.total(params, samples))
    return result


def exponents(rows: list[dict[str, float]]) -> dict[str, float]:
    """p of prototypes^p, by least squares of the logarithms, from 4,000 prototypes on."""
    rows = [row for row in rows if row["prototypes"] >= 4000]
    sizes = np.log([row["prototypes"] for row in rows])
    return {
        name: round(float(np.polyfit(sizes, np.log([row[name] for row in rows]), 1)[0]), 2)
        for name in rows[0]
        if name != "prototypes"
    }


def large_fit(kind: str, samples: int, classes: int) -> dict[str, float]:
    """GLVQ with 10 prototypes for each class, and its predictions."""
    random = np.random.default_rng(0)
    points, y = centres(kind, classes, random), np.arange(samples) % classes
    X, X_test = around(points, y, random), around(points, y[:20_000], random)
    start = time.process_time()
    model = GLVQ(n_prototypes=PER_CLASS, random_state=0).fit(X, y)
    fit_seconds = time.process_time() - start
    start = time.process_time()
    accuracy = float(np.mean(model.predict(X_test) == y[:20_000]))
    return {
        "samples": samples,
        "classes": classes,
        "prototypes": len(model.prototypes_),
        "fit_seconds": round(fit_seconds, 1),
        "iterations": model.n_iter_,
        "predict_20000_seconds": round(time.process_time() - start, 2),
        "test_accuracy": round(accuracy, 4),
        "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def main() -> None:
    """Measure, and write the results after each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true", help="fit 200,000 samples of 10,000 classes as well")
    arguments = parser.parse_args()
    result = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        if arguments.fit:
            result["fit"] = large_fit("nested", 200_000, 10_000)
            RESULTS.write_text(json.dumps(result, indent=1) + "\n")
            return
        for kind in ("nested", "independent"):
            rows = [cell(kind, size) for size in SIZES]
            result[kind] = {"sizes": rows, "exponents": exponents(rows)}
            RESULTS.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
