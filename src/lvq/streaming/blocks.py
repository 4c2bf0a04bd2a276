"""Blocks of rows: where they come from, whether they are valid, and groups of rows of a given size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from lvq.model.sparse_rows import is_sparse, numbers, take_rows
from lvq.typing import Array, JSONValue, Labels

INDEX_BYTES = 4  # of a column in a sparse row


class Position(NamedTuple):
    """The next row of a source: the number of its file (0 for a function), and of the row in it; both from 0."""

    file: int = 0
    row: int = 0


class Block(NamedTuple):
    """Some consecutive rows, and the position of the first of them."""

    X: Array  # dense, or a CSR array
    y: Labels
    start: Position
    place: str  # where the rows are, for messages: a file, or the number of a batch
    names: tuple[str, ...] | None = None
    first_row: int = 1  # number of a file's first row in messages: a line of names is not counted

    def row(self, index: int) -> str:
        """The name of a row in messages."""
        return f"{self.place}, row {self.start.row + index + self.first_row}"


class Source(Protocol):
    """Where rows come from; each call of `blocks` reads them again, in the same order."""

    def blocks(self, start: Position) -> Iterator[Block]:
        """Blocks from a position on."""

    def description(self) -> JSONValue:
        """What a checkpoint keeps to recognise the source."""

    def row_name(self, position: Position) -> str:
        """A row in messages."""


def rows_from(block: Block, first: int) -> Block | None:
    """The rows of a block from a row number of its file on; None where there are none."""
    skip = first - block.start.row
    if skip <= 0:
        return block
    if skip >= len(block.y):
        return None
    return block._replace(
        X=take_rows(block.X, slice(skip, None)), y=block.y[skip:], start=block.start._replace(row=first)
    )


@dataclass
class Layout:
    """What all blocks have in common: the first one sets the number of features, their type and names."""

    allow_nan: bool = False
    classes: Labels | None = None  # None in a first pass that finds them
    found: Labels | None = None  # classes that have been read so far in that pass
    n_features: int | None = None
    dtype: np.dtype = field(default_factory=lambda: np.dtype(np.float64))
    names: tuple[str, ...] | None = None
    stored: int | None = None  # numbers that a sparse row of the first block has, rounded up; None for dense rows

    @property
    def row_bytes(self) -> int:
        """Memory that a row takes, about; sparse ones by the first block."""
        if self.stored is None:
            return (self.n_features or 1) * self.dtype.itemsize
        return self.stored * (self.dtype.itemsize + INDEX_BYTES) + INDEX_BYTES

    def checked(self, block: Block) -> Block:
        """The block with samples of the common type; ValueError where it does not fit, with its place."""
        if self.n_features is None:
            self.n_features, self.names = block.X.shape[1], block.names
            self.dtype = np.dtype(np.float32 if block.X.dtype == np.float32 else np.float64)
            self.stored = 1 + block.X.nnz // len(block.y) if is_sparse(block.X) else None
        if block.X.shape[1] != self.n_features:
            raise ValueError(
                f"{block.row(0)}: {block.X.shape[1]} features, but the rows before have {self.n_features}; every "
                "batch must have the same columns."
            )
        if block.names != self.names:
            raise ValueError(
                f"{block.row(0)}: the columns are {_listed(block.names)}, but those of the rows before are "
                f"{_listed(self.names)}; every batch must have the same columns in the same order."
            )
        if is_sparse(block.X) != (self.stored is not None):
            kinds = ("sparse", "dense") if is_sparse(block.X) else ("dense", "sparse")
            raise ValueError(
                f"{block.row(0)}: the rows are {kinds[0]}, but those before are {kinds[1]}; give all batches in the "
                "same form."
            )
        with np.errstate(over="ignore"):
            X = block.X.astype(self.dtype, copy=False)
        self._check_values(block, X)
        self._check_classes(block)
        return block._replace(X=X)

    def _check_values(self, block: Block, X: Array) -> None:
        values = numbers(X)
        if np.isfinite(values.sum(dtype=np.float64)):  # one pass without a copy; it may overflow, hence the second look
            return
        allowed = self.allow_nan and not is_sparse(X)  # what a sparse row does not store is zero, not missing
        bad = np.isinf(values) if allowed else ~np.isfinite(values)
        if bad.any():
            row, column = _place(X, bad)
            name, value = repr(block.names[column]) if block.names else str(column), X[row, column]
            ignore = ", or use missing='ignore' of the models (--missing ignore)"
            raise ValueError(
                f"{block.row(row)}: the value in column {name} is {value}, and the model needs finite numbers; correct "
                f"or remove the row{ignore if np.isnan(value) and not is_sparse(X) else ''}."
            )

    def _check_classes(self, block: Block) -> None:
        missing = _missing(block.y)
        if missing.any():
            raise ValueError(f"{block.row(int(np.argmax(missing)))}: the class is missing; add it or remove the row.")
        if self.classes is None:
            return
        unknown = ~np.isin(block.y, self.classes)
        if unknown.any():
            row = int(np.argmax(unknown))
            raise ValueError(
                f"{block.row(row)}: the class {block.y[row : row + 1].tolist()[0]!r} is not among the classes "
                f"{self.classes.tolist()}; name all of them in classes=, or leave out classes=, so that a first pass "
                "finds them."
            )


def _listed(names: tuple[str, ...] | None) -> str:
    return "without names" if names is None else ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")


def _place(X: Array, found: np.ndarray) -> tuple[int, int]:
    """Row and column of the first number of X for which `found` is true."""
    if not is_sparse(X):
        row, column = np.argwhere(found)[0].tolist()
        return row, column
    place = int(np.argmax(found))
    return int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])


def _missing(y: Labels) -> np.ndarray:
    if y.dtype == object:
        return np.array([label is None or label != label for label in y.tolist()], dtype=bool)
    return np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=bool)


class Rows(NamedTuple):
    """A group of rows: samples, and the indices of their classes; -1 where the classes are not known yet."""

    X: Array
    y: Labels


class RowReader:
    """Reads groups of rows of a source from a position on; blocks may end anywhere.

    Dense samples of a group are in one array that the next group overwrites.
    """

    def __init__(self, source: Source, layout: Layout, start: Position) -> None:
        self.layout, self.position = layout, start
        self._blocks = source.blocks(start)
        self._rest: Block | None = None
        self._samples = np.empty((0, 0))

    def next_rows(self, group_rows: Callable[[], int]) -> Rows | None:
        """The next rows, as many as the function returns after the first block, or fewer at the end; None after it."""
        self._rest = self._rest or self._next_block()
        if self._rest is None:
            return None
        count, done = group_rows(), 0
        buffer, parts = self._buffer(count, self._rest.X), list[Array]()
        labels = np.full(count, -1)
        while done < count and self._rest is not None:
            block, taken = self._rest, min(count - done, len(self._rest.y))
            part = take_rows(block.X, slice(0, taken))
            if buffer is None:
                parts.append(part)
            else:
                buffer[done : done + taken] = part
            labels[done : done + taken] = self._indices(block.y[:taken])
            done += taken
            self.position = Position(block.start.file, block.start.row + taken)
            self._rest = rows_from(block, self.position.row) or self._next_block()
        return Rows(sparse.vstack(parts, format="csr") if buffer is None else buffer[:done], labels[:done])

    def _buffer(self, count: int, like: Array) -> np.ndarray | None:
        """The array of dense rows; None for sparse ones, which are joined."""
        if is_sparse(like):
            return None
        if self._samples.shape != (count, like.shape[1]):
            self._samples = np.empty((count, like.shape[1]), dtype=like.dtype)
        return self._samples

    def _next_block(self) -> Block | None:
        found = next((block for block in self._blocks if len(block.y)), None)
        return None if found is None else self.layout.checked(found)

    def _indices(self, y: Labels) -> Labels | int:
        layout = self.layout
        if layout.classes is not None:
            return np.searchsorted(layout.classes, y)
        layout.found = np.unique(y if layout.found is None else np.concatenate((layout.found, np.unique(y))))
        return -1
