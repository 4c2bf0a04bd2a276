"""The parts of a model: what the parameters of an estimator specify."""

from dataclasses import dataclass
from typing import Literal

from lvq.model.costs import COSTS, CostOrRule
from lvq.model.links import KERNELS, Identity, Link
from lvq.model.relevance import GradientRelevance, Relevance
from lvq.model.structure import UNSTRUCTURED
from lvq.solvers import adam, lbfgs
from lvq.solvers.online_rule import Online


@dataclass(frozen=True)
class Parts:
    """Objects made from the parameters of an estimator, once per `fit`.

    Parameters
    ----------
    cost, relevance, kernel : objects
        The parts; the kernel's width is not set yet.
    kernel_width : float, "auto" or "learned"
        The width.
    solver : {"online", "lbfgs", "adam"}
        The solver.
    online, batch : Online, Adam
        Settings of the solvers; lbfgs reads `max_iter` and `tol` of the second.
    by_posterior : bool
        Predict by the largest posterior.
    sharpness : float
        Steepness of probabilities of relative costs.
    start : tuple of (str, object)
        Parameters of the start, which a warm start and a stream must not change.
    device : str, optional
        Where the batch solvers compute.
    max_runs : int
        Most runs of lbfgs.
    ignores_missing : bool
        Whether missing values are allowed, and ignored.
    fixed_prototypes : bool
        Whether batch solvers train the metric alone.
    """

    cost: CostOrRule
    relevance: Relevance
    kernel: Link
    kernel_width: float | Literal["auto", "learned"]
    solver: str
    online: Online
    batch: adam.Adam
    by_posterior: bool = False
    sharpness: float = 5.0
    start: tuple[tuple[str, object], ...] = ()
    device: str | None = None
    max_runs: int = lbfgs.MAX_RUNS
    ignores_missing: bool = False
    fixed_prototypes: bool = False

    @property
    def learns_width(self) -> bool:
        """Whether the kernel's width follows the gradient."""
        return isinstance(self.kernel_width, str) and self.kernel_width == "learned"


def by_stored_features(parts: Parts) -> bool:
    """Whether the online solver can use the parts, with steps on sparse samples by their stored features only."""
    cost, rule = parts.cost, parts.relevance
    diagonal = type(rule) is GradientRelevance and rule.structure == UNSTRUCTURED
    known = type(cost) in COSTS.values() and type(parts.kernel) in (Identity, *KERNELS.values())
    needs_batches = getattr(cost, "prices", None) is not None or parts.batch.validation_fraction > 0
    return known and (type(rule) is Relevance or diagonal) and not needs_batches
