"""What NumPy arrays, torch tensors and CSR arrays spell differently, to write formulas once.

Products with dense arrays are spelled alike (``X @ B``, ``S.T @ X``), most else is ``xp = namespace(array)``, and the
functions here do the rest. torch is looked up only if a tensor is given. Ties go to the first index.

Validation makes one `scipy.sparse.csr_array` of every sparse format, without duplicates and stored zeros. Sparse rows
are never centred, as that would fill them: their distances are |x|^2 + |w|^2 - 2 x'w from the origin.
"""

import sys
from types import ModuleType
from typing import TypeGuard, TypeVar

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from lvq.typing import Array

INDEX = np.iinfo(np.int32).max
BLOCK = 2**19  # numbers of a block of samples: few enough to stay in a processor's cache
SPARSE_BLOCK = 2**16  # stored numbers of sparse samples: a block is a copy
ON_DEVICE = 256  # times as many on a device, where each call has a cost of its own
Given = TypeVar("Given")

# -- arrays and tensors ------------------------------------------------------------------------------------------------


def namespace(array: Array) -> ModuleType:
    """The module whose functions take this array: torch where a tensor is given, else numpy, for sparse rows too."""
    if isinstance(array, np.ndarray | np.generic | float) or sparse.issparse(array):
        return np
    if is_tensor(array):
        return sys.modules["torch"]
    raise TypeError(f"expected a NumPy array or a torch tensor, got {type(array).__name__}")


