"""Results of the commands, as text or as JSON; rich is imported for text only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from lvq.cli.console import note, print_json

if TYPE_CHECKING:
    from lvq.typing import JSONValue
    from lvq.workflow import FitResult, PredictResult, TableComparison, ValidationResult

Result = TypeVar("Result", "FitResult", "PredictResult", "TableComparison", "ValidationResult")


def fit_as_dict(result: FitResult) -> dict[str, JSONValue]:
    """The main results of a fit; metrics.json has all of them."""
    summary = result.summary
    relevance = summary["relevance"] or {"features": [], "values": []}
    return {
        "run": None if result.folder is None else str(result.folder),
        "data": {key: value for key, value in summary["data"].items() if key != "features"},
        "model": summary["model"],
        "scores": summary["scores"],
        "metrics": {name: value for name, value in summary["metrics"].items() if name != "decisions"},
        "folds": summary["folds"],
        "rivals": summary["rivals"],
        "relevance": dict(zip(relevance["features"], relevance["values"])),
        "notes": list(result.notes),
    }


def predictions_as_dict(result: PredictResult) -> dict[str, JSONValue]:
    """The result of a prediction."""
    return {**vars(result), "path": str(result.path)}


def comparison_as_dict(result: TableComparison) -> dict[str, JSONValue]:
    """The result of a comparison."""
    comparison = result.comparison
    return {
        "ranking": [asdict(row) for row in comparison.ranking],
        "scores": {name: values.tolist() for name, values in comparison.scores.items()},
        "failures": comparison.failures,
        "largest_class": result.largest_class,
        "sentence": result.sentence,
        "design": result.design,
        "missing": result.missing,
        "notes": list(result.notes),
    }


def show_fit(result: FitResult, *, as_json: bool) -> None:
    """Print the result of a fit."""
    _show("show_fit", result, fit_as_dict if as_json else None)


def show_predictions(result: PredictResult, *, as_json: bool) -> None:
    """Print the result of a prediction."""
    _show("show_predictions", result, predictions_as_dict if as_json else None)


def show_comparison(result: TableComparison, *, as_json: bool) -> None:
    """Print the result of a comparison."""
    _show("show_comparison", result, comparison_as_dict if as_json else None)


def validation_as_dict(result: ValidationResult) -> dict[str, JSONValue]:
    """The result of a validation."""
    return {"page": str(result.page), **result.summary}


def show_validation(result: ValidationResult, *, as_json: bool) -> None:
    """Print the result of a validation."""
    _show("show_validation", result, validation_as_dict if as_json else None)


def _show(name: str, result: Result, as_dict: Callable[[Result], dict[str, JSONValue]] | None) -> None:
    """Print a result as JSON, or its notes and its text by the function of `text_output` of that name."""
    if as_dict is not None:
        print_json(as_dict(result))
        return
    from lvq.cli import text_output

    for text in result.notes:
        note(text)
    getattr(text_output, name)(result)


def show_file(path: Path, *, as_json: bool) -> None:
    """Print which file was written."""
    if as_json:
        print_json({"path": str(path)})
    else:
        typer.echo(f"Written: {path}")
