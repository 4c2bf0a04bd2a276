"""Wide data, as spectra and expression data are: few samples of thousands of features; one thread."""

from dataclasses import replace
from typing import Any

from benchmarks import data, text
from benchmarks.rounds import LVQ_PEERS, Entry, Row, Run, interleave

TITLE = "Wide data"
MINUTES = 2.0
SECONDS = 30.0
SCIKIT_LEARN = ("logistic_regression", "svc", "nearest_centroid", "lda")


def cells(quick: bool) -> list[Row]:
    """Two shapes, three models."""
    shapes = ((20, 60),) if quick else ((100, 5000), (300, 20_000))
    models: list[Row] = [{"model": "glvq", "per_class": 1}, {"model": "gmlvq", "per_class": 1}, {"model": "default"}]
    return [
        {"samples": samples, "features": features, **model}
        for samples, features in shapes
        for model in (models[:1] if quick else models)
    ]


def run(cell: Row, run: Run) -> list[Row]:
    """Time, memory and accuracy in one fresh process each."""
    where = run.data.folder(data.wide, cell["samples"], cell["features"])
    task: dict[str, Any] = {"operation": "memory", "data": where, "model": cell["model"]}
    if cell["model"] == "default":
        peers = [
            Entry("scikit-learn", task | {"model": model}, {"peer_model": model}, fresh=True) for model in SCIKIT_LEARN
        ]
    else:
        task["per_class"] = cell["per_class"]
        chosen = LVQ_PEERS if cell["model"] == "glvq" else ()  # n x n matrices are beyond them
        peers = [Entry(library, task, fresh=True) for library in chosen]
    limited = replace(run, timeout=SECONDS, own_timeout=2 * SECONDS)
    return interleave(limited, [Entry("lvq", task, fresh=True), *peers], repeat=0)


def report(rows: list[Row]) -> str:
    """A line for each library and model."""
    lines = []
    for row in rows:
        model = text.name(row["peer_model"]) if "peer_model" in row else text.model_name(row)
        line = [f"{row['samples']:,} x {row['features']:,}", model, text.name(row["library"]), text.spread(row)]
        if row["status"] == "ok":
            line += [f"{row['fit_megabytes']:.0f}", text.percent(row["test_accuracy"])]
        lines.append(line + [""] * (6 - len(line)))
    head = ["data", "model", "library", "fit, CPU seconds", "MB besides the data", "test accuracy, %"]
    drawn = "Simulated data: ten smooth factors, two of which differ between two classes, and noise."
    return f"{drawn}\n\n{text.table(head, lines)}"
