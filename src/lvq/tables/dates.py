"""Dates and times: recognised among texts, and converted to days.

Year first (2024-03-01), with the name of a month (1 March 2024), and with full stops (1.3.2024, the day first) are
unambiguous. In 1/3/2024 and 1-3-2024 day or month may come first: only a number above 12 in the same column tells.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from lvq.table_headers import TableError
from lvq.tables.columns import kind_of

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
    """Whether a column holds dates: dates of a Parquet file or a spreadsheet, or texts of which most are dates.

    Examples
    --------
    >>> holds_dates(pd.Series(["2024-03-01", None, "2024-04-01"], dtype=object)), holds_dates(pd.Series(["a", "b"]))
    (True, False)
    """
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or _is_arrow_date(column):
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
        Dates, or texts that are dates.
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
        bad = [text for text in texts if text is not None and not is_date(str(text))]
        if bad:
            raise TableError(
                f"The column {column.name!r} of {source} holds {bad[0]!r}, which is not a date; correct it."
            )
        first_day = _day_first(column, source)
        column = pd.to_datetime(texts, format="mixed", dayfirst=first_day, utc=True)
    elif kind_of(column) == "other":
        column = pd.to_datetime(pd.Series(list(column), name=column.name), utc=True)
    nanoseconds = column.astype("datetime64[ns, UTC]")
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


def _is_arrow_date(column: pd.Series) -> bool:
    return any(word in str(column.dtype) for word in ("date32", "date64", "timestamp"))


def _day_first(column: pd.Series, source: str) -> bool:
    """Whether the day comes before the month; ValueError where the values do not tell."""
    parts = [found for text in column.dropna().unique() if (found := _YEAR_LAST.fullmatch(str(text)))]
    if not parts:
        return False
    first, second = (any(int(found[place]) > 12 for found in parts) for place in (1, 3))
    stops = all(found[2] == "." for found in parts)
    if first and second:
        raise TableError(
            f"The column {column.name!r} of {source} holds dates with the day first and dates with the month first; "
            "write all of them as 2024-12-31."
        )
    if not (first or second or stops):
        raise TableError(
            f"The column {column.name!r} of {source} holds dates such as {parts[0].string!r}, in which day or month "
            "may come first; write them as 2024-12-31."
        )
    return first or (stops and not second)
