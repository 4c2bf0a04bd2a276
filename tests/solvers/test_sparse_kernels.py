"""The compiled step on sparse rows against the plain formula, also for steps as long as the way and longer."""

import numpy as np
import pytest
from scipy import sparse

from lvq.model.relevance import Relevance
from lvq.solvers.kernels import sparse as kernels
from tests.solvers.test_kernels import ALL_COSTS, LINKS, RULES, Problem, assert_close


def sparse_problem(seed):
    problem = Problem(seed, Relevance(), n_features=8)
    problem.X[np.random.default_rng(seed).random(problem.X.shape) < 0.6] = 0.0
    problem.sparse = True
    return problem


@pytest.mark.parametrize("schedule", ["constant", "linear"])
@pytest.mark.parametrize("cost", ALL_COSTS)
def test_every_cost_on_sparse_rows_update_by_update(reference, cost, schedule):
    part, spec, settings = ALL_COSTS[cost]
    problem = sparse_problem(0)
    for count in (1, 2, 5, 13):
        more = {"schedule": schedule, "horizon": 2 * count}
        sums = np.zeros(2)
        for done, state in enumerate(problem.slow(reference, spec, count=count, n_epochs=2, **more)):
            sums[done // count] += state.cost * problem.weight[done % count]
        result = problem.compiled(part, LINKS["identity"][0], settings, count=count, max_iter=2, schedule=schedule)
        assert_close(result, state, f"{count} samples", tolerance=1e-9)
        np.testing.assert_allclose(result.history, sums / problem.weight[:count].sum(), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("cost", [cost for cost in ALL_COSTS if cost not in RULES])
def test_kernels_and_their_widths_on_sparse_rows(reference, cost):
    part, spec, settings = ALL_COSTS[cost]
    problem = sparse_problem(1)
    for name, (link, link_spec) in LINKS.items():
        if name == "identity":
            continue
        *_, state = problem.slow(reference, spec | link_spec, 1.7, width_rate=problem.rate)
        result = problem.compiled(part, link, settings, width=1.7)
        assert_close(result, state, name, tolerance=1e-9)
        assert state.width != 1.7


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_moves_follow_the_formula(dtype):
    """Steps of 1 make the scale zero; many long steps take it out of the range in which V keeps its digits."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array((rng.random((40, 15)) * (rng.random((40, 15)) < 0.3)).astype(dtype))
    W = rng.normal(size=(3, 15))
    V, scales = np.array(W.T, dtype=dtype, order="C"), np.ones(3)
    lengths = kernels._squared_lengths(V)
    products = np.zeros(3)
    for change in (0.3, 1.0, -0.5, 1.7, 1e-3, *[0.9] * 12, *[-1.5] * 12, 1.0, 0.2):
        for j in range(3):
            i = rng.integers(40)
            inside = slice(X.indptr[i], X.indptr[i + 1])
            values, columns = X.data[inside], X.indices[inside]
            square = kernels._products(values, columns, V, scales, products)
            x = X[[i]].toarray()[0].astype(np.float64)
            size = max(1.0, np.abs(W[j]).max())
            tolerance = (1e-9 if dtype == np.float64 else 1e-3) * size**2
            assert square == pytest.approx(x @ x, abs=1e-6)
            assert products[j] == pytest.approx(W[j] @ x, abs=tolerance)
            lengths[j] = kernels._length_after(lengths[j], change, products[j], square)
            kernels._move(values, columns, V, scales, j, change)
            W[j] += change * (x - W[j])
            assert lengths[j] == pytest.approx(W[j] @ W[j], rel=1e-6 if dtype == np.float64 else 1e-2, abs=tolerance)
    near = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(V.T * scales[:, None], W, rtol=near, atol=near)
