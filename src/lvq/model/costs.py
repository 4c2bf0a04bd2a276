"""Costs: a row of distances H and the true class -> one number, and its derivative by every distance.

Contract: `value_and_derivative(H, y, labels) -> (cost of each sample, DistanceGradient)`; `smooth` says whether that
is a gradient. y and labels are class indices; labels ascend. A margin cost is a function of two distances,
`of_margin(d+, d-)`: `d+` is the smallest H among the prototypes of the true class, `d-` the smallest among all others;
ties go to the lowest index. `scaled(spread)` converts parameters in units of the data's spread (the mean smallest H at
the start) to absolute values.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Protocol, Self, TypeAlias

import numpy as np
from scipy.special import expit

from lvq.model.links import Part
from lvq.model.metrics import DistanceGradient, class_starts, nearest_by_class, nearest_pair
from lvq.model.rows import as_columns, beside, like, namespace, put_columns, take_along, zeros
from lvq.typing import Array


class Cost(Protocol):
    """Interface of a cost; any object with these members can be used."""

    smooth: ClassVar[bool]

    def value_and_derivative(self, H: Array, y: Array, labels: Array) -> tuple[Array, DistanceGradient]:
        """Cost of each sample and dE/dH."""


def sigmoid(z: Array) -> Array:
    """1/(1 + exp(-z)) without overflow."""
    return expit(z) if namespace(z) is np else namespace(z).sigmoid(z)


def softplus(z: Array) -> Array:
    """log(1 + exp(z)) without overflow."""
    xp = namespace(z)
    return np.logaddexp(0, z) if xp is np else xp.logaddexp(xp.zeros_like(z), z)


@dataclass(frozen=True)
class MarginCost(Part):
    """A function of d+ and d- alone, plus the regulariser alpha d+ (Jin et al. 2010, Eq. 14).

    Parameters
    ----------
    alpha : float, default=0.0
        Weight of the regulariser, in units of 1/spread until `scaled`.
    cost_matrix : array of shape (n_classes, n_classes), optional
        Cost of predicting the column's class for a sample of the row's class. It multiplies the cost of each sample,
        according to the class of its nearest other prototype. `LVQClassifier` sets it.
    """

    smooth: ClassVar[bool] = True
    alpha: float = 0.0
    cost_matrix: Array | None = field(default=None, kw_only=True, compare=False)

    def scaled(self, spread: float) -> Self:
        """The same cost with plain numbers instead of multiples of the spread."""
        return replace(self, alpha=self.alpha / spread)

    def value_and_derivative(self, H: Array, y: Array, labels: Array) -> tuple[Array, DistanceGradient]:
        """Cost of each sample and its two derivatives."""
        pair = nearest_pair(namespace(H).asarray(H) + 0, y, labels)
        touched = as_columns(pair.own, pair.other)
        cost, slope = self.of_pairs(as_columns(pair.d_plus, pair.d_minus), y, labels, touched)
        return cost, DistanceGradient(slope, touched)

    def of_pairs(self, H: Array, y: Array, labels: Array, touched: Array) -> tuple[Array, Array]:
        """Cost of each sample and its derivatives, (N, 2), from d+ and d-, (N, 2), and their prototypes."""
        cost, by_plus, by_minus = self.of_margin(H[:, 0], H[:, 1])
        if self.cost_matrix is not None:
            factor = like(beside(self.cost_matrix, H), H)[y, labels[touched[:, 1]]]
            cost = (cost - self.least) * factor + self.least
            by_plus, by_minus = by_plus * factor, by_minus * factor
        if self.alpha:
            cost, by_plus = cost + self.alpha * H[:, 0], by_plus + self.alpha
        return cost, as_columns(by_plus, by_minus)

    @property
    def least(self) -> float:
        """The cost of a sample with the largest possible margin."""
        return 0.0

    def of_margin(self, d_plus: Array, d_minus: Array) -> tuple[Array, Array, Array]:
        """Cost and its derivatives by d+ and d-."""
        raise NotImplementedError


@dataclass(frozen=True)
class GLVQCost(MarginCost):
    """f(mu) with mu = (d+ - d-)/(d+ + d-) (Sato and Yamada 1996).

    Parameters
    ----------
    alpha : float, default=0.0
        Weight of the regulariser.
    slope : float or "time", default=0.0
        f is the sigmoid 1/(1 + exp(-slope mu)), or the identity with 0. "time" is the number of the online solver's
        step.
    """

    slope: float | Literal["time"] = 0.0

    @property
    def least(self) -> float:
        """f(-1)."""
        assert self.slope != "time"  # batch solvers have no steps
        return -1.0 if not self.slope else float(sigmoid(np.float64(-self.slope)))

    def of_margin(self, d_plus: Array, d_minus: Array) -> tuple[Array, Array, Array]:
        """f(mu), 2 f' d-/(d+ + d-)^2, -2 f' d+/(d+ + d-)^2; all 0 where d+ = d- = 0."""
        xp = namespace(d_plus)
        total = d_plus + d_minus
        safe = xp.where(total > 0, total, xp.ones_like(total))
        mu = (d_plus - d_minus) / safe
        cost, outer = mu, xp.ones_like(mu)
        if self.slope:
            assert self.slope != "time"
            cost = sigmoid(self.slope * mu)
            outer = self.slope * cost * (1 - cost)
        return cost, 2 * outer * (d_minus / safe) / safe, -2 * outer * (d_plus / safe) / safe


@dataclass(frozen=True)
class XiMarginCost(MarginCost):
    """A function of z = xi (d+ - d-).

    Parameters
    ----------
    alpha : float, default=0.0
        Weight of the regulariser.
    xi : float, default=2.0
        Steepness, in units of 1/spread until `scaled`.
    """

    xi: float = 2.0

    def scaled(self, spread: float) -> Self:
        """The same cost with plain numbers instead of multiples of the spread."""
        return replace(super().scaled(spread), xi=self.xi / spread)


@dataclass(frozen=True)
class MCECost(XiMarginCost):
    """Minimum classification error: sigmoid(z)."""

    def of_margin(self, d_plus: Array, d_minus: Array) -> tuple[Array, Array, Array]:
        """s = sigmoid(z), xi s (1 - s), and its negative."""
        cost = sigmoid(self.xi * (d_plus - d_minus))
        slope = self.xi * cost * (1 - cost)
        return cost, slope, -slope


@dataclass(frozen=True)
class LOGMCost(XiMarginCost):
    """Log-likelihood of the margin: log(1 + exp(z)) (Jin et al. 2010)."""

    def of_margin(self, d_plus: Array, d_minus: Array) -> tuple[Array, Array, Array]:
        """log(1 + exp(z)), xi sigmoid(z), and its negative."""
        z = self.xi * (d_plus - d_minus)
        slope = self.xi * sigmoid(z)
        return softplus(z), slope, -slope


@dataclass(frozen=True)
class SoftCost(Part):
    """A function of all distances through P_j = softmax_j(-xi H_j), plus -alpha log sum_own exp(-xi H).

    Parameters
    ----------
    alpha : float, default=0.0
        Weight of the regulariser; the regulariser contains xi, so the weight has no unit.
    xi : float, default=2.0
        Steepness, in units of 1/spread until `scaled`.
    decision : {"nearest", "posterior"}, default="nearest"
        Predict the class of the nearest prototype, as the papers do, or the class of the largest posterior.
    """

    smooth: ClassVar[bool] = True
    alpha: float = 0.0
    xi: float = 2.0
    decision: Literal["nearest", "posterior"] = "nearest"

    def scaled(self, spread: float) -> Self:
        """The same cost with plain numbers instead of multiples of the spread."""
        return replace(self, xi=self.xi / spread)

    def value_and_derivative(self, H: Array, y: Array, labels: Array) -> tuple[Array, DistanceGradient]:
        """Cost of each sample and the derivatives by all distances."""
        xp = namespace(H)
        mine = y[:, None] == labels[None, :]
        exponent = -self.xi * H
        everything = log_sum_exp(exponent)
        own = log_sum_exp(xp.where(mine, exponent, zeros((1,), H) - float("inf")))
        membership = xp.exp(exponent - everything[:, None])
        within = xp.where(mine, xp.exp(xp.where(mine, exponent - own[:, None], xp.zeros_like(H))), xp.zeros_like(H))
        cost, slope = self.of_posterior(own - everything, membership, within, mine)
        return cost - self.alpha * own, DistanceGradient(self.xi * (slope + self.alpha * within))

    def of_posterior(self, log_posterior: Array, membership: Array, within: Array, mine: Array) -> tuple[Array, Array]:
        """Cost and derivative by xi H from log P_y, P_j and P_j/P_y."""
        raise NotImplementedError


@dataclass(frozen=True)
class SNPCCost(SoftCost):
    """Soft nearest prototype classifier: 1 - P_y (Seo and Obermayer 2003; Jin et al. 2010)."""

    def of_posterior(self, log_posterior: Array, membership: Array, within: Array, mine: Array) -> tuple[Array, Array]:
        """1 - P_y; P_j (1 - P_y) for the own class, -P_j P_y for the others."""
        xp = namespace(membership)
        posterior = xp.exp(log_posterior)[:, None]
        return -xp.expm1(log_posterior), xp.where(mine, membership * (1 - posterior), -membership * posterior)


@dataclass(frozen=True)
class RSLVQCost(SoftCost):
    """Robust soft LVQ: -log P_y (Seo and Obermayer 2003)."""

    def of_posterior(self, log_posterior: Array, membership: Array, within: Array, mine: Array) -> tuple[Array, Array]:
        """-log P_y; P_j/P_y - P_j for the own class, -P_j for the others."""
        return -log_posterior, within - membership


@dataclass(frozen=True)
class CrossEntropyCost(Part):
    """Cross-entropy of the classes: -log p_y with p_c = softmax_c(-xi d_c), d_c the smallest H of class c.

    With two classes it is the cost of LOGM. With one prototype per class and a shared metric, the model is multinomial
    logistic regression.

    Parameters
    ----------
    alpha : float, default=0.03
        Weight of the regulariser alpha d_y, in units of 1/spread until `scaled`.
    xi : float, default=2.0
        Steepness, in units of 1/spread until `scaled`.
    cost_matrix : array of shape (n_classes, n_classes), optional
        Cost of predicting the column's class for a sample of the row's class; the diagonal does not count. With m the
        largest cost of the row y, the cost of a sample is m log(1 + sum_c cost[y, c]/m exp(xi (d_y - d_c))), over all
        classes c except y. This is convex in the distances d, close to the expected cost sum_c cost[y, c] p_c where
        that is small, and never below log(2) times the cost of the predicted class. Equal costs give m times the
        cross-entropy; two classes give LOGM's cost times the cost of the mistake. Probabilities of such a model include
        the costs. `LVQClassifier` sets it.
    """

    smooth: ClassVar[bool] = True
    alpha: float = 0.03
    xi: float = 2.0
    cost_matrix: Array | None = field(default=None, kw_only=True, compare=False)

    def scaled(self, spread: float) -> Self:
        """The same cost with plain numbers instead of multiples of the spread."""
        return replace(self, alpha=self.alpha / spread, xi=self.xi / spread)

    def value_and_derivative(self, H: Array, y: Array, labels: Array) -> tuple[Array, DistanceGradient]:
        """Cost of each sample and the derivatives by all distances, 0 except for the nearest prototype of each class.

        A dense product with them is as fast as a scatter of one prototype per class, and simpler.
        """
        starts = class_starts(labels)
        classes = labels[beside(starts, H)]
        place = namespace(H).searchsorted(classes, y)
        if len(starts) == labels.shape[0]:
            cost, slope = self.of_classes(H, place, classes)
            return cost, DistanceGradient(slope)
        nearest, slope = nearest_by_class(H, starts), zeros(H.shape, H)
        cost, by_class = self.of_classes(take_along(H, nearest), place, classes)
        if namespace(H) is np:
            slope[np.arange(len(slope))[:, None], nearest] = by_class
        else:
            slope.scatter_(1, nearest, by_class)
        return cost, DistanceGradient(slope)

    def of_classes(self, d: Array, place: Array, classes: Array) -> tuple[Array, Array]:
        """Cost of each sample and its derivatives, (N, C), from each class's smallest H; `place` is the place of y."""
        xp = namespace(d)
        exponent, factor = self.xi * (xp.amin(d, 1)[:, None] - d), None
        if self.cost_matrix is not None:
            costs = like(beside(self.cost_matrix, d), d)[classes][:, classes]
            exponent, factor = _with_costs(exponent, costs[place], place)
        own = beside(np.arange(len(place)), d), place
        mine, parts = exponent[own], xp.exp(exponent)
        parts[own] = 0
        rivals = parts.sum(1)
        total = rivals + xp.exp(mine)
        cost, slope = xp.log(total) - mine, parts
        slope *= (-self.xi / total)[:, None]
        slope[own] = self.xi * (rivals / total)
        if factor is not None:
            cost, slope = factor * cost, factor[:, None] * slope
        if self.alpha:
            cost = cost + self.alpha * d[own]
            slope[own] += self.alpha
        return cost, slope


