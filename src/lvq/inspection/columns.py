"""Columns of a pipeline's input: which of them the model reads, and rows of its features back in these columns.

Rows, such as prototypes, are taken back through the steps from the last to the first. A ColumnTransformer that is the
first step is undone block by block. Where a step has no inverse, nothing is guessed. An encoder of categories can be
seen in three ways:
- `to_original_units`: its codes, such as 0 and 1, not standardised ones, under the names of the encoder;
- `input_values`: the category whose code is nearest, so a prototype with 0.7 of one category and 0.4 of another has
  the first;
- `category_fractions`: the fraction of each category. That is its code, at least 0, divided by the sum over the
  categories: for a mean of samples it is the fraction of the samples with this category. The number of an indicator
  of missing values, between 0 and 1, is the fraction of missing values.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import validate_data

from lvq.estimators.find_model import FoundModel
from lvq.inspection.steps import (
    Block,
    CategoryFractions,
    Floats,
    Indices,
    Names,
    Rows,
    Step,
    adapter,
    blocks,
    default_names,
    indicated,
    input_names,
)
from lvq.model.rows import as_numpy, dense, require_complete, require_dense
from lvq.typing import JSONValue, MatrixLike

Cells = NDArray[np.object_]
WHOLE = 0.995  # fraction from which a category is shown without it
NOTED = 0.005  # fraction from which a category or missing values are mentioned
ROUNDING = 1e-12  # of the size of a column: an inverted scaler leaves as much instead of 0


def model_inputs(found: FoundModel, X: ArrayLike, complete: str = "") -> NDArray[np.floating]:
    """Samples as they reach the model, validated as the estimator does it; a NumPy array, or sparse rows.

    With `complete`, the name of a function that cannot ignore missing values, these and sparse rows are errors.
    """
    finite = True if found.model.variances is None else "allow-nan"
    Z = as_numpy(found.inputs(X))
    if complete:  # such a function needs dense samples too
        require_dense(Z, complete)
    settings = {"dtype": [np.float64, np.float32], "ensure_all_finite": finite, "accept_sparse": "csr"}
    Z = validate_data(found.estimator, Z, reset=False, **settings)
    if complete:
        require_complete(Z, complete)
    return found.model.checked(Z)


# -- which columns a feature comes from --------------------------------------------------------------------------------


def used_columns(steps: Sequence[Step], n_outputs: int, n_columns: int) -> NDArray[np.bool_]:
    """Which input columns of some steps reach their output; all of a step whose columns cannot be followed.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.feature_selection import VarianceThreshold
    >>> X = np.array([[1.0, 5.0, 2.0], [2.0, 5.0, 4.0], [2.0, 5.0, 9.0]])
    >>> selector = VarianceThreshold().fit(X)
    >>> used_columns([selector, PCA(1).fit(X[:, [0, 2]])], 1, 3)
    array([ True, False,  True])
    """
    return _used_before(steps, np.ones(n_outputs, dtype=bool), n_columns)


def _used_before(steps: Sequence[Step], used: NDArray[np.bool_], n_columns: int) -> NDArray[np.bool_]:
    if not all(hasattr(step, "n_features_in_") for step in steps):
        return np.ones(n_columns, dtype=bool)
    for step in reversed(steps):
        before = np.zeros(step.n_features_in_, dtype=bool)
        if isinstance(step, ColumnTransformer):
            for block in blocks(step):
                before[block.columns] |= _used_before(block.steps, used[block.output], len(block.columns))
        elif (source := adapter(step).sources(step)) is None:
            before[:] = used.any()
        else:
            before[source[used]] = True
        used = before
    return used


def columns_of_features(found: FoundModel) -> Indices | None:
    """The input column of each feature of the model; None where a step mixes columns.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer, OneHotEncoder
    >>> from lvq import GLVQ
    >>> from lvq.estimators.find_model import need_model
    >>> model = make_pipeline(OneHotEncoder(sparse_output=False), GLVQ()).fit([["a", "x"], ["b", "x"]], [0, 1])
    >>> columns_of_features(need_model(model, "")).tolist()
    [0, 0, 1]
    >>> model = make_pipeline(Normalizer(), GLVQ()).fit([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    >>> columns_of_features(need_model(model, "")) is None
    True
    """
    if found.model.unit_length:  # each feature of a row of length one depends on all columns
        return None
    first = found.steps[0] if found.steps else found.estimator
    return _columns_after(found.steps, np.arange(getattr(first, "n_features_in_", 0)))


def _columns_after(steps: Sequence[Step], columns: Indices) -> Indices | None:
    for step in steps:
        if isinstance(step, ColumnTransformer):
            found = [_columns_after(block.steps, columns[block.columns]) for block in blocks(step)]
            parts = [part for part in found if part is not None]
            if len(parts) < len(found):
                return None
            columns = np.concatenate(parts)
        elif (source := adapter(step).sources(step)) is None:
            return None
        else:
            columns = columns[source]
    return columns


def input_blocks(found: FoundModel) -> tuple[list[Block], Sequence[Step]]:
    """The blocks of a ColumnTransformer that is first, and the steps behind it; otherwise one block of all steps."""
    first = found.steps[0] if found.steps else found.estimator
    if isinstance(first, ColumnTransformer):
        return blocks(first), found.steps[1:]
    return [Block(found.steps, np.arange(getattr(first, "n_features_in_", 0)), slice(None))], ()


def encoded_columns(found: FoundModel) -> set[int]:
    """Columns of the input that an encoder of categories takes."""
    encoded = [block.columns for block in input_blocks(found)[0] if any(adapter(step).encodes for step in block.steps)]
    return {int(column) for columns in encoded for column in columns}


# -- names and cells ---------------------------------------------------------------------------------------------------


def names_of_features(found: FoundModel) -> Names:
    """Names of the features that reach the model."""
    if hasattr(found.estimator, "feature_names_in_"):  # set where the steps return tables
        return input_names(found.estimator)
    return _names_after(found.steps, _names_before(found), found.model.n_features)


def _names_before(found: FoundModel) -> Names:
    first = found.steps[0] if found.steps else found.estimator
    return input_names(first) if hasattr(first, "n_features_in_") else default_names(found.model.n_features)


def _names_after(steps: Sequence[Step], names: Names, n_outputs: int) -> Names:
    """Names of the features after some steps; default names where a step does not name its features."""
    for step, count in zip(steps, [*(getattr(step, "n_features_in_", None) for step in steps[1:]), n_outputs]):
        with suppress(AttributeError, ValueError):  # the step keeps the names, if their number is right
            names = np.asarray(step.get_feature_names_out(names), dtype=np.str_)
        if count is not None and len(names) != count:
            names = default_names(count)
    return names


def row_names(X: MatrixLike, n_rows: int) -> NDArray[np.object_]:
    """Names of the rows: the index of a table, otherwise their numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> row_names(pd.DataFrame({"a": [1, 2]}, index=["p7", "p9"]), 2).tolist(), row_names([[1.0], [2.0]], 2).tolist()
    (['p7', 'p9'], [0, 1])
    """
    index = getattr(X, "index", None)  # of a list it is a method
    names = np.empty(n_rows, dtype=object)
    names[:] = index.tolist() if index is not None and hasattr(index, "tolist") else list(range(n_rows))
    return names


def is_missing(cell: object) -> bool:
    """Whether a cell of a table has no value: None, NaN, or a missing value of pandas."""
    try:
        return cell is None or bool(cell != cell)
    except TypeError:  # pandas.NA is neither equal to itself nor different
        return True


def input_cells(X: MatrixLike, row: int) -> list[JSONValue]:
    """The values of one row of samples as they were given, in Python's types; None where a value is missing."""
    if hasattr(X, "iloc"):
        cells = X.iloc[row].tolist()
    elif hasattr(X, "column_names"):  # pyarrow
        cells = [X.column(name)[row].as_py() for name in X.column_names]
    elif hasattr(X, "row"):  # polars
        cells = list(X.row(row))
    else:
        cells = np.asarray(dense(as_numpy(X)[[row]]) if hasattr(X, "shape") else X[row]).ravel().tolist()
    return [None if is_missing(cell) else cell for cell in cells]


# -- rows of features back in the columns of the input -----------------------------------------------------------------


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
    """Rows in one block of the input, as codes where steps are left; None where the last of these has no inverse."""

    left: Sequence[Step]
    columns: Indices
    behind: Floats  # the rows behind the block
    codes: Floats | None


def _parts(found: FoundModel, rows: ArrayLike) -> list[Part] | int:
    """The rows in each block of the input; the number of a step behind the blocks that has no inverse."""
    if found.model.unit_length:
        return len(found.steps)
    parts, steps = input_blocks(found)
    whole, left = undone(steps, np.asarray(rows, dtype=np.float64))
    if whole is None or left:
        return left
    result = []
    for block in parts:
        behind = whole[:, block.output]
        codes, count = undone(block.steps, behind)
        result.append(Part(block.steps[:count], block.columns, behind, codes))
    return result


class OriginalValues(NamedTuple):
    """Rows in the units of the pipeline's input, and the names of their columns."""

    values: Floats
    names: Names


def to_original_units(found: FoundModel, rows: ArrayLike, purpose: str) -> OriginalValues:
    """Rows of the features that reach the model, in the units of the pipeline's input.

    Indicators of missing values and codes of categories come after the columns, under their own names. A block of a
    ColumnTransformer without an inverse keeps the values that the model sees.
    """
    parts, names = _parts(found, rows), _names_before(found)
    if isinstance(parts, int):
        raise ValueError(_no_inverse(found, parts, purpose))
    in_blocks = bool(found.steps) and isinstance(found.steps[0], ColumnTransformer)
    values, titles = [], []
    for part, block in zip(parts, input_blocks(found)[0]):
        if part.codes is None and not in_blocks:
            raise ValueError(_no_inverse(found, len(part.left) - 1, purpose))
        shown, steps = (part.behind, block.steps) if part.codes is None else (part.codes, part.left)
        values.append(shown)
        titles.append(_names_after(steps, names[part.columns], shown.shape[1]))
    return OriginalValues(np.hstack(values), np.concatenate(titles))


def _no_inverse(found: FoundModel, number: int, purpose: str) -> str:
    if number == len(found.steps):
        return (
            f"{purpose} cannot give prototypes in the units of X for metric='cosine': they are directions, of length "
            "one. The estimator's prototypes_ holds them."
        )
    return (
        f"{purpose} cannot invert {type(found.steps[number]).__name__}, step {number} of the pipeline, to give "
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
    >>> from lvq.estimators.find_model import need_model
    >>> from lvq.preprocessing import StandardNormalVariate
    >>> X, y = [[1.0, 2.0, 5.0], [2.0, 5.0, 1.0]], [0, 1]
    >>> model = make_pipeline(StandardNormalVariate(), StandardScaler(), GLVQ()).fit(X, y)
    >>> steps_without_inverse(need_model(model, "")), steps_without_inverse(need_model(model[1:], ""))
    (['StandardNormalVariate', 'StandardScaler'], [])
    """
    try:
        to_original_units(found, found.model.prototypes[:1], "")
    except ValueError:
        names = [type(step).__name__ for step in found.steps]
        return [*names, "metric='cosine'"] if found.model.unit_length else names
    return []


def input_values(found: FoundModel, rows: ArrayLike) -> Cells | None:
    """Rows of the model's features in the columns of the pipeline's input; None where a step has no inverse.

    A column that the model does not use, or whose own block of a ColumnTransformer has no inverse, is None.
    """
    parts = _parts(found, rows)
    if isinstance(parts, int):
        return None
    decoded = [_decoded(part) for part in parts]
    if decoded[0] is None and len(parts) == 1:
        return None
    result: Cells = np.full((np.shape(rows)[0], len(_names_before(found))), None, dtype=np.object_)
    for part, cells in zip(parts, decoded):
        if cells is not None:
            result[:, part.columns] = [[None if is_missing(cell) else cell for cell in row] for row in cells.tolist()]
    return result


def _decoded(part: Part) -> Rows | None:
    """Numbers, or the nearest categories of an encoder; None where a step has no inverse."""
    if part.codes is None or not part.left:
        return part.codes
    before = adapter(part.left[-1]).inverse(part.left[-1], part.codes)
    imputers = all(adapter(step).keeps == "values" for step in part.left[:-1])  # they keep categories
    return None if before is None or not imputers else before.astype(object)


class Fractions(NamedTuple):
    """Fractions by the index of the column of the input."""

    categories: dict[int, CategoryFractions]
    missing: dict[int, Floats]


def category_fractions(found: FoundModel, rows: ArrayLike) -> Fractions:
    """Fractions of the categories of one-hot encoded columns, and of missing values, in rows of the model's features.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from lvq import GLVQ
    >>> from lvq.estimators.find_model import need_model
    >>> model = make_pipeline(OneHotEncoder(sparse_output=False), GLVQ()).fit([["a"], ["b"], ["c"]], [0, 0, 1])
    >>> found = category_fractions(need_model(model, ""), np.array([[0.75, 0.25, -0.1]])).categories[0]
    >>> found.categories, found.fractions.tolist()
    (('a', 'b', 'c'), [[0.75, 0.25, 0.0]])
    """
    result, parts = Fractions({}, {}), _parts(found, rows)
    for part in [] if isinstance(parts, int) else parts:
        if part.codes is None or not part.left:
            continue
        step, flagged = part.left[-1], indicated(part.left[-1])
        for column, fraction in zip(part.columns[flagged], part.codes[:, part.codes.shape[1] - len(flagged) :].T):
            result.missing[int(column)] = np.clip(fraction, 0.0, 1.0)
        if step.n_features_in_ == len(part.columns):
            result.categories.update(zip(part.columns.tolist(), adapter(step).fractions(step, part.codes)))
    return result


# -- a table for people ------------------------------------------------------------------------------------------------


class VariableTable(NamedTuple):
    """Rows in the variables of the input; lists have an entry for each row, with one for each variable."""

    names: Names
    columns: Indices  # of the input
    values: list[list[float | str]]  # numbers, or the names of categories
    notes: list[list[str]]  # shown beside the value: its fraction, or the fraction of missing values; "" for none
    details: list[list[str]]  # fractions of all categories of the row; "" for numbers
    parts: Fractions  # all fractions

    @property
    def cells(self) -> list[list[float | str]]:
        """Numbers as they are, categories as strings with their fraction."""
        encoded = [int(column) in self.parts.categories for column in self.columns]
        return [
            [f"{value} ({note})" if note and category else value for value, note, category in zip(*row, encoded)]
            for row in zip(self.values, self.notes)
        ]


def variable_table(found: FoundModel, rows: NDArray[np.floating]) -> VariableTable | None:
    """Rows of the model's features as numbers and categories of the columns of the input that reach the model.

    A one-hot encoded column is one variable with a category as its value, and the indicator of missing values belongs
    to its column. None where each feature of the model is a column of its own, or a step between has no inverse.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from lvq import GLVQ
    >>> from lvq.estimators.find_model import need_model
    >>> model = make_pipeline(OneHotEncoder(sparse_output=False), GLVQ()).fit([["a"], ["b"], ["c"]], [0, 0, 1])
    >>> table = variable_table(need_model(model, ""), np.array([[0.75, 0.25, -0.1]]))
    >>> table.values, table.notes[0][0].split()
    ([['a']], ['75', '%'])
    """
    cells, parts, names = input_values(found, rows), category_fractions(found, rows), _names_before(found)
    columns = np.flatnonzero(used_columns(found.steps, found.model.n_features, len(names)))
    if not found.steps or cells is None or any(cell is None for cell in cells[:, columns].ravel()):
        return None
    if not parts.categories and len(columns) >= found.model.n_features:
        return None
    described = [_described(cells[:, column], column, parts) for column in columns.tolist()]
    values, notes, details = ([list(row) for row in zip(*part)] for part in zip(*described))
    return VariableTable(names[columns], columns, values, notes, details, parts)


def _described(cells: Cells, column: int, parts: Fractions) -> tuple[list[float | str], list[str], list[str]]:
    """Values, notes and details of one column."""
    if column in parts.categories:
        names, fractions = parts.categories[column]
        notes = ["" if part >= WHOLE else _percent(part) for part in fractions.max(axis=1)]
        return [names[best] for best in fractions.argmax(axis=1)], notes, [_detail(names, row) for row in fractions]
    missing = parts.missing.get(column, np.zeros(len(cells)))
    noise = ROUNDING * max((abs(cell) for cell in cells if isinstance(cell, float | int)), default=0.0)
    values = [_value(cell, noise) for cell in cells]
    notes = [f"{_percent(part)} missing" if part >= NOTED else "" for part in missing]
    return values, notes, [""] * len(cells)


def _value(cell: object, noise: float) -> float | str:
    if not isinstance(cell, float | int):
        return str(cell)
    return 0.0 if abs(cell) < noise else float(cell)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.0f}\N{NO-BREAK SPACE}%"


def _detail(categories: tuple[str, ...], fractions: Floats) -> str:
    order = np.argsort(-fractions, kind="stable")
    return ", ".join(f"{categories[k]} {_percent(fractions[k])}" for k in order if fractions[k] >= NOTED)
