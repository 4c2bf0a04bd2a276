"""Mistakes that are reported at once, before heavy modules are imported: files, columns of CSV files, models."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

import typer

from lvq.estimators.registry import ESTIMATORS, PAPER_NAMES, short_name
from lvq.table_headers import check_columns, read_header

CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")


def check_tables(*paths: Path) -> None:
    """Report a missing file."""
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"The file {path} does not exist.")


def check_names(path: Path, names: Iterable[str | None], encoding: str | None = None) -> None:
    """Report columns that a CSV file does not have; patterns, and other files, are checked when they are read."""
    wanted = [name for name in names if name and not set(name) & set("*?[")]
    if wanted and path.is_file() and path.name.lower().endswith(CSV):
        with path.open("rb") as file:
            binary = file.read(4) in (b"PAR1", b"ARRO", b"PK\x03\x04", b"")
        if not binary:
            check_columns(read_header(path, str(path), encoding).names, wanted, str(path))


def check_model_name(name: str) -> None:
    """Report an unknown model as wrong usage."""
    names = [*map(short_name, ESTIMATORS), *PAPER_NAMES]
    if name.lower() not in names:
        close = difflib.get_close_matches(name.lower(), names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise typer.BadParameter(f"The model must be one of {', '.join(names)}, got {name!r}.{hint}")
