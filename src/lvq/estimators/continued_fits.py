"""Checks of warm starts and streams, which continue a fitted model."""

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from lvq.estimators.parts import Parts
from lvq.model.relevance import (
    Relevance,
)
from lvq.model.structure import UNSTRUCTURED
from lvq.typing import Argument


def check_unchanged(estimator: BaseEstimator, parts: Parts, classes: np.ndarray, *, stream: bool) -> None:
    """A warm start and a stream continue the fitted model: raise ValueError for parts that do not fit it."""
    name, call = type(estimator).__name__, "partial_fit" if stream else "warm_start=True"
    model, state = estimator.model_, estimator._state
    if not np.array_equal(classes, model.classes):
        raise ValueError(
            f"{call} of {name} needs the classes of the first fit, {model.classes.tolist()}; got {classes.tolist()}. "
            "Set warm_start=False to start again."
        )
    changed = [repr(key) for (key, old), (_, new) in zip(state.start, parts.start) if not _same(old, new)]
    n_prototypes, n_features = model.prototypes.shape
    relevance = parts.relevance.for_data(1, n_features, n_prototypes)
    if _shape_of(relevance.for_online(n_features)) != _shape_of(state.relevance.for_online(n_features)):
        changed.append("'relevance'")
    elif getattr(relevance, "unit_trace", False) and not getattr(state.relevance, "unit_trace", True):
        changed.append("'solver' or 'ridge'")  # units measured without unit trace do not fit unit trace
    if stream and type(parts.cost) is not type(state.cost):
        changed.append("'cost'")
    if changed:
        raise ValueError(
            f"{call} of {name} continues the model of the last fit, but {', '.join(changed)} has changed. "
            "Set it back, or call fit without a warm start."
        )


def _same(one: object, other: object) -> bool:
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(np.asarray(one), np.asarray(other))
    return type(one) is type(other) and bool(one == other)


def _shape_of(relevance: Relevance) -> Relevance:
    """A rule without the size and the penalties of its metric, which may change between fits."""
    changing: dict[str, Argument] = {
        "unit_trace": True,
        "ridge": 0.0,
        "log_determinant": 0.0,
        "shrinkage": 0.0,
        "structure": UNSTRUCTURED,
    }
    return replace(relevance, **{name: value for name, value in changing.items() if hasattr(relevance, name)})


def check_stream(estimator: BaseEstimator, parts: Parts) -> None:
    """Raise ValueError for a stream that the online solver cannot learn."""
    if estimator.n_prototypes == "auto" and estimator.n_prototypes_total is None:
        raise ValueError(
            f"n_prototypes='auto' of {type(estimator).__name__} needs all samples at once, which partial_fit does not "
            "have. Set n_prototypes to a number of prototypes per class."
        )
    if getattr(estimator, "sample_prototypes", False):
        raise ValueError(
            f"sample_prototypes=True of {type(estimator).__name__} needs all samples at once, which partial_fit does "
            "not have. Set sample_prototypes=False."
        )
    if not getattr(parts.relevance, "unit_trace", True):
        raise ValueError(
            f"{type(estimator).__name__}.partial_fit learns online, which keeps every Omega at unit trace; this model "
            "has Omega without unit trace. Use ridge=0 or solver='online' from the start, or unit_trace=True."
        )
    if getattr(parts.relevance, "structure", UNSTRUCTURED) != UNSTRUCTURED:
        raise ValueError(
            f"{type(estimator).__name__}.partial_fit learns online, which does not support feature_groups, sparsity "
            "and smoothness. Leave them out."
        )
    if getattr(estimator, "cost_matrix", None) is not None:
        raise ValueError(f"{type(estimator).__name__}.partial_fit learns online, which does not support cost_matrix.")
