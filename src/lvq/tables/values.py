"""The values of a column: numbers, strings or others; dates as days; marks of missing values.

Rules:
- leading and trailing blanks of a text are removed; an empty text and the usual marks, such as NA, are missing;
- numbers are float64 with NaN for missing ones, strings are objects with None for missing ones;
- booleans are the strings "True" and "False", however a file writes them, so that a model fitted on a CSV file reads a
  Parquet file as well;
- year first (2024-03-01), with the name of a month (1 March 2024), and with full stops (1.3.2024, the day first) are
  unambiguous dates. In 1/3/2024 and 1-3-2024 day or month may come first: only a number above 12 in the column tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lvq.tables.header import FIRST_ROW, MISSING_TEXT, TableError, is_number
from lvq.typing import Label

Kind = Literal["number", "text", "other"]

Column: TypeAlias = pa.Array | pa.ChunkedArray
#: The marks of each column.
Marks: TypeAlias = Mapping[str, Sequence[str]]

#: Texts that mean a missing value.
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
    MISSING_TEXT,
)
#: Other spellings of booleans.
BOOLEANS = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"}


def kind_of(column: pd.Series) -> Kind:
    """The kind of a column.

    Parameters
    ----------
    column : Series
        A column of any DataFrame.

    Returns
    -------
    kind : {"number", "text", "other"}
        Booleans and categories are "text"; "other" are dates, lists and the like.

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


def cleaned(column: Column, marks: Sequence[str] = ()) -> Column:
    """An Arrow column of strings without leading and trailing blanks, with null for missing and marked ones."""
    trimmed = pc.utf8_trim_whitespace(column)
    missing = pc.is_in(trimmed, value_set=pa.array([*MISSING, *marks], trimmed.type))
    return pc.if_else(missing, pa.scalar(None, trimmed.type), trimmed)


def parsed(column: Column) -> Column | None:
    """An Arrow column of strings as numbers; None where some are not."""
    try:
        return pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return None


#: Numbers of which some have a decimal comma; points between groups of three digits are allowed.
_COMMAS = r"^[-+]?([0-9]+|[0-9]{1,3}(\.[0-9]{3})+)(,[0-9]+)?([eE][-+]?[0-9]+)?$"
#: Codes that a number would change: of leading zeros, or of more digits than float64 has.
_CODE = r"^[-+]?(0[0-9]|[0-9]{16})"


def with_commas(column: Column) -> Column | None:
    """An Arrow column of strings with decimal commas as numbers; None where it has none."""
    has_commas = pc.any(pc.match_substring(column, ",")).as_py()
    if not has_commas or not pc.all(pc.match_substring_regex(column, _COMMAS)).as_py():
        return None
    return parsed(pc.replace_substring(pc.replace_substring(column, ".", ""), ",", "."))


def to_series(
    column: Column, as_number: bool = False, exact: bool = False, commas: bool = False, marks: Sequence[str] = ()
) -> pd.Series:
    """An Arrow column as a Series of float64, of strings, or of another type, without the marked values.

    With `as_number`, strings become numbers where all of them are. With `exact`, integers and floats keep their type,
    and codes stay strings: float64 has no 9007199254740993, and writes 7 as 7.0 and 01067 as 1067. With `commas` a
    comma in a number is a decimal comma.
    """
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if _is_text(column.type) or pa.types.is_boolean(column.type):
        return _of_texts(column, as_number, exact, commas, marks)
    series = _of_others(column, exact)
    marked = [float(mark) for mark in marks if is_number(mark)]
    return series.mask(series.isin(marked)) if marked and kind_of(series) == "number" else series


def _of_texts(column: Column, as_number: bool, exact: bool, commas: bool, marks: Sequence[str]) -> pd.Series:
    if pa.types.is_boolean(column.type):
        texts = pc.if_else(column, "True", "False")
    else:
        texts = cleaned(pc.cast(column, pa.string()), marks)
    coded = exact and pc.any(pc.match_substring_regex(texts, _CODE)).as_py()
    if as_number and not coded:
        numbers = parsed(texts)
        numbers = with_commas(texts) if numbers is None and commas else numbers
        if numbers is not None:
            found = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
            return pd.Series(found).mask(np.isin(found, [float(mark) for mark in marks if is_number(mark)]))
    return pd.Series(texts.to_numpy(zero_copy_only=False), dtype=object)


def _of_others(column: Column, exact: bool) -> pd.Series:
    kind = column.type
    if exact and pa.types.is_integer(kind):
        signed = "Int64" if pa.types.is_signed_integer(kind) else "UInt64"
        return pd.Series(pd.array(column.to_pylist(), dtype=signed))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        number = column if exact and pa.types.is_floating(kind) else pc.cast(column, pa.float64(), safe=False)
        return pd.Series(number.to_numpy(zero_copy_only=False))
    series = (pc.cast(column, pa.timestamp("s")) if pa.types.is_date(kind) else column).to_pandas()
    # lists, bytes and the like would be objects, as strings are
    return pd.Series(pd.arrays.ArrowExtensionArray(column)) if series.dtype == object else series


def _is_text(kind: pa.DataType) -> bool:
    views = getattr(pa.types, "is_string_view", lambda _: False)  # not in the oldest supported pyarrow
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or views(kind))


