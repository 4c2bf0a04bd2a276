"""Thresholds per cell from classified samples: how many errors can be rejected for how many correct samples.

Rules:
- reject iff certainty < threshold of the cell, strictly; samples of equal certainty in a cell are rejected together;
- a cell's threshold is the certainty of the first correct sample it keeps, -inf if it rejects nothing, +inf if all;
- small cells share one threshold; with "global" all cells do;
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

from lvq.rejection.path import ThresholdPath, sorted_steps
from lvq.rejection.validation import BoolArray, FloatArray, IntArray, check_samples, sorted_by_pool

# Certainties are compared in steps of this fraction of their median: the last digits depend on how many rows are
# predicted at once, and rows that are equal must be accepted or rejected together.
STEP = 2.0**-20
UNREACHED = np.int64(2**62)


def step_of(certainty: FloatArray) -> float:
    """The step in which certainties are compared.

    Examples
    --------
    >>> step_of(np.array([0.25, 0.5, 0.75])) == STEP / 2
    True
    """
    sizes = np.abs(certainty[certainty != 0])
    return STEP * float(np.median(sizes)) if len(sizes) else STEP


def in_steps(certainty: FloatArray, step: float) -> FloatArray:
    """Certainties rounded to multiples of the step; a threshold half a step below one accepts all that are equal to it.

    Examples
    --------
    >>> (in_steps(np.array([0.1 + 0.2, 0.3, 1e300]), 0.1) == [0.1 * 3, 0.1 * 3, 1e300]).tolist()
    [True, True, True]
    """
    largest = 2.0**52 * step  # from here on the steps of floating-point numbers are larger
    rounded = np.rint(np.clip(certainty, -largest, largest) / step) * step
    return np.where(np.abs(certainty) < largest, rounded, certainty)


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
    threshold: FloatArray
    realisable: BoolArray

    @property
    def rises(self) -> IntArray:
        """The useful k: 0, and every k that rejects more errors than k - 1."""
        return np.flatnonzero(np.diff(self.errors, prepend=-1) > 0)


def staircase(correct_certainty: FloatArray, error_certainty: FloatArray) -> Staircase:
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
    Thirteen samples, of which those of rank 1, 5, 7 and 10 are correct:

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


class Points(NamedTuple):
    """Operating points: counts per point, and the changes `threshold[i]` of `cell[i]` from `point[i]` on."""

    rejected_correct: IntArray
    rejected_errors: IntArray
    point: IntArray
    cell: IntArray
    threshold: FloatArray


def optimal(cells: Sequence[Staircase]) -> Points:
    """For every number of rejected correct samples the most rejected errors, where a smaller number rejects fewer.

    The knapsack is solved in its dual: fewest rejected correct samples for every number of rejected errors, one cell
    after the other. Each of the E errors is an option at most once and is combined with at most the errors of the cells
    before it, so there are at most E^2 / 2 additions for any number of samples.
    """
    rises = [cell.rises for cell in cells]
    free = sum(int(cell.errors[0]) for cell in cells)
    costs, choices = _fewest_correct(cells, rises)
    # A number of errors is kept only if no larger number costs as little.
    cheapest_above = np.minimum.accumulate(np.append(costs[1:], UNREACHED)[::-1])[::-1]
    front = np.flatnonzero(costs < cheapest_above)
    # From the last cell to the first: its choice at all points of the front, and where along them it changes.
    remaining, changes = front.copy(), []
    for index, stairs in reversed(list(enumerate(cells))):
        level = rises[index][choices[index][remaining]]
        remaining -= stairs.errors[level] - stairs.errors[0]
        at = np.flatnonzero(np.diff(level, prepend=-1))
        changes.append((at, np.full(len(at), index, dtype=np.intp), stairs.threshold[level[at]]))
    point, cell, threshold = (np.concatenate(parts) for parts in zip(*changes))
    return Points(costs[front].astype(np.intp), free + front, point, cell, threshold)


def _fewest_correct(cells: Sequence[Staircase], rises: Sequence[IntArray]) -> tuple[IntArray, list[IntArray]]:
    """Fewest rejected correct samples per number of further rejected errors, and the choice of each cell for it.

    Cost and choice are stored in one integer, the choice in the low bits, so that a single minimum updates both.
    """
    bits = max(len(k) - 1 for k in rises).bit_length()
    low = np.int64((1 << bits) - 1)
    smallest = np.min_scalar_type(int(low))
    best = np.zeros(1, dtype=np.int64)
    choices: list[IntArray] = []
    for stairs, options in zip(cells, rises):
        gains = stairs.errors[options] - stairs.errors[0]
        after = np.full(len(best) + int(gains[-1]), UNREACHED)
        candidate = np.empty_like(best)
        for choice, (gain, cost) in enumerate(zip(gains.tolist(), options.tolist())):
            np.add(best, (cost << bits) | choice, out=candidate)
            here = after[gain : gain + len(best)]
            np.minimum(here, candidate, out=here)
        choices.append((after & low).astype(smallest))
        best = after & ~low
    return best >> bits, choices


def single(cells: Sequence[Staircase]) -> Points:
    """All points of a single staircase."""
    (stairs,) = cells
    k = stairs.rises
    return Points(k, stairs.errors[k], np.arange(len(k)), np.zeros(len(k), dtype=np.intp), stairs.threshold[k])


def greedy(cells: Sequence[Staircase]) -> Points:
    """Algorithm 3.1: raise the cell with the largest gain, start over where one alone is better, look ahead at ties.

    Cells without errors stay at k = 0. States that separate samples of equal certainty are passed but not returned,
    nor is the state that rejects everything.
    """
    n_samples = sum(len(stairs.errors) - 1 + int(stairs.errors[-1]) for stairs in cells)
    rejected_correct: list[int] = []
    rejected_errors: list[int] = []
    points, owners, levels = [], [], []
    before = np.full(len(cells), -1, dtype=np.intp)
    for n, e, k in _walk(cells):
        if n + e == n_samples or not all(stairs.realisable[level] for stairs, level in zip(cells, k.tolist())):
            continue
        changed = np.flatnonzero(k != before)
        points.append(np.full(len(changed), len(rejected_correct), dtype=np.intp))
        owners.append(changed)
        levels.append(k[changed])
        rejected_correct.append(n)
        rejected_errors.append(e)
        before = k.copy()
    point, cell, level = (np.concatenate([np.empty(0, dtype=np.intp), *parts]) for parts in (points, owners, levels))
    threshold = np.array([cells[j].threshold[k] for j, k in zip(cell.tolist(), level.tolist())], dtype=np.float64)
    return Points(
        np.array(rejected_correct, dtype=np.intp), np.array(rejected_errors, dtype=np.intp), point, cell, threshold
    )


def _walk(cells: Sequence[Staircase]) -> Iterator[tuple[int, int, IntArray]]:
    """All states (n correct and e errors rejected, k per cell) in the algorithm's order; k is reused between states."""
    k = np.zeros(len(cells), dtype=np.intp)
    with_errors = [j for j, stairs in enumerate(cells) if stairs.errors[-1] > 0]
    if not with_errors:
        yield 0, 0, k
        return
    # Staircases as rows of a table, each padded by its last value, and the last k of each.
    errors = [cells[j].errors for j in with_errors]
    last = np.array([len(row) - 1 for row in errors])
    table = np.stack([np.pad(row, (0, last.max() + 1 - len(row)), mode="edge") for row in errors])
    free = int(table[:, 0].sum())
    # glo[n]: the most errors rejected with n correct samples of one cell, and the first such cell.
    alone = np.where(np.arange(table.shape[1]) <= last[:, None], table - table[:, :1], -UNREACHED)
    glo, glo_cell = alone.max(axis=0), alone.argmax(axis=0)
    level = np.zeros(len(with_errors), dtype=np.intp)
    one = np.ones(1, dtype=np.intp)
    n, e, every = 0, free, int(table[:, -1].sum())
    yield n, e, k
    while e < every:
        loc = _gain(table, last, level, one)[:, 0]
        top = int(loc.max())
        if n + 1 < len(glo) and glo[n + 1] > top + (e - free):
            cell, step = int(glo_cell[n + 1]), n + 1
            level[:] = 0
            e = free
        else:
            cell, step = _next_cell(table, last, level, loc, top)
        e += int(table[cell, level[cell] + step] - table[cell, level[cell]])
        level[cell] += step
        n = int(level.sum())
        k[with_errors] = level
        yield n, e, k


