"""An estimator as a specification: its parameters, and the parts that they name."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Literal, Self, TypeVar

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from lvq.estimators.parameters import estimator
from lvq.model.costs import COSTS, CostOrRule
from lvq.model.links import KERNELS, Identity, Kernel, Link, Part
from lvq.model.relevance import RELEVANCES, Relevance
from lvq.model.rows import is_sparse
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
    by_posterior : bool
        Predict by the largest posterior.
    sharpness : float
        Steepness of probabilities of relative costs.
    start : tuple of (str, object)
        Parameters of the start, which a warm start and a stream must not change.
    ignores_missing : bool
        Whether missing values are allowed, and ignored.
    max_runs : int
        Most runs of L-BFGS.
    fixed_prototypes : bool
        Whether the metric alone is trained.
    unit_length : bool
        Whether samples and prototypes have length one.
    """

    cost: CostOrRule
    relevance: Relevance
    kernel: Link
    solver: Solver
    max_iter: int
    by_posterior: bool = False
    sharpness: float = 5.0
    start: tuple[tuple[str, object], ...] = ()
    ignores_missing: bool = False
    max_runs: int = lbfgs.MAX_RUNS
    fixed_prototypes: bool = False
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
        """Set parameters; those of a part by its name, as in ``relevance__rank=2``.

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
                    f"{key} of {type(self).__name__} is a parameter of the part that {name!r} names, and {part!r} has "
                    f"none. Set {name!r} too."
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
        if not (cost.smooth and relevance.smooth) or getattr(cost, "slope", 0) == "time":
            return Online()
        if X is not None and is_sparse(X) and X.shape[1] >= WIDE_SPARSE:
            plain = type(relevance) is Relevance and is_compiled(cost, self._kernel())
            plain = plain and getattr(cost, "cost_matrix", None) is None
            return Online() if plain and getattr(self, "metric", "euclidean") == "euclidean" else Adam()
        return LBFGS()

    def _parts(self, X: ArrayLike | None = None, device: str | None = None) -> Parts:
        """The parts, for samples where these are known; `device` is that of tensors."""
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
            by_posterior=getattr(self, "decision", "nearest") == "posterior",
            sharpness=_sharpness(cost),
            start=tuple((name, getattr(self, name)) for name in START_PARAMETERS if hasattr(self, name)),
            ignores_missing=getattr(self, "missing", "raise") == "ignore",
            unit_length=getattr(self, "metric", "euclidean") == "cosine",
        )


def _copy(part: Named) -> Named:
    """A part of the model's own: the user may change its parameters later."""
    return replace(part) if isinstance(part, Part) else part  # type: ignore[type-var]


def _sharpness(cost: CostOrRule) -> float:
    """How steeply relative scores become probabilities: as steeply as the cost's sigmoid, if it has one."""
    slope = getattr(cost, "slope", None)
    steep = float(slope) if isinstance(slope, Real) else 0.0
    return steep if steep > 0 else 5.0
