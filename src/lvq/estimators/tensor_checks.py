"""Checks of tensors on their device: samples are never copied to the host, except to raise the error of an array.

Labels and weights are small, so scikit-learn checks them as arrays.
"""

import sys

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from lvq.estimators.validation import (
    FLOATS,
    check_classes,
    check_known,
    check_labelled,
    check_some_weight,
    check_training_data,
    sample_weights,
    smallest_range,
)
from lvq.model.arrays import as_numpy, is_tensor, like, numpy_type
from lvq.model.folded import largest_value
from lvq.model.samples import ArraySamples
from lvq.typing import Array, ClassWeight


def within_limits(X: Array) -> bool:
    """Whether all values of a tensor are finite and none is so large that squared distances overflow."""
    if X.shape[0] == 0:
        return True
    limit = largest_value(numpy_type(X), X.shape[1])
    return -limit <= float(X.min()) and float(X.max()) <= limit  # both are NaN where a value is


def training_tensors(
    estimator: BaseEstimator, X: Array, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool
) -> tuple[ArraySamples, np.ndarray]:
    """Samples with class indices and weights on the device of X, and the classes; as `check_training_data`."""
    sample_weight = as_numpy(sample_weight)
    if X.ndim != 2 or 0 in X.shape or not (within_limits(X) and _spread_out(X)):
        check_training_data(estimator, as_numpy(X), as_numpy(y), sample_weight, reset=reset)  # raises the error
    labels = _labels(estimator, X, y, reset=reset)
    if labels.dtype.kind not in "biu":
        check_classification_targets(labels)
    weight = _weights(estimator.class_weight, X, labels, sample_weight)
    names, index = _indexed(labels, y, X)
    keep = weight > 0
    if not bool(keep.all()):
        X, index, weight = X[keep], index[keep], weight[keep]
    present, index = sys.modules["torch"].unique(index, return_inverse=True)
    classes = as_numpy(present) if names is None else names[as_numpy(present)]
    check_classes(estimator, classes, sample_weight)
    return ArraySamples(X, index, weight / weight.mean()), classes


def _indexed(labels: np.ndarray, y: ArrayLike, X: Array) -> tuple[np.ndarray | None, Array]:
    """Labels as whole numbers beside X, and the names they stand for; None where the labels are such numbers."""
    names = None
    if labels.dtype not in (np.bool_, np.uint8, np.int8, np.int16, np.int32, np.int64):  # torch has no others
        names, y = np.unique(labels, return_inverse=True)
    elif not is_tensor(y):
        y = labels.copy()  # of the user's own array, which may be read-only
    return names, sys.modules["torch"].as_tensor(y, device=X.device).reshape(-1)


def labelled_tensors(
    estimator: BaseEstimator, X: Array, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Array, Array, Array]:
    """Labelled samples for a fitted model: samples, class indices, weights; as `check_labelled`."""
    sample_weight = as_numpy(sample_weight)
    if X.ndim != 2 or 0 in X.shape or not within_limits(X):
        check_labelled(estimator, as_numpy(X), as_numpy(y), sample_weight)  # raises the error
    labels = _labels(estimator, X, y, reset=False)
    check_known(estimator, labels, estimator.classes_, "objective_value")
    weight = _weights(estimator._class_weight, X, labels, sample_weight, estimator.classes_)
    check_some_weight(estimator, weight)
    return X, sys.modules["torch"].as_tensor(np.searchsorted(estimator.classes_, labels), device=X.device), weight


def _spread_out(X: Array) -> bool:
    spread = float((X.amax(0) - X.amin(0)).max())
    return not 0 < spread < smallest_range(numpy_type(X))


def _stand_in(X: Array) -> np.ndarray:
    """An array of the shape and type of a tensor, of one number in memory."""
    return np.broadcast_to(np.zeros((1, 1), dtype=numpy_type(X)), tuple(X.shape))


def _labels(estimator: BaseEstimator, X: Array, y: ArrayLike, *, reset: bool) -> np.ndarray:
    """Labels on the host; scikit-learn checks them, their number and the number of features."""
    checked = validate_data(
        estimator, _stand_in(X), as_numpy(y), reset=reset, dtype=FLOATS, ensure_all_finite=False
    )  # of the samples, which were checked before
    return checked[1]


def _weights(
    class_weight: ClassWeight,
    X: Array,
    labels: np.ndarray,
    sample_weight: ArrayLike | None,
    classes: np.ndarray | None = None,
) -> Array:
    if class_weight is None and sample_weight is None:
        return X.new_ones(X.shape[0])
    return like(sample_weights(class_weight, _stand_in(X), labels, sample_weight, classes), X)
