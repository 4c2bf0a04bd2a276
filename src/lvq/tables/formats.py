"""The formats of tables on disk: which one a file has, known from its name, and how its parts are read."""

import csv
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from lvq.table_headers import TableError, no_such_file, read_header
from lvq.tables import arff, delimited, spreadsheet

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
READ_ERRORS = (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error, zlib.error)


class Table(NamedTuple):
    """A table on disk: names of its columns, and a function that reads some of them in parts, as Arrow tables.

    With `commas` a comma in a number is a decimal comma. `notes` tell what was found out about the file.
    """

    names: list[str]
    parts: Callable[[Sequence[str]], Iterator[pa.Table | pa.RecordBatch]]
    commas: bool = False
    notes: tuple[str, ...] = ()


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
    except READ_ERRORS as error:
        raise TableError(unreadable(path, kind, error)) from error
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


def unreadable(path: Path, kind: str, error: Exception) -> str:
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
