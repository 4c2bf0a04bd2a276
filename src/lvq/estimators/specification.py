"""An estimator as a specification: its parameters, the parts that they name, and the checks of these.

scikit-learn checks single parameters of estimators with the constraints of `parameters.py`. This module checks
parameters of parts, and whether parts, solvers and the size of the data fit each other.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Literal, Self, TypeVar

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils._param_validation import validate_parameter_constraints

from lvq.estimators.parameters import CONSTRAINTS, PENALTIES, estimator
from lvq.model.costs import COSTS, CostOrRule, CrossEntropyCost, MarginCost, WinnerRule, counts_steps
from lvq.model.links import KERNELS, Identity, Kernel, Link, Part
from lvq.model.relevance import RELEVANCES, Matrix, Relevance, Structured
from lvq.model.rows import is_sparse
from lvq.model.samples import ArraySamples
from lvq.model.scores import SHARPNESS
from lvq.solvers import lbfgs
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online, is_compiled
from lvq.typing import Argument, ClassWeight, Label, Seed

WIDE_SPARSE = 2**14  # features of sparse samples from which L-BFGS is not the default: it holds 20 copies of prototypes
START_PARAMETERS = ("n_prototypes", "init", "metric", "kernel", "missing")
#: What a string names, by parameter.
PARTS: dict[str, dict[str, Argument]] = {
    "cost": dict(COSTS),
    "kernel": dict(KERNELS),
    "relevance": dict(RELEVANCES),
    "solver": {"auto": LBFGS(), "lbfgs": LBFGS(), "adam": Adam(), "online": Online()},
}
MAX_SPARSE = 1024  # features of sparse samples up to which a matrix, which is dense, can be learned
Solver = Online | LBFGS | Adam
Named = TypeVar("Named")


@dataclass(frozen=True)
class Parts:
    """Objects made from the parameters of an estimator, once per `fit`.

    Parameters
    ----------
    cost, relevance, kernel, solver : objects
        The parts.
    max_iter : int
        Epochs or iterations.
    sharpness : float
        Steepness of probabilities of relative costs.
    start : tuple of (str, object)
        Parameters of the start, which a warm start and a stream must not change.
    ignores_missing : bool
        Whether missing values are allowed, and ignored.
    max_runs : int
        Most runs of L-BFGS.
    unit_length : bool
        Whether samples and prototypes have length one.
    """

    cost: CostOrRule
    relevance: Relevance
    kernel: Link
    solver: Solver
    max_iter: int
    sharpness: float = SHARPNESS
    start: tuple[tuple[str, object], ...] = ()
    ignores_missing: bool = False
    max_runs: int = lbfgs.MAX_RUNS
    unit_length: bool = False

    @property
    def is_online(self) -> bool:
        """Whether the solver takes sample by sample."""
        return isinstance(self.solver, Online)

    @property
    def online(self) -> Online:
        """Settings of the online solver, also for a stream of another one."""
        return self.solver if isinstance(self.solver, Online) else Online()

    @property
    def device(self) -> str | None:
        """Where a batch solver computes."""
        return None if isinstance(self.solver, Online) else self.solver.device

    @property
    def learns_width(self) -> bool:
        """Whether the kernel's width follows the gradient."""
        return isinstance(self.kernel, Kernel) and self.kernel.width == "learned"


