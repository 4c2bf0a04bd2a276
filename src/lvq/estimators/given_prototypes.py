"""Prototypes that are given as `init`."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from lvq.estimators.validation import check_magnitude
from lvq.model.arrays import numpy_type
from lvq.typing import Array


def _as_prototypes(given: ArrayLike, X: Array) -> np.ndarray:
    with np.errstate(over="ignore"):  # a value too large for float32 becomes infinite, which is an error later
        return np.asarray(given).astype(numpy_type(X))


def check_auto_start(estimator: BaseEstimator) -> None:
    """Raise ValueError for given prototypes whose number should be chosen."""
    if not isinstance(estimator.init, str):
        raise ValueError(
            f"n_prototypes='auto' of {type(estimator).__name__} chooses how many prototypes there are, but init holds "
            "given ones. Set n_prototypes to their number, or init to a name such as 'kmeans'."
        )


def given_prototypes(
    estimator: BaseEstimator, counts: np.ndarray, X: Array, classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Prototypes given as `init`: an array, class by class, or a pair (array, labels)."""
    name = type(estimator).__name__
    if isinstance(estimator.init, tuple):
        if len(estimator.init) != 2:
            raise ValueError(f"init of {name} must be a pair (prototypes, labels), got {len(estimator.init)} items.")
        W, given = _as_prototypes(estimator.init[0], X), np.asarray(estimator.init[1])
        if not np.isin(classes, given).all() or not np.isin(given, classes).all():
            raise ValueError(
                f"The labels in init of {name} must be the classes {classes.tolist()}, each at least once; "
                f"got {np.unique(given).tolist()}."
            )
        order = np.argsort(np.searchsorted(classes, given), kind="stable")
        W, labels = W[order] if len(W) == len(given) else W, np.searchsorted(classes, given)[order]
    else:
        W, labels = _as_prototypes(estimator.init, X), np.repeat(np.arange(len(classes)), counts)
    if W.shape != (len(labels), X.shape[1]):
        raise ValueError(
            f"init of {name} must hold {len(labels)} prototypes of {X.shape[1]} features, class by class, as "
            f"n_prototypes requires; got an array of shape {W.shape}."
        )
    if not np.isfinite(W).all():
        raise ValueError(f"init of {name} contains NaN or infinite values.")
    return check_magnitude(estimator, W).copy(), labels
