"""Features and classes of a table: which columns are features, of which kind, and what is left out.

Rules:
- nothing is left out without a note; where a guess could be wrong, there is an error with a message about what to do;
- dates, free text and names of rows are never categories in silence;
- left out with a note are rows without a class, and columns that are empty, constant, without a name, or row numbers;
- the kind of a column (numbers or categories) is determined on the whole table; everything that is learned from values
  (means, categories, medians) is learned inside the model, from its training samples alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from lvq.table_headers import FIRST_ROW, MAX_LISTED, TableError, check_columns, listed
from lvq.tables import as_days, as_numbers, as_text, kind_of
from lvq.workflow.column_problems import MAX_CATEGORIES, check_not_dates, check_not_numbers, check_texts
from lvq.workflow.column_warnings import column_warnings, stray_text
from lvq.workflow.missing_codes import code_notes

MISSING_TEXT = "(missing)"  # the category of a missing text
MIN_CLASS_ROWS = 5  # of a class: for training, thresholds and test
MAX_FRACTIONAL_CLASSES = 20  # different values of a target with fractions; a measurement has more
LARGEST = 1e150  # magnitude of a number; sums of squares of larger ones overflow
IDENTIFIER = re.compile(
    r"(^|[\W_])(id|nr|patient|subject|participant|person|customer|client|case|donor|animal|batch|group)s?([\W_]|$)",
    flags=re.IGNORECASE,
)  # in the name of a column that may tell which rows belong together
MISSING_CELL = "an empty cell, or a text such as NA or None"


def row_of_table(place: int) -> str:
    """The name of a row in messages, by its position from 0."""
    return f"row {place + FIRST_ROW}"


@dataclass(frozen=True)
class Samples:
    """Features and classes of a table, and notes.

    Attributes
    ----------
    X : DataFrame
        The features: numbers as float64, categories as texts.
    y : ndarray of str
        The classes.
    gaps : tuple of str
        Columns of numbers in which some are missing.
    texts : tuple of str
        Columns of categories.
    notes : tuple of str
        Notes on rows and columns that were left out, and warnings.
    """

    X: pd.DataFrame
    y: np.ndarray
    gaps: tuple[str, ...]
    texts: tuple[str, ...]
    notes: tuple[str, ...]


def prepare(
    table: pd.DataFrame,
    target: str,
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Sequence[str] = (),
    source: str = "the table",
    min_class_rows: int = MIN_CLASS_ROWS,
    groups: pd.Series | None = None,
    row_name: Callable[[int], str] = row_of_table,
) -> Samples:
    """Extract features and classes from a table.

    Parameters
    ----------
    table : DataFrame
        Of `lvq.tables.read_table`, or of your own making.
    target : str
        The column of classes.
    drop : sequence of str, default=()
        Columns that are not features.
    categorical : sequence of str, default=()
        Columns of numbers, or of texts that look like notes, that are categories.
    dates : sequence of str, default=()
        Columns of dates that become numbers of days.
    source : str
        Name of the table in messages.
    min_class_rows : int, default=5
        Number of rows that every class must have.
    groups : Series, optional
        The group of each row; rows that repeat one of their own group are not noted.
    row_name : callable, optional
        The name of a row in messages, by its position in the table from 0; by default as a spreadsheet counts.

    Returns
    -------
    samples : Samples

    Examples
    --------
    >>> import pandas as pd
    >>> sizes = [1.0, 2.5, 1.2, 2.7, 0.9, 2.6, 1.1, 2.4, 1.3, 2.2]
    >>> table = pd.DataFrame({"size": sizes, "kind": list("abbababaab"), "same": 1.0, "class": ["x", "y"] * 5})
    >>> samples = prepare(table, "class")
    >>> list(samples.X), samples.texts, samples.notes
    (['size', 'kind'], ('kind',), ("Left out 1 column with the same value in all rows: 'same'.",))
    """
    check_columns(table.columns, [target, *drop, *categorical, *dates], source)
    if target in drop:
        raise TableError(f"The column {target!r} is the target and cannot be left out.")
    if kind_of(table[target]) == "other":
        raise TableError(f"The column {target!r} of {source} must hold classes, got {table[target].dtype}.")
    labels = as_text(table[target])
    known = np.array([label is not None for label in labels])
    notes = []
    if not known.all():
        notes.append(f"Left out {_counted((~known).sum(), 'row')} without a value of {target!r} ({MISSING_CELL}).")
    problems = []
    try:
        _check_classes(table[target], labels, target, source, min_class_rows)
    except TableError as error:
        problems.append(str(error))
    places, kinds = np.flatnonzero(known), Kinds(set(categorical), set(dates), source, row_name)
    features, more = _features(table.loc[known].drop(columns=[target, *drop]), places, kinds, problems)
    texts = tuple(name for name in features if kind_of(features[name]) == "text")
    gaps = tuple(name for name in features if kind_of(features[name]) == "number" and features[name].isna().any())
    repeated = _repeated(features.assign(**{target: labels[known]}), None if groups is None else groups[known])
    if repeated >= max(1, len(features) // 100):
        word = "1 row is a duplicate" if repeated == 1 else f"{repeated} rows are duplicates"
        notes.append(f"{word} of another row, so some test rows may also be training rows; {_remedy(table, groups)}.")
    classes = labels[known].astype(str)
    others = {*texts, *dates}
    notes += [*more, *column_warnings(features, classes, others, listed), *code_notes(features, others, MAX_LISTED)]
    return Samples(features, classes, gaps, texts, tuple(notes))


def _remedy(table: pd.DataFrame, groups: pd.Series | None) -> str:
    """What can be done about duplicates: groups, where a column may name them and they are not in use."""
    names = [str(name) for name in table.columns if IDENTIFIER.search(str(name))]
    if groups is None and names:
        return f"--group {names[0]!r} keeps such rows together, if equal values of it belong together"
    return "remove them from the table if they are the same case"


def _repeated(rows: pd.DataFrame, groups: pd.Series | None) -> int:
    """Number of rows that repeat another one; with groups, one of another group, as groups are not split."""
    repeated = int(rows.duplicated().sum()) if len(rows) else 0
    if groups is None or not repeated:
        return repeated
    inside = pd.concat([rows, groups.set_axis(rows.index).rename("\0group")], axis=1)
    return repeated - int(inside.duplicated().sum())


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _check_classes(column: pd.Series, labels: np.ndarray, target: str, source: str, min_class_rows: int) -> None:
    counted = Counter(labels.tolist())
    missing = counted.pop(None, 0)
    if not counted:
        raise TableError(f"The column {target!r} of {source} has no value in any row.")
    classes, counts = sorted(counted), np.array([counted[name] for name in sorted(counted)])
    if len(classes) == 1:
        beside = f", and {_counted(missing, 'row')} without a value ({MISSING_CELL})" if missing else ""
        raise TableError(
            f"The column {target!r} of {source} has only the class {classes[0]!r}{beside}; two or more are needed."
        )
    if len(classes) == len(labels) - missing:
        raise TableError(
            f"The column {target!r} of {source} has a different value in every row, so it identifies rows, not "
            "classes; choose another --target."
        )
    numbers = column.dropna()
    if kind_of(column) == "number" and len(classes) > MAX_FRACTIONAL_CLASSES and (numbers % 1 != 0).any():
        raise TableError(
            f"The column {target!r} of {source} holds {len(classes)} different numbers with fractions, so it is a "
            "measurement, not a class; convert it to ranges, or choose another --target."
        )
    if counts.min() < min_class_rows:
        rare = [f"{name!r} ({count})" for name, count in zip(classes, counts) if count < min_class_rows]
        more = f" and {len(rare) - MAX_LISTED} more" if len(rare) > MAX_LISTED else ""
        raise TableError(
            f"Every class of {target!r} needs at least {min_class_rows} rows for training and test, but {source} has "
            f"fewer of {', '.join(rare[:MAX_LISTED])}{more}; add rows, merge classes or leave them out."
        )


class Kinds(NamedTuple):
    """Columns whose kind the user has named, and the name of the table."""

    categorical: set[str]
    dates: set[str]
    source: str
    row_name: Callable[[int], str]

    def values(self, column: pd.Series, places: np.ndarray) -> np.ndarray:
        """The values of a feature; TableError where they cannot be used."""
        if column.name in self.dates:
            return as_days(column, self.source)
        if column.name not in self.categorical:
            check_not_dates(column, self.source)
        if column.name in self.categorical or kind_of(column) == "text":
            if column.name not in self.categorical:
                check_not_numbers(column, places, self.row_name, self.source)
            return _categories(column, self.source, checked=column.name not in self.categorical)
        return _numbers(column, places, self)


def _features(
    table: pd.DataFrame, places: np.ndarray, kinds: Kinds, problems: list[str]
) -> tuple[pd.DataFrame, list[str]]:
    """The usable columns, and notes on the others; one error reports all problems, the given ones too."""
    kept: dict[str, np.ndarray] = {}
    useless: dict[str, list[str]] = {}
    notes = []
    for name in table.columns:
        column = table[name]
        why = _useless(column, places) if name not in kinds.categorical else None
        if why is not None:
            useless.setdefault(why, []).append(name)
            continue
        try:
            kept[name] = kinds.values(column, places)
        except TableError as error:
            problems.append(str(error))
            continue
        stray = stray_text(set(kept[name]) - {MISSING_TEXT}) if kept[name].dtype == object else None
        if stray is not None and name not in kinds.categorical:
            notes.append(
                f"The column {name!r} holds numbers, but also texts such as {stray!r}, so its values are categories; "
                f"to use it as numbers, name them as missing with --missing-mark {f'{name}={stray}'!r}."
            )
    if problems:
        more = f" {len(problems) - MAX_LISTED} more columns have problems." if len(problems) > MAX_LISTED else ""
        raise TableError(" ".join(problems[:MAX_LISTED]) + more)
    if not kept:
        raise TableError(f"{kinds.source} has no column that can be a feature.")
    left_out = [
        f"Left out {_counted(len(names), 'column')} with {why}: {listed(names)}." for why, names in useless.items()
    ]
    return pd.DataFrame(kept, index=table.index), left_out + notes


def _useless(column: pd.Series, places: np.ndarray) -> str | None:
    """Why a column cannot be a feature, if so; `places` are the positions of its rows in the whole table, from 0."""
    if not column.notna().any():
        return "no value in any row"
    if kind_of(column) != "other" and column.nunique(dropna=False) == 1:
        return "the same value in all rows"
    if kind_of(column) == "number" and len(column) > 2:
        ahead = as_numbers(column) - places
        if ahead[0] in (0, 1) and (ahead == ahead[0]).all():
            return "the number of the row"
    return None


def _categories(column: pd.Series, source: str, *, checked: bool) -> np.ndarray:
    texts = as_text(column)
    texts[[text is None for text in texts]] = MISSING_TEXT
    different = set(texts)
    if checked or len(different) > MAX_CATEGORIES:
        check_texts(column, texts, different, MISSING_TEXT, source)
    return texts


def _numbers(column: pd.Series, places: np.ndarray, kinds: Kinds) -> np.ndarray:
    source = kinds.source
    if kind_of(column) == "other":
        raise TableError(
            f"The column {column.name!r} of {source} holds values of type {column.dtype}, neither numbers nor texts; "
            f"leave it out with --drop {column.name!r}, or convert it to numbers."
        )
    values = as_numbers(column)
    large = np.abs(values) > LARGEST
    if large.any():
        row = int(large.argmax())
        raise TableError(
            f"The column {column.name!r} of {source} holds {values[row]:g} in {kinds.row_name(places[row])}, which "
            "is too large to compute with; correct it or leave the cell empty."
        )
    return values
