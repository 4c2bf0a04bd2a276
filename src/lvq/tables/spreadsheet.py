"""Excel files (.xlsx), read by openpyxl: the first sheet with values; its first row names the columns.

Values are those that Excel has stored, also of formulas. Numbers stay numbers, dates are dates, and a column with texts
among them is a column of texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from lvq.table_headers import TableError

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

Cell = str | float | bool | datetime | date | time | None
ERRORS = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"}  # of formulas: missing


@contextmanager
def _opened(path: Path) -> Iterator[Workbook]:
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f'{path} is an Excel file, which needs openpyxl: pip install "lvq[excel]"; or save it as CSV.',
            name="openpyxl",
        ) from error
    try:
        with closing(load_workbook(path, read_only=True, data_only=True)) as book:
            yield book
    except (OSError, MemoryError):
        raise
    except Exception as error:  # of zip, of XML and of openpyxl itself, also while rows are read
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TableError(f"{path} cannot be read as an Excel file ({reason}); save it again, or as CSV.") from error


def _rows(book: Workbook, name: str) -> list[list[Cell]]:
    """The rows of a sheet up to the last one with a value."""
    rows = [[_known(value) for value in row] for row in book[name].iter_rows(values_only=True)]
    while rows and not any(value is not None for value in rows[-1]):
        rows.pop()
    return rows


def _known(value: Cell) -> Cell:
    return None if isinstance(value, str) and (not value.strip() or value.strip() in ERRORS) else value


def read_sheet(path: Path) -> tuple[pa.Table, tuple[str, ...]]:
    """The first sheet with values, as an Arrow table, and a note where other sheets have values too."""
    with _opened(path) as book:
        filled = {name: rows for name in book.sheetnames if (rows := _rows(book, name))}
    (first, rows), *others = [*filled.items()] or [("", [])]
    named = ", ".join(repr(name) for name, _ in others)
    notes = (f"{path.name}: the sheet {first!r} was read, not {named}.",) if others else ()
    while rows and not any(value is not None for value in rows[0]):
        rows.pop(0)
    if not rows:
        raise TableError(f"{path} is empty; the first row must name the columns.")
    width = max((place + 1 for row in rows for place, value in enumerate(row) if value is not None), default=0)
    header, *body = [(row + [None] * width)[:width] for row in rows]
    names = ["" if name is None else str(name).strip() for name in header]
    columns = [_column([row[place] for row in body]) for place in range(width)]
    return pa.Table.from_arrays(columns, names=names), notes


def _column(values: Sequence[Cell]) -> pa.Array:
    known = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())  # type: ignore[arg-type]
    if all(isinstance(value, bool) for value in known):
        return pa.array(values, pa.bool_())
    if all(isinstance(value, date) for value in known):
        return pa.array([None if value is None else datetime(*value.timetuple()[:6]) for value in values])  # type: ignore[union-attr]
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(value: Cell) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
