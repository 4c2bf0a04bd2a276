"""Local and global rejection thresholds on models of one prototype per class: Figures 1 and 3 of the paper.

Ten times 10-fold cross-validation, the same folds for both models; thresholds are set on the training folds and applied
to the test folds. The paper prints curves and no numbers; Figure 2 and Tables 1 and 2 are examples by hand, which
`tests/rejection/` holds exactly.
"""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.averages import AveragedCurve, accuracy_at, average_curves
from experiments.cells import Cell
from experiments.comparison import Row, row
from experiments.datasets import load_dataset, make_pearl_necklace, pearl_necklace_posterior
from lvq import GLVQ, GMLVQ
from lvq.model.relevance import Matrix
from lvq.rejection import local_thresholds
from lvq.rejection.curves import AccuracyRejectCurve, path_curve
from lvq.rejection.scores import Predictions, certainty_of

TITLE = "Fischer, Hammer, Wersing: Local rejection strategies for learning vector quantization (ICANN 2014)"

SETS = {
    "necklace": "Pearl necklace",
    "segment": "Image segmentation",
    "tecator": "Tecator",
    "haberman": "Haberman",
    "coil20": "Coil",
}
NECKLACES = {"necklace": 500, "necklace-200": 200, "necklace-100": 100}  # points per class; not stated in the paper
MODELS = ("GLVQ", "GMLVQ")
REGULARISED = "GMLVQ log det"  # beside the paper's two, on the necklace
LOG_DETERMINANT = 0.1
STRATEGIES = {"local optimal": "optimal", "local greedy": "greedy", "global": "global"}
COVERAGES = (0.98, 0.95, 0.9, 0.8)
N_RUNS, N_FOLDS = 10, 10
MIN_FOLD_FRACTION = 0.8  # of the folds must have a value where curves are averaged
N_COMPONENTS = 30  # of the images
N_LIMIT = 100_000  # points that represent the whole population

_loading = threading.Lock()


def models_for(dataset: str) -> tuple[str, ...]:
    """The paper's two, and on the necklace the regularised one."""
    return (*MODELS, REGULARISED) if dataset in NECKLACES else MODELS


def cells(quick: bool) -> list[Cell]:
    """A cell is one run of ten folds; quick: two runs of the small sets."""
    sets = ("haberman", "segment", "necklace") if quick else (*NECKLACES, "haberman", "tecator", "segment", "coil20")
    found = [(dataset, model, run) for dataset in sets for run in range(N_RUNS) for model in models_for(dataset)]
    runs = [Cell("figure-3", dataset, model, run=run) for dataset, model, run in found]
    limits = [Cell("limit", dataset, model, run=run) for dataset, model, run in found if dataset == "necklace"]
    return [cell for cell in runs + limits if cell.run < (2 if quick else N_RUNS)]


def compute(cell: Cell) -> dict[str, Any]:
    """Curves of the test folds; or, in the table "limit", what thresholds from endless data would give."""
    return limit(cell) if cell.table == "limit" else cross_validated(cell)


def cross_validated(cell: Cell) -> dict[str, Any]:
    """Every test fold's curve by every strategy."""
    X, y = samples(cell.dataset, cell.run)
    curves: dict[str, list[Any]] = {strategy: [] for strategy in STRATEGIES}
    accuracies = []
    for train, test in folds(X, y, cell.run):
        model = make_model(cell.dataset, cell.method, cell.run).fit(X[train], y[train])
        fitted, applied = classified(model, X[train], y[train]), classified(model, X[test], y[test])
        accuracies.append(float(applied[1].mean()))
        for strategy, method in STRATEGIES.items():
            path = local_thresholds(*fitted, method=method)
            curves[strategy].append(kept(path_curve(path.evaluate(*applied))))
        if cell.dataset in NECKLACES:
            bayes = bayes_curve(pearl_necklace_posterior(X[test]), y[test])
            curves.setdefault("Bayes", []).append(kept(bayes))
    return {"curves": curves, "accuracy": accuracies, "prototypes": model[-1].prototypes_ if X.shape[1] == 2 else None}


