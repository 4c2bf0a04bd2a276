"""Delimited text: CSV with commas, semicolons, tabs or bars between the values, plain or gzipped, in UTF-8.

Rules kept here:
- the first line names the columns, and says by its most frequent sign what stands between values;
- every row has as many values as the first; a row that has not is an error with its number, never filled up;
- all values are handed out as texts: what a column holds can only be said once all of it is seen.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.csv as pc

from lvq.tables.columns import TableError

SIGNS = (",", ";", "\t", "|")
BLOCK = 1 << 20  # bytes of text in a part; the reader keeps some dozens of parts ready
LONGEST = 1 << 20  # a header of more characters is none


class Header(NamedTuple):
    """The columns' names, "" for one that has none, the sign between values, bytes in a part, empty lines before."""

    names: list[str]
    sign: str
    block: int
    empty: int


def is_gzipped(path: Path) -> bool:
    """Whether a file is gzipped, whatever its name."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def opened(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked where it is gzipped."""
    return gzip.open(path, "rb") if is_gzipped(path) else path.open("rb")  # type: ignore[return-value]


def read_header(path: Path, source: str) -> Header:
    """The names of the columns."""
    with opened(path) as raw:
        start = raw.read(LONGEST)
        if b"\0" in start:
            raise TableError(
                f"{source} holds bytes that no text has, so it is no CSV file; if it is Parquet or Arrow, name it so, "
                "else save it as CSV in UTF-8."
            )
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError as error:
        raise TableError(f"{source} is not in UTF-8; save it as CSV in UTF-8.") from error
    lines = io.StringIO(text, newline="")
    empty, first = next(((place, line) for place, line in enumerate(lines) if line.strip()), (0, ""))
    if not first:
        raise TableError(f"{source} is empty; it must hold a line with the columns' names, then the rows.")
    sign = _most_frequent(first)
    row = next(csv.reader(itertools.chain([first], lines), delimiter=sign))  # a name may go on in the next line
    return Header([name.strip() for name in row], sign, max(BLOCK, 32 * len(first)), empty)  # a row fits into a part


def _most_frequent(line: str) -> str:
    """Of the signs that may stand between values, the one the line has most of, outside quotes."""
    counts = Counter(sign for part in line.split('"')[::2] for sign in part if sign in SIGNS)
    return max(SIGNS, key=lambda sign: counts[sign])  # the first of equals: a comma if there is none at all


def read_rows(path: Path, source: str, header: Header, columns: Sequence[str]) -> Iterator[Any]:
    """Parts of the table as Arrow batches of texts; only the named columns."""
    names = [name or f"\0{index}" for index, name in enumerate(header.names)]
    bad: list[Any] = []

    def refuse(row: Any) -> str:
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
            ),
            pc.ParseOptions(delimiter=header.sign, newlines_in_values=True, invalid_row_handler=refuse),
            pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=list(columns)),
        )
    except pa.ArrowInvalid as error:
        raise TableError(_explained(source, header, bad, str(error))) from error
    finally:
        stream.close()


def _explained(source: str, header: Header, bad: Sequence[Any], message: str) -> str:
    if bad:
        row = bad[0]
        where = "a line" if row.number is None else f"line {row.number}"
        return (
            f"{source} has {row.actual_columns} values in {where}, but {row.expected_columns} columns in its first "
            "line; correct that line, or put quotes round a value that holds "
            f"{'a tab' if header.sign == chr(9) else repr(header.sign)}."
        )
    if "utf8" in message.lower().replace("-", ""):
        return f"{source} is not in UTF-8; save it as CSV in UTF-8."
    if "Empty CSV" in message:
        return f"{source} has a first line with the columns' names but no rows."
    return f"{source} cannot be read as CSV ({message.splitlines()[0]}); save it as CSV in UTF-8."
