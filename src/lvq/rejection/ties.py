"""Samples that have exactly the certainty of the threshold: which of them are accepted.

In data with few distinct rows, and where certainties saturate, many samples have the same certainty. A threshold alone
accepts or rejects all of them together, so that a requested coverage could not be met.

Rules:
- certainties are compared in steps of 2^-20 of their size, because the last digits depend on how many rows are
  predicted at once;
- among samples of equal certainty those with the lower second certainty are rejected first: the difference of the
  distances to rival and winner, which does not saturate, or the margin of other classifiers;
- among samples that are equal there too a drawn fraction is rejected. The draw is no random number: it is computed from
  the values of the row and from the number of identical rows before it in the same call. The same table always gives
  the same result, different rows do not influence each other, and of many identical rows the right fraction is
  accepted. A row that is given alone always has the same result.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from scipy.sparse import issparse

from lvq.rejection.measures import certainty_of
from lvq.rejection.predictions import Predictions
from lvq.rejection.validation import BoolArray, FloatArray, IntArray
from lvq.typing import MatrixLike

BITS = 20  # of a certainty that count when two are compared
GOLDEN = 0.6180339887498949  # multiples of it, modulo one, are spread evenly


@dataclass(frozen=True)
class Ties:
    """How samples at the threshold are accepted or rejected.

    Attributes
    ----------
    certainty, second : float
        The certainty and the second certainty at which samples are equal.
    rejected_fraction : float
        Fraction of these that is rejected.

    Examples
    --------
    >>> ties = Ties(0.5, 1.0, 0.25)
    >>> ties.rejects(np.array([0.9, 1.0, 1.0, 1.1]), np.array([0.9, 0.1, 0.3, 0.1]))
    array([ True,  True, False, False])
    """

    certainty: float
    second: float
    rejected_fraction: float

    def at_threshold(self, certainty: FloatArray) -> BoolArray:
        """Which samples have the certainty of the threshold."""
        return np.asarray(in_steps(certainty) == self.certainty)

    def rejects(self, second: FloatArray, drawn: FloatArray) -> BoolArray:
        """Which of the samples at the threshold are rejected, given their second certainty and their draw."""
        return np.asarray((second < self.second) | ((second == self.second) & (drawn < self.rejected_fraction)))


def in_steps(values: FloatArray) -> FloatArray:
    """Values rounded to `BITS` binary digits, so that rounding errors of predictions do not separate equal samples.

    Examples
    --------
    >>> bool(in_steps(np.array([0.1 + 0.2]))[0] == in_steps(np.array([0.3]))[0])
    True
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return np.ldexp(np.rint(mantissa * 2.0**BITS) / 2.0**BITS, exponent) + 0.0  # + 0.0: no negative zero


def lower_edge(steps: FloatArray) -> FloatArray:
    """The lowest values that `in_steps` rounds up to the given ones, so that a threshold there accepts all of them."""
    _, exponent = np.frexp(steps)
    return np.where(np.isfinite(steps), steps - np.ldexp(2.0 ** -(BITS + 1), exponent), steps)


def second_certainty(predictions: Predictions) -> FloatArray:
    """A certainty that does not saturate, in steps; 0 where a classifier has no other one."""
    if predictions.found is not None:
        found = predictions.nearest
        values = found.rival_distance.astype(np.float64) - found.winner_distance
    elif hasattr(predictions.estimator, "decision_function"):
        try:
            values = certainty_of(predictions, "margin")
        except ValueError:  # scores of pairs of classes
            values = np.zeros(len(predictions.predicted))
    else:
        values = np.zeros(len(predictions.predicted))
    return in_steps(np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0))


def draws(X: MatrixLike, rows: IntArray) -> FloatArray:
    """A number in [0, 1) for each of the rows, from its values and the number of identical ones before it.

    Examples
    --------
    >>> drawn = draws(np.array([[1.0], [2.0], [1.0]]), np.arange(3))
    >>> bool(drawn[0] == draws(np.array([[1.0]]), np.arange(1))[0]), bool(drawn[0] == drawn[2])
    (True, False)
    """
    hashes = np.array([int.from_bytes(blake2b(row, digest_size=7).digest()) for row in _row_bytes(X, rows)])
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    first = np.searchsorted(ordered, ordered)  # where the run of identical rows begins
    before = np.empty(len(rows))
    before[order] = np.arange(len(rows)) - first
    return (hashes / 2.0**56 + before * GOLDEN) % 1.0


def _row_bytes(X: MatrixLike, rows: IntArray) -> list[bytes]:
    """The values of each row as bytes; numbers in steps."""
    if issparse(X):
        X = X.tocsr()[rows].toarray()
    elif hasattr(X, "iloc"):
        X = X.iloc[rows].to_numpy()
    elif hasattr(X, "column_names"):  # pyarrow
        X = np.column_stack([np.asarray(column) for column in X.take(rows).columns])
    else:
        X = np.asarray(X)[rows]
    if X.dtype.kind in "biuf":
        return [row.tobytes() for row in in_steps(X.astype(np.float64))]
    return [repr(row.tolist()).encode() for row in X]