@estimator
class Specification(BaseEstimator):
    """Parameters of all estimators, and the parts made from them."""

    n_prototypes: int | dict[Label, int] | Literal["auto"] = 1
    init: str | ArrayLike | tuple[ArrayLike, ArrayLike] = "kmeans"
    relevance: str | Relevance | None = None
    kernel: str | Link | None = None
    solver: str | Solver = "auto"
    max_iter: int = 100
    missing: Literal["raise", "ignore"] = "raise"
    class_weight: ClassWeight = None
    random_state: Seed = None
    warm_start: bool = False
    verbose: bool = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        missing = getattr(self, "missing", "raise") == "ignore"
        tags.input_tags.allow_nan = missing
        tags.input_tags.sparse = getattr(self.solver, "device", None) is None and not missing
        return tags

    def set_params(self, **params: Argument) -> Self:
        """Set parameters; a part's parameters by its name, as in ``relevance__rank=2``.

        Parameters
        ----------
        **params : dict
            Parameters of the estimator, or ``part__parameter``. A string that names a part becomes that part first.

        Returns
        -------
        self : object
            The estimator.
        """
        parts = set(PARTS) & set(self.get_params(deep=False))
        nested = {key: value for key, value in params.items() if "__" in key and key.partition("__")[0] in parts}
        super().set_params(**{key: value for key, value in params.items() if key not in nested})
        for key in nested:
            name = key.partition("__")[0]
            part = self._part(name, getattr(self, name))
            if not hasattr(part, "set_params"):
                raise ValueError(
                    f"{key}: {part!r}, the {name} of {type(self).__name__}, has no parameters; set {name} too."
                )
            setattr(self, name, _copy(part))  # a class shares its default, a user may share parts
        return super().set_params(**nested)

    def _part(self, name: str, value: Argument) -> Argument:
        """The part that a string names; anything else unchanged."""
        return PARTS[name].get(value, value) if isinstance(value, str) else value

    # -- parts: objects made from the parameters -----------------------------------------------------------------------

    def _cost(self) -> CostOrRule:
        raise NotImplementedError

    def _relevance(self) -> Relevance:
        return Relevance() if self.relevance is None else self._part("relevance", self.relevance)

    def _kernel(self) -> Link:
        return Identity() if self.kernel is None else self._part("kernel", self.kernel)

    def _solver(self, cost: CostOrRule, relevance: Relevance, X: ArrayLike | None) -> Solver:
        """The solver; "auto" takes L-BFGS where there is a gradient, but Adam or online for many sparse features."""
        if self.solver != "auto":
            return self._part("solver", self.solver)
        if not (cost.smooth and relevance.smooth) or counts_steps(cost):
            return self._part("solver", "online")
        if X is not None and is_sparse(X) and X.shape[1] >= WIDE_SPARSE:
            plain = type(relevance) is Relevance and is_compiled(cost, self._kernel())
            plain = plain and getattr(cost, "cost_matrix", None) is None
            return Online() if plain and getattr(self, "metric", "euclidean") == "euclidean" else Adam()
        return LBFGS()

    def _parts(self, X: ArrayLike | None = None, device: str | None = None) -> Parts:
        """The parts, for samples where these are known; `device` is the device of tensors."""
        cost, relevance = self._cost(), self._relevance()
        solver = self._solver(cost, relevance, X)
        if device is not None and not isinstance(solver, Online):
            solver = replace(solver, device=device)
        return Parts(
            cost=_copy(cost),
            relevance=_copy(relevance),
            kernel=_copy(self._kernel()),
            solver=_copy(solver),
            max_iter=self.max_iter,
            sharpness=_sharpness(cost),
            start=tuple((name, getattr(self, name)) for name in START_PARAMETERS if hasattr(self, name)),
            ignores_missing=self.missing == "ignore",
            unit_length=getattr(self, "metric", "euclidean") == "cosine",
        )


def _copy(part: Named) -> Named:
    """A part of the model's own: the user may change its parameters later."""
    return replace(part) if isinstance(part, Part) else part  # type: ignore[type-var]


def _sharpness(cost: CostOrRule) -> float:
    """How steeply relative scores become probabilities: as steeply as the cost's sigmoid, if it has one."""
    slope = getattr(cost, "slope", None)
    steep = float(slope) if isinstance(slope, Real) else 0.0
    return steep if steep > 0 else SHARPNESS


