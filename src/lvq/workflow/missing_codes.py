"""Numbers that look like codes for missing values, such as 9999, -1, or 0 where all other values are far from 0.

A value of a column is reported where
- it is written as such codes are: 0, -1, or only nines, eights or sevens, such as -99 or 99.9;
- it is in three rows or more, and in at most half of the rows;
- at least ten other values are there, all on one side of it;
- its distance to the nearest of them is over twice the largest gap between them, and over half of their interquartile
  range.
Nothing is changed: only the user knows.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
import pandas as pd

MIN_ROWS, MAX_FRACTION = 3, 0.5
MIN_VALUES = 10  # different ones beside the codes
MAX_CODES = 20  # at each end of a column
_CODE = re.compile(r"0|-1|-?([789])\1*(\.\1+)?")


def code_notes(features: pd.DataFrame, texts: Collection[str], limit: int) -> list[str]:
    """Notes on values that look like codes for missing ones.

    Parameters
    ----------
    features : DataFrame
        Numbers as float64, categories as texts.
    texts : collection of str
        The columns of categories, and of dates.
    limit : int
        Number of notes; one more tells how many were left out.

    Returns
    -------
    notes : list of str

    Examples
    --------
    >>> table = pd.DataFrame({"glucose": [0.0, 0.0, 0.0, *np.arange(80.0, 120.0)]})
    >>> for note in code_notes(table, (), 8):
    ...     print(note)
    'glucose' is 0 in 3 rows, far from its other values (80 to 119): if 0 means missing, use --missing-mark 'glucose=0'.
    """
    notes = []
    for name in features:
        if name in texts:
            continue
        for code, count, low, high in missing_codes(features[name].to_numpy()):
            notes.append(
                f"{name!r} is {code} in {count} rows, far from its other values ({low:g} to {high:g}): if {code} means "
                f"missing, use --missing-mark {f'{name}={code}'!r}."
            )
    if len(notes) > limit:
        notes[limit:] = [f"{len(notes) - limit} more values look like codes for missing ones."]
    return notes


def missing_codes(values: np.ndarray) -> list[tuple[str, int, float, float]]:
    """The codes in a column of numbers: the value as text, its number of rows, and the range of the other values.

    Examples
    --------
    >>> missing_codes(np.array([9999.0] * 3 + [-9.0] * 4 + [*range(20)]))
    [('-9', 4, 0.0, 19.0), ('9999', 3, 0.0, 19.0)]
    """
    finite = values[np.isfinite(values)]
    different, counts = np.unique(finite, return_counts=True)
    named = [format(value, ".15g") for value in different[[0, -1]]] if len(different) > MIN_VALUES else []
    if not any(_CODE.fullmatch(text) for text in named):  # a code is outside of the other values
        return []
    coded = np.zeros(len(different), dtype=bool)
    for place in {*range(len(different))[:MAX_CODES], *range(len(different))[-MAX_CODES:]}:
        coded[place] = _CODE.fullmatch(format(different[place], ".15g")) is not None
    far = coded & _far(different, counts, ~coded)
    far &= _far(different, counts, ~far)  # by all values that are not as far as a code
    if not far.any():
        return []
    low, high = different[~far][[0, -1]]
    found = far & (counts >= MIN_ROWS) & (counts <= MAX_FRACTION * len(finite))
    return [
        (format(value, ".15g"), int(count), float(low), float(high))
        for value, count in zip(different[found], counts[found])
    ]


def _far(different: np.ndarray, counts: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Which of the different values are far from the usual ones, all of which are on one side."""
    others = different[usual]
    if len(others) < MIN_VALUES:
        return np.zeros(len(different), dtype=bool)
    quartiles = np.quantile(np.repeat(others, counts[usual]), [0.25, 0.75])
    enough = max(2 * np.diff(others).max(), (quartiles[1] - quartiles[0]) / 2)
    return np.maximum(others[0] - different, different - others[-1]) > enough
