"""Short moves of a sample to where something is reached: another class, or an accepted prediction.

`shortest_move` knows the distances. Prototype t is to be nearer than all prototypes j of other classes,
D_t - D_j <= 0. With one metric these conditions are half spaces, and the shortest move into their intersection is
exact: least distance programming by non-negative least squares (Lawson and Hanson), or with a box the dual problem.
With local metrics each condition is a quadric, and SLSQP finds a local optimum.

`pulled_in` knows only whether a move reaches what is wanted, by the predictions themselves: it is for reject options of
any kind, and for steps that are not linear. It starts from moves that do. The boundary between the sample and such a
move is found by bisection, and its tangent plane by bisections from neighbouring points. The shortest move that is
beyond all tangent planes so far is the next outer point. Where the region is convex this converges to its nearest point
(Veinott 1967); elsewhere the result is a local optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, nnls

from lvq.inspection.steps import Floats, Indices

MARGIN = 1e-9  # how far beyond a boundary, relative to the distances
BISECTIONS, FEW_BISECTIONS = 40, 25  # of a result, and of points that only give a direction
ROUNDS = 20  # of tangent planes
PARTS = 16  # of the way to a result, in which something may be reached earlier
SMALLEST_GAIN = 1e-5  # of the length, at which to stop
MOST_COORDINATES = 100  # up to which boundaries are followed; beyond, moves go along straight lines
ASIDE, ALONG = 1e-5, 0.01  # distances of neighbouring points, and how far the boundary is looked for, by the length

Reached = Callable[[Indices, Floats], NDArray[np.bool_]]  # whether moves of these jobs reach what is wanted


class Distances(NamedTuple):
    """Squared distances of a moved sample to the prototypes, D_j(u) = |e_j + C_j u|^2 + rest_j."""

    e: Floats  # (n_prototypes, rank)
    C: Floats  # (n_prototypes or 1, rank, n_moves)
    rest: Floats | float = 0.0

    def values(self, u: Floats) -> Floats:
        """All distances after a move."""
        return ((self.e + self.C @ u) ** 2).sum(axis=1) + self.rest

    def gaps(self, u: Floats, target: int, rivals: Indices) -> Floats:
        """D_t - D_j for the rivals j."""
        D = self.values(u)
        return D[target] - D[rivals]

    def slopes(self, u: Floats, target: int, rivals: Indices) -> Floats:
        """Their gradients by the move, (n_rivals, n_moves)."""
        C = np.broadcast_to(self.C, (len(self.e), *self.C.shape[1:]))
        image = self.e + self.C @ u
        return 2 * (image[target] @ C[target] - np.einsum("jr,jrn->jn", image[rivals], C[rivals]))

    def towards(self, prototype: int) -> Floats:
        """The move that ends nearest to a prototype."""
        C = self.C[prototype if len(self.C) > 1 else 0]
        return np.linalg.lstsq(C, -self.e[prototype], rcond=None)[0]


def shortest_move(
    distances: Distances,
    target: int,
    rivals: Indices,
    inside: Floats,
    low: Floats,
    high: Floats,
    margin: float = MARGIN,
) -> Floats | None:
    """The shortest move in a box after which the target is nearer than all rivals; None where none was found.

    `inside` is a move that probably meets the conditions.
    """
    zero, beyond = np.zeros(len(low)), margin * float(distances.values(np.zeros(len(low))).max())

    def holds(u: Floats) -> bool:
        return bool((distances.gaps(u, target, rivals) <= -beyond / 2).all())

    if len(distances.C) == 1:
        limit = -beyond - distances.gaps(zero, target, rivals)
        begins = [shortest_in_box(distances.slopes(zero, target, rivals), limit, low, high)]
    elif len(low) <= MOST_COORDINATES:
        # the region may be nearest on another side, so there are two starts
        begins = [_descended(distances, target, rivals, u, low, high, beyond) for u in (inside, zero)]
    else:
        begins = [zero]
    ends = [u if holds(u) or not holds(inside) else _first(holds, u, inside) for u in begins if u is not None]
    return min((u for u in [*ends, inside] if holds(u)), key=np.linalg.norm, default=None)


def _first(holds: Callable[[Floats], bool], outside: Floats, inside: Floats) -> Floats:
    """The point nearest to the outer one of two, between them, that meets the conditions, by bisection."""
    return bisected(outside[None], inside[None], lambda _, rows: np.array([holds(row) for row in rows]))[0]


def _descended(
    distances: Distances, target: int, rivals: Indices, u: Floats, low: Floats, high: Floats, beyond: float
) -> Floats:
    """A short move by SLSQP, which follows curved boundaries."""
    unit = float(np.linalg.norm(u)) or float(np.sqrt(distances.values(u).max())) or 1.0
    scale = float(distances.values(np.zeros(len(u))).max()) or 1.0
    conditions = {
        "type": "ineq",
        "fun": lambda w: -(distances.gaps(w * unit, target, rivals) + beyond) / scale,
        "jac": lambda w: -distances.slopes(w * unit, target, rivals) * unit / scale,
    }
    solution = minimize(
        lambda w: 0.5 * (w @ w), u / unit, jac=lambda w: w, method="SLSQP", constraints=conditions,
        bounds=list(zip(low / unit, high / unit)), options={"maxiter": 200, "ftol": 1e-14},
    )  # fmt: skip
    return np.clip(solution.x * unit, low, high)


def shortest_in_box(G: Floats, h: Floats, low: Floats, high: Floats) -> Floats | None:
    """The shortest u with G u <= h and low <= u <= high, where low <= 0 <= high.

    Where there is none: None without a box, some u in the box with one.

    Examples
    --------
    >>> shortest_in_box(np.array([[-1.0, -1.0]]), np.array([-2.0]), np.zeros(2), np.array([0.5, 9.0])).round(4)
    array([0.5, 1.5])
    """
    length = np.linalg.norm(G, axis=1)
    used = length > 0
    boxed = bool(np.isfinite(low).any() or np.isfinite(high).any())
    if not boxed and (h[~used] < 0).any():
        return None
    G, h = G[used] / length[used, None], h[used] / length[used]
    unit = float(np.abs(h).max(initial=0.0))
    if unit == 0 or (h >= 0).all():
        return np.zeros(len(low))
    if not boxed:
        return _least_distance(G, h)
    h, low, high = h / unit, low / unit, high / unit

    def dual(multipliers: Floats) -> tuple[float, Floats]:
        u = np.clip(-multipliers @ G, low, high)
        excess = G @ u - h
        return -float(0.5 * (u @ u) + multipliers @ excess), -excess

    options = {"maxiter": 500, "maxfun": 2000, "ftol": 1e-15, "gtol": 1e-9}
    bounds = [(0.0, 1e6)] * len(h)
    found = minimize(dual, np.maximum(-h, 0.0), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.clip(-found.x @ G, low, high) * unit


def _least_distance(G: Floats, h: Floats) -> Floats | None:
    """The shortest u with G u <= h, whose rows have length 1; None where there is none."""
    worst = int(h.argmin())
    unit = -h[worst]
    u = -unit * G[worst]
    if (G @ u <= h + 1e-12 * unit).all():
        return u
    system = np.vstack((-G.T, -h / unit))
    aim = np.append(np.zeros(G.shape[1]), 1.0)
    residual = system @ nnls(system, aim)[0] - aim
    return None if residual[-1] > -1e-12 else residual[:-1] / -residual[-1] * unit


def bisected(outside: Floats, inside: Floats, reached: Reached, steps: int = BISECTIONS) -> Floats:
    """For each pair of moves the first between them that reaches what is wanted; the inner ones do."""
    jobs, low, high = np.arange(len(inside)), np.zeros((len(inside), 1)), np.ones((len(inside), 1))
    high[reached(jobs, outside)] = 0.0
    for _ in range(steps):
        middle = (low + high) / 2
        good = reached(jobs, outside + middle * (inside - outside))[:, None]
        low, high = np.where(good, low, middle), np.where(good, middle, high)
    return np.where(high == 1.0, inside, outside + high * (inside - outside))


def pulled_in(ends: Floats, outside: Floats, reached: Reached, low: Floats, high: Floats) -> Floats:
    """Moves that are as short as was found, from some that reach what is wanted; never longer than these.

    Parameters
    ----------
    ends : ndarray of shape (n_jobs, n_coordinates)
        Moves that reach what is wanted.
    outside : ndarray of shape (n_jobs, n_coordinates)
        Shorter ones, to begin with; the origin if nothing better is known.
    reached : callable
        Of the indices of jobs and one move for each.
    low, high : ndarray of shape (n_jobs, n_coordinates)
        Ends of the box of each job.
    """
    start, best = outside, bisected(outside, ends, reached)
    active = np.flatnonzero((best != outside).any(axis=1) & (ends.shape[1] <= MOST_COORDINATES))
    crossing, planes = best.copy(), {job: np.zeros((0, ends.shape[1] + 1)) for job in active.tolist()}
    outside = outside.copy()
    for _ in range(ROUNDS):
        if not len(active):
            break
        of_active = _of_jobs(reached, active)
        normals = _normals(crossing[active], (ends - outside)[active], of_active)
        for job, normal in zip(active.tolist(), normals):
            planes[job] = np.vstack((planes[job], np.append(normal, normal @ crossing[job])))
            nearest = shortest_in_box(-planes[job][:, :-1], -planes[job][:, -1], low[job], high[job])
            outside[job] = best[job] if nearest is None else nearest
        crossing[active] = bisected(outside[active], ends[active], of_active, FEW_BISECTIONS)
        size, bound, shortest = (np.linalg.norm(moves[active], axis=1) for moves in (crossing, outside, best))
        best[active] = np.where((size < shortest)[:, None], crossing[active], best[active])
        # where the region is convex, nothing in it is shorter than the bound
        active = active[(bound < np.minimum(size, shortest) * (1 - SMALLEST_GAIN))]
    return _first_on_the_way(start, best, reached)


def _first_on_the_way(outside: Floats, inside: Floats, reached: Reached) -> Floats:
    """As `bisected`, from the first of several parts of the way whose end reaches what is wanted."""
    fractions = np.arange(1, PARTS + 1) / PARTS
    way = outside[:, None] + fractions[:, None] * (inside - outside)[:, None]
    way[:, -1] = inside
    good = reached(np.repeat(np.arange(len(inside)), PARTS), way.reshape(-1, way.shape[2])).reshape(-1, PARTS)
    first = np.where(good.any(axis=1), good.argmax(axis=1), PARTS - 1)
    jobs = np.arange(len(inside))
    begin = np.where((first > 0)[:, None], way[jobs, first - 1], outside)
    return bisected(begin, way[jobs, first], reached)


def _of_jobs(reached: Reached, jobs: Indices) -> Reached:
    return lambda rows, moves: reached(jobs[rows], moves)


def _normals(points: Floats, ways: Floats, reached: Reached) -> Floats:
    """Normals of the boundary at points, in units in which the way inwards has the component 1."""
    n_jobs, n = points.shape
    size = np.linalg.norm(points, axis=1)[:, None, None]
    ways = (ways / np.linalg.norm(ways, axis=1, keepdims=True))[:, None, :] * size * ALONG
    beside = points[:, None, :] + ASIDE * size * np.eye(n)
    outer, inner = ((beside + sign * ways).reshape(-1, n) for sign in (-1, 1))
    crossing = bisected(outer, inner, lambda rows, moves: reached(rows // n, moves), FEW_BISECTIONS)
    crossing = crossing.reshape(n_jobs, n, n)
    along = ((crossing - beside) * ways).sum(axis=2) / (size[:, :, 0] * ALONG)
    return -along / (ASIDE * size[:, :, 0])
