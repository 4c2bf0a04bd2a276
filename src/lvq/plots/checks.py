"""What displays are given besides a model: classes of samples, names of classes and features, one of several cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.plots.models import cell_names, feature_names


def class_indices(caller: str, X: Any, y: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Index of each sample's class, or a sentence that says which classes the model has never seen."""
    y = column_or_1d(y)
    check_consistent_length(X, y)
    strangers = np.setdiff1d(y, classes)
    if len(strangers):
        raise ValueError(
            f"y of {caller} contains {strangers[:5].tolist()}, not among the model's classes {classes.tolist()}."
        )
    return np.searchsorted(classes, y)


def named_classes(caller: str, classes: NDArray[Any], names: Any) -> NDArray[Any]:
    """The classes, or the names given for them."""
    if names is None:
        return classes
    if len(names) != len(classes):
        raise ValueError(
            f"class_names of {caller} must hold a name for each of the {len(classes)} classes, got {len(names)}."
        )
    return np.asarray(names)


def names_for(caller: str, estimator: Any, given: Any, *, original: bool = False) -> Any:
    """Names of the features: those given, if they are as many as there are features, else the model's."""
    own = feature_names(estimator, original=original)
    if given is None:
        return own
    if len(given) != len(own):
        raise ValueError(
            f"feature_names of {caller} must hold a name for each of the {len(own)} features, got {len(given)}."
        )
    return np.asarray(given, dtype=np.str_)


def cell_index(caller: str, estimator: Any, cell: Any) -> int:
    """Index of a local matrix, from its index or its name."""
    names = cell_names(estimator).tolist()
    if names == [""]:
        raise ValueError(
            f"cell of {caller} chooses among local matrices, but {type(estimator).__name__} has one metric for all; "
            "leave it None."
        )
    if isinstance(cell, str) and cell in names:
        return names.index(cell)
    if isinstance(cell, int | np.integer) and -len(names) <= cell < len(names):
        return int(cell) % len(names)
    raise ValueError(
        f"cell of {caller} must be an index from 0 to {len(names) - 1} or one of {names[:10]}"
        f"{' and so on' if len(names) > 10 else ''}, got {cell!r}."
    )
