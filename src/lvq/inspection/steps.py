"""The transformers that can be followed: one table with the columns, the linear map and the inverse of each.

A transformer that is not in the table is not guessed at: its outputs count as mixtures of all its columns, it is not
linear and has no inverse. Subclasses are other transformers, except those of scikit-learn's feature selectors.
"""

from __future__ import annotations

from collections import UserList
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from lvq.estimators.find_model import transformers
from lvq.preprocessing import NuisanceRemoval, SavitzkyGolay, StandardNormalVariate

Names = NDArray[np.str_]
Indices = NDArray[np.intp]
Floats = NDArray[np.float64]
Rows = NDArray[np.generic]  # numbers, or objects where there are categories
# one factor for each feature, a diagonal matrix, or a matrix (to, from), sparse where it selects and scales
LinearMap: TypeAlias = "Floats | sparse.csr_array"
ColumnSelection: TypeAlias = str | int | slice | ArrayLike | UserList  # by name, index, slice or mask


class Weight(NamedTuple):
    """A step for the weight of a block of a ColumnTransformer."""

    factor: float
    n_features_in_: int


Step: TypeAlias = BaseEstimator  # or a Weight


class Adapter(NamedTuple):
    """What is known of a transformer: functions of the fitted one, whose result None is "not known"."""

    # the input column of each output column; None where an output depends on several columns
    sources: Callable[[Step], Indices | None] = lambda step: None
    # the map of changes; None where it is not linear. Clipping is ignored.
    linear: Callable[[Step], LinearMap | None] = lambda step: None
    # rows that the step turns into the given ones; None where there is no inverse
    inverse: Callable[[Step, Rows], Rows | None] = lambda step, rows: None
    # what the output keeps while categories and missing values of the input stay as they are
    keeps: Literal["nothing", "codes", "values"] = "nothing"
    encodes: bool = False  # its input are categories
    in_place: bool = False  # an output mixes neighbouring columns, and stands for the one at its place


class Block(NamedTuple):
    """One block of a ColumnTransformer: its fitted steps, its input columns and its output columns."""

    steps: tuple[Step, ...]
    columns: Indices
    output: slice


def blocks(table: ColumnTransformer) -> Iterator[Block]:
    """The blocks of a fitted ColumnTransformer that have output, in the order of their output."""
    names = input_names(table)
    weights = table.transformer_weights or {}
    found = []
    for title, step, columns in table.transformers_:
        output = table.output_indices_[title]
        steps: tuple[Step, ...] = transformers([(title, step)])
        if title in weights:
            steps += (Weight(float(weights[title]), output.stop - output.start),)
        if output.stop > output.start:
            found.append(Block(steps, positions(columns, names), output))
    return iter(sorted(found, key=lambda block: block.output.start))


def adapter(step: Step) -> Adapter:
    """What is known of a step."""
    if isinstance(step, SelectorMixin):
        return SELECTOR
    return ADAPTERS.get(type(step), Adapter())


def input_names(step: BaseEstimator) -> Names:
    """Names of the columns that a fitted step or estimator was fitted with."""
    return np.asarray(getattr(step, "feature_names_in_", default_names(step.n_features_in_)), dtype=np.str_)


def default_names(count: int) -> Names:
    """Names for features that have none; the number is the column's index.

    Examples
    --------
    >>> default_names(2).tolist()
    ['feature 0', 'feature 1']
    """
    return np.array([f"feature {column}" for column in range(count)], dtype=np.str_)


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


# -- columns -----------------------------------------------------------------------------------------------------------


def _each(step: Step) -> Indices:
    return np.arange(step.n_features_in_)


def _repeated(step: BaseEstimator) -> Indices:
    return np.repeat(np.arange(step.n_features_in_), codes_per_column(step))


def codes_per_column(step: BaseEstimator) -> int | Indices:
    """Number of output columns of each column of an encoder.

    Examples
    --------
    >>> codes_per_column(OneHotEncoder().fit([["a", "x"], ["b", "x"], ["c", "y"]])).tolist()
    [3, 2]
    """
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
    names = step.get_feature_names_out()
    kept = [order[name] for name in names[: len(names) - len(indicated(step))]]
    return np.append(kept, indicated(step)).astype(np.intp)


def indicated(step: Step) -> Indices:
    """Columns whose missing values an imputer indicates; the indicators are its last outputs."""
    indicator = getattr(step, "indicator_", None)
    return np.zeros(0, dtype=np.intp) if indicator is None else np.asarray(indicator.features_, dtype=np.intp)


def _of_function(step: FunctionTransformer) -> Indices | None:
    return _each(step) if step.func is None or step.feature_names_out == "one-to-one" else None


# -- linear maps -------------------------------------------------------------------------------------------------------


def _one_over_scale(step: BaseEstimator) -> Floats:
    return np.ones(step.n_features_in_) if step.scale_ is None else 1 / step.scale_


