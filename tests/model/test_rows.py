"""What NumPy, torch and CSR spell differently: sparse rows against dense ones, the round centre, canonical order."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from lvq.model import rows
from lvq.model.rows import canonical, canonical_order, round_centre

# -- the round centre --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("offset", "unit"), [(0, 1.0), (1000, 0.25), (-(2**15), 1024.0), (1000, 2.0**-10)])
def test_subtracting_the_centre_from_round_numbers_is_exact(offset, unit, dtype):
    rng = np.random.default_rng(0)
    X = ((rng.integers(-50, 50, (30, 5)) * rng.integers(1, 9, 5) + offset) * unit).astype(dtype)
    centre = round_centre(X)
    assert centre.dtype == dtype
    moved = X - centre
    for i, j in np.ndindex(X.shape):
        assert Fraction(float(moved[i, j])) == Fraction(float(X[i, j])) - Fraction(float(centre[j]))


@pytest.mark.parametrize("constant", [0.0, 0.1, -1 / 3, 1e9 + 0.1, 1e-300])
def test_the_centre_of_a_constant_feature_is_its_value(constant):
    """Up to the rounding of a mean."""
    for count in (1, 3, 10, 49):
        centre = round_centre(np.full((count, 1), constant))
        assert abs(centre[0] - constant) <= 4 * np.spacing(abs(constant))


# -- sparse rows -------------------------------------------------------------------------------------------------------


@pytest.fixture(params=[np.float64, np.float32])
def dense(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(210, 7)) * (rng.random((210, 7)) < 0.4)
    X[:, 2] = rng.uniform(1, 2, 210)  # a full column, whose smallest value is not zero
    X[5:8] = 0.0
    return X.astype(request.param)


def test_sparse_rows_have_the_sums_ranges_and_squares_of_dense_ones(dense):
    X, centre = sparse.csr_array(dense), np.arange(7, dtype=dense.dtype)
    np.testing.assert_allclose(rows.row_squares(X), (dense**2).sum(axis=1), rtol=1e-6)
    for found, wanted in zip(rows.column_range(X), rows.column_range(dense)):
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == dense.dtype
    np.testing.assert_array_equal(rows.scaled_columns(X, np.arange(7)).toarray(), dense * np.arange(7))
    np.testing.assert_array_equal(rows.squared(X).toarray(), dense * dense)
    assert rows.shifted(X, centre) is X
    np.testing.assert_array_equal(rows.shifted(dense, centre), dense - centre)
    np.testing.assert_array_equal(rows.dense(X), dense)
    assert rows.dense(dense) is dense
    with pytest.raises(TypeError, match=r"explain needs dense samples, .* are sparse, of shape \(210, 7\)"):
        rows.require_dense(X, "explain")


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_canonical_rows(dense, index):
    """Shared where there is nothing to do; indices of 32 bits for the compiled code where these suffice."""
    X = sparse.csr_matrix(dense)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    found = canonical(X)
    assert np.shares_memory(found.data, X.data)
    assert np.shares_memory(found.indices, X.indices) == (index is np.int32)
    assert found.indices.dtype == found.indptr.dtype == np.int32
    backwards = sparse.csr_matrix((X.data[::-1], X.indices[::-1], X.nnz - X.indptr[::-1]), shape=X.shape)
    assert not backwards.has_sorted_indices
    ordered = canonical(backwards)
    assert ordered.has_canonical_format
    np.testing.assert_array_equal(ordered.toarray(), dense[::-1])
    assert not backwards.has_sorted_indices  # the array given stays as it is
    twice = np.repeat(X.data, 2) / 2, np.repeat(X.indices, 2), 2 * X.indptr  # each number in two halves
    given = sparse.csr_matrix(tuple(part.copy() for part in twice), shape=X.shape)
    np.testing.assert_array_equal(canonical(given).data, X.data)
    np.testing.assert_array_equal(given.data, twice[0])
    wide = sparse.csr_array((np.ones(2), (np.arange(2), np.array([3, 2**32]))), shape=(2, 2**33))
    assert canonical(wide).indices.tolist() == [3, 2**32]


@pytest.mark.parametrize(
    ("index", "part", "value"),
    [(np.int32, "indices", 3), (np.int64, "indices", -1), (np.int64, "indices", 2**32), (np.int32, "indptr", 10**6)],
)
def test_arrays_that_point_outside_are_refused(index, part, value):
    """Products and compiled loops read, and write, wherever these point to, also once they are cut to 32 bits."""
    X = sparse.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    getattr(X, part)[1] = value
    with pytest.raises(ValueError, match=r"X is a sparse array of shape \(3, 3\) that is not valid: "):
        canonical(X)


# -- the order of rows -------------------------------------------------------------------------------------------------


def test_sparse_rows_have_the_order_of_the_bytes_of_dense_ones(dense):
    """Starts draw rows in this order, so sparse and dense rows start from the same prototypes."""
    X = np.concatenate((dense, dense[100:150], -dense[:20] + 0.0))
    backwards = sparse.csr_array(X[:, ::-1])
    for given in (sparse.csr_array(X), sparse.csr_array(backwards[:, ::-1])):
        for found, wanted in zip(canonical_order(given), canonical_order(X)):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("n_features", "copies"), [(1, 18), (5, 2), (13, 7), (100, 33)])
def test_equal_rows_are_counted_once(n_features, copies):
    """Independently of how a matrix product rounds rows at different places."""
    rng = np.random.default_rng(100 * n_features + copies)
    few = rng.normal(size=(3, n_features))
    order, distinct = canonical_order(rng.permutation(few.repeat(copies, axis=0)))
    assert sorted(order) == list(range(3 * copies))
    assert len(distinct) == 3
    almost = np.column_stack((np.full(6, 1e15), np.arange(6) / 128))  # they differ in a feature much smaller
    assert len(canonical_order(almost)[1]) == 6
