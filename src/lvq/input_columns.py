"""Columns of a pipeline's input: their names, and which of them each column behind a step comes from."""

from __future__ import annotations

from collections import UserList
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import MissingIndicator
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, TargetEncoder
from sklearn.utils.validation import validate_data

from lvq.estimators.found import FoundModel, transformers
from lvq.model.arrays import as_numpy
from lvq.model.missing import require_complete
from lvq.model.sparse_rows import require_dense

Names = NDArray[np.str_]
Indices = NDArray[np.intp]
ColumnSelection: TypeAlias = str | int | slice | ArrayLike | UserList  # by name, index, slice or mask


class Block(NamedTuple):
    """One block of a ColumnTransformer: its fitted steps, its input columns and its output columns."""

    steps: tuple[BaseEstimator, ...]
    columns: Indices
    output: slice


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


def default_names(count: int) -> Names:
    """Names for features that have none; the number is the column's index.

    Examples
    --------
    >>> default_names(2).tolist()
    ['feature 0', 'feature 1']
    """
    return np.array([f"feature {column}" for column in range(count)], dtype=np.str_)


def input_names(step: BaseEstimator) -> Names:
    """Names of the columns that a fitted step or estimator was fitted with."""
    return np.asarray(getattr(step, "feature_names_in_", default_names(step.n_features_in_)), dtype=np.str_)


def blocks(table: ColumnTransformer) -> Iterator[Block]:
    """The blocks of a fitted ColumnTransformer that have output, in its order."""
    names = input_names(table)
    for title, step, columns in table.transformers_:
        output = table.output_indices_[title]
        if output.stop > output.start:
            yield Block(transformers([(title, step)]), positions(columns, names), output)


def positions(columns: ColumnSelection, names: Names) -> Indices:
    """Indices of columns that are given by name, index, slice or mask."""
    columns = columns.data if isinstance(columns, UserList) else columns  # the remainder, in scikit-learn 1.6
    order = {name: place for place, name in reversed(list(enumerate(names.tolist())))}  # the first of equal names
    if isinstance(columns, slice):
        if isinstance(columns.start or columns.stop, str):  # a slice of names includes its end
            low = None if columns.start is None else order[str(columns.start)]
            high = None if columns.stop is None else order[str(columns.stop)] + 1
            columns = slice(low, high)
        return np.arange(len(names))[columns]
    asked = np.atleast_1d(np.asarray(columns))
    if asked.dtype.kind in "UOT":
        return np.array([order[str(name)] for name in asked], dtype=np.intp)
    return np.arange(len(names))[asked]


def sources(step: BaseEstimator) -> Indices | None:
    """The input column of each output column of a fitted step; None where outputs belong to several inputs.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> sources(OneHotEncoder().fit([["a", "x"], ["b", "x"], ["c", "y"]])).tolist()
    [0, 0, 0, 1, 1]
    """
    if isinstance(step, SelectorMixin):
        return np.flatnonzero(step.get_support())
    if isinstance(step, MissingIndicator):
        return np.asarray(step.features_, dtype=np.intp)
    if hasattr(step, "indicator_"):
        return _imputed(step)
    if isinstance(step, FunctionTransformer) and step.func is not None and step.feature_names_out != "one-to-one":
        return None
    if isinstance(step, OneToOneFeatureMixin | FunctionTransformer | OneHotEncoder | KBinsDiscretizer):
        return np.repeat(np.arange(step.n_features_in_), outputs_per_column(step))
    return None


def columns_of_features(steps: Sequence[BaseEstimator], n_columns: int) -> Indices | None:
    """The input column of each feature behind some steps; None where a feature belongs to several columns.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> steps = [OneHotEncoder().fit([["a", "x"], ["b", "x"], ["c", "y"]]), StandardScaler()]
    >>> columns_of_features([steps[0], steps[1].fit([[0] * 5])], 2).tolist()
    [0, 0, 0, 1, 1]
    """
    place: Indices = np.arange(n_columns)
    for step in steps:
        source = _sources_of_blocks(step) if isinstance(step, ColumnTransformer) else sources(step)
        if source is None:
            return None
        place = place[source]
    return place


def _sources_of_blocks(table: ColumnTransformer) -> Indices | None:
    parts = []
    for block in sorted(blocks(table), key=lambda block: block.output.start):
        inside = columns_of_features(block.steps, len(block.columns))
        if inside is None:
            return None
        parts.append(block.columns[inside])
    return np.concatenate(parts)


def outputs_per_column(step: BaseEstimator) -> int | Indices:
    """Number of output columns of each input column."""
    if isinstance(step, OneHotEncoder):
        counts = np.array([len(categories) for categories in step.categories_])
        rare = getattr(step, "infrequent_categories_", None)  # all of them have one common column
        if rare is not None:
            counts -= [0 if names is None else len(names) - 1 for names in rare]
        return counts if step.drop_idx_ is None else counts - [index is not None for index in step.drop_idx_]
    if isinstance(step, KBinsDiscretizer) and step.encode != "ordinal":
        return step.n_bins_
    if isinstance(step, TargetEncoder) and step.target_type_ == "multiclass":
        return len(step.classes_)
    return 1


def _imputed(step: BaseEstimator) -> Indices:
    """Columns of an imputer, without those that it left out as empty, and then those of its indicators."""
    order = {name: column for column, name in enumerate(getattr(step, "feature_names_in_", ()))}
    order = order or {f"x{column}": column for column in range(step.n_features_in_)}
    flagged = [] if step.indicator_ is None else step.indicator_.features_.tolist()
    names = step.get_feature_names_out()
    kept = [order[name] for name in names[: len(names) - len(flagged)]]
    return np.array(kept + flagged, dtype=np.intp)
