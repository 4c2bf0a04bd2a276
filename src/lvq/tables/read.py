"""Tables on disk: which format a file has, known from its name, and its rows, whole or in parts.

Rules:
- a CSV file has commas, semicolons, tabs or bars as delimiter; its first line names the columns, and every row has as
  many values as that line: any other row is an error with its number, never filled up;
- the encoding of a CSV file is named, or found from the first bytes: UTF-16 by its mark or its zeros, UTF-8, Latin-1;
- of an Excel file the first sheet with values is read; its values are those that Excel has stored, also of formulas;
- a file must stay as it is while it is read.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from lvq.tables.header import FIRST_ROW, Header, TableError, is_gzipped, no_such_file, not_in, opened, read_header
from lvq.tables.values import Marks, cleaned, parsed, to_frame, with_commas, without_marks

FORMATS = {
    "CSV": (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz"),
    "Parquet": (".parquet", ".pq"),
    "Arrow": (".arrow", ".feather", ".ipc"),
    "Excel": (".xlsx", ".xlsm"),
}
PART_ROWS, PART_CELLS = 20_000, 2_000_000  # in a part of a Parquet or Arrow file, at most
READ_BYTES = 1 << 16  # bytes of a Parquet column that are read at once
READ_ERRORS = (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error, zlib.error)
_SIGNATURES = {b"PAR1": "a Parquet file", b"ARROW1": "an Arrow file", b"PK\x03\x04": "a spreadsheet or a zip archive"}
_BAD_ROW = re.compile(r"CSV parse error: (?:Row #(?P<row>\d+): )?Expected (?P<expected>\d+) columns, got (?P<got>\d+)")

Batch: TypeAlias = pa.Table | pa.RecordBatch


class FileState(NamedTuple):
    """By what a change of a file is noticed."""

    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> FileState | None:
        """The present state; None where there is no file."""
        try:
            found = path.stat()
        except FileNotFoundError:
            return None
        return cls(found.st_size, found.st_mtime_ns)

    def check(self, path: Path, rows: int) -> None:
        """Raise a TableError where the file is another one now, after so many of its rows were read."""
        now, when = FileState.of(path), f"after row {rows} was read" if rows else "before its first row was read"
        if now is None:
            raise TableError(f"{path} disappeared {when}; put it back and start again.")
        if now != self:
            sizes = f"it had {self.size:,} bytes and has {now.size:,}" if now.size != self.size else "it was written to"
            raise TableError(
                f"{path} changed {when} ({sizes}); put the version from before back, or start again with a file that "
                "stays as it is."
            )


def open_table(path: str | Path, encoding: str | None = None) -> Table:
    """A table on disk: names of its columns at once, its rows when they are asked for.

    Parameters
    ----------
    path : path
        A CSV (also gzipped), Parquet, Arrow or Excel file.
    encoding : str, optional
        That of a CSV file, such as "latin-1"; by default it is found from its bytes.

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
    path = Path(path)
    if path.is_dir():
        raise TableError(f"{path} is a folder; name a file in it.")
    state = FileState.of(path)
    if state is None:
        raise TableError(no_such_file(path))
    name = path.name.lower()
    kind = next((kind for kind, suffixes in FORMATS.items() if name.endswith(suffixes)), None)
    if kind is None:
        endings = ", ".join(suffix for suffixes in FORMATS.values() for suffix in suffixes)
        raise TableError(f"{path} has an unknown format; the name must end in one of {endings}.")
    try:
        _check_signature(path, kind)
        table = DelimitedTable(path, state, encoding) if kind == "CSV" else _TABLES[kind](path, state)
    except READ_ERRORS as error:
        raise TableError(_unreadable(path, kind, error)) from error
    _check_names(path, table.names)
    return table


def _check_signature(path: Path, kind: str) -> None:
    with path.open("rb") as stream:
        start = stream.read(8)
    found = next((what for signature, what in _SIGNATURES.items() if start.startswith(signature)), None)
    if found is not None and kind not in found and not (kind == "Excel" and "spreadsheet" in found):
        raise TableError(f"{path} is {found}, unlike its name; rename it, or save it as CSV.")
    if not start:
        remedy = "the first line must name the columns." if kind == "CSV" else "copy it again."
        raise TableError(f"{path} is empty; {remedy}")


def _unreadable(path: Path, kind: str, error: Exception) -> str:
    """The message of a file that is damaged, of another format, or not allowed to be read."""
    if isinstance(error, PermissionError):
        return f"{path} cannot be read without permission; change its permissions."
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return f"{path} cannot be read as {kind} ({reason}); it may be damaged, or have another format than its name."


