"""Shortest moves in a box, against a general solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lvq.counterfactuals.boxed_moves import Distances, boxed_move, shortest_in_box


@pytest.mark.parametrize("seed", range(20))
def test_half_spaces_against_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 8)), int(rng.integers(1, 6))
    G, low, high = rng.normal(size=(m, n)), -rng.random(n), rng.random(n)
    inside = rng.uniform(low, high)
    h = G @ inside + 0.1 * rng.random(m)
    found = shortest_in_box(G, h, low, high)
    assert (G @ found <= h + 1e-6).all()
    assert ((low - 1e-12 <= found) & (found <= high + 1e-12)).all()
    solution = minimize(
        lambda u: u @ u, inside, jac=lambda u: 2 * u, method="SLSQP", bounds=list(zip(low, high)),
        constraints={"type": "ineq", "fun": lambda u: h - G @ u, "jac": lambda u: -G}, options={"ftol": 1e-14},
    )  # fmt: skip
    assert found @ found == pytest.approx(solution.fun, abs=1e-6)


@pytest.mark.parametrize("local", [False, True])
def test_moves_are_short_and_meet_the_conditions(local):
    """Against random moves in the box: with one metric none is shorter, with local ones few are."""
    rng, beaten, n_trials = np.random.default_rng(0), 0, 40
    for _ in range(n_trials):
        n, M = 3, 4
        C = rng.normal(size=(M if local else 1, n, n))
        centres = 2 * rng.normal(size=(M, n))
        e = -np.einsum("jrn,jn->jr", np.broadcast_to(C, (M, n, n)), centres)
        distances, rivals = Distances(e, C), np.array([1, 2, 3])
        low, high, start = np.full(n, -6.0), np.full(n, 6.0), np.clip(centres[0], -6, 6)
        if (distances.gaps(start, 0, rivals, 0.0) > 0).any():
            continue
        u = boxed_move(distances, 0, rivals, start, low, high)
        assert (distances.gaps(u, 0, rivals, 0.0) <= 1e-9).all()
        assert np.linalg.norm(u) <= np.linalg.norm(start) + 1e-12
        tries = u * rng.uniform(0.5, 1, size=(3000, 1)) + rng.normal(size=(3000, n)) * rng.choice(
            [0.01, 0.3, 2], (3000, 1)
        )
        tries = np.clip(tries, low, high)
        tries = tries[np.linalg.norm(tries, axis=1) < (1 - 1e-3) * np.linalg.norm(u)]
        beaten += any((distances.gaps(move, 0, rivals, 0.0) <= 0).all() for move in tries)
    assert beaten <= (n_trials // 8 if local else 0)


def test_slopes_are_those_of_the_gaps():
    rng = np.random.default_rng(0)
    for C in (rng.normal(size=(1, 2, 3)), rng.normal(size=(4, 2, 3))):
        distances, rivals, u = Distances(rng.normal(size=(4, 2)), C), np.array([1, 3]), rng.normal(size=3)
        slopes = distances.slopes(u, 0, rivals)
        for k, step in enumerate(1e-6 * np.eye(3)):
            ends = (distances.gaps(u + sign * step, 0, rivals, 0.0) for sign in (1, -1))
            np.testing.assert_allclose(slopes[:, k], np.subtract(*ends) / 2e-6, atol=1e-6)
