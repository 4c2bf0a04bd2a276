"""Sources of rows: functions that return batches, and tables on disk."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import numpy as np

from lvq.model.sparse_rows import canonical, is_sparse
from lvq.streaming.blocks import Block, Position, Source, rows_from
from lvq.typing import Argument, JSONValue, Labels

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Batches: TypeAlias = "Callable[[], Iterable[object]] | str | os.PathLike[str] | Sequence[object] | FunctionSource"
Item = TypeVar("Item")
Kind = Literal["text", "number", "as stored"]  # of the classes in a file
AHEAD = 8  # parts of a file that are read while rows before them are used; at most 16 MB each
SAMPLE_BYTES = 1 << 16  # at either end of a file, by which it is recognised


def make_source(batches: Batches, target: str | None, features: Sequence[str] | None, classes: Labels | None) -> Source:
    """The source that an argument `batches` means."""
    if isinstance(batches, FunctionSource):
        return batches
    if isinstance(batches, str | os.PathLike):
        batches = [batches]
    if isinstance(batches, Sequence) and batches and all(isinstance(item, str | os.PathLike) for item in batches):
        if target is None:
            raise ValueError("fit_batches needs target=, the column of classes, to read files.")
        kind: Kind = "as stored" if classes is None else "number" if classes.dtype.kind in "iuf" else "text"
        return FileSource([Path(str(path)) for path in batches], target, features, kind)
    if callable(batches):
        return FunctionSource(batches, target, features)
    if isinstance(batches, Sequence):
        if not batches:
            raise ValueError("batches of fit_batches is an empty list; give at least one batch or path.")
        return FunctionSource(lambda: iter(batches), target, features)
    raise TypeError(
        "batches of fit_batches must be a function that returns a new iterator of batches at each call, a list of "
        f"batches, or one or several paths; got {type(batches).__name__}. An iterator can be read only once: give the "
        "function that makes it."
    )


class FunctionSource:
    """Batches that a function returns, each (X, y) or a table with a column of classes."""

    def __init__(
        self,
        function: Callable[[], Iterable[object]],
        target: str | None = None,
        features: Sequence[str] | None = None,
        recognised_by: JSONValue = "a function",
        named_by: Callable[[int], str] = "row {} of the batches".format,
    ) -> None:
        self.function, self.target, self.features = function, target, features
        self.recognised_by, self.named_by = recognised_by, named_by

    def blocks(self, start: Position) -> Iterator[Block]:
        """Batches from a position on; those before are made again and skipped."""
        row = 0
        for number, batch in enumerate(self.function(), start=1):
            block = self._block(batch, Position(0, row), f"batch {number}")
            row += len(block.y)
            wanted = rows_from(block, start.row)
            if wanted is not None:
                yield wanted

    def _block(self, batch: Argument, start: Position, place: str) -> Block:
        if not isinstance(batch, tuple):
            return self._table_block(batch, start, place)
        if len(batch) != 2:
            raise ValueError(f"{place}: a batch must be a pair (X, y) or a table, got {len(batch)} items.")
        X, y = batch
        names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
        try:
            X, y = canonical(X) if is_sparse(X) else np.asarray(X), np.asarray(y)
            X = X if X.dtype == np.float32 else X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{place}: X must hold numbers in a valid array ({error}).") from error
        if X.ndim != 2 or y.shape != X.shape[:1]:
            raise ValueError(
                f"{place}: X must have two dimensions and y one value for each row, got the shapes {X.shape} and "
                f"{y.shape}."
            )
        return Block(X, y, start, place, names)

    def _table_block(self, table: Argument, start: Position, place: str) -> Block:
        from lvq.streaming.table_rows import block_of

        if self.target is None:
            raise ValueError(f"{place}: a batch must be a pair (X, y); a table needs target=, its column of classes.")
        return block_of(as_arrow(table, place), self.target, self.features, start, place, "as stored")

    def description(self) -> JSONValue:
        """What a checkpoint recognises the function by; by itself it cannot be recognised."""
        return self.recognised_by

    def row_name(self, position: Position) -> str:
        """A row in messages, by its number from 1."""
        return self.named_by(position.row + 1)


def as_arrow(table: pd.DataFrame | pa.Table | pa.RecordBatch, place: str) -> pa.Table | pa.RecordBatch:
    """A table in memory as Arrow."""
    import pyarrow as pa

    if isinstance(table, pa.Table | pa.RecordBatch):
        return table
    if hasattr(table, "columns") and hasattr(table, "iloc"):
        return pa.Table.from_pandas(table, preserve_index=False)
    raise TypeError(
        f"{place}: a batch must be a pair (X, y), a pandas DataFrame or an Arrow table, got {type(table).__name__}."
    )


class FileSource:
    """Tables on disk, one after another; all have the columns of the first."""

    def __init__(
        self, paths: list[Path], target: str, features: Sequence[str] | None, kind: Kind, first_row: int = 1
    ) -> None:
        from lvq.tables import TableError, column_names
        from lvq.tables.reading import FileState

        self.paths, self.target, self.kind, self.first_row = paths, target, kind, first_row
        self.states = [FileState.of(path) for path in paths]  # the same in all passes
        names = column_names(paths[0])
        self.features = [name for name in names if name and name != target] if features is None else list(features)
        for path in paths:
            present = names if path == paths[0] else column_names(path)
            absent = [name for name in (target, *self.features) if name not in present]
            if absent:
                raise TableError(
                    f"{path} has no column {', '.join(map(repr, absent))}; it has {', '.join(map(repr, present))}."
                )
            further = [name for name in present if name and name not in names]
            if further and features is None:
                raise TableError(
                    f"{path} has the further column {', '.join(map(repr, further))}, which {paths[0]} does not have; "
                    "name the columns to use in features=, or give files with the same columns."
                )

    def blocks(self, start: Position) -> Iterator[Block]:
        """Parts of the files from a position on, read ahead."""
        return made_ahead(self._blocks(start))

    def _blocks(self, start: Position) -> Iterator[Block]:
        from lvq.streaming.table_rows import block_of
        from lvq.tables.reading import read_batches

        for number, path in enumerate(self.paths[start.file :], start=start.file):
            row, first = 0, start.row if number == start.file else 0
            for batch in read_batches(path, [*self.features, self.target], state=self.states[number]):
                begin, row = row, row + batch.num_rows
                if row <= first:
                    continue
                batch = batch.slice(max(0, first - begin))
                position = Position(number, max(begin, first))
                yield block_of(batch, self.target, self.features, position, str(path), self.kind, self.first_row)

    def description(self) -> JSONValue:
        """Name, size and a digest of both ends of each file."""
        return [[path.name, path.stat().st_size, _digest(path)] for path in self.paths]

    def row_name(self, position: Position) -> str:
        """A row in messages, by its number in its file."""
        return f"row {position.row + self.first_row} of {self.paths[position.file]}"


def made_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The items of an iterator; the next ones are made in a thread while one is used.

    Examples
    --------
    >>> list(made_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    pool = ThreadPoolExecutor(1)
    try:
        made = deque(pool.submit(next, items, None) for _ in range(AHEAD))
        while (item := made.popleft().result()) is not None:
            made.append(pool.submit(next, items, None))
            yield item
    finally:
        pool.shutdown(cancel_futures=True)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(SAMPLE_BYTES)
        file.seek(max(0, path.stat().st_size - SAMPLE_BYTES))
        return hashlib.sha256(content + file.read()).hexdigest()
