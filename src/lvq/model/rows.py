"""Samples as rows: what formulas need of them, once for NumPy arrays, torch tensors and CSR arrays.

Products with dense arrays are spelled alike (``X @ B``, ``S.T @ X``). The functions here do the rest. Validation makes
one `scipy.sparse.csr_array` of every sparse format, without duplicates and stored zeros. Sparse rows are never centred,
as that would fill them: their distances are |x|^2 + |w|^2 - 2 x'w from the origin.
"""

from typing import TypeGuard

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from lvq.model.arrays import as_numpy, is_tensor, namespace
from lvq.typing import Array

INDEX = np.iinfo(np.int32).max
ROWS = 1024  # sparse rows that are copied at a time
STORED = 2**16  # stored numbers of sparse rows that are looked at together


def is_sparse(X: object) -> TypeGuard[sparse.csr_array]:
    """Whether these are sparse rows."""
    return bool(sparse.issparse(X))


def canonical(X: Array) -> sparse.csr_array:
    """Any sparse matrix or array as a CSR array without duplicates and stored zeros; shared where it already is one.

    Columns and row pointers outside the array are a ValueError: compiled code, also SciPy's, does not check them.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> X = sparse.coo_matrix((np.array([1.0, 2.0, 0.0]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    >>> canonical(X).toarray().tolist(), canonical(X).nnz
    ([[0.0, 3.0], [0.0, 0.0]], 1)
    """
    X = X.tocsr()
    try:  # before indices are cut to 32 bits
        rows = sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
        rows.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(
            f"X is a sparse array of shape {X.shape} that is not valid: {error}. Build it again, for example as a "
            "scipy.sparse.coo_array."
        ) from error
    if rows.indices.dtype != np.int32 and max(X.nnz, X.shape[1]) <= INDEX:  # one type for the compiled code
        indices, pointers = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows = sparse.csr_array((rows.data, indices, pointers), shape=X.shape)
    if not rows.has_canonical_format or (rows.data == 0).any():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def with_data(X: sparse.csr_array, data: np.ndarray) -> sparse.csr_array:
    """Sparse rows with other numbers at the same places."""
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def scaled_columns(X: Array, factor: Array) -> Array:
    """X with each column times a factor."""
    return with_data(X, X.data * factor[X.indices]) if is_sparse(X) else X * factor


def squared(X: Array) -> Array:
    """Square of each number."""
    return with_data(X, X.data * X.data) if is_sparse(X) else X * X


def row_squares(X: Array) -> Array:
    """Squared length of each row; float32 is summed in float64 on a processor."""
    if is_tensor(X):
        return (X * X).sum(1)
    if is_sparse(X):
        ones = np.ones(X.shape[1])
        parts = (X[begin : begin + ROWS] for begin in range(0, max(1, X.shape[0]), ROWS))
        squares = [with_data(part, np.square(part.data, dtype=np.float64)) @ ones for part in parts]
        return np.concatenate(squares).astype(X.dtype)
    return np.einsum("ij,ij->i", X, X, dtype=np.float64).astype(X.dtype, copy=False)


def shifted(X: Array, centre: Array) -> Array:
    """Rows relative to a centre; sparse rows stay as they are, and their centre is the origin."""
    return X if is_sparse(X) else X - centre


def column_range(X: Array) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value of each column."""
    if is_sparse(X):  # SciPy's own functions would copy the samples
        parts = [slice(begin, begin + STORED) for begin in range(0, X.nnz, STORED)]
        counts = sum((np.bincount(X.indices[part], minlength=X.shape[1]) for part in parts), np.zeros(X.shape[1]))
        low, high = (np.where(counts == X.shape[0], end, 0).astype(X.dtype) for end in (np.inf, -np.inf))
        for part in parts:
            np.minimum.at(low, X.indices[part], X.data[part])
            np.maximum.at(high, X.indices[part], X.data[part])
        return low, high
    xp = namespace(X)
    return as_numpy(xp.amin(X, 0)), as_numpy(xp.amax(X, 0))


def numbers(X: Array) -> np.ndarray:
    """The numbers of an array; of sparse rows those that are stored."""
    return X.data if is_sparse(X) else X


def dense(X: Array) -> Array:
    """A dense array; only for a few rows, or where the result has this size in any case."""
    return X.toarray() if is_sparse(X) else X


def require_dense(Z: object, purpose: str) -> None:
    """Raise TypeError for sparse rows, for what needs dense ones."""
    if is_sparse(Z):
        raise TypeError(
            f"{purpose} needs dense samples, but those that reach the model are sparse, of shape {Z.shape}. Take a few "
            "rows, make them dense with .toarray(), and call it with them; after steps whose output is sparse, with "
            "that output and the last step alone."
        )


def largest_value(dtype: DTypeLike, n_features: int) -> float:
    """Largest absolute value of a feature whose squared distances cannot overflow."""
    return float(np.sqrt(float(np.finfo(dtype).max) / n_features) * 1e-7)


def canonical_order(X: Array) -> tuple[np.ndarray, np.ndarray]:
    """An order of the rows that does not depend on the order they came in, and the places where a new row begins.

    Rows are sorted by their bytes; sparse ones in the same order as if they were dense.
    """
    keys = _sparse_keys(X) if is_sparse(X) else _dense_keys(as_numpy(X))
    order = keys.argsort(kind="stable")
    keys, new = keys[order], np.ones(len(order), dtype=bool)
    new[1:] = keys[1:] != keys[:-1]
    return order, np.flatnonzero(new)


def distinct_rows(X: Array, enough: int) -> int:
    """Number of distinct rows, counted up to `enough`; mostly the first rows are enough."""
    seen, begin = 0, 2 * enough
    while seen < enough and begin < 2 * X.shape[0] + 2 * enough:
        seen = len(canonical_order(X[:begin])[1])
        begin *= 8
    return min(seen, enough)


def _dense_keys(X: np.ndarray) -> np.ndarray:
    rows = np.ascontiguousarray(X) + 0.0  # the sum turns minus zero into zero
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def _sparse_keys(X: sparse.csr_array) -> np.ndarray:
    """A key for each row; keys ascend as the bytes of the dense rows do.

    Where two rows first differ, in the column of one entry, the row with the entry is larger than one that has a zero
    there. So a smaller column must give the larger key, and the end of a row the smallest.
    """
    X = X if X.has_sorted_indices else X.sorted_indices()
    entries = np.empty(X.nnz, dtype=[("column", ">u8"), ("value", f"V{X.dtype.itemsize}")])
    entries["column"] = INDEX - X.indices.astype(np.int64)
    entries["value"] = np.ascontiguousarray(X.data).view(f"V{X.dtype.itemsize}")
    joined, size = entries.tobytes(), entries.dtype.itemsize
    keys = np.empty(X.shape[0], dtype=object)
    keys[:] = [joined[begin * size : end * size] for begin, end in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist())]
    return keys
