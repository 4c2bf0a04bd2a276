"""Tables read whole or in parts: data frames, and files whose format is known from their name.

Rules:
- a CSV file has commas, semicolons, tabs or bars as delimiter; its first line names the columns, and every row has as
  many values as that line: any other row is an error with its number, never filled up;
- the encoding of a CSV file is named, or found from the first bytes: UTF-16 by its mark, UTF-8, Latin-1;
- from an Excel file, the first sheet that has values is read, with the values that Excel has stored, also for formulas.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lvq.tables.header import (
    AS_FOUND,
    FIRST_ROW,
    MAX_HEADER_BYTES,
    Header,
    Reading,
    TableError,
    header_of,
    listed,
    no_such_file,
    not_in,
)
from lvq.tables.values import NOTHING_KNOWN, Meaning, from_arrow, to_frame
from lvq.typing import Argument, Label
from lvq.versions import need

FORMATS = {
    "CSV": (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz"),
    "Parquet": (".parquet", ".pq"),
    "Excel": (".xlsx", ".xlsm"),
}
PART_ROWS, PART_CELLS = 20_000, 2_000_000  # in a part of a file, at most
READ_BYTES = 1 << 16  # bytes of a Parquet column that are read at once
READ_ERRORS = (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error, zlib.error)


@dataclass(frozen=True)
class Table:
    """A table whose rows are read when they are asked for, once: a file stays open from its header to its last row.

    Attributes
    ----------
    path : Path
        The file, or what a data frame is called in messages.
    names : list of str
        Names of the columns that have one, in their order.
    read : callable
        Gives the rows of some columns, part by part, as they are stored.
    row_number : callable
        The name of a row in messages, from its position; as in a spreadsheet, the first line of a file is row 1.
    notes : tuple of str
        Notes about the file: a guessed encoding, sheets that are not read, and columns without a name.
    untyped : bool
        Whether columns of strings hold numbers where all of their values are.
    decimal : {".", "?"}
        The decimal mark of numbers in strings, see `Meaning`.
    """

    path: Path
    names: list[str]
    read: Callable[[list[str]], Iterable[pd.DataFrame]]
    row_number: Callable[[int], Label] = FIRST_ROW.__add__
    notes: tuple[str, ...] = ()
    untyped: bool = False
    decimal: Literal[".", "?"] = "."

    def parts(
        self, columns: Sequence[str], meaning: Meaning = NOTHING_KNOWN, copied: Collection[str] = ()
    ) -> Iterator[pd.DataFrame]:
        """Read some columns part by part, as the table may be larger than memory.

        A part does not show the kind of a column of a CSV file: strings become numbers in each part where all of them
        are numbers, except in the columns that are `copied`.
        """
        for part in self._stored(columns):
            yield to_frame(part, meaning._replace(decimal=self.decimal), set(columns) - set(copied))

    def frame(self, meaning: Meaning = NOTHING_KNOWN) -> pd.DataFrame:
        """Read the whole table.

        Columns of numbers are float64 with NaN for missing values, columns of strings and booleans are objects with
        None. A column of a CSV file holds numbers if all its values are numbers or missing.
        """
        numbers = self.names if self.untyped else {*meaning.marks, *meaning.limits} - set(meaning.codes)
        return to_frame(pd.concat(self._stored(self.names)), meaning._replace(decimal=self.decimal), numbers)

    def _stored(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        rows = 0
        try:
            for part in self.read(list(columns)):
                rows += len(part)
                yield part
        except READ_ERRORS as error:
            raise TableError(_unreadable(self.path, error)) from error
        if not rows:
            raise TableError(f"{self.path} has columns but no rows.")


def open_table(table: str | Path | pd.DataFrame, how: Reading = AS_FOUND) -> Table:
    """A table: names of its columns at once, its rows when they are asked for.

    Parameters
    ----------
    table : DataFrame or path
        A data frame, whose rows are named by its index, or a CSV (also gzipped), Parquet or Excel file.
    how : Reading, optional
        How a file is read.

    Returns
    -------
    table : Table

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "small.csv")
    >>> _ = path.write_text("size; colour\\n1.5; red\\n?; blue\\n")
    >>> table = open_table(path)
    >>> table.names
    ['size', 'colour']
    >>> table.frame()
       size colour
    0   1.5    red
    1   NaN   blue
    """
    found = _of_frame(table) if isinstance(table, pd.DataFrame) else _of_path(Path(table), how)
    twice = sorted(name for name, count in Counter(found.names).items() if name and count > 1)
    if twice:
        raise TableError(f"{found.path} has more than one column named {', '.join(map(repr, twice))}; rename them.")
    if not any(found.names):
        raise TableError(f"{found.path} has no column with a name; the first line must name the columns.")
    unnamed = [str(place) for place, name in enumerate(found.names, start=1) if not name]
    note = f"Left out column {', '.join(unnamed)}: it has no name (a row index?)."
    notes = (*found.notes, note) if unnamed else found.notes
    return replace(found, names=[name for name in found.names if name], notes=notes)


def _of_path(path: Path, how: Reading) -> Table:
    if path.is_dir():
        raise TableError(f"{path} is a folder; name a file in it.")
    if not path.exists():
        raise TableError(no_such_file(path))
    kind = _format(path)
    if kind is None:
        endings = ", ".join(suffix for suffixes in FORMATS.values() for suffix in suffixes)
        raise TableError(
            f"{path} has an unknown format; save it as CSV or Excel: the name must end in one of {endings}."
        )
    if not path.stat().st_size:
        raise TableError(f"{path} is empty; the first line must name the columns.")
    try:
        return {"CSV": _of_csv, "Parquet": _of_parquet, "Excel": _of_excel}[kind](path, how)
    except READ_ERRORS as error:
        raise TableError(_unreadable(path, error)) from error


def _format(path: Path) -> str | None:
    return next((kind for kind, ends in FORMATS.items() if path.name.lower().endswith(ends)), None)


def _unreadable(path: Path, error: Exception) -> str:
    """The message about a file that is damaged, in another format, or must not be read."""
    if isinstance(error, PermissionError):
        return f"{path} cannot be read: permission denied; change its permissions."
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return f"{path} cannot be read as {_format(path)} ({reason}); it may be damaged, or not what its name says."


# -- CSV: all values are strings, as a part does not show the kind of a column -----------------------------------------


def _of_csv(path: Path, how: Reading) -> Table:
    blank = list[int]()  # positions of the rows that follow blank lines, which count as rows of a spreadsheet
    pieces = _csv_pieces(path, how, blank)
    header: Header = next(pieces)
    note = f"{path.name} is not in UTF-8 and was read as Latin-1; --encoding names another one."
    notes = (note,) if how.encoding is None and header.encoding in ("cp1252", "iso8859-1") else ()

    def row_number(position: int) -> int:
        return position + 1 + header.before + header.named + bisect_right(blank, position)

    def parts(columns: list[str]) -> Iterator[pd.DataFrame]:
        places = [header.names.index(name) for name in columns]
        for rows in pieces:
            cells = {name: [row[place] for row in rows] for name, place in zip(columns, places)}
            yield pd.DataFrame(cells, dtype=pd.ArrowDtype(pa.string()))

    decimal: Literal[".", "?"] = "." if header.delimiter == "," else "?"
    return Table(path, header.names, parts, row_number, notes, untyped=True, decimal=decimal)


def _csv_pieces(path: Path, how: Reading, blank: list[int]) -> Iterator[Argument]:
    """The header, and then the rows in parts."""
    with path.open("rb") as file:
        raw = gzip.GzipFile(fileobj=file) if file.peek(2).startswith(b"\x1f\x8b") else file
        header = header_of(path, raw.read(MAX_HEADER_BYTES), how)
        yield header
        raw.seek(0)
        encoding = "utf-8-sig" if header.encoding == "utf-8" else header.encoding  # without the mark at its start
        try:
            text = io.TextIOWrapper(raw, encoding=encoding, newline="")
            records = csv.reader(text, delimiter=header.delimiter, skipinitialspace=True)
            rows = _csv_rows(path, header, blank, records)
            while part := list(islice(rows, _part_rows(len(header.names)))):
                yield part
        except UnicodeError as error:
            raise TableError(not_in(path, header.encoding)) from error


def _csv_rows(path: Path, header: Header, blank: list[int], records: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows below the names; the positions of blank lines are noted."""
    position = 0
    for row, cells in enumerate(records, start=1):
        if row <= header.before + header.named:
            continue
        if not cells:
            blank.append(position)
            continue
        if len(cells) != len(header.names):
            values = "1 value" if len(cells) == 1 else f"{len(cells)} values"
            delimiter = "a tab" if header.delimiter == "\t" else repr(header.delimiter)
            raise TableError(
                f"{path} has {values} in row {row}, but {len(header.names)} columns in its first line; correct that "
                f"row, or quote a value that contains {delimiter}."
            )
        position += 1
        yield cells


