"""Writing a table part by part; the file appears under its name when it is complete."""

from __future__ import annotations

import gzip
import re
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO, TypeVar

import pandas as pd

from lvq._files import check_writable, naming_a_full_disk, temporary_beside
from lvq.tables.header import TableError, is_number
from lvq.tables.values import kind_of

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetWriter

Value = TypeVar("Value")
SUFFIXES = (".csv", ".csv.gz", ".parquet")
_FORMULA = re.compile(r"[=+\-@\t\r].", re.DOTALL)  # what a spreadsheet may take for a formula


def check_output(path: str | Path, *, force: bool = False) -> Path:
    """Check that a table can be written to a file, before anything is computed.

    Parameters
    ----------
    path : path
        Must end in .csv, .csv.gz or .parquet.
    force : bool, default=False
        Whether an existing file may be replaced.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> check_output("predictions.xlsx")
    Traceback (most recent call last):
    lvq.tables.header.TableError: predictions.xlsx cannot be written: its name must end in .csv, .csv.gz or .parquet.
    """
    path = Path(path)
    if not path.name.lower().endswith(SUFFIXES):
        raise TableError(f"{path} cannot be written: its name must end in .csv, .csv.gz or .parquet.")
    if path.is_dir():
        raise TableError(f"{path} is a folder; name a file.")
    if path.exists() and not force:
        raise TableError(f"{path} already exists; use --force (force=True) to replace it, or choose another name.")
    if not path.parent.exists():
        raise TableError(f"{path} cannot be written: the folder {path.parent} does not exist; create it first.")
    check_writable(path.parent, path)
    return path


def escape_formula(text: Value) -> Value | str:
    """A text that a spreadsheet would not run as a formula: with an apostrophe before it where it might.

    Examples
    --------
    >>> [escape_formula(text) for text in ("=1+1", "-1.5", "+", "a=b")]
    ["'=1+1", '-1.5', '+', 'a=b']
    """
    return f"'{text}" if isinstance(text, str) and _FORMULA.match(text) and not is_number(text) else text


class TableWriter:
    """A table that is written part by part, in a temporary file until the block ends without an error.

    Parameters
    ----------
    path : path
        The file: .csv, .csv.gz or .parquet.
    escape_formulas : bool, default=True
        Whether texts in a CSV file that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and are not
        numbers, get an apostrophe before them. A spreadsheet would run such a text as a formula.

    Attributes
    ----------
    escaped : int
        Number of cells that got an apostrophe.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "predictions.csv")
    ...     with TableWriter(path) as writer:
    ...         writer.write(pd.DataFrame({"label": ["a"], "certainty": [0.5]}))
    ...     path.read_text().splitlines()
    ['label,certainty', 'a,0.5']
    """

    def __init__(self, path: str | Path, *, escape_formulas: bool = True) -> None:
        self.path = Path(path)
        self.escape_formulas = escape_formulas
        self.escaped = 0
        self._context = ExitStack()
        self._stream: TextIO | None = None
        self._parquet: ParquetWriter | None = None
        self._first = True

    def __enter__(self) -> Self:
        self._context.enter_context(naming_a_full_disk(self.path))
        self._temporary = self._context.enter_context(temporary_beside(self.path))
        name = self.path.name.lower()
        if name.endswith(".csv.gz"):
            packed = gzip.open(self._temporary, "wt", encoding="utf-8", newline="")
            self._stream = self._context.enter_context(packed)
        elif name.endswith(".csv"):
            self._stream = self._context.enter_context(open(self._temporary, "w", encoding="utf-8", newline=""))
        return self

    def write(self, part: pd.DataFrame) -> None:
        """Add rows; every part has the same columns.

        Parameters
        ----------
        part : DataFrame
            The next rows.
        """
        if self._stream is None:
            self._write_parquet(part)
        else:
            part = self._escape(part) if self.escape_formulas else part
            part.to_csv(self._stream, index=False, header=self._first, lineterminator="\n")
        self._first = False

    def _escape(self, part: pd.DataFrame) -> pd.DataFrame:
        changes = {}
        for name in part:
            texts = part[name].tolist() if kind_of(part[name]) == "text" else []
            escaped = [escape_formula(text) for text in texts]
            count = sum(new is not old for new, old in zip(escaped, texts))
            if count:
                self.escaped += count
                changes[name] = pd.Series(escaped, index=part.index, dtype=object)
        return part.assign(**changes).rename(columns=escape_formula)

    def _write_parquet(self, part: pd.DataFrame) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._parquet is None:  # the types of the first part are those of all; a column without a value is of texts
            found = pa.Schema.from_pandas(part, preserve_index=False)
            fields = [field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in found]
            self._parquet = self._context.enter_context(pq.ParquetWriter(self._temporary, pa.schema(fields)))
        self._parquet.write_table(pa.Table.from_pandas(part, schema=self._parquet.schema, preserve_index=False))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._context.__exit__(kind, error, traceback)
