"""Operations on sparse rows against the same on dense ones."""

import numpy as np
import pytest
from scipy import sparse

from lvq.model import sparse_rows as rows
from lvq.model.metrics import Diagonal, Euclidean, Matrix
from lvq.model.starts import canonical_order


@pytest.fixture(params=[np.float64, np.float32])
def dense(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 7)) * (rng.random((2100, 7)) < 0.4)
    X[:, 2] = rng.uniform(1, 2, 2100)  # a full column, whose smallest value is not zero
    X[5:8] = 0.0
    return X.astype(request.param)


@pytest.mark.parametrize("stored", [1000, rows.STORED])
def test_sums_and_ranges(dense, monkeypatch, stored):
    monkeypatch.setattr(rows, "STORED", stored)  # in parts, and in one
    X = sparse.csr_array(dense)
    np.testing.assert_array_equal(rows.column_counts(X), np.count_nonzero(dense, axis=0))
    np.testing.assert_allclose(rows.row_squares(X), (dense**2).sum(axis=1), rtol=1e-6)
    for found, wanted in zip(rows.column_range(X), rows.column_range(dense)):
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == dense.dtype
    np.testing.assert_array_equal(rows.scaled_columns(X, np.arange(7)).toarray(), dense * np.arange(7))
    np.testing.assert_array_equal(rows.squared(X).toarray(), dense * dense)


def test_a_slice_shares_the_numbers(dense):
    X = sparse.csr_array(dense)
    np.testing.assert_array_equal(rows.take_rows(X, slice(3, 50)).toarray(), dense[3:50])
    part = rows.take_rows(X, slice(3, 2000))  # SciPy copies what is less than half
    np.testing.assert_array_equal(part.toarray(), dense[3:2000])
    assert np.shares_memory(part.data, X.data)
    assert rows.take_rows(X, slice(2100, 3000)).shape == (0, 7)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_canonical_shares_what_has_no_duplicates(dense, index):
    X = sparse.csr_matrix(dense)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    found = rows.canonical(X)
    assert np.shares_memory(found.data, X.data)
    assert found.indices.dtype == np.int32
    backwards = sparse.csr_matrix((X.data[::-1], X.indices[::-1], X.nnz - X.indptr[::-1]), shape=X.shape)
    assert not backwards.has_sorted_indices
    assert np.shares_memory(rows.canonical(backwards).data, backwards.data)


def test_keys_order_rows_as_the_bytes_of_dense_rows_do(dense):
    """Starts draw rows in this order, so that sparse and dense rows start from the same prototypes."""
    X = np.concatenate((dense[:300], dense[100:150], -dense[:20] + 0.0))
    backwards = sparse.csr_array(X[:, ::-1])
    for given in (sparse.csr_array(X), sparse.csr_array(backwards[:, ::-1])):
        for found, wanted in zip(canonical_order(given), canonical_order(X)):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("metric", "shape"), [(Euclidean(), None), (Diagonal(), (7,)), (Matrix(), (2, 7))])
def test_distances(metric, shape, dense):
    rng = np.random.default_rng(1)
    W = rng.normal(size=(4, 7)).astype(dense.dtype)
    R = None if shape is None else np.abs(rng.normal(size=shape)).astype(dense.dtype)
    found = metric.distances(sparse.csr_array(dense), W, R)
    np.testing.assert_allclose(found, metric.distances(dense, W, R), rtol=1e-5, atol=1e-4)
    assert found.dtype == dense.dtype


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
