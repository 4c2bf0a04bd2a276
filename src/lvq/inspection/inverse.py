"""Rows of the model's features, such as prototypes, back in the columns of the pipeline's input.

The steps are undone from the last to the first. A ColumnTransformer that is the first step is undone block by block.
Where a step has no inverse, nothing is guessed. An encoder of categories can be seen in three ways:
- `to_original_units`: its codes, such as 0 and 1, not standardised ones, under the names of the encoder;
- `input_values`: the category whose code is nearest, so a prototype with 0.7 of one category and 0.4 of another has
  the first;
- `category_fractions`: the fraction of each category. That is its code, at least 0, divided by the sum over the
  categories: for a mean of samples it is the fraction of the samples with this category. The number of an indicator
  of missing values, between 0 and 1, is the fraction of missing values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

from lvq.estimators.find_model import FoundModel
from lvq.inspection.columns import is_missing, names_after, names_by_step, used_columns
from lvq.inspection.steps import (
    Floats,
    Indices,
    Names,
    Rows,
    Step,
    Weight,
    adapter,
    blocks,
    codes_per_column,
    indicated,
    input_names,
)
from lvq.typing import JSONValue

Cells = NDArray[np.object_]
RARE = "other"  # the common column of infrequent categories
WHOLE = 0.995  # fraction from which a category is shown without it
NOTED = 0.005  # fraction from which a category or missing values are mentioned
ROUNDING = 1e-12  # of the size of a column: an inverted scaler leaves as much instead of 0


def undone(steps: Sequence[Step], rows: Floats) -> tuple[Floats | None, int]:
    """Rows before the steps, and the number of steps that are not undone.

    The rows are codes where steps are left: the last of these is an encoder, or an imputer with indicators that is the
    first step of all. They are None where it has no inverse.
    """
    for index, step in reversed(list(enumerate(steps))):
        if adapter(step).encodes or (index == 0 and len(indicated(step))):
            return rows, index + 1
        before = adapter(step).inverse(step, rows)
        if before is None:
            return None, index + 1
        rows = before.astype(np.float64)
    return rows, 0


class Part(NamedTuple):
    """Rows behind some steps, and the columns of the input that these take."""

    steps: Sequence[Step]
    columns: Indices
    rows: Floats


def _parts(found: FoundModel, rows: ArrayLike) -> Iterator[Part] | None:
    """The blocks of a first ColumnTransformer, or the whole pipeline; None where a step behind has no inverse."""
    values, first = np.asarray(rows, dtype=np.float64), found.steps[0] if found.steps else found.estimator
    if not isinstance(first, ColumnTransformer):
        return iter([Part(found.steps, np.arange(len(names_by_step(found)[0])), values)])
    behind, left = undone(found.steps[1:], values)
    if behind is None or left:
        return None
    return (Part(block.steps, block.columns, behind[:, block.output]) for block in blocks(first))


# -- numbers -----------------------------------------------------------------------------------------------------------


class OriginalValues(NamedTuple):
    """Rows in the units of the pipeline's input, and the names of their columns."""

    values: Floats
    names: Names


def to_original_units(found: FoundModel, rows: ArrayLike, purpose: str) -> OriginalValues:
    """Rows of the features that reach the model, in the units of the pipeline's input.

    Indicators of missing values and codes of categories come after the columns, under their own names. A block of a
    ColumnTransformer without an inverse keeps the values that the model sees.
    """
    names, in_blocks = names_by_step(found), bool(found.steps) and isinstance(found.steps[0], ColumnTransformer)
    parts = _parts(found, rows)
    if parts is None:
        left = undone(found.steps[1:], np.asarray(rows, dtype=np.float64))[1]
        raise ValueError(_no_inverse(found, 1 + left, purpose))
    found_values, found_names = [], []
    for steps, columns, behind in parts:
        values, left = undone(steps, behind)
        if values is None and not in_blocks:
            raise ValueError(_no_inverse(found, left, purpose))
        values, left = (behind, len(steps)) if values is None else (values, left)
        title = names[0][columns]
        for step, following in zip(steps[:left], [*(step.n_features_in_ for step in steps[1:left]), values.shape[1]]):
            title = title if isinstance(step, Weight) else names_after(step, title, following)
        found_values.append(values)
        found_names.append(title)
    return OriginalValues(np.hstack(found_values), np.concatenate(found_names))


def _no_inverse(found: FoundModel, count: int, purpose: str) -> str:
    """A message about the last of the first `count` steps."""
    return (
        f"{purpose} cannot invert {type(found.steps[count - 1]).__name__}, step {count - 1} of the pipeline, to give "
        "prototypes in the units of X; pass the part of the pipeline after that step, and X as it comes out of it."
    )


def steps_without_inverse(found: FoundModel) -> list[str]:
    """Names of the steps before a model, where they cannot be inverted: its features are then not columns of X.

    A step such as `StandardNormalVariate` keeps the names of the columns, though each of its outputs depends on all
    of them; a plot must tell.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> from lvq.preprocessing import StandardNormalVariate
    >>> from lvq.estimators.find_model import need_model
    >>> X, y = [[1.0, 2.0, 5.0], [2.0, 5.0, 1.0]], [0, 1]
    >>> model = make_pipeline(StandardNormalVariate(), StandardScaler(), GLVQ()).fit(X, y)
    >>> steps_without_inverse(need_model(model, "")), steps_without_inverse(need_model(model[1:], ""))
    (['StandardNormalVariate', 'StandardScaler'], [])
    """
    try:
        to_original_units(found, found.model.prototypes[:1], "")
    except ValueError:
        return [type(step).__name__ for step in found.steps]
    return []


