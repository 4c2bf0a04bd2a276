"""Results of the commands, as text or as JSON; rich is imported for text only."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from lvq.cli.console import note, print_json


def fit_as_dict(result: Any) -> dict[str, Any]:
    """The main results of a fit; metrics.json has all of them."""
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


def predictions_as_dict(result: Any) -> dict[str, Any]:
    """The result of a prediction."""
    return {**vars(result), "path": str(result.path)}


def comparison_as_dict(result: Any) -> dict[str, Any]:
    """The result of a comparison."""
    comparison = result.comparison
    return {
        "standings": [asdict(standing) for standing in comparison.standings],
        "scores": {name: values.tolist() for name, values in comparison.scores.items()},
        "failures": comparison.failures,
        "largest_class": result.largest_class,
        "notes": list(result.notes),
    }


def show_fit(result: Any, *, as_json: bool) -> None:
    """Print the result of a fit."""
    if as_json:
        print_json(fit_as_dict(result))
        return
    from lvq.cli import text_output

    _show_notes(result)
    text_output.show_fit(result)


def show_predictions(result: Any, *, as_json: bool) -> None:
    """Print the result of a prediction."""
    if as_json:
        print_json(predictions_as_dict(result))
        return
    from lvq.cli import text_output

    _show_notes(result)
    text_output.show_predictions(result)


def show_comparison(result: Any, *, as_json: bool) -> None:
    """Print the result of a comparison."""
    if as_json:
        print_json(comparison_as_dict(result))
        return
    from lvq.cli import text_output

    _show_notes(result)
    text_output.show_comparison(result)


def show_file(path: Path, *, as_json: bool) -> None:
    """Print which file was written."""
    if as_json:
        print_json({"path": str(path)})
    else:
        typer.echo(f"Written: {path}")


def _show_notes(result: Any) -> None:
    for text in result.notes:
        note(text)
