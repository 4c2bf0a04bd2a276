"""Plain values: what `json` can write and any language can read. NaN and infinities become None."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

FORMAT = 1  # of the summary; raised when a key changes its meaning
DIGITS = 6  # significant ones, for values that are only drawn or shown


def plain(value: Any) -> Any:
    """Anything made of numbers, texts, arrays, lists and mappings in JSON's own types.

    Examples
    --------
    >>> plain({"a": np.array([1.5, np.nan]), 2: (np.int64(3), None, np.bool_(True))})
    {'a': [1.5, None], '2': [3, None, True]}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    return str(value)


def short(values: Any) -> Any:
    """Numbers with six significant digits: enough to draw and to read, and a third of the bytes.

    Examples
    --------
    >>> short([1 / 3, 1234567.0, float("inf")])
    [0.333333, 1234570.0, None]
    """
    if isinstance(values, np.ndarray | np.generic):
        values = values.tolist()
    if isinstance(values, list | tuple):
        return [short(value) for value in values]
    if isinstance(values, float):
        return float(f"{values:.{DIGITS}g}") if math.isfinite(values) else None
    return values


def placed(values: Any, span: float) -> list[float]:
    """Coordinates to a hundred-thousandth of the picture's span, however far from 0 the picture lies.

    Examples
    --------
    >>> placed(np.array([1000.0001234567, 1.5]), 0.001)
    [1000.00012346, 1.5]
    """
    decimals = 5 - math.floor(math.log10(span)) if span > 0 else DIGITS
    return [round(float(value), decimals) for value in values]


def label_texts(labels: Any) -> list[str]:
    """Class labels as they are shown.

    Examples
    --------
    >>> label_texts(np.array([0.0, 1.0])), label_texts(np.array(["a", "b"]))
    (['0', '1'], ['a', 'b'])
    """
    return [str(int(label)) if isinstance(label, float) and label.is_integer() else str(label) for label in
            np.asarray(labels).tolist()]  # fmt: skip
