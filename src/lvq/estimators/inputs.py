"""Checks of samples, labels, weights and given prototypes: every error about invalid data.

Combinations of parameters are checked in `specification.py`.
"""

import sys
from collections.abc import Callable
from functools import wraps
from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from lvq._warnings import warn
from lvq.estimators.tensors import floating, is_valid, on_device
from lvq.model import rows
from lvq.model.samples import ArraySamples, with_values
from lvq.typing import Argument, Array, ClassWeight, Delayed, MatrixLike

UNSCALED = 1_000  # ratio of ranges of features: with a noise feature so much wider, the models learn nothing
FLOATS = [np.float64, np.float32]  # types that samples keep; others become the first


# -- collections of dask -----------------------------------------------------------------------------------------------


def is_dask(X: object) -> TypeGuard[Delayed]:
    """Whether this is an array, a data frame or a series of dask; without dask imported there is none."""
    dask = sys.modules.get("dask.base")
    return dask is not None and dask.is_dask_collection(X)


def in_memory(values: MatrixLike) -> MatrixLike:
    """A dask collection computed; anything else unchanged."""
    return values.compute() if is_dask(values) else values


def by_partition(method: Callable[..., Argument]) -> Callable[..., Argument]:
    """Decorator of a method of X: for a dask collection it gives the method's results for the partitions."""

    @wraps(method)
    def call(self: BaseEstimator, X: MatrixLike, *args: Argument, **kwargs: Argument) -> Argument:
        if is_dask(X):
            from lvq.estimators.partitions import mapped

            return mapped(self, method.__name__, X, *args, **kwargs)
        return method(self, X, *args, **kwargs)

    return call


# -- samples -----------------------------------------------------------------------------------------------------------


def check_samples(estimator: BaseEstimator, X: MatrixLike) -> Array:
    """Samples to predict: an array, a CSR array or a tensor, in which rows have length one if need be."""
    samples = samples_to_predict(estimator, X)
    return rows.checked_unit_rows(samples, type(estimator).__name__) if estimator.model_.unit_length else samples


def samples_to_predict(estimator: BaseEstimator, X: MatrixLike) -> Array:
    """Samples to predict, of the length that they have."""
    ignores_missing = estimator.model_.variances is not None
    if rows.is_tensor(X):
        X = floating(X, estimator.model_.dtype, type(estimator).__name__)
        if not ignores_missing and is_valid(X) and X.shape[1] == estimator.n_features_in_:
            return X
        X = rows.as_numpy(X)
    if _fits(X, estimator):
        return X
    samples, _ = validated(estimator, X, "no_validation", reset=False, missing=ignores_missing)
    return rows.check_magnitude(samples, type(estimator).__name__)


def _fits(X: MatrixLike, estimator: BaseEstimator) -> bool:
    """Whether this is a plain array of the right shape and type, and of moderate numbers."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and len(X) > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and _length(X.ravel(order="K")) < rows.largest_value(X.dtype, X.shape[1])
    )


def _length(numbers: np.ndarray) -> float:
    """NaN or infinite where a number is; one pass over the samples."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.dot(numbers, numbers)) ** 0.5


def validated(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike,
    *,
    reset: bool,
    missing: bool,
    dense: bool = False,
    types: list = FLOATS,
) -> tuple[Array, Array]:
    """scikit-learn's checks; sparse samples become a CSR array. What a sparse matrix does not store is not missing."""
    sparse = False if dense or missing else "csr"
    finite = "allow-nan" if missing else True
    try:
        found = validate_data(estimator, X, y, reset=reset, accept_sparse=sparse, dtype=types, ensure_all_finite=finite)
    except (TypeError, ValueError) as error:
        remedy = _remedy(estimator, str(error), X)
        if remedy is None:
            raise
        raise ValueError(remedy) from error
    X, y = found if isinstance(found, tuple) else (found, y)
    return rows.canonical(X) if rows.is_sparse(X) else X, y


def smallest_range(dtype: np.dtype) -> float:
    """Smallest range of a feature whose squared distances cannot underflow."""
    return float(np.sqrt(np.finfo(dtype).tiny)) * 1e5


