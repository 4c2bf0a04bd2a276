"""`fit_batches`: passes over a stream, each batch once per pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, get_tags

from lvq.streaming.sources import Batches, Block, Layout, Source, make_source
from lvq.typing import Array, Labels, MatrixLike, Seed

BUFFER_BYTES = 1 << 25  # of rows that are read at a time in a first pass, or shuffled, where their number is not given


def fit_batches(
    estimator: BaseEstimator,
    batches: Batches,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    classes: ArrayLike | None = None,
    epochs: int = 1,
    batch_rows: int = 4096,
    shuffle_rows: int | None = None,
    random_state: Seed = 0,
) -> BaseEstimator:
    """Fit an estimator to a stream of batches or to files larger than memory.

    A first pass over all rows finds the classes, if they are not given, and the statistics of a scaler, if there is
    one. Each of the following passes trains by `partial_fit` with constant rates: for models with a cost, a tenth of
    the learning rate by default, or all of it with ``Online(schedule="constant")``, for streams that change fast.
    Training of a fitted or loaded estimator continues with `partial_fit`. Memory does not grow with the number of rows:
    it holds a few buffers, a part of a file (at most 16 MB), and a few copies of a batch.

    Parameters
    ----------
    estimator : estimator
        An estimator with `partial_fit`, or a Pipeline of a scaler with `partial_fit`, such as StandardScaler, and such
        an estimator.
        LVQClassifier has it with ``solver="online"`` or a relevance without a ridge. The estimator itself is fitted, or
        left as it was if an error is raised. With ``missing="ignore"`` rows may have missing values; standardisation
        uses the observed ones.
    batches : callable, path, or list of batches or paths
        A function that returns an iterator of the same batches at each call: pairs (X, y), or tables (pandas, Arrow)
        with the column `target`. X may be sparse, if it is sparse in all batches; it stays sparse, so a scaler must not
        centre, as in ``StandardScaler(with_mean=False)``. Or CSV, Parquet or Excel files, one or several with the same
        columns.
    target : str, optional
        The column of classes, needed for tables. Integers in Parquet files stay integers, other classes are
        strings; in CSV files all are strings, unless `classes` are numbers.
    features : sequence of str, optional
        Columns of numbers in a table; all but `target` by default.
    classes : array-like, optional
        All classes. If they are given and there is no scaler, no first pass is needed.
    epochs : int, default=1
        Number of training passes.
    batch_rows : int, default=4096
        Number of rows in a call of `partial_fit`. The first batch sets the starting prototypes.
    shuffle_rows : int, optional
        Number of rows in the buffer, in which rows are shuffled; 0 keeps their order. By default as many as fit in
        32 MB; for sparse rows this is estimated from the first batch. A stream that is sorted by class needs a buffer
        that spans the classes, or files in another order.
    random_state : int, RandomState or None, default=0
        Seed of the order of rows, and of an estimator whose own random_state is None.

    Returns
    -------
    estimator : estimator
        The same object, fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import lvq
    >>> def batches():
    ...     for seed in range(5):
    ...         y = np.arange(200) % 2
    ...         yield np.random.default_rng(seed).normal(size=(200, 3)) + 3 * y[:, None], y
    >>> model = lvq.fit_batches(make_pipeline(StandardScaler(), lvq.GLVQ()), batches, epochs=2)
    >>> model.predict([[0, 0, 0], [3, 3, 3]])
    array([0, 1])
    """
    for name, value, least in (("epochs", epochs, 1), ("batch_rows", batch_rows, 1), ("shuffle_rows", shuffle_rows, 0)):
        if value is not None and value < least:
            raise ValueError(f"{name} of fit_batches must be {least} or more, got {value}.")
    given = None if classes is None else np.unique(np.asarray(classes))
    model = clone(estimator)
    scaler, final = _steps(model)
    seed = check_random_state(random_state).randint(2**31 - 1)
    if final.get_params().get("random_state", 0) is None:
        final.set_params(random_state=seed)
    steps = [final] if scaler is None else [scaler, final]
    layout = Layout(allow_nan=all(get_tags(step).input_tags.allow_nan for step in steps), classes=given)
    source = make_source(batches, target, features, given)
    if given is None or scaler is not None:
        layout.classes = _first_pass(source, layout, scaler, batch_rows)
    random = np.random.RandomState(seed)
    for _ in range(epochs):
        for X, y in groups(source, layout, batch_rows, shuffle_rows):
            order = np.arange(len(y)) if shuffle_rows == 0 else random.permutation(len(y))
            X = _named(X, layout) if scaler is None else scaler.transform(_named(X, layout))
            for begin in range(0, len(y), batch_rows):
                rows = order[begin : begin + batch_rows]
                final.partial_fit(_safe_indexing(X, rows), y[rows], classes=layout.classes)
    _take_over(estimator, model)
    return estimator


def _steps(model: BaseEstimator) -> tuple[BaseEstimator | None, BaseEstimator]:
    """The scaler, or None, and the classifier."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    if len(steps) > 2 or not all(hasattr(step, "partial_fit") for step in steps):
        raise TypeError(
            "fit_batches needs an estimator with partial_fit, such as GLVQ, or a Pipeline of one scaler with "
            "partial_fit, such as StandardScaler, and such an estimator; got "
            f"{', '.join(type(step).__name__ for step in steps)}. LVQClassifier has it with solver='online'."
        )
    return (steps[0] if len(steps) == 2 else None), steps[-1]


