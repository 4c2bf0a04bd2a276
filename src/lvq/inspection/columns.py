"""Columns of a pipeline's input: which of them the model reads, and rows of its features back in these columns.

Rows, such as prototypes, are taken back through the steps from the last to the first. A ColumnTransformer that is the
first step is undone block by block. Where a step has no inverse, nothing is guessed. An encoder of categories can be
seen in three ways:
- `to_original_units`: its codes, such as 0 and 1, not standardised ones, under the names of the encoder;
- `input_values`: the category with the largest fraction, so a prototype with 0.7 of one category and 0.4 of another
  has the first;
- `category_fractions`: the fraction of each category. That is its code, at least 0, divided by the sum over the
  categories: for a mean of samples it is the fraction of the samples with this category.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import validate_data

from lvq.estimators.find_model import FoundModel, decides_by_cost
from lvq.inspection.steps import (
    Block,
    CategoryFractions,
    Indices,
    Names,
    Rows,
    Step,
    adapter,
    blocks,
    default_names,
    indicated,
    input_names,
    names_before,
)
from lvq.model.rows import as_numpy, dense, require_complete, require_dense
from lvq.typing import Floats, JSONValue, MatrixLike

if TYPE_CHECKING:
    from pandas import DataFrame

Cells = NDArray[np.object_]
Origin = frozenset[int]  # columns of the input
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


def class_by_cost(found: FoundModel, estimator: BaseEstimator, X: ArrayLike) -> Indices | None:
    """Index of the class of the least expected cost of each sample; None where costs do not decide."""
    return np.searchsorted(found.model.classes, estimator.predict(X)) if decides_by_cost(estimator) else None


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
    used = np.zeros(n_columns, dtype=bool)
    used[list(frozenset().union(*set(_origins(steps, n_outputs, _alone(n_columns)))))] = True
    return used


def _alone(n_columns: int) -> list[Origin]:
    return [frozenset([column]) for column in range(n_columns)]


def _origins(steps: Sequence[Step], n_outputs: int, origins: list[Origin]) -> list[Origin]:
    """The input columns that each output of some steps depends on, given these columns for their input."""
    for step, count in _with_counts(steps, n_outputs):
        if isinstance(step, ColumnTransformer):
            parts = [
                _origins(one.steps, one.width, [origins[column] for column in one.columns]) for one in blocks(step)
            ]
            origins = [origin for part in parts for origin in part]
        elif (source := adapter(step).sources(step)) is None:
            origins = [frozenset().union(*set(origins))] * (count or 1)  # one where the next step depends on all too
        else:
            origins = [origins[column] for column in source]
    return origins


def _with_counts(steps: Sequence[Step], n_outputs: int) -> Iterator[tuple[Step, int | None]]:
    """Each step with the number of its outputs, None where the next step does not show it."""
    return zip(steps, [*(getattr(step, "n_features_in_", None) for step in steps[1:]), n_outputs])


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
    origins = _origins(found.steps, found.model.n_features, _alone(len(names_before(found))))
    if any(len(origin) > 1 for origin in origins):
        return None
    return np.array([min(origin) for origin in origins], dtype=np.intp)


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
    return _names_after(found.steps, names_before(found), found.model.n_features)


def _names_after(steps: Sequence[Step], names: Names, n_outputs: int) -> Names:
    """Names of the features after some steps; default names where a step does not name its features."""
    for step, count in _with_counts(steps, n_outputs):
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


def frame_of(lines: list[dict[str, JSONValue]]) -> DataFrame | list[dict[str, JSONValue]]:
    """Lines as a data frame; as they are where pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        return lines
    return pd.DataFrame(lines)


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
    """The rows in each block of the input; the number of a step that has no inverse, if it is in no block."""
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
        if codes is None and block.steps is found.steps:
            return count - 1
        if codes is not None:  # an inverted scaler leaves a rounding error instead of 0
            codes = np.where(np.abs(codes) < ROUNDING * np.abs(codes).max(axis=0, initial=0.0), 0.0, codes)
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
    parts, names = _parts(found, rows), names_before(found)
    if isinstance(parts, int) and parts == len(found.steps):
        raise ValueError(
            f"{purpose} cannot give prototypes in the units of X for metric='cosine': they are directions, of length "
            "one. The estimator's prototypes_ holds them."
        )
    if isinstance(parts, int):
        raise ValueError(
            f"{purpose} cannot invert {type(found.steps[parts]).__name__}, step {parts} of the pipeline, to give "
            "prototypes in the units of X; pass the part of the pipeline after that step, and X as it comes out of it."
        )
    values, titles = [], []
    for part, block in zip(parts, input_blocks(found)[0]):
        shown, steps = (part.behind, block.steps) if part.codes is None else (part.codes, part.left)
        values.append(shown)
        titles.append(_names_after(steps, names[part.columns], shown.shape[1]))
    return OriginalValues(np.hstack(values), np.concatenate(titles))


def steps_without_inverse(found: FoundModel) -> list[str]:
    """Names of the steps before a model, where they cannot be inverted: its features are then not columns of X.

    A step such as `StandardNormalVariate` keeps the names of the columns, though each of its outputs depends on all
    of them; a plot must say so.

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
    if not isinstance(_parts(found, found.model.prototypes[:1]), int):
        return []
    return [type(step).__name__ for step in found.steps] + ["metric='cosine'"] * found.model.unit_length


def input_values(found: FoundModel, rows: ArrayLike) -> Cells | None:
    """Rows of the model's features in the columns of the pipeline's input; None where a step has no inverse.

    A column that the model does not use, or whose own block of a ColumnTransformer has no inverse, is None.
    """
    parts = _parts(found, rows)
    if isinstance(parts, int):
        return None
    result: Cells = np.full((np.shape(rows)[0], len(names_before(found))), None, dtype=np.object_)
    for part in parts:
        if (cells := _decoded(part)) is not None:
            result[:, part.columns] = [[None if is_missing(cell) else cell for cell in row] for row in cells.tolist()]
    return result


def _decoded(part: Part) -> Rows | None:
    """Numbers, or the nearest categories of an encoder; None where a step has no inverse."""
    if part.codes is None or not part.left:
        return part.codes
    before = adapter(part.left[-1]).inverse(part.left[-1], part.codes)
    imputers = all(adapter(step).keeps == "values" for step in part.left[:-1])  # they keep categories
    return None if before is None or not imputers else before.astype(object)


def category_fractions(found: FoundModel, rows: ArrayLike) -> dict[int, CategoryFractions]:
    """Fractions of the categories in rows of the model's features, by the index of the one-hot encoded column.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from lvq import GLVQ
    >>> from lvq.estimators.find_model import need_model
    >>> model = make_pipeline(OneHotEncoder(sparse_output=False), GLVQ()).fit([["a"], ["b"], ["c"]], [0, 0, 1])
    >>> found = category_fractions(need_model(model, ""), np.array([[0.75, 0.25, -0.1]]))[0]
    >>> found.categories, found.fractions.tolist()
    (('a', 'b', 'c'), [[0.75, 0.25, 0.0]])
    """
    result, parts = dict[int, CategoryFractions](), _parts(found, rows)
    for part in [] if isinstance(parts, int) else parts:
        if part.codes is not None and part.left and part.left[-1].n_features_in_ == len(part.columns):
            step = part.left[-1]
            result.update(zip(part.columns.tolist(), adapter(step).fractions(step, part.codes)))
    return result
