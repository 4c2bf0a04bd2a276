"""Types that many signatures share.

The first have no narrower true type: each is `Any` with a name, and the line below it says why. Elsewhere in the
package `Any` needs a reason on its line, which ruff follows in signatures. The others are unions of what a parameter
accepts.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn.model_selection import BaseCrossValidator

Array: TypeAlias = Any
"""A NumPy array or a torch tensor of numbers, also of one number: no type has the operators that both share."""

MatrixLike: TypeAlias = Any
"""Samples as an estimator takes them: an array, a tensor, a list or a data frame; each has its own way to take rows."""

LabelsLike: TypeAlias = Any
"""Classes or cells, one per sample, in an array or a sequence: labels may be objects, so it is not array-like."""

Label: TypeAlias = Any
"""A class: a number, a string or another hashable object; keys of a dict must match exactly, so no union would do."""

JSONValue: TypeAlias = Any
"""A value of JSON: numbers, strings, and nested lists and dicts; which of them is known only at run time."""

Argument: TypeAlias = Any
"""A value that is only passed on from or to another function, often of another package: its type is known there."""

Labels: TypeAlias = NDArray[np.generic]
"""An array of classes or cells, of any type that NumPy has."""

Floats: TypeAlias = NDArray[np.float64]
"""An array of numbers in float64."""

Delayed: TypeAlias = Any
"""An object of dask: a value that a worker computes or holds, or an array or data frame of such; dask has no types."""

ClassWeight: TypeAlias = dict[Label, float] | Literal["balanced"] | None
"""Weight of each class."""

Seed: TypeAlias = int | np.random.RandomState | None
"""Source of randomness, as in scikit-learn."""

Fold: TypeAlias = "tuple[NDArray[np.intp], NDArray[np.intp]]"
"""Training and test rows of a fold."""

CrossValidation: TypeAlias = "int | BaseCrossValidator | Iterable[Fold] | None"
"""Folds, as in scikit-learn: their number, a splitter, or pairs of training and test rows."""