def _gain(table: IntArray, last: IntArray, level: IntArray, steps: IntArray) -> IntArray:
    """Errors rejected by `steps` more rejected correct samples, cells x steps; -UNREACHED where a cell has fewer."""
    rows = np.arange(len(level))[:, None]
    here, end = level[:, None], last[:, None]
    reachable = here + steps <= end
    return np.where(reachable, table[rows, np.minimum(here + steps, end)] - table[rows, here], -UNREACHED)


def _next_cell(table: IntArray, last: IntArray, level: IntArray, loc: IntArray, top: int) -> tuple[int, int]:
    """The cell to raise and by how much: look ahead until one cell alone is best, else the first of the tied cells."""
    tied = np.flatnonzero(loc == top)
    if len(tied) == 1:
        return int(tied[0]), 1
    furthest = int((last - level).max())
    start, width = 2, 8  # several steps at once, more each time: ties may last until the end
    while start <= furthest:
        steps = np.arange(start, min(start + width, furthest + 1))
        gain = _gain(table, last, level, steps)
        unique = np.count_nonzero(gain == gain.max(axis=0), axis=0) == 1
        if unique.any():
            at = int(unique.argmax())
            return int(gain[:, at].argmax()), int(steps[at])
        start, width = start + width, 2 * width
    return int(tied[0]), 1


