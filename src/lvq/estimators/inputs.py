"""Checks of samples, labels, weights and given prototypes: every error about invalid data.

Combinations of parameters are checked in `checks.py`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from lvq.estimators.tensors import beside_tensor, floating, is_valid, on_device, stand_in
from lvq.model.rows import (
    as_numpy,
    canonical,
    column_range,
    has_float64,
    is_sparse,
    is_tensor,
    largest_value,
    like,
    numbers,
)
from lvq.model.samples import ArraySamples, with_values
from lvq.typing import Argument, Array, ClassWeight, MatrixLike

FLOATS = [np.float64, np.float32]  # types that samples keep; others become the first


# -- samples -----------------------------------------------------------------------------------------------------------


def check_samples(estimator: BaseEstimator, X: MatrixLike) -> Array:
    """Samples to predict: an array, a CSR array or a tensor."""
    if is_tensor(X):
        X = floating(X, estimator.model_.dtype, type(estimator).__name__)
        if estimator.model_.variances is None and is_valid(X) and X.shape[1] == estimator.n_features_in_:
            return X
        X = as_numpy(X)
    if _fits(X, estimator):
        return X
    finite = "allow-nan" if estimator.model_.variances is not None else True
    with _with_remedies(estimator, X):
        samples = validate_data(estimator, X, reset=False, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=finite)
    if is_sparse(samples):
        samples = _sparse_samples(estimator, samples)
    return check_magnitude(estimator, samples)


def _fits(X: MatrixLike, estimator: BaseEstimator) -> bool:
    """Whether this is a plain array of the right shape and type, and of moderate numbers."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and len(X) > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and _sum_of_squares(X) < largest_value(X.dtype, X.shape[1]) ** 2
    )


def _sum_of_squares(X: np.ndarray) -> float:
    """NaN or infinite where a number is; one pass over the samples."""
    flat = X.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.dot(flat, flat))


def _sparse_samples(estimator: BaseEstimator, X: Array, device: str | None = None) -> Array:
    """Sparse samples as a CSR array; ValueError for what takes dense samples only."""
    name = type(estimator).__name__
    if device is not None:
        raise ValueError(
            f"The 'device' of the solver of {name} must be None for sparse X, got {device!r}: tensors are dense. Use "
            "device=None, or give X.toarray() where it fits into memory."
        )
    if getattr(estimator, "missing", "raise") == "ignore":
        raise ValueError(
            f"The 'missing' parameter of {name} must be 'raise' for sparse X, got 'ignore': what a sparse matrix does "
            "not store is zero, not missing."
        )
    return canonical(X)


def check_magnitude(estimator: BaseEstimator, X: Array) -> Array:
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


def check_range(estimator: BaseEstimator, X: Array) -> None:
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


# -- labelled samples --------------------------------------------------------------------------------------------------


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
    """Samples, class indices and weights of mean one where the solver computes; those of weight 0 are left out."""
    y, sample_weight = as_numpy(y), as_numpy(sample_weight)
    tensor = is_tensor(X) and device is not None
    if tensor and not is_valid(X, smallest_range(np.dtype(np.float32 if X.element_size() == 4 else np.float64))):
        tensor, X = False, as_numpy(X)  # raises the error
    missing = getattr(estimator, "missing", "raise") == "ignore"
    given = stand_in(X) if tensor else as_numpy(X)
    types = FLOATS if device is None or has_float64(device) else [np.float32]
    given, y = _validated(estimator, given, y, reset=reset, missing=missing, types=types, device=device)
    if not tensor:
        check_range(estimator, given)
    check_targets(estimator, y)
    weight = sample_weights(estimator.class_weight, given, y, sample_weight)
    rows = np.flatnonzero(weight > 0)
    given = X if tensor else given
    if len(rows) < len(y):
        given, y, weight = given[rows], y[rows], weight[rows]
    classes, index = np.unique(y, return_inverse=True)
    check_classes(estimator, classes, sample_weight)
    weight = weight / weight.mean()  # only ratios count, so that the rate keeps its meaning
    samples = ArraySamples(given, index, weight)
    if tensor:
        return Checked(ArraySamples(given, beside_tensor(index, X), like(weight, X)), classes, rows)
    if missing:
        _check_some_value(estimator, given)
        samples = with_values(samples)
    return Checked(samples if device is None else samples.to(lambda part: on_device(part, device)), classes, rows)


def _validated(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike,
    *,
    reset: bool,
    missing: bool = False,
    types: list = FLOATS,
    device: str | None = None,
) -> tuple[Array, np.ndarray]:
    finite = "allow-nan" if missing else True
    with _with_remedies(estimator, X):
        samples, labels = validate_data(
            estimator, X, y, reset=reset, accept_sparse="csr", dtype=types, ensure_all_finite=finite
        )
    return _sparse_samples(estimator, samples, device) if is_sparse(samples) else samples, labels


def _check_some_value(estimator: BaseEstimator, X: np.ndarray) -> None:
    if np.isnan(X).all():
        raise ValueError(
            f"{type(estimator).__name__} with missing='ignore' needs at least one value, but all values of X are NaN. "
            "Look at how X was read."
        )


