"""The data of a report: names and sizes, gaps, duplicates, and columns through which the class may leak."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import mannwhitneyu
from sklearn.utils.validation import column_or_1d

from lvq.inspection.importance import VariableImportances
from lvq.plots.arrays import ordered_axis
from lvq.reports.folds import Folds
from lvq.reports.held_out import HeldOut
from lvq.reports.metrics import Codes, fraction_of
from lvq.reports.text import count, counted, label_texts, listed, percent
from lvq.typing import Floats, MatrixLike

MAX_IMPORTANCE = 0.5  # of a single column, above which it may contain the class
MAX_AREA = 0.99  # AUC of a single column, from which on it may contain the class
MAX_FRACTION = 0.4  # columns that separate the classes alone are suspicious up to this fraction of all
MIN_CLASS = 5  # test samples that a class needs for its AUC
MIN_COLUMNS = 4  # with fewer, such an importance is normal
MIN_ROWS = 50  # with fewer, a different whole number in each row is normal


@dataclass(frozen=True)
class Context:
    """What a study knows in addition to the model and the samples.

    Attributes
    ----------
    title : str, optional
        Name of the model on the page; by default its class.
    data_name, target : str
        Names of the data and of the column of classes.
    row_names : str, optional
        How samples are named, as a sentence.
    protocol : str
        How the data were split and prepared.
    notes : sequence of str
        What was left out, and warnings.
    seed : int, optional
        Seed of the split and of the model.
    dates : collection of str
        Columns of days since 1970.
    marks : dict
        Strings that mark a missing value, by column.
    groups : ndarray, optional
        Groups of the held-out samples; samples of one group are not independent.
    folds : Folds, optional
        From a cross-validation among the training samples.
    importances : VariableImportances, optional
        Importances of the columns with their intervals; computed without intervals otherwise.
    """

    title: str | None = None
    data_name: str = "data"
    target: str | None = None
    row_names: str | None = None
    protocol: str | None = None
    notes: Sequence[str] = ()
    seed: int | None = None
    dates: Collection[str] = ()
    marks: dict[str, list[str]] = field(default_factory=dict)
    groups: np.ndarray | None = field(default=None, repr=False)
    folds: Folds | None = None
    importances: VariableImportances | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Data:
    """Sizes of the data; classes are in natural order, then classes that the model does not know."""

    n_columns: int
    n_samples: int
    classes: list[str]
    train_counts: list[int] | None
    variables: list[str]  # the columns that the page names
    n_train: int | None
    gaps: dict[str, float]  # fraction of missing values, by column
    n_repeated: int  # test samples with the values of an earlier one
    n_known: int | None  # test samples with the values of a training sample
    suspects: list[str]  # sentences on what may make the results too good


def data_of(
    held_out: HeldOut,
    importances: VariableImportances | None,
    X_train: MatrixLike | None,
    y_train: ArrayLike | None,
) -> Data:
    """The data of a report."""
    columns, trained = held_out.columns, None if y_train is None else column_or_1d(y_train)
    rows = [row.tobytes() for row in held_out.inputs]
    missing = np.array([[cell is None for cell in row] for row in held_out.cells]).mean(axis=0)
    known = None
    if X_train is not None:
        seen = {row.tobytes() for row in np.asarray(columns.found.inputs(X_train), dtype=np.float64)}
        known = sum(row in seen for row in rows)
    return Data(
        n_columns=len(columns.all_names),
        n_samples=len(held_out.y),
        classes=label_texts(held_out.labels),
        train_counts=None if trained is None else [int((trained == label).sum()) for label in held_out.labels],
        variables=columns.names,
        n_train=None if trained is None else len(trained),
        gaps={name: float(rate) for name, rate in zip(columns.names, missing) if rate},
        n_repeated=len(rows) - len(set(rows)),
        n_known=known,
        suspects=_suspects(held_out, importances, known if known and 2 * len(set(rows)) > len(rows) else 0),
    )


def _suspects(held_out: HeldOut, importances: VariableImportances | None, n_known: int) -> list[str]:
    """What may make the results better than they would be for new samples."""
    columns, found = held_out.columns, []
    if n_known:
        found.append(
            f"{counted(n_known, 'test sample')} of {count(len(held_out.y))} ({percent(n_known / len(held_out.y))}) "
            f"{'has' if n_known == 1 else 'have'} the same values as a training sample: leave out copies of a case."
        )
    alone = _enough_alone(held_out)
    if alone:
        start = f"Column {listed(alone)}" if len(alone) == 1 else f"Each of the columns {listed(alone)}"
        found.append(f"{start} separates the classes almost perfectly. Is it known before the class? If not, drop it.")
    low, _ = fraction_of(held_out.correct).interval or (0.0, 1.0)
    useful = low > np.bincount(held_out.y).max() / len(held_out.y)
    if useful and importances is not None and len(importances.names) >= MIN_COLUMNS:
        first = int(importances.order[0])
        share = float(importances.importances[first])
        name = str(importances.names[first])
        if share > MAX_IMPORTANCE and name not in alone:
            found.append(
                f"Column {name} has {percent(share)} of the importance. Is it known before the class? If not, drop it."
            )
    numbers = [k for k, values in enumerate(held_out.numbers.T) if k not in columns.dates and _numbers_rows(values)]
    numbered = [columns.names[k] for k in numbers]
    if numbered and columns.in_units:
        found.append(
            f"Columns with a different whole number in every test sample: {listed(numbered)}. Drop any identifiers."
        )
    return found


def _enough_alone(held_out: HeldOut) -> list[str]:
    """Columns that separate the classes on their own: by order, or by values that have one class each."""
    y, columns = held_out.y, held_out.columns
    if len(y) < MIN_ROWS or len(np.unique(y)) < 2 or columns.images() is not None or ordered_axis(columns.names):
        return []
    cells = ([str(row[k]) for row in held_out.cells] for k in range(len(columns.names)))
    every = zip(columns.names, held_out.numbers.T, cells)
    found = [name for name, numbers, values in every if _orders(numbers, y) or _names_classes(values, y)]
    return found if len(found) <= max(1, MAX_FRACTION * len(columns.names)) else []  # or the classes are far apart


def _orders(values: Floats, y: Codes) -> bool:
    """Whether each class lies beyond the one before it, with an AUC of at least `MAX_AREA`."""
    by_class = [values[(y == label) & ~np.isnan(values)] for label in np.unique(y)]
    by_class = sorted((one for one in by_class if len(one) >= MIN_CLASS), key=np.median)
    areas = [mannwhitneyu(high, low)[0] / len(high) / len(low) for low, high in pairwise(by_class)]
    return bool(areas) and min(areas) >= MAX_AREA


def _names_classes(values: list[str], y: Codes) -> bool:
    """Whether each value has a single class, and values repeat."""
    pairs = set(zip(values, y.tolist()))
    return len(pairs) == len(set(values)) <= len(y) / 3


def _numbers_rows(values: Floats) -> bool:
    """Whether each row has another whole number."""
    whole = len(values) >= MIN_ROWS and bool((values == np.round(values)).all())
    return whole and len(np.unique(values)) == len(values)
