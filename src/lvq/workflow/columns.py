"""Features and classes of a table: which columns are features, of which kind, what is left out, what is doubtful.

Rules:
- nothing is left out without a note; where a guess could be wrong, there is an error with a message about what to do;
- dates, names of rows and strings among numbers never become categories silently;
- left out with a note are rows without a class, and columns that are empty, constant, without a name, or row numbers;
- the kind of a column (numbers or categories) is determined on the whole table; everything that is learned from values
  (means, categories, medians) is learned inside the model, from its training samples alone;
- values that look like codes for missing ones, such as 9999, are noted but not changed: only the user knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from lvq.preprocessing.table import Kind, TablePreprocessor, read_cells
from lvq.tables.header import AS_FOUND, MAX_LISTED, Reading, TableError, listed
from lvq.tables.values import as_numbers, as_text, holds_dates, kind_of, looks_like_number

MISSING_CELL = "an empty cell, or a string such as NA or None"
MIN_CLASS_ROWS = 5  # of a class: for training, thresholds and test
LARGEST = 1e100  # magnitude of a number; sums of squares of larger ones may overflow, with a small unit too
MAX_CATEGORIES = 100  # of a column of strings; names, notes and dates have more
MANY_ROWS = 20  # from this number of rows on, strings that rarely repeat are names
MANY_TEXTS = 20  # of a column; above, they may be notes
MAX_CELLS = 5  # in a message
MIN_CODE_ROWS = 3  # of a code for missing values
_REPEATED = [float(digit * length) for digit in "789" for length in range(1, 7)]  # 7, 77, ..., 999999
CODES = [0.0, -1.0, 9.9, 99.9, 999.9, *_REPEATED, *(-number for number in _REPEATED)]  # usual for missing values


@dataclass(frozen=True)
class TableOptions:
    """What the columns of a table are, and how it is read.

    Attributes
    ----------
    features, drop : sequence of str
        Columns that are features (all by default), and columns that are not; patterns such as "lab_*" are allowed.
    categorical : sequence of str
        Columns of categories that are numbers, or strings that look like notes.
    dates : sequence of str
        Columns of dates that become numbers of days; other columns of dates are an error.
    detection_limits : sequence of str
        Columns of numbers in which a value such as "<0.5" is below a detection limit and becomes half of the limit.
    missing_marks : sequence of str
        Additional strings and numbers that mark a missing value: "n.d." in all features, "glucose=0" in one. The run
        stores them, and they apply to predictions and validations too.
    reading : Reading
        How files are read: encoding, sheet and header row.

    Examples
    --------
    >>> TableOptions(drop=["id"]).drop
    ['id']
    """

    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    dates: Sequence[str] = ()
    detection_limits: Sequence[str] = ()
    missing_marks: Sequence[str] = ()
    reading: Reading = AS_FOUND


@dataclass(frozen=True)
class Samples:
    """Features and classes of a table, and notes.

    Attributes
    ----------
    X : DataFrame
        The features: numbers as float64, categories as strings.
    y : ndarray of str
        The classes.
    places : ndarray of int
        Positions of the rows in the table.
    notes : tuple of str
        Notes on rows and columns that were left out, and warnings.
    preprocessor : TablePreprocessor
        Makes features of the columns; not fitted.
    """

    X: pd.DataFrame
    y: np.ndarray
    places: np.ndarray
    notes: tuple[str, ...] = ()
    preprocessor: TablePreprocessor = field(default_factory=TablePreprocessor)


def prepare(
    table: pd.DataFrame,
    target: str,
    options: TableOptions | None = None,
    *,
    source: str = "the table",
    min_class_rows: int = MIN_CLASS_ROWS,
) -> Samples:
    """Extract features and classes from a table.

    Parameters
    ----------
    table : DataFrame
        The whole table, with the column of classes and those that may be features; its index names the rows.
    target : str
        The column of classes.
    options : TableOptions, optional
        What the columns are.
    source : str
        Name of the table in messages.
    min_class_rows : int, default=5
        Number of rows that every class must have.

    Returns
    -------
    samples : Samples

    Examples
    --------
    >>> import pandas as pd
    >>> sizes = [1.0, 2.5, 1.2, 2.7, 0.9, 2.6, 1.1, 2.4, 1.3, 2.2]
    >>> table = pd.DataFrame({"size": sizes, "kind": list("abbababaab"), "same": 1.0, "class": ["x", "y"] * 5})
    >>> samples = prepare(table, "class")
    >>> list(samples.X), samples.preprocessor.categorical, samples.notes
    (['size', 'kind'], ['kind'], ("Left out 1 column with the same value in all rows: 'same'.",))
    """
    options = options or TableOptions()
    if kind_of(table[target]) == "other":
        raise TableError(f"The column {target!r} of {source} must hold classes, got {table[target].dtype}.")
    labels = as_text(table[target])
    known = np.array([label is not None for label in labels])
    notes = []
    if not known.all():
        notes.append(f"Left out {_counted((~known).sum(), 'row')} without a value of {target!r} ({MISSING_CELL}).")
    problems = []
    try:
        _check_classes(labels, target, source, min_class_rows)
    except TableError as error:
        problems.append(str(error))
    places = np.flatnonzero(known)
    features, more = _features(table.loc[known].drop(columns=target), places, options, source, problems)
    classes = labels[known].astype(str)
    numbers = features.select_dtypes(np.number)
    measured = numbers.drop(columns=[name for name in numbers if name in options.dates])
    notes += more
    texts = [name for name in features if name not in numbers]
    for name in texts:
        count = features[name].nunique()
        if count > MANY_TEXTS and name not in options.categorical:
            notes.append(f"One-hot encoded {name!r}, {count} strings; if these are notes, use --drop {name!r}.")
    preprocessor = TablePreprocessor(
        categorical=texts,
        dates=[name for name in features if name in options.dates],
        detection_limits=[name for name in features if name in options.detection_limits],
        gaps=list(numbers.columns[numbers.isna().any()]),
    )
    return Samples(features, classes, places, (*notes, *code_notes(measured)), preprocessor)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _check_classes(labels: np.ndarray, target: str, source: str, min_class_rows: int) -> None:
    counted = Counter(labels.tolist())
    missing = counted.pop(None, 0)
    if not counted:
        raise TableError(f"The column {target!r} of {source} has no value in any row.")
    if len(counted) == 1:
        beside = f", and {_counted(missing, 'row')} without a value ({MISSING_CELL})" if missing else ""
        raise TableError(
            f"The column {target!r} of {source} has only the class {next(iter(counted))!r}{beside}; two or more are "
            "needed."
        )
    rare = [f"{name!r} ({count})" for name, count in sorted(counted.items()) if count < min_class_rows]
    if rare:
        more = f" and {len(rare) - MAX_LISTED} more" if len(rare) > MAX_LISTED else ""
        raise TableError(
            f"Every class of {target!r} needs at least {min_class_rows} rows for training and test, but {source} has "
            f"fewer of {', '.join(rare[:MAX_LISTED])}{more}; add rows, merge classes or leave them out. Where the "
            "column is a measurement or names the rows, choose another --target."
        )


def _features(
    table: pd.DataFrame, places: np.ndarray, options: TableOptions, source: str, problems: list[str]
) -> tuple[pd.DataFrame, list[str]]:
    """The usable columns, and notes on the others; one error reports all problems, the given ones too."""
    kept: dict[str, np.ndarray] = {}
    useless: dict[str, list[str]] = {}
    for name in table.columns:
        why = _useless(table[name], places) if name not in options.categorical else None
        if why is not None:
            useless.setdefault(why, []).append(name)
            continue
        try:
            kept[name] = _values(table[name], options, source)
        except TableError as error:
            problems.append(str(error))
    if problems:
        more = f" {len(problems) - MAX_LISTED} more columns have problems." if len(problems) > MAX_LISTED else ""
        raise TableError(" ".join(problems[:MAX_LISTED]) + more)
    if not kept:
        raise TableError(f"{source} has no column that can be a feature.")
    left_out = [
        f"Left out {_counted(len(names), 'column')} with {why}: {listed(names)}." for why, names in useless.items()
    ]
    return pd.DataFrame(kept, index=table.index), left_out


def _values(column: pd.Series, options: TableOptions, source: str) -> np.ndarray:
    """The values of a feature; TableError where they cannot be used."""
    values = read_cells(column, _kind(column, options, source), set(), source, column.index.tolist().__getitem__)
    if values.dtype == object:
        return values
    large = np.abs(values) > LARGEST
    if large.any():
        row = int(large.argmax())
        raise TableError(
            f"The column {column.name!r} of {source} holds {values[row]:g} in row {column.index[row]}, which is "
            "too large to compute with; correct it or leave the cell empty."
        )
    return values


def _kind(column: pd.Series, options: TableOptions, source: str) -> Kind:
    """The kind of a column; TableError where it is not clear."""
    if column.name in options.dates:
        return "date"
    if column.name in options.categorical:
        return "category"
    if holds_dates(column):
        first = column.dropna().iloc[0]
        raise TableError(
            f"The column {column.name!r} of {source} holds dates, such as {str(first)!r}; leave it out with --drop "
            f"{column.name!r}, use it as a number of days with --date {column.name!r}, or split by it with --time "
            f"{column.name!r}."
        )
    if kind_of(column) != "text" or column.name in options.detection_limits:
        return "number"
    _check_not_numbers(column, source)
    _check_texts(column, source)
    return "category"


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


# -- problems of single columns ----------------------------------------------------------------------------------------


def _check_not_numbers(column: pd.Series, source: str) -> None:
    """Raise TableError if most strings are numbers: the others are typing errors, marks or limits."""
    known = column.dropna()
    values = known.astype(str).to_numpy()
    others = np.array([not looks_like_number(value) for value in values])
    limits = all(value.startswith("<") and looks_like_number(value[1:]) for value in values[others])
    if not others.any() or (2 * others.sum() >= len(values) and not limits):
        return
    cells = [(values[k], f"row {known.index[k]}") for k in np.flatnonzero(others)[:MAX_CELLS]]
    shown = ", ".join(f"{value!r} in {row}" for value, row in cells)
    more = f" and {others.sum() - MAX_CELLS} more" if others.sum() > MAX_CELLS else ""
    what = f"The column {column.name!r} of {source} holds numbers, but {others.sum()} of {len(values)} values are"
    categories = f"or use all values as categories with --categorical {column.name!r}."
    if limits:
        raise TableError(
            f"{what} below a detection limit: {shown}{more}; use half the limit for each with --detection-limit "
            f"{column.name!r}, {categories}"
        )
    marks = " ".join(f"--missing-mark {f'{column.name}={value}'!r}" for value in dict(cells))
    raise TableError(f"{what} not: {shown}{more}; correct them, name them as missing with {marks}, {categories}")


def _check_texts(column: pd.Series, source: str) -> None:
    """Raise TableError for strings that are not categories."""
    known = as_text(column.dropna()).tolist()
    values, name = sorted(set(known)), column.name
    what, leave = f"The column {name!r} of {source}", f"leave it out with --drop {name!r}"
    if all(map(looks_like_number, values)):
        comma = next((value for value in values if "," in value), values[0])
        raise TableError(
            f"{what} holds numbers with a comma, such as {comma!r}, which may be decimal commas or separators of "
            "thousands; write them with a decimal point and without separators, or delimit the columns by semicolons."
        )
    many = len(known) >= MANY_ROWS and 2 * len(values) > len(known)
    if many or len(values) > MAX_CATEGORIES or len(values) == len(known):
        raise TableError(
            f"{what} holds {len(values)} different strings in {len(known)} rows, such as {known[0]!r}, so it names "
            f"rows rather than categories; {leave}, or, where rows of one string belong together, name it with --group "
            f"{name!r}, or use it with --categorical {name!r}."
        )


# -- codes for missing values ------------------------------------------------------------------------------------------


def code_notes(numbers: pd.DataFrame) -> list[str]:
    """Notes on values that look like codes for missing ones: usual codes, in several rows, far from the other values.

    Examples
    --------
    >>> table = pd.DataFrame({"glucose": [0.0, 0.0, 0.0, *np.arange(80.0, 120.0)]})
    >>> for note in code_notes(table):
    ...     print(note)
    'glucose' is 0 in 3 rows, far from its other values (80 to 119): if 0 means missing, use --missing-mark 'glucose=0'.
    """
    notes = []
    for name in numbers:
        coded = numbers[name].isin(CODES)
        low, lower, upper, high = numbers[name][~coded].quantile([0, 0.25, 0.75, 1]).tolist()
        for code, count in numbers[name][coded].value_counts(sort=False).sort_index().items():
            if max(low - code, code - high) > upper - lower > 0 and MIN_CODE_ROWS <= count <= len(coded) / 2:
                notes.append(
                    f"{name!r} is {code:.15g} in {count} rows, far from its other values ({low:g} to {high:g}): if "
                    f"{code:.15g} means missing, use --missing-mark {f'{name}={code:.15g}'!r}."
                )
    return notes
