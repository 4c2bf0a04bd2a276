"""Accuracy of every library's defaults on the same folds, with the CPU seconds of a fit."""

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import data, text
from benchmarks.results import select
from benchmarks.rounds import LVQ_PEERS, Entry, Row, Run, interleave
from benchmarks.workers.models import SCIKIT_LEARN

TITLE = "Accuracy of defaults"
MINUTES = 3.0
SETS = ("iris", "wine", "wdbc", "digits")
#: A model ends after the fold in which it has used this many seconds.
SECONDS = 8.0
MODELS: tuple[tuple[str, str], ...] = (
    ("lvq", "default"), ("lvq", "gmlvq"), ("lvq", "glvq"),
    *((library, model) for library in LVQ_PEERS for model in ("gmlvq", "glvq")),
    ("r-class", "olvq1"),
    *(("scikit-learn", model) for model in SCIKIT_LEARN),
)  # fmt: skip


def cells(quick: bool) -> list[Row]:
    """Stratified folds of each set."""
    if quick:
        return [{"set": "iris", "folds": 2, "repeats": 1}]
    return [{"set": name, "folds": 5, "repeats": 2} for name in SETS]


def run(cell: Row, run: Run) -> list[Row]:
    """Each model once on all folds, features standardised on the training part."""
    where = run.data.folder(data.folds, cell["set"], cell["folds"], cell["repeats"])
    task: dict[str, Any] = {"operation": "folds", "data": where, "own": True, "seconds": SECONDS}
    entries = [Entry(library, task | {"model": model}, {"peer_model": model}) for library, model in MODELS]
    if run.quick:
        entries = [entry for entry in entries if entry.task["model"] in ("glvq", "nearest_centroid")]
    limited = replace(run, timeout=5 * SECONDS)
    return interleave(limited, entries, repeat=0)


def report(rows: list[Row]) -> str:
    """Mean accuracy by set, the mean over sets, and the time of a fit."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    lines = []
    for library, model in dict.fromkeys((row["library"], row["peer_model"]) for row in rows):
        here = {row["set"]: row for row in rows if (row["library"], row["peer_model"]) == (library, model)}
        cells_ = [_accuracy(here[name]) if name in here else "" for name in sets]
        done = [np.mean(row["accuracies"]) for row in here.values() if row["status"] == "ok"]
        mean = text.percent(float(np.mean(done))) if len(done) == len(sets) else ""
        lines.append([text.name(library), text.name(model), *cells_, mean])
    return (
        "Percent correct, mean over stratified folds that are the same for all, features standardised in the fold "
        "(median CPU seconds of a fit); [k]: only k folds, as more would have taken too long. prototorch has no "
        "default run: 100 epochs in batches of 64.\n\n"
        + text.table(["library", "model", *map(text.name, sets), "mean"], lines)
    )


def _accuracy(row: Row) -> str:
    if row["status"] != "ok":
        return text.short(row["status"])
    done, wanted = len(row["accuracies"]), row["folds"] * row["repeats"]
    part = f" [{done}]" if done < wanted else ""
    return f"{text.percent(float(np.mean(row['accuracies'])))}{part} ({text.seconds(row['cpu']['median'])})"


def figure(rows: list[Row], path: Any) -> None:
    """Mean accuracy against the time of a fit, a point for each model that has all sets."""
    from benchmarks import plots

    points = {}
    for library, model in MODELS:
        here = list(select(rows, library=library, peer_model=model))
        if here and len(here) == len({row["set"] for row in rows}):
            label = f"{text.name(library)} {text.name(model)}" if library != "scikit-learn" else text.name(model)
            seconds = float(np.mean([row["cpu"]["median"] for row in here]))
            points[label] = (seconds, 100 * float(np.mean([np.mean(row["accuracies"]) for row in here])))
    plots.labelled_points(points, path, "mean CPU seconds of a fit", "mean accuracy, %")
