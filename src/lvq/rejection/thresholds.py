"""Thresholds per cell from classified samples: how many errors can be rejected for how many correct samples.

Rules:
- reject iff certainty < threshold of the cell, strictly; samples of equal certainty in a cell are rejected together;
- a cell's threshold is the certainty of the first correct sample it keeps, -inf if it rejects nothing, +inf if all;
- with "global" all cells share one threshold;
- every path begins with the classifier that rejects nothing, for every method;
- all counting is in integers; the dynamic program is exact, no tolerance is involved.

In the notation of the paper the rank of the k-th correct sample of a cell is a(k) = errors[k-1] + k, with
a(C+1) = size + 1. Its printed pseudo-code of Algorithm 3.1 does not give its Table 2: it compares a total with an
increment, starts its cost at 1, omits the errors rejected at no cost when it starts over, updates inside the tie loop,
has no bounds and returns no thresholds. `greedy` gives Table 2.

Fit thresholds on samples the classifier was not trained on; on its training samples the accuracy is overestimated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lvq.rejection.path import BoolArray, IntArray, ThresholdPath, check_samples
from lvq.typing import Floats

# Certainties are compared in steps of this fraction of their median: the last digits depend on how many rows are
# predicted at once, and rows that are equal must be accepted or rejected together.
STEP = 2.0**-20
UNREACHED = np.int64(2**62)


def step_of(certainty: Floats) -> float:
    """The step in which certainties are compared.

    Examples
    --------
    >>> step_of(np.array([0.25, 0.5, 0.75])) == STEP / 2
    True
    """
    sizes = np.abs(certainty[certainty != 0])
    return STEP * float(np.median(sizes)) if len(sizes) else STEP


def in_steps(certainty: Floats, step: float) -> Floats:
    """Certainties rounded to multiples of the step; a threshold half a step below one accepts all that are equal to it.

    Examples
    --------
    >>> (in_steps(np.array([0.1 + 0.2, 0.3, 0.34]), 0.1) == 0.1 * 3).tolist()
    [True, True, True]
    """
    largest = 2.0**52 * step  # from here on the steps of floating-point numbers are larger
    return np.rint(np.clip(certainty, -largest, largest) / step) * step


class Staircase(NamedTuple):
    """Rejected errors and thresholds of a cell by the number k = 0..C of rejected correct samples.

    Attributes
    ----------
    errors : int array of shape (C + 1,)
        Rejected errors, ascending.
    threshold : float array of shape (C + 1,)
        Certainty of the first accepted correct sample; -inf where nothing is rejected, +inf at k = C.
    realisable : bool array of shape (C + 1,)
        False where samples of equal certainty would be separated.
    """

    errors: IntArray
    threshold: Floats
    realisable: BoolArray

    @property
    def rises(self) -> IntArray:
        """The useful k: 0, and every k that rejects more errors than k - 1."""
        return np.flatnonzero(np.diff(self.errors, prepend=-1) > 0)


def staircase(correct_certainty: Floats, error_certainty: Floats) -> Staircase:
    """The staircase of a cell from its sorted certainties.

    Parameters
    ----------
    correct_certainty, error_certainty : sorted arrays
        Certainties of the correct samples and of the errors of the cell.

    Returns
    -------
    Staircase

    Examples
    --------
    Thirteen samples; ranks 1, 5, 7 and 10 are correct:

    >>> import numpy as np
    >>> steps = staircase(np.array([1.0, 5, 7, 10]), np.array([2.0, 3, 4, 6, 8, 9, 11, 12, 13]))
    >>> steps.errors
    array([0, 3, 4, 6, 9])
    >>> steps.errors + np.arange(1, 6)
    array([ 1,  5,  7, 10, 14])
    """
    errors = np.append(np.searchsorted(error_certainty, correct_certainty, side="left"), len(error_certainty))
    threshold = np.append(correct_certainty, np.inf)
    if errors[0] == 0:
        threshold[0] = -np.inf
    realisable = np.append(correct_certainty > np.append(-np.inf, correct_certainty[:-1]), True)
    return Staircase(errors, threshold, realisable)


def optimal(cells: Sequence[Staircase]) -> Floats:
    """For every number of rejected correct samples the most rejected errors, where a smaller number rejects fewer.

    The knapsack is solved in its dual: fewest rejected correct samples for every number of rejected errors, one cell
    after the other. Each of the E errors is an option at most once and is combined with at most the errors of the cells
    before it, so there are at most E^2 / 2 additions for any number of samples.
    """
    costs, choices = _fewest_correct(cells)
    # A number of errors is kept only if no larger number costs as little.
    cheapest_above = np.minimum.accumulate(np.append(costs[1:], UNREACHED)[::-1])[::-1]
    remaining = np.flatnonzero(costs < cheapest_above)
    thresholds = np.empty((len(remaining), len(cells)))
    for index, stairs in reversed(list(enumerate(cells))):
        level = choices[index][remaining]
        remaining = remaining - (stairs.errors[level] - stairs.errors[0])
        thresholds[:, index] = stairs.threshold[level]
    return thresholds


def _fewest_correct(cells: Sequence[Staircase]) -> tuple[IntArray, list[IntArray]]:
    """Fewest rejected correct samples per number of errors that are not free, and how many each cell rejects for it."""
    best = np.zeros(1, dtype=np.intp)
    choices: list[IntArray] = []
    for stairs in cells:
        gains = stairs.errors - stairs.errors[0]
        after = np.full(len(best) + int(gains[-1]), UNREACHED)
        choice = np.zeros(len(after), dtype=np.intp)
        for level in stairs.rises.tolist():
            here = slice(gains[level], gains[level] + len(best))
            better = best + level < after[here]
            after[here][better] = (best + level)[better]
            choice[here][better] = level
        choices.append(choice)
        best = after
    return best, choices


def greedy(cells: Sequence[Staircase]) -> Floats:
    """Algorithm 3.1: raise the cell with the largest gain, start over where one alone is better, look ahead at ties.

    Cells without errors stay at k = 0. States that separate samples of equal certainty are passed but not returned,
    nor is the state that rejects everything.
    """
    thresholds = []
    for levels in _walk(cells):
        row = [stairs.threshold[level] for stairs, level in zip(cells, levels)]
        if min(row) < np.inf and all(stairs.realisable[level] for stairs, level in zip(cells, levels)):
            thresholds.append(row)
    return np.array(thresholds).reshape(-1, len(cells))


def _walk(cells: Sequence[Staircase]) -> Iterator[list[int]]:
    """All states of the algorithm, in order: how many correct samples of each cell are rejected."""
    # Staircases as rows of a table, each padded by its last value; without errors there is nothing to gain.
    last = np.array([len(stairs.errors) - 1 if stairs.errors[-1] > 0 else 0 for stairs in cells])
    width = int(last.max()) + 1
    table = np.stack([np.pad(stairs.errors, (0, width), mode="edge")[:width] for stairs in cells])
    start = np.zeros(len(cells), dtype=np.intp)
    alone = _gains(table, last, start, np.arange(width))  # errors rejected by one cell only
    level, rejected = start, 0  # errors in addition to those rejected at no cost
    yield level.tolist()
    while rejected < (table[:, -1] - table[:, 0]).sum():
        following = int(level.sum()) + 1
        gain = _gains(table, last, level, np.ones(1, dtype=np.intp))[:, 0]
        if following < width and alone[:, following].max() > gain.max() + rejected:
            level, cell, step = start, int(alone[:, following].argmax()), following
        else:
            cell, step = _next_cell(table, last, level, gain)
        level = level + step * (np.arange(len(cells)) == cell)
        rejected = int((table[np.arange(len(cells)), level] - table[:, 0]).sum())
        yield level.tolist()


def _gains(table: IntArray, last: IntArray, level: IntArray, steps: IntArray) -> IntArray:
    """Errors rejected by `steps` more rejected correct samples, (n_cells, n_steps); -1 where a cell has fewer."""
    rows, reached = np.arange(len(level))[:, None], level[:, None] + steps
    gain = table[rows, np.minimum(reached, last[:, None])] - table[rows, level[:, None]]
    return np.where(reached <= last[:, None], gain, -1)


def _next_cell(table: IntArray, last: IntArray, level: IntArray, gain: IntArray) -> tuple[int, int]:
    """The cell to raise and by how much: look ahead until one cell alone is best, else the first of the tied cells."""
    if np.count_nonzero(gain == gain.max()) > 1:
        ahead = _gains(table, last, level, np.arange(1, (last - level).max() + 1))
        single = np.flatnonzero(np.count_nonzero(ahead == ahead.max(axis=0), axis=0) == 1)
        if len(single):
            return int(ahead[:, single[0]].argmax()), int(single[0]) + 1
    return int(gain.argmax()), 1


# a single threshold is the optimal path of one cell that holds all samples
METHODS: dict[str, Callable[[Sequence[Staircase]], Floats]] = {
    "optimal": optimal,
    "greedy": greedy,
    "global": optimal,
}


def local_thresholds(
    certainty: ArrayLike,
    correct: ArrayLike,
    cell: ArrayLike,
    *,
    method: str = "optimal",
    min_cell_size: int = 1,
) -> ThresholdPath:
    """Operating points of a classifier with a reject option, with one threshold per cell.

    Parameters
    ----------
    certainty : array-like of shape (n_samples,)
        Certainty of the predictions, higher is more certain; finite.
    correct : array-like of shape (n_samples,)
        Whether the prediction is correct.
    cell : array-like of shape (n_samples,)
        Cell of the sample: winning prototype or predicted class.
    method : {"optimal", "greedy", "global"}, default="optimal"
        - "optimal": for every number of rejected correct samples the most rejected errors. At most E^2 / 2 operations
          for E errors.
        - "greedy": Algorithm 3.1 of [1]_.
        - "global": one threshold for all cells.
    min_cell_size : int, default=1
        Cells with fewer samples share one threshold.

    Returns
    -------
    ThresholdPath
        Its first point rejects nothing. For "optimal" the others are the non-dominated ones: each rejects the
        fewest correct samples among all that reject as many errors or more.

    References
    ----------
    .. [1] Fischer, Hammer, Wersing. Local Rejection Strategies for Learning Vector Quantization. ICANN 2014.

    Examples
    --------
    >>> certainty = [0.1, 0.2, 0.3, 0.6, 0.7, 0.8]
    >>> correct = [True, False, True, False, False, True]
    >>> path = local_thresholds(certainty, correct, ["a", "a", "a", "b", "b", "b"])
    >>> path.coverage.round(2)
    array([1.  , 0.67, 0.33])
    >>> path.accuracy.round(2)
    array([0.5 , 0.75, 1.  ])
    >>> point = path.with_accuracy(0.7)
    >>> point.thresholds
    array([-inf,  0.8])
    >>> point.accept([0.05, 0.75, 0.99], ["a", "b", "never seen"])
    array([ True, False, False])
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {method!r}.")
    values, flags, cell = check_samples(certainty, correct, cell)
    cells, code, sizes = np.unique(cell, return_inverse=True, return_counts=True)
    alone = (sizes >= min_cell_size) & (method != "global")
    columns = np.unique(np.where(alone, np.arange(len(cells)), -1), return_inverse=True)[1]
    own = [columns[code] == column for column in range(columns.max() + 1)]
    stairs = [staircase(np.sort(values[one & flags]), np.sort(values[one & ~flags])) for one in own]
    thresholds, nothing = METHODS[method](stairs), np.full((1, len(own)), -np.inf)
    if not len(thresholds) or not np.array_equal(thresholds[0], nothing[0]):
        thresholds = np.vstack((nothing, thresholds))
    uncounted = np.zeros(0, dtype=np.intp)
    return ThresholdPath(cells, thresholds, columns, method, uncounted, uncounted, 0, 0).evaluate(values, flags, cell)
