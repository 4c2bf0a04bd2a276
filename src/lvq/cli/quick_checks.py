"""Mistakes that are reported at once, before heavy modules are imported: files, columns of CSV files, models."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

import typer

from lvq.estimators.registry import ESTIMATORS, PAPER_NAMES, short_name
from lvq.tables.header import check_columns, listed, no_such_file, read_header

CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")


def check_tables(*paths: Path) -> None:
    """Report a missing file."""
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(no_such_file(path))


def check_names(path: Path, names: Iterable[str | None], encoding: str | None = None) -> None:
    """Report columns that a CSV file does not have; patterns, and other files, are checked when they are read."""
    wanted = [name for name in names if name and not set(name) & set("*?[")]
    if wanted and _is_csv(path):
        check_columns(read_header(path, str(path), encoding).names, wanted, str(path))


def need_target(target: str | None, path: Path, encoding: str | None = None) -> str:
    """The target; where none is given, report the columns of the table."""
    if target is not None:
        return target
    if _is_csv(path):
        names = read_header(path, str(path), encoding).names
    else:
        from lvq.tables import open_table  # slower: it imports pandas and pyarrow

        names = open_table(path, encoding).names
    names = [name for name in names if name]
    last = f", the last of them {names[-1]!r}" if repr(names[-1]) not in listed(names) else ""
    raise typer.BadParameter(
        f"which column holds the classes? {path} has the columns {listed(names)}{last}.", param_hint="'--target'"
    )


def check_model_name(name: str) -> None:
    """Report an unknown model as wrong usage."""
    names = [*map(short_name, ESTIMATORS), *PAPER_NAMES]
    if name.lower() not in names:
        close = difflib.get_close_matches(name.lower(), names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise typer.BadParameter(f"The model must be one of {', '.join(names)}, got {name!r}.{hint}")


def _is_csv(path: Path) -> bool:
    """Whether a file is CSV by its name, and not another format by its first bytes."""
    if not path.is_file() or not path.name.lower().endswith(CSV):
        return False
    with path.open("rb") as file:
        return file.read(4) not in (b"PAR1", b"ARRO", b"PK\x03\x04", b"")
