"""`LVQClassifierCV` against an SVM tuned by a grid of 16 points and 5 folds, on the 28 sets of the development pool."""

from typing import Any

import numpy as np

from benchmarks import data, text
from benchmarks.results import select
from benchmarks.rounds import Entry, Row, Run, interleave

TITLE = "Search"
MINUTES = 4.0
MODELS = (("lvq", "search"), ("lvq", "default"), ("scikit-learn", "svc_grid"))


def cells(quick: bool) -> list[Row]:
    """Each set once."""
    return [{"set": name} for name in (("iris",) if quick else (*data.POOL_NAMED, *data.POOL_FILES))]


def run(cell: Row, run: Run) -> list[Row]:
    """One fit of each, in one thread."""
    task: dict[str, Any] = {"operation": "fit", "data": run.data.folder(data.pool, cell["set"]), "at_least": 0.0}
    chosen = MODELS[1:] if run.quick else MODELS
    entries = [Entry(library, task | {"model": model}, {"peer_model": model}) for library, model in chosen]
    return interleave(run, entries, repeat=0)


def by_model(rows: list[Row]) -> dict[str, dict[str, Row]]:
    """Model -> set -> row, where it was measured."""
    models = dict.fromkeys(row["peer_model"] for row in rows)
    return {model: {row["set"]: row for row in select(rows, peer_model=model)} for model in models}


def shared_sets(rows: list[Row]) -> set[str]:
    """The sets that all models have."""
    done = by_model(rows)
    return set.intersection(*(set(found) for found in done.values())) if done else set()


def means(rows: list[Row]) -> dict[str, tuple[float, float]]:
    """Model -> mean CPU seconds and mean test accuracy, over the sets that all models have."""
    shared = shared_sets(rows)
    return {
        model: (
            float(np.mean([found[name]["cpu"]["median"] for name in shared])),
            float(np.mean([found[name]["test_accuracy"] for name in shared])),
        )
        for model, found in by_model(rows).items()
        if shared
    }


def ratio(rows: list[Row]) -> float | None:
    """Mean CPU seconds of LVQClassifierCV over those of the SVM's grid."""
    found = means(rows)
    return found["search"][0] / found["svc_grid"][0] if {"search", "svc_grid"} <= set(found) else None


def report(rows: list[Row]) -> str:
    """A line for each set, and the means."""
    models = list(dict.fromkeys(row["peer_model"] for row in rows))
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        here = {row["peer_model"]: row for row in rows if row["set"] == name}
        lines.append([text.name(name), *(_shown(here[model]) if model in here else "" for model in models)])
    found = means(rows)
    lines.append(["**mean**", *(f"{text.seconds(found[m][0])} ({text.percent(found[m][1])})" for m in models if found)])
    return (
        "CPU seconds of one fit in one thread (test accuracy in percent on a fifth of the samples); at most 1,200 "
        "samples per set, standardised, text columns one-hot encoded.\n\n"
        + text.table(["set", *map(text.name, models)], lines)
    )


def _shown(row: Row) -> str:
    if row["status"] != "ok":
        return text.short(row["status"])
    return f"{text.seconds(row['cpu']['median'])} ({text.percent(row['test_accuracy'])})"
