"""n_prototypes="auto" beside fixed numbers, on the development pool.

`python -m experiments.prototype_numbers [--folds 3] [--jobs 2]` needs `LVQ_DATA`. Outer folds and rows are those of
`experiments.pool_fits`. Writes `results/prototype_numbers.md`.
"""

import argparse
import pathlib
import time
import warnings
from typing import Literal

import numpy as np
from joblib import Parallel, delayed

from experiments.pool_fits import OUTER, POOL, split
from lvq import LVQClassifier

NUMBERS: tuple[int | Literal["auto"], ...] = (1, 2, 3, "auto")
RESULT = pathlib.Path(__file__).parent / "results" / "prototype_numbers.md"


def measure(dataset: str, fold: int) -> np.ndarray:
    """Accuracy in percent, prototypes per class and CPU seconds for each number, (4, 3)."""
    X, y, X_test, y_test = split(dataset, fold)
    rows = []
    for number in NUMBERS:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a default is taken as it is
            model = LVQClassifier(n_prototypes=number, calibration=None, random_state=0).fit(X, y)
        seconds = time.process_time() - start
        accuracy = 100 * np.mean(model.predict(X_test) == y_test)
        rows.append((accuracy, len(model.prototypes_) / len(model.classes_), seconds))
    return np.array(rows)


def table(found: np.ndarray, folds: int) -> str:
    """Markdown: a line for each set, of shape (sets, folds, numbers, 3), and the means."""
    mean = found.mean(axis=1)
    head = [f"{number}: accuracy, %" for number in NUMBERS] + [
        "auto: prototypes per class",
        "auto: time of a fit with 2",
    ]
    lines = [f"28 sets, {folds} of {OUTER} outer folds; `LVQClassifier(n_prototypes=...)` without calibration.", ""]
    lines += ["| set | " + " | ".join(head) + " |", "| --- " * (len(head) + 1) + "|"]
    for name, row in [*zip(POOL, mean), ("mean", mean.mean(axis=0))]:
        numbers = [f"{value:.2f}" for value in row[:, 0]]
        numbers += [f"{row[-1, 1]:.2f}", f"{row[-1, 2] / row[1, 2]:.1f}"]
        lines.append(f"| {name} | " + " | ".join(numbers) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    cells = [(name, fold) for name in POOL for fold in range(given.folds)]
    found = Parallel(n_jobs=given.jobs)(delayed(measure)(*cell) for cell in cells)
    RESULT.write_text(table(np.array(found).reshape(len(POOL), given.folds, len(NUMBERS), 3), given.folds))


if __name__ == "__main__":
    main()
