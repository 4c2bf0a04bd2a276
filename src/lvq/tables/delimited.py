"""Delimited text: CSV with commas, semicolons, tabs or bars as delimiter, plain or gzipped, in any encoding.

Rules:
- the encoding is named, or found from the first bytes: UTF-16 by its mark or its zeros, UTF-8, else Latin-1;
- the first line names the columns; the delimiter is the most frequent of the four characters in it;
- every row has as many values as the first; any other row is an error with its number, never filled up;
- all values are returned as texts: the kind of a column is known only when all of it has been read.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc

from lvq.table_headers import Header, TableError, is_gzipped, not_in

SMALL = 1 << 24  # bytes of a file that is decoded at once
_BAD_ROW = re.compile(r"CSV parse error: (?:Row #(?P<row>\d+): )?Expected (?P<expected>\d+) columns, got (?P<got>\d+)")


def read_rows(path: Path, source: str, header: Header, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Parts of the table as Arrow batches of texts; only the named columns."""
    names = [name or f"\0{index}" for index, name in enumerate(header.names)]
    stream = pa.input_stream(str(path), compression="gzip" if is_gzipped(path) else None)
    encoding = "utf8" if header.encoding == "utf-8" else header.encoding
    try:
        if encoding != "utf8" and path.stat().st_size <= SMALL:
            stream, encoding = _recoded(stream, encoding), "utf8"
        yield from pc.open_csv(
            stream,
            pc.ReadOptions(
                use_threads=False,
                block_size=header.block,
                skip_rows=header.empty,
                column_names=names,
                skip_rows_after_names=1,
                encoding=encoding,
            ),
            pc.ParseOptions(delimiter=header.delimiter, newlines_in_values=True),
            pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=list(columns)),
        )
    except UnicodeError as error:
        raise TableError(not_in(source, header.encoding)) from error
    except pa.ArrowInvalid as error:
        raise TableError(_explained(source, header, str(error))) from error
    finally:
        stream.close()


def _recoded(stream: pa.NativeFile, encoding: str) -> pa.NativeFile:
    """A small file in UTF-8, in memory of Arrow: it would decode by a function of Python, of which see `_explained`."""
    decoder, recoded = codecs.getincrementaldecoder(encoding)(), pa.BufferOutputStream()
    with stream:
        while part := stream.read(1 << 20):
            recoded.write(decoder.decode(part).encode())
    recoded.write(decoder.decode(b"", final=True).encode())
    return pa.BufferReader(recoded.getvalue())


def _explained(source: str, header: Header, message: str) -> str:
    # Not by invalid_row_handler: a thread of Arrow may drop that function while Python ends, which aborts the process.
    bad = _BAD_ROW.search(message)
    if bad:
        where = "a line" if bad["row"] is None else f"line {bad['row']}"
        return (
            f"{source} has {_values(int(bad['got']))} in {where}, but {bad['expected']} columns in its first "
            "line; correct that line, or quote a value that contains "
            f"{'a tab' if header.delimiter == chr(9) else repr(header.delimiter)}."
        )
    if "utf8" in message.lower().replace("-", ""):
        return not_in(source, header.encoding)
    if "Empty CSV" in message:
        return f"{source} has a first line with the columns' names but no rows."
    return f"{source} cannot be read as CSV ({message.splitlines()[0]}); save it as CSV in UTF-8."


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"
