"""How the time of a fit grows with samples, features, classes and prototypes: one thread, CPU seconds."""

from dataclasses import replace
from typing import Any

from benchmarks import data, text
from benchmarks.results import select
from benchmarks.rounds import Entry, Row, Run, interleave
from benchmarks.workers.measures import exponent

TITLE = "Growth"
MINUTES = 3.0
SECONDS = 60.0
#: Sizes of each series; the other sizes are those of BASE.
SERIES: dict[str, tuple[int, ...]] = {
    "samples": (1000, 4000, 16_000, 64_000),
    "features": (8, 32, 128, 512),
    "classes": (2, 8, 32, 128),
    "per_class": (1, 4, 16, 64),
}
BASE = {"samples": 4000, "features": 32, "classes": 4, "per_class": 2}
MODELS = ("glvq", "gmlvq", "default")


def cells(quick: bool) -> list[Row]:
    """Each model at each size."""
    if quick:
        small = {"samples": 60, "features": 4, "classes": 2, "per_class": 1}
        return [{"series": "samples", "model": "glvq", **small, "samples": size} for size in (40, 80)]
    return [
        {"series": series, "model": model, **BASE, series: size}
        for series, sizes in SERIES.items()
        for model in MODELS
        for size in sizes
        if not (model == "default" and series == "per_class")  # it chooses the number itself
    ]


def run(cell: Row, run: Run) -> list[Row]:
    """Ours alone."""
    where = run.data.folder(data.blobs, cell["samples"], cell["features"], cell["classes"])
    task: dict[str, Any] = {"operation": "fit", "data": where, "model": cell["model"], "per_class": cell["per_class"]}
    return interleave(replace(run, own_timeout=SECONDS), [Entry("lvq", task)])


def curves(rows: list[Row], series: str) -> dict[str, list[tuple[float, float]]]:
    """Model -> sizes with their seconds."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in select(rows, series=series):
        found.setdefault(row["model"], []).append((row[series], row["cpu"]["median"]))
    return found


def report(rows: list[Row]) -> str:
    """Times and fitted exponents."""
    lines = []
    for series in SERIES:
        for model, points in curves(rows, series).items():
            sizes, seconds = zip(*points)
            times = ", ".join(f"{size:,}: {text.seconds(second)}" for size, second in points)
            power = f"{exponent(sizes, seconds):.2f}" if len(points) > 1 else ""
            lines.append([series.replace("_", " "), text.name(model), times, power])
    base = ", ".join(f"{value:,} {key.replace('_', ' ')}" for key, value in BASE.items())
    head = ["grows", "model", "CPU seconds", "exponent"]
    explanation = f"Where nothing else is said: {base}. The exponent p of size^p is fitted by least squares."
    return f"{explanation}\n\n{text.table(head, lines)}"


def figure(rows: list[Row], path: Any) -> None:
    """A panel for each series."""
    from benchmarks import plots

    panels = {
        series.replace("_", " "): {text.name(model): points for model, points in curves(rows, series).items()}
        for series in SERIES
    }
    plots.growth(panels, path)
