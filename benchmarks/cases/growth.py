"""How the time of a fit grows with samples, features, classes, prototypes and stored numbers of sparse rows.

One thread, CPU seconds; each size over two orders of magnitude. Models do the same number of iterations or epochs
at every size.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from benchmarks import data, text
from benchmarks.results import select
from benchmarks.rounds import Entry, Row, Run, interleave
from benchmarks.workers.measures import exponent

TITLE = "Growth"
MINUTES = 5.0
SECONDS = 150.0
#: Sizes of each series; the other sizes are those of BASE.
SERIES: dict[str, tuple[int, ...]] = {
    "samples": (2000, 10_000, 50_000, 200_000),
    "features": (10, 50, 250, 1000),
    "classes": (4, 20, 100, 400),
    "per_class": (4, 20, 100, 400),
    "stored": (20, 100, 500, 2000),
}
BASE = {"samples": 4000, "features": 32, "classes": 4, "per_class": 2}
SPARSE = {"samples": 2000, "features": 20_000, "classes": 4, "per_class": 2, "epochs": 5}  # for "stored", of each row
#: How the models are trained.
MODELS: dict[str, Row] = {
    "glvq": {"model": "glvq", "max_iter": 10},
    "gmlvq": {"model": "gmlvq", "max_iter": 10},
    "online": {"model": "glvq", "epochs": 5},
}
#: Exponents by the number of operations of an iteration; Omega is square, and its products take features^2.
EXPECTED = dict.fromkeys(SERIES, 1)
EXPECTED_MATRIX = EXPECTED | {"features": 2}


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
            {"series": series, **how, **BASE, series: size}
            for series, sizes in SERIES.items()
            if series != "stored"
            for how in MODELS.values()
            for size in sizes
        ),
        *({"series": "stored", "model": "glvq", **SPARSE, "stored": size} for size in SERIES["stored"]),
    ]


def run(cell: Row, run: Run) -> list[Row]:
    """Ours alone."""
    sizes = cell["samples"], cell["features"], cell["classes"]
    where = run.data.folder(data.sparse_blobs if "stored" in cell else data.blobs, *sizes, *_stored(cell))
    task: dict[str, Any] = {"operation": "fit", "data": where, "model": cell["model"], "per_class": cell["per_class"]}
    task |= {name: cell[name] for name in ("epochs", "max_iter") if name in cell}
    return interleave(replace(run, own_timeout=SECONDS), [Entry("lvq", task)])


def _stored(cell: Row) -> tuple[int, ...]:
    """Stored numbers of each row, for sparse rows."""
    return (cell["stored"],) if "stored" in cell else ()


class Curve(NamedTuple):
    """Sizes with their seconds, and the exponent by the number of operations."""

    points: list[tuple[float, float]]
    expected: int

    def exponents(self) -> tuple[float, float]:
        """Fitted to all sizes, and between the two largest."""
        every, last = (exponent(*zip(*part)) for part in (self.points, self.points[-2:]))
        return every, last


def curves(rows: list[Row], series: str) -> dict[str, Curve]:
    """Name of a model -> its times."""
    found: dict[str, Curve] = {}
    for row in select(rows, series=series):
        name = text.name(row["model"]) + (", online" if "epochs" in row else "")
        power = (EXPECTED if row["model"] == "glvq" else EXPECTED_MATRIX)[series]
        found.setdefault(name, Curve([], power)).points.append((row[series], row["cpu"]["median"]))
    return {name: curve for name, curve in found.items() if len(curve.points) > 1}


def report(rows: list[Row]) -> str:
    """Times and fitted exponents."""
    lines = []
    for series in SERIES:
        for name, curve in curves(rows, series).items():
            times = ", ".join(f"{size:,}: {text.seconds(second)}" for size, second in curve.points)
            every, last = curve.exponents()
            lines.append([series.replace("_", " "), name, times, f"{every:.2f}", f"{last:.2f}", str(curve.expected)])
    base = ", ".join(f"{value:,} {key.replace('_', ' ')}" for key, value in BASE.items())
    sparse = ", ".join(f"{value:,} {key.replace('_', ' ')}" for key, value in SPARSE.items())
    head = ["grows", "model", "CPU seconds", "exponent", "of the two largest", "by operations"]
    explanation = (
        f'Unless the table says otherwise: {base}. "Stored" counts the numbers in a sparse row: {sparse}, online. '
        f"GLVQ and GMLVQ run {MODELS['glvq']['max_iter']} iterations, from 15,000 samples on after epochs of Adam; the "
        f"online solver runs {MODELS['online']['epochs']} epochs. The exponent p of size^p is fitted to all sizes and "
        "to the two largest; the last column is the exponent of the number of operations."
    )
    return f"{explanation}\n\n{text.table(head, lines)}"


def figure(rows: list[Row], path: Any) -> None:
    """A panel for each series."""
    from benchmarks import plots

    named = {"per_class": "prototypes per class", "stored": "stored numbers of a sample"}
    plots.growth({named.get(series, series): curves(rows, series) for series in SERIES}, path)
