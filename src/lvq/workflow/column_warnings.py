"""Warnings about columns that are usable, but perhaps should not be features.

An identifier of the patient, or the diagnosis under another name, makes a model with high accuracy and no use. A single
"n.d." turns a column of numbers into categories.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import pandas as pd

from lvq.tables import is_number

IDENTIFIER_ROWS = 20  # from this number of rows on, integers that all differ are an identifier
HEAD_ROWS = 1000  # rows in which most columns show more values than classes


def column_warnings(
    features: pd.DataFrame, labels: np.ndarray, texts: Collection[str], listed: Callable[[list[str]], str]
) -> list[str]:
    """Warnings about columns that may identify rows or classes.

    Parameters
    ----------
    features : DataFrame
        Numbers as float64, categories as texts.
    labels : ndarray of str
        The classes of its rows.
    texts : collection of str
        The columns of categories, and of dates.
    listed : callable
        Formats a list of names.

    Returns
    -------
    warnings : list of str

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> table = pd.DataFrame({"patient": np.arange(1000.0, 1020.0), "code": np.arange(20) % 2 + 7.0})
    >>> for warning in column_warnings(table, np.array(["ill", "well"] * 10), (), str):
    ...     print(warning)
    Every row has a different integer in ['patient']: if it identifies the rows, leave it out with --drop.
    Each class has its own value of ['code']: if it is known only after the class, leave it out with --drop.
    """
    codes, classes = pd.factorize(labels)
    identifiers = [name for name in features if name not in texts and _is_identifier(features[name].to_numpy())]
    equivalents = [name for name in features if _determines_class(features[name], codes, len(classes))]
    suspects = (
        ("Every row has a different integer in", identifiers, "if it identifies the rows"),
        ("Each class has its own value of", equivalents, "if it is known only after the class"),
    )
    found = [f"{what} {listed(names)}: {when}, leave it out with --drop." for what, names, when in suspects if names]
    return found + [
        f"The classes {listed(names)} differ only in upper and lower case: if they are one, correct the table."
        for names in _alike(classes.tolist())
    ]


def _alike(names: list[str]) -> list[list[str]]:
    """Names that are equal but for upper and lower case."""
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(name.casefold(), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _is_identifier(values: np.ndarray) -> bool:
    return bool(
        len(values) >= IDENTIFIER_ROWS
        and np.isfinite(values).all()
        and (values == np.round(values)).all()
        and len(np.unique(values)) == len(values)
    )


def _determines_class(column: pd.Series, codes: np.ndarray, n_classes: int) -> bool:
    """Whether each class has one value of its own."""
    if column.iloc[:HEAD_ROWS].nunique() > n_classes:
        return False
    values, different = pd.factorize(column, use_na_sentinel=False)
    return len(different) == n_classes == len(np.unique(values * n_classes + codes))


def stray_text(texts: Collection[str]) -> str | None:
    """The first text that is not a number, if most of the others are.

    Examples
    --------
    >>> stray_text(["1.5", "2", "n.d."]), stray_text(["1", "one", "two"])
    ('n.d.', None)
    """
    others = sorted(text for text in texts if not is_number(text))
    return others[0] if others and 2 * len(others) < len(texts) else None
