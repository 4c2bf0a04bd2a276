"""The gradient by the relevances on sparse rows against the plain sum, also for steps as long as the way and longer."""

import numpy as np
import pytest
from scipy import sparse

from lvq.solvers.kernels import sparse_relevances as kernels


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradient_and_moves_follow_the_formula(dtype):
    """Steps of 1 make the scale zero; many long steps take it out of the range in which V keeps its digits."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array((rng.random((40, 15)) * (rng.random((40, 15)) < 0.3)).astype(dtype))
    W = rng.normal(size=(3, 15))
    relevances = rng.dirichlet(np.ones(15)).astype(dtype)
    V, scales, squares, gradient = np.array(W.T, dtype=dtype, order="C"), np.ones(3), np.zeros(3), np.zeros(15)
    lengths, plain_lengths, products, wanted = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(15)
    kernels.settle(V, scales, relevances, lengths, plain_lengths, squares, gradient)
    for change in (0.3, 1.0, -0.5, 1.7, 1e-3, *[0.9] * 12, *[-0.5] * 12, 1.0, 0.2):
        for j in range(3):
            i, push = rng.integers(40), 1e-3 * rng.normal()
            inside = slice(X.indptr[i], X.indptr[i + 1])
            values, columns = X.data[inside], X.indices[inside]
            x = X[[i]].toarray()[0].astype(np.float64)
            weighted, plain = kernels._weighted_products(values, columns, V, scales, relevances, products)
            size = max(1.0, np.abs(W[j]).max())
            near = (1e-9 if dtype == np.float64 else 1e-3) * size**2
            assert (weighted, plain) == pytest.approx((relevances @ x**2, x @ x), abs=1e-6)
            assert products[j] == pytest.approx((relevances * W[j]) @ x, abs=near)
            product = kernels._add_gradient(values, columns, V, scales, squares, gradient, j, push)
            assert product == pytest.approx(W[j] @ x, abs=near)
            wanted += push * (x - W[j]) ** 2
            kernels._move(values, columns, V, scales, squares, gradient, j, change)
            before = W[j].copy()
            W[j] += change * (x - W[j])
            length = kernels.length_after(before @ before, change, before @ x, x @ x)
            assert length == pytest.approx(W[j] @ W[j], rel=1e-9, abs=1e-9)
    found = gradient + (V.astype(np.float64) ** 2) @ squares
    size = np.abs(wanted).max()
    np.testing.assert_allclose(found, wanted, atol=(1e-9 if dtype == np.float64 else 1e-4) * size)
    np.testing.assert_allclose(V.T * scales[:, None], W, rtol=1e-3, atol=1e-9 if dtype == np.float64 else 1e-4)


def test_a_step_that_would_clip_all_relevances_is_left_out():
    """As in the dense loop; the gradient starts again."""
    V, relevances = np.ones((4, 2)), np.full(4, 0.25)
    lengths, plain_lengths, gradient = np.zeros(2), np.zeros(2), np.full(4, 1.0)
    kernels.settle(V, np.full(2, 3.0), relevances, lengths, plain_lengths, np.zeros(2), gradient)
    np.testing.assert_array_equal(relevances, 0.25)
    np.testing.assert_array_equal(gradient, 0.0)
    np.testing.assert_allclose(plain_lengths, 36.0)
    np.testing.assert_allclose(lengths, 9.0)
