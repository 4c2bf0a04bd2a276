"""Reading a table, whole or in parts; its format is known from its file name."""

from __future__ import annotations

import csv
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lvq.table_headers import TableError, no_such_file, read_header
from lvq.tables import arff, delimited, spreadsheet
from lvq.tables.columns import cleaned, parsed, to_frame, with_commas
from lvq.tables.missing_marks import Marks, without_marks

PART_ROWS, PART_CELLS = 20_000, 2_000_000  # in a part, at most
READ_BYTES = 1 << 16  # bytes of a Parquet column that are read at once
FORMATS = {
    "CSV": (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz"),
    "Parquet": (".parquet", ".pq"),
    "Arrow": (".arrow", ".feather", ".ipc"),
    "ARFF": (".arff", ".arff.gz"),
    "Excel": (".xlsx", ".xlsm"),
}
BINARY = ("Parquet", "Arrow", "Excel")  # formats
_SIGNATURES = {b"PAR1": "a Parquet file", b"ARROW1": "an Arrow file", b"PK\x03\x04": "a spreadsheet or a zip archive"}
_READ_ERRORS = (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error, zlib.error)


class Table(NamedTuple):
    """A table on disk: names of its columns, and a function that reads some of them in parts, as Arrow tables.

    With `commas` a comma in a number is a decimal comma. `notes` tell what was found out about the file.
    """

    names: list[str]
    parts: Callable[[Sequence[str]], Iterator[pa.Table | pa.RecordBatch]]
    commas: bool = False
    notes: tuple[str, ...] = ()


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


def open_table(path: Path, encoding: str | None = None) -> tuple[str, Table]:
    """The format of a file, and the table in it; `encoding` is that of a CSV file, found from its bytes by default."""
    if path.is_dir():
        raise TableError(f"{path} is a folder; name a file in it.")
    if not path.exists():
        raise TableError(no_such_file(path))
    name = path.name.lower()
    kind = next((kind for kind, suffixes in FORMATS.items() if name.endswith(suffixes)), None)
    if kind is None:
        endings = ", ".join(suffix for suffixes in FORMATS.values() for suffix in suffixes)
        raise TableError(f"{path} has an unknown format; the name must end in one of {endings}.")
    try:
        _check_signature(path, kind)
        table = _open_delimited(path, encoding) if kind == "CSV" else _OPENERS[kind](path)
    except _READ_ERRORS as error:
        raise TableError(_unreadable(path, kind, error)) from error
    _check_names(path, table.names)
    return kind, table


def _check_signature(path: Path, kind: str) -> None:
    with path.open("rb") as stream:
        start = stream.read(8)
    found = next((what for signature, what in _SIGNATURES.items() if start.startswith(signature)), None)
    if found is not None and kind not in found and not (kind == "Excel" and "spreadsheet" in found):
        raise TableError(f"{path} is {found}, unlike its name; rename it, or save it as CSV.")
    if not start:
        remedy = "copy it again." if kind in BINARY else "the first line must name the columns."
        raise TableError(f"{path} is empty; {remedy}")


def _unreadable(path: Path, kind: str, error: Exception) -> str:
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


# -- formats -----------------------------------------------------------------------------------------------------------


def _open_delimited(path: Path, encoding: str | None) -> Table:
    header = read_header(path, str(path), encoding)
    guessed = encoding is None and header.encoding in ("cp1252", "iso8859-1")
    notes = (f"{path.name} is not in UTF-8 and was read as Latin-1; --encoding names another one.",) if guessed else ()
    read = lambda columns: delimited.read_rows(path, str(path), header, columns)  # noqa: E731
    return Table(header.names, read, header.delimiter != ",", notes)


def _open_parquet(path: Path) -> Table:
    with pq.ParquetFile(path) as file:
        names = list(file.schema_arrow.names)

    def parts(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        # page by page: a group of rows, which may be the whole table, would be read at once otherwise
        with pq.ParquetFile(path, buffer_size=READ_BYTES, pre_buffer=False) as file:
            yield from map(_validated, file.iter_batches(_rows(columns), columns=list(columns)))

    return Table(names, parts)


def _rows(columns: Sequence[str]) -> int:
    return max(1, min(PART_ROWS, PART_CELLS // max(1, len(columns))))


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, validated: Arrow does not check the bytes of a damaged file and could read beyond them."""
    batch.validate(full=True)
    return batch


def _arrow_batches(path: Path) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    source = pa.memory_map(str(path))
    try:
        reader = pa.ipc.open_file(source)
        return reader.schema, (reader.get_batch(index) for index in range(reader.num_record_batches))
    except pa.ArrowInvalid:  # a stream, not a file: it has no index
        source.seek(0)
        stream = pa.ipc.open_stream(source)
        return stream.schema, iter(stream)


def _open_arrow(path: Path) -> Table:
    schema, _ = _arrow_batches(path)

    def parts(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in _arrow_batches(path)[1]:
            chosen = _validated(batch.select(list(columns)))
            rows = _rows(columns)
            yield from (chosen.slice(start, rows) for start in range(0, len(batch), rows))

    return Table(list(schema.names), parts)


def _open_arff(path: Path) -> Table:
    names = arff.read_names(path)
    return Table(names, lambda columns: (part.select(list(columns)) for part in arff.read_rows(path, _rows(names))))


def _open_spreadsheet(path: Path) -> Table:
    sheet, notes = spreadsheet.read_sheet(path)
    return Table(sheet.column_names, lambda columns: iter([sheet.select(list(columns))]), notes=notes)


_OPENERS: dict[str, Callable[[Path], Table]] = {
    "Excel": _open_spreadsheet,
    "Parquet": _open_parquet,
    "Arrow": _open_arrow,
    "ARFF": _open_arff,
}


# -- reading -----------------------------------------------------------------------------------------------------------


def column_names(path: str | Path, encoding: str | None = None) -> list[str]:
    """The names of a table's columns; the rows are not read.

    Parameters
    ----------
    path : path
        A CSV, Parquet, Arrow, ARFF or Excel file.
    encoding : str, optional
        That of a CSV file.

    Returns
    -------
    names : list of str
        In the order of the file; "" for a column without a name.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "small.csv")
    >>> _ = path.write_text("size,colour\\n1.5,red\\n")
    >>> column_names(path)
    ['size', 'colour']
    """
    return open_table(Path(path), encoding)[1].names


def reading_notes(path: str | Path, encoding: str | None = None) -> tuple[str, ...]:
    """Notes on what was found out about a file: a guessed encoding, and sheets that are not read."""
    return open_table(Path(path), encoding)[1].notes


def read_parts(
    path: str | Path,
    columns: Sequence[str] | None = None,
    numbers: Collection[str] = (),
    exact: Collection[str] = (),
    encoding: str | None = None,
    marks: Marks | None = None,
) -> Iterator[pd.DataFrame]:
    """Read a table part by part, as it may be larger than memory.

    The kind of a column of a CSV file is not known from a part, so its values are texts; `as_numbers` and `as_text`
    convert them.

    Parameters
    ----------
    path : path
        A CSV, Parquet, Arrow or ARFF file.
    columns : sequence of str, optional
        The columns to read; by default all that have a name.
    numbers : collection of str, default=()
        Columns that become numbers in each part where all their texts are numbers.
    exact : collection of str, default=()
        Columns whose integers stay integers, such as identifiers.
    encoding : str, optional
        That of a CSV file; found from its bytes by default.
    marks : mapping from str to sequence of str, optional
        Texts and numbers that mean a missing value, for some columns.

    Yields
    ------
    part : DataFrame
        Some rows.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "small.csv")
    >>> _ = path.write_text("size,colour\\n1.5,red\\n")
    >>> [part["size"].tolist() for part in read_parts(path, ["size"])]
    [['1.5']]
    """
    commas = open_table(Path(path), encoding)[1].commas
    for batch in read_batches(Path(path), columns, encoding):
        part = to_frame(batch, numbers, exact, commas)
        without_marks(part, marks or {}, codes={name for name in part if name not in numbers}, commas=commas)
        yield part


def read_batches(
    path: Path,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    state: FileState | None = None,
) -> Iterator[pa.Table | pa.RecordBatch]:
    """The parts of `read_parts` as Arrow tables or batches, of a file that stays as it is, or as it was in `state`.

    The file is looked at before and after each part: the end of a CSV file that was cut looks like an end, and memory
    that maps a file must not be read beyond it.
    """
    if state is not None:
        state.check(path, rows=0)
    kind, table = open_table(path, encoding)
    state = state or FileState.of(path) or FileState(0, 0)
    wanted = [name for name in table.names if name] if columns is None else list(columns)
    yield from _checked_parts(path, kind, table.parts(wanted), state)


def _checked_parts(
    path: Path, kind: str, parts: Iterator[pa.Table | pa.RecordBatch], state: FileState
) -> Iterator[pa.Table | pa.RecordBatch]:
    rows = 0
    while True:
        state.check(path, rows)
        try:
            batch = next(parts, None)
        except _READ_ERRORS as error:
            state.check(path, rows)  # which tells more than an error of the format
            raise TableError(_unreadable(path, kind, error)) from error
        state.check(path, rows)
        if batch is None:
            break
        rows += batch.num_rows
        yield batch
    if not rows:
        raise TableError(f"{path} has columns but no rows.")


def read_table(
    path: str | Path, codes: Collection[str] = (), encoding: str | None = None, marks: Marks | None = None
) -> pd.DataFrame:
    """Read a whole table; columns without a name are left out.

    Parameters
    ----------
    path : path
        A CSV (also gzipped), Parquet, Arrow, ARFF or Excel file.
    codes : collection of str, default=()
        Columns of codes. In a CSV file, codes with leading zeros or more than 15 digits stay texts.
    encoding : str, optional
        That of a CSV file, such as "latin-1"; by default it is found from its bytes.
    marks : mapping from str to sequence of str, optional
        Texts and numbers that mean a missing value, for some columns.

    Returns
    -------
    table : DataFrame
        Columns of numbers are float64 with NaN for missing values, columns of texts and booleans are objects with
        None. A column of a CSV file holds numbers if all its values are numbers or missing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "small.csv")
    >>> _ = path.write_text("size; colour\\n1.5; red\\n?; blue\\n")
    >>> read_table(path)
       size colour
    0   1.5    red
    1   NaN   blue
    """
    path = Path(path)
    state = FileState.of(path)
    kind, table = open_table(path, encoding)
    parts = table.parts([name for name in table.names if name])
    whole = pa.concat_tables(
        part if isinstance(part, pa.Table) else pa.Table.from_batches([part])
        for part in _checked_parts(path, kind, parts, state or FileState(0, 0))
    )
    try:
        frame = to_frame(_with_numbers(whole, codes, table.commas) if kind in ("CSV", "Excel") else whole, exact=codes)
        without_marks(frame, marks or {}, codes=codes, commas=table.commas)
        return frame
    except _READ_ERRORS as error:
        raise TableError(_unreadable(path, kind, error)) from error


def _with_numbers(table: pa.Table, codes: Collection[str], commas: bool) -> pa.Table:
    """A table of texts with numbers where a column has only numbers, except codes that numbers would change."""
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
