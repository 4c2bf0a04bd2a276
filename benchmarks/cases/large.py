"""Large sets as a user meets them: default threads, wall seconds, peak memory, test accuracy; a fresh process each."""

from dataclasses import replace
from typing import Any

from benchmarks import data, text
from benchmarks.rounds import Entry, Row, Run, interleave

TITLE = "Large sets with default threads"
MINUTES = 6.0
SECONDS = 30.0
PEERS = ("logistic_regression", "hist_gradient_boosting")


def cells(quick: bool) -> list[Row]:
    """MNIST with three models, letter and USPS with the default."""
    if quick:
        return [{"set": "iris", "model": "glvq", "per_class": 1}]
    default: Row = {"model": "default"}
    mnist: list[Row] = [{"model": "glvq", "per_class": 10}, {"model": "gmlvq", "per_class": 1}, default]
    return [{"set": "mnist", **model} for model in mnist] + [{"set": name, **default} for name in ("letter", "usps")]


def run(cell: Row, run: Run) -> list[Row]:
    """Repeated only where it is short; scikit-learn's classifiers next to the default."""
    task: dict[str, Any] = {"operation": "memory", "data": run.data.folder(data.real, cell["set"])}
    task |= {key: value for key, value in cell.items() if key != "set"}
    entries = [Entry("lvq", task, threads=None, fresh=True)]
    if cell["model"] == "default":
        entries += [
            Entry("scikit-learn", task | {"model": model}, {"peer_model": model}, threads=None, fresh=True)
            for model in (PEERS[:1] if run.quick else PEERS)
        ]
    limited = replace(run, timeout=min(run.timeout, SECONDS))
    return interleave(limited, entries, repeat=0)


def report(rows: list[Row]) -> str:
    """A line for each model."""
    lines = []
    for row in rows:
        model = text.name(row["peer_model"]) if "peer_model" in row else text.model_name(row)
        found = [text.name(row["set"]), model, text.spread(row, "wall")]
        if row["status"] == "ok":
            found += [f"{row[key]:.0f}" for key in ("fit_megabytes", "predict_megabytes")]
            found.append(text.percent(row["test_accuracy"]))
        lines.append(found + [""] * (6 - len(found)))
    head = ["set", "model", "fit, wall", "fit, MB besides the data", "predict, MB", "test accuracy, %"]
    return text.table(head, lines)
