"""Which defaults: accuracy of solvers, models and a tuned SVM on fourteen sets, by repeated 5-fold cross-validation.

`python -m benchmarks.defaults [--repeats 5] [--jobs 2] [--methods NAME ...]` needs `LVQ_DATA`. Features are scaled
to unit variance on the training folds; all methods see the same folds. Finished cells are stored at once in
`benchmarks/results/defaults.json`, so a stopped run goes on where it was; the table is written beside it as Markdown.
The SVM's grid is C in .1, 1, 10, 100, 1000 and gamma in .03, .1, .3, 1, 3 over the number of features, by inner 5-fold
cross-validation.
"""

import argparse
import json
import os
import pathlib
import time
import warnings
from collections.abc import Callable
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
warnings.simplefilter("ignore")

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lvq import GLVQ, GMLVQ, LVQClassifier, LVQClassifierCV
from lvq.datasets import load_dataset

RESULTS = pathlib.Path(__file__).parent / "results" / "defaults.json"
SETS = (
    "iris", "wine", "wdbc", "diabetes", "glass2", "heart", "ionosphere", "sonar", "vehicle", "haberman", "segment",
    "affordance", "tecator", "digits",
)  # fmt: skip


def tuned_svm(n: int) -> Any:
    """The rival, tuned inside each fold."""
    grid = {"C": [0.1, 1, 10, 100, 1000], "gamma": [g / n for g in (0.03, 0.1, 0.3, 1, 3)]}
    return GridSearchCV(SVC(), grid, cv=5)


def methods() -> dict[str, Callable[[int], Any]]:
    """Name -> maker of an estimator for n features."""
    made: dict[str, Callable[[int], Any]] = {"SVM, tuned": tuned_svm}
    for model in (GLVQ, GMLVQ):
        for count in (1, 3):
            for solver in ("online", "lbfgs", "adam"):
                rate = {"learning_rate": 0.01} if solver == "adam" else {}
                made[f"{model.__name__} {count} {solver}"] = (
                    lambda n, model=model, count=count, solver=solver, rate=rate: model(
                        n_prototypes=count, solver=solver, random_state=0, **rate
                    )
                )
    made["LVQClassifier"] = lambda n: LVQClassifier(random_state=0)
    made["LVQClassifierCV"] = lambda n: LVQClassifierCV(random_state=0)
    return made


def cell(name: str, dataset: str, repeat: int) -> dict[str, Any]:
    """One method on one set, one repetition of five folds."""
    X, y = load_dataset(dataset, return_X_y=True)
    if dataset == "segment":  # a third of it, as the trial before had
        chosen = np.random.RandomState(0).permutation(len(X))[:770]
        X, y = X[chosen], y[chosen]
    accuracy, objective, seconds = [], [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=repeat).split(X, y):
        scaler = StandardScaler().fit(X[train])
        model = methods()[name](X.shape[1])
        start = time.process_time()
        model.fit(scaler.transform(X[train]), y[train])
        seconds.append(time.process_time() - start)
        accuracy.append(model.score(scaler.transform(X[test]), y[test]))
        if hasattr(model, "objective_value"):
            objective.append(model.objective_value(scaler.transform(X[train]), y[train]))
    row = {"method": name, "dataset": dataset, "repeat": repeat, "accuracy": [round(float(a), 5) for a in accuracy]}
    if objective:
        row["objective"] = round(float(np.mean(objective)), 6)
    return row | {"seconds": round(float(np.mean(seconds)), 4)}


def table(rows: list[dict[str, Any]]) -> str:
    """Mean accuracy of each method on each set, in percent, over the repetitions all of them have."""
    names = [name for name in methods() if any(row["method"] == name for row in rows)]
    lines = ["| data set | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    means: dict[str, list[float]] = {name: [] for name in names}
    for dataset in SETS:
        entries = []
        for name in names:
            found = [row["accuracy"] for row in rows if row["method"] == name and row["dataset"] == dataset]
            means[name].append(100 * float(np.mean(found)) if found else float("nan"))
            entries.append(f"{means[name][-1]:.1f}")
        lines.append(f"| {dataset} | " + " | ".join(entries) + " |")
    lines.append("| **mean** | " + " | ".join(f"**{np.mean(means[name]):.2f}**" for name in names) + " |")
    for label, key, form in (("mean objective", "objective", ".4f"), ("seconds a fit", "seconds", ".3f")):
        entries = []
        for name in names:
            found = [row[key] for row in rows if row["method"] == name and key in row]
            entries.append(format(float(np.mean(found)), form) if found else "")
        lines.append(f"| {label} | " + " | ".join(entries) + " |")
    repeats = [str(len({row["repeat"] for row in rows if row["method"] == name})) for name in names]
    lines.append("| repetitions of 5 folds | " + " | ".join(repeats) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Fill in the missing cells, store each at once, write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", nargs="*", default=list(methods()))
    arguments = parser.parse_args()
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {(row["method"], row["dataset"], row["repeat"]) for row in rows}
    wanted = [(m, d, r) for r in range(arguments.repeats) for m in arguments.methods for d in SETS]
    missing = [task for task in wanted if task not in done]
    run = Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")
    for number, row in enumerate(run(delayed(cell)(*task) for task in missing), 1):
        rows.append(row)
        temporary = RESULTS.with_suffix(".part")
        temporary.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
        temporary.replace(RESULTS)
        print(f"{number}/{len(missing)} {row['method']} {row['dataset']}", flush=True)
    RESULTS.with_suffix(".md").write_text(table(rows))


if __name__ == "__main__":
    main()
