"""Checks of the rows of one partition of a dask collection, where it lies; messages name the partition."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from lvq.estimators.remedies import first_missing
from lvq.estimators.tensors import require_torch
from lvq.model.samples import Block
from lvq.typing import Label, MatrixLike


@contextmanager
def named(number: int) -> Iterator[None]:
    """Errors inside name the partition."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"Partition {number} of the dask collection: {error}") from error


class RowForm(NamedTuple):
    """What the rows of every partition must be."""

    estimator: str
    dtype: np.dtype
    n_features: int
    names: list[str] | None
    missing: bool  # whether NaN is allowed
    advice: str

    @classmethod
    def of(cls, estimator: BaseEstimator, dtype: np.dtype, *, missing: bool) -> "RowForm":
        """The form that an estimator expects; number and names of its features are known."""
        names, name = getattr(estimator, "feature_names_in_", None), type(estimator).__name__
        advice = "Correct, fill or remove the row"
        if not missing and hasattr(estimator, "missing"):
            advice += f", or use {name}(missing='ignore') where NaN marks a missing value"
        names = None if names is None else names.tolist()
        return cls(name, dtype, estimator.n_features_in_, names, missing, f"{advice}.")


def checked_block(
    number: int, X: MatrixLike, y: MatrixLike, weight: MatrixLike, form: RowForm, device: str | None
) -> Block:
    """A partition as arrays: its samples in the common type, its labels as they are, its weights."""
    if device is not None:
        _check_device(number, device)
    X = checked_rows(number, X, form)
    with named(number):
        y = column_of(y)
        if len(y) != len(X):
            raise ValueError(f"X has {len(X)} samples and y has {len(y)} labels.")
        missing = ~np.isfinite(y) if y.dtype.kind == "f" else y.dtype == object and np.array(list(map(_is_missing, y)))
        if np.any(missing):
            row = int(np.flatnonzero(missing)[0])
            raise ValueError(f"y contains NaN or missing labels. The first is in row {row}, counted from 0.")
        weight = np.ones(len(X), X.dtype) if weight is None else check_array(weight, dtype=X.dtype, ensure_2d=False)
        if weight.shape != (len(X),) or weight.min() < 0:  # all may be 0 here: other partitions may have others
            raise ValueError("sample_weight must be one non-negative number for each sample.")
    return Block(X, y, weight)


def _is_missing(label: Label) -> bool:
    return label is None or type(label).__name__ == "NAType" or label != label


def _check_device(number: int, device: str) -> None:
    """Errors about a device are of the worker, which may have another one than the client, or none."""
    try:
        require_torch(device)
    except (ImportError, RuntimeError, ValueError) as error:
        raise type(error)(f"The worker of partition {number} of the dask collection: {error}") from error


def checked_rows(number: int, X: MatrixLike, form: RowForm) -> np.ndarray:
    """Samples of a partition in the common type; it may have none."""
    name, finite = form.estimator, "allow-nan" if form.missing else True
    with named(number):
        columns = [str(column) for column in X.columns] if hasattr(X, "columns") else None
        try:
            rows = check_array(
                X, dtype=form.dtype, estimator=name, input_name="X", ensure_min_samples=0, ensure_all_finite=finite
            )
        except ValueError as error:
            if not str(error).startswith("Input X contains"):
                raise
            found = " ".join((str(error).splitlines()[0], first_missing(X, infinite=form.missing)))
            what = "numbers that are not infinite" if form.missing else "finite numbers"
            raise ValueError(f"{found} {name} needs {what}. {form.advice}") from error
        if rows.shape[1] != form.n_features:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {name} is expecting {form.n_features} features as input."
            )
        if columns is not None and form.names is not None and columns != form.names:
            raise ValueError(f"X has the columns {columns}, and the data frame has {form.names}.")
    return rows


def column_of(values: MatrixLike) -> np.ndarray:
    """Labels of a partition, one for each row."""
    return column_or_1d(np.asarray(values))
