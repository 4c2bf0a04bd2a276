"""Sums over classes, by one dense product or by a sparse one."""

import numpy as np
import pytest
from scipy import sparse

from lvq.model import class_sums as module
from lvq.model.class_sums import class_sums, rows_by_class


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dense", [0, 2**24])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_and_weights(make, dense, dtype, monkeypatch):
    monkeypatch.setattr(module, "DENSE", dense)
    random = np.random.default_rng(0)
    X, y, weight = random.normal(size=(50, 3)).astype(dtype), random.integers(4, size=50), random.random(50)
    y[y == 2] = 3  # a class without samples
    sums, mass = class_sums(make(X), y, weight, 5)
    assert sums.dtype == mass.dtype == dtype
    for label in range(5):
        np.testing.assert_allclose(sums[label], weight[y == label] @ X[y == label], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(mass[label], weight[y == label].sum(), rtol=1e-5)


def test_rows_of_each_class():
    rows = [part.tolist() for part in rows_by_class(np.array([2, 0, 2, 3]), 5)]
    assert rows == [[1], [], [0, 2], [3], []]
