"""`fit_batches`: passes over a stream, each batch once per pass, with checkpoints between batches."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, get_tags

from lvq.estimators.first_batches import fit_first_batch
from lvq.estimators.registry import estimator_types
from lvq.model.sparse_rows import is_sparse
from lvq.persistence.files import to_bytes
from lvq.streaming.blocks import Layout, Position, RowReader, Source
from lvq.streaming.checkpoints import Checkpoint, CheckpointFile, Progress
from lvq.streaming.drift import reseed_idle
from lvq.streaming.scaling import learn_scale, moments_after
from lvq.streaming.sources import Batches, make_source
from lvq.typing import Array, JSONValue, Labels, MatrixLike, Seed

logger = logging.getLogger(__name__)

BUFFER_BYTES = 1 << 26  # of rows that are read at a time in a first pass, or shuffled, where their number is not given


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
    reseed_after: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = 100,
    random_state: Seed = 0,
) -> BaseEstimator:
    """Fit an estimator to a stream of batches or to files larger than memory.

    A first pass over all rows finds the classes, where they are not given, and the statistics of a scaler, if there is
    one. Each of the following passes trains by `partial_fit`, with constant rates: by default a tenth of the
    `learning_rate` of models with a cost; with ``schedule="constant"``, for streams that change fast, as it is given.
    Memory does not grow with the number of rows: it is the buffer, up to nine parts of a file, which are read ahead
    (at most 16 MB each), and a few copies of a batch, besides the Python process with its packages.

    Parameters
    ----------
    estimator : estimator
        An estimator with `partial_fit`, or a Pipeline of a scaler with `partial_fit`, such as StandardScaler, and one.
        LVQClassifier has it with ``solver="online"`` or ``ridge=0``. The estimator is fitted, and stays as it was
        where an error is raised. With ``missing="ignore"`` rows may have missing values; standardisation is by the
        observed ones.
    batches : callable, path, or list of batches or paths
        A function that returns an iterator of batches, the same at each call: pairs (X, y), or tables (pandas, Arrow)
        with the column `target`. X may be sparse, in all batches; it stays so, with a scaler that does not centre, such
        as ``StandardScaler(with_mean=False)``. Or CSV, Parquet, Arrow or ARFF files, one or several with the same
        columns.
    target : str, optional
        The column of classes, needed for tables. Integers in Parquet and Arrow files stay integers, other classes are
        texts; in CSV files all are texts, unless `classes` are numbers.
    features : sequence of str, optional
        Columns of numbers in a table; all but `target` by default.
    classes : array-like, optional
        All classes. If they are given and there is no scaler, no first pass is needed.
    epochs : int, default=1
        Number of training passes.
    batch_rows : int, default=4096
        Number of rows in a call of `partial_fit`. The first batch sets the starting prototypes.
    shuffle_rows : int, optional
        Number of rows in the buffer, in which rows are shuffled; 0 keeps their order. By default as many as take 64 MB;
        of sparse rows, as many as would if all were like those of the first batch.
        A stream that is sorted by class needs a buffer that spans the classes, or files in another order.
    reseed_after : int, optional
        For streams that drift: a prototype that has not been the nearest of its class for so many rows moves to a
        sample of its class that is predicted wrongly.
    checkpoint : path, optional
        A file for the state of the run. If it exists, the run continues from it: killed at any moment and started
        again with the same arguments, a run has exactly the result of an undisturbed one. It stays after the end;
        remove it to start again. Where a run continues is logged, at the level INFO of the logger "lvq.streaming".
    every : int, default=100
        Number of batches from one checkpoint to the next.
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
    given = None if classes is None else np.unique(np.asarray(classes))
    source = make_source(batches, target, features, given)
    settings = Settings(epochs, batch_rows, shuffle_rows, reseed_after, every)
    run = _Run(estimator, settings, random_state, given)
    if checkpoint is not None:
        run.continue_from(
            CheckpointFile(checkpoint),
            {
                "estimator": hashlib.sha256(to_bytes(run.model)).hexdigest(),
                "batches (files)": source.description(),
                "target": target,
                "features": None if features is None else list(features),
                "classes": None if given is None else given.tolist(),
                "random_state": int(random_state) if isinstance(random_state, int | np.integer) else None,
                **{name: value for name, value in settings._asdict().items() if name != "every"},
            },
            source,
        )
    _take_over(estimator, run.to_the_end(source))
    return estimator


