"""Samples as rows of a CSR array: what the formulas need of them, without a dense copy of the samples.

Validation makes one `scipy.sparse.csr_array` of every sparse format, with no column twice in a row and no stored zeros.
Products with dense arrays are SciPy's. The functions here do the rest, most of them for dense arrays as well, so that a
formula is written once. Sparse samples are never centred, as that would fill them: their distances are
|x|^2 + |w|^2 - 2 x'w from the origin.
"""

from collections.abc import Iterator
from typing import TypeGuard

import numpy as np
from scipy import sparse

from lvq.typing import Array

INDEX = np.iinfo(np.int32).max
ROWS, STORED = 1024, 2**16  # rows, and stored numbers, that are copied at a time


def is_sparse(X: object) -> TypeGuard[sparse.csr_array]:
    """Whether these are sparse samples."""
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
    X = _valid(X.tocsr())
    indices, pointers = X.indices, X.indptr
    if indices.dtype != np.int32 and max(X.nnz, X.shape[1]) <= INDEX:  # one type for the compiled code
        indices, pointers = indices.astype(np.int32), pointers.astype(np.int32)
    rows = sparse.csr_array((X.data, indices, pointers), shape=X.shape)
    if (rows.data == 0).any() or _has_duplicates(rows):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def _valid(X: Array) -> sparse.csr_array:
    """A CSR array with the same arrays, of which SciPy has checked every column and row pointer."""
    try:
        rows = sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
        rows.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(
            f"X is a sparse array of shape {X.shape} that is not valid: {error}. Build it again, for example as a "
            "scipy.sparse.coo_array."
        ) from error
    return rows


def _has_duplicates(X: sparse.csr_array) -> bool:
    """Whether a row has two entries in a column; rows whose columns do not ascend are sorted some at a time."""
    if X.has_canonical_format:
        return False
    for begin in range(0, X.shape[0], ROWS):
        part = take_rows(X, slice(begin, begin + ROWS)).copy()
        part.sort_indices()
        if not part.has_canonical_format:
            return True
    return False


def take_rows(X: Array, rows: slice | Array) -> Array:
    """Some rows; a slice of most of the sparse rows shares their numbers."""
    if not is_sparse(X) or not isinstance(rows, slice):
        return X[rows]
    begin, end, step = rows.indices(X.shape[0])
    if step != 1:
        return X[rows]
    pointers = X.indptr[begin : end + 1]
    inside = slice(pointers[0], pointers[-1])
    return sparse.csr_array(
        (X.data[inside], X.indices[inside], pointers - pointers[0]), shape=(end - begin, X.shape[1])
    )


def with_data(X: sparse.csr_array, data: np.ndarray) -> sparse.csr_array:
    """Rows with other numbers at the same places."""
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def scaled_columns(X: Array, factor: Array) -> Array:
    """X with each column times a factor."""
    return with_data(X, X.data * factor[X.indices]) if is_sparse(X) else X * factor


def squared(X: Array) -> Array:
    """Square of each number."""
    return with_data(X, X.data * X.data) if is_sparse(X) else X * X


def row_squares(X: Array) -> np.ndarray:
    """Squared length of each row."""
    if not is_sparse(X):
        return np.einsum("ij,ij->i", X, X)
    squares = np.zeros(X.shape[0], dtype=X.dtype)
    for begin in range(0, X.shape[0], ROWS):
        part = take_rows(X, slice(begin, begin + ROWS))
        present = np.flatnonzero(np.diff(part.indptr))
        if len(present):
            values = part.data.astype(np.float64)
            squares[begin + present] = np.add.reduceat(values * values, part.indptr[present])
    return squares


def relative_to(X: Array, centre: Array) -> Array:
    """Samples relative to a centre; sparse samples stay as they are, and their centre is the origin."""
    return X if is_sparse(X) else X - centre


def column_range(X: Array) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value of each column."""
    if is_sparse(X):
        full = column_counts(X) == X.shape[0]
        low, high = np.where(full, np.inf, 0).astype(X.dtype), np.where(full, -np.inf, 0).astype(X.dtype)
        for part in _stored_parts(X):  # SciPy's own would copy the samples
            np.minimum.at(low, X.indices[part], X.data[part])
            np.maximum.at(high, X.indices[part], X.data[part])
        return low, high
    return X.min(axis=0), X.max(axis=0)


def column_counts(X: sparse.csr_array) -> np.ndarray:
    """How many numbers of each column are stored.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> column_counts(sparse.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]))).tolist()
    [1, 0, 2]
    """
    counts = np.zeros(X.shape[1], dtype=np.intp)
    for part in _stored_parts(X):
        np.add.at(counts, X.indices[part], 1)
    return counts


def _stored_parts(X: sparse.csr_array) -> Iterator[slice]:
    """Parts of the stored numbers; NumPy copies their columns in a type of its own."""
    return (slice(begin, begin + STORED) for begin in range(0, X.nnz, STORED))


def numbers(X: Array) -> np.ndarray:
    """The numbers of an array; of sparse samples those that are stored."""
    return X.data if is_sparse(X) else X


def filled(X: Array) -> Array:
    """A dense array; only for a few rows, or where the result has this size in any case."""
    return X.toarray() if is_sparse(X) else X


def require_dense(Z: object, purpose: str) -> None:
    """Raise TypeError for sparse samples, for what needs dense ones."""
    if is_sparse(Z):
        raise TypeError(
            f"{purpose} needs dense samples, but those that reach the model are sparse, of shape {Z.shape}. Take a few "
            "rows, make them dense with .toarray(), and call it with them; after steps whose output is sparse, with "
            "that output and the last step alone."
        )


def row_keys(X: sparse.csr_array) -> list[bytes]:
    """A key for each row, equal for equal rows; keys ascend as the bytes of the dense rows do.

    Where two rows first differ, in the column of one entry, the row with the entry is larger than one that has a zero
    there. So a smaller column must give the larger key, and the end of a row the smallest.
    """
    if not X.has_sorted_indices:
        X = X.sorted_indices()
    entries = np.empty(X.nnz, dtype=[("column", ">u8"), ("value", f"V{X.dtype.itemsize}")])
    entries["column"] = INDEX - X.indices.astype(np.int64)
    entries["value"] = np.ascontiguousarray(X.data).view(f"V{X.dtype.itemsize}")
    joined, size = entries.tobytes(), entries.dtype.itemsize
    return [joined[begin * size : end * size] for begin, end in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist())]
