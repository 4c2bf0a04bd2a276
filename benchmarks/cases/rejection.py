"""Rejection: coverage at an equal guarantee, compared with MAPIE's controller, and the speed of the thresholds."""

from typing import Any

import numpy as np

from benchmarks import data, text
from benchmarks.results import select
from benchmarks.rounds import Entry, Row, Run, interleave
from benchmarks.workers.rejection import CONFIDENCE, MAPIE, OURS

TITLE = "Rejection"
MINUTES = 2.0
SETS = ("segment", "digits", "satimage", "vehicle", "wdbc")
LEVELS = (0.02, 0.05, 0.1)
SAMPLES, SEEDS = 3000, 2
EXPLANATION = f"""The coverage on the test samples, with P(error | accepted) <= max_error guaranteed with confidence
{CONFIDENCE}; 0 where nothing can be guaranteed. Means over splits (40 % train, 30 % calibrate, 30 % test, at most
{SAMPLES:,} samples). All methods except RelSim set thresholds on the largest probability. MAPIE's default tests 100
thresholds by Bonferroni-Holm; "our grid" has thresholds at quantiles of the scores."""


def cells(quick: bool) -> list[Row]:
    """Speeds, and each model on each split."""
    if quick:
        return [{"kind": "coverage", "set": "wine", "model": "logm", "seed": 0}]
    speeds: list[Row] = [
        {"kind": "speed", "method": "optimal", "samples": 100_000},
    ]
    splits: list[Row] = [
        {"kind": "coverage", "set": name, "model": model, "seed": seed}
        for seed in range(SEEDS)
        for name in SETS
        for model in ("logm", "forest")
    ]
    return [*speeds, *splits]


def run(cell: Row, run: Run) -> list[Row]:
    """In MAPIE's environment, where there is one, as both need the same fitted model; else ours alone."""
    library = "mapie" if "mapie" in run.peers and run.workers.interpreter("mapie") else "lvq"
    if cell["kind"] == "speed":
        task: dict[str, Any] = {"operation": "rejection_speed", "method": cell["method"], "samples": cell["samples"]}
        return interleave(run, [Entry("lvq", task)])
    levels = LEVELS[-1:] if run.quick else LEVELS
    task = {"operation": "rejection", "data": run.data.folder(data.whole, cell["set"]), "levels": levels}
    task |= {"model": cell["model"], "seed": cell["seed"], "samples": SAMPLES}
    return [coverage_row(library, run.workers.ask(library, task, timeout=300))]


def coverage_row(library: str, result: dict[str, Any]) -> Row:
    """A row of what was found, by both libraries."""
    return {"library": library, "threads": 1, **result}


def means(rows: list[Row]) -> dict[tuple[str, str, float, str], tuple[float, float]]:
    """Set, model, level and method -> mean coverage, and the mean error of the model without rejection."""
    found: dict[tuple[str, str, float, str], list[tuple[float, float]]] = {}
    for row in select(rows, kind="coverage"):
        for part in row["rejection"]:
            key = (row["set"], row["model"], part["max_error"], part["method"])
            found.setdefault(key, []).append((part["coverage"], row["base_error"]))
    return {key: (float(np.mean([c for c, _ in values])), float(np.mean([e for _, e in values])))
            for key, values in found.items()}  # fmt: skip


def report(rows: list[Row]) -> str:
    """Coverages by model, and the speeds."""
    found = means(rows)
    parts = [EXPLANATION]
    for model in ("logm", "forest"):
        lines = lines_of(found, model)
        if lines:
            parts += [f"### {text.name(model)}", text.table(*lines)]
    errors = error_lines(rows)
    if errors:
        parts += ["Error rate of the accepted test samples divided by max_error, where any are accepted:", *errors]
    speeds = [[row["method"], f"{row['samples']:,}", text.spread(row)] for row in select(rows, kind="speed")]
    if speeds:
        parts += ["Thresholds of 200 cells, one thread:", text.table(["method", "samples", "time"], speeds)]
    return "\n\n".join(parts)


def lines_of(found: dict[tuple[str, str, float, str], tuple[float, float]], model: str) -> Any:
    """Head and lines of a model's table."""
    here = {key: value for key, value in found.items() if key[1] == model}
    methods = [method for method in (*OURS, *MAPIE) if any(key[3] == method for key in here)]
    lines = []
    for name, level in dict.fromkeys((key[0], key[2]) for key in here):
        base = next(value[1] for key, value in here.items() if key[0] == name)
        values = [here.get((name, model, level, method), (float("nan"), 0.0))[0] for method in methods]
        best = max(value for value in values if value == value)
        shown = [f"**{value:.2f}**" if value == best > 0 else f"{value:.2f}" for value in values]
        lines.append([f"{text.name(name)} ({text.percent(base)} % errors)", str(level), *shown])
    if not lines:
        return None
    mean = [np.mean([value[0] for key, value in here.items() if key[3] == method]) for method in methods]
    lines.append(["**mean**", "", *(f"{value:.3f}" for value in mean)])
    return ["set", "max_error", *methods], lines


def error_lines(rows: list[Row]) -> list[str]:
    """The mean and the largest ratio of errors to max_error, by method."""
    ratios: dict[str, list[float]] = {}
    for row in select(rows, kind="coverage"):
        for part in row["rejection"]:
            if part["error"] is not None:
                ratios.setdefault(part["method"], []).append(part["error"] / part["max_error"])
    lines = [[key, str(len(values)), f"{np.mean(values):.2f}", f"{max(values):.2f}"] for key, values in ratios.items()]
    return [text.table(["method", "splits", "mean", "largest"], lines)] if lines else []
