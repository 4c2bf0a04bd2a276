"""Where the rows of `fit_batches` come from: batches in memory or of a function, or tables on disk; each row checked.

A block is some consecutive rows with the place they are from, which errors name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy import sparse

from lvq.model.rows import numbers, place_of
from lvq.tables.header import check_columns, listed
from lvq.typing import Argument, Array, Label, Labels

Path_ = str | os.PathLike[str]
Batches: TypeAlias = Callable[[], Iterable[object]] | Path_ | Sequence[object]


@dataclass(frozen=True)
class Block:
    """Some consecutive rows."""

    X: Array  # dense, or a CSR array
    y: Labels
    source: str
    number: Callable[[int], Label]  # of a row in messages, by its position in the block
    names: tuple[str, ...] | None = None

    def row(self, index: int) -> str:
        """The name of a row in messages."""
        return f"{self.source}, row {self.number(index)}"


Source: TypeAlias = Callable[[], Iterator[Block]]  # each call reads the rows again, in the same order


def make_source(batches: Batches, target: str | None, features: Sequence[str] | None, classes: Labels | None) -> Source:
    """The source that an argument `batches` means."""
    if isinstance(batches, str | os.PathLike):
        batches = [batches]
    if not callable(batches) and not isinstance(batches, Sequence):
        raise TypeError(
            "batches of fit_batches must be a function that returns a new iterator of batches at each call, a list of "
            f"batches, or one or several paths; got {type(batches).__name__}. An iterator can be read only once: give "
            "the function that makes it."
        )
    if not callable(batches) and not batches:
        raise ValueError("batches of fit_batches is an empty list; give at least one batch or path.")
    return partial(_blocks, batches if callable(batches) else lambda: batches, target, features, classes)


def _blocks(
    function: Callable[[], Iterable[object]],
    target: str | None,
    features: Sequence[str] | None,
    classes: Labels | None,
) -> Iterator[Block]:
    """The rows of batches, each (X, y), a table with a column of classes, or the path of one."""
    start = 0
    for number, batch in enumerate(function(), start=1):
        place = f"batch {number}"
        if isinstance(batch, tuple):
            blocks: Iterable[Block] = [_pair_block(batch, place, start)]
        elif target is None:
            raise ValueError(f"{place}: a batch must be a pair (X, y); a table needs target=, its column of classes.")
        else:
            blocks = _table_blocks(batch, place, start, target, features, classes)
        for block in blocks:
            features = block.names if features is None else features  # from the first table
            start += len(block.y)
            yield block


def _pair_block(batch: tuple[Argument, ...], place: str, start: int) -> Block:
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
    return Block(X, y, place, (start + 1).__add__, names)


def _table_blocks(
    batch: Argument, place: str, start: int, target: str, features: Sequence[str] | None, classes: Labels | None
) -> Iterator[Block]:
    """The rows of a table or of its file, in parts; strings that are numbers become numbers."""
    from lvq.tables.read import open_table
    from lvq.tables.values import Meaning, as_numbers, from_arrow

    source = place
    row_number: Callable[[int], Label] = (start + 1).__add__
    if isinstance(batch, str | os.PathLike):
        table = open_table(os.fspath(batch))
        source, row_number = str(table.path), table.row_number
    elif hasattr(batch, "columns") and (hasattr(batch, "iloc") or hasattr(batch, "schema")):
        table = open_table(batch if hasattr(batch, "iloc") else from_arrow(batch))
    else:
        raise TypeError(
            f"{place}: a batch must be a pair (X, y), a pandas DataFrame, an Arrow table or a path, got "
            f"{type(batch).__name__}."
        )
    columns = [name for name in table.names if name != target] if features is None else list(features)
    check_columns(table.names, [target, *columns], source)
    begin = 0
    for part in table.parts([*columns, target], Meaning(codes={target}), copied=[target]):

        def number(index: int, begin: int = begin) -> Label:
            return row_number(begin + index)

        X = np.column_stack([as_numbers(part[name], source, number) for name in columns])
        yield Block(X, _classes(part[target], classes), source, number, tuple(columns))
        begin += len(part)


def _classes(column: Argument, classes: Labels | None) -> Labels:
    """The classes of a column: numbers or strings as the given ones; else integers stay what they are."""
    from lvq.tables.values import as_numbers, as_text

    if classes is not None and classes.dtype.kind in "iuf":
        return as_numbers(column)
    if classes is None and column.dtype.kind in "iu" and not column.isna().any():
        whole: Labels = column.to_numpy(dtype=np.int64)
        return whole
    labels = as_text(column)
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
            problem = f"the columns are {_named(block)}, but the rows before have {_named(first)}"
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
        values = numbers(X)
        if np.isfinite(values.sum(dtype=np.float64)):  # one pass without a copy; it may overflow, hence the second look
            return
        allowed = self.allow_nan and not sparse.issparse(X)  # what a sparse row does not store is zero, not missing
        bad = np.isinf(values) if allowed else ~np.isfinite(values)
        if bad.any():
            row, column = place_of(X, bad)
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


def _named(block: Block) -> str:
    return "without names" if block.names is None else listed(block.names)


def _missing(y: Labels) -> np.ndarray:
    if y.dtype != object:
        return np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=bool)
    if "pandas" in sys.modules:  # without it there is no pandas.NA, which is not comparable
        return sys.modules["pandas"].isna(y)
    return np.array([label is None or label != label for label in y], dtype=bool)
