"""Penalties of local matrices on the development pool: shrinkage, and the logarithm of the determinant.

`python -m experiments.penalties [--folds 3] [--splits 10]` needs `LVQ_DATA`. `LVQClassifier(n_prototypes=2)` with each
penalty: test accuracy on the outer folds of `experiments.pool_fits`, and, for five sets, how well the importances of
two halves agree, as in `experiments.relevance_stability`. Writes `results/penalties.md`; finished cells are stored in
`results/.penalties.jsonl`, and a stopped run goes on.
"""

import argparse
import functools
import json
import pathlib
import warnings
from typing import Any

import numpy as np

from experiments.leave_one_set_out import as_markdown
from experiments.pool_fits import OUTER, POOL, split
from experiments.relevance_stability import SETS, Profiles, of_set
from lvq import LVQClassifier

RESULT = pathlib.Path(__file__).parent / "results" / "penalties.md"
CELLS = RESULT.with_name(".penalties.jsonl")
PLAIN = "none"
PENALTIES: dict[str, dict[str, Any]] = {
    PLAIN: {},
    **{f"shrinkage {value:g}": {"shrinkage": value} for value in (0.003, 0.03)},
    **{f"log_determinant {value:g}": {"log_determinant": value} for value in (0.003,)},
}


def model_with(name: str) -> LVQClassifier:
    """The model with a penalty."""
    return LVQClassifier(n_prototypes=2, calibration=None, random_state=0, **PENALTIES[name])


def accuracy(name: str, dataset: str, fold: int) -> float:
    """Test accuracy in percent on an outer fold."""
    X, y, X_test, y_test = split(dataset, fold)
    return 100 * float(np.mean(model_with(name).fit(X, y).predict(X_test) == y_test))


def profile(name: str, X: np.ndarray, y: np.ndarray) -> tuple[Profiles, LVQClassifier]:
    """Importances, and the fitted model."""
    model = model_with(name).fit(X, y)
    return {name: model.feature_importances_}, model


class Store:
    """Values of finished cells, one JSON object a line."""

    def __init__(self) -> None:
        lines = CELLS.read_text().splitlines() if CELLS.exists() else []
        self.values = {tuple(row[0]): row[1] for row in map(json.loads, lines)}

    def get(self, key: tuple[Any, ...], compute: functools.partial) -> Any:
        """The stored value of a cell, or a new one."""
        if key not in self.values:
            self.values[key] = compute()
            with CELLS.open("a") as file:
                file.write(json.dumps([key, self.values[key]]) + "\n")
        return self.values[key]


def measure(folds: int, splits: int) -> str:
    """Both tables."""
    store, means = Store(), dict[str, np.ndarray]()
    for name in PENALTIES:
        cells = [
            [
                store.get((name, dataset, fold), functools.partial(accuracy, name, dataset, fold))
                for fold in range(folds)
            ]
            for dataset in POOL
        ]
        means[name] = np.array(cells).mean(axis=1)
    table = [[dataset, *(means[name][place] for name in PENALTIES)] for place, dataset in enumerate(POOL)]
    table.append(["mean", *(means[name].mean() for name in PENALTIES)])
    stability = []
    for name in PENALTIES:
        if "shrinkage" in name:
            continue
        of = functools.partial(profile, name)
        found = [store.get((name, dataset, splits), functools.partial(of_set, dataset, splits, of)) for dataset in SETS]
        rows = [(part["importances"][name]["rank_correlation"], 100 * part["accuracy"]) for part in found]
        shown = [f"{correlation:.2f}, {score:.1f}" for correlation, score in [*rows, np.mean(rows, axis=0)]]
        stability.append([name, *shown])
    head = f"Test accuracy in percent, 28 sets, {folds} of {OUTER} outer folds, two prototypes per class.\n"
    halves = (
        f"Rank correlation of `feature_importances_` of two halves and accuracy on the other half, {splits} splits.\n"
    )
    parts = [head, as_markdown(["set", *PENALTIES], table), halves, as_markdown(["penalty", *SETS, "mean"], stability)]
    return "\n".join(parts)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--splits", type=int, default=10)
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit is taken as it is
        text = measure(given.folds, given.splits)
    RESULT.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
