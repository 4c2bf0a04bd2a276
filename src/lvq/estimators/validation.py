"""Checks of samples and of combinations of parameters: every error about invalid input.

Single parameters are checked by scikit-learn with the constraints of `parameters.py`; what these cannot express is
checked here.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from lvq.estimators.remedies import with_remedies
from lvq.estimators.training import Parts
from lvq.model.arrays import numpy_type
from lvq.model.costs import CostOrRule, MarginCost, SoftCost
from lvq.model.links import KERNELS, Identity, Kernel, Link
from lvq.model.prototype_model import largest_value
from lvq.model.relevance import (
    RELEVANCES,
    GradientRelevance,
    LocalDiagonalRelevance,
    LocalScaleRelevance,
    MatrixRelevance,
    Relevance,
    resolved_rank,
)
from lvq.model.sparse_rows import canonical, column_range, is_sparse, numbers
from lvq.model.structure import EXCLUDED, UNSTRUCTURED, Structure
from lvq.typing import Argument, Array, ClassWeight

MAX_SPARSE_RANK = 1024  # rows of Omega for sparse samples, whose features may be very many
FLOATS = [np.float64, np.float32]  # types that samples keep; others become the first


def make_kernel(kernel: str | Link | None) -> Link:
    """The link given by a `kernel` parameter."""
    if kernel is None:
        return Identity()
    return KERNELS[kernel]() if isinstance(kernel, str) else kernel


def make_relevance(estimator: BaseEstimator, relevance: str | Relevance | None) -> Relevance:
    """The rule given by a `relevance` parameter, with the `rank` and `local` of the estimator where it has these."""
    rule = RELEVANCES[relevance]() if isinstance(relevance, str) else relevance or Relevance()
    rank = getattr(estimator, "rank", None)
    if isinstance(rule, MatrixRelevance | LocalDiagonalRelevance) and rule.local is not None:
        rule = replace(rule, local=getattr(estimator, "local", "class")) if isinstance(relevance, str) else rule
    if isinstance(rule, MatrixRelevance):
        return rule if rank is None else replace(rule, rank=rank)
    if rank not in (None, "auto"):
        raise ValueError(
            f"rank={rank} of {type(estimator).__name__} needs relevance='matrix' or 'local_matrix', got "
            f"relevance={relevance!r}."
        )
    return rule


def structured(estimator: BaseEstimator, rule: Relevance) -> Relevance:
    """The rule with what the parameters of the estimator tell about the features."""
    groups = estimator.feature_groups
    labels = None if groups is None else [_feature_label(label) for label in groups]
    if labels is not None and all(label is None or isinstance(label, float) for label in labels):
        raise ValueError(
            f"The 'feature_groups' parameter of {type(estimator).__name__} must leave one feature or more; got None, "
            "which excludes, or a given fraction for all. Give features whose weight is learned a label."
        )
    fractions = [label for label in labels or () if isinstance(label, float)]
    if not (all(fraction >= 0 for fraction in fractions) and sum(fractions) < 1):
        raise ValueError(
            f"The 'feature_groups' parameter of {type(estimator).__name__} must have given fractions from 0 on and "
            f"with a sum below 1, as a float is the fraction of all weight that its feature has; got {fractions}. Use "
            "strings or integers as labels of groups."
        )
    structure = Structure.of_labels(labels, estimator.sparsity, estimator.smoothness)
    if structure == UNSTRUCTURED:
        return rule
    by_gradient = isinstance(rule, GradientRelevance | LocalDiagonalRelevance | MatrixRelevance)
    if by_gradient and not isinstance(rule, LocalScaleRelevance):
        changed: dict[str, Argument] = {"structure": structure}
        return replace(rule, **changed)
    raise ValueError(
        f"feature_groups, sparsity and smoothness of {type(estimator).__name__} need weights or matrices learned by "
        "gradient, relevance='gradient', 'local_diagonal', 'matrix' or 'local_matrix'; got "
        f"relevance={estimator.relevance!r}."
    )


def _feature_label(label: Hashable) -> str | float | None:
    """A label of `feature_groups`: None excludes, a float is a given fraction, all others are names of groups."""
    if label is None or isinstance(label, float | np.floating):
        return None if label is None else float(label)
    return str(label)


def check_structure(estimator: BaseEstimator, relevance: Relevance, n_features: int) -> None:
    """Groups of features must be those of the samples."""
    structure = getattr(relevance, "structure", UNSTRUCTURED)
    if structure.groups is None:
        return
    name = type(estimator).__name__
    if len(structure.groups) != n_features:
        raise ValueError(
            f"The 'feature_groups' parameter of {name} must have a label for each of {n_features} features; got "
            f"{len(structure.groups)}."
        )
    used = [group for group in structure.groups if group != EXCLUDED]
    if isinstance(relevance, MatrixRelevance) and structure.sparsity == 0 and len(set(used)) < len(used):
        raise ValueError(
            f"The 'feature_groups' parameter of {name} must have different labels for all features that are used, as a "
            "matrix gives no equal weights and groups count in 'sparsity' alone. Set sparsity, or use weights of "
            "features, relevance='gradient' or 'local_diagonal'."
        )
    given = structure.fractions or (0.0,) * n_features
    excluded = any(group == EXCLUDED and fraction == 0 for group, fraction in zip(structure.groups, given))
    if getattr(relevance, "log_determinant", 0) > 0 and excluded:
        raise ValueError(
            f"log_determinant of {name} needs all features, and feature_groups excludes some; leave their columns out "
            "of X, or set log_determinant=0."
        )


def check_parts(estimator: BaseEstimator, parts: Parts) -> None:
    """Raise ValueError for parts that cannot be combined, before any computation."""
    name = type(estimator).__name__
    cost, relevance = parts.cost, parts.relevance
    if relevance.smooth and not cost.smooth and type(relevance) is not Relevance:
        raise ValueError(
            f"The 'relevance' parameter of {name} must be None, 'hebbian', 'fc1' or 'fc2', as {name} has no gradient; "
            f"got {estimator.relevance!r}. Use GRLVQ or GMLVQ for relevances learned by gradient."
        )
    check_solver(estimator, parts)
    if getattr(estimator, "decision", "nearest") == "posterior" and not isinstance(cost, SoftCost):
        raise ValueError(
            f"decision='posterior' of {name} needs a cost with a posterior, 'snpc' or 'rslvq'; got {estimator.cost!r}. "
            "Use decision='nearest'."
        )
    step = getattr(estimator, "step", "scaled")
    if step == "relative" and not hasattr(cost, "slope"):
        raise ValueError(
            f"The 'step' parameter of {name} must be 'scaled' or 'gradient'; 'relative' is a step of GLVQ, GRLVQ and "
            "GMLVQ, whose cost is relative."
        )
    if isinstance(estimator.kernel_width, str) and estimator.kernel_width == "learned":
        if not isinstance(make_kernel(estimator.kernel), Kernel):
            raise ValueError(
                f"kernel_width='learned' of {name} needs a kernel with a width; got kernel={estimator.kernel!r}. "
                f"Use one of {sorted(KERNELS)}."
            )
        if not cost.smooth:
            raise ValueError(
                f"kernel_width='learned' needs a cost with a gradient; {name} has none. Give a number or 'auto'."
            )


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


def check_solver(estimator: BaseEstimator, parts: Parts) -> None:
    """Raise ValueError for rules that the solver cannot use."""
    name, solver, relevance = type(estimator).__name__, parts.solver, parts.relevance
    if solver == "online" and isinstance(relevance, LocalScaleRelevance):
        raise ValueError(
            f"relevance='local_scale' of {name} needs solver='lbfgs' or 'adam', got solver='online', which keeps the "
            "sum of the relevances at one and has no scale to learn. Use relevance='local_diagonal' with it."
        )
    if solver == "online" and getattr(relevance, "structure", UNSTRUCTURED) != UNSTRUCTURED:
        raise ValueError(
            f"feature_groups, sparsity and smoothness of {name} are of the batch solvers; use solver='lbfgs' or 'adam'."
        )
    if solver == "online" and getattr(relevance, "log_determinant", 0) > 0:
        raise ValueError(f"log_determinant of {name} is a penalty of the batch solvers; use solver='lbfgs' or 'adam'.")
    if parts.ignores_missing and (solver == "online" or parts.device is not None):
        what = "solver='online'" if solver == "online" else f"the device {parts.device!r}"
        raise ValueError(
            f"missing='ignore' of {name} needs solver='lbfgs' or 'adam' and NumPy arrays, without a device; got "
            f"{what}. Change that, or fill missing values first, for example with sklearn.impute.SimpleImputer."
        )
    if solver != "online" and not relevance.smooth:
        raise ValueError(
            f"solver={solver!r} of {name} needs a relevance with a gradient, and {estimator.relevance!r} is a rule "
            "without one. Use solver='online', or relevance None, 'gradient', 'matrix', 'local_matrix', "
            "'local_diagonal' or 'local_scale'."
        )
    if solver != "online" and parts.online.time_slope:
        raise ValueError(f"slope='time' of {name} counts single steps, so it needs solver='online', not {solver!r}.")
    if getattr(estimator, "cost_matrix", None) is not None:
        _check_cost_matrix(estimator, parts.cost, solver)
    if solver == "online" and not getattr(relevance, "unit_trace", True):
        raise ValueError(
            f"solver='online' of {name} keeps every Omega at unit trace; for unit_trace=False use 'lbfgs' or 'adam'."
        )


def check_rank(estimator: BaseEstimator, relevance: Relevance, n_features: int) -> None:
    """A matrix has at most as many rows as there are features."""
    rank = getattr(relevance, "rank", None)
    if isinstance(rank, int | np.integer) and rank > n_features:
        raise ValueError(
            f"The 'rank' parameter of {type(estimator).__name__} must be at most the number of features, {n_features}; "
            f"got {rank}. Give a smaller rank, or None for the full matrix."
        )


def check_sparse_matrix(estimator: BaseEstimator, relevance: Relevance, n_features: int) -> None:
    """Raise ValueError for a matrix of full rank over so many sparse features that it would not fit into memory."""
    if isinstance(relevance, MatrixRelevance) and resolved_rank(relevance.rank, n_features) > MAX_SPARSE_RANK:
        raise ValueError(
            f"The 'rank' parameter of {type(estimator).__name__} must be at most {MAX_SPARSE_RANK} for sparse X, as "
            f"Omega is dense; got rank={relevance.rank!r} for {n_features} features. Give a small rank, for example "
            "rank=10, or use relevance='gradient' or None."
        )


def check_sample_prototypes(estimator: BaseEstimator, parts: Parts, *, in_memory: bool) -> None:
    """Raise ValueError where prototypes cannot be moved to samples."""
    if not getattr(estimator, "sample_prototypes", False):
        return
    remedies = {
        "dask collections": (not in_memory, "Give the samples as an array."),
        "a device": (parts.device is not None and parts.solver != "online", "Give arrays, with device=None."),
        "missing='ignore'": (parts.ignores_missing, "Fill missing values first, with missing='raise'."),
    }
    for what, (found, remedy) in remedies.items():
        if found:
            raise ValueError(f"sample_prototypes=True of {type(estimator).__name__} does not support {what}. {remedy}")


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
    if parts.ignores_missing:
        raise ValueError(
            f"{type(estimator).__name__}.partial_fit learns online, which does not support missing='ignore'. Set "
            "missing='raise', and fill missing values first, for example with sklearn.impute.SimpleImputer."
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


def as_prices(estimator: BaseEstimator) -> np.ndarray:
    """A cost matrix as numbers; an empty array, an error later, where it is not numeric."""
    try:
        return np.asarray(estimator.cost_matrix, dtype=np.float64)
    except (TypeError, ValueError):
        return np.zeros(0)


def _check_cost_matrix(estimator: BaseEstimator, cost: CostOrRule, solver: str) -> None:
    name, prices = type(estimator).__name__, as_prices(estimator)
    if not isinstance(cost, MarginCost) or solver == "online":
        raise ValueError(
            f"The 'cost_matrix' parameter of {name} needs the cost glvq, mce or logm and the solver lbfgs or adam. "
            "Use class_weight for other models."
        )
    if prices.ndim != 2 or prices.shape[0] != prices.shape[1] or not np.isfinite(prices).all() or prices.min() < 0:
        raise ValueError(
            f"The 'cost_matrix' parameter of {name} must be a square array of non-negative prices, one row and column "
            f"for each class; got shape {prices.shape}."
        )


def check_cost_matrix_classes(estimator: BaseEstimator, n_classes: int) -> None:
    """Raise ValueError for prices for another number of classes."""
    prices = getattr(estimator, "cost_matrix", None)
    if prices is not None and len(np.asarray(prices)) != n_classes:
        raise ValueError(
            f"The 'cost_matrix' parameter of {type(estimator).__name__} must have one row and column for each of the "
            f"{n_classes} classes, got {len(np.asarray(prices))}."
        )


def check_samples(
    estimator: BaseEstimator, X: ArrayLike, *, values: bool = True, types: Sequence[type] = FLOATS
) -> np.ndarray:
    """Samples to predict; without `values` only their shape and type are checked."""
    if not values and _fits(X, estimator):
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


def check_width(estimator: BaseEstimator, width: float | None) -> None:
    """Raise ValueError for a kernel width whose square overflows or underflows."""
    if width is not None and not 1e-150 <= width <= 1e150:
        raise ValueError(f"kernel_width of {type(estimator).__name__} must be between 1e-150 and 1e150, got {width:g}.")


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
    weight = sample_weights(estimator._class_weight, X, y, sample_weight)
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
    check_classification_targets(y)
    weight = sample_weights(estimator.class_weight, X, y, sample_weight)
    if (weight == 0).any() and not keep_all:
        X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
    classes, y = np.unique(y, return_inverse=True)
    check_classes(estimator, classes, sample_weight)
    return X, y, weight, classes


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
    X, y = _validated(estimator, X, y, reset=first)
    check_range(estimator, X)
    check_classification_targets(y)
    if first and len(known) < 2:
        raise ValueError(f"{name} needs at least two classes, got classes={np.asarray(classes).tolist()!r}.")
    check_known(estimator, y, known, "partial_fit")
    weight = sample_weights(estimator.class_weight, X, y, sample_weight)
    keep = weight > 0
    if not keep.any():
        raise ValueError(f"{name}.partial_fit needs at least one sample of a weight above 0.")
    return X[keep], np.searchsorted(known, y[keep]), weight[keep], known


def sample_weights(
    class_weight: ClassWeight, X: np.ndarray, y: np.ndarray, sample_weight: ArrayLike | None
) -> np.ndarray:
    """Weights of the samples times those of their classes, of the type of X."""
    weight = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
    if class_weight is not None:
        weight = weight * compute_sample_weight(class_weight, y).astype(X.dtype)
        if not (weight >= 0).all():
            raise ValueError(f"class_weight must hold non-negative numbers, got {class_weight!r}.")
    with np.errstate(over="ignore"):
        if not np.isfinite(weight.sum()):
            raise ValueError(
                f"The sum of the weights, those of the classes included, overflows in {X.dtype}; divide all of them by "
                "the largest."
            )
    return weight


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
