"""Results, for readers or for machines; rich is loaded for readers alone."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from lvq.cli.running import note, print_json


def fit_as_dict(result: Any) -> dict[str, Any]:
    """What a fit found, for machines; metrics.json has all of it."""
    summary = result.summary
    relevance = summary["relevance"] or {"features": [], "values": []}
    return {
        "run": None if result.folder is None else str(result.folder),
        "data": {key: value for key, value in summary["data"].items() if key != "features"},
        "model": summary["model"],
        "scores": summary["scores"],
        "folds": summary["folds"],
        "relevance": dict(zip(relevance["features"], relevance["values"])),
        "notes": list(result.notes),
    }


def show_fit(result: Any, *, as_json: bool) -> None:
    """Say what a fit found."""
    if as_json:
        print_json(fit_as_dict(result))
        return
    from lvq.cli import showing

    for text in result.notes:
        note(text)
    showing.show_fit(result)


def predictions_as_dict(found: Any) -> dict[str, Any]:
    """What became of a table's rows, for machines."""
    return {
        "path": str(found.path),
        "rows": found.rows,
        "accepted": found.accepted,
        "labels": dict(found.labels),
        "reasons": dict(found.reasons),
        "notes": found.notes,
    }


def show_predictions(found: Any, *, as_json: bool) -> None:
    """Say what became of a table's rows."""
    if as_json:
        print_json(predictions_as_dict(found))
        return
    from lvq.cli import showing

    for text in found.notes:
        note(text)
    showing.show_predictions(found)


def show_comparison(found: Any, *, as_json: bool) -> None:
    """Say how models compare."""
    if as_json:
        ranking = [asdict(model) for model in found.comparison.ranking]
        scores = {name: values.tolist() for name, values in found.comparison.scores.items()}
        print_json(
            {
                "ranking": ranking,
                "scores": scores,
                "failures": found.comparison.failures,
                "largest_class": found.largest_class,
                "notes": list(found.notes),
            }
        )
        return
    from lvq.cli import showing

    for text in found.notes:
        note(text)
    showing.show_comparison(found)


def show_file(path: Path, *, as_json: bool) -> None:
    """Say what was written."""
    if as_json:
        print_json({"path": str(path)})
    else:
        typer.echo(f"Written: {path}")
