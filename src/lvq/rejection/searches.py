"""Searches over the staircases of all cells for operating points, ordered by the number of rejected correct samples.

Rules:
- a search uses staircases only, neither samples nor labels;
- its first point rejects no correct sample, and every error that is below all correct samples of its cell;
- it returns the thresholds as changes from one point to the next (`Points`).

All counting is in integers; the dynamic program is exact, no tolerance is involved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lvq.rejection.staircase import Staircase
from lvq.rejection.validation import FloatArray, IntArray

UNREACHED = np.int64(2**62)


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


def hull(cells: Sequence[Staircase]) -> Points:
    """The points on the upper concave hull: every cell's hull, merged by slope, the steepest first.

    Every point is optimal for the number of correct samples it rejects, and the points are those that minimise
    errors + ratio * rejections for some cost ratio (Chow). The sets of accepted samples are nested.
    """
    levels = [_concave(stairs.rises, stairs.errors) for stairs in cells]
    cost = np.concatenate([np.diff(k) for k in levels])
    gained = np.concatenate([np.diff(stairs.errors[k]) for stairs, k in zip(cells, levels)])
    threshold = np.concatenate([stairs.threshold[k[1:]] for stairs, k in zip(cells, levels)])
    owner = np.repeat(np.arange(len(cells)), [len(k) - 1 for k in levels])
    # Equal fractions of integers below 2^26 are equal as floats and different ones differ; slopes fall within a cell.
    order = np.argsort(-gained / cost, kind="stable")
    free = sum(int(stairs.errors[0]) for stairs in cells)
    first = np.array([stairs.threshold[0] for stairs in cells])
    return Points(
        rejected_correct=np.append(0, np.cumsum(cost[order])),
        rejected_errors=free + np.append(0, np.cumsum(gained[order])),
        point=np.append(np.zeros(len(cells), dtype=np.intp), np.arange(1, len(order) + 1)),
        cell=np.append(np.arange(len(cells)), owner[order]),
        threshold=np.append(first, threshold[order]),
    )


def _concave(rises: IntArray, errors: IntArray) -> IntArray:
    """Those k of the rises that are corners of the upper concave hull of (k, errors[k]), both ends included."""
    corners: list[tuple[int, int]] = []
    for k, e in zip(rises.tolist(), errors[rises].tolist()):
        while len(corners) > 1:
            (k0, e0), (k1, e1) = corners[-2], corners[-1]
            if (e1 - e0) * (k - k1) > (e - e1) * (k1 - k0):
                break
            corners.pop()
        corners.append((k, e))
    return np.array([k for k, _ in corners], dtype=np.intp)


def single(cells: Sequence[Staircase]) -> Points:
    """All points of a single staircase."""
    (stairs,) = cells
    k = stairs.rises
    return Points(k, stairs.errors[k], np.arange(len(k)), np.zeros(len(k), dtype=np.intp), stairs.threshold[k])
