"""Log-loss and calibration error of the probabilities of `LVQClassifier` and `LVQClassifierCV`, before and after.

`python -m experiments.calibration [--folds 5] [--sets NAME ...] [--out FILE]` needs `LVQ_DATA`, the folder of the
development pool; folds and scaling are those of `experiments.pool_fits`. "Before" is the same fitted model at the
temperature one. The calibration error is the mean over samples of the difference between the accuracy and the mean
probability of the predicted class in ten equal bins of that probability.
"""

import argparse
import os
import pathlib
import time
import warnings
from dataclasses import replace
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

from experiments.leave_one_set_out import as_markdown
from experiments.pool_fits import OUTER, POOL, log_of_true, split
from lvq import LVQClassifier, LVQClassifierCV
from lvq.report.probabilities import calibration_error

MODELS = {"LVQClassifier": LVQClassifier, "LVQClassifierCV": LVQClassifierCV}


def measure(dataset: str, model: Any, folds: int) -> list[float]:
    """Log-loss and calibration error, before and after, over the test samples of all folds; mean seconds of a fit."""
    losses: tuple[list[np.ndarray], ...] = ([], [])
    tops: tuple[list[np.ndarray], ...] = ([], [])
    correct, seconds = list[np.ndarray](), 0.0
    for fold in range(folds):
        X, y, X_test, y_test = split(dataset, fold)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a default is taken as it is
            start = time.process_time()
            fitted = model(random_state=0).fit(X, y).model_
        seconds += time.process_time() - start
        before = replace(fitted, decision=replace(fitted.decision, temperature=1.0))
        for place, part in enumerate((before, fitted)):
            table = part.predict_proba(X_test)
            losses[place].append(-log_of_true(table, y_test))
            tops[place].append(table.max(axis=1))
        correct.append(fitted.predict(X_test) == y_test)
    right = np.concatenate(correct)
    errors = [100 * calibration_error(np.concatenate(part), right) for part in tops]
    return [*(float(np.concatenate(part).mean()) for part in losses), *errors, seconds / folds]


def main() -> None:
    """Measure, print and store the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=OUTER)
    parser.add_argument("--sets", nargs="*", default=POOL)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    head = ["set"]
    for name in arguments.models:
        head += [f"{name}: log-loss before", "after", "calibration error before, %", "after", "seconds"]
    lines: list[list[Any]] = []
    for dataset in arguments.sets:
        numbers = [measure(dataset, MODELS[name], arguments.folds) for name in arguments.models]
        lines.append([dataset, *(value for part in numbers for value in part)])
        print(lines[-1], flush=True)
    lines.append(["mean", *np.mean([line[1:] for line in lines], axis=0)])
    shown = [[line[0], *(f"{value:.3f}" for value in line[1:])] for line in lines]
    text = f"{arguments.folds} of {OUTER} outer folds.\n\n" + as_markdown(head, shown)
    if arguments.out:
        arguments.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