def check_range(estimator: BaseEstimator, X: Array) -> np.ndarray:
    """Ranges of the features; ValueError where squared distances overflow or underflow."""
    ends = rows.column_range(X) if rows.is_sparse(X) else (np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0))
    low, high = rows.check_magnitude(np.stack(ends), type(estimator).__name__)  # NaN where no value is known
    spread, limit = float(np.fmax.reduce(high - low, initial=0)), smallest_range(X.dtype)
    if 0 < spread < limit:
        raise ValueError(
            f"{type(estimator).__name__} computes squared distances, which underflow for features whose range is at "
            f"most {spread:.3g} in {X.dtype}; {limit:.3g} is allowed. Scale the features first, as with StandardScaler."
        )
    return high - low


def _warn_if_unscaled(estimator: BaseEstimator, ranges: np.ndarray) -> None:
    """Warn where the range of one feature is far larger than another's: the metric does not make up for that.

    Ranges of scaled features and of one-hot columns differ far less.
    """
    # smaller ones are constants and rounding errors, as in principal components beyond the rank
    ranges = np.where(ranges > 100 * np.finfo(ranges.dtype).eps * np.fmax.reduce(ranges), ranges, np.nan)
    if np.isnan(ranges).all() or np.nanmax(ranges) <= UNSCALED * np.nanmin(ranges):
        return
    names = getattr(estimator, "feature_names_in_", np.arange(len(ranges)))
    warn(
        f"{type(estimator).__name__}: the features have very different scales, from {names[np.nanargmin(ranges)]!s} to "
        f"{names[np.nanargmax(ranges)]!s} by a factor of more than {UNSCALED:,}, and the largest dominate the "
        "distances: scale them, for example with StandardScaler in a pipeline, unless the scales have a meaning, as "
        "those of principal components."
    )


# -- labelled samples --------------------------------------------------------------------------------------------------


def as_directions(estimator: BaseEstimator, X: Array) -> Array:
    """Samples as the metric takes them: rows of length one for the cosine."""
    if getattr(estimator, "metric", "euclidean") == "euclidean":
        return X
    return rows.checked_unit_rows(X, type(estimator).__name__)


class Checked(NamedTuple):
    """Samples of a weight above 0, their classes, and which of the given rows they are."""

    samples: Argument  # ArraySamples or Partitions
    classes: np.ndarray
    rows: np.ndarray | slice


def training_samples(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    *,
    reset: bool,
    device: str | None = None,
) -> Checked:
    """Samples, class indices and weights of mean one where the solver computes; samples of weight 0 are left out."""
    tensor = rows.is_tensor(X) and device is not None
    if tensor and not is_valid(X, smallest_range(np.dtype(np.float32 if X.element_size() == 4 else np.float64))):
        tensor = False  # the check as an array raises the error
    missing = getattr(estimator, "missing", "raise") == "ignore"
    types = FLOATS if device is None or rows.has_float64(device) else [np.float32]
    # scikit-learn checks the shape of a tensor by an array of that shape, with one number in memory
    array = np.broadcast_to(np.zeros(1, rows.numpy_type(X)), tuple(X.shape)) if tensor else rows.as_numpy(X)
    dense, settings = device is not None, {"assume_finite": True} if tensor else {}  # `is_valid` has looked
    with config_context(**settings):
        given, labels = validated(
            estimator, array, rows.as_numpy(y), reset=reset, missing=missing, dense=dense, types=types
        )
    if not tensor:
        ranges = check_range(estimator, given)
        if not rows.is_sparse(given) and getattr(estimator, "metric", "euclidean") == "euclidean":
            _warn_if_unscaled(estimator, ranges)
    classes, index = distinct_labels(estimator, y if rows.is_tensor(y) and y.ndim == 1 else labels)
    weight = sample_weights(estimator.class_weight, classes, index, given, rows.as_numpy(sample_weight))
    kept = np.flatnonzero(weight > 0)
    if missing:
        kept = kept[with_values(given[kept], rows.as_numpy(index)[kept])]
    given = as_directions(estimator, X if tensor else given)
    if len(kept) < len(weight):
        present, index = np.unique(rows.as_numpy(index)[kept], return_inverse=True)
        given, weight, classes = given[kept], weight[kept], classes[present]
    check_classes(estimator, classes)
    weight = weight / weight.mean()  # only ratios count: the rate keeps its meaning
    if tensor:
        index = index.to(X.device) if rows.is_tensor(index) else rows.beside(index, X)
        return Checked(ArraySamples(given, index, rows.like(weight, X)), classes, kept)
    if missing and np.isnan(given).all():
        raise ValueError(
            f"{type(estimator).__name__} with missing='ignore' needs at least one value, but all values of X are NaN. "
            "Check how X was read."
        )
    samples = ArraySamples(given, rows.as_numpy(index), weight)
    return Checked(
        samples if device is None else ArraySamples(*(on_device(part, device) for part in samples)), classes, kept
    )


