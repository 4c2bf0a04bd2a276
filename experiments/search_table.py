"""Which candidates `LVQClassifierCV` should compare: all of a long list, on the 29 tables, chosen by leaving sets out.

`python -m experiments.search_table [--jobs N] [--out FILE]` needs `LVQ_DATA`. A cell is a fold of `experiments.pool`.
It holds, for each candidate, what the choice sees (mean log-likelihoods of left-out samples and the standard errors of
their differences) and what it would have given: accuracy and log-loss on the test fold. So every table of candidates
is judged without new fits: `--summary` adds one candidate after the other, the one that gains most.
"""

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.data import pool_rows
from experiments.cells import Cell
from experiments.pool import DIVISIONS, FOLDS, SETS, log_loss
from experiments.tasks import Found, arguments, computed
from lvq import LVQClassifier, LVQClassifierCV
from lvq.estimators.classifier import FORMS
from lvq.estimators.cross_fit import Folds, Scores, cross_fit, log_likelihoods
from lvq.estimators.search import _fit_at
from lvq.model.costs import CrossEntropyCost
from lvq.model.relevance import Scale
from lvq.model.samples import ArraySamples

PLAIN, _, SHARED, ADDITIVE, _, _, LOCAL, _ = (form.relevance for form in FORMS)
GAUSS: dict[str, Any] = {"kernel": "gaussian"}
LONG: tuple[dict[str, Any], ...] = (
    *({"relevance": PLAIN, "n_prototypes": n} for n in (1, 2, 4, 8, 20)),
    {"relevance": PLAIN, "n_prototypes": 8, "cost": CrossEntropyCost(alpha=0.0)},
    {"relevance": Scale(local="prototype", ridge=0.1), "n_prototypes": 8},
    *({"relevance": SHARED, "n_prototypes": n} for n in (1, 3, 8, 12)),
    {"relevance": replace(SHARED, ridge=0.01), "n_prototypes": 3},
    {"relevance": replace(SHARED, ridge=0.5), "n_prototypes": 1},
    *({"relevance": ADDITIVE, "n_prototypes": n} for n in (1, 2, 3, 6)),
    {"relevance": replace(ADDITIVE, ridge=0.02), "n_prototypes": 3},
    {"relevance": replace(ADDITIVE, ridge=0.5), "n_prototypes": 1},
    *({"relevance": LOCAL, "n_prototypes": n} for n in (1, 2, 3, 5)),
    {"relevance": replace(LOCAL, ridge=0.03), "n_prototypes": 1},
    {"relevance": replace(LOCAL, ridge=0.03), "n_prototypes": 3},
    {"relevance": replace(LOCAL, ridge=0.3), "n_prototypes": 2},
    {"relevance": replace(LOCAL, shrinkage=1.0), "n_prototypes": 1},
    {"relevance": LOCAL, "n_prototypes": 2, "cost": CrossEntropyCost(alpha=0.0)},
    {"relevance": LOCAL, "n_prototypes": 3, "cost": "rslvq", "decision": "posterior"},
    *({"relevance": LOCAL, "n_prototypes": n} | GAUSS for n in (1, 3)),
    {"relevance": SHARED, "n_prototypes": 3} | GAUSS,
    {"relevance": PLAIN, "n_prototypes": 20} | GAUSS,
)
NAMES = [" ".join(f"{key}={value}" for key, value in candidate.items()) for candidate in LONG]


def cells(sets: tuple[str, ...] = SETS, divisions: int = DIVISIONS) -> list[Cell]:
    """One for each division, set and fold."""
    return [
        Cell("search_table", dataset, "all", run=division, fold=fold)
        for division in range(divisions)
        for dataset in sets
        for fold in range(FOLDS)
    ]


