"""The development pool: `LVQClassifier`, its search, and what else one may take, on 29 tables.

`python -m experiments.pool [--jobs N] [--out FILE] [--models MODEL ...]` needs `LVQ_DATA`. Two divisions into five
folds, of each set at most 1,200 rows, categories one-hot, features scaled to unit variance in the training fold. A cell
is one fold of one set. Cheap models come first; a stopped run goes on.
"""

import time
import warnings
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import POOL_FILES, POOL_NAMED, pool_rows
from experiments.cells import Cell, Store
from experiments.rivals import tuned_svm
from experiments.tasks import Found, arguments, computed, results_of, show
from lvq import GMLVQ, LVQClassifier, LVQClassifierCV

SETS = POOL_NAMED + POOL_FILES
DIVISIONS, FOLDS = 2, 5
LOGISTIC, DEFAULT, SEARCH, SVM = "logistic regression", "LVQClassifier", "LVQClassifierCV", "SVC"
FORMS = ("plain", "linear", "additive", "matrix")
READABLE = ("additive", "linear")
#: From cheap to dear; the forms one by one come last, for what a readable form costs.
MODELS = (
    LOGISTIC, "GMLVQ", "random forest", DEFAULT, SVM, "boosting", SEARCH, *(f"{DEFAULT}, {form}" for form in FORMS),
)  # fmt: skip
SMALLEST = 1e-6  # of a probability in the log-loss
LINEAR = (LOGISTIC, "GMLVQ")
LAST, TRIED = "marketing", 25  # a set that came later, and how many of the others the first trial of the cost had


def method(name: str, n_features: int) -> Any:
    """An estimator for samples of so many features, its scaler included."""
    if name == SVM:
        return tuned_svm(n_features)
    costs = {"C": [0.001, 0.01, 0.1, 1, 10, 100]}
    models = {
        LOGISTIC: GridSearchCV(LogisticRegression(max_iter=2000), costs, scoring="neg_log_loss"),
        "GMLVQ": GMLVQ(random_state=0),
        "random forest": RandomForestClassifier(300, random_state=0),
        "boosting": HistGradientBoostingClassifier(random_state=0),
        DEFAULT: LVQClassifier(random_state=0),
        SEARCH: LVQClassifierCV(random_state=0),
    } | {f"{DEFAULT}, {form}": LVQClassifier(form=form, random_state=0) for form in FORMS}  # type: ignore[arg-type]
    return make_pipeline(StandardScaler(), models[name])


def cells(models: tuple[str, ...] = MODELS, sets: tuple[str, ...] = SETS, divisions: int = DIVISIONS) -> list[Cell]:
    """One for each model, division, set and fold."""
    return [
        Cell("pool", dataset, name, run=division, fold=fold)
        for name in models
        for division in range(divisions)
        for dataset in sets
        for fold in range(FOLDS)
    ]


def compute(cell: Cell) -> dict[str, Any]:
    """Accuracy in percent, log-loss, processor seconds of the fit, and the form that was chosen."""
    X, y = pool_rows(cell.dataset)
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=cell.run).split(X, y))[cell.fold]
    model, start = method(cell.method, X.shape[1]), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a default is taken as it is
        model.fit(X[train], y[train])
    seconds = time.process_time() - start
    accuracy = 100 * float(np.mean(model.predict(X[test]) == y[test]))
    result = {"accuracy": accuracy, "seconds": seconds, "form": chosen(model[-1])}
    if cell.method not in (SVM, "GMLVQ"):  # which have no probabilities
        result["log_loss"] = log_loss(model.predict_proba(X[test]), y[test])
    return result


def log_loss(probabilities: np.ndarray, y: np.ndarray) -> float:
    """Mean of minus the logarithm of the true class's probability, which is at least `SMALLEST`."""
    return float(-np.log(np.maximum(probabilities[np.arange(len(y)), y], SMALLEST)).mean())


def chosen(model: Any) -> str:
    """The form, or the winner of a search."""
    if hasattr(model, "form_"):
        return str(model.form_)
    return str(model.best_params_) if hasattr(model, "best_params_") else ""


# -- tables ------------------------------------------------------------------------------------------------------------