def samples_of_classes(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    classes: np.ndarray,
    class_weight: ClassWeight,
) -> ArraySamples:
    """Labelled samples of known classes, in memory, for a fitted model or to begin a stream; none of weight 0."""
    name, model = type(estimator).__name__, getattr(estimator, "model_", None)
    missing = estimator.missing == "ignore" if model is None else model.variances is not None
    X, labels = validated(estimator, rows.as_numpy(X), rows.as_numpy(y), reset=model is None, missing=missing)
    check_range(estimator, X)
    found, index = distinct_labels(estimator, labels)
    unknown = np.setdiff1d(found, classes)
    if len(unknown):
        raise ValueError(f"y of {name} contains {unknown.tolist()}, not among the classes {classes.tolist()}.")
    y = np.searchsorted(classes, found)[index]
    weight = sample_weights(class_weight, classes, y, X, rows.as_numpy(sample_weight))
    kept = np.flatnonzero(weight > 0)
    if not len(kept):
        raise ValueError(f"{name} needs at least one sample of a weight above 0.")
    if model is not None and model.unit_length:
        X = rows.checked_unit_rows(X, name)
    kept = kept[with_values(X[kept], y[kept])]
    return ArraySamples(X[kept], y[kept], weight[kept])


# -- labels and weights ------------------------------------------------------------------------------------------------


def distinct_labels(estimator: BaseEstimator, y: Array) -> tuple[np.ndarray, Array]:
    """The distinct labels, ascending, and the index of each sample's; for a tensor they are found on its device.

    ValueError for targets that are not classes, or of types that cannot be ordered, such as strings and None.
    """
    try:
        classes, index = y.unique(return_inverse=True) if rows.is_tensor(y) else np.unique(y, return_inverse=True)
        classes = rows.as_numpy(classes)
        # as few as give the same result: scikit-learn warns where more than half of the labels are distinct
        check_classification_targets(np.resize(classes, min(len(y), 2 * len(classes))))
    except (TypeError, ValueError) as error:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        if isinstance(error, ValueError) and len(kinds) == 1:
            raise
        raise ValueError(
            f"{type(estimator).__name__} needs labels of one type, all strings or all integers, and the class of every "
            f"sample, got {', '.join(kinds)}; leave out the rows without a class."
        ) from error
    return classes, index


def check_classes(estimator: BaseEstimator, classes: np.ndarray) -> None:
    """Raise ValueError for fewer than two classes."""
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least two classes with a weight above 0, got "
            f"{len(classes)} class: {classes.tolist()}."
        )


def sample_weights(
    class_weight: ClassWeight, classes: np.ndarray, index: Array, X: Array, sample_weight: ArrayLike | None
) -> np.ndarray:
    """Weights of samples times weights of their classes, of the type of X; `index` gives each sample's class."""
    weight = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
    if class_weight is not None:
        index = rows.as_numpy(index)
        factors = class_weights(class_weight, classes, np.bincount(index, weight, len(classes)))
        weight = weight * factors[index].astype(X.dtype)
    with np.errstate(over="ignore"):
        if not np.isfinite(weight.sum()):
            raise ValueError(
                f"The sum of the weights, classes included, overflows in {X.dtype}; divide all of them by the largest."
            )
    return weight


