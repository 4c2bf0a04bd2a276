"""The first line of a CSV file, and messages about columns and files; imports no large package."""

from __future__ import annotations

import codecs
import csv
import difflib
import io
import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

DELIMITERS = (",", ";", "\t", "|")
MAX_HEADER_BYTES = 1 << 20  # bytes in which the header must end
MAX_LISTED = 8  # names in a message
CLOSE = 0.75  # similarity of a name that may have been meant; "age" and "target" have 0.67
MISSING_TEXT = "(missing)"  # the category of missing strings, so a cell with this text is missing too
FIRST_ROW = 2  # number of a table's first row in messages: as in a spreadsheet, the line of names is row 1


class Reading(NamedTuple):
    """How a file is read.

    Attributes
    ----------
    encoding : str, optional
        Encoding of a CSV file, such as "latin-1"; by default it is detected from the bytes.
    sheet : str, optional
        The sheet of an Excel file; by default the first one with values.
    header_row : int, optional
        The row with the names of the columns, counted from 1; by default the first one with values. With 0 there is
        none, and the columns are named "column 1", "column 2" and so on.
    """

    encoding: str | None = None
    sheet: str | None = None
    header_row: int | None = None

    def named(self, row: Sequence[object]) -> list[str]:
        """Names of the columns, from the cells of the header row, or of the first row if there is no header."""
        if self.header_row == 0:
            return [f"column {place}" for place in range(1, len(row) + 1)]
        return ["" if cell is None or cell != cell else str(cell).strip() for cell in row]


AS_FOUND = Reading()


class TableError(ValueError):
    """A table on disk that cannot be read or used; the message names the file and what to do."""


def is_number(text: str) -> bool:
    """Whether a string is a number.

    Examples
    --------
    >>> is_number("1.5"), is_number("<0.5")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


# -- names -------------------------------------------------------------------------------------------------------------


def check_columns(present: Iterable[object], wanted: Sequence[str], source: str, notes: Sequence[str] = ()) -> None:
    """Raise TableError with all columns that a table lacks, the columns it has, and notes about it."""
    names = [str(name) for name in present]
    existing = set(names)
    for name in wanted:
        if not isinstance(name, str):  # of a MultiIndex, or of columns named by numbers
            raise TableError(f"{source}: name columns by strings, here {str(name)!r} instead of {name!r}.")
    missing = [name for name in dict.fromkeys(wanted) if name not in existing]
    if not missing:
        return
    close = difflib.get_close_matches(missing[0], names, n=1, cutoff=CLOSE)
    same = [name for name in names if name.lower() == missing[0].lower()]
    hint = f" Did you mean {(same or close)[0]!r}?" if same or close else ""
    if "," in missing[0] and existing.issuperset(map(str.strip, missing[0].split(","))):
        hint = " Give each of these names separately; an option may be repeated."
    if sum(is_number(name) for name in names) > len(names) / 2:
        hint = " They look like values: is the first line with the names of the columns missing?"
    hint = " ".join([hint, *notes])
    if notes and "no name" in notes[-1]:
        hint += " If the names are in another row, give it with --header-row (header_row=...)."
    word = "column" if len(missing) == 1 else "columns"
    last = f", the last of them {names[-1]!r}" if len(names) > MAX_LISTED else ""  # which often is the class
    raise TableError(f"{source} has no {word} {listed(missing)}; its columns are {listed(names)}{last}.{hint}")


def listed(names: Sequence[str]) -> str:
    """Names in a message; the first few of many."""
    shown = ", ".join(repr(name) for name in names[:MAX_LISTED])
    return shown if len(names) <= MAX_LISTED else f"{shown} and {len(names) - MAX_LISTED} more"


def no_such_file(path: Path) -> str:
    """A message about a file that does not exist, with the files of similar names in the folder."""
    folder = path.parent
    if not folder.is_dir():
        return f"The file {path} does not exist, nor does the folder {folder}."
    similar = difflib.get_close_matches(path.name, sorted(each.name for each in folder.iterdir()))
    hint = f" Did you mean {' or '.join(repr(str(folder / name)) for name in similar)}?" if similar else ""
    return f"The file {path} does not exist.{hint}"


# -- the first line ----------------------------------------------------------------------------------------------------


class Header(NamedTuple):
    """Names of the columns ("" for none), delimiter, lines before the names and of names, encoding."""

    names: list[str]
    delimiter: str
    before: int
    named: int
    encoding: str


def _encoding(start: bytes, given: str | None) -> str:
    """The given encoding, or the encoding detected from the first bytes of a file."""
    if given is not None:
        try:
            return codecs.lookup(given).name
        except LookupError:
            raise TableError(
                f"encoding (--encoding) must be a name such as utf-8, utf-16 or latin-1, got {given!r}."
            ) from None
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for name in ("utf-8", "cp1252"):
        try:
            codecs.getincrementaldecoder(name)().decode(start)
            return name
        except UnicodeDecodeError:
            continue
    return "iso8859-1"


def header_of(path: Path, start: bytes, how: Reading) -> Header:
    """The names of the columns, and how a file is written, by its first bytes."""
    encoding = _encoding(start, how.encoding)
    if b"\0" in start and "16" not in encoding and "32" not in encoding:
        raise TableError(
            f"{path} holds null bytes, so it is not text in UTF-8; name its encoding with --encoding (encoding=...), "
            "or, if it is a spreadsheet or a Parquet file, rename it."
        )
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(start).removeprefix("\ufeff")
    except UnicodeError as error:
        raise TableError(not_in(path, encoding)) from error
    lines = io.StringIO(text, newline="")
    filled = ((row, line) for row, line in enumerate(lines, start=1) if line.strip() and row >= (how.header_row or 1))
    row, first = next(filled, (0, ""))
    if not first:
        raise TableError(f"{path} is empty; the first line must name the columns.")
    # The delimiter that occurs most often outside quotes; the first of equals, so a comma if there is none at all.
    delimiter = max(DELIMITERS, key="".join(first.split('"')[::2]).count)
    # A quoted name may contain a line break.
    cells = next(csv.reader(itertools.chain([first], lines), delimiter=delimiter, skipinitialspace=True))
    return Header(how.named(cells), delimiter, row - 1, int(how.header_row != 0), encoding)


def not_in(path: Path, encoding: str) -> str:
    """A message about bytes that are not text."""
    return f"{path} is not in {encoding.upper()} throughout; name its encoding with --encoding (encoding=...)."
