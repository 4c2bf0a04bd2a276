"""Rates of a stream: `fit_batches` with the default schedule, a tenth of the learning rate, and with all of it.

`python -m experiments.stream_rates` writes experiments/results/stream_rates.json: the mean accuracy on 30 % of the rows
of 14 sets of the development pool, two divisions, batches of 200 rows, one pass and five.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import pool_rows
from lvq import GLVQ, GMLVQ, GRLVQ, LOGM, MCE, RSLVQ, fit_batches
from lvq.estimators.base import BaseLVQ
from lvq.solvers.online import Online

RESULT = Path(__file__).parent / "results" / "stream_rates.json"
SETS = (
    "spambase", "segment", "vehicle", "wdbc", "pima", "phoneme", "letter", "satimage", "ionosphere", "heart", "german",
    "sonar", "wine", "glass",
)  # fmt: skip
MODELS: dict[str, type[BaseLVQ]] = {
    "GLVQ": GLVQ,
    "GMLVQ": GMLVQ,
    "GRLVQ": GRLVQ,
    "LOGM": LOGM,
    "MCE": MCE,
    "RSLVQ": RSLVQ,
}
SCHEDULES = {"a tenth of the learning rate (linear)": "linear", "as given (constant)": "constant"}
SEEDS, PASSES, ROWS = (0, 1), (1, 5), 200


def accuracy(name: str, dataset: str, seed: int, schedule: str, passes: int) -> float:
    """Accuracy of one model after a stream, in percent."""
    X, y = pool_rows(dataset)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    batches = [(X_train[i : i + ROWS], y_train[i : i + ROWS]) for i in range(0, len(y_train), ROWS)]
    model = make_pipeline(StandardScaler(), MODELS[name](solver=Online(schedule=schedule), random_state=seed))
    return 100 * float(fit_batches(model, batches, epochs=passes).score(X_test, y_test))


def main() -> None:
    """Run all and write the means."""
    result: dict[str, dict[str, list[float]]] = {}
    for name in MODELS:
        result[name] = {
            words: [
                round(float(np.mean([accuracy(name, each, seed, schedule, n) for each in SETS for seed in SEEDS])), 1)
                for n in PASSES
            ]
            for words, schedule in SCHEDULES.items()
        }
        print(name, result[name], flush=True)
    RESULT.write_text(json.dumps({"sets": SETS, "passes": PASSES, "mean accuracy": result}, indent=1) + "\n")


if __name__ == "__main__":
    main()