def to_frame(
    batch: pa.Table | pa.RecordBatch,
    numbers: Collection[str] = (),
    exact: Collection[str] = (),
    commas: bool = False,
    marks: Marks | None = None,
) -> pd.DataFrame:
    """An Arrow table or batch as a DataFrame, see `to_series`."""
    series = {}
    for place, name in enumerate(batch.schema.names):
        own = (marks or {}).get(name, ())
        series[name] = to_series(batch.column(place), name in numbers, name in exact, commas, own)
    return pd.DataFrame(series, index=pd.RangeIndex(batch.num_rows))


def as_numbers(
    column: pd.Series,
    source: str = "the table",
    row_number: Callable[[int], Label] = FIRST_ROW.__add__,
    *,
    limited: bool = False,
    commas: bool = False,
) -> np.ndarray:
    """The values of a column as numbers.

    Parameters
    ----------
    column : Series
        Numbers, or strings that are numbers.
    source : str
        Name of the table in an error.
    row_number : callable, optional
        The name of a row in an error, from its position in the column; by default the first one is row 2, after the
        line of names.
    limited : bool, default=False
        Whether "<0.5" is a value below a detection limit, for which half of the limit is taken.
    commas : bool, default=False
        Whether a comma in a number is a decimal comma.

    Returns
    -------
    values : ndarray of float64
        NaN for missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> as_numbers(pd.Series(["1.5", None, "-2"], dtype=object))
    array([ 1.5,  nan, -2. ])
    >>> as_numbers(pd.Series(["<0,5", "7,5"], dtype=object), limited=True, commas=True)
    array([0.25, 7.5 ])
    """
    if kind_of(column) == "number":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    what = f"values of type {column.dtype}"
    if kind_of(column) == "text":
        texts = pa.array(as_text(column), pa.string())
        below = pc.fill_null(pc.starts_with(texts, "<"), False)
        cut = pc.if_else(below, pc.utf8_slice_codeunits(texts, 1), texts) if limited else texts
        numbers = parsed(cut)
        numbers = with_commas(cut) if numbers is None and commas else numbers
        if numbers is not None:
            values = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
            return values / 2 ** np.asarray(below) if limited else values
        is_wrong = [
            text is not None and not (re.match(_COMMAS, text) if commas else is_number(text))
            for text in cut.to_pylist()
        ]
        row = is_wrong.index(True)
        what = f"{texts[row].as_py()!r} in row {row_number(row)}"
    raise TableError(
        f"The column {column.name!r} of {source} must hold numbers, but holds {what}; correct it, or leave the cell "
        "empty."
    )


def as_text(column: pd.Series) -> np.ndarray:
    """The values of a column as strings.

    Parameters
    ----------
    column : Series
        Texts or numbers.

    Returns
    -------
    values : ndarray of object
        None for missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> as_text(pd.Series([1.0, 2.5, None])).tolist(), as_text(pd.Series(["yes", "TRUE"], dtype=object)).tolist()
    (['1', '2.5', None], ['yes', 'True'])
    """
    codes, different = pd.factorize(column, use_na_sentinel=True)
    texts = np.array([*map(_spelled, different.tolist() if hasattr(different, "tolist") else different), None], object)
    return texts[codes]


def _spelled(value: object) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    text = str(value)
    return BOOLEANS.get(text, text)


# -- dates -------------------------------------------------------------------------------------------------------------

_TIME = r"(?:[T ]+\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp][Mm])?(?:Z| ?[+-]\d{2}:?\d{2})?)?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_YEAR_FIRST = re.compile(rf"\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}{_TIME}")
_NAMED = re.compile(rf"(?:\d{{1,2}}[-. ]*{_MONTH}|{_MONTH} \d{{1,2}},?)[-., ]*\d{{4}}{_TIME}", re.IGNORECASE)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(?:\d{{4}}|\d{{2}}){_TIME}")


def is_date(text: str) -> bool:
    """Whether a text is a date, with or without a time.

    Examples
    --------
    >>> [is_date(text) for text in ("2024-03-01", "1.3.2024 12:30", "1 March 2024", "3.14", "10-20")]
    [True, True, True, False, False]
    """
    return any(pattern.fullmatch(text) for pattern in (_YEAR_FIRST, _NAMED, _YEAR_LAST))


def holds_dates(column: pd.Series) -> bool:
    """Whether a column holds dates: dates of a Parquet file or a spreadsheet, or strings of which most are dates.

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


def iso_date(days: float, with_time: bool = False) -> str:
    """The date of a number of days since 1970-01-01, to the second where the time of the day is wanted.

    Parameters
    ----------
    days : float
        As `as_days` gives it.
    with_time : bool, default=False
        Whether the time of the day is shown.

    Returns
    -------
    text : str

    Examples
    --------
    >>> iso_date(19783.0), iso_date(19783.5), iso_date(19783.5, with_time=True)
    ('2024-03-01', '2024-03-01', '2024-03-01 12:00')
    """
    seconds = np.datetime64(round(days * 86400), "s")
    text = str(seconds.astype("datetime64[D]") if not with_time else seconds).replace("T", " ")
    return text.removesuffix(":00") if with_time else text


def _day_first(column: pd.Series, source: str) -> bool:
    """Whether the day comes before the month; ValueError where the values do not tell."""
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
        "n.d." is a mark of all columns, "glucose=0" one of the column of that name.
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
            raise TableError(f"The mark {text!r} (--missing-mark) is empty; empty cells are missing in any case.")
        for name in where:
            marks[name].append(mark.strip())
    return {name: texts for name, texts in marks.items() if texts}
