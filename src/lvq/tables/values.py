"""The values of a column: numbers, strings or others; dates as days; marks of missing values.

Rules:
- leading and trailing blanks of a string are removed; an empty string and the usual marks, such as NA, are missing;
- numbers are float64 with NaN for missing ones, strings are objects with None for missing ones;
- booleans are the strings "True" and "False", however a file writes them, so a model fitted on a CSV file can read a
  Parquet file too;
- year first (2024-03-01), with the name of a month (1 March 2024), and with full stops (1.3.2024, the day first) are
  unambiguous dates. In 1/3/2024 and 1-3-2024 day or month may come first: only a number above 12 in the column shows
  which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from lvq.tables.header import FIRST_ROW, MISSING_TEXT, TableError, is_number
from lvq.typing import Label

Kind = Literal["number", "text", "other"]

#: The marks of each column.
Marks: TypeAlias = Mapping[str, Sequence[str]]

#: Strings that mark a missing value.
MISSING = (
    "",
    "?",
    "NA",
    "N/A",
    "n/a",
    "NaN",
    "nan",
    "NAN",
    "null",
    "NULL",
    "Null",
    "None",
    "<NA>",
    "#N/A",
)
#: Other spellings of booleans.
BOOLEANS = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"}
#: Numbers with a decimal comma; points between groups of three digits are allowed.
_COMMAS = re.compile(r"[-+]?([0-9]+|[0-9]{1,3}(\.[0-9]{3})+)(,[0-9]+)?([eE][-+]?[0-9]+)?")
#: Codes that a number would change: with leading zeros, or with more digits than float64 has.
_CODE = re.compile(r"[-+]?(0[0-9]|[0-9]{16})")


class Meaning(NamedTuple):
    """What is known about the columns of a table before it is read.

    Attributes
    ----------
    codes : collection of str
        Columns of codes: integers stay integers, and strings with leading zeros or more than 15 digits stay strings.
    limits : collection of str
        Columns of numbers in which "<0.5" is below a detection limit; it becomes half the limit.
    marks : mapping from str to sequence of str
        Strings and numbers that mark a missing value, for some columns.
    decimal : {".", "?"}
        The decimal mark; with "?" it is a comma in columns where all numbers can be read that way. Points between
        thousands are allowed with a decimal comma.
    """

    codes: Collection[str] = ()
    limits: Collection[str] = ()
    marks: Marks = MappingProxyType({})
    decimal: Literal[".", "?"] = "."


NOTHING_KNOWN = Meaning()


def kind_of(column: pd.Series) -> Kind:
    """The kind of a column: booleans and categories are "text"; "other" are dates, lists and the like.

    Examples
    --------
    >>> import pandas as pd
    >>> kind_of(pd.Series([1.5, None])), kind_of(pd.Series(["a", None], dtype=object))
    ('number', 'text')
    """
    kind, types = column.dtype, pd.api.types
    of_texts = (types.is_bool_dtype, types.is_object_dtype, types.is_string_dtype)
    if isinstance(kind, pd.CategoricalDtype) or any(is_kind(kind) for is_kind in of_texts):
        return "text"
    return "number" if types.is_numeric_dtype(kind) and not types.is_complex_dtype(kind) else "other"


# -- cells -------------------------------------------------------------------------------------------------------------


def from_arrow(values: pa.Table | pa.RecordBatch | pa.Array) -> pd.DataFrame | pd.Series:
    """Values of Arrow in pandas: dates and categories as pandas has them, others in Arrow's own types."""
    of_pandas = (pa.types.is_dictionary, pa.types.is_date, pa.types.is_timestamp)
    return values.to_pandas(
        types_mapper=lambda kind: None if any(is_kind(kind) for is_kind in of_pandas) else pd.ArrowDtype(kind),
        date_as_object=False,
    )


def to_frame(table: pd.DataFrame, meaning: Meaning, numbers: Collection[str]) -> pd.DataFrame:
    """A table with clean cells: numbers as float64, strings without blanks around them, missing values as NaN or None.

    Strings of the columns `numbers` become numbers where all of them are.
    """
    columns = {name: _clean(table[name], meaning, name in numbers) for name in table}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)))


def _clean(column: pd.Series, meaning: Meaning, as_number: bool) -> pd.Series:
    column = _typed(column.reset_index(drop=True))
    marks, kind = meaning.marks.get(column.name, ()), kind_of(column)
    if not column.notna().any():
        return pd.Series(np.full(len(column), np.nan))
    if kind == "text":
        column = _clean_texts(column, marks, meaning, as_number)
    elif kind == "number" and column.name not in meaning.codes:
        column = pd.Series(column.to_numpy(np.float64, na_value=np.nan))
    marked = [float(mark) for mark in marks if is_number(mark)]
    return column.mask(column.isin(marked)) if marked and kind_of(column) == "number" else column


