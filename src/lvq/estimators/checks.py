"""Checks of combinations of parameters: parts and solvers that do not fit each other, or not the size of the data.

Single parameters are checked by scikit-learn with the constraints of `parameters.py`.
"""

import numpy as np
from sklearn.base import BaseEstimator

from lvq.estimators.parameters import check_part
from lvq.estimators.specification import Parts
from lvq.model.costs import CrossEntropyCost, MarginCost, SoftCost, WindowRule, WinnerRule
from lvq.model.links import Kernel
from lvq.model.relevance import Matrix, Relevance, Scale, Structured
from lvq.model.rows import is_sparse
from lvq.model.samples import ArraySamples
from lvq.model.structure import EXCLUDED, Structure

SMOOTH = "None, 'gradient', 'matrix', 'local_matrix' or 'local_diagonal'"  # relevances that have a gradient
MAX_SPARSE = 1024  # features of sparse samples up to which a matrix, which is dense, can be learned


def check_parts(estimator: BaseEstimator, parts: Parts) -> None:
    """Raise ValueError for parts that cannot be combined, before any computation."""
    name, cost, relevance = type(estimator).__name__, parts.cost, parts.relevance
    for part in (cost, relevance, parts.kernel, parts.solver):
        check_part(part)
    if relevance.smooth and not cost.smooth and type(relevance) is not Relevance:
        raise ValueError(
            f"The 'relevance' parameter of {name} must be None, 'hebbian', 'fc1' or 'fc2', as {name} has no gradient; "
            f"got {estimator.relevance!r}. Use GRLVQ or GMLVQ for relevances learned by gradient."
        )
    if estimator.n_prototypes == "auto" and not isinstance(estimator.init, str):
        raise ValueError(
            f"n_prototypes='auto' of {name} chooses how many prototypes there are, but init holds given ones. Set "
            "n_prototypes to their number, or init to a name such as 'kmeans'."
        )
    if parts.by_posterior and not isinstance(cost, SoftCost):
        raise ValueError(
            f"decision='posterior' of {name} needs a cost that sums over the prototypes of a class, 'snpc' or 'rslvq'; "
            f"got {estimator.cost!r}. Use decision='nearest'."
        )
    if parts.learns_width and not cost.smooth:
        raise ValueError(
            f"A kernel with width='learned' needs a cost with a gradient; {name} has none. Give a number or 'auto'."
        )
    if isinstance(parts.kernel, Kernel) and not isinstance(parts.kernel.width, str):
        _check_width(parts.kernel)
    if parts.is_online:
        _check_online(name, parts)
    else:
        _check_batch(estimator, parts)
    if parts.ignores_missing:
        _check_missing(estimator, parts)
    if getattr(estimator, "cost_matrix", None) is not None:
        _check_cost_matrix(estimator, parts)


def _check_width(kernel: Kernel) -> None:
    if not 1e-150 <= float(kernel.width) <= 1e150:
        raise ValueError(f"width of {type(kernel).__name__} must be between 1e-150 and 1e150, got {kernel.width:g}.")


def _check_online(name: str, parts: Parts) -> None:
    relevance, solver, cost = parts.relevance, parts.online, parts.cost
    if isinstance(relevance, Scale):
        raise ValueError(
            f"relevance='local_scale' of {name} needs solver='lbfgs' or 'adam', got the online solver, which keeps the "
            "sum of the relevances at one and has no scale to learn. Use relevance='local_diagonal' with it."
        )
    unused = [key for key in ("ridge", "log_determinant", "shrinkage") if getattr(relevance, key, 0) not in (0, 0.0)]
    if isinstance(relevance, Structured) and relevance.structure != Structure():
        unused.append("feature_groups, sparsity or smoothness")
    if unused:
        raise ValueError(
            f"The online solver of {name} does not support {', '.join(unused)} of {type(relevance).__name__}; use "
            "solver='lbfgs' or 'adam', or leave it out."
        )
    if solver.step == "relative" and not hasattr(cost, "slope"):
        raise ValueError(
            f"step of Online must be 'scaled' or 'gradient' for {name}; 'relative' is a step of GLVQ, GRLVQ and GMLVQ, "
            "whose cost is relative."
        )
    if isinstance(cost, WinnerRule) and cost.own_rates and not 0 < solver.learning_rate < 1:
        raise ValueError(f"learning_rate of Online must be between 0 and 1 for {name}, got {solver.learning_rate}.")


def _check_batch(estimator: BaseEstimator, parts: Parts) -> None:
    name, solver = type(estimator).__name__, type(parts.solver).__name__
    if isinstance(parts.cost, WinnerRule | WindowRule):
        raise ValueError(
            f"The 'solver' parameter of {name} must be 'online' or Online, as it has no cost; got {solver}."
        )
    if not parts.relevance.smooth:
        raise ValueError(
            f"solver={solver} of {name} needs a relevance with a gradient, and {estimator.relevance!r} is a rule "
            "without one. Use solver='online', or relevance None, 'gradient', 'matrix', 'local_matrix', "
            "'local_diagonal' or 'local_scale'."
        )
    if getattr(parts.cost, "slope", 0) == "time":
        raise ValueError(f"slope='time' of {name} counts single steps, so it needs solver='online', not {solver}.")


