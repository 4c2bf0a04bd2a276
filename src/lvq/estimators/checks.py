"""Checks of parts: their parameters, and parts, solvers and sizes of the data that do not fit each other.

Single parameters of estimators are checked by scikit-learn with the constraints of `parameters.py`.
"""

from collections.abc import Hashable
from numbers import Real

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from lvq.estimators.parameters import at_least_one, below_one, not_negative, one_of, positive
from lvq.estimators.specification import Parts
from lvq.model.costs import CrossEntropyCost, MarginCost, SoftCost, WindowRule, WinnerRule
from lvq.model.links import Part
from lvq.model.relevance import Matrix, Structured
from lvq.model.rows import is_sparse
from lvq.model.samples import ArraySamples

MAX_SPARSE = 1024  # features of sparse samples up to which a matrix, which is dense, can be learned
PENALTIES = ("ridge", "log_determinant", "shrinkage", "sparsity", "smoothness")  # of relevances, in batch solvers
#: Constraints of the parameters of parts.
CONSTRAINTS: dict[str, list[object]] = {
    "rank": [at_least_one, one_of("auto"), None],
    "local": [one_of("class", "prototype"), None],
    "ridge": [not_negative],
    "log_determinant": [not_negative],
    "shrinkage": [not_negative],
    "feature_groups": ["array-like", None],
    "sparsity": [not_negative],
    "smoothness": [not_negative],
    "weighted_step": ["boolean"],
    "squared": ["boolean"],
    "scores": [one_of("sum", "max")],
    "no_variance": [one_of("zero", "between")],
    "classes": [one_of("fractions", "even")],
    "rivals": [one_of("all", "nearest")],
    "width": [Interval(Real, 1e-150, 1e150, closed="both"), one_of("auto", "learned")],
    "shape": [positive],
    "xi": [positive],
    "alpha": [not_negative],
    "slope": [not_negative, one_of("time")],
    "device": [str, None],
    "batch_size": [at_least_one],
    "validation_fraction": [below_one],
    "step": [one_of("scaled", "gradient", "relative")],
    "learning_rate": [not_negative],
    "relevance_rate": [not_negative, None],
    "schedule": [one_of("constant", "linear", "inverse")],
    "tol": [not_negative, None],
    "n_iter_no_change": [at_least_one],
    "shuffle": ["boolean"],
}


def check_part(part: object) -> None:
    """Raise ValueError for a parameter of a part of this library that is not allowed; it names part and parameter."""
    if isinstance(part, Part):
        params = {name: value for name, value in part.get_params().items() if name in CONSTRAINTS}
        validate_parameter_constraints(CONSTRAINTS, params, caller_name=type(part).__name__)


def check_parts(estimator: BaseEstimator, parts: Parts) -> None:
    """Raise ValueError for parts that cannot be combined, before any computation."""
    name, cost, relevance = type(estimator).__name__, parts.cost, parts.relevance
    for part in (cost, relevance, parts.kernel, parts.solver):
        check_part(part)
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
    if parts.ignores_missing and (parts.device is not None or not relevance.smooth):
        raise ValueError(
            f"missing='ignore' of {name} needs a relevance with a gradient and a solver without a device; got "
            f"relevance={estimator.relevance!r} and device={parts.device!r}. Change these, or fill missing values "
            "first, for example with sklearn.impute.SimpleImputer."
        )
    if parts.unit_length and (parts.is_online or parts.ignores_missing):
        raise ValueError(
            f"metric='cosine' of {name} keeps prototypes at length one, which the online solver, partial_fit and "
            "missing='ignore' cannot. Use fit with solver='lbfgs' or 'adam' and missing='raise'; or "
            "sklearn.preprocessing.normalize and metric='euclidean'."
        )
    takes_costs = isinstance(cost, MarginCost | CrossEntropyCost) and not parts.is_online
    if getattr(estimator, "cost_matrix", None) is not None and not takes_costs:
        raise ValueError(
            f"The 'cost_matrix' parameter of {name} needs the cost glvq, mce, logm or cross_entropy and the solver "
            "lbfgs or adam. Use class_weight for other models."
        )
    (_check_online if parts.is_online else _check_batch)(estimator, parts)


def _check_online(estimator: BaseEstimator, parts: Parts) -> None:
    name, relevance, solver, cost = type(estimator).__name__, parts.relevance, parts.online, parts.cost
    unused = [key for key in PENALTIES if getattr(relevance, key, 0)]
    if getattr(relevance, "feature_groups", None) is not None:
        unused.append("feature_groups")
    if unused or relevance.free_size:
        raise ValueError(
            f"The online solver of {name} does not support {', '.join(unused) or 'a learned size'} of "
            f"{type(relevance).__name__}. Use solver='lbfgs' or 'adam' and fit, or leave it out."
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


def check_for_samples(estimator: BaseEstimator, parts: Parts, samples: ArraySamples, n_classes: int) -> None:
    """Raise ValueError for parts that do not fit the samples."""
    name, relevance, n = type(estimator).__name__, parts.relevance, samples.n_features
    if parts.ignores_missing and not samples.in_memory:
        raise ValueError(f"missing='ignore' of {name} needs samples in memory, got a dask collection. Fill them first.")
    if parts.unit_length and not samples.in_memory:
        raise ValueError(f"metric='cosine' of {name} needs samples in memory, got a dask collection. Compute it first.")
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
        _check_groups(relevance, list(relevance.feature_groups), n)
    costs = getattr(parts.cost, "cost_matrix", None)
    if costs is not None and (costs.shape != (n_classes, n_classes) or costs.min() < 0):
        raise ValueError(
            f"The 'cost_matrix' parameter of {name} must hold non-negative costs, one row and column for each of the "
            f"{n_classes} classes; got shape {costs.shape} and a smallest cost of {costs.min():g}."
        )
    inside = samples.in_memory and parts.device is None and not parts.ignores_missing
    if getattr(estimator, "sample_prototypes", False) and not inside:
        raise ValueError(
            f"sample_prototypes=True of {name} needs arrays in memory, a solver without a device and missing='raise'."
        )


def _check_groups(relevance: Structured, groups: list[Hashable], n_features: int) -> None:
    """Groups of features must be those of the samples."""
    name = type(relevance).__name__
    used = [group for group in groups if group is not None]
    if len(groups) != n_features or not used:
        raise ValueError(
            f"feature_groups of {name} must have a label for each of {n_features} features, not None for all of them; "
            f"got {len(groups)}, {len(used)} of them not None."
        )
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
