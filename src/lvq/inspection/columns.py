"""Columns of a pipeline's input: which of them each feature of the model comes from, and the samples on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import validate_data

from lvq.estimators.find_model import FoundModel
from lvq.inspection.steps import Block, Indices, Names, Step, adapter, blocks, default_names
from lvq.model.rows import as_numpy, dense, require_complete, require_dense
from lvq.typing import JSONValue, MatrixLike


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


def origins(steps: Sequence[Step], n_outputs: int, n_columns: int) -> list[Indices]:
    """The input columns on which each feature behind some steps depends.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.feature_selection import VarianceThreshold
    >>> X = np.array([[1.0, 5.0, 2.0], [2.0, 5.0, 4.0], [2.0, 5.0, 9.0]])
    >>> selector = VarianceThreshold().fit(X)
    >>> [columns.tolist() for columns in origins([selector], 2, 3)]
    [[0], [2]]
    >>> [columns.tolist() for columns in origins([selector, PCA(1).fit(X[:, [0, 2]])], 1, 3)]
    [[0, 2]]
    """
    place = [np.array([column]) for column in range(n_columns)]
    for step, width in zip(steps, [*(getattr(step, "n_features_in_", None) for step in steps[1:]), n_outputs]):
        place = _each_once(partial(_joined, place), _origins(step, width, len(place)))
    return place


def _each_once(function: Callable[[Indices], Indices], arrays: list[Indices]) -> list[Indices]:
    """A function of each array; outputs of a step that mixes share one array, which is computed once."""
    results = {id(array): function(array) for array in {id(array): array for array in arrays}.values()}
    return [results[id(array)] for array in arrays]


def _origins(step: Step, width: int | None, n_columns: int) -> list[Indices]:
    if isinstance(step, ColumnTransformer):
        parts = ((block, origins(block.steps, _width(block), len(block.columns))) for block in blocks(step))
        return [columns for block, part in parts for columns in _each_once(block.columns.__getitem__, part)]
    source = adapter(step).sources(step)
    if source is None:
        return [np.arange(n_columns)] * (n_columns if width is None else width)
    return list(source[:, None])


def _width(block: Block) -> int:
    return block.output.stop - block.output.start


def _joined(place: list[Indices], columns: Indices) -> Indices:
    """The origins of some columns together."""
    parts = [place[column] for column in columns]
    return parts[0] if len(parts) == 1 else np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *parts]))


def used_columns(steps: Sequence[Step], n_outputs: int, n_columns: int) -> NDArray[np.bool_]:
    """Which input columns of some steps reach their output; all of a step whose columns cannot be followed."""
    used = np.zeros(n_columns, dtype=bool)
    if not all(hasattr(step, "n_features_in_") for step in steps):
        return ~used
    used[np.concatenate([np.zeros(0, dtype=np.intp), *origins(steps, n_outputs, n_columns)])] = True
    return used


def columns_of_features(found: FoundModel) -> Indices | None:
    """The input column of each feature of the model; None where a feature depends on several columns.

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
    if not all(hasattr(step, "n_features_in_") for step in found.steps):
        return None
    n_features = found.model.n_features
    place = origins(found.steps, n_features, found.steps[0].n_features_in_ if found.steps else n_features)
    if any(len(columns) != 1 for columns in place):
        return None
    return np.concatenate(place)


# -- names -------------------------------------------------------------------------------------------------------------


def names_by_step(found: FoundModel) -> list[Names]:
    """Names of the features before each step, and last those that reach the model."""
    counts = [getattr(part, "n_features_in_", None) for part in (*found.steps, found.estimator)]
    first = found.steps[0] if found.steps else found.estimator
    count = counts[0] if counts[0] is not None else found.model.n_features
    names = [np.asarray(getattr(first, "feature_names_in_", default_names(count)), dtype=np.str_)]
    for step, following in zip(found.steps, counts[1:]):
        names.append(names_after(step, names[-1], following))
    own = getattr(found.estimator, "feature_names_in_", None)  # set where the steps return tables
    return [*names[:-1], names[-1] if own is None else np.asarray(own, dtype=np.str_)]


def names_after(step: BaseEstimator, names: Names, count: int | None) -> Names:
    """Names of the features after a step; default names where the step does not name its features."""
    try:
        given = np.asarray(step.get_feature_names_out(names), dtype=np.str_)
    except (AttributeError, ValueError):
        given = names
    return given if count is None or len(given) == count else default_names(count)


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


# -- cells -------------------------------------------------------------------------------------------------------------


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


def encoded_columns(found: FoundModel) -> set[int]:
    """Columns of the input that an encoder of categories takes."""
    return {
        int(column)
        for steps, columns in first_blocks(found)
        for column in columns
        if any(adapter(step).encodes for step in steps)
    }


def first_blocks(found: FoundModel) -> Iterator[tuple[Sequence[Step], Indices]]:
    """Steps with the columns of the input that they take: the blocks of a ColumnTransformer that is first, or all."""
    first = found.steps[0] if found.steps else None
    if isinstance(first, ColumnTransformer):
        yield from ((block.steps, block.columns) for block in blocks(first))
    elif first is not None and hasattr(first, "n_features_in_"):
        yield found.steps, np.arange(first.n_features_in_)
