"""Columns to look at twice: what could be learned from, but perhaps should not. Each doubt is a sentence, no error.

A number of the patient, or the diagnosis under another name, makes a model that looks perfect and knows nothing. A
single "n.d." makes categories of a column of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pandas as pd

from lvq.tables import is_number

SEVERAL = 20  # rows from which on it is no chance that whole numbers all differ
FIRST = 1000  # rows that tell most columns from the class


def doubts(
    features: pd.DataFrame, labels: np.ndarray, texts: Collection[str], listed: Callable[[Any], str]
) -> list[str]:
    """Sentences about columns that name rows or classes.

    Parameters
    ----------
    features : DataFrame
        Numbers as float64, categories as texts.
    labels : ndarray of str
        The classes of its rows.
    texts : collection of str
        The columns of categories.
    listed : callable
        Spells names in a sentence.

    Returns
    -------
    sentences : list of str

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> table = pd.DataFrame({"patient": np.arange(1000.0, 1020.0), "code": np.arange(20) % 2 + 7.0})
    >>> for sentence in doubts(table, np.array(["ill", "well"] * 10), (), str):
    ...     print(sentence)
    Every row has a whole number of its own in ['patient']: if that names the rows, leave it out with --drop.
    The class of every row can be read off ['code'] alone: if that is known only once the class is, leave it out with \
--drop.
    """
    found = []
    names = [name for name in features if name not in texts and _names_rows(features[name].to_numpy())]
    if names:
        found.append(
            f"Every row has a whole number of its own in {listed(names)}: if that names the rows, leave it out with "
            "--drop."
        )
    codes, classes = pd.factorize(labels)
    same = [name for name in features if _names_classes(features[name], codes, len(classes))]
    if same:
        found.append(
            f"The class of every row can be read off {listed(same)} alone: if that is known only once the class is, "
            "leave it out with --drop."
        )
    return found


def _names_rows(values: np.ndarray) -> bool:
    return bool(
        len(values) >= SEVERAL
        and np.isfinite(values).all()
        and (values == np.round(values)).all()
        and len(np.unique(values)) == len(values)
    )


def _names_classes(column: pd.Series, codes: np.ndarray, n_classes: int) -> bool:
    """Whether each class has one value of its own."""
    if column.iloc[:FIRST].nunique() > n_classes:
        return False
    values, different = pd.factorize(column, use_na_sentinel=False)
    return len(different) == n_classes == len(np.unique(values * n_classes + codes))


def stray_text(texts: Collection[str]) -> str | None:
    """The first text that is no number, if most of the others are.

    Examples
    --------
    >>> stray_text(["1.5", "2", "n.d."]), stray_text(["1", "one", "two"])
    ('n.d.', None)
    """
    others = sorted(text for text in texts if not is_number(text))
    return others[0] if others and 2 * len(others) < len(texts) else None