def class_weights(class_weight: ClassWeight, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Weight of each class, given the weight of its samples; 1 for a class that a dict does not name.

    The keys of a dict are compared with the classes as they are: scikit-learn's own function looks for the number 1
    where the class is the string "1".
    """
    if class_weight == "balanced":
        return counts.sum() / (len(classes) * np.where(counts > 0, counts, 1))
    given, known = class_weight or {}, classes.tolist()
    unknown = [key for key in given if key not in known]
    if unknown and not set(known) <= set(given):
        raise ValueError(f"class_weight must name classes, {known[:8]!r}, got {unknown[0]!r}.")
    weight = np.array([given.get(name, 1.0) for name in known], dtype=np.float64)
    if not (weight >= 0).all():
        raise ValueError(f"class_weight must hold non-negative numbers, got {given!r}.")
    return weight


# -- given prototypes --------------------------------------------------------------------------------------------------


def given_prototypes(
    estimator: BaseEstimator, counts: np.ndarray, samples: ArraySamples, classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Prototypes given as `init`: an array, class by class, or a pair (array, labels)."""
    name, init, n_features = type(estimator).__name__, estimator.init, samples.n_features
    pair = isinstance(init, tuple)
    if pair and len(init) != 2:
        raise ValueError(f"init of {name} must be a pair (prototypes, labels), got {len(init)} items.")
    with np.errstate(over="ignore"):  # a value too large for float32 becomes infinite, which is an error later
        W = np.asarray(init[0] if pair else init).astype(samples.dtype)
    labels = np.repeat(np.arange(len(classes)), counts)
    if pair:
        given = np.asarray(init[1])
        if not np.isin(classes, given).all() or not np.isin(given, classes).all():
            raise ValueError(
                f"The labels in init of {name} must be the classes {classes.tolist()}, each at least once; "
                f"got {np.unique(given).tolist()}."
            )
        order = np.argsort(np.searchsorted(classes, given), kind="stable")
        W, labels = W[order] if len(W) == len(given) else W, np.searchsorted(classes, given)[order]
    if W.shape != (len(labels), n_features):
        raise ValueError(
            f"init of {name} must hold {len(labels)} prototypes of {n_features} features, class by class, as "
            f"n_prototypes requires; got an array of shape {W.shape}."
        )
    if not np.isfinite(W).all():
        raise ValueError(f"init of {name} contains NaN or infinite values.")
    return as_directions(estimator, rows.check_magnitude(W, name)).copy(), labels


# -- what to do about samples that scikit-learn's checks refuse --------------------------------------------------------


def first_missing(X: MatrixLike) -> str:
    """Row and column of the first value that is missing or infinite, as a sentence; "" where it cannot be found.

    Examples
    --------
    >>> first_missing([[1.0, 2.0], [3.0, float("nan")]])
    'The first is in row 1, counted from 0, column 1.'
    """
    try:
        values = X.tocsr() if rows.is_sparse(X) else np.asarray(X, dtype=np.float64)
        row, column = rows.place_of(values, ~np.isfinite(rows.numbers(values)))
    except (TypeError, ValueError, IndexError):  # text, or none
        return ""
    name = repr(X.columns[column]) if hasattr(X, "columns") else column
    return f"The first is in row {row}, counted from 0, column {name}."


def _remedy(estimator: BaseEstimator, message: str, X: MatrixLike) -> str | None:
    """An error of scikit-learn about strings or missing values with the place and what to do; None for any other."""
    name = type(estimator).__name__
    if message.startswith("could not convert string"):
        return (
            f"{name} needs X of numbers, got strings: {message}. Put lvq.preprocessing.TablePreprocessor "
            "before it in a pipeline for a data frame, or scikit-learn's TfidfVectorizer for documents."
        )
    if message.endswith("not 'NAType'"):
        return (
            f"{name} needs X of numbers, got pandas.NA in a column of objects. Convert all columns to numbers, with "
            "NA for missing values, by X.astype('Float64')."
        )
    of_classes = message.startswith(("Input y contains NaN", "boolean value of NA"))  # pandas.NA among strings
    if of_classes or (message == "Input contains NaN" and not first_missing(X)):
        return f"Input y contains NaN. {name} needs the class of every sample; leave out the rows without one."
    if "contains NaN" not in message or not hasattr(estimator, "missing"):
        return None
    found = " ".join(part for part in (message.splitlines()[0], first_missing(X)) if part)
    if rows.is_sparse(X):
        return f"{found} {name} takes sparse rows of finite numbers only; correct or remove the row."
    fill = "Fill them first, for example with sklearn.impute.SimpleImputer in a pipeline"
    if not hasattr(estimator, "_relevance") or getattr(estimator._relevance(), "smooth", True):  # else it is refused
        fill += f", or fit {name}(missing='ignore'), which compares only the observed features"
    return f"{found} {name} does not accept missing values with these parameters. {fill}."