def _with_costs(exponent: Array, costs: Array, place: Array) -> tuple[Array, Array]:
    """Exponents plus logarithms of costs relative to each sample's largest, shifted to at most 0; and that cost."""
    xp = namespace(exponent)
    one, never = zeros((1,), exponent) + 1, zeros((1,), exponent) - float("inf")
    put_columns(costs, place, 0)
    largest = xp.amax(costs, 1)
    relative = costs / xp.where(largest > 0, largest, one)[:, None]
    put_columns(relative, place, 1)
    counts = relative > 0
    exponent = xp.where(counts, exponent + xp.log(xp.where(counts, relative, one)), never)
    return exponent - xp.amax(exponent, 1)[:, None], largest


def log_sum_exp(values: Array) -> Array:
    """log sum_j exp(values_ij) of each row, without overflow."""
    xp = namespace(values)
    if xp is not np:
        return xp.logsumexp(values, 1)
    largest = values.max(1)
    return largest + np.log(np.exp(values - largest[:, None]).sum(1))


@dataclass(frozen=True)
class WinnerRule(Part):
    """LVQ1 and OLVQ1 (Kohonen): the winner moves to the sample if its label is correct, else away. Not a gradient."""

    smooth: ClassVar[bool] = False
    own_rates: bool = False


@dataclass(frozen=True)
class WindowRule(Part):
    """LVQ2.1 and LVQ3 (Kohonen): the two nearest prototypes move if the sample lies in a window between them.

    Parameters
    ----------
    window : float, default=0.3
        Relative width of the window.
    epsilon : float, default=0.0
        Above 0 (LVQ3) two nearest prototypes of the true class both move to the sample, at this fraction of the rate.
    """

    smooth: ClassVar[bool] = False
    window: float = 0.3
    epsilon: float = 0.0


CostOrRule: TypeAlias = Cost | WinnerRule | WindowRule  # what a model learns by; only the online solver uses rules


def counts_steps(cost: CostOrRule) -> bool:
    """Whether the cost changes with every step of the online solver: with a slope of "time"."""
    return getattr(cost, "slope", 0) == "time"


#: The costs that a string names, with their defaults.
COSTS: dict[str, MarginCost | SoftCost | CrossEntropyCost] = {
    "glvq": GLVQCost(),
    "mce": MCECost(),
    "logm": LOGMCost(),
    "snpc": SNPCCost(),
    "rslvq": RSLVQCost(),
    "cross_entropy": CrossEntropyCost(),
}
