"""Beyond the papers: every model with its defaults, the best by nested cross-validation, and what else one may take.

Stratified 5-fold cross-validation, the same folds for all rows, features scaled to unit variance in the fold.
"Kept" is what must be stored to predict: prototypes, support vectors, training samples; learned matrices are not
counted. Times are of one thread's processor, so that a busy machine does not count; each is divided by that of
the tuned SVC on the same folds, its search included, as one does not come without the other.
"""

from __future__ import annotations

import pathlib
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lvq
from experiments.cells import Cell
from experiments.comparison import Row, row
from experiments.datasets import load_dataset
from experiments.rivals import tuned_svm

TITLE = "Beyond the papers"
RIVAL = "SVC, tuned"
SETS = (
    "iris", "wine", "soybean_small", "coffee", "glass2", "heart", "sonar", "haberman", "ionosphere", "glass",
    "tecator", "wdbc", "diabetes", "vehicle", "affordance", "digits", "segment",
)  # fmt: skip
MODELS = (
    "LVQ1", "OLVQ1", "LVQ21", "LVQ3", "RLVQ", "GLVQ", "GRLVQ", "GMLVQ", "LGMLVQ", "MCE", "LOGM", "SNPC", "RSLVQ",
    "LVQClassifier",
)  # fmt: skip
RUNS, FOLDS = 1, 5


def methods() -> dict[str, Callable[[int], Any]]:
    """Name -> maker of an estimator, its scaler included, for n features."""
    made: dict[str, Callable[[int], Any]] = {RIVAL: tuned_svm}
    others = {
        "logistic regression": LogisticRegression(max_iter=2000),
        "k-NN, k=5": KNeighborsClassifier(),
        "LDA": LinearDiscriminantAnalysis(),
        "histogram boosting": HistGradientBoostingClassifier(random_state=0),
    }
    ours = {name: getattr(lvq, name)(random_state=0) for name in MODELS}
    ours["LVQClassifierCV (nested)"] = lvq.LVQClassifierCV(random_state=0)
    for name, model in (ours | others).items():
        made[name] = partial(_scaled, model)
    return made


def _scaled(model: Any, n_features: int) -> Any:
    return make_pipeline(StandardScaler(), model)


def cells(quick: bool) -> list[Cell]:
    """One for each set, method and repetition; the expensive search last."""
    sets, runs = (("iris", "wine"), 1) if quick else (SETS, RUNS)
    names = sorted(methods(), key=lambda name: name.endswith("(nested)"))
    return [Cell("beyond", dataset, name, run=run) for name in names for run in range(runs) for dataset in sets]


def compute(cell: Cell) -> dict[str, Any]:
    """Accuracy, what is kept, and seconds to fit and to predict, fold by fold."""
    X, y = load_dataset(cell.dataset, return_X_y=True)
    result: dict[str, list[float]] = {"accuracy": [], "kept": [], "fit": [], "predict": []}
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=cell.run).split(X, y):
        model = methods()[cell.method](X.shape[1])
        start = time.thread_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a default is taken as it is
            model.fit(X[train], y[train])
        middle = time.thread_time()
        predicted = model.predict(X[test])
        result["fit"].append(middle - start)
        result["predict"].append(time.thread_time() - middle)
        result["accuracy"].append(100 * float(np.mean(predicted == y[test])))
        result["kept"].append(_kept(model[-1], len(train)))
    return result


def _kept(model: Any, n_samples: int) -> float:
    """Prototypes, support vectors or samples; NaN, stored as -1, where a model keeps none of these."""
    if hasattr(model, "prototypes_"):
        return len(model.prototypes_)
    if hasattr(model, "best_estimator_"):
        return int(model.best_estimator_.n_support_.sum())
    return n_samples if isinstance(model, KNeighborsClassifier) else -1


def rows(found: dict[Cell, dict[str, Any]]) -> list[Row]:
    """Mean accuracy of each method on each set; nothing is published to compare with."""
    listed = []
    for dataset in SETS:
        for method in methods():
            values = [
                v
                for cell, r in found.items()
                if (cell.dataset, cell.method) == (dataset, method)
                for v in r["accuracy"]
            ]
            if values:
                listed.append(row("beyond", "beyond", dataset, method, "", values, paper_runs=0))
    return listed


def notes(found: dict[Cell, dict[str, Any]]) -> list[str]:
    """The table the rows make, and the summary of it: means over the sets that all methods have."""
    names = [name for name in methods() if any(cell.method == name for cell in found)]
    complete = [d for d in SETS if all(any((c.dataset, c.method) == (d, m) for c in found) for m in names)]
    if RIVAL not in names or not complete:
        return ["No set has all methods yet."]
    lines = [
        f"Means over the {len(complete)} sets that all methods have ({', '.join(complete)}). Times are geometric means "
        f"of the ratio to the tuned SVC on the same folds. Learned matrices are not counted in what is kept.",
        "",
        "| method | accuracy | sets within 1 point of the best | kept | fit time / SVC | predict time / SVC |",
        "|---|---|---|---|---|---|",
    ]
    best = {d: max(_mean(found, d, m, "accuracy") for m in names) for d in complete}
    for name in sorted(names, key=lambda m: -np.mean([_mean(found, d, m, "accuracy") for d in complete])):
        accuracy = [_mean(found, d, name, "accuracy") for d in complete]
        close = sum(a >= best[d] - 1 for a, d in zip(accuracy, complete))
        kept = np.mean([_mean(found, d, name, "kept") for d in complete])
        ratios = [_ratio(found, complete, name, key) for key in ("fit", "predict")]
        lines.append(
            f"| {name} | {np.mean(accuracy):.2f} | {close} | {f'{kept:.0f}' if kept >= 0 else ''} | "
            f"{ratios[0]:.3g} | {ratios[1]:.3g} |"
        )
    return ["\n".join(lines)]


def _mean(found: dict[Cell, dict[str, Any]], dataset: str, method: str, key: str) -> float:
    return float(np.mean([v for c, r in found.items() if (c.dataset, c.method) == (dataset, method) for v in r[key]]))


def _ratio(found: dict[Cell, dict[str, Any]], sets: list[str], method: str, key: str) -> float:
    logs = [np.log(_mean(found, d, method, key) / _mean(found, d, RIVAL, key)) for d in sets]
    return float(np.exp(np.mean(logs)))


def figures(found: dict[Cell, dict[str, Any]], out: pathlib.Path) -> list[pathlib.Path]:
    """Accuracy against what is kept, a point a method."""
    names = [m for m in methods() if any(c.method == m for c in found)]
    sets = [d for d in SETS if all(any((c.dataset, c.method) == (d, m) for c in found) for m in names)]
    if not names or not sets:
        return []
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for name in names:
        kept = np.mean([_mean(found, d, name, "kept") for d in sets])
        if kept > 0:
            accuracy = np.mean([_mean(found, d, name, "accuracy") for d in sets])
            axes.plot(
                kept,
                accuracy,
                "o" if name in MODELS or "LVQ" in name else "s",
                color="C0" if "LVQ" in name or name in MODELS else "C1",
            )
            axes.annotate(name, (kept, accuracy), xytext=(5, 3), textcoords="offset points", fontsize=8)
    axes.set(
        xscale="log",
        xlabel="prototypes, support vectors or samples kept",
        ylabel=f"mean accuracy over {len(sets)} sets, %",
    )
    axes.grid(alpha=0.3)
    path = out / "beyond-kept.png"
    figure.savefig(path, dpi=130)
    return [path]