def summary(found: Found) -> str:
    """The tables of what is stored, over the sets and divisions that all models have but those of a fixed form."""
    forms = {_fixed(form) for form in FORMS}
    names = [name for name in MODELS if name not in forms and any(cell.method == name for cell in found)]
    shared = set.intersection(*({_place(cell) for cell in found if cell.method == name} for name in names))
    sets = [name for name in SETS if any(place[0] == name for place in shared)]
    kept = {cell: result for cell, result in found.items() if _place(cell) in shared}
    accuracy = np.array([[_mean(kept, name, one, "accuracy") for one in sets] for name in names])
    ranks = np.mean([rankdata(-column) for column in accuracy.T], axis=0)
    lines = [
        f"{len(shared)} fits of each model on {len(sets)} sets",
        "",
        "| model | accuracy | log-loss | rank | seconds |",
        "|---|---|---|---|---|",
    ]
    for place in np.argsort(-accuracy.mean(axis=1)):
        loss, seconds = (
            float(np.mean([_mean(kept, names[place], one, key) for one in sets])) for key in ("log_loss", "seconds")
        )
        lines.append(
            f"| {names[place]} | {accuracy[place].mean():.2f} | {_shown(loss)} | {ranks[place]:.2f} | {seconds:.2f} |"
        )
    return "\n".join(
        [
            *lines,
            "",
            *_forms(kept),
            *_costs_of_forms(found),
            *_far_behind(names, sets, accuracy),
            *_on_sets_of_the_trial(kept, sets),
            "",
            *_by_set(names, sets, accuracy),
        ]
    )


def _shown(loss: float) -> str:
    return "" if np.isnan(loss) else f"{loss:.3f}"


def _place(cell: Cell) -> tuple[str, int, int]:
    return cell.dataset, cell.run, cell.fold


def _mean(found: Found, name: str, dataset: str, key: str) -> float:
    cells = [result for cell, result in found.items() if (cell.method, cell.dataset) == (name, dataset)]
    return float(np.mean([result.get(key, np.nan) for result in cells]))


def _forms(found: Found) -> list[str]:
    """How often the default chooses each form."""
    forms = [result["form"] for cell, result in found.items() if cell.method == DEFAULT]
    return [f"{form}: {forms.count(form) / len(forms):.0%} of the choices" for form in FORMS if forms]


def _costs_of_forms(found: Found) -> list[str]:
    """What the readable forms cost beside the choice, over the fits that both have."""
    lines = []
    for form in READABLE:
        own, free = (
            {_place(c): r["accuracy"] for c, r in found.items() if c.method == m} for m in (_fixed(form), DEFAULT)
        )
        gains: dict[str, list[float]] = {}
        for place in own.keys() & free.keys():
            gains.setdefault(place[0], []).append(own[place] - free[place])
        if gains:
            points = np.mean([np.mean(each) for each in gains.values()])
            fits = sum(map(len, gains.values()))
            lines.append(
                f"{form} on every set: {points:+.1f} points beside the choice ({fits} fits on {len(gains)} sets)"
            )
    return lines


def _fixed(form: str) -> str:
    return f"{DEFAULT}, {form}"


def _far_behind(names: list[str], sets: list[str], accuracy: np.ndarray) -> list[str]:
    """The sets on which a linear model is farthest ahead of the default."""
    if DEFAULT not in names:
        return []
    gains = {name: accuracy[names.index(name)] - accuracy[names.index(DEFAULT)] for name in LINEAR if name in names}
    return [
        f"{name} is at most {gain.max():.1f} points ahead of {DEFAULT}, on {sets[int(gain.argmax())]}"
        for name, gain in gains.items()
    ]


def _on_sets_of_the_trial(found: Found, sets: list[str]) -> list[str]:
    """The log-loss of the default on the sets of the first trial of its cost, whichever these were."""
    losses = np.sort([_mean(found, DEFAULT, one, "log_loss") for one in sets if one != LAST])
    if len(losses) < TRIED or np.isnan(losses).any():
        return []
    low, high = losses[:TRIED].mean(), losses[-TRIED:].mean()
    return [
        f"log-loss of {DEFAULT} without {LAST}: {losses.mean():.3f}; on any {TRIED} of these: {low:.3f} to {high:.3f}"
    ]


def _by_set(names: list[str], sets: list[str], accuracy: np.ndarray) -> list[str]:
    rows = [
        f"| {one} | " + " | ".join(f"{value:.1f}" for value in column) + " |" for one, column in zip(sets, accuracy.T)
    ]
    return ["| set | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|", *rows]


def search_ratio() -> float:
    """Mean seconds of `LVQClassifierCV` over those of the search of an SVM, in the stored results."""
    found = Store(results_of("pool")).read()
    of = {name: [row["seconds"] for cell, row in found.items() if cell.method == name] for name in (SEARCH, SVM)}
    return float(np.mean(of[SEARCH]) / np.mean(of[SVM]))


def main() -> None:
    """The command."""
    given = arguments("pool", MODELS)
    sets, divisions = (("iris", "hayes_roth"), 1) if given.quick else (SETS, DIVISIONS)
    wanted = [] if given.summary else cells(tuple(given.models), sets, divisions)
    show(given.out, summary(computed(wanted, compute, given.out, given.jobs)))


if __name__ == "__main__":
    main()
