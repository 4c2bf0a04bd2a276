"""Parts of the loops for matrices against products of arrays, and the limits of their steps."""

import numpy as np
import pytest

from lvq.solvers.kernels import matrices, matrix_products


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
    omega, a, u, b, _ = vectors(rank, rank, 6)
    out, first, second = np.full(rank, 9.0), np.full(6, 9.0), np.full(6, 9.0)
    plain(matrix_products.project)(omega, u, out)
    np.testing.assert_allclose(out, omega @ u, rtol=1e-12)
    plain(matrix_products.pull_back)(omega, a, b, first, second)
    np.testing.assert_allclose(first, omega.T @ a, rtol=1e-12)
    np.testing.assert_allclose(second, omega.T @ b, rtol=1e-12)
    assert plain(matrix_products.square_norm)(omega) == pytest.approx((omega**2).sum())


@pytest.mark.parametrize("rank", [1, 3, 4, 5, 8, 11])
def test_a_step_of_rank_two(rank):
    omega, a, u, b, v = vectors(rank, rank, 6)
    expected = omega - np.outer(a, u) - np.outer(b, v)
    w, x, first, second = v + 1, u - 2, np.empty(rank), np.empty(rank)
    plain(matrix_products.rank_two_step)(omega, a, u, b, v, w, x, first, second)
    np.testing.assert_allclose(omega, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(first, expected @ w, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(second, expected @ x, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("low", "high"), [(0, 6), (1, 6), (2, 3), (2, 4), (3, 3)])
def test_projections_of_a_range_of_prototypes_follow_the_step(low, high):
    omega, a, u, b, v = vectors(1, 3, 5)
    W = np.random.default_rng(2).normal(size=(6, 5))
    P = W @ omega.T
    expected = P.copy()
    expected[low:high] = W[low:high] @ (omega - np.outer(a, u) - np.outer(b, v)).T
    plain(matrix_products.update_projections)(W, P, low, high, a, u, b, v)
    np.testing.assert_allclose(P, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_the_norm_after_a_step_needs_no_matrix(scale):
    omega, a, u, b, v = vectors(3, 3, 5)
    factor = 1 / (scale * np.sqrt((omega**2).sum()))  # scale times omega is of unit norm
    omega, a, b = factor * omega, factor * a, factor * b
    after = plain(matrix_products.norm_after_step)(scale, 0.02, a, u, -0.03, b, v)
    expected = ((omega - 0.02 * np.outer(a, u) + 0.03 * np.outer(b, v)) ** 2).sum()
    assert after == pytest.approx(expected, rel=1e-12)


def test_a_norm_that_is_lost_in_rounding_is_zero():
    """A matrix of one row and column, which the step removes nearly or fully; below 1e-4 no digits are trusted."""
    one, zero = np.ones(1), np.zeros(1)
    for left, known in ((0.1, True), (0.02, True), (0.009, False), (0.0, False)):
        after = plain(matrix_products.norm_after_step)(1.0, 1 - left, one, one, 0.0, zero, zero)
        assert after == pytest.approx(left**2 if known else 0.0, abs=1e-12)


@pytest.mark.parametrize(("factor", "finite"), [(0.9999, True), (1.0001, False), (np.inf, False), (np.nan, False)])
@pytest.mark.parametrize("signs", [(1, 1), (-1, 1), (1, -1)])
def test_steps_of_omega_are_limited(factor, finite, signs):
    """The sizes of both parts of a step are added: 4e5 and 6e5 are a million together, the most there is."""
    u, v = np.array([3.0, 4.0]), np.array([0.0, 2.0])
    steps = signs[0] * factor * 4e5 / (5 * 2), signs[1] * factor * 6e5 / (2 * 3)
    assert plain(matrices._step_is_finite)(*steps, 4.0, 9.0, u, v) == finite


@pytest.mark.parametrize("norm", [1e-4, 0.9e-3, 1.1e-3, 1.0, 900.0, 1100.0, 1e6])
def test_a_scale_far_from_one_is_folded_into_the_arrays(norm):
    """Omega times its scale is of unit norm in any case."""
    omega, *_ = vectors(4, 3, 5)
    omega *= norm / np.sqrt((omega**2).sum())
    before, omega, P = omega, omega[None].copy(), np.ones((4, 3))
    scales = np.array([norm**2])
    plain(matrices._rescale)(omega, scales, 0, P, 1, 3)
    np.testing.assert_allclose(scales[0] * omega[0], before / norm, rtol=1e-12)
    np.testing.assert_allclose(scales[0] * P[1:3], 1 / norm)
    np.testing.assert_array_equal(P[[0, 3]], 1)  # of other groups
    assert (scales[0] == 1) == (norm <= 1e-3 or norm >= 1e3 or norm == 1)


def test_a_matrix_of_zeros_stays_one():
    omega, scales, P = np.zeros((1, 2, 2)), np.zeros(1), np.ones((1, 2))
    plain(matrices._rescale)(omega, scales, 0, P, 0, 1)
    assert (scales[0], omega.any(), P.tolist()) == (1.0, False, [[1.0, 1.0]])
