"""Checks of samples, labels and weights: every error about invalid data.

Combinations of parameters are checked in `part_checks.py`.
"""

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from lvq.estimators.remedies import with_remedies
from lvq.model.folded import largest_value
from lvq.model.sparse_rows import canonical, column_range, is_sparse, numbers
from lvq.typing import Array, ClassWeight

FLOATS = [np.float64, np.float32]  # types that samples keep; others become the first


def check_samples(
    estimator: BaseEstimator, X: ArrayLike, *, values: bool = True, types: Sequence[type] = FLOATS
) -> np.ndarray:
    """Samples to predict; without `values` only their shape and type are checked."""
    if _fits(X, estimator) and (not values or _within_limits_where_known(X, estimator)):
        return X
    finite = values and ("allow-nan" if estimator.model_.variances is not None else True)
    with with_remedies(estimator, X):
        samples = validate_data(estimator, X, reset=False, accept_sparse="csr", dtype=types, ensure_all_finite=finite)
    if is_sparse(samples):
        samples = sparse_samples(estimator, samples, getattr(estimator, "_device", None))
    return check_magnitude(estimator, samples) if values else samples


def sparse_samples(estimator: BaseEstimator, X: Array, device: str | None) -> sparse.csr_array:
    """Sparse samples as a CSR array; ValueError for a device, which takes dense samples only."""
    if device is not None:
        raise ValueError(
            f"The 'device' parameter of {type(estimator).__name__} must be None for sparse X, got {device!r}: tensors "
            "are dense. Use device=None, or give X.toarray() where it fits into memory."
        )
    if getattr(estimator, "missing", "raise") == "ignore":
        raise ValueError(
            f"The 'missing' parameter of {type(estimator).__name__} must be 'raise' for sparse X, got 'ignore': what a "
            "sparse matrix does not store is zero, not missing."
        )
    return canonical(X)


def _fits(X: ArrayLike, estimator: BaseEstimator) -> TypeGuard[np.ndarray]:
    """Whether this is a plain array of the right shape and type, which scikit-learn need not look at."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and len(X) > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    )


def _within_limits_where_known(X: np.ndarray, estimator: BaseEstimator) -> bool:
    """Whether a model ignores missing values, and all others are finite and not too large."""
    if estimator.model_.variances is None:
        return False
    limit = largest_value(X.dtype, X.shape[1])
    return bool(np.fmax.reduce(X, axis=None, initial=0) <= limit and np.fmin.reduce(X, axis=None, initial=0) >= -limit)


def check_magnitude(estimator: BaseEstimator, X: np.ndarray) -> np.ndarray:
    """Raise ValueError for values that are so large that squared distances overflow."""
    known = numbers(X)
    largest = float(max(np.fmax.reduce(known, axis=None, initial=0), -np.fmin.reduce(known, axis=None, initial=0)))
    limit = largest_value(X.dtype, X.shape[1])
    if largest > limit:
        raise ValueError(
            f"{type(estimator).__name__} computes squared distances, which overflow for values as large as "
            f"{largest:.3g} in {X.dtype}; the largest allowed value is {limit:.3g}. Scale the features first, for "
            "example with sklearn.preprocessing.MaxAbsScaler."
        )
    return X


def smallest_range(dtype: np.dtype) -> float:
    """Smallest range of a feature whose squared distances cannot underflow."""
    return float(np.sqrt(np.finfo(dtype).tiny)) * 1e5


def check_range(estimator: BaseEstimator, X: np.ndarray) -> None:
    """`check_magnitude`; and raise ValueError where all samples are so close that squared distances underflow."""
    ends = column_range(X) if is_sparse(X) else (np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0))
    low, high = check_magnitude(estimator, np.stack(ends))  # NaN where no value is known
    spread, limit = float(np.fmax.reduce(high - low, initial=0)), smallest_range(X.dtype)
    if 0 < spread < limit:
        raise ValueError(
            f"{type(estimator).__name__} computes squared distances, which underflow for features whose range is at "
            f"most {spread:.3g} in {X.dtype}; the smallest allowed range is {limit:.3g}. Scale the features first, for "
            "example with sklearn.preprocessing.StandardScaler."
        )


def _validated(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    *,
    reset: bool,
    types: Sequence[type] = FLOATS,
    missing: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    finite = "allow-nan" if missing else True
    with with_remedies(estimator, X):
        samples, labels = validate_data(
            estimator, X, y, reset=reset, accept_sparse="csr", dtype=types, ensure_all_finite=finite
        )
    if is_sparse(samples):
        samples = sparse_samples(estimator, samples, getattr(estimator, "device", None))
    return samples, labels


def check_labelled(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labelled samples for a fitted model: samples, class indices, weights."""
    X, y = _validated(estimator, X, y, reset=False, missing=estimator.model_.variances is not None)
    check_magnitude(estimator, X)
    check_known(estimator, y, estimator.classes_, "objective_value")
    weight = sample_weights(estimator._class_weight, X, y, sample_weight, estimator.classes_)
    check_some_weight(estimator, weight)
    return X, np.searchsorted(estimator.classes_, y), weight


def check_some_weight(estimator: BaseEstimator, weight: np.ndarray) -> None:
    """Raise ValueError for weights of which none is above 0."""
    if not weight.sum() > 0:
        raise ValueError(f"{type(estimator).__name__}.objective_value needs at least one sample of a weight above 0.")


