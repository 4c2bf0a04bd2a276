"""Writing a table part by part, all or nothing: the file appears under its name once it is complete."""

from __future__ import annotations

import gzip
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pandas as pd

from lvq.tables.columns import TableError

SUFFIXES = (".csv", ".csv.gz", ".parquet")


def check_output(path: str | Path, *, force: bool = False) -> Path:
    """Whether a table can be written to a file, before anything is computed.

    Parameters
    ----------
    path : path
        Must end in .csv, .csv.gz or .parquet.
    force : bool, default=False
        Whether a file of that name may be replaced.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> check_output("answers.xlsx")
    Traceback (most recent call last):
    lvq.tables.columns.TableError: answers.xlsx cannot be written: its name must end in .csv, .csv.gz or .parquet.
    """
    path = Path(path)
    if not path.name.lower().endswith(SUFFIXES):
        raise TableError(f"{path} cannot be written: its name must end in .csv, .csv.gz or .parquet.")
    if path.is_dir():
        raise TableError(f"{path} is a folder; name a file.")
    if path.exists() and not force:
        raise TableError(f"{path} is there already; use force (--force) to replace it, or another name.")
    if not path.parent.exists():
        raise TableError(f"{path} cannot be written: there is no folder {path.parent}; make it first.")
    check_writable(path.parent, path)
    return path


def check_writable(folder: Path, shown: Path) -> None:
    """Whether files can be made in a folder, found out by making one: permissions alone do not tell.

    Parameters
    ----------
    folder : Path
        It is there.
    shown : Path
        What is to be written, for the error.
    """
    try:
        handle, name = tempfile.mkstemp(dir=folder)
    except OSError as error:
        raise PermissionError(
            f"{shown} cannot be written ({error.strerror or error}); choose another place."
        ) from error
    os.close(handle)
    os.unlink(name)


class TableWriter:
    """A table that is being written, in a temporary file beside its place until the block ends well.

    Parameters
    ----------
    path : path
        Where it will be: .csv, .csv.gz or .parquet.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "answers.csv")
    ...     with TableWriter(path) as writer:
    ...         writer.write(pd.DataFrame({"label": ["a"], "certainty": [0.5]}))
    ...     path.read_text().splitlines()
    ['label,certainty', 'a,0.5']
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._stream: Any = None
        self._parquet: Any = None
        self._begun = False

    def __enter__(self) -> Self:
        handle, name = tempfile.mkstemp(prefix=f".{self.path.name}-", suffix=".tmp", dir=self.path.parent)
        os.close(handle)
        self._temporary = Path(name)
        if self.path.name.lower().endswith(".csv.gz"):
            self._stream = gzip.open(name, "wt", encoding="utf-8", newline="")
        elif self.path.name.lower().endswith(".csv"):
            self._stream = self._temporary.open("w", encoding="utf-8", newline="")
        return self

    def write(self, part: pd.DataFrame) -> None:
        """Add rows; every part has the same columns.

        Parameters
        ----------
        part : DataFrame
            The next rows.
        """
        if self._stream is not None:
            part.to_csv(self._stream, index=False, header=not self._begun, lineterminator="\n")
        else:
            self._write_parquet(part)
        self._begun = True

    def _write_parquet(self, part: pd.DataFrame) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._parquet is None:  # the types of the first part are those of all; a column without a value is of texts
            found = pa.Schema.from_pandas(part, preserve_index=False)
            fields = [field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in found]
            self._parquet = pq.ParquetWriter(self._temporary, pa.schema(fields))
        self._parquet.write_table(pa.Table.from_pandas(part, schema=self._parquet.schema, preserve_index=False))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for open_one in (self._stream, self._parquet):
                if open_one is not None:
                    open_one.close()
            if kind is None:
                os.chmod(self._temporary, 0o666 & ~umask())
                os.replace(self._temporary, self.path)
        finally:
            self._temporary.unlink(missing_ok=True)


def umask() -> int:
    """What permissions new files do not get; a temporary file is for its owner alone."""
    present = os.umask(0)
    os.umask(present)
    return present