def _typed(column: pd.Series) -> pd.Series:
    """A column of objects with the type that all of them have, if they have one."""
    if column.dtype != object:
        return column
    try:
        found = pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        return column
    return column if pa.types.is_time(found.type) else from_arrow(found).rename(column.name)


def _clean_texts(column: pd.Series, marks: Sequence[str], meaning: Meaning, as_number: bool) -> pd.Series:
    places, different = pd.factorize(column)
    missing = {*MISSING, MISSING_TEXT, *marks}
    cells = [None if (text := _spelled(value).strip()) in missing else text for value in different.tolist()]
    coded = column.name in meaning.codes and any(_CODE.match(cell) for cell in cells if cell is not None)
    found = _parsed(cells, column.name in meaning.limits, meaning.decimal) if as_number and not coded else None
    if found is not None:
        return pd.Series(np.append(found, np.nan)[places])
    return pd.Series(np.array([*cells, None], dtype=object)[places], dtype=object)


def _parsed(cells: Sequence[str | None], limited: bool = False, decimal: str = ".") -> np.ndarray | None:
    """Strings as numbers, NaN for None; None where some are not numbers."""
    known = [place for place, cell in enumerate(cells) if cell is not None]
    texts = [cells[place] or "" for place in known]
    below = np.array([limited and text.startswith("<") for text in texts], dtype=bool)
    texts = [text[1:] if limit else text for text, limit in zip(texts, below)]
    if decimal == "?" and any("," in text for text in texts) and all(map(_COMMAS.fullmatch, texts)):
        texts = [text.replace(".", "").replace(",", ".") for text in texts]
    if not all(map(is_number, texts)):
        return None
    numbers = np.full(len(cells), np.nan)
    numbers[known] = np.array(list(map(float, texts))) / np.where(below, 2, 1)
    return numbers


def looks_like_number(text: str) -> bool:
    """Whether a string is a number, perhaps with a decimal comma or separators of thousands.

    Examples
    --------
    >>> looks_like_number("1.5"), looks_like_number("1,250.5"), looks_like_number("<0.5")
    (True, True, False)
    """
    return is_number(text.replace(",", ""))


def as_numbers(
    column: pd.Series, source: str = "the table", row_number: Callable[[int], Label] = FIRST_ROW.__add__
) -> np.ndarray:
    """The values of a column as numbers, NaN for missing ones; TableError where some are not numbers.

    `source` and `row_number` name the table, and a row by its position, in the error; by default the first row is row
    2, after the header.

    Examples
    --------
    >>> import pandas as pd
    >>> as_numbers(pd.Series(["1.5", None, "-2"], dtype=object))
    array([ 1.5,  nan, -2. ])
    """
    if kind_of(column) == "number":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    what = f"values of type {column.dtype}"
    advice = "convert them, or leave the column out"
    if kind_of(column) == "text":
        texts = as_text(column).tolist()
        found = _parsed(texts)
        if found is not None:
            return found
        place = next(place for place, text in enumerate(texts) if text is not None and not is_number(text))
        what, advice = f"{texts[place]!r} in row {row_number(place)}", "correct it, or leave the cell empty"
    raise TableError(f"The column {column.name!r} of {source} must hold numbers, but holds {what}; {advice}.")


def as_text(column: pd.Series) -> np.ndarray:
    """The values of a column of strings or numbers as strings, None for missing ones.

    Examples
    --------
    >>> import pandas as pd
    >>> as_text(pd.Series([1.0, 2.5, None])).tolist(), as_text(pd.Series(["yes", "TRUE"], dtype=object)).tolist()
    (['1', '2.5', None], ['yes', 'True'])
    """
    places, different = pd.factorize(column)
    texts = [BOOLEANS.get(text, text) for text in map(_spelled, different.tolist())]
    return np.array([*texts, None], dtype=object)[places]


def _spelled(value: object) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


# -- dates -------------------------------------------------------------------------------------------------------------

_TIME = r"(?:[T ]+\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp][Mm])?(?:Z| ?[+-]\d{2}:?\d{2})?)?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_YEAR_FIRST = re.compile(rf"\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}{_TIME}")
_NAMED = re.compile(rf"(?:\d{{1,2}}[-. ]*{_MONTH}|{_MONTH} \d{{1,2}},?)[-., ]*\d{{4}}{_TIME}", re.IGNORECASE)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(?:\d{{4}}|\d{{2}}){_TIME}")


