"""Whether a model read back is the model that was written, down to types and bits."""

from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np


def difference(one: Any, other: Any, where: str = "the model") -> str:
    """Where two things differ first; an empty string where they do not.

    Examples
    --------
    >>> import numpy as np
    >>> difference({"a": np.zeros(2)}, {"a": np.zeros(2)})
    ''
    >>> difference([1.0, {True: 2}], [1.0, {1: 2}])
    'the model[1]: keys'
    """
    if type(one) is not type(other):
        return f"{where}: {type(one).__name__} became {type(other).__name__}"
    if isinstance(one, np.ma.MaskedArray):
        return difference(one.data, other.data, where) or difference(one.mask, other.mask, where)
    if isinstance(one, np.ndarray):
        return _array_difference(one, other, where)
    if isinstance(one, np.random.RandomState):
        return difference(one.get_state(legacy=False), other.get_state(legacy=False), where)
    if isinstance(one, dict):
        if [(type(key), key) for key in one] != [(type(key), key) for key in other]:
            return f"{where}: keys"
        return _first(difference(value, other[key], f"{where}[{key!r}]") for key, value in one.items())
    if isinstance(one, list | tuple):
        if len(one) != len(other):
            return f"{where}: length"
        return _first(difference(a, b, f"{where}[{index}]") for index, (a, b) in enumerate(zip(one, other)))
    if isinstance(one, type | FunctionType | BuiltinFunctionType | np.ufunc | np.dtype):
        return "" if one == other else where
    if hasattr(one, "__dict__"):
        return difference(vars(one), vars(other), f"{where}: {type(one).__name__}")
    if one == other or (one != one and other != other):  # NaN is NaN here
        return ""
    compiled = type(one).__module__.startswith("sklearn.") and len(one.__reduce__()) > 1
    return difference(one.__reduce__()[1:], other.__reduce__()[1:], where) if compiled else where


def _array_difference(one: Any, other: Any, where: str) -> str:
    if one.dtype != other.dtype or one.shape != other.shape:
        return f"{where}: type or shape"
    if one.dtype.hasobject:
        return difference(one.tolist(), other.tolist(), where)
    if one.dtype.names:  # between fields there may be bytes that mean nothing
        return _first(difference(one[name], other[name], where) for name in one.dtype.names)
    return "" if one.tobytes() == other.tobytes() else where


def _first(differences: Any) -> str:
    return next((found for found in differences if found), "")
