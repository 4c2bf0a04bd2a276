"""How the time of a fit grows with samples, features, classes, prototypes and stored numbers of sparse rows.

One thread, CPU seconds; each size over two orders of magnitude.
"""

from dataclasses import replace
from typing import Any

from benchmarks import data, text
from benchmarks.results import select
from benchmarks.rounds import Entry, Row, Run, interleave
from benchmarks.workers.measures import exponent

TITLE = "Growth"
MINUTES = 5.0
SECONDS = 60.0
#: Sizes of each series; the other sizes are those of BASE.
SERIES: dict[str, tuple[int, ...]] = {
    "samples": (1000, 4000, 20_000, 100_000),
    "features": (8, 40, 200, 800),
    "classes": (2, 10, 50, 200),
    "per_class": (1, 5, 25, 100),
    "stored": (4, 20, 100, 400),
}
BASE = {"samples": 4000, "features": 32, "classes": 4, "per_class": 2}
SPARSE = {"samples": 2000, "features": 20_000, "classes": 4, "per_class": 2, "epochs": 5}  # for "stored", of each row
MODELS = ("glvq", "gmlvq", "default")
#: Exponents by the number of operations of an iteration; Omega is square, and its products take features^2.
EXPECTED = {"samples": 1, "features": 1, "classes": 1, "per_class": 1, "stored": 1}
EXPECTED_MATRIX = {"samples": 1, "features": 2, "classes": 1, "per_class": 1}


def cells(quick: bool) -> list[Row]:
    """Each model at each size; sparse rows are trained sample by sample."""
    if quick:
        small = {"samples": 60, "features": 4, "classes": 2, "per_class": 1}
        stored = {"series": "stored", "model": "glvq", **small, "features": 50, "epochs": 1}
        return [
            *({"series": "samples", "model": "glvq", **small, "samples": size} for size in (40, 80)),
            *(stored | {"stored": size} for size in (2, 8)),
        ]
    return [
        *(
            {"series": series, "model": model, **BASE, series: size}
            for series, sizes in SERIES.items()
            if series != "stored"
            for model in MODELS
            for size in sizes
            if not (model == "default" and series == "per_class")  # it chooses the number itself
        ),
        *({"series": "stored", "model": "glvq", **SPARSE, "stored": size} for size in SERIES["stored"]),
    ]


def run(cell: Row, run: Run) -> list[Row]:
    """Ours alone."""
    sizes = cell["samples"], cell["features"], cell["classes"]
    where = run.data.folder(data.sparse_blobs if "stored" in cell else data.blobs, *sizes, *_stored(cell))
    task: dict[str, Any] = {"operation": "fit", "data": where, "model": cell["model"], "per_class": cell["per_class"]}
    if "epochs" in cell:
        task["epochs"] = cell["epochs"]
    return interleave(replace(run, own_timeout=SECONDS), [Entry("lvq", task)])


def _stored(cell: Row) -> tuple[int, ...]:
    """Stored numbers of each row, for sparse rows."""
    return (cell["stored"],) if "stored" in cell else ()


def expected(series: str, model: str) -> int:
    """Exponent by the number of operations."""
    return (EXPECTED if model == "glvq" else EXPECTED_MATRIX)[series]


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
            lines.append([series.replace("_", " "), text.name(model), times, power, str(expected(series, model))])
    base = ", ".join(f"{value:,} {key.replace('_', ' ')}" for key, value in BASE.items())
    sparse = ", ".join(f"{value:,} {key.replace('_', ' ')}" for key, value in SPARSE.items())
    head = ["grows", "model", "CPU seconds", "exponent", "by operations"]
    explanation = (
        f"Where nothing else is said: {base}. Stored numbers are those of a sparse row: {sparse}, online. The exponent "
        "p of size^p is fitted by least squares, beside that of the operations of an iteration, whose number differs "
        "between sizes."
    )
    return f"{explanation}\n\n{text.table(head, lines)}"


def figure(rows: list[Row], path: Any) -> None:
    """A panel for each series."""
    from benchmarks import plots

    panels = {
        series.replace("_", " "): {text.name(model): points for model, points in curves(rows, series).items()}
        for series in SERIES
    }
    plots.growth(panels, path)