def _principal_axes(step: BaseEstimator) -> Floats:
    if not step.whiten:
        return step.components_
    spread = np.sqrt(step.explained_variance_)
    # scikit-learn's lower limit of a vanishing variance
    return step.components_ / np.maximum(spread, np.finfo(spread.dtype).eps)[:, None]


def selection(columns: Indices, n_columns: int) -> sparse.csr_array:
    """The map that selects columns."""
    places = np.arange(len(columns) + 1)
    return sparse.csr_array((np.ones(len(columns)), columns, places), (len(columns), n_columns))


# -- inverses ----------------------------------------------------------------------------------------------------------


def _own_inverse(step: BaseEstimator, rows: Rows) -> Rows | None:
    try:
        return np.asarray(step.inverse_transform(rows.copy()), dtype=np.float64)
    except ValueError:  # NaN, where a selector after this step has removed a column
        return None


def _put_back(columns: Indices, rows: Rows, n_columns: int) -> Floats:
    """Rows in all columns, NaN where a step has left one out."""
    whole = np.full((len(rows), n_columns), np.nan)
    whole[:, columns] = rows[:, : len(columns)]
    return whole


def _without_indicators(step: BaseEstimator, rows: Rows) -> Floats:
    source = _imputed(step)
    return _put_back(source[: len(source) - len(indicated(step))], rows, step.n_features_in_)


def _inverse_function(step: FunctionTransformer, rows: Rows) -> Rows | None:
    if step.func is None:
        return rows
    return None if step.inverse_func is None else _own_inverse(step, rows)


def _nearest_categories(step: OneHotEncoder, rows: Rows) -> Rows:
    return step.inverse_transform(hard_codes(step, rows.astype(np.float64)))


def _nearest_rank(step: OrdinalEncoder, rows: Rows) -> Rows:
    most = np.array([len(categories) - 1 for categories in step.categories_])
    return step.inverse_transform(np.clip(np.rint(rows.astype(np.float64)), 0, most))


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
    for count, drop in zip(np.atleast_1d(codes_per_column(encoder)), dropped):
        part = codes[:, begin : begin + count]
        if count:
            chosen = np.ones(len(part), dtype=bool) if drop is None else part.max(axis=1) > 0.5
            hard[np.flatnonzero(chosen), begin + part.argmax(axis=1)[chosen]] = 1
        begin += count
    return hard


# -- the table ---------------------------------------------------------------------------------------------------------

_SCALER = Adapter(_each, _one_over_scale, _own_inverse)
_CURVE = Adapter(_each, inverse=_own_inverse)
_COMPONENTS = Adapter(linear=_principal_axes, inverse=_own_inverse)
_IMPUTER = Adapter(_imputed, inverse=_without_indicators, keeps="values")
SELECTOR = Adapter(
    lambda step: np.flatnonzero(step.get_support()),
    lambda step: selection(np.flatnonzero(step.get_support()), step.n_features_in_),
    lambda step, rows: _put_back(np.flatnonzero(step.get_support()), rows, step.n_features_in_),
)
ADAPTERS: dict[type, Adapter] = {
    StandardScaler: _SCALER,
    MaxAbsScaler: _SCALER,
    RobustScaler: _SCALER,
    MinMaxScaler: Adapter(_each, lambda step: step.scale_, _own_inverse),
    PowerTransformer: _CURVE,
    QuantileTransformer: _CURVE,
    Binarizer: Adapter(_each),
    FunctionTransformer: Adapter(
        _of_function, lambda step: np.ones(1) if step.func is None else None, _inverse_function
    ),
    Weight: Adapter(
        _each,
        lambda step: np.full(step.n_features_in_, step.factor),
        lambda step, rows: rows.astype(np.float64) / step.factor if step.factor else None,
    ),
    PCA: _COMPONENTS,
    IncrementalPCA: _COMPONENTS,
    TruncatedSVD: Adapter(linear=lambda step: step.components_, inverse=_own_inverse),
    SimpleImputer: _IMPUTER,
    KNNImputer: _IMPUTER._replace(keeps="nothing"),  # a filled value changes with the other columns
    MissingIndicator: Adapter(lambda step: np.asarray(step.features_, dtype=np.intp), keeps="codes"),
    OneHotEncoder: Adapter(_repeated, inverse=_nearest_categories, keeps="codes", encodes=True),
    OrdinalEncoder: Adapter(_each, inverse=_nearest_rank, keeps="codes", encodes=True),
    TargetEncoder: Adapter(_repeated, keeps="codes", encodes=True),
    KBinsDiscretizer: Adapter(_repeated),
    StandardNormalVariate: Adapter(),
    SavitzkyGolay: Adapter(linear=lambda step: step.matrix_.T, in_place=True),
    NuisanceRemoval: Adapter(
        linear=lambda step: np.eye(step.n_features_in_) - step.patterns_.T @ step.directions_,
        inverse=lambda step, rows: rows,  # every feature is kept, in its units
    ),
}
