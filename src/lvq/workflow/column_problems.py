"""Columns that must not become features in silence: dates, free text, names of rows, ambiguous numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

import numpy as np
import pandas as pd

from lvq.tables import TableError, holds_dates, is_number
from lvq.workflow.column_warnings import stray_text

MAX_CATEGORIES = 100  # of a text column; names, notes and dates have more
MANY_ROWS = 20  # from this number of rows on, texts that rarely repeat are names or notes
MOSTLY = 0.9  # of the values of a column of numbers; if the others are texts, they are errors or marks
MAX_CELLS = 5  # in a message
SENTENCE_WORDS, LONG_TEXT = 4, 40  # words, and characters, from which a text is a sentence
_COMMA_NUMBER = re.compile(r"[-+]?[0-9]{1,3}(,[0-9]+)+(\.[0-9]+)?|[-+]?[0-9]+(\.[0-9]+)?")


def check_not_dates(column: pd.Series, source: str) -> None:
    """Raise TableError for a column of dates."""
    if holds_dates(column):
        first = column.dropna().iloc[0]
        raise TableError(
            f"The column {column.name!r} of {source} holds dates, such as {str(first)!r}; leave it out with --drop "
            f"{column.name!r}, use it as a number of days with --date {column.name!r}, or split by it with --time."
        )


def check_not_numbers(column: pd.Series, rows: np.ndarray, row_name: Callable[[int], str], source: str) -> None:
    """Raise TableError for texts of which nearly all are numbers: the others are typing errors or marks.

    Parameters
    ----------
    column : Series
        Texts, None where one is missing.
    rows : ndarray of int
        The positions of its rows in the table, from 0.
    row_name : callable
        The name of a row, by its position.
    source : str
        Name of the table.
    """
    known = np.flatnonzero(column.notna())
    values = column.iloc[known].astype(str).to_numpy()
    others = np.array([not is_number(value) for value in values])
    if not others.any() or (~others).sum() < MOSTLY * len(values):
        return
    cells = [(values[k], row_name(int(rows[known[k]]))) for k in np.flatnonzero(others)[:MAX_CELLS]]
    shown = ", ".join(f"{value!r} in {row}" for value, row in cells)
    more = f" and {others.sum() - MAX_CELLS} more" if others.sum() > MAX_CELLS else ""
    marks = " ".join(f"--missing-mark {f'{column.name}={value}'!r}" for value in dict(cells))
    raise TableError(
        f"The column {column.name!r} of {source} holds numbers, but {others.sum()} of {len(values)} values are none: "
        f"{shown}{more}; correct them, name them as missing with {marks}, or "
        f"use all values as categories with --categorical {column.name!r}."
    )


def check_texts(column: pd.Series, texts: np.ndarray, different: Collection[str], missing: str, source: str) -> None:
    """Raise TableError for texts that are no categories.

    Parameters
    ----------
    column : Series
        The column, for its name.
    texts : ndarray of str
        Its values, with the text of a missing value.
    different : collection of str
        The different ones.
    missing : str
        The text of a missing value.
    source : str
        Name of the table.
    """
    name, values = column.name, sorted(set(different) - {missing})
    n_known = int((texts != missing).sum())
    first = next(text for text in texts if text != missing) if values else missing
    what = f"The column {name!r} of {source}"
    leave = f"leave it out with --drop {name!r}"
    if values and all(_COMMA_NUMBER.fullmatch(value) for value in values) and any("," in value for value in values):
        comma = next(value for value in values if "," in value)
        raise TableError(
            f"{what} holds numbers with a comma, such as {comma!r}, which may be decimal commas or separators of "
            "thousands; write them with a decimal point and without separators, or delimit the columns by semicolons."
        )
    if len(different) > MAX_CATEGORIES:
        stray = stray_text(values)
        example = repr(first) if stray is None else f"{stray!r} among numbers"
        repeated = stray is None and len(different) < n_known
        group = f", or, where rows of one text belong together, name it with --group {name!r}" if repeated else ""
        raise TableError(
            f"{what} holds {len(different)} different texts, such as {example}, but at most {MAX_CATEGORIES} "
            f"categories are allowed; {leave}, or convert it to numbers or fewer categories{group}."
        )
    if len(different) == len(texts):
        raise TableError(
            f"{what} has a different text in every row, such as {first!r}, so it identifies rows; {leave}."
        )
    if n_known >= MANY_ROWS and 2 * len(values) > n_known and stray_text(values) is None:
        raise TableError(
            f"{what} has {len(values)} different texts in {n_known} rows, such as {first!r}, so it names rows rather "
            f"than categories; {leave}, or use it with --categorical {name!r}."
        )
    if 2 * sum(map(is_sentence, values)) > len(values):
        example = next(value for value in values if is_sentence(value))
        raise TableError(
            f"{what} holds free text, such as {example!r}; {leave}, or use its texts as categories with --categorical "
            f"{name!r}."
        )


def is_sentence(text: str) -> bool:
    """Whether a text is a sentence or a note rather than the name of a category.

    Examples
    --------
    >>> is_sentence("Not enough blood for isotopes."), is_sentence("Adult, 1 Egg Stage"), is_sentence("A11")
    (True, False, False)
    """
    words = len(text.split())
    return words >= SENTENCE_WORDS and (text.rstrip().endswith((".", "!", "?")) or len(text) >= LONG_TEXT)
