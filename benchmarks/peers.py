"""GMLVQ with its defaults in the protocol in which other LVQ libraries were measured.

`python -m benchmarks.peers`: three times 10-fold stratified cross-validation on four sets that ship with scikit-learn,
features scaled to unit variance in the fold. The best of the others' defaults, measured the same way on 2026-11-15
(sklvq 0.1.2, sklearn-lvq 1.1.1, prosemble 2.4.0, prototorch-models 0.7.1, R's class), are printed beside it. Their
folds had other seeds, so a difference of a few tenths is not significant; `--repeats` makes our interval narrower.
"""

import argparse
import json
import os
import pathlib

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GMLVQ, LVQClassifier

RESULTS = pathlib.Path(__file__).parent / "results" / "peers.json"
SETS = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer, "digits": load_digits}
PEERS = {
    "prosemble GMLVQ": (96.0, 98.9, 96.5, 94.8),
    "prototorch GMLVQ": (97.1, 99.1, 96.4, 94.7),
    "sklearn-lvq GMLVQ": (97.3, 98.7, 96.4, 95.0),
    "sklvq GMLVQ": (96.9, 98.5, 96.9, 88.3),
    "sklvq GMLVQ, batch": (97.3, 99.1, 95.9, 94.8),
    "R class olvq1": (95.1, 96.5, 95.0, 95.6),
}


def accuracies(model: object, name: str, repeats: int) -> list[float]:
    """Accuracy on each fold, in percent."""
    X, y = SETS[name](return_X_y=True)
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=repeats, random_state=0).split(X, y)
    pipeline = make_pipeline(StandardScaler(), model)
    return [100 * pipeline.fit(X[train], y[train]).score(X[test], y[test]) for train, test in folds]


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    models = {"lvq GMLVQ": GMLVQ(random_state=0), "lvq LVQClassifier": LVQClassifier(random_state=0)}
    tasks = [(label, name) for label in models for name in SETS]
    found = Parallel(n_jobs=arguments.jobs)(
        delayed(accuracies)(models[label], name, arguments.repeats) for label, name in tasks
    )
    ours = {label: [round(float(np.mean(f)), 2) for t, f in zip(tasks, found) if t[0] == label] for label in models}
    rows = [
        {"model": label, **dict(zip(SETS, values)), "mean": round(float(np.mean(values)), 2)}
        for label, values in (ours | {k: list(v) for k, v in PEERS.items()}).items()
    ]
    for row in rows:
        print(row)
    RESULTS.write_text(json.dumps({"repeats": arguments.repeats, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