METHODS: dict[str, Callable[[Sequence[Staircase]], Points]] = {
    "optimal": optimal,
    "greedy": greedy,
    "global": single,
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
        Cell of the sample: winning prototype, predicted class, any hashable label.
    method : {"optimal", "greedy", "global"}, default="optimal"
        - "optimal": for every number of rejected correct samples the most rejected errors. At most E^2 / 2 operations
          for E errors.
        - "greedy": Algorithm 3.1 of [1]_.
        - "global": one threshold for all cells.
    min_cell_size : int, default=1
        Cells with fewer samples share one threshold; if they have fewer together, the next smallest cells are added.
        With 1 every cell has its own threshold.

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
    >>> point = path.pick(max_rejected_correct=0)
    >>> point.thresholds
    array([-inf,  0.8])
    >>> point.accept([0.05, 0.75, 0.99], ["a", "b", "never seen"])
    array([ True, False, False])
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {method!r}.")
    if not isinstance(min_cell_size, (int, np.integer)) or min_cell_size < 1:
        raise ValueError(
            f"min_cell_size must be an integer of 1 or more, got {min_cell_size!r}; use 1 for no shared thresholds."
        )
    samples = check_samples(certainty, correct, cell)
    sizes = np.bincount(samples.code, minlength=len(samples.cells))
    pool = np.zeros(len(sizes), dtype=np.intp) if method == "global" else _pools(sizes, int(min_cell_size))
    n_pools = int(pool.max()) + 1
    stairs = [staircase(*sides) for sides in sorted_by_pool(samples, pool[samples.code], n_pools)]
    points = METHODS[method](stairs)
    # The point that rejects nothing comes before the first point of the search, unless it is the same.
    ahead = int(not len(points.rejected_errors) or points.rejected_errors[0] > 0)
    nothing = np.zeros(ahead, dtype=np.intp)
    # The changes of a search at a first point that rejects nothing are all -inf, as those added here.
    own = points.point + ahead > 0
    steps = sorted_steps(
        np.append(np.zeros(n_pools, dtype=np.intp), points.point[own] + ahead),
        np.append(np.arange(n_pools), points.cell[own]),
        np.append(np.full(n_pools, -np.inf), points.threshold[own]),
    )
    return ThresholdPath(
        rejected_correct=np.append(nothing, points.rejected_correct),
        rejected_errors=np.append(nothing, points.rejected_errors),
        n_correct=samples.n_correct,
        n_errors=samples.n_errors,
        cells=samples.cells,
        pool=pool,
        steps=steps,
        method=method,
    )


def _pools(sizes: IntArray, min_cell_size: int) -> IntArray:
    """Pool of every cell: its own, or the common one of the small cells, which is the last."""
    by_size = np.argsort(sizes, kind="stable")
    small = int(np.count_nonzero(sizes < min_cell_size))
    if small:
        # The common pool must be large enough itself: take the next smallest cells until it is.
        enough = int(np.searchsorted(np.cumsum(sizes[by_size]), min_cell_size)) + 1
        small = min(max(small, enough), len(sizes))
    alone = np.sort(by_size[small:])
    pool = np.full(len(sizes), len(alone), dtype=np.intp)
    pool[alone] = np.arange(len(alone))
    return pool
