"""Thresholds per cell from classified samples: how many errors can be rejected for how many correct samples.

Rules:
- reject iff certainty < threshold of the cell, strictly; samples of equal certainty in a cell are rejected together;
- a cell's threshold is the certainty of the first correct sample it keeps, -inf if it rejects nothing, +inf if all;
- small cells share one threshold; with "global" all cells do;
- every path begins with the classifier that rejects nothing, for every method.

Fit thresholds on samples the classifier was not trained on; on its training samples the accuracy is overestimated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from lvq.rejection.greedy import greedy
from lvq.rejection.path import ThresholdPath, sorted_steps
from lvq.rejection.searches import Points, hull, optimal, single
from lvq.rejection.staircase import Staircase, staircase
from lvq.rejection.validation import IntArray, check_samples, sorted_by_pool

METHODS: dict[str, Callable[[Sequence[Staircase]], Points]] = {
    "optimal": optimal,
    "hull": hull,
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
    method : {"optimal", "hull", "greedy", "global"}, default="optimal"
        - "optimal": for every number of rejected correct samples the most rejected errors. At most E^2 / 2 operations
          for E errors.
        - "hull": the points of "optimal" on its concave hull, in O(n log n): Chow's optimum for some cost ratio.
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