def _check_names(path: Path, names: Sequence[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if twice:
        raise TableError(f"{path} has more than one column named {', '.join(map(repr, twice))}; rename them.")
    if not any(names):
        raise TableError(f"{path} has no column with a name; the first line must name the columns.")


class Table:
    """A table on disk.

    Attributes
    ----------
    path : Path
        The file.
    names : list of str
        Names of the columns, in the order of the file; "" for a column without a name.
    notes : tuple of str
        What was found out about the file: a guessed encoding, and sheets that are not read.
    commas : bool
        Whether a comma in a number is a decimal comma.
    """

    kind: str
    untyped = False  # columns of strings may hold numbers
    commas = False
    notes: tuple[str, ...] = ()
    names: list[str]

    def __init__(self, path: Path, state: FileState) -> None:
        self.path, self.state = path, state

    def _batches(self, columns: list[str]) -> Iterator[Batch]:
        raise NotImplementedError

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """The rows of some columns, or of all that have a name, as Arrow tables or batches.

        The file is looked at before and after each part: the end of a CSV file that was cut looks like an end, and
        memory that maps a file must not be read beyond it.
        """
        parts = self._batches([name for name in self.names if name] if columns is None else list(columns))
        rows = 0
        while True:
            self.state.check(self.path, rows)
            try:
                batch = next(parts, None)
            except READ_ERRORS as error:
                self.state.check(self.path, rows)  # which tells more than an error of the format
                raise TableError(_unreadable(self.path, self.kind, error)) from error
            self.state.check(self.path, rows)
            if batch is None:
                break
            rows += batch.num_rows
            yield batch
        if not rows:
            raise TableError(f"{self.path} has columns but no rows.")

    def parts(
        self,
        columns: Sequence[str] | None = None,
        numbers: Collection[str] = (),
        exact: Collection[str] = (),
        marks: Marks | None = None,
    ) -> Iterator[pd.DataFrame]:
        """Read the table part by part, as it may be larger than memory.

        The kind of a column of a CSV file is not known from a part, so its values are strings; `as_numbers` and
        `as_text` convert them.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns to read; by default all that have a name.
        numbers : collection of str, default=()
            Columns that become numbers in each part where all their strings are numbers.
        exact : collection of str, default=()
            Columns whose integers stay integers, such as identifiers.
        marks : mapping from str to sequence of str, optional
            Strings and numbers that mean a missing value, for some columns.

        Yields
        ------
        part : DataFrame
            Some rows.
        """
        for batch in self.batches(columns):
            part = to_frame(batch, numbers, exact, self.commas)
            without_marks(part, marks or {}, codes={name for name in part if name not in numbers}, commas=self.commas)
            yield part

    def frame(self, codes: Collection[str] = (), marks: Marks | None = None) -> pd.DataFrame:
        """Read the whole table; columns without a name are left out.

        Parameters
        ----------
        codes : collection of str, default=()
            Columns of codes. In a CSV file, codes with leading zeros or more than 15 digits stay strings.
        marks : mapping from str to sequence of str, optional
            Strings and numbers that mean a missing value, for some columns.

        Returns
        -------
        frame : DataFrame
            Columns of numbers are float64 with NaN for missing values, columns of strings and booleans are objects
            with None. A column of a CSV file holds numbers if all its values are numbers or missing.
        """
        batches = self.batches()
        whole = pa.concat_tables(
            part if isinstance(part, pa.Table) else pa.Table.from_batches([part]) for part in batches
        )
        try:
            frame = to_frame(_with_numbers(whole, codes, self.commas) if self.untyped else whole, exact=codes)
            without_marks(frame, marks or {}, codes=codes, commas=self.commas)
            return frame
        except READ_ERRORS as error:
            raise TableError(_unreadable(self.path, self.kind, error)) from error

    def row_number(self, position: int) -> int:
        """The number of a row in messages: as in a spreadsheet, the first line of the file is row 1.

        Parameters
        ----------
        position : int
            Of the row in `frame`, or in all `parts` together, from 0.

        Returns
        -------
        number : int
            Blank lines, which are not read, count too.
        """
        return position + FIRST_ROW


def _with_numbers(table: pa.Table, codes: Collection[str], commas: bool) -> pa.Table:
    """A table of strings with numbers where a column has only numbers, except codes that numbers would change."""
    columns = []
    for name, column in zip(table.column_names, table.columns):
        if not pa.types.is_string(column.type):  # of a spreadsheet
            columns.append(column)
            continue
        texts = cleaned(column)
        numbers = parsed(texts)
        if numbers is None:
            numbers = with_commas(texts, commas)
        coded = name in codes and pc.any(pc.match_substring_regex(texts, r"^[-+]?(0[0-9]|[0-9]{16})")).as_py()
        columns.append(texts if numbers is None or coded else numbers)
    return pa.table(columns, names=table.column_names)


# -- CSV ---------------------------------------------------------------------------------------------------------------


class DelimitedTable(Table):
    """A CSV file, plain or gzipped; all values are strings: a part does not tell the kind of a column."""

    kind, untyped = "CSV", True

    def __init__(self, path: Path, state: FileState, encoding: str | None) -> None:
        super().__init__(path, state)
        self.header = read_header(path, str(path), encoding)
        self.names, self.commas = self.header.names, self.header.delimiter != ","
        if encoding is None and self.header.encoding in ("cp1252", "iso8859-1"):
            self.notes = (f"{path.name} is not in UTF-8 and was read as Latin-1; --encoding names another one.",)

    def _batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        header = self.header
        names = [name or f"\0{index}" for index, name in enumerate(header.names)]
        try:
            stream = self._in_utf8()
            yield from arrow_csv.open_csv(
                stream,
                arrow_csv.ReadOptions(
                    use_threads=False,
                    block_size=header.block,
                    skip_rows=header.empty,
                    column_names=names,
                    skip_rows_after_names=1,
                ),
                arrow_csv.ParseOptions(delimiter=header.delimiter, newlines_in_values=True),
                arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=columns),
            )
            stream.close()
        except UnicodeError as error:
            raise TableError(not_in(str(self.path), header.encoding)) from error
        except pa.ArrowInvalid as error:
            raise TableError(_explained(str(self.path), header, str(error))) from error

    def _in_utf8(self) -> pa.NativeFile:
        """The file, or in another encoding its text in memory: Arrow would decode by a function of Python.

        A thread of Arrow may drop such a function while Python ends, which aborts the process.
        """
        stream = pa.input_stream(str(self.path), compression="gzip" if is_gzipped(self.path) else None)
        if self.header.encoding == "utf-8":
            return stream
        decoder, recoded = codecs.getincrementaldecoder(self.header.encoding)(), pa.BufferOutputStream()
        with stream:
            while part := stream.read(1 << 20):
                recoded.write(decoder.decode(part).encode())
        recoded.write(decoder.decode(b"", final=True).encode())
        return pa.BufferReader(recoded.getvalue())

    def row_number(self, position: int) -> int:
        """See `Table.row_number`."""
        return position + FIRST_ROW + self.header.empty + bisect_right(self._blank, position)

    @cached_property
    def _blank(self) -> list[int]:
        """Positions of the rows that follow the blank lines between rows."""
        found, after = list[int](), -1
        if self._has_blank_line():
            with self._text() as text:
                for record in csv.reader(text, delimiter=self.header.delimiter):
                    if record:
                        after += 1
                    elif after >= 0:
                        found.append(after)
        return found

    def _has_blank_line(self) -> bool:
        end = ""
        with self._text() as text:
            while part := text.read(1 << 20):
                if "\n\n" in end + part:
                    return True
                end = part[-1]
        return False

    def _text(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(opened(self.path), encoding=self.header.encoding)


def _explained(source: str, header: Header, message: str) -> str:
    bad = _BAD_ROW.search(message)
    if bad:
        where = "a line" if bad["row"] is None else f"line {bad['row']}"
        values = "1 value" if bad["got"] == "1" else f"{bad['got']} values"
        return (
            f"{source} has {values} in {where}, but {bad['expected']} columns in its first line; correct that line, or "
            f"quote a value that contains {'a tab' if header.delimiter == chr(9) else repr(header.delimiter)}."
        )
    if "utf8" in message.lower().replace("-", ""):
        return not_in(source, header.encoding)
    if "Empty CSV" in message:
        return f"{source} has a first line with the columns' names but no rows."
    return f"{source} cannot be read as CSV ({message.splitlines()[0]}); save it as CSV in UTF-8."


# -- Parquet and Arrow -------------------------------------------------------------------------------------------------


class ParquetTable(Table):
    """A Parquet file."""

    kind = "Parquet"

    def __init__(self, path: Path, state: FileState) -> None:
        super().__init__(path, state)
        with pq.ParquetFile(path) as file:
            self.names = list(file.schema_arrow.names)

    def _batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        # page by page: a group of rows, which may be the whole table, would be read at once otherwise
        with pq.ParquetFile(self.path, buffer_size=READ_BYTES, pre_buffer=False) as file:
            yield from map(_validated, file.iter_batches(_rows(columns), columns=columns))


class ArrowTable(Table):
    """An Arrow file, or an Arrow stream in a file."""

    kind = "Arrow"

    def __init__(self, path: Path, state: FileState) -> None:
        super().__init__(path, state)
        self.names = list(self._opened()[0].names)

    def _opened(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        source = pa.memory_map(str(self.path))
        try:
            reader = pa.ipc.open_file(source)
            return reader.schema, (reader.get_batch(index) for index in range(reader.num_record_batches))
        except pa.ArrowInvalid:  # a stream, not a file: it has no index
            source.seek(0)
            stream = pa.ipc.open_stream(source)
            return stream.schema, iter(stream)

    def _batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        rows = _rows(columns)
        for batch in self._opened()[1]:
            chosen = _validated(batch.select(columns))
            yield from (chosen.slice(start, rows) for start in range(0, len(batch), rows))


def _rows(columns: Sequence[str]) -> int:
    return max(1, min(PART_ROWS, PART_CELLS // max(1, len(columns))))


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, validated: Arrow does not check the bytes of a damaged file and could read beyond them."""
    batch.validate(full=True)
    return batch


# -- Excel -------------------------------------------------------------------------------------------------------------


class ExcelTable(Table):
    """The first sheet with values of an Excel file, which is parsed once; its first row names the columns."""

    kind, untyped = "Excel", True

    def __init__(self, path: Path, state: FileState) -> None:
        super().__init__(path, state)
        filled = {name: cells for name, cells in _sheets(path).items() if cells.size}
        if not filled:
            raise TableError(f"{path} is empty; the first row must name the columns.")
        (first, cells), *others = filled.items()
        if others:
            self.notes = (
                f"{path.name}: the sheet {first!r} was read, not {', '.join(repr(name) for name, _ in others)}.",
            )
        header, body = cells.iloc[0], cells.iloc[1:]
        self.names = ["" if pd.isna(name) else str(name).strip() for name in header]
        self.first = int(body.index[0]) + 1 if len(body) else FIRST_ROW
        self.columns = {name: _column(body[place].tolist()) for place, name in enumerate(self.names) if name}

    def _batches(self, columns: list[str]) -> Iterator[pa.Table]:
        yield pa.table([self.columns[name] for name in columns], names=columns)

    def row_number(self, position: int) -> int:
        """See `Table.row_number`."""
        return position + self.first


def _sheets(path: Path) -> dict[str, pd.DataFrame]:
    """The cells of all sheets between the first and the last row with a value, up to the last such column."""
    try:
        found = pd.read_excel(
            path, sheet_name=None, header=None, dtype=object, keep_default_na=False, engine="openpyxl"
        )
    except ImportError as error:
        raise ModuleNotFoundError(
            f'{path} is an Excel file, which needs openpyxl: pip install "lvq[excel]"; or save it as CSV.',
            name="openpyxl",
        ) from error
    except (OSError, MemoryError):
        raise
    except Exception as error:  # of zip, of XML and of openpyxl itself
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TableError(f"{path} cannot be read as an Excel file ({reason}); save it again, or as CSV.") from error
    return {str(name): _with_values(sheet) for name, sheet in found.items()}


def _with_values(sheet: pd.DataFrame) -> pd.DataFrame:
    sheet = sheet.map(lambda cell: None if isinstance(cell, str) and not cell.strip() else cell)
    known = sheet.notna()
    rows, columns = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
    return sheet.iloc[rows[0] : rows[-1] + 1, : columns[-1] + 1] if len(rows) else sheet.iloc[:0, :0]


def _column(cells: list[object]) -> pa.Array:
    """The cells of a column: numbers, booleans or dates; strings where it has several kinds."""
    known = [None if pd.isna(cell) else cell for cell in cells]
    try:
        column = pa.array(known)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        column = None
    if column is None or pa.types.is_time(column.type):
        return pa.array([None if cell is None else _text(cell) for cell in known], pa.string())
    return column


def _text(cell: object) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


_TABLES = {"Parquet": ParquetTable, "Arrow": ArrowTable, "Excel": ExcelTable}
