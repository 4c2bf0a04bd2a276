"""Radial kernels as links, and `Part`, the base class of all parts that a user can set.

A link is a scalar function g of the squared distance D, and its derivative g'.

A kernel k(v, w) = h(D / width^2) with h(0) = 1 induces the squared distance H = 2 - 2 h, so learning with a kernel is
learning with H instead of D (Kaestner et al. 2012). Every kernel here is a function of D / width^2 alone, hence
dH/dlog(width) = -2 D g'(D) for all of them. Links are increasing, so the nearest prototype stays the nearest.
"""

from dataclasses import dataclass, fields, replace
from typing import Literal, Protocol, Self

from lvq.model.rows import namespace
from lvq.typing import Argument, Array


class Part:
    """A frozen dataclass whose fields are parameters, as scikit-learn's searches and `clone` expect them.

    Examples
    --------
    >>> from lvq.model.relevance import Matrix
    >>> Matrix(rank=2).get_params()["rank"]
    2
    """

    def get_params(self, deep: bool = True) -> dict[str, Argument]:
        """The parameters by name; `deep` is for scikit-learn and changes nothing."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}  # type: ignore[arg-type]

    def set_params(self, **params: Argument) -> Self:
        """Change parameters; a fitted model has its own copies and does not change."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {sorted(known)}.")
            object.__setattr__(self, name, value)
        return self


class Link(Protocol):
    """Interface of a link; any object with these two methods can be used."""

    def value(self, distances: Array) -> Array:
        """H = g(D)."""

    def derivative(self, distances: Array) -> Array:
        """g'(D)."""


@dataclass(frozen=True)
class Identity(Part):
    """No kernel: H = D."""

    def value(self, distances: Array) -> Array:
        """H = D."""
        return distances

    def derivative(self, distances: Array) -> Array:
        """One everywhere."""
        return namespace(distances).ones_like(distances)


@dataclass(frozen=True)
class Kernel(Part):
    """A radial kernel.

    Parameters
    ----------
    width : float, "auto" or "learned", default="auto"
        The length on which the kernel falls off. "auto" is the root of the mean smallest squared distance at the start,
        "learned" starts there and follows the gradient; a fitted model has a number.
    """

    width: float | Literal["auto", "learned"] = "auto"

    def with_width(self, width: float) -> Self:
        """The same kernel with another width."""
        return replace(self, width=width)

    def value(self, distances: Array) -> Array:
        """H = 2 - 2 h(D / width^2)."""
        return self._value(distances / self._square)

    def derivative(self, distances: Array) -> Array:
        """dH/dD."""
        return self._derivative(distances / self._square) / self._square

    @property
    def _square(self) -> float:
        assert not isinstance(self.width, str)  # a fit has set a number
        return self.width**2

    def _value(self, ratio: Array) -> Array:
        raise NotImplementedError

    def _derivative(self, ratio: Array) -> Array:
        raise NotImplementedError


@dataclass(frozen=True)
class Gaussian(Kernel):
    """h(r) = exp(-r/2).

    Examples
    --------
    >>> import numpy as np
    >>> Gaussian(width=2.0).value(np.array([0.0, 8.0])).round(3).tolist()
    [0.0, 1.264]
    """

    def _value(self, ratio: Array) -> Array:
        return -2 * namespace(ratio).expm1(-ratio / 2)

    def _derivative(self, ratio: Array) -> Array:
        return namespace(ratio).exp(-ratio / 2)


@dataclass(frozen=True)
class Cauchy(Kernel):
    """h(r) = 1/(1 + r)."""

    def _value(self, ratio: Array) -> Array:
        return 2 * ratio / (1 + ratio)

    def _derivative(self, ratio: Array) -> Array:
        return 2 / (1 + ratio) / (1 + ratio)


@dataclass(frozen=True)
class InverseMultiquadric(Kernel):
    """h(r) = (1 + r)^(-1/2)."""

    def _value(self, ratio: Array) -> Array:
        xp = namespace(ratio)
        return -2 * xp.expm1(-xp.log1p(ratio) / 2)

    def _derivative(self, ratio: Array) -> Array:
        return (1 + ratio) ** -1.5


@dataclass(frozen=True)
class RationalQuadratic(Kernel):
    """h(r) = (1 + r/(2 shape))^(-shape).

    Parameters
    ----------
    width : float, "auto" or "learned", default="auto"
        The length on which the kernel falls off, as in `Kernel`.
    shape : float, default=1.0
        The larger, the closer to the Gaussian.
    """

    shape: float = 1.0

    def _value(self, ratio: Array) -> Array:
        xp = namespace(ratio)
        shape = float(self.shape)  # NumPy's numbers would change the type of float32 distances
        return -2 * xp.expm1(-shape * xp.log1p(ratio / (2 * shape)))

    def _derivative(self, ratio: Array) -> Array:
        shape = float(self.shape)
        return (1 + ratio / (2 * shape)) ** (-shape - 1)


#: The kernels that a string names, with their defaults.
KERNELS: dict[str, Kernel] = {
    "gaussian": Gaussian(),
    "cauchy": Cauchy(),
    "inverse_multiquadric": InverseMultiquadric(),
    "rational_quadratic": RationalQuadratic(),
}
