"""Rows of the model's features as rows of a pipeline's input: numbers in their units, categories as one value.

The steps are inverted from the last to the first, as in `lvq.original_features`. A one-hot encoding goes back to the
category whose code is nearest, so that a prototype with 0.7 of one category and 0.4 of another has the first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from lvq.estimators.found import FoundModel
from lvq.input_columns import blocks, outputs_per_column
from lvq.linear_maps import Floats
from lvq.model.arrays import as_numpy
from lvq.model.sparse_rows import filled, take_rows
from lvq.original_features import invert
from lvq.typing import JSONValue, MatrixLike

Cells = NDArray[np.object_]


def input_values(found: FoundModel, rows: NDArray[np.floating]) -> Cells | None:
    """Rows of the model's features in the columns of the pipeline's input; None where a step has no inverse.

    A column that the model does not use, or whose own steps have no inverse, is None.
    """
    values = np.asarray(rows, dtype=np.float64)
    if found.steps and isinstance(found.steps[0], ColumnTransformer):
        behind = back(found.steps[1:], values)
        return None if behind is None else _back_through_blocks(found.steps[0], behind.astype(np.float64))
    behind = back(found.steps, values)
    return None if behind is None else _cells(behind)


def input_cells(X: MatrixLike, row: int) -> list[JSONValue]:
    """The values of one row of samples as they were given, in Python's types; None where a value is missing."""
    if hasattr(X, "iloc"):
        cells = X.iloc[row].tolist()
    elif hasattr(X, "column_names"):  # pyarrow
        cells = [X.column(name)[row].as_py() for name in X.column_names]
    elif hasattr(X, "row"):  # polars
        cells = list(X.row(row))
    else:
        cells = np.asarray(filled(take_rows(as_numpy(X), [row])) if hasattr(X, "shape") else X[row]).ravel().tolist()
    return [None if cell is None or cell != cell else cell for cell in cells]


def _back_through_blocks(table: ColumnTransformer, values: Floats) -> Cells:
    result = np.full((len(values), table.n_features_in_), None, dtype=object)
    for block in blocks(table):
        before = back(block.steps, values[:, block.output])
        if before is not None and before.shape[1] >= len(block.columns):  # indicators of missing values come after
            result[:, block.columns] = _cells(before[:, : len(block.columns)])
    return result


def _cells(values: NDArray[np.generic]) -> Cells:
    cells = values.astype(object)
    cells[np.array([[cell != cell for cell in row] for row in cells], dtype=bool).reshape(cells.shape)] = None
    return cells


def back(steps: Sequence[BaseEstimator], values: NDArray[np.generic]) -> NDArray[np.generic] | None:
    before: NDArray[np.generic] | None = values
    for step in reversed(steps):
        if before is None:
            return None
        if isinstance(step, OneHotEncoder):
            before = step.inverse_transform(hard_codes(step, before.astype(np.float64)))
        elif isinstance(step, OrdinalEncoder):
            most = np.array([len(categories) - 1 for categories in step.categories_])
            before = step.inverse_transform(np.clip(np.rint(before.astype(np.float64)), 0, most))
        elif before.dtype != object:
            before = _inverted(step, before.astype(np.float64))
        elif not isinstance(step, SimpleImputer):  # an imputer of categories keeps them
            before = None
    return before


def _inverted(step: BaseEstimator, values: Floats) -> Floats | None:
    try:
        return invert(step, values)
    except ValueError:  # NaN, where a selector after this step has removed a column
        return None


def hard_codes(encoder: OneHotEncoder, codes: Floats) -> Floats:
    """One-hot codes nearest to given numbers: 1 for one category of each column, or 0 for all where that is dropped.

    Examples
    --------
    >>> encoder = OneHotEncoder().fit([["a"], ["b"], ["c"]])
    >>> hard_codes(encoder, np.array([[0.7, 0.9, -0.3]])).tolist()
    [[0.0, 1.0, 0.0]]
    """
    hard, begin = np.zeros_like(codes), 0
    dropped = encoder.drop_idx_ if encoder.drop_idx_ is not None else [None] * encoder.n_features_in_
    for count, drop in zip(np.broadcast_to(outputs_per_column(encoder), encoder.n_features_in_).tolist(), dropped):
        part = codes[:, begin : begin + count]
        if count:
            largest = part.argmax(axis=1)
            chosen = np.ones(len(part), dtype=bool) if drop is None else part.max(axis=1) > 0.5
            hard[np.flatnonzero(chosen), begin + largest[chosen]] = 1
        begin += count
    return hard