# -- numbers and categories --------------------------------------------------------------------------------------------


def input_values(found: FoundModel, rows: ArrayLike) -> Cells | None:
    """Rows of the model's features in the columns of the pipeline's input; None where a step has no inverse.

    A column that the model does not use, or whose own block of a ColumnTransformer has no inverse, is None.
    """
    parts = _parts(found, rows)
    if parts is None:
        return None
    result: Cells = np.full((np.shape(rows)[0], len(names_by_step(found)[0])), None, dtype=np.object_)
    for steps, columns, behind in parts:
        cells = _decoded(steps, behind)
        if cells is not None:
            result[:, columns] = [[None if is_missing(cell) else cell for cell in row] for row in cells.tolist()]
        elif steps is found.steps:
            return None
    return result


def _decoded(steps: Sequence[Step], rows: Floats) -> Rows | None:
    """Numbers, or the nearest categories of an encoder, before the steps; None where one has no inverse."""
    codes, left = undone(steps, rows)
    if codes is None or not left:
        return codes
    before = adapter(steps[left - 1]).inverse(steps[left - 1], codes)
    imputers = all(adapter(step).keeps == "values" for step in steps[: left - 1])  # they keep categories
    return None if before is None or not imputers else before.astype(object)


class CategoryFractions(NamedTuple):
    """The categories of a column of the input, and their fractions in each row."""

    categories: tuple[str, ...]
    fractions: Floats  # (n_rows, n_categories)


class Fractions(NamedTuple):
    """Fractions by the index of the column of the input."""

    categories: dict[int, CategoryFractions]
    missing: dict[int, Floats]


def category_fractions(found: FoundModel, rows: ArrayLike) -> Fractions:
    """Fractions of the categories of one-hot encoded columns, and of missing values, in rows of the model's features.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from lvq import GLVQ
    >>> from lvq.estimators.find_model import need_model
    >>> model = make_pipeline(OneHotEncoder(sparse_output=False), GLVQ()).fit([["a"], ["b"], ["c"]], [0, 0, 1])
    >>> found = category_fractions(need_model(model, ""), np.array([[0.75, 0.25, -0.1]])).categories[0]
    >>> found.categories, found.fractions.tolist()
    (('a', 'b', 'c'), [[0.75, 0.25, 0.0]])
    """
    result = Fractions({}, {})
    for steps, columns, behind in _parts(found, rows) or ():
        codes, left = undone(steps, behind)
        if codes is None or not left:
            continue
        step, flagged = steps[left - 1], indicated(steps[left - 1])
        for column, part in zip(columns[flagged], codes[:, codes.shape[1] - len(flagged) :].T):
            result.missing[int(column)] = np.clip(part, 0.0, 1.0)
        if isinstance(step, OneHotEncoder) and step.n_features_in_ == len(columns):
            result.categories.update(_fractions(step, columns, codes))
    return result


def _fractions(encoder: OneHotEncoder, columns: Indices, codes: Floats) -> Iterator[tuple[int, CategoryFractions]]:
    for index, (column, end) in enumerate(zip(columns.tolist(), np.cumsum(codes_per_column(encoder)).tolist())):
        names, dropped = _category_names(encoder, index)
        part = codes[:, end - len(names) : end]
        if dropped is not None:
            part, names = np.column_stack((part, 1 - part.sum(axis=1))), [*names, dropped]
        part = np.maximum(part, 0.0)
        total = part.sum(axis=1, keepdims=True)
        fractions = np.divide(part, total, out=np.zeros_like(part), where=total > 0)
        yield column, CategoryFractions(tuple(names), fractions)


def _category_names(encoder: OneHotEncoder, index: int) -> tuple[list[str], str | None]:
    """Categories of a column in the order of its codes, and the dropped one."""
    every = [str(name) for name in encoder.categories_[index].tolist()]
    rare, drop = getattr(encoder, "infrequent_categories_", None), encoder.drop_idx_
    infrequent = set() if rare is None or rare[index] is None else {str(name) for name in rare[index].tolist()}
    names = [name for name in every if name not in infrequent] + ([RARE] if infrequent else [])
    if drop is None or drop[index] is None:
        return names, None
    dropped = RARE if every[drop[index]] in infrequent else every[drop[index]]
    return [name for name in names if name != dropped], dropped


# -- a table for people ------------------------------------------------------------------------------------------------


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
        """Numbers as they are, categories as strings with their fraction."""
        return [
            [value if part is None or not note else f"{value} ({note})" for value, part, note in zip(*row)]
            for row in zip(self.values, self.fractions, self.notes)
        ]


def variable_table(found: FoundModel, rows: NDArray[np.floating]) -> VariableTable | None:
    """Rows of the model's features as numbers and categories of the columns of the input that reach the model.

    A one-hot encoded column is one variable with a category as its value, and the indicator of missing values belongs
    to its column. None where each feature of the model is a column of its own, or a step between has no inverse.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from lvq import GLVQ
    >>> from lvq.estimators.find_model import need_model
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


def numbers_of(cells: Cells | list[JSONValue]) -> Floats:
    """The numbers among some cells."""
    return np.array([cell for cell in cells if isinstance(cell, float | int)], dtype=np.float64)


def _described(
    cells: Cells, column: int, parts: Fractions
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
