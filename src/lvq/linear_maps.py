"""Fitted transformers as linear maps: how a change of a pipeline's input changes the input of its model.

A map is a vector, one factor per feature, which represents a diagonal matrix, or a matrix (to, from).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from lvq.input_columns import blocks

Floats = NDArray[np.float64]


def _inverse_scale(step: BaseEstimator) -> Floats:
    return np.ones(step.n_features_in_) if step.scale_ is None else 1 / step.scale_


def _principal_axes(step: BaseEstimator) -> Floats:
    if not step.whiten:
        return step.components_
    spread = np.sqrt(step.explained_variance_)
    # scikit-learn's lower limit of a vanishing variance
    return step.components_ / np.maximum(spread, np.finfo(spread.dtype).eps)[:, None]


LINEAR_STEPS: dict[type, Callable[[BaseEstimator], Floats]] = {
    StandardScaler: _inverse_scale,
    MaxAbsScaler: _inverse_scale,
    RobustScaler: _inverse_scale,
    MinMaxScaler: lambda step: step.scale_,
    PCA: _principal_axes,
    IncrementalPCA: _principal_axes,
    TruncatedSVD: lambda step: step.components_,
    SelectorMixin: lambda step: np.eye(step.n_features_in_)[step.get_support()],
}


def step_map(step: BaseEstimator) -> Floats | None:
    """The map of a fitted transformer; None where it is not linear. Clipping is ignored."""
    if isinstance(step, FunctionTransformer) and step.func is None:
        return np.ones(1)
    kind = next((kind for kind in LINEAR_STEPS if isinstance(step, kind)), None)
    return None if kind is None else np.asarray(LINEAR_STEPS[kind](step), dtype=np.float64)


def input_map(steps: Sequence[BaseEstimator], purpose: str, *, clipping: bool = True) -> Floats:
    """The map of all steps one after the other; ValueError where one is not linear.

    With `clipping` a scaler may clip single features: its map is then an upper bound of each feature's change.
    """
    return _after(steps, np.ones(1), purpose, clipping)


def _after(steps: Sequence[BaseEstimator], total: Floats, purpose: str, clipping: bool) -> Floats:
    for step in steps:
        if isinstance(step, ColumnTransformer):
            before = np.diag(np.broadcast_to(total, step.n_features_in_)) if total.ndim == 1 else total
            parts = [_after(block.steps, before[block.columns], purpose, clipping) for block in blocks(step)]
            total = np.concatenate(parts)
            continue
        after = step_map(step)
        if after is None:
            raise ValueError(_not_linear(step, purpose))
        # clipping shortens a change of each feature, but can turn a change of mixed features
        mixed = total.ndim == 2 and bool((np.count_nonzero(total, axis=1) > 1).any())
        if getattr(step, "clip", False) and (mixed or not clipping):
            raise ValueError(
                f"{purpose} does not support {step!r}, which clips{' mixed features' * mixed}; set clip=False."
            )
        total = compose(after, total)
    return total


def _not_linear(step: BaseEstimator, purpose: str) -> str:
    names = ", ".join(kind.__name__.replace("SelectorMixin", "feature selectors") for kind in LINEAR_STEPS)
    supported = f"supports linear steps only ({names} and ColumnTransformers of these)"
    if isinstance(step, OneHotEncoder):
        supported = "does not support categories"
    return (
        f"{purpose} {supported}, got {type(step).__name__}; transform X with that step first, and pass the rest of the "
        "pipeline."
    )


def compose(after: Floats, before: Floats) -> Floats:
    """The two maps one after the other."""
    if after.ndim == 1:
        return after * before if before.ndim == 1 else after[:, None] * before
    return after * before if before.ndim == 1 else after @ before


def project(rows: NDArray[np.floating], linear: Floats) -> Floats:
    """The image A x of each row x."""
    return rows * linear if linear.ndim == 1 else rows @ linear.T


def pull_back(rows: NDArray[np.floating], linear: Floats) -> Floats:
    """A'z for each row z: gradients by the image become gradients by the input."""
    return rows * linear if linear.ndim == 1 else rows @ linear
