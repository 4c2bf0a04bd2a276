"""Shortest moves in a box, against a general solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lvq.counterfactuals.moves import pulled_in


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
    found = pulled_in(ends, reached, np.minimum(ends, 0) if boxed else low, high)
    assert reached(range(n_jobs), found).all()
    for job, u in enumerate(found):
        solution = minimize(
            lambda v: v @ v, ends[job], jac=lambda v: 2 * v, method="SLSQP",
            bounds=list(zip(np.minimum(ends, 0)[job], high[job])) if boxed else None,
            constraints={"type": "ineq", "fun": lambda v, job=job: margins(job, v)},
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        assert np.linalg.norm(u) == pytest.approx(np.sqrt(solution.fun), rel=2e-5 if boxed else 2e-6)
        if boxed:
            assert (u <= high[job] + 1e-9).all()
