"""Fitted transformers as linear maps: how a change of a pipeline's input changes the input of its model.

A map is a vector, one factor per feature, which represents a diagonal matrix, or a matrix (to, from). Maps that select
and scale features are sparse matrices, so that many features need no matrix of their squared number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from lvq.input_columns import blocks, sources
from lvq.nuisance import NuisanceRemoval
from lvq.spectra import SavitzkyGolay

Floats = NDArray[np.float64]
LinearMap: TypeAlias = "Floats | sparse.csr_array"


def _inverse_scale(step: BaseEstimator) -> Floats:
    return np.ones(step.n_features_in_) if step.scale_ is None else 1 / step.scale_


def _principal_axes(step: BaseEstimator) -> Floats:
    if not step.whiten:
        return step.components_
    spread = np.sqrt(step.explained_variance_)
    # scikit-learn's lower limit of a vanishing variance
    return step.components_ / np.maximum(spread, np.finfo(spread.dtype).eps)[:, None]


def _selection(step: BaseEstimator) -> sparse.csr_array:
    chosen = np.flatnonzero(step.get_support())
    return sparse.csr_array(
        (np.ones(len(chosen)), chosen, np.arange(len(chosen) + 1)), (len(chosen), step.n_features_in_)
    )


LINEAR_STEPS: dict[type, Callable[[BaseEstimator], LinearMap]] = {
    StandardScaler: _inverse_scale,
    MaxAbsScaler: _inverse_scale,
    RobustScaler: _inverse_scale,
    MinMaxScaler: lambda step: step.scale_,
    PCA: _principal_axes,
    IncrementalPCA: _principal_axes,
    TruncatedSVD: lambda step: step.components_,
    SelectorMixin: _selection,
    SavitzkyGolay: lambda step: step.matrix_.T,
    NuisanceRemoval: lambda step: np.eye(step.n_features_in_) - step.patterns_.T @ step.directions_,
}


# their output stays where no category changes and no missing value is filled
CATEGORICAL_STEPS = (OneHotEncoder, OrdinalEncoder, TargetEncoder, KBinsDiscretizer, MissingIndicator, SimpleImputer)


def step_map(step: BaseEstimator) -> LinearMap | None:
    """The map of a fitted transformer; None where it is not linear. Clipping is ignored."""
    if isinstance(step, FunctionTransformer) and step.func is None:
        return np.ones(1)
    kind = next((kind for kind in LINEAR_STEPS if isinstance(step, kind)), None)
    return None if kind is None else LINEAR_STEPS[kind](step).astype(np.float64, copy=False)


def input_map(
    steps: Sequence[BaseEstimator], purpose: str, *, clipping: bool = True, categories: bool = False
) -> LinearMap:
    """The map of all steps one after the other; ValueError where one is not linear.

    With `clipping` a scaler may clip single features: its map is then an upper bound of each feature's change. With
    `categories` the map is that of changes that keep every category and fill no missing value: encoders have the map
    0, and imputers the identity.
    """
    return _after(steps, np.ones(1), purpose, clipping, categories)


def _after(
    steps: Sequence[BaseEstimator], total: LinearMap, purpose: str, clipping: bool, categories: bool
) -> LinearMap:
    for step in steps:
        if isinstance(step, ColumnTransformer):
            factors = np.broadcast_to(total, step.n_features_in_) if total.ndim == 1 else None
            before = total if factors is None else sparse.csr_array(sparse.diags_array(factors))
            parts = [_after(one.steps, before[one.columns], purpose, clipping, categories) for one in blocks(step)]
            whole = all(sparse.issparse(part) for part in parts)
            total = sparse.vstack(parts, format="csr") if whole else np.concatenate([dense(part) for part in parts])
            continue
        after = step_map(step)
        if after is None and categories:
            after = _map_with_fixed_categories(step)
        if after is None:
            raise ValueError(_not_linear(step, purpose))
        # clipping shortens a change of each feature, but can turn a change of mixed features
        mixed = total.ndim == 2 and bool((_entries(total) > 1).any())
        if getattr(step, "clip", False) and (mixed or not clipping):
            raise ValueError(
                f"{purpose} does not support {step!r}, which clips{' mixed features' * mixed}; set clip=False."
            )
        total = compose(after, total)
    return total


def _map_with_fixed_categories(step: BaseEstimator) -> sparse.csr_array | None:
    """The map of an encoder or imputer where categories and missing values stay; None for other steps."""
    source = sources(step) if isinstance(step, CATEGORICAL_STEPS) else None
    if source is None:
        return None
    n_kept = 0  # columns that pass through; indicators of missing values come after them
    if isinstance(step, SimpleImputer):
        n_kept = len(source) - (0 if step.indicator_ is None else len(step.indicator_.features_))
    places = (np.arange(n_kept), source[:n_kept])
    return sparse.csr_array((np.ones(n_kept), places), (len(source), step.n_features_in_))


def _not_linear(step: BaseEstimator, purpose: str) -> str:
    names = ", ".join(kind.__name__.replace("SelectorMixin", "feature selectors") for kind in LINEAR_STEPS)
    supported = f"supports linear steps only ({names} and ColumnTransformers of these)"
    if isinstance(step, OneHotEncoder):
        return (
            f"{purpose} needs samples where a pipeline has categories, got {type(step).__name__} and no samples; pass "
            "the training samples, or other real ones, as samples=."
        )
    return (
        f"{purpose} {supported}, got {type(step).__name__}; transform X with that step first, and pass the rest of the "
        "pipeline."
    )


def _entries(matrix: LinearMap) -> NDArray[np.intp]:
    """Number of entries of each row that are not 0."""
    if isinstance(matrix, np.ndarray):
        return np.count_nonzero(matrix, axis=1)
    return np.bincount(matrix.nonzero()[0], minlength=matrix.shape[0])


def dense(linear: LinearMap) -> Floats:
    """A map without a sparse matrix."""
    return linear if isinstance(linear, np.ndarray) else linear.toarray()


def compose(after: LinearMap, before: LinearMap) -> LinearMap:
    """The two maps one after the other."""
    if after.ndim == 1 and before.ndim == 1:
        return after * before
    if after.ndim == 1:
        rows = after[:, None]
        return rows * before if isinstance(before, np.ndarray) else sparse.csr_array(before.multiply(rows))
    if before.ndim == 1:
        return after * before if isinstance(after, np.ndarray) else sparse.csr_array(after.multiply(before[None, :]))
    return after @ before


def project(rows: NDArray[np.floating], linear: LinearMap) -> Floats:
    """The image A x of each row x."""
    return rows * linear if linear.ndim == 1 else rows @ linear.T


def pull_back(rows: NDArray[np.floating], linear: LinearMap) -> Floats:
    """A'z for each row z: gradients by the image become gradients by the input."""
    return rows * linear if linear.ndim == 1 else rows @ linear
