"""The shortest move of a sample to another class inside a box: each coordinate of the move has a lower and upper end.

Prototype t is to be nearer than all prototypes j of classes that are not allowed: D_t - D_j <= 0. With one metric these
conditions are half spaces, and the shortest move in their intersection with the box is found by its dual problem, whose
size is the number of conditions: u = clip(-G'lambda) for the multipliers lambda. With local metrics D_t - D_j is a
quadric; it is replaced by its tangent at a move that meets the conditions, again and again. Each new move is a
combination of the last one and of the shortest one of the tangents, so it is not longer. With few coordinates SLSQP
then follows the curved boundaries. The result is a local optimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from lvq.inspection.steps import Floats, Indices

ROUNDS = 15  # of tangents
STEPS = 30  # of bisections between two moves
LARGEST_DESCENT = 100  # coordinates up to which boundaries are followed
SMALLEST_GAIN = 1e-6  # of the length, at which to stop


class Distances(NamedTuple):
    """Squared distances of a moved sample to the prototypes, D_j(u) = |e_j + C_j u|^2."""

    e: Floats  # (n_prototypes, rank)
    C: Floats  # (n_prototypes or 1, rank, n_moves)

    def gaps(self, u: Floats, target: int, rivals: Indices, margin: float) -> Floats:
        """D_t - D_j + margin for the rivals j."""
        D = ((self.e + self.C @ u) ** 2).sum(axis=1)
        return D[target] - D[rivals] + margin

    def slopes(self, u: Floats, target: int, rivals: Indices) -> Floats:
        """Their gradients by the move, (n_rivals, n_moves)."""
        C = np.broadcast_to(self.C, (len(self.e), *self.C.shape[1:]))
        image = self.e + self.C @ u
        return 2 * (image[target] @ C[target] - np.einsum("jr,jrn->jn", image[rivals], C[rivals]))


def boxed_move(distances: Distances, target: int, rivals: Indices, start: Floats, low: Floats, high: Floats) -> Floats:
    """A move that is as short as was found, from one that meets the conditions; never longer than that one."""
    margin = 1e-9 * float((distances.e**2).sum(axis=1).max())
    u = start
    for _ in range(ROUNDS):
        gaps, slopes = distances.gaps(u, target, rivals, margin), distances.slopes(u, target, rivals)
        v = shortest_in_box(slopes, slopes @ u - gaps, low, high)
        fraction = _largest_fraction(distances, target, rivals, u, v, margin)
        before, u = np.linalg.norm(u), u + fraction * (v - u)
        if len(distances.C) == 1 or np.linalg.norm(u) > (1 - SMALLEST_GAIN) * before:
            break
    if len(distances.C) == 1 or len(u) > LARGEST_DESCENT:
        return u
    return _along_the_boundary(distances, target, rivals, u, low, high, margin)


def _along_the_boundary(
    distances: Distances, target: int, rivals: Indices, u: Floats, low: Floats, high: Floats, margin: float
) -> Floats:
    """A shorter move by SLSQP, which follows curved boundaries, where it finds one."""
    unit, scale = float(np.linalg.norm(u)) or 1.0, float((distances.e**2).sum(axis=1).max()) or 1.0
    conditions = {
        "type": "ineq",
        "fun": lambda w: -distances.gaps(w * unit, target, rivals, margin) / scale,
        "jac": lambda w: -distances.slopes(w * unit, target, rivals) * unit / scale,
    }
    solution = minimize(
        lambda w: 0.5 * (w @ w), u / unit, jac=lambda w: w, method="SLSQP", constraints=conditions,
        bounds=list(zip(low / unit, high / unit)), options={"maxiter": 100, "ftol": 1e-10},
    )  # fmt: skip
    v = np.clip(solution.x * unit, low, high)
    shorter = u + _largest_fraction(distances, target, rivals, u, v, margin) * (v - u)
    return shorter if np.linalg.norm(shorter) < np.linalg.norm(u) else u


def _largest_fraction(distances: Distances, target: int, rivals: Indices, u: Floats, v: Floats, margin: float) -> float:
    """How far one can go from u to v while the conditions hold, by bisection; all the way where they hold there."""

    def holds(fraction: float) -> bool:
        return bool((distances.gaps(u + fraction * (v - u), target, rivals, margin) <= margin / 2).all())

    if holds(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def shortest_in_box(G: Floats, h: Floats, low: Floats, high: Floats) -> Floats:
    """The shortest u with G u <= h and low <= u <= high, where low <= 0 <= high.

    Where there is none, some u in the box.

    Examples
    --------
    >>> shortest_in_box(np.array([[-1.0, -1.0]]), np.array([-2.0]), np.zeros(2), np.array([0.5, 9.0])).round(4)
    array([0.5, 1.5])
    """
    length = np.linalg.norm(G, axis=1)
    used = length > 0
    G, h = G[used] / length[used, None], h[used] / length[used]
    unit = float(np.abs(h).max(initial=0.0))
    if unit == 0 or (h >= 0).all():
        return np.zeros(len(low))
    h, low, high = h / unit, low / unit, high / unit

    def dual(multipliers: Floats) -> tuple[float, Floats]:
        u = np.clip(-multipliers @ G, low, high)
        excess = G @ u - h
        return -float(0.5 * (u @ u) + multipliers @ excess), -excess

    options = {"maxiter": 500, "maxfun": 2000, "ftol": 1e-15, "gtol": 1e-9}
    bounds = [(0.0, 1e6)] * len(h)
    found = minimize(dual, np.maximum(-h, 0.0), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.clip(-found.x @ G, low, high) * unit
