"""How a change of a pipeline's input changes the input of its model, where all steps between are linear.

A map is a vector, one factor for each feature, which represents a diagonal matrix, or a matrix (to, from). Maps that
select and scale features are sparse: many features need no matrix of their squared number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer

from lvq.inspection.steps import Floats, LinearMap, Step, adapter, blocks, indicated, selection


def input_map(steps: Sequence[Step], purpose: str, *, clipping: bool = True, categories: bool = False) -> LinearMap:
    """The map of all steps one after the other; ValueError where one is not linear.

    With `clipping` a scaler may clip single features: its map is then an upper bound of each feature's change. With
    `categories` the map is that of changes that keep every category and fill no missing value: encoders have the map
    0, and imputers the identity.
    """
    return _after(steps, np.ones(1), purpose, clipping, categories)


def _after(steps: Sequence[Step], total: LinearMap, purpose: str, clipping: bool, categories: bool) -> LinearMap:
    for step in steps:
        if isinstance(step, ColumnTransformer):
            before = as_matrix(np.broadcast_to(total, step.n_features_in_)) if total.ndim == 1 else total
            parts = [_after(one.steps, before[one.columns], purpose, clipping, categories) for one in blocks(step)]
            whole = all(sparse.issparse(part) for part in parts)
            total = sparse.vstack(parts, format="csr") if whole else np.concatenate([dense(part) for part in parts])
            continue
        after = adapter(step).linear(step)
        if after is None and categories:
            after = _with_fixed_categories(step)
        if after is None:
            raise ValueError(_not_linear(step, purpose))
        # clipping shortens a change of each feature, but can turn a change of mixed features
        mixed = total.ndim == 2 and bool((np.bincount(total.nonzero()[0]) > 1).any())
        if getattr(step, "clip", False) and (mixed or not clipping):
            raise ValueError(
                f"{purpose} does not support {step!r}, which clips{' mixed features' * mixed}; set clip=False."
            )
        total = compose(after.astype(np.float64, copy=False), total)
    return total


def _with_fixed_categories(step: Step) -> sparse.csr_array | None:
    """The map of an encoder or imputer where categories and missing values stay; None for other steps."""
    known = adapter(step)
    source = known.sources(step) if known.keeps != "nothing" else None
    if source is None:
        return None
    kept = len(source) - len(indicated(step)) if known.keeps == "values" else 0
    return sparse.csr_array(
        sparse.vstack(
            (selection(source[:kept], step.n_features_in_), sparse.csr_array((len(source) - kept, step.n_features_in_)))
        )
    )


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
    """A map as a matrix; a vector becomes a sparse diagonal one."""
    return sparse.csr_array(sparse.diags_array(linear)) if linear.ndim == 1 else linear


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
