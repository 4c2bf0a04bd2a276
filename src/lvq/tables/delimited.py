"""Delimited text: CSV with commas, semicolons, tabs or bars as delimiter, plain or gzipped, in any encoding.

Rules:
- the encoding is named, or found from the first bytes: UTF-16 by its mark or its zeros, UTF-8, else Latin-1;
- the first line names the columns; the delimiter is the most frequent of the four characters in it;
- every row has as many values as the first; any other row is an error with its number, never filled up;
- all values are returned as texts: the kind of a column is known only when all of it has been read.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.csv as pc

from lvq.tables.columns import TableError

DELIMITERS = (",", ";", "\t", "|")
BLOCK_BYTES = 1 << 20  # bytes of text in a part; the reader keeps some dozens of parts ready
MAX_HEADER_BYTES = 1 << 20  # bytes in which the header must end


class Header(NamedTuple):
    """Names of the columns ("" for none), delimiter, bytes in a part, empty lines before the names, and encoding."""

    names: list[str]
    delimiter: str
    block: int
    empty: int
    encoding: str


def is_gzipped(path: Path) -> bool:
    """Whether the content of a file is gzipped."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def opened(path: Path) -> BinaryIO:
    """The bytes of a file, decompressed where it is gzipped."""
    return gzip.open(path, "rb") if is_gzipped(path) else path.open("rb")  # type: ignore[return-value]


def checked_encoding(name: str) -> str:
    """The name of an encoding; TableError for one that Python does not know.

    Examples
    --------
    >>> checked_encoding("latin1"), checked_encoding("UTF-8")
    ('iso8859-1', 'utf-8')
    """
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise TableError(
            f"encoding (--encoding) must be a name such as utf-8, utf-16 or latin-1, got {name!r}."
        ) from None


def found_encoding(start: bytes) -> str:
    """The encoding of a text that begins with these bytes.

    Examples
    --------
    >>> [found_encoding("Größe;kind".encode(name)) for name in ("utf-8", "utf-16", "utf-16-le", "latin-1")]
    ['utf-8', 'utf-16', 'utf-16-le', 'cp1252']
    """
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) > 0.4 * len(start) / 2 and min(even, odd) < 0.05 * len(start) / 2:  # letters of Western texts
        return "utf-16-le" if odd > even else "utf-16-be"
    for name in ("utf-8", "cp1252"):
        try:
            codecs.getincrementaldecoder(name)().decode(start)
        except UnicodeDecodeError:
            continue
        return name
    return "iso8859-1"


def read_header(path: Path, source: str, encoding: str | None = None) -> Header:
    """The names of the columns."""
    with opened(path) as raw:
        start = raw.read(MAX_HEADER_BYTES)
    encoding = found_encoding(start) if encoding is None else checked_encoding(encoding)
    if b"\0" in start and "16" not in encoding and "32" not in encoding:
        raise TableError(
            f"{source} holds null bytes, so it is not a CSV file; if it is Parquet or Arrow, rename it, else save "
            "it as CSV in UTF-8."
        )
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(start).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise TableError(_not_in(source, encoding)) from error
    lines = io.StringIO(text, newline="")
    empty, first = next(((place, line) for place, line in enumerate(lines) if line.strip()), (0, ""))
    if not first:
        raise TableError(f"{source} is empty; the first line must name the columns.")
    # The delimiter that occurs most often outside quotes; the first of equals, so a comma if there is none at all.
    delimiter = max(DELIMITERS, key="".join(first.split('"')[::2]).count)
    # A quoted name may contain a line break.
    row = next(csv.reader(itertools.chain([first], lines), delimiter=delimiter))
    # A row fits into a part.
    return Header([name.strip() for name in row], delimiter, max(BLOCK_BYTES, 32 * len(first)), empty, encoding)


def _not_in(source: str, encoding: str) -> str:
    return f"{source} is not in {encoding.upper()} throughout; name its encoding with --encoding (encoding=...)."


def read_rows(path: Path, source: str, header: Header, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Parts of the table as Arrow batches of texts; only the named columns."""
    names = [name or f"\0{index}" for index, name in enumerate(header.names)]
    bad: list[pc.InvalidRow] = []

    def refuse(row: pc.InvalidRow) -> str:
        bad.append(row)
        return "error"

    stream = pa.input_stream(str(path), compression="gzip" if is_gzipped(path) else None)
    try:
        yield from pc.open_csv(
            stream,
            pc.ReadOptions(
                use_threads=False,
                block_size=header.block,
                skip_rows=header.empty,
                column_names=names,
                skip_rows_after_names=1,
                encoding="utf8" if header.encoding == "utf-8" else header.encoding,
            ),
            pc.ParseOptions(delimiter=header.delimiter, newlines_in_values=True, invalid_row_handler=refuse),
            pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=list(columns)),
        )
    except UnicodeError as error:
        raise TableError(_not_in(source, header.encoding)) from error
    except pa.ArrowInvalid as error:
        raise TableError(_explained(source, header, bad, str(error))) from error
    finally:
        stream.close()


def _explained(source: str, header: Header, bad: Sequence[pc.InvalidRow], message: str) -> str:
    if bad:
        row = bad[0]
        where = "a line" if row.number is None else f"line {row.number}"
        return (
            f"{source} has {row.actual_columns} values in {where}, but {row.expected_columns} columns in its first "
            "line; correct that line, or quote a value that contains "
            f"{'a tab' if header.delimiter == chr(9) else repr(header.delimiter)}."
        )
    if "utf8" in message.lower().replace("-", ""):
        return _not_in(source, header.encoding)
    if "Empty CSV" in message:
        return f"{source} has a first line with the columns' names but no rows."
    return f"{source} cannot be read as CSV ({message.splitlines()[0]}); save it as CSV in UTF-8."
