"""Checks of combinations of parameters: parts and solvers that do not fit each other, or not the size of the data.

Single parameters are checked by scikit-learn with the constraints of `parameters.py`.
"""

import numpy as np
from sklearn.base import BaseEstimator

from lvq.estimators.parts import Parts
from lvq.estimators.specified_parts import make_kernel
from lvq.model.costs import CostOrRule, MarginCost, SoftCost
from lvq.model.links import KERNELS, Kernel
from lvq.model.relevance import (
    LocalScaleRelevance,
    MatrixRelevance,
    Relevance,
)
from lvq.model.relevance.matrices import resolved_rank
from lvq.model.structure import EXCLUDED, UNSTRUCTURED

SMOOTH = "None, 'gradient', 'matrix', 'local_matrix' or 'local_diagonal'"  # relevances that have a gradient
MAX_SPARSE_RANK = 1024  # rows of Omega for sparse samples, whose features may be very many


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
        _check_learned_width(estimator, cost)


def _check_learned_width(estimator: BaseEstimator, cost: CostOrRule) -> None:
    name = type(estimator).__name__
    if not isinstance(make_kernel(estimator.kernel), Kernel):
        raise ValueError(
            f"kernel_width='learned' of {name} needs a kernel with a width; got kernel={estimator.kernel!r}. "
            f"Use one of {sorted(KERNELS)}."
        )
    if not cost.smooth:
        raise ValueError(
            f"kernel_width='learned' needs a cost with a gradient; {name} has none. Give a number or 'auto'."
        )


def check_solver(estimator: BaseEstimator, parts: Parts) -> None:
    """Raise ValueError for rules that the solver cannot use."""
    name, solver, relevance = type(estimator).__name__, parts.solver, parts.relevance
    if solver == "online":
        _check_online(name, relevance)
    if parts.ignores_missing:
        _check_missing(estimator, parts)
    if solver != "online":
        _check_batch_solver(estimator, parts)
    if getattr(estimator, "cost_matrix", None) is not None:
        _check_cost_matrix(estimator, parts.cost, solver)
    if solver == "online" and not getattr(relevance, "unit_trace", True):
        raise ValueError(
            f"solver='online' of {name} keeps every Omega at unit trace; for unit_trace=False use 'lbfgs' or 'adam'."
        )


def _check_online(name: str, relevance: Relevance) -> None:
    if isinstance(relevance, LocalScaleRelevance):
        raise ValueError(
            f"relevance='local_scale' of {name} needs solver='lbfgs' or 'adam', got solver='online', which keeps the "
            "sum of the relevances at one and has no scale to learn. Use relevance='local_diagonal' with it."
        )
    if getattr(relevance, "structure", UNSTRUCTURED) != UNSTRUCTURED:
        raise ValueError(
            f"feature_groups, sparsity and smoothness of {name} are of the batch solvers; use solver='lbfgs' or 'adam'."
        )
    if getattr(relevance, "log_determinant", 0) > 0:
        raise ValueError(f"log_determinant of {name} is a penalty of the batch solvers; use solver='lbfgs' or 'adam'.")


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
            f"without one. Use relevance {SMOOTH if hasattr(estimator, 'solver') else 'None'}, or {fill}, with "
            "missing='raise'."
        )


def _check_batch_solver(estimator: BaseEstimator, parts: Parts) -> None:
    name, solver = type(estimator).__name__, parts.solver
    if not parts.relevance.smooth:
        raise ValueError(
            f"solver={solver!r} of {name} needs a relevance with a gradient, and {estimator.relevance!r} is a rule "
            "without one. Use solver='online', or relevance None, 'gradient', 'matrix', 'local_matrix', "
            "'local_diagonal' or 'local_scale'."
        )
    if parts.online.time_slope:
        raise ValueError(f"slope='time' of {name} counts single steps, so it needs solver='online', not {solver!r}.")


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


def check_width(estimator: BaseEstimator, width: float | None) -> None:
    """Raise ValueError for a kernel width whose square overflows or underflows."""
    if width is not None and not 1e-150 <= width <= 1e150:
        raise ValueError(f"kernel_width of {type(estimator).__name__} must be between 1e-150 and 1e150, got {width:g}.")