def compute(cell: Cell) -> dict[str, Any]:
    """What a choice sees and gives, for each candidate, and seconds of all its fits."""
    X, y = pool_rows(cell.dataset)
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=cell.run).split(X, y))[cell.fold]
    scaler = StandardScaler().fit(X[train])
    X_train, X_test, begin = scaler.transform(X[train]), scaler.transform(X[test]), time.process_time()
    candidates = LVQClassifierCV(random_state=0)._specified(LVQClassifier(), LONG)
    samples = ArraySamples(X_train, y[train], np.full(len(train), 1 / len(train)))
    pairs = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X_train, y[train]))
    folds = Folds(samples, pairs, np.unique(y))
    result: dict[str, list[Any]] = {"accuracy": [], "log_loss": [], "each": []}
    likelihoods = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for candidate in candidates:
            start = time.process_time()
            known, weight, _ = folds.known
            judged, temperature = log_likelihoods(cross_fit([candidate], folds)[0], known, weight)
            model = _fit_at(temperature, candidate.estimator, X_train, y[train], None)
            likelihoods.append(judged)
            result["accuracy"].append(round(100 * model.score(X_test, y[test]), 3))
            result["log_loss"].append(round(log_loss(model.predict_proba(X_test), y[test]), 5))
            result["each"].append(round(time.process_time() - start, 3))
    scores = Scores(np.stack(likelihoods), folds.known[1], folds.known[2], folds.test_ratio)
    errors = [scores.standard_errors(best).round(6).tolist() for best in range(len(LONG))]
    seen = {"mean": scores.means().round(6).tolist(), "errors": np.nan_to_num(errors).tolist()}
    return result | seen | {"seconds": time.process_time() - begin}


# -- tables without new fits -------------------------------------------------------------------------------------------


def chosen(result: dict[str, Any], table: list[int], allowed: float = 0.25) -> int:
    """The candidate that the search takes from a table."""
    mean = np.array(result["mean"])[table]
    best = int(mean.argmax())
    errors = np.array(result["errors"][table[best]])[table]
    return table[int(np.argmax(mean[best] - mean <= allowed * errors))]


def accuracy(results: list[dict[str, Any]], table: list[int]) -> float:
    """Mean accuracy of the search with a table."""
    return float(np.mean([result["accuracy"][chosen(result, table)] for result in results]))


def grown(results: list[dict[str, Any]], most: int = 12) -> list[int]:
    """A table in the order of the list, grown by the candidate that gains most, as long as one does."""
    table: list[int] = []
    while len(table) < most:
        others = [sorted([*table, place]) for place in range(len(LONG)) if place not in table]
        gains = [accuracy(results, other) for other in others]
        if table and max(gains) <= accuracy(results, table):
            break
        table = others[int(np.argmax(gains))]
    return table


def summary(found: Found) -> str:
    """The table grown on all sets, what tables grown on half of the sets give on the others, and single candidates."""
    sets = sorted({cell.dataset for cell in found})
    by_set = {name: [result for cell, result in found.items() if cell.dataset == name] for name in sets}
    results = [result for name in sets for result in by_set[name]]
    table = grown(results)
    lines = [f"grown on all sets: {accuracy(results, table):.2f}", *(f"    {NAMES[place]}" for place in table)]
    for begin in range(min(4, len(sets))):
        kept = [result for place, name in enumerate(sets) if place % 4 == begin for result in by_set[name]]
        others = [result for place, name in enumerate(sets) if place % 4 != begin for result in by_set[name]]
        if others:
            held_out = grown(others)
            lines.append(f"sets {begin}, 4 apart, by a table of the others: {accuracy(kept, held_out):.2f} {held_out}")
    for place, name in enumerate(NAMES):
        values = (np.mean([result[key][place] for result in results]) for key in ("accuracy", "log_loss", "each"))
        lines.append("{:6.2f} {:6.3f} {:6.2f} s  ".format(*values) + name)
    return "\n".join(lines)


def main() -> None:
    """The command."""
    given = arguments("search_table", ("all",))
    wanted = cells(("iris", "hayes_roth"), 1) if given.quick else cells()
    print(summary(computed([] if given.summary else wanted, compute, given.out, given.jobs)))


if __name__ == "__main__":
    main()
