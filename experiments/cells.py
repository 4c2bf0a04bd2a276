"""Cells, the units of work of an experiment, and the file in which finished ones are kept.

Rules kept here: a cell is stored when it is finished, never half; a line is written, flushed and forced to the disk
before the next cell is reported done; what a killed process left half-written at the end of the file is dropped.
"""

from __future__ import annotations

import json
import os
import pathlib
import threading
from dataclasses import asdict, dataclass, fields
from typing import IO, Any, NamedTuple

try:
    import fcntl
except ImportError:  # not on Windows, where two runs into one file are not noticed
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True, order=True)
class Cell:
    """One unit of work: stored when finished, never half.

    Parameters
    ----------
    table, dataset, method, setting : str
        What is measured; the same text as in the table of published numbers where there is one.
    run : int, default=0
        Which repetition.
    fold : int, default=-1
        Which fold of that repetition; -1 means all of them.

    Examples
    --------
    >>> Cell("table-1", "iris", "GLVQ") < Cell("table-1", "iris", "GLVQ", run=1)
    True
    """

    table: str
    dataset: str
    method: str
    setting: str = ""
    run: int = 0
    fold: int = -1


class Stored(NamedTuple):
    """What is kept of a finished cell."""

    result: dict[str, Any]
    seconds: float
    commit: str


class Store:
    """Finished cells in a file of one JSON object a line.

    Parameters
    ----------
    path : pathlib.Path
        The file; made with its folder by the first `add`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(pathlib.Path(folder) / "toy.cells.jsonl")
    ...     store.add(Cell("table-1", "iris", "GLVQ"), {"accuracy": 0.96})
    ...     found = store.read()
    ...     store.close()
    >>> found[Cell("table-1", "iris", "GLVQ")]
    {'accuracy': 0.96}
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = pathlib.Path(path)
        self.lock = threading.Lock()
        self._file: IO[bytes] | None = None

    def read(self) -> dict[Cell, dict[str, Any]]:
        """The results of all finished cells."""
        return {cell: stored.result for cell, stored in self.read_all().items()}

    def read_all(self) -> dict[Cell, Stored]:
        """The same, with the seconds each took and the commit it came from; the last of equal cells counts."""
        if not self.path.exists():
            return {}
        whole = self.path.read_bytes()
        lines = whole[: whole.rfind(b"\n") + 1].splitlines()
        return dict(self._parsed(number, line) for number, line in enumerate(lines, start=1))

    def add(self, cell: Cell, result: dict[str, Any], *, seconds: float = 0.0, commit: str = "") -> None:
        """Keep a finished cell; returns when it is on the disk. Threads may call it at the same time."""
        record = asdict(cell) | {"seconds": round(seconds, 4), "commit": commit, "result": result}
        line = json.dumps(record, default=_plain).encode() + b"\n"
        with self.lock:
            file = self._opened()
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def claim(self) -> None:
        """Open the file for writing, or raise if another process has it open."""
        with self.lock:
            self._opened()

    def close(self) -> None:
        """Let go of the file."""
        with self.lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _alone(self.path)
            _drop_torn_end(self._file)
        return self._file

    def _parsed(self, number: int, line: bytes) -> tuple[Cell, Stored]:
        try:
            record = json.loads(line)
            cell = Cell(**{field.name: record[field.name] for field in fields(Cell)})
            return cell, Stored(record["result"], record.get("seconds", 0.0), record.get("commit", ""))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"line {number} of {self.path} is not a stored cell ({error!r}); delete that line to compute it again."
            ) from error


def _alone(path: pathlib.Path) -> IO[bytes]:
    """The file, open for appending by this process alone."""
    file = path.open("a+b")
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise RuntimeError(
                f"another run writes to {path}; wait for it, or give another folder by --out."
            ) from error
    return file


def _drop_torn_end(file: IO[bytes]) -> None:
    """Cut what follows the last end of line: a cell that a killed process did not finish writing."""
    file.seek(0)
    whole = file.read()
    kept = whole.rfind(b"\n") + 1
    if kept < len(whole):
        file.truncate(kept)
    file.seek(0, os.SEEK_END)


def _plain(value: Any) -> Any:
    """NumPy's arrays and scalars as JSON knows them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"the result of a cell must be of numbers, strings, lists and dicts, got {type(value).__name__}.")