class Settings(NamedTuple):
    """Numbers that a run is given."""

    epochs: int
    batch_rows: int
    shuffle_rows: int | None
    reseed_after: int | None
    every: int

    def check(self) -> None:
        """Raise ValueError for a number that is too small."""
        least = {"epochs": 1, "batch_rows": 1, "shuffle_rows": 0, "reseed_after": 1, "every": 1}
        for name, value in self._asdict().items():
            if value is not None and value < least[name]:
                raise ValueError(f"{name} of fit_batches must be {least[name]} or more, got {value}.")


class _Run:
    """A run over a stream: a copy of the estimator that is trained, and how far it has come."""

    def __init__(
        self, estimator: BaseEstimator, settings: Settings, random_state: Seed, classes: Labels | None
    ) -> None:
        settings.check()
        self.settings = settings
        self.file: CheckpointFile | None = None
        self.arguments: dict[str, JSONValue] = {}
        self._use(clone(estimator))
        steps = [step for step in (self.scaler, self.final) if step is not None]
        self.layout = Layout(allow_nan=all(get_tags(step).input_tags.allow_nan for step in steps), classes=classes)
        fixed = isinstance(random_state, int | np.integer)
        seed = random_state if fixed else check_random_state(random_state).randint(2**31 - 1)
        self.progress = Progress(int(seed), stage=0 if classes is None or self.scaler is not None else 1)  # type: ignore[arg-type]

    def _use(self, model: BaseEstimator) -> None:
        steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
        self.model, self.final, self.scaler = model, steps[-1], steps[0] if len(steps) == 2 else None
        if len(steps) > 2 or not all(hasattr(step, "partial_fit") for step in steps):
            raise TypeError(
                "fit_batches needs an estimator with partial_fit, such as GLVQ, or a Pipeline of one scaler with "
                f"partial_fit, such as StandardScaler, and one; got {', '.join(type(step).__name__ for step in steps)}."
                f"{''.join(map(_remedy, steps))}"
            )
        if self.settings.reseed_after is not None and type(self.final) not in estimator_types().values():
            raise TypeError(f"reseed_after of fit_batches needs a model of lvq, got {type(self.final).__name__}.")

    def continue_from(self, file: CheckpointFile, arguments: dict[str, JSONValue], source: Source) -> None:
        """Continue from a checkpoint, if there is one, and write the next ones."""
        self.file, self.arguments = file, arguments
        stored = file.read(arguments, self.layout.allow_nan)
        if stored is not None:
            self.progress, self.layout = stored.progress, stored.layout
            self._use(stored.model)
            logger.info(self._continuing(file, source))
        file.remove_remains()

    def _continuing(self, file: CheckpointFile, source: Source) -> str:
        """Where a run continues, in one sentence."""
        stage, epochs = self.progress.stage, self.settings.epochs
        if stage > epochs:
            return f"The checkpoint {file.path} holds the finished training, which is used; remove it to train again."
        passing = f"training pass {stage} of {epochs}" if stage else "the first pass, for classes and scales"
        begin, used = source.row_name(self.progress.position), self.progress.done * self.settings.batch_rows
        after = f", of which {used} were used before" if stage and used else ""  # the buffer is shuffled again
        return f"Continuing from the checkpoint {file.path} in {passing}, with the rows from {begin} on{after}."

    def to_the_end(self, source: Source) -> BaseEstimator:
        """The fitted model."""
        if self.final.get_params().get("random_state", 0) is None:
            self.final.set_params(random_state=self.progress.seed)
        while self.progress.stage <= self.settings.epochs:
            self._pass(source)
            if self.progress.stage > self.settings.epochs:
                self._write()
        return self.model

    def _pass(self, source: Source) -> None:
        """One pass over the rows, or its remainder: groups of rows, shuffled, in batches; the first pass by groups."""
        progress = self.progress
        reader = RowReader(source, self.layout, progress.position)
        while (rows := reader.next_rows(self._group_rows)) is not None:
            count = len(rows.y)
            order, X = self._order(count), self._scaled(rows.X)
            size = self.settings.batch_rows if progress.stage else count
            for begin in range(progress.done * size, count, size):
                part = slice(begin, begin + size) if order is None else order[begin : begin + size]
                self._learn(_safe_indexing(X, part), rows.y[part])
                progress.done += 1
                before, every = progress.batches, self.settings.every
                progress.batches += -(-min(size, count - begin) // self.settings.batch_rows)
                if progress.batches // every > before // every:
                    self._write()
            progress.position, progress.group, progress.done = reader.position, progress.group + 1, 0
        if progress.group == 0:
            raise ValueError("fit_batches got no rows: the function or the files hold none.")
        self.progress = replace(progress, stage=progress.stage + 1, position=Position(), group=0)
        if self.layout.classes is None:
            self.layout.classes = self.layout.found

    def _group_rows(self) -> int:
        """Rows in the buffer; a whole number of batches where their number is not given."""
        rows, wanted, layout = self.settings.batch_rows, self.settings.shuffle_rows, self.layout
        if self.progress.stage > 0 and wanted == 0:
            return rows
        if self.progress.stage == 0 or wanted is None:
            return rows * max(1, BUFFER_BYTES // (rows * layout.row_bytes))
        return max(rows, wanted)

    def _order(self, count: int) -> np.ndarray | None:
        progress = self.progress
        if progress.stage == 0 or self.settings.shuffle_rows == 0:
            return None
        return np.random.RandomState([progress.seed, progress.stage, progress.group]).permutation(count)

    def _scaled(self, X: Array) -> MatrixLike:
        """A group of rows as the model gets them; unchanged in the first pass, which the scaler learns from."""
        if is_sparse(X) and getattr(self.scaler, "with_mean", False):
            raise ValueError(
                f"{type(self.scaler).__name__} of fit_batches centres the features, which would make sparse rows "
                f"dense; use {type(self.scaler).__name__}(with_mean=False) or MaxAbsScaler."
            )
        if self.scaler is None or self.progress.stage == 0:
            return X
        return self.scaler.transform(self._named(X))

    def _named(self, X: MatrixLike) -> MatrixLike:
        return X if self.layout.names is None else _frame(X, self.layout.names)

    def _learn(self, X: MatrixLike, y: Labels) -> None:
        classes = self.layout.classes
        if self.progress.stage == 0:
            if self.scaler is not None:
                learn_scale(self.scaler, X, self._named(X))
            return
        assert classes is not None  # found in the first pass, or given
        rows = self._named(X) if self.scaler is None else X
        moments = moments_after(self.scaler) if self.layout.allow_nan and not hasattr(self.final, "model_") else None
        if moments is not None and getattr(self.final, "missing", "raise") == "ignore":
            fit_first_batch(self.final, rows, classes[y], classes, moments)
        else:
            self.final.partial_fit(rows, classes[y], classes=classes)
        if self.settings.reseed_after is not None:
            progress, X = self.progress, X if is_sparse(X) else np.asarray(X)
            random_state = np.random.RandomState([progress.seed, progress.batches])
            progress.idle = reseed_idle(self.final, X, y, progress.idle, self.settings.reseed_after, random_state)

    def _write(self) -> None:
        if self.file is not None:
            self.file.write(Checkpoint(self.arguments, self.progress, self.layout, self.model))


def _remedy(step: BaseEstimator) -> str:
    """What to set, where a class has `partial_fit` and an estimator of it has not; empty otherwise."""
    if not hasattr(type(step), "partial_fit"):
        return ""
    try:
        step.partial_fit  # noqa: B018
    except AttributeError as error:
        return f" {error}"
    return ""


def _frame(X: MatrixLike, names: tuple[str, ...]) -> MatrixLike:
    """Samples with the names of their columns, without a copy."""
    import pandas as pd

    return pd.DataFrame(X, columns=list(names), copy=False)


def _take_over(estimator: BaseEstimator, fitted: BaseEstimator) -> None:
    """Give an estimator what a copy of it has learned; its parameters stay."""
    if isinstance(estimator, Pipeline):
        for (_, step), (_, learned) in zip(estimator.steps, fitted.steps, strict=True):
            _take_over(step, learned)
        return
    parameters = estimator.get_params(deep=False)
    learned = {name: value for name, value in vars(fitted).items() if name not in parameters}
    estimator.__dict__ = {name: value for name, value in vars(estimator).items() if name in parameters} | learned
