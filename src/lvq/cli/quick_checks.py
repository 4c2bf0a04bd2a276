"""Mistakes that are reported at once, before heavy modules are imported: files, columns of CSV files, models."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import typer

from lvq.estimators.registry import ESTIMATORS, PAPER_NAMES, short_name
from lvq.tables.header import Header, check_columns, is_number, listed, no_such_file, opened, read_header

CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
COUNTED_ROWS = 1000  # of a CSV file, in which the different values of columns are counted
MAX_CLASSES = 20  # different values of a column that may be the target
MAX_SUGGESTED = 3


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
    """The target; where none is given, report the columns of the table and those that may be meant."""
    if target is not None:
        return target
    if _is_csv(path):
        header = read_header(path, str(path), encoding)
        names, likely = header.names, _few_values(path, header)
    else:
        from lvq.tables import open_table  # slower: it imports pandas and pyarrow

        names, likely = open_table(path, encoding).names, {}
    names = [name for name in names if name]
    last = f", the last of them {names[-1]!r}" if repr(names[-1]) not in listed(names) else ""
    meant = ", ".join(f"--target {name!r} ({count} different values)" for name, count in likely.items())
    hint = f" Perhaps {meant}." if meant else ""
    raise typer.BadParameter(
        f"which column holds the classes? {path} has the columns {listed(names)}{last}.{hint}", param_hint="'--target'"
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


def _few_values(path: Path, header: Header) -> dict[str, int]:
    """Columns that may be the target, and their numbers of different values among the first rows of a file.

    These are 2 to 20 and at most half of the rows. The last column comes first, then columns of texts.
    """
    with opened(path) as raw:
        text = io.TextIOWrapper(raw, encoding=header.encoding, errors="replace", newline="")
        rows = [row for row in islice(csv.reader(text, delimiter=header.delimiter), COUNTED_ROWS) if any(row)][1:]
    found = []
    for place, name in enumerate(header.names):
        values = {row[place].strip() for row in rows if len(row) > place} - {""}
        if name and 2 <= len(values) <= min(MAX_CLASSES, len(rows) / 2):
            found.append((place < len(header.names) - 1, all(map(is_number, values)), len(values), place))
    return {header.names[place]: count for _, _, count, place in sorted(found)[:MAX_SUGGESTED]}
