"""Arrow tables as samples and classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lvq.streaming.blocks import Block, Position
from lvq.table_headers import is_number
from lvq.tables.columns import Column, as_text, cleaned, parsed, to_series

if TYPE_CHECKING:
    from lvq.streaming.sources import Kind
    from lvq.typing import Labels


def block_of(
    table: pa.Table | pa.RecordBatch,
    target: str,
    features: Sequence[str] | None,
    start: Position,
    place: str,
    kind: Kind,
    first_row: int = 1,
) -> Block:
    """Rows of a table as a block; texts that are numbers become numbers."""
    names = [name for name in table.schema.names if name != target] if features is None else list(features)
    absent = [name for name in (target, *names) if name not in table.schema.names]
    if absent:
        raise ValueError(f"{place}: there is no column {', '.join(map(repr, absent))}.")
    columns = {name: _whole(table.column(table.schema.get_field_index(name))) for name in (*names, target)}
    narrow = all(columns[name].type == pa.float32() for name in names)
    X = np.empty((table.num_rows, len(names)), dtype=np.float32 if narrow else np.float64)
    block = Block(X, np.zeros(0), start, place, tuple(names), first_row)
    for place_in_row, name in enumerate(names):
        X[:, place_in_row] = _numbers(columns[name], name, block)
    return block._replace(y=_labels(columns[target], target, kind, block))


def _whole(column: Column) -> pa.Array:
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _numbers(column: pa.Array, name: str, block: Block) -> np.ndarray:
    """Values as numbers, NaN for missing ones; ValueError where they are none."""
    kind, types = column.type, pa.types
    if types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind):
        return column.to_numpy(zero_copy_only=False).astype(np.float64 if column.null_count else kind.to_pandas_dtype())
    if types.is_decimal(kind) or types.is_null(kind):
        return pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if not (types.is_string(kind) or types.is_large_string(kind)):
        raise ValueError(f"{block.row(0)}: the column {name!r} holds values of type {kind}, not numbers; leave it out.")
    texts = cleaned(column)
    numbers = parsed(texts)
    if numbers is None:
        listed = enumerate(texts.to_pylist())
        row, text = next(
            ((row, text) for row, text in listed if text is not None and not is_number(text)), (0, "texts")
        )
        raise ValueError(
            f"{block.row(row)}: the column {name!r} holds {text!r}, not a number; correct or leave it out."
        )
    return numbers.to_numpy(zero_copy_only=False)


def _labels(column: pa.Array, name: str, kind: Kind, block: Block) -> Labels:
    if kind == "number":
        return _numbers(column, name, block)
    if kind == "as stored" and pa.types.is_integer(column.type) and not column.null_count:
        return column.to_numpy(zero_copy_only=False)
    texts = as_text(to_series(column))
    return texts if any(text is None for text in texts) else texts.astype(str)
