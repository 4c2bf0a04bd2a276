"""ARFF files: a header that names and types the columns, then rows of values, one a line.

Dense rows of numeric, nominal and string attributes; sparse rows are refused by a sentence.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TextIO

import pyarrow as pa

from lvq.tables.columns import TableError, cleaned, parsed

_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{]+)\s*(.+)$", re.IGNORECASE)
_NUMBERS = {"numeric", "real", "integer"}


class Attribute(NamedTuple):
    """A column's name, and whether it holds numbers."""

    name: str
    numeric: bool


def read_header(stream: TextIO, source: str) -> list[Attribute]:
    """The attributes; leaves the stream at the first line after ``@data``."""
    attributes: list[Attribute] = []
    for line in iter(stream.readline, ""):
        text = line.strip()
        word = text.partition(" ")[0].lower()
        if word == "@data":
            return attributes
        if not text.lower().startswith("@attribute"):
            continue
        found = _ATTRIBUTE.match(text)
        if found is None:
            raise TableError(f"{source} has a line {text!r} that names no attribute and its type; correct it.")
        name, kind = found.groups()
        attributes.append(Attribute(_unquoted(name), kind.split()[0].lower() in _NUMBERS))
    raise TableError(f"{source} has no line @data, so it is no ARFF table; if it is another format, rename it.")


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if quoted else text


def read_rows(stream: TextIO, attributes: Sequence[Attribute], source: str, rows: int) -> Iterator[Any]:
    """Parts of at most so many rows, as Arrow tables."""
    kept: list[list[str]] = []
    for number, line in enumerate(stream, start=1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            raise TableError(f"{source} has sparse rows, which are not read; save it with dense rows, or as CSV.")
        values = _values(text)
        if len(values) != len(attributes):
            raise TableError(
                f"{source} has {len(values)} values in line {number} after @data, but {len(attributes)} attributes; "
                "correct that line."
            )
        kept.append(values)
        if len(kept) == rows:
            yield _as_table(kept, attributes, source)
            kept = []
    if kept:
        yield _as_table(kept, attributes, source)


def _values(line: str) -> list[str]:
    quote = '"' if '"' in line and "'" not in line else "'"
    return next(csv.reader([line], quotechar=quote, escapechar="\\", doublequote=False, skipinitialspace=True))


def _as_table(rows: list[list[str]], attributes: Sequence[Attribute], source: str) -> Any:
    columns = []
    for attribute, values in zip(attributes, zip(*rows)):
        column = cleaned(pa.array(values, pa.string()))
        if attribute.numeric:
            column = parsed(column)
            if column is None:
                raise TableError(
                    f"The attribute {attribute.name!r} of {source} is numeric, but some values are not; correct them."
                )
        columns.append(column)
    return pa.table(columns, names=[attribute.name for attribute in attributes])
