"""Operations on sparse rows against the same on dense ones, and the canonical order of rows."""

import numpy as np
import pytest
from scipy import sparse

from lvq.model import rows
from lvq.model.rows import canonical_order, distinct_rows


@pytest.fixture(params=[np.float64, np.float32])
def dense(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 7)) * (rng.random((2100, 7)) < 0.4)
    X[:, 2] = rng.uniform(1, 2, 2100)  # a full column, whose smallest value is not zero
    X[5:8] = 0.0
    return X.astype(request.param)


def test_sums_and_ranges(dense):
    X = sparse.csr_array(dense)
    np.testing.assert_allclose(rows.row_squares(X), (dense**2).sum(axis=1), rtol=1e-6)
    for found, wanted in zip(rows.column_range(X), rows.column_range(dense)):
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == dense.dtype
    np.testing.assert_array_equal(rows.scaled_columns(X, np.arange(7)).toarray(), dense * np.arange(7))
    np.testing.assert_array_equal(rows.squared(X).toarray(), dense * dense)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_canonical_shares_what_has_no_duplicates(dense, index):
    X = sparse.csr_matrix(dense)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    found = rows.canonical(X)
    assert np.shares_memory(found.data, X.data)
    assert found.indices.dtype == np.int32
    backwards = sparse.csr_matrix((X.data[::-1], X.indices[::-1], X.nnz - X.indptr[::-1]), shape=X.shape)
    assert not backwards.has_sorted_indices
    ordered = rows.canonical(backwards)
    assert ordered.has_canonical_format
    np.testing.assert_array_equal(ordered.toarray(), dense[::-1])
    assert not backwards.has_sorted_indices  # the array given stays as it is


def test_keys_order_rows_as_the_bytes_of_dense_rows_do(dense):
    """Starts draw rows in this order, so that sparse and dense rows start from the same prototypes."""
    X = np.concatenate((dense[:300], dense[100:150], -dense[:20] + 0.0))
    backwards = sparse.csr_array(X[:, ::-1])
    for given in (sparse.csr_array(X), sparse.csr_array(backwards[:, ::-1])):
        for found, wanted in zip(canonical_order(given), canonical_order(X)):
            np.testing.assert_array_equal(found, wanted)


def test_indices_of_canonical_rows():
    """Of one type for the compiled code: 32 bits where they suffice, and shared where they have it already."""
    X = sparse.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    assert np.shares_memory(rows.canonical(X).indices, X.indices)
    long = X.copy()
    long.indices, long.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    found = rows.canonical(long)
    assert found.indices.dtype == found.indptr.dtype == np.int32
    np.testing.assert_array_equal(found.toarray(), np.eye(3))
    wide = sparse.csr_array((np.ones(2), (np.arange(2), np.array([3, 2**32]))), shape=(2, 2**33))
    assert rows.canonical(wide).indices.tolist() == [3, 2**32]


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("part", "place", "value"), [("indices", 1, 3), ("indices", 2, -1), ("indptr", 1, 10**6)])
def test_arrays_that_point_outside_are_refused(part, place, value, index):
    """Products and compiled loops read, and write, wherever these numbers point to."""
    X = sparse.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    getattr(X, part)[place] = value
    with pytest.raises(ValueError, match=r"X is a sparse array of shape \(3, 3\) that is not valid: "):
        rows.canonical(X)


def test_a_column_of_64_bits_is_checked_before_it_is_cut_to_32():
    X = sparse.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    X.indices[0] = 2**32
    with pytest.raises(ValueError, match="is not valid"):
        rows.canonical(X)


@pytest.mark.parametrize("n_features", [1, 5, 13])
@pytest.mark.parametrize("copies", [2, 7, 18])
def test_equal_rows_are_counted_once(n_features, copies):
    """Independently of how a matrix product rounds rows at different places."""
    rng = np.random.default_rng(100 * n_features + copies)
    rows = rng.normal(size=(3, n_features))
    order, distinct = canonical_order(rng.permutation(rows.repeat(copies, axis=0)))
    assert sorted(order) == list(range(3 * copies))
    assert len(distinct) == 3


@pytest.mark.parametrize("large", [1e8, 1e15])
def test_rows_that_differ_anywhere_are_different_rows(large):
    """Also where one feature is much larger than the other."""
    samples = np.column_stack((np.full(6, large), np.arange(6) / 128))
    assert len(canonical_order(samples)[1]) == 6


@pytest.mark.parametrize("place", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_distinct_rows_are_counted_up_to_enough(place):
    X = np.arange(1.0, 31.0).reshape(10, 3).repeat(9, axis=0)
    X = place(np.vstack((X[:9], X[:9], X)))  # few among the first
    assert [distinct_rows(X, enough) for enough in (1, 2, 10, 11, 50)] == [1, 2, 10, 10, 10]


def test_rows_relative_to_a_centre(dense):
    X, centre = sparse.csr_array(dense), np.arange(7, dtype=dense.dtype)
    assert rows.shifted(X, centre) is X
    np.testing.assert_array_equal(rows.shifted(dense, centre), dense - centre)
    np.testing.assert_array_equal(rows.dense(X), dense)
    assert rows.dense(dense) is dense
    with pytest.raises(TypeError, match=r"explain needs dense samples, .* are sparse, of shape \(2100, 7\)"):
        rows.require_dense(X, "explain")
