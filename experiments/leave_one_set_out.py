"""Choices on 27 sets of the pool, judged on the 28th, all in turn: the default setting, and the search.

`python -m experiments.leave_one_set_out FOLDER [--space NAME] [--out FILE]` reads what `experiments.pool_fits` has
stored and prints tables in Markdown, of all settings or of those of one space and the default. With a file it also
writes the test accuracy of every setting on every set, as CSV. A figure is the mean over sets of the mean test accuracy
over outer folds, in percent. "chosen" is the in-sample figure: of the choice that is best on all sets, on the same
sets. The column beside it is that of choices that did not know the set on which they are judged. Inner accuracy is that
of short fits in five folds of the training part.
"""

import argparse
import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.pool_fits import EARLY_FOLDS, INNER, stored, unpack
from experiments.pool_settings import DEFAULT, SPACES, SVC_GRID, others, settings
from lvq.estimators.halving import rounds_for
from lvq.estimators.cross_fit import Scores, choose

Rows = dict[tuple[str, int, str], dict[str, Any]]  # by set, outer fold and name
SCORES = ("raw", "calibrated", "correct")
STANDARD_ERRORS = (0.0, 0.25, 0.5, 1.0)


class Pool(NamedTuple):
    """Stored rows, and the sets, outer folds and settings that all of them have."""

    rows: Rows
    sets: tuple[str, ...]
    folds: tuple[int, ...]
    names: tuple[str, ...]

    def accuracy(self, name: str, dataset: str) -> float:
        """Mean test accuracy in percent."""
        return 100 * float(np.mean([self.rows[dataset, fold, name]["accuracy"] for fold in self.folds]))

    def mean(self, name: str, key: str = "accuracy") -> float:
        """Mean over sets and outer folds."""
        return float(np.mean([self.rows[dataset, fold, name][key] for dataset in self.sets for fold in self.folds]))


def load(folder: pathlib.Path, space: Sequence[str] | None = None) -> Pool:
    """What is stored of all settings, or of some; outer folds in which every one of these has all sets."""
    rows = {(row["dataset"], row["fold"], row["name"]): _unpacked(row) for row in stored(folder)}
    sets = tuple(dict.fromkeys(key[0] for key in rows))
    known = tuple(others(1))
    names = tuple(name for name in settings() if any(key[2] == name for key in rows) and (not space or name in space))
    complete = [fold for fold in range(5) if all((s, fold, n) in rows for s in sets for n in names + known)]
    return Pool(rows, sets, tuple(complete), names)


def _unpacked(row: dict[str, Any]) -> dict[str, Any]:
    packed = [f"{time}_{score}" for time in ("early", "late") for score in SCORES]
    return row | {key: unpack(row[key]) for key in packed if key in row}


# -- the default ---------------------------------------------------------------------------------------------------


def inner_accuracy(pool: Pool, name: str, dataset: str) -> float:
    """Accuracy in percent of the short fits on the samples left out in the inner folds."""
    return 100 * float(np.mean([pool.rows[dataset, fold, name]["late_correct"].mean() for fold in pool.folds]))


def left_out(table: np.ndarray, judged: np.ndarray) -> tuple[float, float, list[int]]:
    """In-sample and left-out figure of the best row of a table, rows x sets, and what was chosen for each set.

    Parameters
    ----------
    table : ndarray of shape (n_choices, n_sets)
        What is maximised on the mean.
    judged : ndarray of shape (n_choices, n_sets)
        Test accuracy.

    Examples
    --------
    >>> table = np.array([[9.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    >>> left_out(table, table)
    (3.6666666666666665, 1.3333333333333333, [1, 0, 0])
    """
    chosen = [int((table.sum(axis=1) - table[:, place]).argmax()) for place in range(table.shape[1])]
    judged_out = float(np.mean([judged[choice, place] for place, choice in enumerate(chosen)]))
    return float(judged[table.mean(axis=1).argmax()].mean()), judged_out, chosen


# -- the search ----------------------------------------------------------------------------------------------------


class Rule(NamedTuple):
    """How a search chooses: its score, standard errors towards the preferred candidate, folds, and halving."""

    score: str
    errors: float
    n_folds: int = INNER
    halving: bool = True


def scores_of(pool: Pool, dataset: str, fold: int, names: Sequence[str], key: str, n_folds: int) -> Scores:
    """Scores of settings on the inner validation samples of an outer fold."""
    table = np.stack([pool.rows[dataset, fold, name][key] for name in names])
    total = EARLY_FOLDS if key.startswith("early") else INNER
    number = np.arange(table.shape[1]) * total // table.shape[1]  # stored fold by fold, of equal size but for one
    used = number < n_folds
    return Scores(table[:, used], np.ones(used.sum()), number[used], 1 / (INNER - 1))


def search(pool: Pool, dataset: str, fold: int, space: Sequence[str], rule: Rule) -> tuple[str, float]:
    """The setting that a search takes, and the processor seconds of its short fits."""
    left, seconds = list(space), 0.0
    row = {name: pool.rows[dataset, fold, name] for name in space}
    if rule.halving:
        kept = rounds_for(len(space))[0][1] if len(rounds_for(len(space))) > 1 else len(space)
        early = scores_of(pool, dataset, fold, left, f"early_{rule.score}", EARLY_FOLDS).means()
        seconds += sum(row[name]["seconds_early"] + 0.4 * row[name]["seconds_start"] for name in left)
        best = np.sort(np.argsort(-early, kind="stable")[:kept])
        left = [left[place] for place in best]
    late = scores_of(pool, dataset, fold, left, f"late_{rule.score}", rule.n_folds)
    seconds += sum(row[name]["seconds_late"] + 0.6 * row[name]["seconds_start"] for name in left)
    return left[choose(late, rule.errors)], seconds


