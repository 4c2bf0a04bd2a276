"""The transformers that can be followed: one table with the columns, the linear map and the inverse of each.

Nothing is guessed about a transformer that is not in the table: its outputs count as mixtures of all its columns, it is
not linear and has no inverse. Subclasses are other transformers, except subclasses of scikit-learn's feature selectors.
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
from lvq.typing import Floats

Names = NDArray[np.str_]
Indices = NDArray[np.intp]
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

    categories: tuple[object, ...]
    fractions: Floats  # (n_rows, n_categories)


class Adapter(NamedTuple):
    """What is known about a transformer: functions of the fitted one, which return None for "not known"."""

    # the input column of each output column; None where an output depends on several columns
    sources: Callable[[Step], Indices | None] = lambda step: None
    # the map of changes, or a vector of one factor for each feature; None where it is not linear
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

    @property
    def width(self) -> int:
        """Number of its output columns."""
        return self.output.stop - self.output.start


def blocks(table: ColumnTransformer) -> list[Block]:
    """The blocks of a fitted ColumnTransformer that have output, in the order of their output."""
    weights = table.transformer_weights or {}
    found = []
    for title, step, _ in table.transformers_:
        output = table.output_indices_[title]
        steps = transformers([(title, step)])
        columns = np.array(table._transformer_to_input_indices[title], dtype=np.intp)
        block = Block(steps, columns, output)
        if title in weights:
            block = block._replace(steps=(*steps, Weight(float(weights[title]), block.width)))
        if block.width:
            found.append(block)
    return sorted(found, key=lambda block: block.output.start)


def adapter(step: Step) -> Adapter:
    """What is known about a step."""
    if isinstance(step, SelectorMixin):
        return SELECTOR
    return ADAPTERS.get(type(step), Adapter())


# -- names of columns --------------------------------------------------------------------------------------------------


def input_names(step: BaseEstimator) -> Names:
    """Names of the columns that a fitted step or estimator was fitted with."""
    return np.asarray(getattr(step, "feature_names_in_", default_names(step.n_features_in_)), dtype=np.str_)


def names_before(found: FoundModel) -> Names:
    """Names of the columns that a pipeline takes."""
    first = found.steps[0] if found.steps else found.estimator
    return input_names(first) if hasattr(first, "n_features_in_") else default_names(found.model.n_features)


def default_names(count: int) -> Names:
    """Names for features that have none; the number is the column's index.

    Examples
    --------
    >>> default_names(2).tolist()
    ['feature 0', 'feature 1']
    """
    return np.array([f"feature {column}" for column in range(count)], dtype=np.str_)


def positions(columns: Sequence[str | int], names: Names, purpose: str) -> Indices:
    """Indices of columns that are given by name or index; ValueError for others, which names the `purpose`."""
    order = {name: place for place, name in reversed(list(enumerate(names.tolist())))}  # the first of equal names
    try:
        places = [order[column] if isinstance(column, str) else column for column in columns]
        return np.arange(len(names))[places]
    except (KeyError, IndexError) as error:
        raise ValueError(
            f"{purpose} must name columns of X, by name or by index from 0 to {len(names) - 1}; got {list(columns)!r}."
        ) from error


# -- linear maps -------------------------------------------------------------------------------------------------------


def input_map(found: FoundModel, purpose: str, *, categories: bool = False) -> LinearMap:
    """How a change of a pipeline's input changes the input of its model; ValueError where a step is not linear.

    With `categories` the map is for changes that keep every category and fill no missing value: encoders have the
    map 0, and imputers the identity.
    """
    if found.model.unit_length:
        raise ValueError(
            f"{purpose} needs a model whose distances are between samples as they are; metric='cosine' divides each "
            "sample by its length, which is not linear. Use metric='euclidean', on rows that have length one already."
        )
    return _map_after(found.steps, as_matrix(np.ones(len(names_before(found)))), purpose, categories)


def _map_after(steps: Sequence[Step], total: LinearMap, purpose: str, categories: bool) -> LinearMap:
    for step in steps:
        if isinstance(step, ColumnTransformer):
            parts = [_map_after(one.steps, total[one.columns], purpose, categories) for one in blocks(step)]
            whole = all(sparse.issparse(part) for part in parts)
            total = sparse.vstack(parts, format="csr") if whole else np.concatenate([dense(part) for part in parts])
            continue
        after = linear_map(step)
        if after is None and categories:
            after = _with_fixed_categories(step)
        if after is None:
            raise ValueError(_not_linear(step, purpose))
        total = after @ total
    return total


def linear_map(step: Step) -> LinearMap | None:
    """The map of changes of a known linear step; None for others, and for scalers that clip."""
    found = None if getattr(step, "clip", False) else adapter(step).linear(step)
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
    name = type(step).__name__ + "(clip=True)" * getattr(step, "clip", False)
    linear = "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PCA, TruncatedSVD, feature selectors"
    return (
        f"{purpose} supports linear steps only ({linear} and ColumnTransformers of these), got {name}; "
        "transform X with that step first, and pass the rest of the pipeline"
        f"{', or pass real samples as samples=' * (purpose == 'counterfactual')}."
    )


def as_matrix(linear: LinearMap) -> LinearMap:
    """A map as a matrix; a vector of factors becomes a sparse diagonal one."""
    return sparse.csr_array(sparse.diags(linear)) if linear.ndim == 1 else linear


def dense(linear: LinearMap) -> Floats:
    """A map without a sparse matrix."""
    return linear if isinstance(linear, np.ndarray) else linear.toarray()


def pseudo_inverse(linear: LinearMap) -> LinearMap:
    """Gives the shortest vectors whose images are given; sparse where the map selects and scales different columns.

    Examples
    --------
    >>> pseudo_inverse(sparse.csr_array([[0.0, 4.0, 0.0]])).toarray().tolist()
    [[0.0], [0.25], [0.0]]
    """
    if not sparse.issparse(linear) or max(np.bincount(places).max(initial=0) for places in linear.nonzero()) > 1:
        return np.linalg.pinv(dense(linear), rcond=max(linear.shape) * np.finfo(np.float64).eps)
    back = sparse.csr_array(linear.T)
    back.data = np.divide(1, back.data, out=np.zeros_like(back.data), where=back.data != 0)
    return back


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
    return np.array([len(_categories(encoder, column)[0]) for column in range(encoder.n_features_in_)])


def _codes_per_target(encoder: TargetEncoder) -> int:
    return len(encoder.classes_) if encoder.target_type_ == "multiclass" else 1


def _imputed(step: BaseEstimator) -> Indices:
    """Columns of an imputer, without the empty ones that it left out, then the columns of its indicators."""
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


def _most_frequent_categories(encoder: OneHotEncoder, codes: Rows) -> Rows:
    cells = np.empty((len(codes), encoder.n_features_in_), dtype=object)
    for column, (categories, fractions) in enumerate(_one_hot_fractions(encoder, codes.astype(np.float64))):
        cells[:, column] = [categories[best] for best in fractions.argmax(axis=1)]
    return cells


def _one_hot_fractions(encoder: OneHotEncoder, codes: Floats) -> Iterable[CategoryFractions]:
    begin = 0
    for column in range(encoder.n_features_in_):
        coded, dropped = _categories(encoder, column)
        part, begin = codes[:, begin : begin + len(coded)], begin + len(coded)
        if dropped:
            part = np.column_stack((part, 1 - part.sum(axis=1)))
        part = np.maximum(part, 0.0)
        total = part.sum(axis=1, keepdims=True)
        fractions = np.divide(part, total, out=np.zeros_like(part), where=total > 0)
        yield CategoryFractions((*coded, *dropped), fractions)


def _categories(encoder: OneHotEncoder, column: int) -> tuple[list[object], list[object]]:
    """Categories of a column in the order of its codes, and the dropped one, if any."""
    every, infrequent = encoder.categories_[column].tolist(), getattr(encoder, "infrequent_categories_", None)
    rare = set() if infrequent is None or infrequent[column] is None else set(map(str, infrequent[column].tolist()))
    drop = None if encoder.drop_idx_ is None else encoder.drop_idx_[column]
    dropped = [] if drop is None else [RARE if str(every[drop]) in rare else every[drop]]
    coded = [category for index, category in enumerate(every) if index != drop and str(category) not in rare]
    return coded + [RARE] * (bool(rare) and dropped != [RARE]), dropped


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
ADAPTERS: dict[type, Adapter] = {  # `lvq.preprocessing` adds its own
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
        inverse=_most_frequent_categories,
        fractions=_one_hot_fractions,
        keeps="codes",
        encodes=True,
    ),
    OrdinalEncoder: Adapter(_each, inverse=_nearest_rank, keeps="codes", encodes=True),
    TargetEncoder: Adapter(_repeated(_codes_per_target), keeps="codes", encodes=True),
    KBinsDiscretizer: Adapter(_repeated(lambda step: 1 if step.encode == "ordinal" else step.n_bins_)),
}
