"""The default and the search on splits of the pool on which nothing was chosen, beside scikit-learn's classifiers.

`python -m experiments.other_splits FOLDER [--seeds 1 2 3 4]` needs `LVQ_DATA`. Rows and scaling are those of
`experiments.pool_fits`, but its outer folds, which have the seed 0, are left out: defaults and candidates were chosen
on them. Finished cells are stored in FOLDER/other_splits.jsonl; a stopped run goes on. The tables go to
`results/other_splits.md`.
"""

import argparse
import json
import pathlib
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.leave_one_set_out import as_markdown
from experiments.pool_fits import OUTER, POOL, split
from experiments.pool_settings import SVC_GRID, others
from lvq import LVQClassifier, LVQClassifierCV

RESULT = pathlib.Path(__file__).parent / "results" / "other_splits.md"
DEFAULT, SEARCH = "LVQClassifier()", "LVQClassifierCV()"
HEAD = """28 sets, 5 outer folds for each seed; mean test accuracy in percent, and what a model is above the tuned SVC,
with the standard error over the sets. Neither defaults nor the candidates of the search were chosen on these folds.
"""

Row = dict[str, Any]


def models(n_features: int) -> Row:
    """Every model by its name."""
    return {DEFAULT: LVQClassifier(random_state=0), SEARCH: LVQClassifierCV(random_state=0)} | others(n_features)


def cell(dataset: str, seed: int, fold: int, names: Sequence[str]) -> list[Row]:
    """Accuracy, processor seconds and prototypes per class of some models in one fold."""
    X, y, X_test, y_test = split(dataset, fold, seed)
    rows = list[Row]()
    for name in names:
        model, start = models(X.shape[1])[name], time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a default is taken as it is
            model.fit(X, y)
        row: Row = {"dataset": dataset, "seed": seed, "fold": fold, "name": name}
        row |= {"seconds": time.process_time() - start, "accuracy": float(np.mean(model.predict(X_test) == y_test))}
        if hasattr(model, "prototypes_"):
            row["prototypes"] = len(model.prototypes_) / len(model.classes_)
        rows.append(row)
    return rows


def measure(path: pathlib.Path, seeds: Sequence[int]) -> list[Row]:
    """Compute and store what is not stored; all rows of these seeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    done = {(row["dataset"], row["seed"], row["fold"], row["name"]) for row in rows}
    for seed in seeds:
        for dataset in POOL:
            for fold in range(OUTER):
                names = [name for name in models(1) if (dataset, seed, fold, name) not in done]
                found = cell(dataset, seed, fold, names)
                rows += found
                with path.open("a") as file:
                    file.writelines(json.dumps(row) + "\n" for row in found)
    return [row for row in rows if row["seed"] in seeds]


def mean_of(rows: Sequence[Row], name: str, key: str, **chosen: Any) -> float:
    """Mean of a quantity over the rows of a model."""
    kept = (row for row in rows if row["name"] == name and all(row[part] == wanted for part, wanted in chosen.items()))
    return float(np.mean([row[key] for row in kept]))


def report(rows: Sequence[Row], seeds: Sequence[int]) -> str:
    """The tables: each model over all seeds and for each, then each set."""
    names = list(models(1))
    sets = {name: np.array([100 * mean_of(rows, name, "accuracy", dataset=part) for part in POOL]) for name in names}
    lines = list[list[Any]]()
    for name in names:
        above = sets[name] - sets[SVC_GRID]
        difference = "" if name == SVC_GRID else f"{above.mean():+.2f} ± {above.std(ddof=1) / len(POOL) ** 0.5:.2f}"
        each = [100 * mean_of(rows, name, "accuracy", seed=seed) for seed in seeds]
        prototypes = mean_of(rows, name, "prototypes") if name in (DEFAULT, SEARCH) else ""
        lines.append([name, sets[name].mean(), difference, *each, prototypes, mean_of(rows, name, "seconds")])
    columns = ["model", "accuracy", "above the SVC", *(f"seed {seed}" for seed in seeds)]
    first = as_markdown([*columns, "prototypes per class", "processor seconds"], lines)
    each_set = [[part, *(sets[name][place] for name in names)] for place, part in enumerate(POOL)]
    return "\n".join([HEAD, first, as_markdown(["set", *names], each_set)])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3, 4])
    given = parser.parse_args()
    text = report(measure(given.folder / "other_splits.jsonl", given.seeds), given.seeds)
    RESULT.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
