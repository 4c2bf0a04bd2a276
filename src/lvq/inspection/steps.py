"""The transformers that can be followed: one table with the columns, the linear map and the inverse of each.

A transformer that is not in the table is not guessed at: its outputs count as mixtures of all its columns, it is not
linear and has no inverse. Subclasses are other transformers, except those of scikit-learn's feature selectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
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

from lvq.estimators.find_model import FoundModel, transformers
from lvq.preprocessing import NuisanceRemoval, SavitzkyGolay, StandardNormalVariate

Names = NDArray[np.str_]
Indices = NDArray[np.intp]
Floats = NDArray[np.float64]
Rows = NDArray[np.generic]  # numbers, or objects where there are categories
# a matrix (to, from); sparse where each row selects and scales one column: many features need no large matrix
LinearMap: TypeAlias = "Floats | sparse.csr_array"
RARE = "other"  # the common column of infrequent categories


class Weight(NamedTuple):
    """A step for the weight of a block of a ColumnTransformer."""

    factor: float
    n_features_in_: int


Step: TypeAlias = BaseEstimator  # or a Weight


class CategoryFractions(NamedTuple):
    """The categories of a column of the input, and their fractions in each row."""

    categories: tuple[str, ...]
    fractions: Floats  # (n_rows, n_categories)


class Adapter(NamedTuple):
    """What is known of a transformer: functions of the fitted one, whose result None is "not known"."""

    # the input column of each output column; None where an output depends on several columns
    sources: Callable[[Step], Indices | None] = lambda step: None
    # the map of changes, or a vector of one factor for each feature; None where it is not linear. Clipping is ignored.
    linear: Callable[[Step], LinearMap | None] = lambda step: None
    # rows that the step turns into the given ones; None where there is no inverse
    inverse: Callable[[Step, Rows], Rows | None] = lambda step, rows: None
    # fractions of the categories of each column, by codes
    fractions: Callable[[Step, Floats], Iterable[CategoryFractions]] = lambda step, codes: ()
    # what the output keeps while categories and missing values of the input stay as they are
    keeps: Literal["nothing", "codes", "values"] = "nothing"
    encodes: bool = False  # its input are categories
    in_place: bool = False  # an output mixes neighbouring columns, and stands for the one at its place


class Block(NamedTuple):
    """One block of a ColumnTransformer: its fitted steps, its input columns and its output columns."""

    steps: Sequence[Step]
    columns: Indices
    output: slice


def blocks(table: ColumnTransformer) -> list[Block]:
    """The blocks of a fitted ColumnTransformer that have output, in the order of their output."""
    weights = table.transformer_weights or {}
    found = []
    for title, step, _ in table.transformers_:
        output = table.output_indices_[title]
        steps: tuple[Step, ...] = transformers([(title, step)])
        if title in weights:
            steps += (Weight(float(weights[title]), output.stop - output.start),)
        if output.stop > output.start:
            columns = np.array(table._transformer_to_input_indices[title], dtype=np.intp)
            found.append(Block(steps, columns, output))
    return sorted(found, key=lambda block: block.output.start)


def adapter(step: Step) -> Adapter:
    """What is known of a step."""
    if isinstance(step, SelectorMixin):
        return SELECTOR
    return ADAPTERS.get(type(step), Adapter())


# -- names of columns --------------------------------------------------------------------------------------------------


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


def positions(columns: Sequence[str | int], names: Names) -> Indices:
    """Indices of columns that are given by name or index; KeyError or IndexError for others."""
    order = {name: place for place, name in reversed(list(enumerate(names.tolist())))}  # the first of equal names
    places = [order[column] if isinstance(column, str) else column for column in columns]
    return np.arange(len(names))[places]


# -- linear maps -------------------------------------------------------------------------------------------------------


def input_map(found: FoundModel, purpose: str, *, clipping: bool = True, categories: bool = False) -> LinearMap:
    """How a change of a pipeline's input changes the input of its model; ValueError where a step is not linear.

    With `clipping` a scaler may clip single features: its map is then an upper bound of each feature's change. With
    `categories` the map is that of changes that keep every category and fill no missing value: encoders have the map
    0, and imputers the identity.
    """
    if found.model.unit_length:
        raise ValueError(
            f"{purpose} needs a model whose distances are between samples as they are; metric='cosine' divides each "
            "sample by its length, which is not linear. Use metric='euclidean', on rows that have length one already."
        )
    first = found.steps[0] if found.steps else found.estimator
    start = as_matrix(np.ones(getattr(first, "n_features_in_", found.model.n_features)))
    return _map_after(found.steps, start, purpose, clipping, categories)


def _map_after(steps: Sequence[Step], total: LinearMap, purpose: str, clipping: bool, categories: bool) -> LinearMap:
    for step in steps:
        if isinstance(step, ColumnTransformer):
            parts = [_map_after(one.steps, total[one.columns], purpose, clipping, categories) for one in blocks(step)]
            whole = all(sparse.issparse(part) for part in parts)
            total = sparse.vstack(parts, format="csr") if whole else np.concatenate([dense(part) for part in parts])
            continue
        after = linear_map(step)
        if after is None and categories:
            after = _with_fixed_categories(step)
        if after is None:
            raise ValueError(_not_linear(step, purpose))
        # clipping shortens a change of each feature, but can turn a change of mixed features
        mixed = bool((np.bincount(total.nonzero()[0]) > 1).any())
        if getattr(step, "clip", False) and (mixed or not clipping):
            raise ValueError(
                f"{purpose} does not support {step!r}, which clips{' mixed features' * mixed}; set clip=False."
            )
        total = after @ total
    return total


def linear_map(step: Step) -> LinearMap | None:
    """The map of changes of a known linear step; None for others."""
    found = adapter(step).linear(step)
    return None if found is None else as_matrix(found.astype(np.float64, copy=False))


def _with_fixed_categories(step: Step) -> sparse.csr_array | None:
    """The map of an encoder or imputer where categories and missing values stay; None for other steps."""
    known = adapter(step)
    source = known.sources(step) if known.keeps != "nothing" else None
    if source is None:
        return None
    kept = len(source) - len(indicated(step)) if known.keeps == "values" else 0
    return sparse.csr_array(selection(source, step.n_features_in_).multiply((np.arange(len(source)) < kept)[:, None]))


def _not_linear(step: Step, purpose: str) -> str:
    if adapter(step).encodes:
        return (
            f"{purpose} needs samples where a pipeline has categories, got {type(step).__name__} and no samples; pass "
            "the training samples, or other real ones, as samples=."
        )
    linear = "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PCA, TruncatedSVD, feature selectors"
    return (
        f"{purpose} supports linear steps only ({linear} and ColumnTransformers of these), got {type(step).__name__}; "
        "transform X with that step first, and pass the rest of the pipeline."
    )


def as_matrix(linear: LinearMap) -> LinearMap:
    """A map as a matrix; a vector of factors becomes a sparse diagonal one."""
    return sparse.csr_array(sparse.diags_array(linear)) if linear.ndim == 1 else linear


def dense(linear: LinearMap) -> Floats:
    """A map without a sparse matrix."""
    return linear if isinstance(linear, np.ndarray) else linear.toarray()


def selection(columns: Indices, n_columns: int) -> sparse.csr_array:
    """The map that selects columns."""
    places = np.arange(len(columns) + 1)
    return sparse.csr_array((np.ones(len(columns)), columns, places), (len(columns), n_columns))


def _one_over_scale(step: BaseEstimator) -> Floats:
    return np.ones(step.n_features_in_) if step.scale_ is None else 1 / step.scale_


def _principal_axes(step: BaseEstimator) -> Floats:
    if not step.whiten:
        return step.components_
    spread = np.sqrt(step.explained_variance_)
    # scikit-learn's lower limit of a vanishing variance
    return step.components_ / np.maximum(spread, np.finfo(spread.dtype).eps)[:, None]


# -- columns -----------------------------------------------------------------------------------------------------------


def _each(step: Step) -> Indices:
    return np.arange(step.n_features_in_)


def _repeated(counts: Callable[[BaseEstimator], int | Indices]) -> Callable[[Step], Indices]:
    return lambda step: np.repeat(np.arange(step.n_features_in_), counts(step))


def _codes_per_column(encoder: OneHotEncoder) -> Indices:
    counts = np.array([len(categories) for categories in encoder.categories_])
    rare = getattr(encoder, "infrequent_categories_", None)  # all of them have one common column
    if rare is not None:
        counts -= [0 if names is None else len(names) - 1 for names in rare]
    return counts if encoder.drop_idx_ is None else counts - [index is not None for index in encoder.drop_idx_]


def _codes_per_target(encoder: TargetEncoder) -> int:
    return len(encoder.classes_) if encoder.target_type_ == "multiclass" else 1


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


def _selected(selector: SelectorMixin) -> Indices:
    return np.flatnonzero(selector.get_support())


# -- inverses and categories -------------------------------------------------------------------------------------------


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


def _nearest_rank(step: OrdinalEncoder, rows: Rows) -> Rows:
    most = np.array([len(categories) - 1 for categories in step.categories_])
    return step.inverse_transform(np.clip(np.rint(rows.astype(np.float64)), 0, most))


def _nearest_categories(step: OneHotEncoder, rows: Rows) -> Rows:
    return step.inverse_transform(hard_codes(step, rows.astype(np.float64)))


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
    for count, drop in zip(_codes_per_column(encoder), dropped):
        part = codes[:, begin : begin + count]
        if count:
            chosen = np.ones(len(part), dtype=bool) if drop is None else part.max(axis=1) > 0.5
            hard[np.flatnonzero(chosen), begin + part.argmax(axis=1)[chosen]] = 1
        begin += count
    return hard


def _one_hot_fractions(encoder: OneHotEncoder, codes: Floats) -> Iterable[CategoryFractions]:
    for index, end in enumerate(np.cumsum(_codes_per_column(encoder)).tolist()):
        names, dropped = _category_names(encoder, index)
        part = codes[:, end - len(names) : end]
        if dropped is not None:
            part, names = np.column_stack((part, 1 - part.sum(axis=1))), [*names, dropped]
        part = np.maximum(part, 0.0)
        total = part.sum(axis=1, keepdims=True)
        yield CategoryFractions(tuple(names), np.divide(part, total, out=np.zeros_like(part), where=total > 0))


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


# -- the table ---------------------------------------------------------------------------------------------------------

_SCALER = Adapter(_each, _one_over_scale, _own_inverse)
_CURVE = Adapter(_each, inverse=_own_inverse)
_COMPONENTS = Adapter(linear=_principal_axes, inverse=_own_inverse)
_IMPUTER = Adapter(_imputed, inverse=_without_indicators, keeps="values")
SELECTOR = Adapter(
    _selected,
    lambda step: selection(_selected(step), step.n_features_in_),
    lambda step, rows: _put_back(_selected(step), rows, step.n_features_in_),
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
        _of_function, lambda step: np.ones(step.n_features_in_) if step.func is None else None, _inverse_function
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
    OneHotEncoder: Adapter(
        _repeated(_codes_per_column),
        inverse=_nearest_categories,
        fractions=_one_hot_fractions,
        keeps="codes",
        encodes=True,
    ),
    OrdinalEncoder: Adapter(_each, inverse=_nearest_rank, keeps="codes", encodes=True),
    TargetEncoder: Adapter(_repeated(_codes_per_target), keeps="codes", encodes=True),
    KBinsDiscretizer: Adapter(_repeated(lambda step: 1 if step.encode == "ordinal" else step.n_bins_)),
    StandardNormalVariate: Adapter(),
    SavitzkyGolay: Adapter(linear=lambda step: step.matrix_.T, in_place=True),
    NuisanceRemoval: Adapter(
        linear=lambda step: np.eye(step.n_features_in_) - step.patterns_.T @ step.directions_,
        inverse=lambda step, rows: rows,  # every feature is kept, in its units
    ),
}
