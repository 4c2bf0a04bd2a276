"""Weighted sums over the samples of each class, and the rows of each class."""

from itertools import pairwise

import numpy as np
from scipy import sparse

from lvq.model.arrays import as_numpy, is_tensor
from lvq.model.sparse_rows import is_sparse
from lvq.typing import Array

DENSE = 2**24  # classes times samples up to which sums are one dense product
#: Fraction of the weight that may still change its cluster when k-means ends. No fraction of less than 10,000 samples
#: is equal to it, so that rounding never decides.
SETTLED = 0.0199


def class_sums(X: Array, y: np.ndarray, weight: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Weighted sum of the rows of each class, and its weight, in the type of X.

    Examples
    --------
    >>> import numpy as np
    >>> sums, mass = class_sums(np.array([[1.0], [2.0], [5.0]]), np.array([0, 0, 1]), np.array([1.0, 3.0, 1.0]), 2)
    >>> sums.ravel().tolist(), mass.tolist()
    ([7.0, 5.0], [4.0, 1.0])
    """
    if n_classes * len(y) > DENSE:
        one_hot = sparse.csr_array((weight.astype(X.dtype), (y, np.arange(len(y)))), shape=(n_classes, len(y)))
        sums = one_hot @ X
        sums = sums.toarray(order="F") if is_sparse(sums) else sums  # feature by feature, as the online solver learns
        return sums, np.bincount(y, weight, n_classes).astype(X.dtype)
    one_hot = np.zeros((n_classes, len(y)), dtype=X.dtype)
    one_hot[y, np.arange(len(y))] = weight
    return one_hot @ X, one_hot.sum(axis=1)


def rows_by_class(y: Array, n_classes: int) -> list[Array]:
    """The rows of each class, ascending; the labels are sorted once for all classes."""
    order = y.argsort(stable=True) if is_tensor(y) else y.argsort(kind="stable")
    begins = as_numpy(y[order]).searchsorted(np.arange(n_classes + 1)).tolist()
    return [order[begin:end] for begin, end in pairwise(begins)]
