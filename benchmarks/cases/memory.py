"""Peak memory of `fit` and of `predict` besides the data, each in a fresh process."""

from dataclasses import replace
from typing import Any

from benchmarks import data, text
from benchmarks.rounds import LVQ_PEERS, Entry, Row, Run, interleave

TITLE = "Peak memory"
MINUTES = 2.0
SECONDS = 20.0


def cells(quick: bool) -> list[Row]:
    """Two shapes of data; MNIST is in the case "large"."""
    if quick:
        return [{"samples": 200, "features": 8, "model": "glvq", "per_class": 2}]
    models: list[Row] = [{"model": "glvq", "per_class": 10}, {"model": "gmlvq", "per_class": 1}, {"model": "default"}]
    return [
        {"samples": samples, "features": features, **model}
        for samples, features in ((20_000, 32), (20_000, 256))
        for model in models
    ]


def run(cell: Row, run: Run) -> list[Row]:
    """Each once: memory does not vary as time does."""
    where = run.data.folder(data.blobs, cell["samples"], cell["features"], 10)
    task: dict[str, Any] = {"operation": "memory", "data": where, "model": cell["model"]}
    if cell["model"] == "default":
        peers = [
            Entry("scikit-learn", task | {"model": model}, {"peer_model": model}, fresh=True)
            for model in ("logistic_regression", "hist_gradient_boosting")
        ]
    else:
        task["per_class"] = cell["per_class"]
        chosen = LVQ_PEERS if cell["features"] <= 32 else ()
        peers = [Entry(library, task, fresh=True) for library in chosen]
    return interleave(replace(run, timeout=SECONDS), [Entry("lvq", task, fresh=True), *peers], repeat=0)


def report(rows: list[Row]) -> str:
    """A line for each library and model."""
    lines = []
    for row in rows:
        model = text.name(row["peer_model"]) if "peer_model" in row else text.model_name(row)
        shape = f"{row['samples']:,} x {row['features']}"
        if row["status"] == "ok":
            values = [f"{row[key]:.0f}" for key in ("fit_megabytes", "predict_megabytes")]
        else:
            values = [text.short(row["status"]), ""]
        lines.append([shape, model, text.name(row["library"]), *values])
    head = ["data", "model", "library", "fit, MB", "predict, MB"]
    return (
        "Peak resident memory of the process minus that before the call, after a tiny fit; one thread.\n\n"
        + text.table(head, lines)
    )