def is_date(text: str) -> bool:
    """Whether a string is a date, with or without a time.

    Examples
    --------
    >>> [is_date(text) for text in ("2024-03-01", "1.3.2024 12:30", "1 March 2024", "3.14", "10-20")]
    [True, True, True, False, False]
    """
    return any(pattern.fullmatch(text) for pattern in (_YEAR_FIRST, _NAMED, _YEAR_LAST))


def holds_dates(column: pd.Series) -> bool:
    """Whether a column holds dates: dates of a Parquet file or a spreadsheet, or strings most of which are dates.

    Examples
    --------
    >>> holds_dates(pd.Series(["2024-03-01", None, "2024-04-01"], dtype=object)), holds_dates(pd.Series(["a", "b"]))
    (True, False)
    """
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return True
    texts = column.dropna()
    if kind_of(column) != "text" or not len(texts):
        return False
    different = texts.astype(str).unique()
    return bool(2 * sum(map(is_date, different)) > len(different))


def as_days(column: pd.Series, source: str = "the table") -> np.ndarray:
    """A column of dates as days since 1970-01-01, times as fractions; NaN for missing ones.

    Parameters
    ----------
    column : Series
        Dates, or strings that are dates.
    source : str
        Name of the table in an error.

    Returns
    -------
    days : ndarray of float64

    Examples
    --------
    >>> as_days(pd.Series(["1970-01-02", None, "1970-01-01 12:00"], dtype=object))
    array([1. , nan, 0.5])
    """
    if kind_of(column) == "text":
        texts = column.astype(object).where(column.notna(), None)
        bad = next((text for text in texts if text is not None and not is_date(str(text))), None)
        if bad is not None:
            raise TableError(f"The column {column.name!r} of {source} holds {bad!r}, which is not a date; correct it.")
        column = pd.to_datetime(texts, format="mixed", dayfirst=_day_first(column, source), utc=True)
    nanoseconds = pd.to_datetime(column, utc=True).astype("datetime64[ns, UTC]")
    days = (nanoseconds - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    return days.to_numpy(dtype=np.float64, na_value=np.nan)


def iso_date(days: float) -> str:
    """The date of a number of days since 1970-01-01, as `as_days` gives it.

    Examples
    --------
    >>> iso_date(19783.0), iso_date(19783.5)
    ('2024-03-01', '2024-03-01')
    """
    return str(np.datetime64(round(days * 86400), "s").astype("datetime64[D]"))


def _day_first(column: pd.Series, source: str) -> bool:
    """Whether the day comes before the month; TableError where the values do not show it."""
    parts = [found for text in column.dropna().unique() if (found := _YEAR_LAST.fullmatch(str(text)))]
    if not parts:
        return False
    first, second = (any(int(found[place]) > 12 for found in parts) for place in (1, 3))
    stops = all(found[2] == "." for found in parts)
    if first == second and not (stops and not first):
        which = "with the day first and with the month first" if first else "in which day or month may come first"
        raise TableError(
            f"The column {column.name!r} of {source} holds dates such as {parts[0].string!r}, {which}; write all of "
            "them as 2024-12-31."
        )
    return first or (stops and not second)


# -- marks of missing values, such as "n.d." and 9999 ------------------------------------------------------------------


def marks_by_column(given: Sequence[str], columns: Sequence[str], source: str) -> dict[str, list[str]]:
    """The marks of each column, from marks of all columns and of single ones.

    Parameters
    ----------
    given : sequence of str
        "n.d." is a mark in all columns, "glucose=0" only in the column of that name.
    columns : sequence of str
        Columns in which values may be missing.
    source : str
        Name of the table in an error.

    Returns
    -------
    marks : dict from str to list of str
        Without columns that have none.

    Examples
    --------
    >>> marks_by_column(["n.d.", "glucose=0"], ["glucose", "weight"], "the table")
    {'glucose': ['n.d.', '0'], 'weight': ['n.d.']}
    """
    marks: dict[str, list[str]] = {name: [] for name in columns}
    for text in given:
        named = [name for name in columns if text.startswith(f"{name}=")]
        if "=" in text and not named:
            raise TableError(
                f"The mark {text!r} (--missing-mark) names no feature of {source}; write COLUMN=VALUE with the name of "
                "a feature, or a value without an equals sign for all features."
            )
        where = [max(named, key=len)] if named else list(columns)
        mark = text[len(where[0]) + 1 :] if named else text
        if not mark.strip():
            raise TableError(f"The mark {text!r} (--missing-mark) is empty; empty cells are always missing.")
        for name in where:
            marks[name].append(mark.strip())
    return {name: texts for name, texts in marks.items() if texts}
