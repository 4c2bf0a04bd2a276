"""Accuracy and processor time of the default, the search and three methods of scikit-learn, on the same folds.

`python -m benchmarks.search [--sets NAME ...] [--folds 5] [--repeats 1]` needs `LVQ_DATA`, the folder of the
development pool: 29 sets, of each at most 1,200 rows, drawn once. Text columns are one-hot encoded, features scaled to
unit variance on the training fold. The grid has 16 points (C and gamma of an RBF kernel) and 5 folds. A cell is one
outer fold of one set: all methods are fitted one after the other, by one thread, so that their processor times can be
compared on a busy machine too. Finished cells are stored at once, one JSON object a line; a stopped run goes on.
"""

import argparse
import json
import os
import pathlib
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.data import POOL_FILES, POOL_NAMED, pool_rows
from lvq import LVQClassifier, LVQClassifierCV

RESULTS = pathlib.Path(__file__).parent / "results" / "search.jsonl"
POOL = POOL_NAMED + POOL_FILES
GRID, SEARCH, DEFAULT = "SVC grid", "LVQClassifierCV", "LVQClassifier"
FOREST, LOGISTIC = "random forest", "logistic regression"
METHODS = (DEFAULT, SEARCH, GRID, FOREST, LOGISTIC)


def methods(n_features: int) -> dict[str, Any]:
    """Name -> estimator for samples of so many features."""
    grid = {"C": [0.1, 1, 10, 100], "gamma": [g / n_features for g in (0.03, 0.15, 0.6, 3)]}
    return {
        GRID: GridSearchCV(SVC(), grid, cv=5),
        SEARCH: LVQClassifierCV(random_state=0),
        DEFAULT: LVQClassifier(random_state=0),
        FOREST: RandomForestClassifier(random_state=0),
        LOGISTIC: LogisticRegression(),
    }


def cell(dataset: str, repeat: int, fold: int, folds: int) -> dict[str, Any]:
    """One outer fold of one set: accuracy and processor seconds of each method, and what the search chose."""
    X, y = pool_rows(dataset)
    splits = StratifiedKFold(folds, shuffle=True, random_state=repeat).split(X, y)
    train, test = list(splits)[fold]
    scaler = StandardScaler().fit(X[train])
    row: dict[str, Any] = {"dataset": dataset, "repeat": repeat, "fold": fold, "folds": folds}
    for name, model in methods(X.shape[1]).items():
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a default is taken as it is
            model.fit(scaler.transform(X[train]), y[train])
        seconds = time.process_time() - start
        accuracy = float(np.mean(model.predict(scaler.transform(X[test])) == y[test]))
        row[name] = {"accuracy": round(accuracy, 5), "seconds": round(seconds, 4)}
        if name == SEARCH:
            row[name]["params"] = {key: str(value) for key, value in model.best_params_.items()}
    return row


def measure(
    sets: Iterable[str] = POOL,
    folds: int = 5,
    repeats: int = 1,
    path: pathlib.Path | None = RESULTS,
) -> Iterator[dict[str, Any]]:
    """All cells, one after the other; with a path those stored there are not computed again, and new ones are added.

    Parameters
    ----------
    sets : iterable of str
        Names of sets.
    folds, repeats : int
        Outer folds, and repetitions of them.
    path : pathlib.Path, optional
        File of finished cells.

    Yields
    ------
    row : dict
        "dataset", "repeat", "fold", "folds", and for each method its "accuracy" and "seconds".
    """
    lines = path.read_text().splitlines() if path is not None and path.exists() else []
    stored = {_key(row): row for row in map(json.loads, lines)}
    for repeat in range(repeats):
        for dataset in sets:
            for fold in range(folds):
                key = (dataset, repeat, fold, folds)
                if key not in stored:
                    stored[key] = cell(*key)
                    if path is not None:
                        with path.open("a") as file:
                            file.write(json.dumps(stored[key]) + "\n")
                yield stored[key]


def _key(row: dict[str, Any]) -> tuple[str, int, int, int]:
    return row["dataset"], row["repeat"], row["fold"], row["folds"]


def summary(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each set, and one for their mean: accuracy in percent, and seconds, of each method.

    "ratio" is the search's time over that of the grid; that of the mean is the ratio of the mean times.
    """
    rows = list(rows)
    names = [name for name in METHODS if rows and name in rows[0]]
    table = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        own = [row for row in rows if row["dataset"] == dataset]
        entry: dict[str, Any] = {"dataset": dataset}
        for name in names:
            entry[f"{name} accuracy"] = 100 * float(np.mean([row[name]["accuracy"] for row in own]))
            entry[f"{name} seconds"] = float(np.mean([row[name]["seconds"] for row in own]))
        table.append(entry)
    keys = [key for key in table[0] if key != "dataset"] if table else []
    table.append({"dataset": "mean"} | {key: float(np.mean([entry[key] for entry in table])) for key in keys})
    for entry in table:
        entry["ratio"] = entry[f"{SEARCH} seconds"] / entry[f"{GRID} seconds"]
    return table


def stored_ratio() -> float:
    """The mean time of the search over that of the grid, of the stored cells."""
    return float(summary(map(json.loads, RESULTS.read_text().splitlines()))[-1]["ratio"])


def as_markdown(table: list[dict[str, Any]]) -> str:
    """The summary as a table."""
    head = list(table[0])
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for entry in table:
        shown = (value if isinstance(value, str) else f"{value:.2f}" for value in entry.values())
        lines.append("| " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure what is missing, print and store the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="*", default=POOL)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    arguments = parser.parse_args()
    rows = []
    for row in measure(arguments.sets, arguments.folds, arguments.repeats, arguments.results):
        rows.append(row)
        print(json.dumps(row), flush=True)
    text = as_markdown(summary(rows))
    arguments.results.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
