"""Checks of the arrays that all functions of this package take.

A classified sample is a triple: how certain its prediction is (`certainty`, higher is more certain), whether the
prediction is correct (`correct`), and the cell of the sample (`cell`: the winning prototype or the predicted class).
A certainty is finite, because a threshold of -inf means "reject nothing" and +inf "reject the whole cell".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, column_or_1d

from lvq.typing import Labels, LabelsLike

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


def check_samples(
    certainty: ArrayLike, correct: ArrayLike, cell: ArrayLike
) -> tuple[FloatArray, BoolArray, Labels, IntArray]:
    """The three arrays checked, with the cells as distinct labels and the index of each sample's label.

    Examples
    --------
    >>> check_samples([0.1, 0.7], [False, True], ["b", "a"])[2:]
    (array(['a', 'b'], dtype='<U1'), array([1, 0]))
    """
    values, flags = check_certainty(certainty), check_flags("correct", correct)
    cells, code = np.unique(column_or_1d(cell), return_inverse=True)
    check_lengths(certainty=values, correct=flags, cell=code)
    return values, flags, cells, code


def check_certainty(certainty: ArrayLike, name: str = "certainty") -> FloatArray:
    """One-dimensional, non-empty, finite numbers as float64."""
    return column_or_1d(check_array(certainty, ensure_2d=False, dtype=np.float64, input_name=name))


def check_flags(name: str, flags: ArrayLike) -> BoolArray:
    """One-dimensional True/False (or 1/0) as booleans."""
    values = column_or_1d(flags)
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        raise ValueError(
            f"{name} must hold only True/False or 1/0, got {np.unique(values.astype(str))[:5].tolist()}; "
            "use a comparison, such as y_pred == y_true."
        )
    return values.astype(np.bool_)


def check_lengths(**arrays: np.ndarray) -> None:
    """All arrays, given by their argument's name, have the same length."""
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"{', '.join(lengths)} must have one entry for each sample, got: {found}.")


def check_fraction(name: str, value: float, *, open_interval: bool = False) -> float:
    """A number in [0, 1], or strictly inside."""
    if not (0 < value < 1 if open_interval else 0 <= value <= 1):
        interval = "strictly between 0 and 1" if open_interval else "between 0 and 1"
        raise ValueError(f"{name} must be {interval}, got {value!r}; give a fraction, not a percentage.")
    return float(value)


def positions(labels: LabelsLike, known: Labels) -> IntArray:
    """Index of every label among the known labels; -1 for a label that is not among them.

    Examples
    --------
    >>> positions(["b", "z", "b"], np.array(["a", "b"]))
    array([ 1, -1,  1])
    """
    distinct, code = np.unique(np.asarray(labels), return_inverse=True)
    index = {label: position for position, label in enumerate(known.tolist())}
    return np.array([index.get(label, -1) for label in distinct.tolist()], dtype=np.intp)[code]
