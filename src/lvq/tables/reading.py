"""Reading a table, whole or in parts, from a file that must stay as it is meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lvq.table_headers import TableError
from lvq.tables.columns import cleaned, parsed, to_frame, with_commas
from lvq.tables.formats import READ_ERRORS, open_table, unreadable
from lvq.tables.missing_marks import Marks, without_marks


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
        except READ_ERRORS as error:
            state.check(path, rows)  # which tells more than an error of the format
            raise TableError(unreadable(path, kind, error)) from error
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
    except READ_ERRORS as error:
        raise TableError(unreadable(path, kind, error)) from error


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
