"""From a table to samples and classes: which columns are features, of which kind, and what is left out.

Rules kept here:
- nothing is left out without a note, and nothing is guessed where a guess could hurt: then a sentence says what to do;
- left out with a note are rows without a class, and columns that can tell nothing or too much: without any value,
  constant, without a name, or counting the rows;
- whether a column holds numbers or categories is settled on the whole table; everything that is learned from values
  (means, categories, medians) is learned inside the model, from its training samples alone.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lvq.tables import TableError, as_numbers, as_text, is_number, kind_of
from lvq.workflow.doubts import doubts, stray_text

MOST_CATEGORIES = 100  # of a text column; one that has more holds names, notes or dates
FEWEST_ROWS = 5  # of a class: to learn from, to set thresholds on, to test on
MOST_LEVELS = 20  # different values of a target with fractions; one that has more is measured
SHOWN = 8  # names in a sentence
NOT_KNOWN = "an empty cell, or a word such as NA or None"
#: The category of a missing text.
MISSING_TEXT = "(missing)"


@dataclass(frozen=True)
class Samples:
    """Features, classes, and what was done to get them.

    Attributes
    ----------
    X : DataFrame
        The features: numbers as float64, categories as texts.
    y : ndarray of str
        The classes.
    gaps : tuple of str
        Columns of numbers of which some are missing.
    texts : tuple of str
        Columns of categories.
    notes : tuple of str
        What was left out, and what to look at twice, in sentences.
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
    source: str = "the table",
    fewest_rows: int = FEWEST_ROWS,
) -> Samples:
    """Features and classes of a table.

    Parameters
    ----------
    table : DataFrame
        Of `lvq.tables.read_table`, or of your own making.
    target : str
        The column of classes.
    drop : sequence of str, default=()
        Columns that are no features.
    categorical : sequence of str, default=()
        Columns of numbers that are names of categories.
    source : str
        What to call the table in sentences.
    fewest_rows : int, default=5
        How many rows every class must have.

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
    check_columns(table.columns, [target], source)
    check_columns(table.columns, [*drop, *categorical], source)
    if target in drop:
        raise TableError(f"The column {target!r} is the target and cannot be left out.")
    if kind_of(table[target]) == "other":
        raise TableError(f"The column {target!r} of {source} must hold classes, got {table[target].dtype}.")
    labels = as_text(table[target])
    known = np.array([label is not None for label in labels])
    notes = []
    if not known.all():
        notes.append(f"Left out {_counted((~known).sum(), 'row')} without a value of {target!r} ({NOT_KNOWN}).")
    _check_classes(table[target], labels, target, source, fewest_rows)
    places = np.flatnonzero(known)
    features, more = _features(table.loc[known].drop(columns=[target, *drop]), places, set(categorical), source)
    texts = tuple(name for name in features if kind_of(features[name]) == "text")
    gaps = tuple(name for name in features if kind_of(features[name]) == "number" and features[name].isna().any())
    repeated = int(features.assign(**{target: labels[known]}).duplicated().sum()) if len(features) else 0
    if repeated >= max(1, len(features) // 100):
        repeats = "repeats" if repeated == 1 else "repeat"
        notes.append(
            f"{_counted(repeated, 'row')} {repeats} another one, so some of the test rows may be known already."
        )
    classes = labels[known].astype(str)
    notes += [*more, *doubts(features, classes, texts, listed)]
    return Samples(features, classes, gaps, texts, tuple(notes))


def check_columns(present: Any, wanted: Sequence[str], source: str) -> None:
    """Whether columns are there; a sentence that names those that are not, and what else there is."""
    names = [str(name) for name in present]
    there = set(names)
    missing = [name for name in wanted if name not in there]
    if not missing:
        return
    close = difflib.get_close_matches(missing[0], names, n=1, cutoff=0.6)
    same = [name for name in names if name.lower() == missing[0].lower()]
    hint = f" Did you mean {(same or close)[0]!r}?" if same or close else ""
    if sum(is_number(name) for name in names) > len(names) / 2:
        hint = " They look like values: does the first line with the columns' names lack?"
    word = "column" if len(missing) == 1 else "columns"
    last = f", the last of them {names[-1]!r}" if len(names) > SHOWN else ""  # where the class often stands
    raise TableError(f"{source} has no {word} {listed(missing)}; its columns are {listed(names)}{last}.{hint}")


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; the first few of many."""
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def _counted(count: Any, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _check_classes(column: pd.Series, labels: np.ndarray, target: str, source: str, fewest_rows: int) -> None:
    counted = Counter(labels.tolist())
    missing = counted.pop(None, 0)
    if not counted:
        raise TableError(f"The column {target!r} of {source} has no value in any row.")
    classes, counts = sorted(counted), np.array([counted[name] for name in sorted(counted)])
    if len(classes) == 1:
        beside = f", beside {_counted(missing, 'row')} without a value ({NOT_KNOWN})" if missing else ""
        raise TableError(
            f"The column {target!r} of {source} has only the class {classes[0]!r}{beside}; two or more are needed to "
            "learn from."
        )
    if len(classes) == len(labels) - missing:
        raise TableError(
            f"The column {target!r} of {source} has another value in every row, so it names rows and not classes; "
            "choose another --target."
        )
    numbers = column.dropna()
    if kind_of(column) == "number" and len(classes) > MOST_LEVELS and (numbers % 1 != 0).any():
        raise TableError(
            f"The column {target!r} of {source} holds {len(classes)} different numbers with fractions, so it is "
            "measured and not a class; cut it into ranges, or choose another --target."
        )
    if counts.min() < fewest_rows:
        rare = [f"{name!r} ({count})" for name, count in zip(classes, counts) if count < fewest_rows]
        more = f" and {len(rare) - SHOWN} more" if len(rare) > SHOWN else ""
        raise TableError(
            f"Every class of {target!r} needs at least {fewest_rows} rows to learn from and to test on, but {source} "
            f"has fewer of {', '.join(rare[:SHOWN])}{more}; add rows, join classes or leave them out."
        )


def _features(
    table: pd.DataFrame, places: np.ndarray, categorical: set[str], source: str
) -> tuple[pd.DataFrame, list[str]]:
    kept: dict[str, Any] = {}
    useless: dict[str, list[str]] = {}
    notes = []
    for name in table.columns:
        column = table[name]
        why = _useless(column, places) if name not in categorical else None
        if why is not None:
            useless.setdefault(why, []).append(name)
        elif name in categorical or kind_of(column) == "text":
            kept[name] = _categories(column, source)
            stray = None if name in categorical else stray_text(set(kept[name]) - {MISSING_TEXT})
            if stray is not None:
                notes.append(
                    f"The column {name!r} holds numbers, but also texts such as {stray!r}, so its values are taken for "
                    "categories; leave such cells empty to have numbers."
                )
        else:
            kept[name] = _numbers(column, source)
    if not kept:
        raise TableError(f"{source} has no column left to learn from.")
    left_out = [
        f"Left out {_counted(len(names), 'column')} with {why}: {listed(names)}." for why, names in useless.items()
    ]
    return pd.DataFrame(kept, index=table.index), left_out + notes


def _useless(column: pd.Series, places: np.ndarray) -> str | None:
    """Why a column is no feature, if it is none; `places` are those of its rows in the whole table, from 0."""
    if not column.notna().any():
        return "no value in any row"
    if kind_of(column) != "other" and column.nunique(dropna=False) == 1:
        return "the same value in all rows"
    if kind_of(column) == "number" and len(column) > 2:
        ahead = as_numbers(column) - places
        if ahead[0] in (0, 1) and (ahead == ahead[0]).all():
            return "the number of the row"
    return None


def _categories(column: pd.Series, source: str) -> np.ndarray:
    texts = as_text(column)
    texts[[text is None for text in texts]] = MISSING_TEXT
    different = set(texts)
    if len(different) > MOST_CATEGORIES:
        stray = stray_text(different - {MISSING_TEXT})
        example = repr(texts[0]) if stray is None else f"{stray!r} among numbers"
        raise TableError(
            f"The column {column.name!r} of {source} holds {len(different)} different texts, such as {example}, and no "
            f"more than {MOST_CATEGORIES} can be told apart; leave it out with --drop {column.name!r}, or turn it into "
            "numbers or fewer categories."
        )
    if len(different) == len(texts):
        raise TableError(
            f"The column {column.name!r} of {source} has another text in every row, such as {texts[0]!r}, so it names "
            f"rows; leave it out with --drop {column.name!r}."
        )
    return texts


def _numbers(column: pd.Series, source: str) -> np.ndarray:
    if kind_of(column) == "other":
        raise TableError(
            f"The column {column.name!r} of {source} holds values of type {column.dtype}, neither numbers nor texts; "
            f"leave it out with --drop {column.name!r}, or turn it into numbers."
        )
    values = as_numbers(column)
    if np.isinf(values).any():
        raise TableError(
            f"The column {column.name!r} of {source} holds infinite values; correct them or leave the cells empty."
        )
    return values
