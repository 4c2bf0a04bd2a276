"""Costs: a row of distances H and the true class -> one number, and its derivative by every distance.

Contract: `value_and_derivative(H, y, labels) -> (cost of each sample, DistanceGradient)`; `smooth` is true where that
is a gradient. y and labels are class indices; labels ascend. `d+` is the smallest H among the prototypes of the true
class, `d-` the smallest among all others; ties go to the lowest index. `scaled(spread)` converts parameters in units of
the data's spread (the mean smallest H at the start) to absolute values.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol, Self, TypeAlias

import numpy as np
from scipy.special import expit

from lvq.model.arrays import as_columns, first_argmin, namespace, take_columns, zeros
from lvq.model.metrics import DistanceGradient
from lvq.model.pairs import NearestPair
from lvq.typing import Array


class Cost(Protocol):
    """Interface of a cost; any object with these members can be used."""

    smooth: ClassVar[bool]

    def value_and_derivative(self, H: Array, y: Array, labels: Array) -> tuple[Array, DistanceGradient]:
        """Cost of each sample and dE/dH."""


def nearest_pair(H: Array, y: Array, labels: Array) -> NearestPair:
    """Find d+ and d- and the indices of their prototypes.

    Examples
    --------
    >>> import numpy as np
    >>> pair = nearest_pair(np.array([[3.0, 1.0, 2.0]]), np.array([0]), np.array([0, 1, 1]))
    >>> int(pair.own[0]), int(pair.other[0]), float(pair.d_plus[0]), float(pair.d_minus[0])
    (0, 1, 3.0, 1.0)
    """
    xp = namespace(H)
    mine = y[:, None] == labels[None, :]
    nowhere = zeros((1,), H) + float("inf")
    own = first_argmin(xp.where(mine, H, nowhere))
    other = first_argmin(xp.where(mine, nowhere, H))
    return NearestPair(own, other, take_columns(H, own), take_columns(H, other))


def sigmoid(z: Array) -> Array:
    """1/(1 + exp(-z)) without overflow."""
    return expit(z) if namespace(z) is np else namespace(z).sigmoid(z)


def softplus(z: Array) -> Array:
    """log(1 + exp(z)) without overflow."""
    xp = namespace(z)
    return np.logaddexp(0, z) if xp is np else xp.logaddexp(xp.zeros_like(z), z)


@dataclass(frozen=True)
class MarginCost:
    """A function of d+ and d- alone, plus the regulariser alpha d+ (Jin et al. 2010, Eq. 14).

    Parameters
    ----------
    alpha : float, default=0.0
        Weight of the regulariser, in units of 1/spread until `scaled`.
    prices : array of shape (n_classes, n_classes), optional
        Price of predicting the column's class for a sample of the row's class; each sample's cost is multiplied by the
        price of the class of its nearest other prototype.
    """

    smooth: ClassVar[bool] = True
    alpha: float = 0.0
    prices: Array | None = field(default=None, kw_only=True, compare=False)

    def scaled(self, spread: float) -> Self:
        """The same cost with plain numbers in place of multiples of the spread."""
        return replace(self, alpha=self.alpha / spread)

    def value_and_derivative(self, H: Array, y: Array, labels: Array) -> tuple[Array, DistanceGradient]:
        """Cost of each sample and its two derivatives."""
        pair = nearest_pair(H, y, labels)
        cost, by_plus, by_minus = self.regularised(pair.d_plus, pair.d_minus, self.price(y, labels, pair.other))
        return cost, DistanceGradient(as_columns(by_plus, by_minus), as_columns(pair.own, pair.other))

    def price(self, y: Array, labels: Array, other: Array) -> Array | None:
        """Price of predicting the class of each sample's nearest other prototype."""
        return None if self.prices is None else self.prices[y, labels[other]]

    def regularised(self, d_plus: Array, d_minus: Array, price: Array | None = None) -> tuple[Array, Array, Array]:
        """Cost with price and regulariser, and its derivatives by d+ and d-."""
        cost, by_plus, by_minus = self.of_margin(d_plus, d_minus)
        if price is not None:
            cost = (cost - self.least) * price + self.least
            by_plus, by_minus = by_plus * price, by_minus * price
        if self.alpha == 0:
            return cost, by_plus, by_minus
        return cost + self.alpha * d_plus, by_plus + self.alpha, by_minus

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
    slope : float, default=0.0
        f is the sigmoid 1/(1 + exp(-slope mu)); with 0 the identity.
    """

    slope: float = 0.0

    @property
    def least(self) -> float:
        """f(-1)."""
        return -1.0 if not self.slope else float(sigmoid(np.float64(-self.slope)))

    def of_margin(self, d_plus: Array, d_minus: Array) -> tuple[Array, Array, Array]:
        """f(mu), 2 f' d-/(d+ + d-)^2, -2 f' d+/(d+ + d-)^2; all 0 where d+ = d- = 0."""
        xp = namespace(d_plus)
        total = d_plus + d_minus
        safe = xp.where(total > 0, total, xp.ones_like(total))
        mu = (d_plus - d_minus) / safe
        cost, outer = mu, xp.ones_like(mu)
        if self.slope:
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
        """The same cost with plain numbers in place of multiples of the spread."""
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
class SoftCost:
    """A function of all distances through P_j = softmax_j(-xi H_j), plus -alpha log sum_own exp(-xi H).

    Parameters
    ----------
    alpha : float, default=0.0
        Weight of the regulariser; the regulariser contains xi, so the weight has no unit.
    xi : float, default=2.0
        Steepness, in units of 1/spread until `scaled`.
    """

    smooth: ClassVar[bool] = True
    alpha: float = 0.0
    xi: float = 2.0

    def scaled(self, spread: float) -> Self:
        """The same cost with plain numbers in place of multiples of the spread."""
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


def log_sum_exp(values: Array) -> Array:
    """log sum_j exp(values_ij) of each row, without overflow."""
    xp = namespace(values)
    if xp is not np:
        return xp.logsumexp(values, 1)
    largest = values.max(1)
    return largest + np.log(np.exp(values - largest[:, None]).sum(1))


@dataclass(frozen=True)
class WinnerRule:
    """LVQ1 and OLVQ1 (Kohonen): the winner moves to the sample if its label is correct, else away. Not a gradient."""

    smooth: ClassVar[bool] = False
    own_rates: bool = False


@dataclass(frozen=True)
class WindowRule:
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

COSTS: dict[str, type[MarginCost] | type[SoftCost]] = {
    "glvq": GLVQCost,
    "mce": MCECost,
    "logm": LOGMCost,
    "snpc": SNPCCost,
    "rslvq": RSLVQCost,
}