def searched(pool: Pool, space: Sequence[str], rule: Rule) -> tuple[np.ndarray, float, float]:
    """Test accuracy of each set in percent, mean processor seconds, and mean number of prototypes per class."""
    table, seconds, prototypes = np.zeros((len(pool.sets), len(pool.folds))), 0.0, 0.0
    for place, dataset in enumerate(pool.sets):
        for column, fold in enumerate(pool.folds):
            name, used = search(pool, dataset, fold, space, rule)
            row = pool.rows[dataset, fold, name]
            table[place, column] = 100 * row["accuracy"]
            seconds += used + row["seconds"]
            prototypes += row["prototypes"]
    return table.mean(axis=1), seconds / table.size, prototypes / table.size


# -- tables --------------------------------------------------------------------------------------------------------


def as_markdown(head: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    """A table."""
    shown = [[cell if isinstance(cell, str) else f"{cell:.2f}" for cell in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in [list(head), ["---"] * len(head), *shown]) + "\n"


def report(pool: Pool) -> str:
    """All tables."""
    parts = [f"{len(pool.sets)} sets, {len(pool.folds)} of 5 outer folds, {len(pool.names)} settings.\n"]
    parts += [default_table(pool), search_table(pool), set_table(pool)]
    return "\n".join(parts)


def default_table(pool: Pool) -> str:
    """Every setting, and the choice of one for all sets."""
    test = np.array([[pool.accuracy(name, dataset) for dataset in pool.sets] for name in pool.names])
    inner = np.array([[inner_accuracy(pool, name, dataset) for dataset in pool.sets] for name in pool.names])
    lines: list[list[Any]] = [[name, 100 * pool.mean(name), "", pool.mean(name, "seconds")] for name in others(1)]
    for place in np.argsort(-test.mean(axis=1), kind="stable"):
        name = pool.names[place]
        lines.append([name, test[place].mean(), inner[place].mean(), pool.mean(name, "seconds")])
    for title, table in (("best by test accuracy", test), ("best by inner accuracy", inner), ("by both", test + inner)):
        chosen, out, names = left_out(table, test)
        most = max(set(names), key=names.count)
        lines.append([f"{title}: chosen {chosen:.2f}, mostly {pool.names[most]}", out, "", ""])
    return as_markdown(["setting", "test", "inner", "seconds"], lines)


def search_table(pool: Pool) -> str:
    """Every space with every rule, and the choice of space and rule by leaving sets out."""
    rules = [Rule(score, errors) for score in SCORES for errors in STANDARD_ERRORS]
    rules += [Rule("calibrated", 0.25, 3), Rule("calibrated", 0.25, halving=False), Rule("raw", 0.25, halving=False)]
    base = 100 * pool.mean(SVC_GRID), pool.mean(SVC_GRID, "seconds")
    lines, table = list[list[Any]](), list[np.ndarray]()
    for title, space in SPACES.items():
        if not set(space) <= set(pool.names):
            continue
        for rule in rules:
            found, seconds, prototypes = searched(pool, space, rule)
            table.append(found)
            kind = f"{rule.score}, {rule.errors:g} errors" + (
                "" if rule.n_folds == INNER else f", {rule.n_folds} folds"
            )
            kind += "" if rule.halving else ", no halving"
            lines.append(
                [title, str(len(space)), kind, found.mean(), found.mean() - base[0], seconds / base[1], prototypes]
            )
    if table:
        chosen, out, _ = left_out(np.array(table), np.array(table))
        lines.append(["**choice of space and rule**", "", f"in-sample {chosen:.2f}", out, out - base[0], "", ""])
    head = ["space", "size", "rule", "test", "against SVC", "time / SVC grid", "prototypes per class"]
    return as_markdown(head, lines)


def set_table(pool: Pool) -> str:
    """Accuracy of each set: other models and the best settings."""
    best = sorted(pool.names, key=lambda name: -pool.mean(name))[:4]
    columns = [*others(1), *best]
    table = np.array([[pool.accuracy(name, dataset) for name in columns] for dataset in pool.sets])
    hindsight = [max(pool.accuracy(name, dataset) for name in pool.names) for dataset in pool.sets]
    table = np.column_stack([table, hindsight])
    lines = [[dataset, *row] for dataset, row in zip((*pool.sets, "mean"), [*table, table.mean(axis=0)])]
    return as_markdown(["set", *columns, "best in hindsight"], lines)


def as_csv(pool: Pool) -> str:
    """Test accuracy in percent: a line for each model and setting, a column for each set."""
    lines = [["name", *pool.sets]]
    for name in (*others(1), *pool.names):
        lines.append([f'"{name}"', *(f"{pool.accuracy(name, dataset):.2f}" for dataset in pool.sets)])
    return "".join(",".join(line) + "\n" for line in lines)


def main() -> None:
    """Print the tables, and store them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--space", choices=SPACES, help="only its settings and the default")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    pool = load(arguments.folder, (*SPACES[arguments.space], DEFAULT) if arguments.space else None)
    text = report(pool)
    if arguments.out:
        arguments.out.write_text(text)
        arguments.out.with_suffix(".csv").write_text(as_csv(pool))
    print(text)


if __name__ == "__main__":
    main()