def check_known(estimator: BaseEstimator, y: np.ndarray, classes: np.ndarray, call: str) -> None:
    """Raise ValueError for labels that are not among the classes."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"y of {type(estimator).__name__}.{call} contains {unknown.tolist()}, not among the classes "
            f"{classes.tolist()}."
        )


def check_training_data(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    *,
    reset: bool,
    keep_all: bool = False,
    types: Sequence[type] = FLOATS,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Samples, class indices, weights and classes; samples of weight zero are left out, unless all are to be kept."""
    missing = getattr(estimator, "missing", "raise") == "ignore"
    X, y = _validated(estimator, X, y, reset=reset, types=types, missing=missing)
    check_range(estimator, X)
    check_targets(estimator, y)
    weight = sample_weights(estimator.class_weight, X, y, sample_weight)
    if (weight == 0).any() and not keep_all:
        X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
    classes, y = np.unique(y, return_inverse=True)
    check_classes(estimator, classes, sample_weight)
    if missing and not is_sparse(X) and np.isnan(X).all():
        raise ValueError(no_values(estimator))
    return X, y, weight, classes


def no_values(estimator: BaseEstimator) -> str:
    """What is wrong where all values are missing."""
    return (
        f"{type(estimator).__name__} with missing='ignore' needs at least one value, but all values of X are NaN. Look "
        "at how X was read."
    )


def check_targets(estimator: BaseEstimator, y: np.ndarray) -> None:
    """Raise ValueError for targets that are no classes, or of kinds that cannot be ordered, such as text and None."""
    try:
        check_classification_targets(y)
    except (TypeError, ValueError) as error:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        if isinstance(error, ValueError) and len(kinds) == 1:
            raise
        raise ValueError(
            f"{type(estimator).__name__} needs y of one kind, all text or all whole numbers, and the class of every "
            f"sample, got {', '.join(kinds)}; leave out the rows without a class."
        ) from error


def check_classes(estimator: BaseEstimator, classes: np.ndarray, sample_weight: ArrayLike | None) -> None:
    """Raise ValueError for fewer than two classes."""
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least two classes, got {len(classes)} class"
            f"{': ' + str(classes[0]) if len(classes) else ''}."
            + (" Samples of weight 0 do not count." if sample_weight is not None else "")
        )


def check_batch(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    classes: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    first: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One batch of a stream: samples, class indices, weights and all classes."""
    name = type(estimator).__name__
    if first and classes is None:
        raise ValueError(f"classes must be passed on the first call to {name}.partial_fit.")
    if estimator.class_weight == "balanced":
        raise ValueError(
            f"class_weight='balanced' of {name} needs the whole data, which partial_fit never sees. Give a dict "
            "class -> weight, or weights for the samples."
        )
    known = estimator.classes_ if classes is None or not first else np.unique(classes)
    if not first and classes is not None and not np.array_equal(np.unique(classes), known):
        raise ValueError(
            f"classes={classes!r} is not the same as on the first call to {name}.partial_fit: {known.tolist()!r}."
        )
    missing = getattr(estimator, "missing", "raise") == "ignore"
    X, y = _validated(estimator, X, y, reset=first, missing=missing)
    check_range(estimator, X)
    check_targets(estimator, y)
    if first and len(known) < 2:
        raise ValueError(f"{name} needs at least two classes, got classes={np.asarray(classes).tolist()!r}.")
    check_known(estimator, y, known, "partial_fit")
    weight = sample_weights(estimator.class_weight, X, y, sample_weight, known)
    keep = weight > 0
    if not keep.any():
        raise ValueError(f"{name}.partial_fit needs at least one sample of a weight above 0.")
    return X[keep], np.searchsorted(known, y[keep]), weight[keep], known


def sample_weights(
    class_weight: ClassWeight,
    X: np.ndarray,
    y: np.ndarray,
    sample_weight: ArrayLike | None,
    classes: np.ndarray | None = None,
) -> np.ndarray:
    """Weights of the samples times those of their classes, of the type of X; `classes` are all of them."""
    weight = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
    if class_weight is not None:
        weight = weight * class_weights(class_weight, y, classes).astype(X.dtype)
        if not (weight >= 0).all():
            raise ValueError(f"class_weight must hold non-negative numbers, got {class_weight!r}.")
    with np.errstate(over="ignore"):
        if not np.isfinite(weight.sum()):
            raise ValueError(
                f"The sum of the weights, those of the classes included, overflows in {X.dtype}; divide all of them by "
                "the largest."
            )
    return weight


def class_weights(class_weight: ClassWeight, y: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray:
    """Weight of each sample by its class; 1 for a class that a dict does not name.

    The keys of a dict are compared with the classes as they are: scikit-learn's own function looks for the number 1
    where the class is the text "1".
    """
    if not isinstance(class_weight, dict):
        return compute_sample_weight(class_weight, y)
    names, place = np.unique(y, return_inverse=True)
    known = names.tolist() if classes is None else classes.tolist()
    unknown = [key for key in class_weight if key not in known]
    if unknown and not set(known) <= set(class_weight):
        raise ValueError(f"class_weight must name classes, {known[:8]!r}, got {unknown[0]!r}.")
    return np.array([class_weight.get(name, 1.0) for name in names.tolist()], dtype=np.float64)[place]
