"""ARFF files, parsed by liac-arff: numeric, nominal and string attributes, dense or sparse rows, in parts.

Declarations of attributes are checked first: liac-arff takes exponential time for a malformed list of nominal values.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from lvq.table_headers import TableError, opened
from lvq.tables.columns import cleaned

Kind = str | list[str]  # the name of a type, or the values of a nominal attribute
Cell = float | str | None
_WORD = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,{}'"%]+)"""
_TYPE = rf"(?:numeric|real|integer|string|\{{\s*{_WORD}\s*(?:,\s*{_WORD}\s*)*\}})"
_ATTRIBUTE = re.compile(rf"@attribute\s+({_WORD})\s*({_TYPE})\s*$", re.IGNORECASE)
_PROBLEMS = {
    "BadDataFormat": "another number of values than attributes",
    "BadNumericalValue": "a numeric attribute whose value is not a number",
    "BadNominalValue": "a value that its nominal attribute does not declare",
}


class Arff(NamedTuple):
    """An open ARFF file: names and types of its attributes, and an iterator of its rows."""

    attributes: list[tuple[str, Kind]]
    rows: Iterator[list[Cell]]


def read_names(path: Path) -> list[str]:
    """Names of the attributes."""
    with _open(path) as file:
        return [name for name, _ in file.attributes]


def read_rows(path: Path, rows: int) -> Iterator[pa.Table]:
    """Parts of at most so many rows, as Arrow tables."""
    with _open(path) as file:
        while part := list(itertools.islice(file.rows, rows)):
            yield _as_table(part, file.attributes)


@contextmanager
def _open(path: Path) -> Iterator[Arff]:
    try:
        import arff
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError('ARFF files need liac-arff: pip install "lvq[cli]".', name="arff") from error

    line = 0

    def lines() -> Iterator[str]:
        nonlocal line
        yield "@relation table"  # the name of the relation is not used, and may be missing
        header = True
        for line, text in enumerate(stream, start=1):
            keyword = text.split(maxsplit=1)[0].lower() if header and text.strip() else ""
            header = header and keyword != "@data"
            if keyword != "@relation":
                yield _declaration(text, path, line) if keyword == "@attribute" else text
        if header:
            raise TableError(
                f"{path} has no line @data, so it is not an ARFF table; if it has another format, rename it."
            )

    with io.TextIOWrapper(opened(path), encoding="utf-8-sig", newline=None) as stream:
        try:
            content = arff.load(lines(), return_type=arff.DENSE_GEN)
            yield Arff(content["attributes"], content["data"])
        except (arff.ArffException, OverflowError, IndexError, KeyError) as error:
            problem = _PROBLEMS.get(type(error).__name__, "content that is not ARFF")
            raise TableError(f"{path} has {problem} in line {line}; correct that line.") from error


def _declaration(text: str, path: Path, line: int) -> str:
    found = _ATTRIBUTE.match(text.strip())
    if found is None:
        raise TableError(
            f"{path} has no attribute of type numeric, string or {{nominal values}} in line {line}, {text.strip()!r}; "
            "correct that line."
        )
    return f"@attribute {found[1]} {found[2]}"


def _as_table(rows: list[list[Cell]], attributes: list[tuple[str, Kind]]) -> pa.Table:
    columns = [
        cleaned(pa.array(values, pa.string()))
        if isinstance(kind, list) or kind == "STRING"
        else pa.array(values, pa.float64())
        for (_, kind), values in zip(attributes, zip(*rows))
    ]
    return pa.table(columns, names=[name for name, _ in attributes])