# -- checks ------------------------------------------------------------------------------------------------------------


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
            f"n_prototypes='auto' of {name} chooses the number of prototypes, but init holds given ones. Set "
            "n_prototypes to their number, or init to a name such as 'kmeans'."
        )
    if parts.learns_width and not cost.smooth:
        raise ValueError(
            f"A kernel with width='learned' needs a cost with a gradient; {name} has none. Give a number or 'auto'."
        )
    if parts.ignores_missing and (parts.device is not None or not relevance.smooth):
        raise ValueError(
            f"missing='ignore' of {name} needs a relevance with a gradient and a solver without a device; got "
            f"relevance={estimator.relevance!r} and device={parts.device!r}. Change these, or fill missing values."
        )
    if parts.unit_length and (parts.is_online or parts.ignores_missing):
        raise ValueError(
            f"metric='cosine' of {name} keeps prototypes at length one, which the online solver, partial_fit and "
            "missing='ignore' cannot. Use fit, with solver='lbfgs' or 'adam' and missing='raise'."
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
    if not parts.cost.smooth:
        raise ValueError(
            f"The 'solver' parameter of {name} must be 'online' or Online, as it has no cost; got {solver}."
        )
    if not parts.relevance.smooth:
        raise ValueError(
            f"solver={solver} of {name} needs a relevance with a gradient, but {estimator.relevance!r} is a rule "
            "without one. Use solver='online', or another relevance, such as 'gradient' or 'matrix'."
        )
    if counts_steps(parts.cost):
        raise ValueError(f"slope='time' of {name} counts single steps, so it needs solver='online', not {solver}.")


def check_for_samples(estimator: BaseEstimator, parts: Parts, samples: ArraySamples, n_classes: int) -> None:
    """Raise ValueError for parts that do not fit the samples."""
    name, relevance, n = type(estimator).__name__, parts.relevance, samples.n_features
    for setting, given in (("missing='ignore'", parts.ignores_missing), ("metric='cosine'", parts.unit_length)):
        if given and not samples.in_memory:
            raise ValueError(f"{setting} of {name} needs samples in memory, got a dask collection. Compute it first.")
    if isinstance(relevance, Matrix) and relevance.n_rows(n) > n:
        raise ValueError(
            f"The 'rank' of the matrix of {name} must be at most the number of features, {n}; got {relevance.rank}. "
            "Give a smaller rank, or None for the full matrix."
        )
    if isinstance(relevance, Matrix) and samples.in_memory and is_sparse(samples.X) and n > MAX_SPARSE:
        raise ValueError(
            f"{name} learns a dense matrix, for sparse X of at most {MAX_SPARSE} features; got {n}. Reduce them first, "
            "for example with sklearn.decomposition.TruncatedSVD in a pipeline, or use relevance='gradient' or None."
        )
    if isinstance(relevance, Structured) and relevance.feature_groups is not None:
        _check_groups(relevance, list(relevance.feature_groups), n)
    costs = getattr(parts.cost, "cost_matrix", None)
    if costs is not None and (costs.shape != (n_classes, n_classes) or costs.min() < 0):
        raise ValueError(
            f"The 'cost_matrix' parameter of {name} must hold non-negative costs, one row and column for each of the "
            f"{n_classes} classes; got shape {costs.shape} and a smallest cost of {costs.min():g}."
        )


def _check_groups(relevance: Structured, groups: list[Hashable], n_features: int) -> None:
    """Raise ValueError where groups of features do not fit the samples."""
    name = type(relevance).__name__
    used = [group for group in groups if group is not None]
    if len(groups) != n_features or not used:
        raise ValueError(
            f"feature_groups of {name} must have a label for each of {n_features} features, not None for all of them; "
            f"got {len(groups)}, {len(used)} of them not None."
        )
    if isinstance(relevance, Matrix) and len(set(used)) < len(used):
        raise ValueError(
            f"feature_groups of {name} must have different labels for all features in use, as a matrix cannot give "
            "equal weights: use relevance='gradient' or 'local_diagonal'."
        )
    if getattr(relevance, "log_determinant", 0) > 0 and len(used) < len(groups):
        raise ValueError(
            f"log_determinant of {name} needs all features, and feature_groups excludes some; leave their columns out "
            "of X, or set log_determinant=0."
        )
