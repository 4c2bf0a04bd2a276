"""Rows of the model's features in the variables of the input, where several features belong to one column.

A one-hot encoded column is one variable with a category as its value, and the indicator of missing values belongs to
its column. A prototype lies between categories: the one with the largest fraction is its value, with that fraction
beside it where it is not the only one (`lvq.category_fractions`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lvq.category_fractions import Fractions, category_fractions
from lvq.estimators.found import FoundModel
from lvq.importances import used_columns
from lvq.input_columns import Indices, Names, input_names
from lvq.input_values import input_values
from lvq.linear_maps import Floats
from lvq.typing import JSONValue

WHOLE = 0.995  # fraction from which a category is shown without it
NOTED = 0.005  # fraction from which a category or missing values are mentioned
ROUNDING = 1e-12  # of the size of a column: an inverted scaler leaves as much instead of 0


class VariableTable(NamedTuple):
    """Rows in the variables of the input; lists have an entry for each row, with one for each variable."""

    names: Names
    columns: Indices  # of the input
    values: list[list[float | str]]  # numbers, or the names of categories
    fractions: list[list[float | None]]  # of the category; None for numbers
    notes: list[list[str]]  # shown beside the value: its fraction, or the fraction of missing values; "" for none
    details: list[list[str]]  # fractions of all categories of the row; "" for numbers
    parts: Fractions  # all fractions

    @property
    def cells(self) -> list[list[float | str]]:
        """Numbers as they are, categories as texts with their fraction."""
        return [
            [value if part is None or not note else f"{value} ({note})" for value, part, note in zip(*row)]
            for row in zip(self.values, self.fractions, self.notes)
        ]


def variable_table(found: FoundModel, rows: NDArray[np.floating]) -> VariableTable | None:
    """Rows of the model's features as numbers and categories of the columns of the input that reach the model.

    None where each feature of the model is a column of its own, or a step between has no inverse.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from lvq import GLVQ
    >>> from lvq.estimators.found import need_model
    >>> model = make_pipeline(OneHotEncoder(sparse_output=False), GLVQ()).fit([["a"], ["b"], ["c"]], [0, 0, 1])
    >>> table = variable_table(need_model(model, ""), np.array([[0.75, 0.25, -0.1]]))
    >>> table.values, table.fractions, table.notes[0][0].split()
    ([['a']], [[0.75]], ['75', '%'])
    """
    if not found.steps or not hasattr(found.steps[0], "n_features_in_"):
        return None
    names = input_names(found.steps[0])
    columns = np.flatnonzero(used_columns(found.steps, found.model.n_features, len(names)))
    cells, parts = input_values(found, rows), category_fractions(found, rows)
    if (not parts.categories and len(columns) >= found.model.n_features) or cells is None:
        return None
    if any(cell is None for cell in cells[:, columns].ravel()):
        return None
    described = [_described(cells[:, column], column, parts) for column in columns.tolist()]
    values, fractions, notes, details = ([list(row) for row in zip(*part)] for part in zip(*described))
    return VariableTable(names[columns], columns, values, fractions, notes, details, parts)


def numbers_of(cells: NDArray[np.object_] | list[JSONValue]) -> Floats:
    """The numbers among some cells."""
    return np.array([cell for cell in cells if isinstance(cell, float | int)], dtype=np.float64)


def _described(
    cells: NDArray[np.object_], column: int, parts: Fractions
) -> tuple[list[float | str], list[float | None], list[str], list[str]]:
    """Values, fractions, notes and details of one column."""
    if column in parts.categories:
        names, fractions = parts.categories[column]
        largest = fractions.max(axis=1).tolist()
        return (
            [names[best] for best in fractions.argmax(axis=1)],
            largest,
            ["" if part >= WHOLE else _percent(part) for part in largest],
            [_detail(names, row) for row in fractions],
        )
    missing = parts.missing.get(column, np.zeros(len(cells)))
    noise = ROUNDING * np.abs(numbers_of(cells)).max(initial=0.0)
    values = [_value(cell, noise) for cell in cells]
    notes = [f"{_percent(part)} missing" if part >= NOTED else "" for part in missing]
    return values, [None] * len(cells), notes, [""] * len(cells)


def _value(cell: object, noise: float) -> float | str:
    if not isinstance(cell, float | int):
        return str(cell)
    return 0.0 if abs(cell) < noise else float(cell)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.0f}\N{NO-BREAK SPACE}%"


def _detail(categories: tuple[str, ...], fractions: Floats) -> str:
    order = np.argsort(-fractions, kind="stable")
    return ", ".join(f"{categories[k]} {_percent(fractions[k])}" for k in order if fractions[k] >= NOTED)
