"""Ridge, Leonardis and Skocaj (2011): relevance by the Fisher criterion score; Tables 2 and 3 and the relevances.

Ten prototypes in all, from a random start or from k-means in each class; one epoch (20 trials of 10-fold
cross-validation) or 300 (5 trials); all methods see the same folds, starts and orders of the samples. A cell is one
trial of one method. Rules and protocol are read as in the first author's public toolbox, which the tables follow where
it and the printed formulas differ; see `notes`.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from experiments.cells import Cell
from experiments.comparison import Row, row
from experiments.datasets import load_dataset, make_multimodal
from experiments.rivals import svm_accuracy
from lvq.estimators.registry import MODELS
from lvq.model.samples import ArraySamples
from lvq.model.starts import start_prototypes
from lvq.solvers.online import Online

TITLE = "Ridge, Leonardis and Skocaj: relevance determination by the Fisher criterion score"

FOLDS = 10
PROTOTYPES = 10
DATASETS = {
    "simulated": "",  # drawn, not loaded
    "iris": "iris",
    "ionosphere": "ionosphere",
    "wine": "wine",
    "soybean-small": "soybean_small",
    "wdbc": "wdbc",
    "affordance": "affordance",
}
METHODS = {
    name: MODELS.get(f"{name} (published)", MODELS[name])
    for name in ("LVQ1", "RLVQ", "FC1LVQ1", "FC2LVQ1", "GLVQ", "GRLVQ", "FC1GLVQ", "FC2GLVQ")
}
RATE_FACTORS = {"GLVQ": 0.25}  # Eq. 6 and 7 leave out the factor 4 of the gradient, and so do the published results
RIVAL = "SVM-RBF"


@dataclass(frozen=True)
class Setting:
    """A quarter of Table 2."""

    init: str
    epochs: int
    learning_rate: float
    relevance_rate: float
    trials: int
    before_folds: bool = False  # whether the start is found on the whole set


WHOLE_SET = ", start on the whole set"
SETTINGS = {
    "random-1-epoch": Setting("random", 1, 0.3, 0.1, 20),
    "random-300-epochs": Setting("random", 300, 0.1, 0.01, 5),
    "kmeans-1-epoch": Setting("kmeans", 1, 0.3, 0.1, 20),
    "kmeans-300-epochs": Setting("kmeans", 300, 0.1, 0.01, 5),
    "kmeans-1-epoch" + WHOLE_SET: Setting("kmeans", 1, 0.3, 0.1, 20, before_folds=True),
    "kmeans-300-epochs" + WHOLE_SET: Setting("kmeans", 300, 0.1, 0.01, 5, before_folds=True),
}
LONG_SETTING = "kmeans-300-epochs"  # the setting of Table 3


def cells(quick: bool) -> list[Cell]:
    """One trial of one method each; quick runs have fewer trials, and 300 epochs on the smaller sets alone."""
    found = []
    for dataset in DATASETS:
        small = dataset not in ("ionosphere", "wdbc")
        for name, setting in SETTINGS.items():
            if quick and setting.epochs > 1 and not small:
                continue
            trials = (2 if setting.epochs == 1 else 1) if quick else setting.trials
            found += [Cell("table-2", dataset, method, name, run) for method in METHODS for run in range(trials)]
        trials = 1 if quick else SETTINGS[LONG_SETTING].trials
        found += [
            Cell("table-3", dataset, RIVAL, LONG_SETTING, run) for run in range(trials if small or not quick else 0)
        ]
    return found


@cache
def samples(dataset: str, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Features scaled to [0, 1] over the whole set, as the authors did, and classes; simulated data are drawn in each
    trial."""
    from sklearn.preprocessing import MinMaxScaler

    if dataset == "simulated":
        X, y = make_multimodal(random_state=run)
    else:
        X, y = load_dataset(DATASETS[dataset], return_X_y=True)
    return MinMaxScaler().fit_transform(X), y


