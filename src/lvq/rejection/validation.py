"""Checks of the arrays that all functions of this package take.

A classified sample is a triple: how certain its prediction is (`certainty`, higher is more certain), whether the
prediction is correct (`correct`), and the cell of the sample (`cell`: the winning prototype, the predicted class, any
hashable label).

Rules:
- certainty is finite, because a threshold of -inf means "reject nothing" and +inf means "reject the whole cell";
- labels are compared as Python compares them (1 == 1.0, 1 != "1"); a list of tuples is a list of labels, not a table.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lvq.typing import Labels, LabelsLike

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


class Samples(NamedTuple):
    """Checked samples; `cells[code]` is the label of a sample's cell."""

    certainty: FloatArray
    correct: BoolArray
    cells: Labels
    code: IntArray

    @property
    def n_correct(self) -> int:
        """Number of correct predictions."""
        return int(np.count_nonzero(self.correct))

    @property
    def n_errors(self) -> int:
        """Number of errors."""
        return len(self.correct) - self.n_correct


def check_samples(certainty: ArrayLike, correct: ArrayLike, cell: ArrayLike) -> Samples:
    """Check the three arrays and encode the cells.

    Parameters
    ----------
    certainty : array-like of shape (n_samples,)
        Finite numbers, higher is more certain.
    correct : array-like of shape (n_samples,)
        True (or 1) where the prediction is correct.
    cell : array-like of shape (n_samples,)
        Any hashable label per sample.

    Returns
    -------
    Samples

    Examples
    --------
    >>> check_samples([0.1, 0.7], [False, True], ["a", "b"]).code
    array([0, 1])
    """
    values, flags = check_certainty(certainty), check_flags("correct", correct)
    cells, code = label_codes(cell)
    check_lengths(certainty=values, correct=flags, cell=code)
    return Samples(values, flags, cells, code)


def sorted_by_pool(samples: Samples, pool: IntArray, n_pools: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Sorted certainties of the correct samples and of the errors, pool by pool; samples of pool -1 are omitted."""
    sides = []
    # Two sorts of one key each are faster than one of two; the second is stable, and a radix sort for small integers.
    small = pool.astype(np.int16 if n_pools < 2**15 else np.intp)
    for side in (samples.correct, ~samples.correct):
        values, owner = samples.certainty[side], small[side]
        order = np.argsort(values)
        order = order[np.argsort(owner[order], kind="stable")]
        sides.append((values[order], np.searchsorted(owner[order], np.arange(n_pools + 1))))
    (correct, correct_bounds), (errors, error_bounds) = sides
    for j in range(n_pools):
        yield correct[correct_bounds[j] : correct_bounds[j + 1]], errors[error_bounds[j] : error_bounds[j + 1]]


def check_certainty(certainty: ArrayLike) -> FloatArray:
    """One-dimensional, non-empty, finite certainties as float64."""
    values = np.asarray(certainty, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(
            f"certainty must be one-dimensional and not empty, got shape {values.shape}; give one number per sample."
        )
    check_finite("certainty", values)
    return values


def check_finite(name: str, values: FloatArray) -> None:
    """No NaN and no infinite value."""
    n_bad = len(values) - int(np.count_nonzero(np.isfinite(values)))
    if n_bad:
        raise ValueError(
            f"{name} must be finite, got {n_bad} NaN or infinite of {len(values)} values; "
            "remove these samples or return a finite lowest value from the measure."
        )


def check_flags(name: str, flags: ArrayLike) -> BoolArray:
    """One-dimensional True/False (or 1/0) as booleans."""
    values = np.asarray(flags)
    if values.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, got shape {values.shape}; give one True or False per sample."
        )
    if values.dtype == np.bool_:
        return values
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
        raise ValueError(
            f"{', '.join(lengths)} must have the same length, got: {found}; give one entry per sample to each."
        )


def check_fraction(name: str, value: float, *, open_interval: bool = False) -> float:
    """A number in [0, 1], or strictly inside."""
    if not (0 < value < 1 if open_interval else 0 <= value <= 1):
        interval = "strictly between 0 and 1" if open_interval else "between 0 and 1"
        raise ValueError(f"{name} must be {interval}, got {value!r}; give a fraction, not a percentage.")
    return float(value)


def label_codes(labels: LabelsLike) -> tuple[Labels, IntArray]:
    """Distinct labels and, for every sample, the index of its label among them.

    Sortable labels come back sorted; others (tuples, mixed types) in order of appearance.

    Examples
    --------
    >>> label_codes([7, 3, 7])
    (array([3, 7]), array([1, 0, 1]))
    >>> label_codes([("a", 1), ("b", 2), ("a", 1)])[1]
    array([0, 1, 0])
    """
    array = _label_array(labels)
    if array.dtype != object:
        distinct, code = np.unique(array, return_inverse=True)
        return distinct, code.astype(np.intp, copy=False)
    seen: dict[Hashable, int] = {}
    code = np.fromiter((seen.setdefault(label, len(seen)) for label in array), dtype=np.intp, count=len(array))
    return np.fromiter(seen, dtype=object, count=len(seen)), code


def positions(labels: LabelsLike, known: Labels) -> IntArray:
    """Index of every label among the known labels; -1 for a label that is not among them.

    Examples
    --------
    >>> positions(["b", "z", "b"], np.array(["a", "b"]))
    array([ 1, -1,  1])
    """
    distinct, code = label_codes(labels)
    index = {label: position for position, label in enumerate(known.tolist())}
    return np.array([index.get(label, -1) for label in distinct.tolist()], dtype=np.intp)[code]


def _label_array(labels: LabelsLike) -> Labels:
    """A one-dimensional array of labels; tuples stay tuples and 1 never becomes "1"."""
    if hasattr(labels, "__array__"):
        array = np.asarray(labels)
    else:
        labels = list(labels)
        kinds = {type(label) for label in labels}
        plain = len(kinds) <= 1 and tuple not in kinds
        array = np.asarray(labels) if plain else np.fromiter(labels, dtype=object, count=len(labels))
    missing = array.dtype == object and any(isinstance(label, float) and label != label for label in array.flat)
    if missing or (array.dtype.kind == "f" and np.isnan(array).any()):
        raise ValueError("labels must not be NaN, which is not equal to itself; give such samples their own label.")
    if array.ndim != 1:
        raise ValueError(f"labels must be one-dimensional, got shape {array.shape}; give one label per sample.")
    return array
