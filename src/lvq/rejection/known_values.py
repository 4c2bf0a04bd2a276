"""How much of a row is known: certainty falls with what is missing, and rows with too little known are rejected.

The known fraction of a row is the number of its columns with a value, divided by the number that a training row has on
the mean: a value that is usually missing is no loss. Certainties are multiplied by it (at most by 1; those below 0 are
divided), and a row below `min_known` of `RejectClassifier` is rejected. Columns that do not reach the model do not
count. Missing are NaN, None, the missing values of pandas, and the text "(missing)", which `lvq fit` puts in place of
missing texts.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import find_model
from lvq.inspection.columns import used_columns
from lvq.model.arrays import as_numpy
from lvq.rejection.validation import BoolArray, FloatArray
from lvq.typing import MatrixLike

TOO_LITTLE = "too little known"  # the reason for rejection
MIN_KNOWN = 0.5  # known fraction below which a sample is rejected
MISSING_TEXT = "(missing)"
SMALLEST = 1e-3  # known fraction by which certainties are multiplied at least, so that they stay finite


def missing_cells(X: MatrixLike) -> BoolArray | csr_array:
    """Where a table has no value: (n_samples, n_columns), sparse where the table is; a list of texts is one column.

    Examples
    --------
    >>> missing_cells([[1.0, np.nan], [2.0, 3.0]]).tolist()
    [[False, True], [False, False]]
    >>> missing_cells([["a", None], ["(missing)", "b"]]).tolist()
    [[False, True], [True, False]]
    """
    if issparse(X):
        stored = X.tocoo(copy=False)
        missing = np.isnan(stored.data)
        places = stored.row[missing], stored.col[missing]
        return csr_array((np.ones(len(places[0]), dtype=np.bool_), places), shape=X.shape)
    if hasattr(X, "column_names"):  # pyarrow
        return np.column_stack([_missing(np.asarray(column)) for column in X.columns])
    if hasattr(X, "isin"):  # pandas
        return _as_columns(np.asarray(X.isna()) | np.asarray(X.isin([MISSING_TEXT])))
    if hasattr(X, "columns"):  # polars
        return np.column_stack([_missing(np.asarray(X[name])) for name in X.columns])
    values = np.asarray(as_numpy(X))
    return _as_columns(_missing(values if values.dtype.kind in "biufc" else np.asarray(X, dtype=object)))


def _as_columns(cells: BoolArray) -> BoolArray:
    return cells[:, None] if cells.ndim == 1 else cells


def _missing(values: np.ndarray) -> BoolArray:
    if values.dtype.kind in "biu":
        return np.zeros(values.shape, dtype=np.bool_)
    if values.dtype.kind in "fc":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    flat = [_is_missing(cell) for cell in values.ravel().tolist()]
    return np.array(flat, dtype=np.bool_).reshape(values.shape)


def _is_missing(cell: object) -> bool:
    if isinstance(cell, str):
        return cell == MISSING_TEXT
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)


def missing_counts(estimator: BaseEstimator, X: MatrixLike) -> tuple[FloatArray, int]:
    """Number of missing values of each row in the columns that reach the model, and the number of these columns."""
    missing, found = missing_cells(X), find_model(estimator)
    used = np.ones(missing.shape[1], dtype=np.bool_)
    if found is not None and hasattr(found.estimator, "model_"):
        reached = used_columns(found.steps, found.model.n_features, len(used))
        used = reached if len(reached) == len(used) else used
    counts = missing.astype(np.float64) @ used if issparse(missing) else missing[:, used].sum(axis=1)
    return counts.astype(np.float64), int(used.sum())


def known_fraction(n_missing: FloatArray, n_columns: int, usual_missing: float) -> FloatArray:
    """The known fraction of rows, at most 1.

    Parameters
    ----------
    n_missing : array of shape (n_samples,)
        Number of missing values of each row.
    n_columns : int
        Number of columns.
    usual_missing : float
        Mean number of missing values of a training row.

    Returns
    -------
    fraction : ndarray of shape (n_samples,)

    Examples
    --------
    >>> known_fraction(np.array([0.0, 1.0, 2.0]), 4, 1.0).round(2)
    array([1.  , 1.  , 0.67])
    """
    return np.minimum(1.0, (n_columns - n_missing) / max(n_columns - usual_missing, 1.0))


def lowered(certainty: FloatArray, known: FloatArray) -> FloatArray:
    """Certainties that fall with what is missing.

    Examples
    --------
    >>> lowered(np.array([0.8, 0.8, -2.0]), np.array([1.0, 0.5, 0.5])).tolist()
    [0.8, 0.4, -4.0]
    """
    factor = np.maximum(known, SMALLEST)
    return np.where(certainty > 0, certainty * factor, certainty / factor)
