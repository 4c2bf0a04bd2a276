"""Settings of the online solver, and the integers and floats of the compiled loops that they and the parts give."""

from dataclasses import dataclass, replace

from lvq.model.costs import (
    CostOrRule,
    GLVQCost,
    LOGMCost,
    MCECost,
    RSLVQCost,
    SNPCCost,
    WindowRule,
    WinnerRule,
)
from lvq.model.links import Cauchy, Gaussian, Identity, InverseMultiquadric, Link, RationalQuadratic
from lvq.model.relevance import (
    FisherNeighbours,
    FisherPrototypes,
    GradientRelevance,
    Hebbian,
    LocalDiagonalRelevance,
    MatrixRelevance,
    Relevance,
)
from lvq.solvers.kernels import rule as choices

SCHEDULES = ("constant", "linear", "inverse")
STEPS = ("scaled", "gradient", "relative")
STREAM = 0.1  # fraction of the learning rate from which a linear schedule starts, for models with a cost in a stream


@dataclass(frozen=True)
class Online:
    """Settings of the online solver; the estimators describe them."""

    learning_rate: float = 0.1
    relevance_rate: float = 0.01
    width_rate: float = 0.0
    schedule: str = "linear"
    step: str = "scaled"
    time_slope: bool = False
    max_iter: int = 100
    tol: float | None = None
    n_iter_no_change: int = 5
    shuffle: bool = True

    def for_stream(self, cost: CostOrRule) -> "Online":
        """The settings of a stream. It has no known end, so rates are constant in place of a linear schedule.

        That of the prototypes, and of the width of a kernel, is smaller; in Kohonen's rules it stays as it is.
        """
        if self.schedule != "linear":
            return self
        factor = 1.0 if isinstance(cost, WinnerRule | WindowRule) else STREAM
        return replace(
            self,
            schedule="constant",
            learning_rate=factor * self.learning_rate,
            width_rate=factor * self.width_rate,
        )


def cost_code(cost: CostOrRule) -> int:
    """The integer of a cost or rule; ValueError for one that the loops do not have."""
    if isinstance(cost, WinnerRule):
        return choices.OLVQ1 if cost.own_rates else choices.LVQ1
    if isinstance(cost, WindowRule):
        return choices.LVQ3 if cost.epsilon > 0 else choices.LVQ21
    codes: dict[type, int] = {
        GLVQCost: choices.GLVQ,
        MCECost: choices.MCE,
        LOGMCost: choices.LOGM,
        SNPCCost: choices.SNPC,
        RSLVQCost: choices.RSLVQ,
    }
    return _code(codes, cost, "cost")


def link_code(link: Link) -> int:
    """The integer of a link."""
    codes: dict[type, int] = {
        Identity: choices.IDENTITY,
        Gaussian: choices.GAUSSIAN,
        Cauchy: choices.CAUCHY,
        InverseMultiquadric: choices.MULTIQUADRIC,
        RationalQuadratic: choices.RATIONAL,
    }
    return _code(codes, link, "kernel")


def relevance_code(relevance: Relevance) -> int:
    """The integer of a relevance rule."""
    if isinstance(relevance, MatrixRelevance):
        return choices.GRADIENT
    if isinstance(relevance, Hebbian):
        return choices.HEBBIAN_SQUARED if relevance.squared else choices.HEBBIAN
    codes: dict[type, int] = {
        Relevance: choices.FIXED,
        GradientRelevance: choices.GRADIENT,
        LocalDiagonalRelevance: choices.GRADIENT,
        FisherPrototypes: choices.FISHER1,
        FisherNeighbours: choices.FISHER2,
    }
    return _code(codes, relevance, "relevance")


def _code(codes: dict[type, int], part: object, name: str) -> int:
    try:
        return codes[type(part)]
    except KeyError:
        raise ValueError(
            f"solver='online' supports the {name}s {sorted(kind.__name__ for kind in codes)}, not "
            f"{type(part).__name__}; use solver='lbfgs' or 'adam' for a {name} of your own."
        ) from None
