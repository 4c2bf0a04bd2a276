"""Parts of the loop for matrices against products of arrays, and the limits of its steps."""

import numpy as np
import pytest

from lvq.solvers.kernels import matrices


def plain(function):
    """The function as Python runs it."""
    return getattr(function, "py_func", function)


def vectors(seed, rank, features):
    rng = np.random.default_rng(seed)
    omega, u, v = rng.normal(size=(rank, features)), rng.normal(size=features), rng.normal(size=features)
    return omega, omega @ u, u, omega @ v, v


@pytest.mark.parametrize("rank", [1, 3, 4, 5, 8, 11])
def test_products_are_those_of_the_matrix(rank):
    """Around the four rows that are computed together."""
    omega, a, u, _, _ = vectors(rank, rank, 6)
    out, back = np.full(rank, 9.0), np.full(6, 9.0)
    plain(matrices._project)(omega, u, out)
    np.testing.assert_allclose(out, omega @ u, rtol=1e-12)
    plain(matrices._pull_back)(omega, a, back)
    np.testing.assert_allclose(back, omega.T @ a, rtol=1e-12)


@pytest.mark.parametrize(("low", "high"), [(0, 6), (1, 6), (2, 3), (3, 3)])
def test_projections_of_a_range_of_prototypes_follow_the_step(low, high):
    omega, a, u, _, _ = vectors(1, 3, 5)
    W = np.random.default_rng(2).normal(size=(6, 5))
    P = W @ omega.T
    expected = P.copy()
    expected[low:high] = W[low:high] @ (omega - 0.3 * np.outer(a, u)).T
    matrices._follow(W, P, low, high, 0.3, a, u)
    np.testing.assert_allclose(P, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("grows", [True, False])
@pytest.mark.parametrize("touched", [[2], [2, 0], [3, 1, 0], [0, 1, 2, 3]])
def test_a_step_is_a_product_for_each_touched_prototype(touched, grows):
    """With missing values the columns change first."""
    omega, *_ = vectors(1, 3, 5)
    rng = np.random.default_rng(3)
    E, A, steps, squares = rng.normal(size=(4, 5)), rng.normal(size=(4, 3)), 0.1 * rng.normal(size=4), np.ones(5)
    columns = 0.1 * rng.normal(size=5) if grows else np.zeros(0)
    expected = omega * (1 + columns if grows else 1) - sum(steps[j] * np.outer(A[j], E[j]) for j in touched)
    plain(matrices._matrix_step)(omega, squares, columns, E, A, steps, np.array(touched))
    np.testing.assert_allclose(omega, expected, rtol=1e-12)
    np.testing.assert_allclose(squares, (expected**2).sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("norm", [1e-4, 0.9e-3, 1.1e-3, 1.0, 900.0, 1100.0, 1e6])
def test_a_scale_far_from_one_is_folded_into_the_arrays(norm):
    """Omega times its scale is of unit norm in any case."""
    omega, *_ = vectors(4, 3, 5)
    omega *= norm / np.sqrt((omega**2).sum())
    before, P, squares = omega.copy(), np.ones((4, 3)), (omega**2).sum(axis=0)
    scale = plain(matrices._rescale)(omega, squares, P[1:3])
    np.testing.assert_allclose(scale * omega, before / norm, rtol=1e-12)
    np.testing.assert_allclose(scale * P[1:3], 1 / norm)
    np.testing.assert_allclose(squares, (omega**2).sum(axis=0))
    np.testing.assert_array_equal(P[[0, 3]], 1)  # of other groups
    assert (P[1, 0] == 1) == (1e-3 < norm < 1e3)


def test_a_matrix_of_zeros_stays_one():
    omega, P = np.zeros((2, 2)), np.ones((1, 2))
    assert plain(matrices._rescale)(omega, np.zeros(2), P) == 1.0
    assert (omega.any(), P.tolist()) == (False, [[1.0, 1.0]])
