"""Checks that the arrays and parts of a fitted model fit together, as it is also made from files, and its samples."""

import sys
from collections.abc import Hashable
from dataclasses import fields
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from lvq.model.arrays import as_numpy
from lvq.model.links import Kernel
from lvq.model.local_metrics import LocalDiagonal, LocalMahalanobis
from lvq.model.metrics import Diagonal, Euclidean, LocalMetric, Mahalanobis
from lvq.model.rows import canonical, is_sparse, largest_value, numbers

if TYPE_CHECKING:
    from lvq.model.prototype_model import PrototypeModel

LARGEST = sys.float_info.max  # integers of Python can be larger
PARAMETER_AXES: dict[type, int] = {Euclidean: 0, Diagonal: 1, Mahalanobis: 2, LocalDiagonal: 2, LocalMahalanobis: 3}


def check(model: "PrototypeModel") -> None:
    """Raise ValueError for arrays and parts that do not form a consistent model."""
    problem = _array_problem(model) or _metric_problem(model) or _link_problem(model)
    if problem:
        raise ValueError(f"PrototypeModel {problem}.")


def _array_problem(model: "PrototypeModel") -> str:
    W, labels, classes = model.prototypes, model.labels, model.classes
    if not _is_array(W, 2, "f") or not W.size or W.dtype.itemsize not in (4, 8):
        return "needs prototypes of shape (n_prototypes, n_features) in float32 or float64"
    if not np.isfinite(W).all():
        return "has prototypes that are not finite numbers"
    if not _is_array(classes, 1, "biufSUOMm") or not len(classes):
        return "needs a one-dimensional array of classes"
    values = classes.tolist()
    if any(not isinstance(value, Hashable) or value != value for value in values) or len(set(values)) < len(values):
        return f"has classes that are not distinct values: {values}"
    if not _is_array(labels, 1, "iu") or labels.shape != (len(W),) or (np.diff(labels.astype(np.int64)) < 0).any():
        return "needs an ascending class index for each prototype"
    if labels[0] < 0 or labels[-1] >= len(classes):
        return f"has labels outside of its {len(classes)} classes"
    if model.feature_names is not None and len(model.feature_names) != W.shape[1]:
        return f"has {len(model.feature_names)} feature names for {W.shape[1]} features"
    importances = model.importances
    if importances is not None and (
        not _is_array(importances, 1, "f") or len(importances) != W.shape[1] or not np.isfinite(importances).all()
    ):
        return f"has importances that do not fit its {W.shape[1]} features"
    variances = model.variances
    if variances is not None and (
        not _is_array(variances, 1, "f") or len(variances) != W.shape[1] or not np.isfinite(variances).all()
    ):
        return f"has variances that do not fit its {W.shape[1]} features"
    if variances is not None and ((variances < 0).any() or type(model.metric) not in PARAMETER_AXES):
        return "has variances that are negative, or a metric that cannot ignore missing values"
    return ""


def _metric_problem(model: "PrototypeModel") -> str:
    metric, R, (count, n_features) = model.metric, model.relevance, model.prototypes.shape
    if type(metric) not in PARAMETER_AXES:  # a metric of the user's own
        return "" if callable(getattr(metric, "prepare", None)) else "has no metric"
    axes = PARAMETER_AXES[type(metric)]
    if axes == 0:
        return "" if R is None else "has relevances that its metric does not use"
    if not _is_array(R, axes, "f") or not R.size or R.shape[-1] != n_features or not np.isfinite(R).all():
        return f"has relevances that do not fit its {n_features} features"
    if model.has_weights and (R < 0).any():
        return "has negative relevances"
    if isinstance(metric, LocalMetric):
        groups = metric.groups
        whole = isinstance(groups, tuple) and all(type(boundary) is int for boundary in groups) and len(groups) > 1
        if not whole or groups[0] != 0 or groups[-1] != count or (np.diff(groups) < 1).any():
            return "has metrics for other groups of prototypes"
        if len(R) != len(groups) - 1:
            return "has another number of metrics than groups"
    return ""


def _link_problem(model: "PrototypeModel") -> str:
    if not isinstance(model.link, Kernel):
        return "" if callable(getattr(model.link, "value", None)) else "has no link"
    values = [getattr(model.link, parameter.name) for parameter in fields(model.link)]
    numbers = all(isinstance(value, int | float) and 0 < value <= LARGEST for value in values)
    return "" if numbers else "has a kernel whose width or shape is not a positive number"


def _is_array(value: object, axes: int, kinds: str) -> TypeGuard[np.ndarray]:
    return isinstance(value, np.ndarray) and value.ndim == axes and value.dtype.kind in kinds


def checked_samples(model: "PrototypeModel", X: ArrayLike) -> np.ndarray:
    """Samples as a floating array; ValueError where they do not fit the model."""
    X = canonical(X) if is_sparse(X) else np.asarray(as_numpy(X))
    if X.dtype.kind == "c":
        raise ValueError(f"X of PrototypeModel must hold real numbers, got {X.dtype}.")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if X.ndim != 2 or X.shape[1] != model.n_features:
        raise ValueError(f"X of PrototypeModel must have shape (n_samples, {model.n_features}), got {X.shape}.")
    known = numbers(X)
    if (model.variances is None and not np.isfinite(known).all()) or np.isinf(known).any():  # else NaN is missing
        raise ValueError("X of PrototypeModel contains NaN or infinite values.")
    largest, limit = float(np.fmax.reduce(np.abs(known), None, initial=0)), largest_value(X.dtype, X.shape[1])
    if largest > limit:
        raise ValueError(
            f"X of PrototypeModel holds values as large as {largest:.3g}, whose squared distances overflow; "
            f"the largest allowed is {limit:.3g}."
        )
    return X
