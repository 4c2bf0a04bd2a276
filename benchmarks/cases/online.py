"""One online epoch through `fit`, start and checks included, and the compiled loop alone against a matrix product."""

from typing import Any

from benchmarks import text
from benchmarks.cases import fit
from benchmarks.results import one, select
from benchmarks.rounds import Entry, Row, Run, interleave

TITLE = "One online epoch"
MINUTES = 3.0
SETS = ("iris", "wine", "wdbc", "digits", "blobs")
#: Who trains sample by sample; prototorch is asked and fails, sklearn-lvq has no such solver.
PEERS = ("sklvq", "prosemble", "prototorch", "r-class")


def cells(quick: bool) -> list[Row]:
    """Epochs on sets, and rates of the loop."""
    models: list[Row] = [
        {"model": "lvq1", "per_class": 10}, {"model": "glvq", "per_class": 1}, {"model": "glvq", "per_class": 10},
        {"model": "gmlvq", "per_class": 1},
    ]  # fmt: skip
    if quick:
        return [{"kind": "epochs", "set": "iris", "epochs": 1, **models[0]}, {"kind": "rate", "model": "glvq",
                 "features": 8, "dtype": "float64"}]  # fmt: skip
    epochs: list[Row] = [{"kind": "epochs", "set": name, "epochs": 1, **model} for name in SETS for model in models]
    five: Row = {"kind": "epochs", "set": "digits", "epochs": 5, **models[0]}
    rates: list[Row] = [
        {"kind": "rate", "model": model, "features": features, "dtype": dtype}
        for model in ("lvq1", "glvq", "gmlvq")
        for features in (64, 256)
        for dtype in ("float64", "float32")
    ]
    return [five, *rates, *epochs]


def run(cell: Row, run: Run) -> list[Row]:
    """All who can train sample by sample; the loop's rate is ours alone."""
    if cell["kind"] == "rate":
        task = {key: cell[key] for key in ("model", "features", "dtype")}
        samples = 5000 if run.quick else max(2000, 1_000_000 // (4 * cell["features"]))
        task |= {"operation": "online_rate", "prototypes": 100, "samples": samples, "rounds": 3 if run.quick else 7}
        return interleave(run, [Entry("lvq", task)], repeat=0)
    where = fit.folder(cell["set"], run)
    task = {"operation": "fit", "data": where, **{key: cell[key] for key in ("model", "per_class", "epochs")}}
    peers = ("r-class",) if cell["model"] == "lvq1" else PEERS[:-1]
    return interleave(run, [Entry("lvq", task), *(Entry(library, task) for library in peers)])


def per_epoch(row: Row) -> float:
    """CPU seconds of an epoch; prosemble cannot run fewer than two."""
    epochs = max(row["epochs"], 2) if row["library"] == "prosemble" else row["epochs"]
    return row["cpu"]["median"] / epochs


def report(rows: list[Row]) -> str:
    """Both tables."""
    epochs = [row for row in rows if row["kind"] == "epochs"]
    lines = []
    for cell in dict.fromkeys(row["cell"] for row in epochs):
        here = {row["library"]: row for row in epochs if row["cell"] == cell}
        first = next(iter(here.values()))
        found = [text.name(first["set"]), text.model_name(first), str(first["epochs"])]
        lines.append(found + [_epoch(here[library]) if library in here else "" for library in ("lvq", *PEERS)])
    rates = [
        [text.name(row["model"]), str(row["features"]), row["dtype"], text.count(row["samples_per_second"]),
         f"{row['fraction_of_product']:.2f}"]
        for row in select(rows, kind="rate")
    ]  # fmt: skip
    return "\n\n".join(
        [
            "CPU seconds per epoch in one thread: the whole call of `fit` divided by its epochs. R's start is not "
            "counted; the number in brackets includes it.",
            text.table(["set", "model", "epochs", *map(text.name, ("lvq", *PEERS))], lines),
            "The compiled loop alone with 100 prototypes. The last column divides its floating-point operations per "
            "second by those of a 1024 x 1024 matrix product:",
            text.table(["model", "features", "type", "samples per second", "fraction of the product"], rates),
        ]
    )


def _epoch(row: Row) -> str:
    if row["status"] != "ok":
        return text.short(row["status"])
    started = f" ({text.seconds(per_epoch(row) + row['start'] / row['epochs'])})" if row.get("start") else ""
    return text.seconds(per_epoch(row)) + started


def against_r(rows: list[Row]) -> float | None:
    """R's time over ours: 5 epochs of LVQ1 on digits, 10 per class; our start is counted, R's is not."""
    here: dict[str, Any] = {"kind": "epochs", "set": "digits", "model": "lvq1", "epochs": 5}
    ours, theirs = (one(rows, library=library, **here) for library in ("lvq", "r-class"))
    return theirs["cpu"]["median"] / ours["cpu"]["median"] if ours and theirs else None