def is_tensor(array: object) -> TypeGuard[Array]:
    """Whether this is a torch tensor; without torch imported there is none."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def as_numpy(array: Given) -> Given | np.ndarray:
    """A tensor as a NumPy array, of float32 where NumPy has no such type (bfloat16); anything else unchanged."""
    if not is_tensor(array):
        return array
    tensor = array.detach().cpu()
    return (tensor.float() if tensor.dtype is sys.modules["torch"].bfloat16 else tensor).numpy()


def first_argmin(values: Array) -> Array:
    """Index of the smallest value of each row; the first of equal values, which torch does not guarantee."""
    xp = namespace(values)
    if xp is np:
        return values.argmin(axis=1)
    columns = xp.arange(values.shape[1], device=values.device)
    hits = values == xp.amin(values, dim=1, keepdim=True)
    return xp.where(hits, columns, values.shape[1]).amin(dim=1)


def take_columns(values: Array, index: Array) -> Array:
    """values[i, index[i]] for each row i."""
    return values[beside(np.arange(len(index)), values), index]


def put_columns(values: Array, index: Array, new: Array | float) -> None:
    """Set values[i, index[i]] of each row i."""
    values[beside(np.arange(len(index)), values), index] = new


def take_along(values: Array, index: Array) -> Array:
    """values[i, index[i, k]] for each row i and column k."""
    return values[np.arange(len(index))[:, None], index] if namespace(values) is np else values.gather(1, index)


def as_columns(one: Array, other: Array) -> Array:
    """Two vectors as the columns of a matrix."""
    xp = namespace(one)
    return np.array((one, other)).T if xp is np else xp.stack((one, other), 1)


def zeros(shape: tuple[int, ...], like: Array) -> Array:
    """Zeros of the given shape with the type and place of another array."""
    xp = namespace(like)
    return np.zeros(shape, dtype=like.dtype) if xp is np else xp.zeros(shape, dtype=like.dtype, device=like.device)


def like(values: Array, other: Array) -> Array:
    """The values as an array with the type and place of another."""
    xp = namespace(other)
    if xp is np:
        return (
            values.astype(other.dtype, copy=False) if sparse.issparse(values) else np.asarray(values, dtype=other.dtype)
        )
    return xp.asarray(values, dtype=other.dtype, device=other.device)


def beside(array: np.ndarray, other: Array) -> Array:
    """An array of its own type where another is; it may be read-only, which tensors are not."""
    return array if namespace(other) is np else namespace(other).tensor(array, device=other.device)


def wide(array: Array) -> Array:
    """The numbers in float64; in float32 on a device without float64 (Apple's)."""
    if namespace(array) is np:
        return np.asarray(array, dtype=np.float64)
    return array.double() if has_float64(array.device) else array.float()


def has_float64(device: object) -> bool:
    """Whether a device of torch, or its name, has float64."""
    return not str(device).startswith("mps")


def numpy_type(array: Array) -> np.dtype:
    """float32 or float64, as NumPy names the type of an array or tensor."""
    if namespace(array) is np:
        return array.dtype
    return np.dtype(np.float32 if array.element_size() == 4 else np.float64)


def round_centre(rows: Array) -> Array:
    """A point near the rows' mean with few digits: subtracting it from round numbers is exact."""
    xp = namespace(rows)
    low, high = (rows.min(0), rows.max(0)) if xp is np else (rows.amin(0), rows.amax(0))
    return rounded_centre(rows.mean(0), low, high)


def rounded_centre(mean: Array, low: Array, high: Array) -> Array:
    """`round_centre` of rows with a given mean and range."""
    xp = namespace(mean)
    mean = xp.clip(mean, low, high)  # rounding may carry the mean of equal numbers past them
    spread = xp.maximum(high - mean, mean - low)
    one = xp.ones_like(spread)
    quantum = xp.exp2(xp.floor(xp.log2(xp.where(spread > 0, spread, one))))
    return xp.where(spread > 0, xp.round(mean / quantum) * quantum, mean)


def clipped(values: Array) -> Array:
    """Values not below zero, in the same memory."""
    return np.maximum(values, 0, out=values) if namespace(values) is np else values.clamp_(min=0)


# -- dense and sparse rows ---------------------------------------------------------------------------------------------


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
        return (with_data(X, np.square(X.data, dtype=np.float64)) @ np.ones(X.shape[1])).astype(X.dtype)
    return np.einsum("ij,ij->i", X, X, dtype=np.float64).astype(X.dtype, copy=False)


def unit_rows(X: Array) -> Array:
    """Rows of length one; a row of zeros, which has no direction, stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = row_squares(X) ** 0.5
    lengths = namespace(X).where(lengths > 0, lengths, namespace(X).ones_like(lengths))
    return with_data(X, X.data / np.repeat(lengths, np.diff(X.indptr))) if is_sparse(X) else X / lengths[:, None]


def checked_unit_rows(X: Array, name: str) -> Array:
    """Rows of length one; ValueError for a row of zeros, by its number."""
    zero = np.flatnonzero(as_numpy(row_squares(X)) == 0)
    if len(zero):
        raise ValueError(
            f"{name} with metric='cosine' compares directions, and row {zero[0]}, counted from 0, has none: all "
            f"of its numbers are 0. Leave out such rows, {len(zero)} of {X.shape[0]}."
        )
    return unit_rows(X)


def shifted(X: Array, centre: Array) -> Array:
    """Rows relative to a centre; sparse rows stay as they are, and their centre is the origin."""
    return X if is_sparse(X) else X - centre


def column_range(X: Array) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value of each column."""
    if is_sparse(X):
        counts = np.bincount(X.indices, minlength=X.shape[1])
        low, high = (np.where(counts == X.shape[0], end, 0).astype(X.dtype) for end in (np.inf, -np.inf))
        np.minimum.at(low, X.indices, X.data)  # X.min(axis=0) would copy the samples
        np.maximum.at(high, X.indices, X.data)
        return low, high
    xp = namespace(X)
    return as_numpy(xp.amin(X, 0)), as_numpy(xp.amax(X, 0))


def numbers(X: Array) -> np.ndarray:
    """The numbers of an array, for sparse rows the stored ones."""
    return X.data if is_sparse(X) else X


def place_of(X: Array, found: np.ndarray) -> tuple[int, int]:
    """Row and column of the first of the `numbers` of X for which `found` is true; IndexError for none."""
    place = int(np.flatnonzero(found)[0])
    if is_sparse(X):
        return int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    return divmod(place, X.shape[1])


def dense(X: Array) -> Array:
    """A dense array; only for a few rows, or where the result has this size in any case."""
    return X.toarray() if is_sparse(X) else X


def has_missing(X: object) -> bool:
    """Whether an array holds a NaN; tensors and sparse rows never do."""
    return isinstance(X, np.ndarray) and bool(np.isnan(X).any())


def require_complete(X: object, purpose: str) -> None:
    """Raise ValueError where values are missing, for what cannot ignore them."""
    if has_missing(X):
        raise ValueError(
            f"{purpose} needs samples without missing values, also of a model with missing='ignore'; X contains NaN. "
            "Leave these rows out, or fill them, for example with sklearn.impute.SimpleImputer."
        )


def require_dense(Z: object, purpose: str) -> None:
    """Raise TypeError for sparse rows, for what needs dense ones."""
    if is_sparse(Z):
        raise TypeError(
            f"{purpose} needs dense samples, but those that reach the model are sparse, of shape {Z.shape}. Give a few "
            "rows, made dense with .toarray(); in a pipeline, fit OneHotEncoder with sparse_output=False and "
            "ColumnTransformer with sparse_threshold=0, or give the output of the steps to the last step alone."
        )


def largest_value(dtype: DTypeLike, n_features: int) -> float:
    """Largest absolute value of a feature whose squared distances cannot overflow."""
    return float(np.sqrt(float(np.finfo(dtype).max) / n_features) * 1e-7)


def check_magnitude(X: Array, name: str) -> Array:
    """The array; ValueError for values that are so large that squared distances overflow."""
    known, limit = numbers(X), largest_value(X.dtype, X.shape[1])
    largest = float(max(np.fmax.reduce(known, axis=None, initial=0), -np.fmin.reduce(known, axis=None, initial=0)))
    if largest > limit:
        raise ValueError(
            f"{name} computes squared distances, which overflow for values as large as {largest:.3g} in {X.dtype}; "
            f"{limit:.3g} is allowed. Scale the features first, as with sklearn.preprocessing.MaxAbsScaler."
        )
    return X


def block_rows(X: Array, columns: int = 0) -> int:
    """Number of rows in a block with this many numbers per row, at least as many as X has."""
    if is_sparse(X):
        return max(1, SPARSE_BLOCK // max(1, -(-X.nnz // max(1, X.shape[0])), columns))
    return max(1, BLOCK // max(1, X.shape[1], columns)) * (ON_DEVICE if is_tensor(X) else 1)


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
