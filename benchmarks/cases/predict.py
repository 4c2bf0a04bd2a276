"""Prediction: many rows against a bare product and argmin in the same run, and one sample at a time."""

from typing import Any

from benchmarks import data, text
from benchmarks.results import one, select
from benchmarks.rounds import LVQ_PEERS, Entry, Row, Run, interleave
from benchmarks.workers.models import SCIKIT_LEARN

TITLE = "Prediction"
MINUTES = 6.0
#: Training samples (only few: what is measured is `predict`), classes and prototypes of each.
TRAINING, CLASSES, PER_CLASS = 600, 10, 10
ROWS = {64: 100_000, 784: 40_000, 8: 500}


def cells(quick: bool) -> list[Row]:
    """Batches in both precisions, and one sample."""
    sizes = (8,) if quick else (64, 784)
    types = ("float64",) if quick else ("float64", "float32")
    batches: list[Row] = [
        {"kind": "batch", "features": features, "dtype": dtype, "model": model}
        for features in sizes
        for dtype in types
        for model in ("glvq", "gmlvq")
    ]
    return [{"kind": "single", "features": sizes[0], "dtype": "float64"}, *batches]


def run(cell: Row, run: Run) -> list[Row]:
    """The limit, ours and the peers; threads by default for the limit and ours too."""
    features = cell["features"]
    where = run.data.folder(data.blobs, TRAINING, features, CLASSES, ROWS[features], cell["dtype"])
    shared: dict[str, Any] = {"data": where, "per_class": PER_CLASS, "short": True}
    if cell["kind"] == "single":
        return interleave(run, single_entries(shared | {"operation": "single"}, run))
    product = {"operation": "product", "data": where, "prototypes": CLASSES * PER_CLASS}
    task = shared | {"operation": "predict", "model": cell["model"]}
    entries = [
        entry
        for threads in (1, None)
        for entry in (Entry("lvq", task, threads=threads), Entry("numpy", product, threads=threads))
    ]
    if cell["dtype"] == "float64":
        entries += [Entry(library, task) for library in (*LVQ_PEERS, "r-class")]
        if cell["model"] == "glvq":
            entries += scikit_learn_entries(task, run)
    return interleave(run, entries)


def scikit_learn_entries(task: dict[str, Any], run: Run) -> list[Entry]:
    """scikit-learn's classifiers; the quickest alone in a quick run."""
    chosen = SCIKIT_LEARN[:1] if run.quick else SCIKIT_LEARN
    return [Entry("scikit-learn", task | {"model": model}, {"peer_model": model}) for model in chosen]


def single_entries(task: dict[str, Any], run: Run) -> list[Entry]:
    """Who predicts one sample."""
    entries = [Entry("lvq", task | {"model": model}, {"peer_model": model}) for model in ("glvq", "gmlvq", "default")]
    entries += [
        Entry(library, task | {"model": model}, {"peer_model": model})
        for library in LVQ_PEERS
        for model in ("glvq", "gmlvq")
    ]
    return entries + scikit_learn_entries(task, run)


def fraction(rows: list[Row], features: int, dtype: str, model: str, threads: int | None) -> float | None:
    """Our rate over that of the bare product and argmin, medians of interleaved rounds: CPU or wall seconds."""
    here = list(select(rows, kind="batch", features=features, dtype=dtype, model=model, threads=threads))
    ours, limit = one(here, library="lvq"), one(here, library="numpy")
    key = "cpu" if threads == 1 else "wall"
    return limit[key]["median"] / ours[key]["median"] if ours and limit else None


def report(rows: list[Row]) -> str:
    """Fractions of the limit, rates of the peers, times of one sample."""
    batches = [row for row in rows if row["kind"] == "batch"]
    settings = list(dict.fromkeys((row["features"], row["dtype"], row["model"]) for row in batches))
    lines = []
    for features, dtype, model in settings:
        found = [fraction(rows, features, dtype, model, threads) for threads in (1, None)]
        ours = one(rows, kind="batch", features=features, dtype=dtype, model=model, library="lvq", threads=1)
        rate = text.count(1 / ours["cpu"]["median"]) if ours else ""
        shown = ["" if value is None else f"{value:.2f}" for value in found]
        lines.append([text.name(model), str(features), dtype, rate, *shown])
    head = ["model", "features", "type", "rows per CPU second, one thread", "fraction of the limit", "default threads"]
    parts = [
        f"{CLASSES} classes with {PER_CLASS} prototypes each. The limit is a bare matrix product of all rows "
        "with 100 columns, a subtraction and an argmin.",
        text.table(head, lines),
        "Rows per CPU second in one thread, float64:",
        text.table(*peer_table(batches)),
        "One sample per call, one thread, CPU seconds:",
        text.table(*single_table([row for row in rows if row["kind"] == "single"])),
    ]
    return "\n\n".join(parts)


def peer_table(rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    """Every library's rate."""
    here = [row for row in rows if row["dtype"] == "float64" and row["threads"] == 1]
    columns = list(dict.fromkeys((row["features"], row["model"]) for row in here))
    kinds = list(dict.fromkeys((row["library"], row.get("peer_model")) for row in here))
    lines = []
    for library, model in kinds:
        line = [text.name(model or library)]
        for features, kind in columns:
            row = next((r for r in here if (r["library"], r.get("peer_model")) == (library, model)
                        and (r["features"], r["model"]) == (features, kind)), None)  # fmt: skip
            line.append("" if row is None else _rate(row))
        lines.append(line)
    return ["", *(f"{text.name(model)}, {features} features" for features, model in columns)], lines


def _rate(row: Row) -> str:
    return text.count(1 / row["cpu"]["median"]) if row["status"] == "ok" else text.short(row["status"])


def single_table(rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    """Every library's time of one sample."""
    lines = [[text.name(row["library"]), text.name(row["peer_model"]), text.spread(row)] for row in rows]
    return ["library", "model", "time"], lines


def figure(rows: list[Row], path: Any) -> None:
    """Fractions of the limit as bars."""
    from benchmarks import plots

    settings = list(dict.fromkeys((r["features"], r["dtype"], r["model"]) for r in rows if r["kind"] == "batch"))
    bars = {
        f"{text.name(model)}, {features}, {dtype}": {
            name: fraction(rows, features, dtype, model, threads)
            for name, threads in (("one thread", 1), ("default threads", None))
        }
        for features, dtype, model in settings
    }
    plots.bars(bars, path, "fraction of a bare product and argmin", line=0.8)
