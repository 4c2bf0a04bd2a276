"""The compiled step on sparse rows against the plain formula, also for steps as long as the way and longer."""

import numpy as np
import pytest
from scipy import sparse

from lvq.solvers.kernels import sparse as kernels


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_moves_follow_the_formula(dtype):
    """Steps of 1 make the scale zero; many long steps take it out of the range in which V keeps its digits."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array((rng.random((40, 15)) * (rng.random((40, 15)) < 0.3)).astype(dtype))
    W = rng.normal(size=(3, 15))
    V, scales, lengths = np.array(W.T, dtype=dtype, order="C"), np.ones(3), np.zeros(3)
    kernels.settle(V, scales, lengths)
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
            kernels._move(values, columns, V, scales, lengths, j, change, products[j], square)
            W[j] += change * (x - W[j])
            assert lengths[j] == pytest.approx(W[j] @ W[j], rel=1e-6 if dtype == np.float64 else 1e-2, abs=tolerance)
    kernels.settle(V, scales, lengths)
    near = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(V.T, W, rtol=near, atol=near)
    # the compiled code may square a number before it is rounded to float32
    rounding = 1e-12 if dtype == np.float64 else 1e-6
    np.testing.assert_allclose(lengths, (V.astype(np.float64) ** 2).sum(axis=0), rtol=rounding)
    assert (scales == 1).all()