def limit(cell: Cell) -> dict[str, Any]:
    """The first fold's model with thresholds from, and curves on, so many points that random variation is
    negligible."""
    X, y = samples(cell.dataset, cell.run)
    train, _ = next(folds(X, y, cell.run))
    model = make_model(cell.dataset, cell.method, cell.run).fit(X[train], y[train])
    many = [make_pearl_necklace(N_LIMIT // 5, random_state=seed) for seed in (10_000 + cell.run, 20_000 + cell.run)]
    fitted, applied = (classified(model, *drawn) for drawn in many)
    found = {"Bayes": bayes_curve(pearl_necklace_posterior(many[1][0]))}
    for strategy, method in {"local optimal": "optimal", "global": "global"}.items():
        found[strategy] = path_curve(local_thresholds(*fitted, method=method).evaluate(*applied))
    at = {strategy: accuracy_at(curve, COVERAGES) for strategy, curve in found.items()}
    return {"at": at, "accuracy": float(applied[1].mean())}


def bayes_curve(posterior: np.ndarray, y: np.ndarray | None = None) -> AccuracyRejectCurve:
    """The optimal curve: reject by the largest probability (Chow); without classes y with the expected accuracy."""
    highest = posterior.max(axis=1)
    order, accepted = np.argsort(-highest), np.arange(1, len(posterior) + 1)
    correct = np.cumsum((highest if y is None else posterior.argmax(axis=1) == y)[order])
    return AccuracyRejectCurve((accepted / len(order))[::-1], (correct / accepted)[::-1])


def folds(X: np.ndarray, y: np.ndarray, run: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The folds of a run, the same for all models."""
    return StratifiedKFold(N_FOLDS, shuffle=True, random_state=run).split(X, y)


def samples(name: str, run: int) -> tuple[np.ndarray, np.ndarray]:
    """The data; the necklace is drawn again for every run, so that no single draw decides the result."""
    if name in NECKLACES:
        return make_pearl_necklace(NECKLACES[name], random_state=run)
    with _loading:  # threads that want the same set wait for the first
        return _loaded(name)


@cache
def _loaded(name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_dataset(name, return_X_y=True)
    return (_rotated(X) if X.shape[1] > len(X) else X), y


def _rotated(X: np.ndarray) -> np.ndarray:
    """The samples in the space they span: all distances, and so the principal components of any part, are the same."""
    centred = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    return (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]


def make_model(dataset: str, method: str, run: int) -> Pipeline:
    """One prototype per class, begun at the class mean; what comes before the model is learned inside the fold."""
    start: dict[str, Any] = {"n_prototypes": 1, "init": "means", "max_iter": 500, "random_state": run}
    if method == "GLVQ":
        model = GLVQ(**start)
    else:
        weight = LOG_DETERMINANT if method == REGULARISED else 0.0
        model = GMLVQ(relevance=Matrix(log_determinant=weight), **start)
    if dataset in NECKLACES:
        return make_pipeline(model)  # both axes have one unit
    if dataset == "coil20":
        return make_pipeline(PCA(N_COMPONENTS, svd_solver="arpack", random_state=0), model)
    return make_pipeline(StandardScaler(), model)


def classified(model: Pipeline, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """RelSim, whether the prediction is correct, and the winner."""
    predictions = Predictions(model, X)
    return certainty_of(predictions, "relsim"), predictions.predicted == y, predictions.winner


def kept(curve: AccuracyRejectCurve) -> list[list[float]]:
    """A curve with as many digits as a test fold has."""
    return [np.round(part, 5).tolist() for part in curve]


def curves_of(found: dict[Cell, dict[str, Any]], dataset: str, method: str, strategy: str) -> list[list[Any]]:
    """The curves of all test folds, run by run."""
    chosen = sorted(cell for cell in found if (cell.table, cell.dataset, cell.method) == ("figure-3", dataset, method))
    return [
        [AccuracyRejectCurve(*map(np.array, curve)) for curve in found[cell]["curves"][strategy]]
        for cell in chosen
        if strategy in found[cell]["curves"]
    ]


def averaged(found: dict[Cell, dict[str, Any]], dataset: str, method: str, strategy: str) -> AveragedCurve | None:
    """The mean over all test folds, where at least 80 % of them have a value."""
    curves = [curve for run in curves_of(found, dataset, method, strategy) for curve in run]
    return average_curves(curves, min_fraction=MIN_FOLD_FRACTION) if curves else None


def run_means(runs: list[list[Any]], coverage: float) -> list[float]:
    """Percent correct at a coverage, the mean over each run's folds; nothing unless 80 % of all folds have a value."""
    values = np.array([[accuracy_at(curve, coverage) for curve in run] for run in runs], dtype=np.float64)
    if not values.size or np.mean(~np.isnan(values)) < MIN_FOLD_FRACTION:
        return []
    some = [row[~np.isnan(row)] for row in values]
    return [100 * float(row.mean()) for row in some if len(row)]


def rows(found: dict[Cell, dict[str, Any]]) -> list[Row]:
    """Accuracy without rejection and at some coverages; standard deviations over the runs' means."""
    table = []
    for dataset in dict.fromkeys((*SETS, *NECKLACES)):
        for method in models_for(dataset):
            here = [
                result
                for cell, result in found.items()
                if (cell.table, cell.dataset, cell.method) == ("figure-3", dataset, method)
            ]
            if here:
                plain = [100 * float(np.mean(result["accuracy"])) for result in here]
                table.append(_row("figure-3", dataset, method, "no rejection", plain))
            for strategy in strategies(method):
                runs = curves_of(found, dataset, method, strategy)
                for coverage in COVERAGES:
                    values = run_means(runs, coverage)
                    if values:
                        table.append(_row("figure-3", dataset, _named(method, strategy), _setting(coverage), values))
    return sorted(table, key=lambda row: row.setting, reverse=True) + _limit_rows(found)


def _limit_rows(found: dict[Cell, dict[str, Any]]) -> list[Row]:
    table = []
    for method in models_for("necklace"):
        here = [result["at"] for cell, result in found.items() if (cell.table, cell.method) == ("limit", method)]
        for strategy in strategies(method) if here else ():
            for place, coverage in enumerate(COVERAGES):
                values = [100 * at[strategy][place] for at in here if strategy in at]
                if values and np.isfinite(values).all():
                    name = _named(method, strategy)
                    table.append(_row("limit of endless data", "necklace", name, _setting(coverage), values))
    return sorted(table, key=lambda row: row.setting, reverse=True)


def strategies(method: str) -> tuple[str, ...]:
    """Those with rows; the best there is does not depend on the model, so it goes with the first."""
    return (*STRATEGIES, "Bayes") if method == MODELS[0] else tuple(STRATEGIES)


def _named(method: str, strategy: str) -> str:
    return strategy if strategy == "Bayes" else f"{method} {strategy}"


def _setting(coverage: float) -> str:
    return f"coverage {coverage:.2f}"


def _row(table: str, dataset: str, method: str, setting: str, values: list[float]) -> Row:
    return row("fischer", table, dataset, method, setting, values, paper_runs=N_RUNS)


def figures(found: dict[Cell, dict[str, Any]], out: pathlib.Path) -> list[pathlib.Path]:
    """Figures 1 and 3."""
    from experiments.fischer_figures import certainty_maps, reject_curves

    drawn = []
    first = found.get(Cell("figure-3", "necklace", "GLVQ"))
    if first is not None:
        drawn.append(certainty_maps(np.array(first["prototypes"]), out / "fischer-figure-1.png"))
    present = {cell.dataset for cell in found if cell.table == "figure-3"}
    sets = {name: title for name, title in SETS.items() if name in present}
    if sets:
        drawn.append(reject_curves(partial(averaged, found), sets, list(MODELS), out / "fischer-figure-3.png"))
    return drawn


def notes(found: dict[Cell, dict[str, Any]]) -> list[str]:
    """The readings, the paper's claim in numbers, and the goal for the necklace."""
    from experiments.fischer_notes import READING, claim, goal

    return [READING, *goal(found), *claim(found)]