def _first_pass(source: Source, layout: Layout, scaler: BaseEstimator | None, batch_rows: int) -> np.ndarray:
    """The classes of all rows; the scaler learns from them."""
    found: np.ndarray | None = None
    for X, y in groups(source, layout, batch_rows, None):
        found = np.unique(y if found is None else np.concatenate((found, y)))
        if scaler is not None:
            _learn_scale(scaler, X, layout)
    assert found is not None  # no rows are an error
    return found


def _learn_scale(scaler: BaseEstimator, X: Array, layout: Layout) -> None:
    """`partial_fit` of a scaler, which needs a value of each feature: scikit-learn's would keep NaN for good."""
    if not sparse.issparse(X) and (empty := np.flatnonzero(np.isnan(X).all(axis=0))).size:
        column = empty[0] if layout.names is None else repr(layout.names[empty[0]])
        raise ValueError(
            f"{type(scaler).__name__} of fit_batches needs a value of each feature in each part of the rows, but "
            f"column {column} has none in {len(X)} rows; leave the column out, or give rows in another order."
        )
    scaler.partial_fit(_named(X, layout))


def groups(source: Source, layout: Layout, batch_rows: int, shuffle_rows: int | None) -> Iterator[tuple[Array, Labels]]:
    """The rows of a source in groups that are shuffled, or learned from, at a time; blocks may end anywhere."""
    parts, held, wanted = list[Block](), 0, 0
    for block in source():
        if not len(block.y):
            continue
        block = layout.checked(block)
        wanted = wanted or _group_rows(block.X, batch_rows, shuffle_rows)
        parts.append(block)
        held += len(block.y)
        if held >= wanted:
            X, y = _joined(parts)
            whole = held - held % wanted
            yield from ((X[begin : begin + wanted], y[begin : begin + wanted]) for begin in range(0, whole, wanted))
            parts, held = [replace(block, X=X[whole:], y=y[whole:])] if whole < held else [], held - whole
    if parts:
        yield _joined(parts)
    if not wanted:
        raise ValueError("fit_batches got no rows: the function or the files hold none.")


def _group_rows(X: Array, batch_rows: int, shuffle_rows: int | None) -> int:
    """Rows of a group; where their number is not given, a whole number of batches by the memory of the first block."""
    if shuffle_rows == 0:
        return batch_rows
    if shuffle_rows is not None:
        return max(batch_rows, shuffle_rows)
    row_bytes = 1 + X.data.nbytes // X.shape[0]  # of the numbers that are stored
    return batch_rows * max(1, BUFFER_BYTES // (batch_rows * row_bytes))


def _joined(parts: Sequence[Block]) -> tuple[Array, Labels]:
    y = np.concatenate([part.y for part in parts])
    if sparse.issparse(parts[0].X):
        return sparse.vstack([part.X for part in parts], format="csr"), y
    return np.ascontiguousarray(np.concatenate([part.X for part in parts])), y


def _named(X: MatrixLike, layout: Layout) -> MatrixLike:
    """Samples with the names of their columns, where these have names."""
    if layout.names is None:
        return X
    import pandas as pd

    return pd.DataFrame(X, columns=list(layout.names), copy=False)


def _take_over(estimator: BaseEstimator, fitted: BaseEstimator) -> None:
    """Give an estimator what a copy of it has learned; its parameters stay."""
    if isinstance(estimator, Pipeline):
        for (_, step), (_, learned) in zip(estimator.steps, fitted.steps, strict=True):
            _take_over(step, learned)
        return
    parameters = estimator.get_params(deep=False)
    learned = {name: value for name, value in vars(fitted).items() if name not in parameters}
    estimator.__dict__ = {name: value for name, value in vars(estimator).items() if name in parameters} | learned
