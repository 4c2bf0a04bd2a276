"""Rows of numbers and categories in two arrays, their distances, and the way back to what a pipeline takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lvq.estimators.find_model import FoundModel
from lvq.inspection.columns import Cells, encoded_columns, is_missing
from lvq.inspection.steps import Indices, names_before, positions
from lvq.typing import Floats, MatrixLike


class Mixed(NamedTuple):
    """Rows of numbers (NaN where missing) and of categories."""

    numbers: Floats
    categories: Cells

    def take(self, rows: Indices) -> Self:
        """Some rows."""
        return type(self)(self.numbers[rows], self.categories[rows])


class Layout:
    """Which columns of a pipeline's input are numbers and which are categories.

    Categories are the columns that an encoder of the pipeline takes, and columns that are not numbers.
    """

    def __init__(self, found: FoundModel, X: MatrixLike) -> None:
        self.names, self.template, encoded = names_before(found), X, encoded_columns(found)
        is_category = [k in encoded or numbers_of(cells_of(X, k)) is None for k in range(len(self.names))]
        self.numeric, self.categorical = np.flatnonzero(~np.array(is_category)), np.flatnonzero(is_category)

    def split(self, X: MatrixLike) -> Mixed:
        """Numbers and categories of samples."""
        numbers = [numbers_of(cells_of(X, column)) for column in self.numeric.tolist()]
        known = [column for column in numbers if column is not None]
        if len(known) < len(numbers):
            raise ValueError("samples of counterfactual must have the columns of X, with numbers where X has numbers.")
        categories = [_categories(cells_of(X, column)) for column in self.categorical.tolist()]
        empty = np.zeros((len(cells_of(X, 0)), 0))
        return Mixed(np.column_stack([empty, *known]), np.column_stack([empty.astype(object), *categories]))

    def join(self, rows: Mixed) -> MatrixLike:
        """Samples as the pipeline takes them: a data frame like X, or an array."""
        if not hasattr(self.template, "iloc"):
            kind = object if len(self.categorical) and np.asarray(self.template).dtype == object else np.float64
            whole = np.empty((len(rows.numbers), len(self.names)), dtype=kind)
            whole[:, self.numeric], whole[:, self.categorical] = rows.numbers, rows.categories
            return whole
        columns: dict[int, NDArray[np.generic]] = dict(zip(self.numeric.tolist(), rows.numbers.T))
        columns |= dict(zip(self.categorical.tolist(), rows.categories.T))
        kind = object if len(self.categorical) else np.float64  # pandas makes other objects of strings
        frame = type(self.template)({column: columns[column] for column in range(len(self.names))}, dtype=kind)
        kinds = {k: self.template.dtypes.iloc[k] for k in self.categorical.tolist()}
        frame = frame.astype(dict.fromkeys(self.numeric.tolist(), np.float64) | kinds)
        frame.columns = self.template.columns
        return frame

    def mask(self, columns: Sequence[str | int], purpose: str) -> NDArray[np.bool_]:
        """Which columns are named, by name or index."""
        chosen = np.zeros(len(self.names), dtype=np.bool_)
        chosen[positions(columns, self.names, purpose)] = True
        return chosen

    def limits(self, bounds: Mapping[str | int, tuple[float, float]], samples: Floats) -> tuple[Floats, Floats]:
        """Lower and upper end of each number: those given, otherwise the range of the samples."""
        low, high = np.nanmin(samples, axis=0, initial=np.inf), np.nanmax(samples, axis=0, initial=-np.inf)
        for column, ends in bounds.items():
            at = np.flatnonzero(self.mask([column], "bounds of counterfactual")[self.numeric])
            if not len(at):
                raise ValueError(f"bounds of counterfactual must be for columns of numbers; {column!r} has categories.")
            low[at], high[at] = ends
            if not ends[0] <= ends[1]:
                raise ValueError(f"bounds of counterfactual must be (lower, upper), got {ends!r} for {column!r}.")
        return low, high


def cells_of(X: MatrixLike, column: int) -> NDArray[np.generic]:
    """The cells of a column of a table or array."""
    if sparse.issparse(X):
        return X[:, [column]].toarray().ravel()
    return X.iloc[:, column].to_numpy() if hasattr(X, "iloc") else np.asarray(X)[:, column]


def numbers_of(cells: NDArray[np.generic]) -> Floats | None:
    """Cells as numbers, NaN where one is missing; None where they are not numbers.

    Examples
    --------
    >>> numbers_of(np.array([1, None, 2.5], dtype=object)), numbers_of(np.array(["1", "2"]))
    (array([1. , nan, 2.5]), None)
    """
    if cells.dtype.kind in "fiub":
        return cells.astype(np.float64)
    known = [np.nan if is_missing(cell) else cell for cell in (cells.tolist() if cells.dtype.kind == "O" else [""])]
    return np.array(known, dtype=np.float64) if all(isinstance(cell, Real) for cell in known) else None


def _categories(cells: NDArray[np.generic]) -> Cells:
    """Cells as objects; None where it was None, and NaN for all other missing values, which can be compared."""
    found = cells.astype(object)
    found[[is_missing(cell) and cell is not None for cell in found]] = np.nan
    return found


def is_gap(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Which values of rows are missing."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.array([is_missing(value) for value in values.flat], dtype=bool).reshape(values.shape)


def differ(one: NDArray[np.generic], other: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Which values of rows are different; missing ones are equal."""
    return np.asarray((one != other) & ~(is_gap(one) & is_gap(other)))


def lengths(units: Floats, one: Mixed, other: Mixed) -> Floats:
    """Distances between rows; a missing value is at distance 0."""
    difference = np.nan_to_num((one.numbers - other.numbers) / units)
    return np.sqrt((difference**2).sum(axis=1) + differ(one.categories, other.categories).sum(axis=1))
