"""The shortest move of a sample into a region of the model's space.

A move y is measured in the model's metric. The moves after which prototype t is nearer than another, D_t <= D_j, are a
half space; so are those after which the boundary is at a distance of at least theta, D_t + 2 theta |p_j - p_t| <= D_j.
A relative similarity of at least theta, (1 + theta) D_t <= (1 - theta) D_j, and a largest distance to the winner,
D_t <= c^2, give balls. For each prototype t that may win, the point of the intersection that is nearest to the sample
is computed exactly, and the best t is taken:
- half spaces: the projection onto the farthest one, if that lies in all others (always so with two prototypes); else
  least distance programming by non-negative least squares (Lawson and Hanson);
- balls |y|^2 + 2 g y + c <= 0: for a fixed s instead of |y|^2 they are half spaces, whose nearest point has the
  squared length phi(s). phi is convex, and the solution is the smallest s = phi(s), which secants approach from below.
With a kernel the relative similarity is that of the kernel's distances, and with local metrics D_j - D_t is a quadric;
the region is then no intersection of balls, and a local optimum is computed by SLSQP.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, nnls

from lvq.inspection.steps import Floats, Indices
from lvq.model.links import Identity, Link


class Region(NamedTuple):
    """Where prototype t wins: D_t + offset <= D_j for the `rivals` j; and where the prediction is accepted."""

    prototype: int
    rivals: Indices
    offset: Floats
    others: Indices  # prototypes of other classes
    similar: float = 0.0  # least relative similarity to them
    reach: float = np.inf  # largest distance


class Position(NamedTuple):
    """A sample in a model with one metric: D_j(y) = D_j + 2 E_j y + |y|^2 for a move y."""

    D: Floats
    E: Floats
    link: Link

    def distances(self, y: Floats) -> Floats:
        """Squared distances after a move."""
        return np.maximum(self.D + 2 * self.E @ y + y @ y, 0.0)

    def slopes(self, y: Floats) -> Floats:
        """Their gradients by the move."""
        return 2 * (self.E + y)

    def towards(self, prototype: int) -> Floats:
        """The move that ends nearest to a prototype."""
        return -self.E[prototype]


class LocalPosition(NamedTuple):
    """A sample in a model with local metrics: D_j(y) = |e_j + C_j y|^2 for a move y."""

    D: Floats
    e: Floats
    C: Floats
    link: Link

    def distances(self, y: Floats) -> Floats:
        """Squared distances after a move."""
        return ((self.e + self.C @ y) ** 2).sum(axis=1)

    def slopes(self, y: Floats) -> Floats:
        """Their gradients by the move."""
        return 2 * np.einsum("jm,jmr->jr", self.e + self.C @ y, self.C)

    def towards(self, prototype: int) -> Floats:
        """The move that ends nearest to a prototype."""
        return np.linalg.lstsq(self.C[prototype], -self.e[prototype], rcond=None)[0]


class Balls(NamedTuple):
    """Conditions kappa_i |y|^2 + 2 g_i y + c_i <= 0 on a move y: half spaces where kappa is 0, balls otherwise."""

    kappa: Floats
    g: Floats
    c: Floats


def shortest_move(position: Position | LocalPosition, regions: list[Region], margin: float) -> Floats | None:
    """The shortest move into one of the regions; None where there is none."""
    if isinstance(position, LocalPosition):
        moves = [_by_descent(position, region, margin, None) for region in regions]
        return min((y for y in moves if y is not None), key=np.linalg.norm, default=None)
    conditions = [_ball_conditions(position, region, margin) for region in regions]
    starts = [_project(balls, 0.0) for balls in conditions]  # balls replaced by the half spaces that touch them
    bounds = [np.inf if start is None else float(np.linalg.norm(start)) for start in starts]
    best, shortest = None, np.inf
    for at in np.argsort(bounds, kind="stable"):
        if bounds[at] >= shortest:
            break
        y = _into_balls(conditions[at], starts[at])
        if regions[at].similar > 0 and not isinstance(position.link, Identity):
            y = _by_descent(position, regions[at], margin, y)
        if y is not None and np.linalg.norm(y) < shortest:
            best, shortest = y, float(np.linalg.norm(y))
    return best


def _combined(region: Region, D: Floats, H: Floats) -> Floats:
    """Combinations of distances, or of anything linear in them, that with `_constants` are non-negative in a region."""
    t, theta = region.prototype, region.similar
    parts = [D[region.rivals] - D[t]]
    if theta > 0:
        parts.append((1 - theta) * H[region.others] - (1 + theta) * H[t])
    if region.reach < np.inf:
        parts.append(-D[t : t + 1])
    return np.concatenate(parts)


def _constants(region: Region) -> Floats:
    similar = np.zeros(len(region.others) if region.similar > 0 else 0)
    return np.concatenate((-region.offset, similar, [] if region.reach == np.inf else [region.reach**2]))


def _ball_conditions(position: Position, region: Region, margin: float) -> Balls:
    D, E, one = position.D, position.E, np.ones(len(position.D))
    if not isinstance(position.link, Identity):
        region = region._replace(similar=0.0)
    c = margin * D.max() - _combined(region, D, D) - _constants(region)
    return Balls(-_combined(region, one, one), -_combined(region, E, E), c)


def _project(balls: Balls, s: float) -> Floats | None:
    """The shortest y with kappa s + 2 g y + c <= 0, or None where there is none."""
    limit, length = -(balls.c + balls.kappa * s), 2 * np.linalg.norm(balls.g, axis=1)
    flat = length == 0
    if (flat & (limit < 0)).any():
        return None
    normal, limit = 2 * balls.g[~flat] / length[~flat, None], limit[~flat] / length[~flat]
    if (limit >= 0).all():
        return np.zeros(balls.g.shape[1])
    worst = int(limit.argmin())
    unit = -limit[worst]
    y = -unit * normal[worst]
    if (normal @ y <= limit + 1e-12 * unit).all():
        return y
    system = np.vstack((-normal.T, -limit / unit))
    aim = np.append(np.zeros(normal.shape[1]), 1.0)
    residual = system @ nnls(system, aim)[0] - aim
    return None if residual[-1] > -1e-12 else residual[:-1] / -residual[-1] * unit


def _into_balls(balls: Balls, first: Floats | None) -> Floats | None:
    """The shortest y with kappa |y|^2 + 2 g y + c <= 0, from the one with kappa 0; None where there is none."""
    if first is None or not balls.kappa.any():
        return first
    s, gap, y = 0.0, float(first @ first), first
    following = gap  # phi(0) is the first step: it is not beyond the solution either
    for _ in range(100):
        if following <= s * (1 + 1e-13):
            return y
        at = _project(balls, following)
        if at is None:
            return None
        y, rise = at, float(at @ at) - following
        if rise >= gap:  # phi stays above s: the balls have no common point
            return None
        s, gap, following = following, rise, following + max(rise, 0.0) * (following - s) / (gap - rise)
    return y


def _by_descent(
    position: Position | LocalPosition, region: Region, margin: float, start: Floats | None
) -> Floats | None:
    """A short move into a region of any shape, from the best known start."""
    if isinstance(position, Position) and position.E.shape[1] > len(position.E):
        span = np.linalg.svd(position.E, full_matrices=False)[2]  # other directions change all distances equally
        start = None if start is None else span @ start
        y = _by_descent(position._replace(E=position.E @ span.T), region, margin, start)
        return None if y is None else span.T @ y
    conditions = _Conditions(position, region, margin)
    inside = position.towards(region.prototype)
    candidates = [_first_inside(conditions, np.zeros_like(inside) if start is None else start, inside)]
    unit = float(np.linalg.norm(inside)) or 1.0
    for begin in (candidates[0], np.zeros_like(inside)):  # the region may be nearest on another side
        solution = minimize(
            lambda y: 0.5 * (y @ y),
            begin / unit,
            jac=lambda y: y,
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda y: conditions(y * unit),
                "jac": lambda y: conditions.slopes(y * unit) * unit,
            },
            options={"maxiter": 200, "ftol": 1e-14},
        )
        candidates.append(_first_inside(conditions, solution.x * unit, inside))
    return min((y for y in candidates if conditions.hold(y)), key=np.linalg.norm, default=None)


class _Conditions:
    """What must be non-negative inside a region, in units of the largest distance."""

    def __init__(self, position: Position | LocalPosition, region: Region, margin: float) -> None:
        self.position, self.region, self.margin, self.constants = position, region, margin, _constants(region)
        unit, linked_unit = position.D.max(), position.link.value(position.D).max()
        counts = (len(region.rivals), len(region.others) * (region.similar > 0), region.reach < np.inf)
        self.unit = np.repeat([unit, linked_unit, unit], counts)

    def __call__(self, y: Floats) -> Floats:
        D = self.position.distances(y)
        combined = _combined(self.region, D, self.position.link.value(D))
        return (combined + self.constants) / self.unit - self.margin

    def slopes(self, y: Floats) -> Floats:
        """The gradient of each condition by the move."""
        dD = self.position.slopes(y)
        dH = self.position.link.derivative(self.position.distances(y))[:, None] * dD
        return _combined(self.region, dD, dH) / self.unit[:, None]

    def hold(self, y: Floats) -> bool:
        """Whether a move meets the conditions; half the margin is the solver's tolerance."""
        return bool((self(y) >= -self.margin / 2).all())


def _first_inside(conditions: _Conditions, outside: Floats, inside: Floats) -> Floats:
    """The first point between two that meets the conditions, by bisection; the end if none does."""
    if conditions.hold(outside):
        return outside
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if conditions.hold(outside + middle * (inside - outside)) else (middle, high)
    return outside + high * (inside - outside)
