"""What prototypes that are samples cost: `sample_prototypes=True` beside free prototypes, on sets of the pool.

`python -m experiments.sample_prototypes [--folds 3]` needs `LVQ_DATA`. Outer folds and rows are those of
`experiments.pool_fits`. Writes `results/sample_prototypes.md`.
"""

import argparse
import pathlib
import time
import warnings

import numpy as np

from experiments.pool_fits import OUTER, split
from lvq import GLVQ, LVQClassifier
from lvq.estimators.base import CostBasedLVQ

SETS = (
    "iris", "wine", "wdbc", "diabetes", "heart", "ionosphere", "sonar", "vehicle", "haberman", "tecator", "australian",
    "banana", "bupa", "german", "led7digit", "tae",
)  # fmt: skip
MODELS: dict[str, CostBasedLVQ] = {
    "GLVQ, 2 per class": GLVQ(n_prototypes=2, random_state=0),
    "LVQClassifier": LVQClassifier(calibration=None, random_state=0),
}
RESULT = pathlib.Path(__file__).parent / "results" / "sample_prototypes.md"


def measure(dataset: str, fold: int) -> np.ndarray:
    """Accuracy in percent and CPU seconds of each model, with free prototypes and with samples, (models, 2, 2)."""
    X, y, X_test, y_test = split(dataset, fold)
    rows = []
    for model in MODELS.values():
        for samples in (False, True):
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a default is taken as it is
                model.set_params(sample_prototypes=samples).fit(X, y)
            seconds = time.process_time() - start
            rows.append((100 * np.mean(model.predict(X_test) == y_test), seconds))
    return np.array(rows).reshape(len(MODELS), 2, 2)


def table(found: np.ndarray, folds: int) -> str:
    """Markdown: a line for each set, of shape (sets, folds, models, 2, 2), and the means."""
    mean = found.mean(axis=1)
    head = [f"{name}: {kind}" for name in MODELS for kind in ("free", "samples", "difference", "times the time")]
    lines = [
        f"{len(SETS)} sets, {folds} of {OUTER} outer folds; accuracy in %, time in that of the free fit.",
        "",
    ]
    lines += ["| set | " + " | ".join(head) + " |", "| --- " * (len(head) + 1) + "|"]
    for name, row in [*zip(SETS, mean), ("mean", mean.mean(axis=0))]:
        numbers = []
        for (free, time_free), (samples, time_samples) in row:
            numbers += [f"{free:.2f}", f"{samples:.2f}", f"{samples - free:+.2f}", f"{time_samples / time_free:.1f}"]
        lines.append(f"| {name} | " + " | ".join(numbers) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=3)
    folds = parser.parse_args().folds
    found = [[measure(name, fold) for fold in range(folds)] for name in SETS]
    RESULT.write_text(table(np.array(found), folds))


if __name__ == "__main__":
    main()
