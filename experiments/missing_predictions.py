"""Time of `predict` with a fifth of the values missing over that of complete samples, for models and sizes.

`python -m experiments.missing_predictions` writes experiments/results/missing_predictions.json: ratios of the shortest
of 25 calls, default threads, two classes; nothing else should run.
"""

import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lvq import GLVQ, GMLVQ, LGMLVQ, LVQClassifier
from lvq.estimators.cost_based import CostBasedLVQ

RESULT = Path(__file__).parent / "results" / "missing_predictions.json"
MODELS: dict[str, CostBasedLVQ] = {
    "GLVQ, 2 per class": GLVQ(n_prototypes=2),
    "GMLVQ, 1 per class": GMLVQ(),
    "GMLVQ, 3 per class": GMLVQ(n_prototypes=3),
    "GMLVQ of rank 2": GMLVQ(rank=2),
    "LGMLVQ": LGMLVQ(),
    "LVQClassifier()": LVQClassifier(),
}
FEATURES, ROWS, CALLS, FITTED = (10, 30, 100), (300, 5_000, 50_000), 25, 1_000


def shortest(call: Callable[[], object]) -> float:
    """Seconds of the shortest call."""
    seconds = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def ratio(model: CostBasedLVQ, features: int, rows: int) -> float:
    """Of one model and size."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features))
    y, gaps = (X[:, 0] + X[:, 1] > 0).astype(int), np.where(rng.random(X.shape) < 0.2, np.nan, X)
    fitted = clone(model).set_params(missing="ignore", max_iter=2, random_state=0).fit(gaps[:FITTED], y[:FITTED])
    fitted.predict(gaps)
    return round(shortest(lambda: fitted.predict(gaps)) / shortest(lambda: fitted.predict(X)), 2)


def main() -> None:
    """Measure all and write the ratios."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    result: dict[str, dict[str, list[float]]] = {}
    for name, model in MODELS.items():
        result[name] = {f"{n} features": [ratio(model, n, rows) for rows in ROWS] for n in FEATURES}
        print(name, result[name], flush=True)
    RESULT.write_text(json.dumps({"rows": ROWS, "ratios": result}, indent=1) + "\n")


if __name__ == "__main__":
    main()
