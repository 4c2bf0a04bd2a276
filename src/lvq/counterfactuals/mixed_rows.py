"""Rows of numbers and categories in two arrays, their distances, and the way back to what a pipeline takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lvq.estimators.find_model import FoundModel
from lvq.inspection.columns import encoded_columns
from lvq.inspection.steps import Floats, Indices, Names, input_names, positions
from lvq.typing import MatrixLike

Cells = NDArray[np.object_]


class Mixed(NamedTuple):
    """Rows of numbers (NaN where missing) and of categories."""

    numbers: Floats
    categories: Cells

    def take(self, rows: Indices) -> Self:
        """Some rows."""
        return type(self)(self.numbers[rows], self.categories[rows])


class Layout:
    """Which columns of a pipeline's input are numbers and which are categories.

    Categories are the columns that an encoder of the pipeline takes, and those that are no numbers.
    """

    def __init__(self, found: FoundModel, X: MatrixLike) -> None:
        self.names: Names = input_names(found.steps[0] if found.steps else found.estimator)
        self.template, n_columns = X, len(self.names)
        encoded = encoded_columns(found)
        categorical = [column in encoded or not _is_number(X, column) for column in range(n_columns)]
        self.numeric, self.categorical = np.flatnonzero(~np.array(categorical)), np.flatnonzero(categorical)

    def split(self, X: MatrixLike) -> Mixed:
        """Numbers and categories of samples."""
        cells = X.to_numpy(dtype=object) if hasattr(X, "iloc") else np.asarray(X)
        try:
            numbers = cells[:, self.numeric].astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                "samples of counterfactual must have the columns of X, with numbers where X has numbers."
            ) from error
        return Mixed(numbers, cells[:, self.categorical].astype(object))

    def join(self, rows: Mixed) -> MatrixLike:
        """Samples as the pipeline takes them: a data frame like X, or an array."""
        if not hasattr(self.template, "iloc"):
            kind = object if len(self.categorical) and np.asarray(self.template).dtype == object else np.float64
            whole = np.empty((len(rows.numbers), len(self.names)), dtype=kind)
            whole[:, self.numeric], whole[:, self.categorical] = rows.numbers, rows.categories
            return whole
        columns: dict[int, NDArray[np.generic]] = dict(zip(self.numeric.tolist(), rows.numbers.T))
        columns |= dict(zip(self.categorical.tolist(), rows.categories.T))
        frame = type(self.template)({column: columns[column] for column in range(len(self.names))})
        frame.columns = self.template.columns
        kinds = {self.template.columns[k]: self.template.dtypes.iloc[k] for k in self.categorical.tolist()}
        return frame.astype(kinds)

    def mask(self, columns: Sequence[str | int], purpose: str) -> NDArray[np.bool_]:
        """Which columns are named, by name or index."""
        chosen = np.zeros(len(self.names), dtype=np.bool_)
        for column in columns:
            chosen[self._place(column, purpose)] = True
        return chosen

    def limits(self, bounds: Mapping[str | int, tuple[float, float]], samples: Floats) -> tuple[Floats, Floats]:
        """Lower and upper end of each number: those given, otherwise the range of the samples."""
        low, high = np.nanmin(samples, axis=0, initial=np.inf), np.nanmax(samples, axis=0, initial=-np.inf)
        for column, ends in bounds.items():
            place = self._place(column, "bounds")
            if place not in self.numeric:
                raise ValueError(f"bounds of counterfactual must be of columns of numbers, {column!r} has categories.")
            at = int(np.flatnonzero(self.numeric == place)[0])
            low[at], high[at] = ends
            if not low[at] <= high[at]:
                raise ValueError(f"bounds of counterfactual must be (lower, upper), got {ends!r} for {column!r}.")
        return low, high

    def _place(self, column: str | int, purpose: str) -> int:
        if isinstance(column, str) and column not in self.names.tolist():
            raise ValueError(f"{purpose} of counterfactual must name columns of {self.names.tolist()}, got {column!r}.")
        if not isinstance(column, str) and not -len(self.names) <= column < len(self.names):
            raise ValueError(
                f"{purpose} of counterfactual must name columns 0 to {len(self.names) - 1}, got {column!r}."
            )
        return int(positions([column], self.names)[0])


def _is_number(X: MatrixLike, column: int) -> bool:
    values = X.iloc[:, column].to_numpy() if hasattr(X, "iloc") else np.asarray(X)[:, column]
    return values.dtype.kind in "fiub"


def lengths(units: Floats, one: Mixed, other: Mixed) -> Floats:
    """Distances between rows; a missing value is at distance 0."""
    difference = np.nan_to_num((one.numbers - other.numbers) / units)
    return np.sqrt((difference**2).sum(axis=1) + (one.categories != other.categories).sum(axis=1))
