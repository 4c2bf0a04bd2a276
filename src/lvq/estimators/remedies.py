"""What to do about samples that scikit-learn's checks refuse."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn.base import BaseEstimator

from lvq.model.sparse_rows import is_sparse
from lvq.typing import MatrixLike


@contextmanager
def with_remedies(estimator: BaseEstimator, X: MatrixLike) -> Iterator[None]:
    """Errors about text and missing values in X inside name the estimator, the first row, and what to do."""
    try:
        yield
    except (TypeError, ValueError) as error:
        remedy = _remedy(estimator, str(error), X)
        if remedy is None:
            raise
        raise ValueError(remedy) from error


def first_missing(X: MatrixLike, *, infinite: bool = False) -> str:
    """Row and column of the first value that is missing or infinite, as a sentence; "" where it cannot be told.

    Where missing values are allowed only infinite ones are looked for.

    Examples
    --------
    >>> first_missing([[1.0, 2.0], [3.0, float("nan")]])
    'The first is in row 1, counted from 0, column 1.'
    """
    try:
        row, column = _first_sparse(X) if is_sparse(X) else _first(np.asarray(X, dtype=np.float64), infinite)
    except (TypeError, ValueError, IndexError):  # text, or none
        return ""
    name = repr(X.columns[column]) if hasattr(X, "columns") else column
    return f"The first is in row {row}, counted from 0, column {name}."


def _first(values: np.ndarray, infinite: bool) -> tuple[int, int]:
    rows, columns = np.nonzero(np.isinf(values) if infinite else ~np.isfinite(values))
    return int(rows[0]), int(columns[0])


def _first_sparse(X: MatrixLike) -> tuple[int, int]:
    rows = X.tocsr()
    place = int(np.flatnonzero(~np.isfinite(rows.data))[0])
    return int(np.searchsorted(rows.indptr, place, side="right")) - 1, int(rows.indices[place])


def _remedy(estimator: BaseEstimator, message: str, X: MatrixLike) -> str | None:
    name = type(estimator).__name__
    if message.startswith("could not convert string"):
        return (
            f"{name} needs X of numbers, got text: {message}. Encode categories as numbers, for example by "
            "sklearn.preprocessing.OneHotEncoder in a ColumnTransformer; `lvq fit TABLE` does so itself. Encode texts "
            "by sklearn.feature_extraction.text.TfidfVectorizer."
        )
    if message.endswith("not 'NAType'"):
        return (
            f"{name} needs X of numbers, got pandas.NA in a column of objects. Make numbers of all columns, in which "
            "NA marks a missing value, by X.astype('Float64')."
        )
    of_classes = message.startswith(("Input y contains NaN", "boolean value of NA"))  # pandas.NA among texts
    if of_classes or (message == "Input contains NaN" and not first_missing(X)):
        return f"Input y contains NaN. {name} needs the class of every sample; leave out the rows without one."
    if "contains NaN" not in message or not hasattr(estimator, "missing"):
        return None
    if is_sparse(X):
        return (
            f"{message.splitlines()[0]} {first_missing(X)} {name} takes sparse rows of finite numbers only; correct or "
            "remove the row."
        )
    fill = "Fill them first, for example by sklearn.impute.SimpleImputer in a pipeline"
    if hasattr(estimator, "model_") and estimator.model_.variances is None:
        fill += ", or fit with missing='ignore'"
    elif not hasattr(estimator, "model_"):
        fill += f", or use {name}(missing='ignore'), which compares the observed features"
    found = " ".join(part for part in (message.splitlines()[0], first_missing(X)) if part)
    return f"{found} {name} does not accept missing values as it is set. {fill}."
