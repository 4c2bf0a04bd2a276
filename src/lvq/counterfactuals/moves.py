"""Short moves of a sample to where something is reached: another class, or an accepted prediction.

`least_distance` is exact for half spaces: least distance programming by non-negative least squares (Lawson and Hanson).

`pulled_in` knows only whether a move reaches what is wanted, by the predictions themselves: it is for any metric, any
reject option and any step before a model. It starts from moves that do. The boundary between the
sample and such a move is found by bisection, and its tangent plane by bisections from neighbouring points. The shortest
move that is beyond all tangent planes so far is the next outer point. Where the region is convex this converges to its
nearest point (Veinott 1967); elsewhere the result is a local optimum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from lvq.inspection.steps import Indices
from lvq.typing import Floats

BISECTIONS = 40
ROUNDS = 20  # of tangent planes
PARTS = 16  # of the way to a result, in which something may be reached earlier
SMALLEST_GAIN = 1e-6  # of the length, at which to stop
MOST_COORDINATES = 100  # up to which boundaries are followed; beyond, moves go along straight lines
ASIDE, ALONG = 1e-6, 0.01  # distances of neighbouring points, and how far the boundary is looked for, by the length

Reached = Callable[[Indices, Floats], NDArray[np.bool_]]  # whether moves of these jobs reach what is wanted


def least_distance(G: Floats, h: Floats) -> Floats | None:
    """The shortest u with G u <= h; None where there is none.

    Examples
    --------
    >>> least_distance(np.array([[-1.0, -1.0], [1.0, 0.0]]), np.array([-2.0, 0.5])).round(4)
    array([0.5, 1.5])
    """
    length = np.linalg.norm(G, axis=1)
    if (h[length == 0] < 0).any():
        return None
    used = (length > 0) & (h < np.inf)
    G, h = G[used] / length[used, None], h[used] / length[used]
    unit = -float(h.min(initial=0.0))
    if unit == 0:
        return np.zeros(G.shape[1])
    u = h.min() * G[h.argmin()]
    if (G @ u <= h + 1e-12 * unit).all():
        return u
    system = np.vstack((-G.T, -h / unit))
    aim = np.append(np.zeros(G.shape[1]), 1.0)
    residual = system @ nnls(system, aim)[0] - aim
    return None if residual[-1] > -1e-12 else residual[:-1] / -residual[-1] * unit


def bisected(outside: Floats, inside: Floats, reached: Reached) -> Floats:
    """For each pair of moves the first between them that reaches what is wanted; the inner ones do."""
    jobs, low, high = np.arange(len(inside)), np.zeros((len(inside), 1)), np.ones((len(inside), 1))
    high[reached(jobs, outside)] = 0.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        good = reached(jobs, outside + middle * (inside - outside))[:, None]
        low, high = np.where(good, low, middle), np.where(good, middle, high)
    return np.where(high == 1.0, inside, outside + high * (inside - outside))


def pulled_in(ends: Floats, reached: Reached, low: Floats, high: Floats) -> Floats:
    """Moves that are as short as was found, from some that reach what is wanted; never longer than these.

    Parameters
    ----------
    ends : ndarray of shape (n_jobs, n_coordinates)
        Moves that reach what is wanted.
    reached : callable
        Indices of jobs and one move for each.
    low, high : ndarray of shape (n_jobs, n_coordinates)
        Ends of the box of each job.
    """
    outside = np.zeros_like(ends)
    best = bisected(outside, ends, reached)
    active = np.flatnonzero((best != 0).any(axis=1) & (ends.shape[1] <= MOST_COORDINATES))
    # half spaces G u <= h of each job as rows of (G, h): the box, and then the tangent planes
    planes = {job: _box(low[job], high[job]) for job in active.tolist()}
    crossing = best.copy()
    for _ in range(ROUNDS):
        if not len(active):
            break
        of_active = _of_jobs(reached, active)
        normals = _normals(crossing[active], (ends - outside)[active], of_active)
        for job, normal in zip(active.tolist(), normals):
            planes[job] = np.vstack((planes[job], -np.append(normal, normal @ crossing[job])))
            nearest = least_distance(planes[job][:, :-1], planes[job][:, -1])
            outside[job] = best[job] if nearest is None else np.clip(nearest, low[job], high[job])
        crossing[active] = bisected(outside[active], ends[active], of_active)
        size, bound, shortest = (np.linalg.norm(moves[active], axis=1) for moves in (crossing, outside, best))
        best[active] = np.where((size < shortest)[:, None], crossing[active], best[active])
        # where the region is convex, nothing in it is shorter than the bound
        active = active[(bound < np.minimum(size, shortest) * (1 - SMALLEST_GAIN))]
    return _first_on_the_way(best, reached)


def _box(low: Floats, high: Floats) -> Floats:
    axes = np.eye(len(low))
    return np.column_stack((np.vstack((axes, -axes)), np.append(high, -low)))


def _first_on_the_way(moves: Floats, reached: Reached) -> Floats:
    """The first part of each move that reaches what is wanted."""
    way = np.arange(1, PARTS + 1)[:, None] / PARTS * moves[:, None]
    jobs = np.arange(len(moves))
    good = reached(np.repeat(jobs, PARTS), way.reshape(-1, way.shape[2])).reshape(-1, PARTS)
    first = np.where(good.any(axis=1), good.argmax(axis=1), PARTS - 1)
    begin = np.where((first > 0)[:, None], way[jobs, first - 1], 0.0)
    return bisected(begin, way[jobs, first], reached)


def _of_jobs(reached: Reached, jobs: Indices) -> Reached:
    return lambda rows, moves: reached(jobs[rows], moves)


def _normals(points: Floats, ways: Floats, reached: Reached) -> Floats:
    """Normals of the boundary at points, in units in which the way inwards has the component 1."""
    n = points.shape[1]
    size = np.linalg.norm(points, axis=1)[:, None, None]
    ways = (ways / np.linalg.norm(ways, axis=1, keepdims=True))[:, None, :] * size * ALONG
    beside = points[:, None, :] + ASIDE * size * np.eye(n)
    outer, inner = ((beside + sign * ways).reshape(-1, n) for sign in (-1, 1))
    crossing = bisected(outer, inner, lambda rows, moves: reached(rows // n, moves)).reshape(beside.shape)
    along = ((crossing - beside) * ways).sum(axis=2) / (size[:, :, 0] * ALONG)
    return -along / (ASIDE * size[:, :, 0])
