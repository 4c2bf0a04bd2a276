"""Shortest moves in a box, against a general solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lvq.counterfactuals.moves import Distances, pulled_in, shortest_in_box, shortest_move


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
        if (distances.gaps(start, 0, rivals) > 0).any():
            continue
        u = shortest_move(distances, 0, rivals, start, low, high)
        assert (distances.gaps(u, 0, rivals) <= 1e-9).all()
        assert np.linalg.norm(u) <= np.linalg.norm(start) + 1e-12
        tries = u * rng.uniform(0.5, 1, size=(3000, 1)) + rng.normal(size=(3000, n)) * rng.choice(
            [0.01, 0.3, 2], (3000, 1)
        )
        tries = np.clip(tries, low, high)
        tries = tries[np.linalg.norm(tries, axis=1) < (1 - 1e-3) * np.linalg.norm(u)]
        beaten += any((distances.gaps(move, 0, rivals) <= 0).all() for move in tries)
    assert beaten <= (n_trials // 8 if local else 0)


def test_slopes_are_those_of_the_gaps():
    rng = np.random.default_rng(0)
    for C in (rng.normal(size=(1, 2, 3)), rng.normal(size=(4, 2, 3))):
        distances, rivals, u = Distances(rng.normal(size=(4, 2)), C), np.array([1, 3]), rng.normal(size=3)
        slopes = distances.slopes(u, 0, rivals)
        for k, step in enumerate(1e-6 * np.eye(3)):
            ends = (distances.gaps(u + sign * step, 0, rivals) for sign in (1, -1))
            np.testing.assert_allclose(slopes[:, k], np.subtract(*ends) / 2e-6, atol=1e-6)


@pytest.mark.parametrize("boxed", [False, True])
def test_moves_into_convex_regions_that_only_predictions_know(boxed):
    """The nearest point of an intersection of balls and half spaces, with corners, against a general solver."""
    rng, n, n_jobs = np.random.default_rng(1), 4, 12
    centres, normals = rng.normal(size=(n_jobs, 3, n)) + 3, np.abs(rng.normal(size=(n_jobs, 2, n)))
    ends = centres.mean(axis=1)
    radii = 1.1 * np.linalg.norm(centres - ends[:, None], axis=2).max(axis=1)
    limits = np.einsum("jkn,jn->jk", normals, ends) - 0.3

    def margins(job, u):
        balls = radii[job] ** 2 - ((u - centres[job]) ** 2).sum(axis=1)
        return np.concatenate((balls, normals[job] @ u - limits[job]))

    def reached(jobs, moves):
        return np.array([(margins(job, u) >= 0).all() for job, u in zip(jobs, moves)])

    low = np.full((n_jobs, n), -np.inf)
    high = np.maximum(ends, 0) + 0.1 if boxed else -low
    found = pulled_in(ends, np.zeros_like(ends), reached, np.minimum(ends, 0) if boxed else low, high)
    assert reached(range(n_jobs), found).all()
    for job, u in enumerate(found):
        solution = minimize(
            lambda v: v @ v, ends[job], jac=lambda v: 2 * v, method="SLSQP",
            bounds=list(zip(np.minimum(ends, 0)[job], high[job])) if boxed else None,
            constraints={"type": "ineq", "fun": lambda v, job=job: margins(job, v)},
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        assert np.linalg.norm(u) == pytest.approx(np.sqrt(solution.fun), rel=1e-3)
        if boxed:
            assert (u <= high[job] + 1e-9).all()