def labelled_samples(
    estimator: BaseEstimator, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> ArraySamples:
    """Labelled samples for a fitted model."""
    X = floating(X, estimator.model_.dtype, type(estimator).__name__) if is_tensor(X) else X
    tensor = is_tensor(X) and estimator.model_.variances is None and is_valid(X)
    given, missing = stand_in(X) if tensor else as_numpy(X), estimator.model_.variances is not None
    given, y = _validated(estimator, given, as_numpy(y), reset=False, missing=missing)
    check_known(estimator, y, estimator.classes_, "objective_value")
    weight = sample_weights(estimator._class_weight, given, y, as_numpy(sample_weight), estimator.classes_)
    if not weight.sum() > 0:
        raise ValueError(f"{type(estimator).__name__}.objective_value needs at least one sample of a weight above 0.")
    index = np.searchsorted(estimator.classes_, y)
    if tensor:
        return ArraySamples(X, beside_tensor(index, X), like(weight, X))
    return with_values(ArraySamples(check_magnitude(estimator, given), index, weight))


def check_batch(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike,
    classes: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    first: bool,
) -> tuple[ArraySamples, np.ndarray]:
    """One batch of a stream: samples, and all classes."""
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
    return with_values(ArraySamples(X[keep], np.searchsorted(known, y[keep]), weight[keep])), known


# -- labels and weights ------------------------------------------------------------------------------------------------


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


def check_known(estimator: BaseEstimator, y: np.ndarray, classes: np.ndarray, call: str) -> None:
    """Raise ValueError for labels that are not among the classes."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"y of {type(estimator).__name__}.{call} contains {unknown.tolist()}, not among the classes "
            f"{classes.tolist()}."
        )


def sample_weights(
    class_weight: ClassWeight,
    X: Array,
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
    return check_magnitude(estimator, W).copy(), labels


# -- what to do about samples that scikit-learn's checks refuse --------------------------------------------------------


@contextmanager
def _with_remedies(estimator: BaseEstimator, X: MatrixLike) -> Iterator[None]:
    """Errors about text and missing values in X inside name the estimator, the first row, and what to do."""
    try:
        yield
    except (TypeError, ValueError) as error:
        remedy = _remedy(estimator, str(error), X)
        if remedy is None:
            raise
        raise ValueError(remedy) from error


def first_missing(X: MatrixLike) -> str:
    """Row and column of the first value that is missing or infinite, as a sentence; "" where it cannot be told.

    Examples
    --------
    >>> first_missing([[1.0, 2.0], [3.0, float("nan")]])
    'The first is in row 1, counted from 0, column 1.'
    """
    try:
        if is_sparse(X):
            rows, columns, values = X.tocoo().row, X.tocoo().col, X.tocoo().data
            place = int(np.flatnonzero(~np.isfinite(values))[0])
            row, column = int(rows[place]), int(columns[place])
        else:
            row, column = (int(part[0]) for part in np.nonzero(~np.isfinite(np.asarray(X, dtype=np.float64))))
    except (TypeError, ValueError, IndexError):  # text, or none
        return ""
    name = repr(X.columns[column]) if hasattr(X, "columns") else column
    return f"The first is in row {row}, counted from 0, column {name}."


def _remedy(estimator: BaseEstimator, message: str, X: MatrixLike) -> str | None:
    name = type(estimator).__name__
    if message.startswith("could not convert string"):
        return (
            f"{name} needs X of numbers, got text: {message}. Encode categories as numbers, for example by "
            "sklearn.preprocessing.OneHotEncoder in a ColumnTransformer; `lvq fit TABLE` does so itself. Encode texts "
            "by sklearn.feature_extraction.text.TfidfVectorizer."
        )
    if message.endswith("not 'NAType'"):
        return (
            f"{name} needs X of numbers, got pandas.NA in a column of objects. Make numbers of all columns, in which "
            "NA marks a missing value, by X.astype('Float64')."
        )
    of_classes = message.startswith(("Input y contains NaN", "boolean value of NA"))  # pandas.NA among texts
    if of_classes or (message == "Input contains NaN" and not first_missing(X)):
        return f"Input y contains NaN. {name} needs the class of every sample; leave out the rows without one."
    if "contains NaN" not in message or not hasattr(estimator, "missing"):
        return None
    if is_sparse(X):
        return (
            f"{message.splitlines()[0]} {first_missing(X)} {name} takes sparse rows of finite numbers only; correct or "
            "remove the row."
        )
    fill = "Fill them first, for example by sklearn.impute.SimpleImputer in a pipeline"
    if hasattr(estimator, "_relevance") and not getattr(estimator._relevance(), "smooth", True):
        pass  # a relevance without a gradient cannot ignore them
    elif not hasattr(estimator, "model_"):
        fill += f", or use {name}(missing='ignore'), which compares the observed features"
    elif estimator.model_.variances is None:
        fill += ", or fit with missing='ignore'"
    found = " ".join(part for part in (message.splitlines()[0], first_missing(X)) if part)
    return f"{found} {name} does not accept missing values as it is set. {fill}."
