"""Rules for the default of LVQClassifier, one chosen on 27 sets of the pool and judged on the 28th, all in turn.

`python -m experiments.default_rules FOLDER [--folds 5] [--jobs 1] [--search]` needs `LVQ_DATA`, and in FOLDER the
models of scikit-learn: `python -m experiments.pool_fits FOLDER --only SVC`. Rows, outer folds and scaling are those of
`experiments.pool_fits`. A rule is a form for all sets, or a choice between forms by the log-loss of samples left out of
short fits, with some standard errors towards the first form. With `--search` LVQClassifierCV is fitted too. Finished
cells are stored in FOLDER/rules, one JSON object a line; a stopped run goes on. The tables go to
`results/default_rules.md`.
"""

import argparse
import itertools
import json
import pathlib
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from joblib import Parallel, delayed

from experiments.leave_one_set_out import as_markdown, left_out
from experiments.pool_fits import OUTER, POOL, split, stored
from experiments.pool_settings import others
from lvq import LVQClassifier, LVQClassifierCV
from lvq.estimators import choice
from lvq.estimators.cross_fit import STANDARD_ERRORS, Scores, choose

RESULT = pathlib.Path(__file__).parent / "results" / "default_rules.md"
FORMS: dict[str, dict[str, Any]] = {
    "two, matrices": {"relevance": "local_matrix", "n_prototypes": 2},
    "one, matrices": {"relevance": "local_matrix", "n_prototypes": 1},
    "one, scales": {"relevance": "local_scale", "n_prototypes": 1},
    "four, scales": {"relevance": "local_scale", "n_prototypes": 4},
    "one, shared matrix": {"relevance": "matrix", "n_prototypes": 1},
    "ten, weights": {"relevance": "local_diagonal", "n_prototypes": 10},
}
GROWN, DEFAULT, SEARCH = 'matrices, n_prototypes="auto"', "LVQClassifier()", "LVQClassifierCV()"
ERRORS = (0.0, 0.25, 0.5)  # standard errors towards the first form
UNSEEN = range(3, OUTER)  # outer folds that no earlier choice of a default has used


class Rule(NamedTuple):
    """A choice between forms."""

    forms: tuple[str, ...]
    errors: float

    def __str__(self) -> str:
        if len(self.forms) == 1:
            return self.forms[0]
        return f"{' / '.join(self.forms)}; {self.errors:g} errors"


TAKEN = Rule(tuple(FORMS)[:3], STANDARD_ERRORS)  # that of LVQClassifier


def rules(forms: Sequence[str], most: int) -> list[Rule]:
    """All choices between at most so many forms, of which the first is one."""
    found = [Rule((forms[0],), 0.0)]
    for count in range(1, most):
        parts = itertools.combinations(forms[1:], count)
        found += [Rule((forms[0], *part), errors) for part in parts for errors in ERRORS]
    return found


def fitted(params: dict[str, Any] | None, dataset: str, fold: int) -> dict[str, Any]:
    """Accuracy, prototypes per class and processor seconds of one fit, the calibration included; None is the search."""
    X, y, X_test, y_test = split(dataset, fold)
    model = LVQClassifierCV(random_state=0) if params is None else LVQClassifier(random_state=0, **params)
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    return {"accuracy": accuracy, "prototypes": len(model.prototypes_) / len(model.classes_), "seconds": seconds}


def scores_of_forms(dataset: str, fold: int) -> Scores:
    """Log-likelihoods of the samples left out, by the short fits of `lvq.estimators.choice`."""
    found = list[Scores]()

    def keep(scores: Scores) -> int:
        found.append(scores)
        return 0

    pairs = tuple((params["relevance"], params["n_prototypes"]) for params in FORMS.values())
    with mock.patch.object(choice, "FORMS", pairs), mock.patch.object(choice, "choose", keep):
        LVQClassifier(random_state=0, max_iter=12).fit(*split(dataset, fold)[:2])
    return found[0]


def cell(dataset: str, fold: int) -> list[dict[str, Any]]:
    """The rows of one outer fold: a row for each form, and one with the form that every rule takes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a default is taken as it is
        rows = {name: fitted(params, dataset, fold) for name, params in FORMS.items()}
        rows[GROWN] = fitted(FORMS["two, matrices"] | {"n_prototypes": "auto"}, dataset, fold)
        rows[DEFAULT] = fitted({}, dataset, fold)
        scores = scores_of_forms(dataset, fold)
    names, taken = list(FORMS), dict[str, str]()
    for rule in rules(names, len(names)):
        places = [names.index(form) for form in rule.forms]
        taken[str(rule)] = rule.forms[choose(scores._replace(table=scores.table[places]), rule.errors)]
    rows["rules"] = {"taken": taken}
    return [{"dataset": dataset, "fold": fold, "name": name} | row for name, row in rows.items()]


def search_cell(dataset: str, fold: int) -> list[dict[str, Any]]:
    """The row of the search in one outer fold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [{"dataset": dataset, "fold": fold, "name": SEARCH} | fitted(None, dataset, fold)]