def folds(n_samples: int, run: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows: tenths of a random order, the last with the remainder, as the toolbox cuts them."""
    order = np.random.RandomState(run).permutation(n_samples)
    cuts = np.arange(1, FOLDS) * (n_samples // FOLDS)
    parts = np.split(order, cuts)
    for number, test in enumerate(parts):
        yield np.concatenate(parts[:number] + parts[number + 1 :]), test


def prototype_counts(n_classes: int) -> np.ndarray:
    """Ten prototypes distributed over the classes; the last gets the remainder, as in the toolbox.

    Examples
    --------
    >>> prototype_counts(3).tolist(), prototype_counts(4).tolist()
    ([3, 3, 4], [2, 2, 2, 4])
    """
    counts = np.full(n_classes, PROTOTYPES // n_classes)
    counts[-1] += PROTOTYPES % n_classes
    return counts


def start_of(X: np.ndarray, y: np.ndarray, setting: Setting, seed: int) -> Any:
    """What `init` is: a name, or prototypes found before the folds were cut."""
    if not setting.before_folds:
        return setting.init
    counts = prototype_counts(len(np.unique(y)))
    return start_prototypes(ArraySamples(X, y, np.ones(len(y))), counts, setting.init, np.random.RandomState(seed))


def model_of(method: str, setting: Setting, n_classes: int, init: Any, seed: int) -> Any:
    """The estimator of a method. The seed fixes start and order of the samples for all methods."""
    published = METHODS[method].make().solver
    solver = replace(
        published if isinstance(published, Online) else Online(),
        learning_rate=setting.learning_rate * RATE_FACTORS.get(method, 1.0),
        relevance_rate=setting.relevance_rate,
        schedule="constant",
    )
    return METHODS[method].make(
        n_prototypes=dict(enumerate(prototype_counts(n_classes).tolist())),
        init=init,
        solver=solver,
        max_iter=setting.epochs,
        random_state=seed,
    )


def compute(cell: Cell) -> dict[str, Any]:
    """Accuracy in percent on each fold of a trial, and the mean relevances where there are any."""
    X, y = samples(cell.dataset, cell.run)
    if cell.method == RIVAL:
        pairs = [svm_accuracy(X, y, train, test, cell.run) for train, test in folds(len(X), cell.run)]
        return {"accuracy": [pair[0] for pair in pairs], "support_vectors": float(np.mean([pair[1] for pair in pairs]))}
    setting, n_classes = SETTINGS[cell.setting], len(np.unique(y))
    accuracies, relevances = [], []
    for fold, (train, test) in enumerate(folds(len(X), cell.run)):
        seed = FOLDS * cell.run + fold
        init = start_of(X, y, setting, seed)
        model = model_of(cell.method, setting, n_classes, init, seed).fit(X[train], y[train])
        accuracies.append(100 * float(np.mean(model.predict(X[test]) == y[test])))
        if hasattr(model, "relevances_"):
            relevances.append(model.relevances_ / model.relevances_.sum())
    result: dict[str, Any] = {"accuracy": accuracies}
    if relevances:
        result["relevances"] = [round(float(value), 5) for value in np.mean(relevances, axis=0)]
    return result


def rows(found: dict[Cell, dict[str, Any]]) -> list[Row]:
    """Table 2; Table 3 takes its LVQ rows from it, as the paper does."""
    made = []
    for dataset in DATASETS:
        for setting in SETTINGS:
            made += [_row(found, "table-2", "table-2", dataset, method, setting) for method in METHODS]
    for dataset in DATASETS:
        made += [_row(found, "table-3", "table-2", dataset, method, LONG_SETTING) for method in ("FC1GLVQ", "FC2GLVQ")]
        made += [_row(found, "table-3", "table-3", dataset, RIVAL, LONG_SETTING)]
    return [line for line in made if line is not None]


def _row(
    found: dict[Cell, dict[str, Any]], table: str, source: str, dataset: str, method: str, setting: str
) -> Row | None:
    results = _results(found, source, dataset, method, setting)
    values = [value for result in results for value in result["accuracy"]]
    if not values:
        return None
    paper_runs = FOLDS * SETTINGS[setting].trials
    note = ""
    if setting.endswith(WHOLE_SET):  # not a protocol of the paper, so without a verdict
        same = row("ridge", table, dataset, method, setting.removesuffix(WHOLE_SET), values, paper_runs=paper_runs)
        note = f"against the published {same.paper_mean:g} ± {same.paper_std:g}: {same.verdict}"
    return row("ridge", table, dataset, method, setting, values, paper_runs=paper_runs, note=note)


def _results(
    found: dict[Cell, dict[str, Any]], table: str, dataset: str, method: str, setting: str
) -> list[dict[str, Any]]:
    wanted = (table, dataset, method, setting)
    chosen = (cell for cell in found if (cell.table, cell.dataset, cell.method, cell.setting) == wanted)
    return [found[cell] for cell in sorted(chosen)]


def relevances(
    found: dict[Cell, dict[str, Any]], dataset: str, method: str, setting: str = LONG_SETTING
) -> np.ndarray | None:
    """Mean relevances over all trials, None where there are none."""
    profiles = [result["relevances"] for result in _results(found, "table-2", dataset, method, setting)]
    return np.mean(profiles, axis=0) if profiles else None


def figures(found: dict[Cell, dict[str, Any]], out: pathlib.Path) -> list[pathlib.Path]:
    """The relevances the paper prints beside ours, the relevances of all sets, and Table 2 at a glance."""
    from experiments import ridge_figures

    return ridge_figures.draw(found, out)


def notes(found: dict[Cell, dict[str, Any]]) -> list[str]:
    """How the paper was read, what that rests on, and what other readings gave."""
    from experiments import ridge_notes

    return ridge_notes.write(found)
