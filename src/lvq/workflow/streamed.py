"""`fit_table` of tables larger than memory: numbers only, in passes over the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq.streaming import fit_batches
from lvq.streaming.blocks import Block, Layout, Position
from lvq.streaming.sources import FileSource, FunctionSource
from lvq.table_headers import FIRST_ROW, check_columns, listed
from lvq.tables import TableError, as_text, column_names, read_parts
from lvq.typing import JSONValue
from lvq.workflow.drift import reference_of
from lvq.workflow.fit_result import FitResult, Progress
from lvq.workflow.missing_values import streamed_section
from lvq.workflow.pipelines import make_reject_classifier
from lvq.workflow.preparation import MIN_CLASS_ROWS
from lvq.workflow.runs import write_run
from lvq.workflow.study import named_rows, row_name

MIN_ROWS = 1000  # fewer rows are no stream
MAX_HELD_OUT = 20_000  # rows that are kept in memory, for the test and for the thresholds each
CALIBRATION = 0.3  # fraction of the other rows for the thresholds, up to that number


def check_stream_options(given: Mapping[str, object], missing: str, weights: Mapping[str, float] | str | None) -> None:
    """Raise ValueError for what needs the whole table: options of a design, medians and balanced weights."""
    unused = [name for name, value in given.items() if value]
    if unused:
        raise ValueError(
            f"stream=True (--stream) takes tables of numbers without a design; leave out {', '.join(unused)}."
        )
    if missing == "impute":
        raise ValueError(
            "stream=True (--stream) cannot fill missing numbers, as medians need the whole table. Use "
            "missing='ignore' (--missing ignore), or leave it out for tables without missing numbers."
        )
    if weights == "balanced":
        raise ValueError(
            "stream=True (--stream) cannot balance the classes, as their numbers need the whole table. Give the "
            "weights, as in --class-weight bad=5,good=1."
        )


def fit_stream(
    tables: list[Path],
    target: str,
    estimator: BaseEstimator,
    out: str | Path | None,
    max_error: float | None,
    confidence: float,
    coverage: float | None,
    drop: Sequence[str],
    test_size: float,
    seed: int,
    checkpoint: str | Path | None,
    progress: Progress,
) -> FitResult:
    """Fit a model to tables in parts, test it, and write the folder of the run."""
    from lvq.report import summarize

    progress("Fitting", 0, 3)
    fitted = fit_streamed(
        tables, target, estimator, drop=tuple(drop), test_size=test_size, seed=seed, checkpoint=checkpoint
    )
    classifier = make_reject_classifier(
        fitted.pipeline, max_error=max_error, confidence=confidence, coverage=coverage,
        n_samples=len(fitted.calibration[1]), seed=seed,
    )  # fmt: skip
    classifier.set_params(cv="prefit").fit(*fitted.calibration)
    notes = (*fitted.notes, *classifier.notes_)
    progress("Summarising", 1, 3)
    done = "" if fitted.missing is None else f" {fitted.missing['sentence']}"
    sentences = f"{fitted.notes[0]} Numbers were standardised.{done}"
    summary = summarize(
        classifier, *fitted.test, name=type(estimator).__name__, target_name=target, seed=seed,
        data_name=", ".join(table.name for table in tables), protocol=sentences,
        first_row=FIRST_ROW if len(tables) == 1 else 0,
    )  # fmt: skip
    summary["data"]["n_train"] = fitted.n_train
    summary["notes"], summary["rivals"] = list(notes), None
    summary["missing"], summary["time"] = fitted.missing, None
    summary["reference"] = reference_of(fitted.calibration[0], classifier.certainty(fitted.test[0]))
    progress("Writing", 2, 3)
    folder = None if out is None else write_run(classifier, summary, out)
    progress("Done", 3, 3)
    return FitResult(classifier, summary, notes, folder)


@dataclass(frozen=True)
class StreamedFit:
    """A pipeline fitted to a table that was not read whole, and the rows that were held out."""

    pipeline: Pipeline
    test: tuple[pd.DataFrame, np.ndarray]
    calibration: tuple[pd.DataFrame, np.ndarray]
    n_train: int
    notes: tuple[str, ...]
    missing: dict[str, JSONValue] | None = None


def fit_streamed(
    tables: Sequence[Path],
    target: str,
    estimator: BaseEstimator,
    *,
    drop: tuple[str, ...],
    test_size: float,
    seed: int,
    checkpoint: str | Path | None = None,
) -> StreamedFit:
    """Fit a pipeline of StandardScaler and a model to tables in three passes: classes, standardisation, training.

    The rows for the test and for the thresholds are drawn at random and never used in training. All columns must hold
    numbers; an estimator with ``missing="ignore"`` takes rows in which some are missing. With a checkpoint an
    interrupted run continues where it was.
    """
    names = column_names(tables[0])
    check_columns(names, [target, *drop], str(tables[0]))
    features = [name for name in names if name and name not in (target, *drop)]
    if not features:
        raise TableError(f"{tables[0]} has no column that can be a feature.")
    source = FileSource(list(tables), target, features, "text", FIRST_ROW)
    counted = [_class_counts(table, target) for table in tables]
    counts = sum(counted, Counter[str]())
    _check_counts(counts, target, tables)
    total = sum(counts.values())
    sizes = [sum(count.values()) for count in counted]
    held_out = HeldOut.drawn(total, test_size, seed, tuple(np.cumsum([0, *sizes[:-1]]).tolist()))
    ignores = getattr(estimator, "missing", "raise") == "ignore"
    layout = Layout(allow_nan=ignores, classes=np.array(sorted(counts)))

    def blocks() -> Iterator[Block]:
        return map(layout.checked, source.blocks(Position()))

    def batches() -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
        for block in blocks():
            kept = ~held_out.mask(block)
            yield pd.DataFrame(block.X[kept], columns=features), block.y[kept]

    pipeline = make_pipeline(StandardScaler(), streaming_model(estimator))
    rows = FunctionSource(
        batches,
        recognised_by=[source.description(), test_size, seed],
        named_by=lambda number: _row_of_file(held_out.trained_row(number - 1), tables, sizes),
    )
    fit_batches(pipeline, rows, classes=layout.classes, random_state=seed, checkpoint=checkpoint)
    test, calibration = ((named_rows(X, tables, sizes), y) for X, y in held_out.collected(blocks(), features))
    read = "tables were" if len(tables) > 1 else "table was"
    note = (
        f"The {read} read in parts (stream): {len(held_out.rows)} rows, drawn at random, were held out for test and "
        f"thresholds, and the model was trained on the {total - len(held_out.rows)} others, each once; there is no "
        "cross-validation."
    )
    n_train, notes = total - len(held_out.rows), [note]
    known = np.broadcast_to(pipeline[0].n_samples_seen_, len(features))  # one number where nothing is missing
    if (known == 0).any():
        empty = listed([name for name, count in zip(features, known) if not count])
        notes.append(f"Columns without a value in the training rows, which the model cannot use: {empty}.")
    return StreamedFit(pipeline, test, calibration, n_train, tuple(notes), streamed_section(known, n_train))


def streaming_model(estimator: BaseEstimator) -> BaseEstimator:
    """The estimator in a form that has `partial_fit`: without a ridge."""
    if not hasattr(estimator, "partial_fit") and "ridge" in estimator.get_params():
        estimator = estimator.set_params(ridge=0.0)
    if not hasattr(estimator, "partial_fit"):
        raise ValueError(
            f"{type(estimator).__name__} needs the whole table and cannot be fitted with --stream (stream=True); "
            "choose another model, such as lvq, gmlvq or glvq."
        )
    return estimator


def _row_of_file(row: int, tables: Sequence[Path], sizes: Sequence[int]) -> str:
    return row_name(row, tables, sizes) + (f" of {tables[0].name}" if len(tables) == 1 else "")


def _class_counts(table: Path, target: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for part in read_parts(table, [target]):
        counts.update(as_text(part[target]).tolist())
    missing = counts.pop(None, 0)  # type: ignore[call-overload]
    if missing:
        raise TableError(
            f"{missing} rows of {table} have no value of {target!r}, the first in {_first_row([table], target, None)}; "
            "with --stream (stream=True) every row needs one."
        )
    return counts


def _first_row(tables: Sequence[Path], target: str, label: str | None) -> str:
    """The first row of a class in some tables, for messages; they have one."""
    for table in tables:
        begin = FIRST_ROW
        for part in read_parts(table, [target]):
            found = np.flatnonzero([text == label for text in as_text(part[target]).tolist()])
            if len(found):
                return f"{table}, row {begin + found[0]}"
            begin += len(part)
    raise AssertionError(f"no row has the class {label!r}")


def _check_counts(counts: Counter[str], target: str, tables: Sequence[Path]) -> None:
    """Raise TableError for too few classes or rows."""
    table = ", ".join(map(str, tables))
    rare = [name for name, count in counts.items() if count < MIN_CLASS_ROWS]
    if len(counts) < 2 or rare:
        fewer = f", of which fewer rows have {listed(rare)}" if rare else ""
        first = f" (the first of {rare[0]!r}: {_first_row(tables, target, rare[0])})" if rare else ""
        raise TableError(
            f"The column {target!r} of {table} must have two classes or more with at least {MIN_CLASS_ROWS} rows each; "
            f"got {len(counts)} classes{fewer}{first}."
        )
    if sum(counts.values()) < MIN_ROWS:
        raise TableError(
            f"{table} has {sum(counts.values())} rows; --stream (stream=True) is for tables larger than memory and "
            f"needs {MIN_ROWS}. Leave it out."
        )


@dataclass(frozen=True)
class HeldOut:
    """Rows that are not for training: their numbers, ascending, which are for the test, and where files begin."""

    rows: np.ndarray
    for_test: np.ndarray
    begins: tuple[int, ...] = (0,)

    @classmethod
    def drawn(cls, total: int, test_size: float, seed: int, begins: tuple[int, ...] = (0,)) -> HeldOut:
        """Rows drawn at random, of files whose first rows have the given numbers."""
        n_test = min(MAX_HELD_OUT, ceil(test_size * total))
        n_calibration = min(MAX_HELD_OUT, ceil(CALIBRATION * (total - n_test)))
        rng = np.random.default_rng(seed)  # which needs no memory for the rows that are not drawn
        rows = rng.choice(total, n_test + n_calibration, replace=False, shuffle=False)
        return cls(np.sort(rows), rng.permutation(len(rows)) < n_test, begins)

    def trained_row(self, index: int) -> int:
        """Number of the row that is the given one, from 0, of those for training.

        Examples
        --------
        >>> [HeldOut(np.array([0, 3, 4]), np.ones(3, dtype=bool)).trained_row(index) for index in range(3)]
        [1, 2, 5]
        """
        before = self.rows - np.arange(len(self.rows))  # rows for training before each row that is held out
        return index + int(np.searchsorted(before, index, side="right"))

    def mask(self, block: Block) -> np.ndarray:
        """Which rows of a block are held out."""
        first = self.begins[block.start.file] + block.start.row
        begin, end = np.searchsorted(self.rows, [first, first + len(block.y)])
        mask = np.zeros(len(block.y), dtype=bool)
        mask[self.rows[begin:end] - first] = True
        return mask

    def collected(
        self, blocks: Iterator[Block], features: list[str]
    ) -> tuple[tuple[pd.DataFrame, np.ndarray], tuple[pd.DataFrame, np.ndarray]]:
        """The rows for the test, and those for the thresholds, under their numbers."""
        parts = [(block.X[mask], block.y[mask]) for block in blocks for mask in [self.mask(block)]]
        X, y = (np.concatenate(values) for values in zip(*parts))
        frame, test = pd.DataFrame(X, index=self.rows, columns=features), self.for_test
        return (frame[test], y[test]), (frame[~test], y[~test])