def _part_rows(n_columns: int) -> int:
    return max(1, min(PART_ROWS, PART_CELLS // max(1, n_columns)))


# -- Parquet -----------------------------------------------------------------------------------------------------------


def _of_parquet(path: Path, _: Reading) -> Table:
    # page by page: a group of rows, which may be the whole table, would be read at once otherwise
    file = pq.ParquetFile(path, buffer_size=READ_BYTES, pre_buffer=False)

    def parts(columns: list[str]) -> Iterator[pd.DataFrame]:
        with file:
            for batch in file.iter_batches(_part_rows(len(columns)), columns=columns):
                batch.validate(full=True)  # Arrow does not check the bytes of a damaged file and could read beyond them
                yield from_arrow(batch)

    return Table(path, list(file.schema_arrow.names), parts)


# -- Excel and data frames, in memory ----------------------------------------------------------------------------------


def _of_frame(frame: pd.DataFrame) -> Table:
    named = frame.set_axis(list(map(str, frame.columns)), axis=1)
    return Table(Path("the data frame"), list(named), lambda names: [named[names]], frame.index.tolist().__getitem__)


def _of_excel(path: Path, how: Reading) -> Table:
    need("openpyxl", "excel", f"{path}, an Excel file,")
    try:
        with pd.ExcelFile(path, engine="openpyxl") as book:
            if how.sheet is not None and how.sheet not in book.sheet_names:
                raise TableError(f"{path} has no sheet {how.sheet!r}; its sheets are {listed(book.sheet_names)}.")
            names = book.sheet_names if how.sheet is None else [how.sheet]
            sheets = pd.read_excel(book, sheet_name=names, header=None, dtype=object, keep_default_na=False)
    except (TableError, OSError, MemoryError):
        raise
    except Exception as error:  # from zip, from XML and from openpyxl itself
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TableError(f"{path} cannot be read as an Excel file ({reason}); save it again, or as CSV.") from error
    filled = {name: cells for name, sheet in sheets.items() if len(cells := _with_values(sheet, how))}
    if not filled:
        raise TableError(f"{path} is empty; the first row must name the columns.")
    (first, cells), *others = filled.items()
    unread = ", ".join(repr(str(name)) for name, _ in others)
    notes = (f"{path.name}: the sheet {first!r} was read, not {unread}; --sheet names another one.",) if others else ()
    names = how.named(cells.iloc[0].tolist())
    rows = cells if how.header_row == 0 else cells.iloc[1:]
    rows = rows.set_axis(names, axis=1)
    before = int(cells.index[0]) + 1 + (how.header_row != 0)
    return Table(path, names, lambda names: [rows[names]], before.__add__, notes, untyped=True)


def _with_values(sheet: pd.DataFrame, how: Reading) -> pd.DataFrame:
    """The cells between the first and the last row with a value, up to the last such column."""
    sheet = sheet.iloc[max(0, (how.header_row or 1) - 1) :]
    sheet = sheet.map(lambda cell: None if isinstance(cell, str) and not cell.strip() else cell)
    rows, columns = np.nonzero(sheet.notna().to_numpy())
    return sheet.iloc[rows.min() : rows.max() + 1, : columns.max() + 1] if len(rows) else sheet.iloc[:0]
