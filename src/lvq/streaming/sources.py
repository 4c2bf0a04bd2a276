"""Where the rows of `fit_batches` come from: batches in memory or of a function, or tables on disk; each row checked.

A block is some consecutive rows with the place they are from, which errors name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import sparse

from lvq.typing import Argument, Array, Labels

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Path_ = str | os.PathLike[str]
Batches: TypeAlias = Callable[[], Iterable[object]] | Path_ | Sequence[object]


@dataclass(frozen=True)
class Block:
    """Some consecutive rows."""

    X: Array  # dense, or a CSR array
    y: Labels
    row: Callable[[int], str]  # the name of a row in messages, by its position in the block
    names: tuple[str, ...] | None = None


Source: TypeAlias = Callable[[], Iterator[Block]]  # each call reads the rows again, in the same order


def make_source(batches: Batches, target: str | None, features: Sequence[str] | None, classes: Labels | None) -> Source:
    """The source that an argument `batches` means."""
    if isinstance(batches, str | os.PathLike):
        batches = [batches]
    if isinstance(batches, Sequence) and batches and all(isinstance(item, str | os.PathLike) for item in batches):
        if target is None:
            raise ValueError("fit_batches needs target=, the column of classes, to read files.")
        numbered = classes is not None and classes.dtype.kind in "iuf"
        kind = "as stored" if classes is None else "number" if numbered else "text"
        return _of_files([Path(str(path)) for path in batches], target, features, kind)
    if callable(batches):
        return partial(_of_function, batches, target, features)
    if isinstance(batches, Sequence):
        if not batches:
            raise ValueError("batches of fit_batches is an empty list; give at least one batch or path.")
        return partial(_of_function, lambda: iter(batches), target, features)
    raise TypeError(
        "batches of fit_batches must be a function that returns a new iterator of batches at each call, a list of "
        f"batches, or one or several paths; got {type(batches).__name__}. An iterator can be read only once: give the "
        "function that makes it."
    )


def _of_function(
    function: Callable[[], Iterable[object]], target: str | None, features: Sequence[str] | None
) -> Iterator[Block]:
    """Batches that a function returns, each (X, y) or a table with a column of classes."""
    start = 0
    for number, batch in enumerate(function(), start=1):
        place = f"batch {number}"

        def row(index: int, place: str = place, start: int = start) -> str:
            return f"{place}, row {start + index + 1}"

        if isinstance(batch, tuple):
            block = _pair_block(batch, row, place)
        elif target is None:
            raise ValueError(f"{place}: a batch must be a pair (X, y); a table needs target=, its column of classes.")
        else:
            block = table_block(_as_arrow(batch, place), target, features, row, place)
        start += len(block.y)
        yield block


def _pair_block(batch: tuple[Argument, ...], row: Callable[[int], str], place: str) -> Block:
    if len(batch) != 2:
        raise ValueError(f"{place}: a batch must be a pair (X, y) or a table, got {len(batch)} items.")
    X, y = batch
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
    try:
        X, y = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X), np.asarray(y)
        X = X if X.dtype == np.float32 else X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place}: X must hold numbers in a valid array ({error}).") from error
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(
            f"{place}: X must have two dimensions and y one value for each row, got the shapes {X.shape} and {y.shape}."
        )
    return Block(X, y, row, names)


def _as_arrow(table: pd.DataFrame | pa.Table | pa.RecordBatch, place: str) -> pa.Table | pa.RecordBatch:
    import pyarrow as pa

    if isinstance(table, pa.Table | pa.RecordBatch):
        return table
    if hasattr(table, "columns") and hasattr(table, "iloc"):
        return pa.Table.from_pandas(table, preserve_index=False)
    raise TypeError(
        f"{place}: a batch must be a pair (X, y), a pandas DataFrame or an Arrow table, got {type(table).__name__}."
    )


def _of_files(paths: list[Path], target: str, features: Sequence[str] | None, kind: str) -> Source:
    """Tables on disk, one after another; all have the columns of the first, and stay as they are in all passes."""
    from lvq.tables.header import TableError
    from lvq.tables.read import open_table

    tables = [open_table(path) for path in paths]
    columns = [name for name in tables[0].names if name and name != target] if features is None else list(features)
    for path, table in zip(paths, tables):
        absent = [name for name in (target, *columns) if name not in table.names]
        if absent:
            raise TableError(
                f"{path} has no column {', '.join(map(repr, absent))}; it has {', '.join(map(repr, table.names))}."
            )

    def blocks() -> Iterator[Block]:
        for table in tables:
            start = 0
            for batch in table.batches([*columns, target]):

                def row(index: int, table: Argument = table, start: int = start) -> str:
                    return f"{table.path}, row {table.row_number(start + index)}"

                yield table_block(batch, target, columns, row, str(table.path), kind)
                start += batch.num_rows

    return blocks


def table_block(
    table: pa.Table | pa.RecordBatch,
    target: str,
    features: Sequence[str] | None,
    row: Callable[[int], str],
    place: str,
    kind: str = "as stored",
) -> Block:
    """Rows of a table as a block; strings that are numbers become numbers."""
    from lvq.tables.values import as_text, to_series

    names = [name for name in table.schema.names if name != target] if features is None else list(features)
    absent = [name for name in (target, *names) if name not in table.schema.names]
    if absent:
        raise ValueError(f"{place}: there is no column {', '.join(map(repr, absent))}.")
    narrow = all(str(table.schema.field(name).type) == "float" for name in names)
    X = np.empty((table.num_rows, len(names)), dtype=np.float32 if narrow else np.float64)
    for position, name in enumerate(names):
        X[:, position] = _numbers(table.column(name), name, row)
    if kind == "number":
        return Block(X, _numbers(table.column(target), target, row), row, tuple(names))
    labels = to_series(table.column(target), exact=True)
    whole = kind == "as stored" and labels.dtype.kind in "iu" and not labels.isna().any()
    return Block(X, labels.to_numpy(dtype=np.int64) if whole else _strings(as_text(labels)), row, tuple(names))


def _numbers(column: pa.Array | pa.ChunkedArray, name: str, row: Callable[[int], str]) -> np.ndarray:
    """Values as numbers, NaN for missing ones; TableError where they are none."""
    from lvq.tables.values import as_numbers, to_series

    column = column.cast("float64") if str(column.type) == "bool" else column
    found = to_series(column, as_number=True).rename(name)
    return as_numbers(found, "the stream", lambda place: row(place).replace(", row ", ":"))


def _strings(labels: Labels) -> Labels:
    return labels if any(label is None for label in labels) else labels.astype(str)


@dataclass
class Layout:
    """What all blocks have in common: the first one sets the number of features, their type, names and form."""

    allow_nan: bool = False
    classes: Labels | None = None  # None in a first pass that finds them
    first: Block | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the features."""
        return None if self.first is None else self.first.names

    def checked(self, block: Block) -> Block:
        """The block with samples of the common type; ValueError where it does not fit, with its place."""
        first = self.first = self.first or block
        forms = ["sparse" if sparse.issparse(part.X) else "dense" for part in (block, first)]
        problem = ""
        if block.X.shape[1] != first.X.shape[1]:
            problem = f"{block.X.shape[1]} features, but the rows before have {first.X.shape[1]}"
        elif block.names != first.names:
            problem = f"the columns are {_listed(block.names)}, but those of the rows before are {_listed(first.names)}"
        elif forms[0] != forms[1]:
            problem = f"the rows are {forms[0]}, but those before are {forms[1]}"
        if problem:
            raise ValueError(f"{block.row(0)}: {problem}; give all batches with the same columns in the same form.")
        with np.errstate(over="ignore"):
            X = block.X.astype(first.X.dtype, copy=False)
        self._check_values(block, X)
        self._check_classes(block)
        return replace(block, X=X)

    def _check_values(self, block: Block, X: Array) -> None:
        values = X.data if sparse.issparse(X) else X
        if np.isfinite(values.sum(dtype=np.float64)):  # one pass without a copy; it may overflow, hence the second look
            return
        allowed = self.allow_nan and not sparse.issparse(X)  # what a sparse row does not store is zero, not missing
        bad = np.isinf(values) if allowed else ~np.isfinite(values)
        if bad.any():
            row, column = _place(X, bad)
            name, value = repr(block.names[column]) if block.names else str(column), X[row, column]
            ignore = ", or use missing='ignore' of the models"
            raise ValueError(
                f"{block.row(row)}: the value in column {name} is {value}, and the model needs finite numbers; correct "
                f"or remove the row{ignore if np.isnan(value) and not sparse.issparse(X) else ''}."
            )

    def _check_classes(self, block: Block) -> None:
        missing = _missing(block.y)
        if missing.any():
            raise ValueError(f"{block.row(int(np.argmax(missing)))}: the class is missing; add it or remove the row.")
        known = block.y if self.classes is None else self.classes
        unknown = np.flatnonzero(~np.isin(block.y, known))
        if len(unknown):
            raise ValueError(
                f"{block.row(int(unknown[0]))}: the class {block.y.tolist()[unknown[0]]!r} is not among the classes "
                f"{known.tolist()}; name all of them in classes=, or leave out classes=, and a first pass "
                "finds them."
            )


def _listed(names: tuple[str, ...] | None) -> str:
    return "without names" if names is None else ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")


def _place(X: Array, found: np.ndarray) -> tuple[int, int]:
    """Row and column of the first number of X for which `found` is true."""
    if not sparse.issparse(X):
        row, column = np.argwhere(found)[0].tolist()
        return row, column
    place = int(np.argmax(found))
    return int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])


def _missing(y: Labels) -> np.ndarray:
    if y.dtype != object:
        return np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=bool)
    if "pandas" in sys.modules:  # without it there is no pandas.NA, which is not comparable
        return sys.modules["pandas"].isna(y)
    return np.array([label is None or label != label for label in y], dtype=bool)