def measure(folder: pathlib.Path, folds: Sequence[int], jobs: int, name: str, of: Callable[..., Any]) -> None:
    """Compute the cells that have no row of this name, in processes."""
    folder.mkdir(parents=True, exist_ok=True)
    done = {(row["dataset"], row["fold"]) for row in stored(folder) if row["name"] == name}
    cells = [(dataset, fold) for fold in folds for dataset in POOL if (dataset, fold) not in done]
    for rows in Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(of)(*item) for item in cells):
        with (folder / f"{rows[0]['dataset']}.jsonl").open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


class Results:
    """Stored rows of models and rules."""

    def __init__(self, folder: pathlib.Path, folds: int) -> None:
        rows = stored(folder) + stored(folder / "rules")
        self.rows = {(row["dataset"], row["fold"], row["name"]): row for row in rows}
        self.folds = range(folds)

    def means(self, name: str, key: str = "accuracy", folds: range | None = None) -> np.ndarray:
        """The mean of each set over outer folds, of a model or of what a rule takes."""
        kept = self.folds if folds is None else folds
        return np.array([np.mean([self._row(dataset, fold, name)[key] for fold in kept]) for dataset in POOL])

    def _row(self, dataset: str, fold: int, name: str) -> dict[str, Any]:
        if (dataset, fold, name) not in self.rows:
            name = self.rows[dataset, fold, "rules"]["taken"][name]
        return self.rows[dataset, fold, name]


def report(results: Results) -> str:
    """All tables."""
    names = list(FORMS)
    head = f"28 sets, {len(results.folds)} of {OUTER} outer folds. Test accuracy in percent. A form is the number of "
    head += "prototypes per class and the metric of each; a rule names the forms it chooses from.\n"
    shown = [*others(1), DEFAULT, GROWN, *map(str, rules(names[:3], 3))]
    shown += [*map(str, rules([names[0], names[-1]], 2)[1:]), *names[1:]]
    lines: list[list[Any]] = []
    if all((dataset, fold, SEARCH) in results.rows for dataset in POOL for fold in results.folds):
        lines.append([SEARCH, *(100 * results.means(SEARCH, folds=kept).mean() for kept in (None, UNSEEN))])
        lines[-1] += [results.means(SEARCH, "prototypes").mean(), ""]
    for name in shown:
        line: list[Any] = [name, *(100 * results.means(name, folds=kept).mean() for kept in (None, UNSEEN))]
        line += ["" if name in others(1) else results.means(name, "prototypes").mean()]
        plain = name in (DEFAULT, GROWN, *names)
        line += [results.means(name, "seconds").mean() / results.means(names[0], "seconds").mean() if plain else ""]
        lines.append(line)
    head_of_rules = ["model or rule", "accuracy", "in folds 3 and 4", "prototypes per class", "time of a fit"]
    parts = [head, as_markdown(head_of_rules, lines), as_markdown(*_choices(results))]
    shown = [*others(1), names[0], DEFAULT]
    table = [100 * results.means(name) for name in shown] + [results.means(DEFAULT, "prototypes")]
    each = [[dataset, *values] for dataset, values in zip((*POOL, "mean"), [*zip(*table), np.mean(table, axis=1)])]
    return "\n".join([*parts, as_markdown(["set", *shown, "its prototypes per class"], each)])


def _choices(results: Results) -> tuple[list[str], list[list[Any]]]:
    """Head and lines: a rule chosen on all sets, or on those that are left, on the mean test accuracy."""
    names, lines = list(FORMS), list[list[Any]]()
    for title, forms, most in (
        ("the first three forms", 3, 3),
        ("six forms, at most three", 6, 3),
        ("six forms", 6, 6),
    ):
        candidates = rules(names[:forms], most)
        every = np.array([100 * results.means(str(rule)) for rule in candidates])
        early = np.array([100 * results.means(str(rule), folds=range(3)) for rule in candidates])
        late = np.array([100 * results.means(str(rule), folds=UNSEEN) for rule in candidates])
        for scope, table, judged in (("all", every, every), ("0 to 2, judged on 3 and 4", early, late)):
            inside, outside, chosen = left_out(table, judged)
            most_often = str(candidates[max(set(chosen), key=chosen.count)])
            lines.append([title, str(len(candidates)), scope, inside, outside, most_often])
    return ["rules", "number", "outer folds", "chosen on 28 sets", "chosen on the 27 others", "mostly chosen"], lines


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--folds", type=int, default=OUTER)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--search", action="store_true")
    given = parser.parse_args()
    measure(given.folder / "rules", range(given.folds), given.jobs, DEFAULT, cell)
    if given.search:
        measure(given.folder / "rules", range(given.folds), given.jobs, SEARCH, search_cell)
    text = report(Results(given.folder, given.folds))
    RESULT.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
