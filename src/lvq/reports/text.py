"""Values as JSON types, and numbers as strings. The page's script formats the numbers that it changes the same way."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass

import numpy as np
from numpy.typing import ArrayLike

from lvq.plots.style import number, percent
from lvq.typing import JSONValue

MAX_NAMED = 5  # names in a sentence
PLURALS = {"outlier": "outliers", "unknown category": "unknown categories"}  # of reasons for rejection


def to_json(value: object) -> JSONValue:
    """Numbers, strings, arrays, lists, mappings and data classes in JSON types; NaN and infinite values become None.

    Fields with ``repr=False`` are left out.

    Examples
    --------
    >>> to_json({"a": np.array([1.5, np.nan]), 2: (np.int64(3), None, np.bool_(True))})
    {'a': [1.5, None], '2': [3, None, True]}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value) if field.repr}
    if isinstance(value, Mapping):
        return {str(key): to_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(entry) for entry in value]
    return str(value)


def natural_key(name: str) -> list[tuple[int, float, str]]:
    """A key that sorts numbers in names by their size.

    Examples
    --------
    >>> sorted(["10", "9", "1", "b2", "b10", "-1", "0.5"], key=natural_key)
    ['-1', '0.5', '1', '9', '10', 'b2', 'b10']
    """
    try:
        return [(0, float(name), "")]
    except ValueError:
        parts = re.split(r"(\d+)", name.casefold())
        return [(0, float(part), "") if part.isdigit() else (1, 0.0, part) for part in parts if part]


def label_texts(labels: ArrayLike) -> list[str]:
    """Class labels as strings.

    Examples
    --------
    >>> label_texts(np.array([0.0, 1.0])), label_texts(np.array(["a", "b"]))
    (['0', '1'], ['a', 'b'])
    """
    return [str(int(label)) if isinstance(label, float) and label.is_integer() else str(label) for label in
            np.asarray(labels).tolist()]  # fmt: skip


def cell(value: float | str | None, digits: int = 4) -> str:
    """A number as by `number`, or the name of a category.

    Examples
    --------
    >>> cell(0.012345), cell("female"), cell(None)
    ('0.01235', 'female', '–')
    """
    return shortened(value) if isinstance(value, str) else number(value, digits)


def count(value: int) -> str:
    """A whole number in groups of three digits.

    Examples
    --------
    >>> count(17919), count(919)
    ('17 919', '919')
    """
    return f"{value:,}".replace(",", " ")


def counted(value: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "sample"), counted(2, "class", "classes")
    ('1 sample', '2 classes')
    """
    return f"{count(value)} {singular if value == 1 else plural or singular + 's'}"


def shortened(name: str, length: int = 40) -> str:
    """A name cut to a maximal length.

    Examples
    --------
    >>> shortened("width"), shortened("a very long name", 8)
    ('width', 'a very …')
    """
    return name if len(name) <= length else name[: length - 1] + "…"


def listed(names: Sequence[str]) -> str:
    """The first few names of a sentence.

    Examples
    --------
    >>> listed(["a", "b"]), listed(["a", "b", "c", "d", "e", "f", "g"])
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


FILTERS: dict[str, Callable[..., str]] = {"percent": percent, "number": number, "cell": cell, "count": count}