def _check_missing(estimator: BaseEstimator, parts: Parts) -> None:
    name, fill = type(estimator).__name__, "fill missing values first, for example with sklearn.impute.SimpleImputer"
    if parts.device is not None:
        raise ValueError(
            f"missing='ignore' of {name} needs NumPy arrays, without a device; got the device {parts.device!r}. Change "
            f"that, or {fill}."
        )
    if not parts.relevance.smooth:
        raise ValueError(
            f"missing='ignore' of {name} needs a relevance with a gradient, and {estimator.relevance!r} is a rule "
            f"without one. Use relevance {SMOOTH if parts.cost.smooth else 'None'}, or {fill}, with missing='raise'."
        )


def check_for_samples(estimator: BaseEstimator, parts: Parts, samples: ArraySamples) -> None:
    """Raise ValueError for parts that do not fit the samples."""
    name, relevance, n = type(estimator).__name__, parts.relevance, samples.n_features
    if parts.ignores_missing and not samples.in_memory:
        raise ValueError(f"missing='ignore' of {name} needs samples in memory, got a dask collection. Fill them first.")
    if isinstance(relevance, Matrix) and relevance.n_rows(n) > n:
        raise ValueError(
            f"The 'rank' of the matrix of {name} must be at most the number of features, {n}; got {relevance.rank}. "
            "Give a smaller rank, or None for the full matrix."
        )
    if isinstance(relevance, Matrix) and samples.in_memory and is_sparse(samples.X) and n > MAX_SPARSE:
        raise ValueError(
            f"{name} learns a dense matrix, for sparse X of at most {MAX_SPARSE} features; got {n}. Reduce them first, "
            "for example by sklearn.decomposition.TruncatedSVD in a pipeline, or use relevance='gradient' or None."
        )
    if isinstance(relevance, Structured) and relevance.feature_groups is not None:
        _check_groups(relevance, n)
    _check_sample_prototypes(estimator, parts, samples)


def _check_groups(relevance: Structured, n_features: int) -> None:
    """Groups of features must be those of the samples."""
    name = type(relevance).__name__
    if all(label is None for label in relevance.feature_groups or ()):
        raise ValueError(
            f"feature_groups of {name} must leave one feature or more, got None, which excludes it, for all."
        )
    groups = relevance.structure.groups
    assert groups is not None
    if len(groups) != n_features:
        raise ValueError(
            f"feature_groups of {name} must have a label for each of {n_features} features; got {len(groups)}."
        )
    used = [group for group in groups if group != EXCLUDED]
    if isinstance(relevance, Matrix) and relevance.sparsity == 0 and len(set(used)) < len(used):
        raise ValueError(
            f"feature_groups of {name} must have different labels for all features that are used, as a matrix gives no "
            "equal weights and groups count in 'sparsity' alone. Set sparsity, or use weights of features, "
            "relevance='gradient' or 'local_diagonal'."
        )
    if getattr(relevance, "log_determinant", 0) > 0 and len(used) < len(groups):
        raise ValueError(
            f"log_determinant of {name} needs all features, and feature_groups excludes some; leave their columns out "
            "of X, or set log_determinant=0."
        )


def _check_sample_prototypes(estimator: BaseEstimator, parts: Parts, samples: ArraySamples) -> None:
    """Raise ValueError where prototypes cannot be moved to samples."""
    if not getattr(estimator, "sample_prototypes", False):
        return
    remedies = {
        "dask collections": (not samples.in_memory, "Give the samples as an array."),
        "a device": (parts.device is not None, "Give arrays, with device=None."),
        "missing='ignore'": (parts.ignores_missing, "Fill missing values first, with missing='raise'."),
    }
    for what, (found, remedy) in remedies.items():
        if found:
            raise ValueError(f"sample_prototypes=True of {type(estimator).__name__} does not support {what}. {remedy}")


def as_cost_matrix(estimator: BaseEstimator) -> np.ndarray:
    """A cost matrix as numbers; an empty array, an error later, where it is not numeric."""
    try:
        return np.asarray(estimator.cost_matrix, dtype=np.float64)
    except (TypeError, ValueError):
        return np.zeros(0)


def _check_cost_matrix(estimator: BaseEstimator, parts: Parts) -> None:
    name, costs, cost = type(estimator).__name__, as_cost_matrix(estimator), parts.cost
    if not isinstance(cost, MarginCost | CrossEntropyCost) or parts.is_online:
        raise ValueError(
            f"The 'cost_matrix' parameter of {name} needs the cost glvq, mce, logm or cross_entropy and the solver "
            "lbfgs or adam. Use class_weight for other models."
        )
    if costs.ndim != 2 or costs.shape[0] != costs.shape[1] or not np.isfinite(costs).all() or costs.min() < 0:
        raise ValueError(
            f"The 'cost_matrix' parameter of {name} must be a square array of non-negative costs, one row and column "
            f"for each class; got shape {costs.shape}."
        )


def check_cost_matrix_classes(estimator: BaseEstimator, n_classes: int) -> None:
    """Raise ValueError for costs of another number of classes."""
    costs = getattr(estimator, "cost_matrix", None)
    if costs is not None and len(np.asarray(costs)) != n_classes:
        raise ValueError(
            f"The 'cost_matrix' parameter of {type(estimator).__name__} must have one row and column for each of the "
            f"{n_classes} classes, got {len(np.asarray(costs))}."
        )
