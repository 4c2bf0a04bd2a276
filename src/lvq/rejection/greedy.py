"""Algorithm 3.1 of the paper, for comparison; "optimal" is never worse and usually faster.

The printed pseudo-code does not give Table 2 of the paper: it compares a total with an increment, starts its cost at 1,
omits the errors rejected at no cost when it starts over, updates inside the tie loop, has no bounds and returns no
thresholds. This version gives Table 2.

Rules:
- cells without errors are not used (they stay at k = 0);
- states that separate samples of equal certainty are passed but never returned;
- the state that rejects everything is not returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lvq.rejection.searches import Points
from lvq.rejection.staircase import Staircase
from lvq.rejection.validation import IntArray

UNREACHABLE = -(2**62)


def greedy(cells: Sequence[Staircase]) -> Points:
    """Raise the cell with the largest gain, start over where one cell alone is better, look ahead where cells tie."""
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
    alone = np.where(np.arange(table.shape[1]) <= last[:, None], table - table[:, :1], UNREACHABLE)
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
    """Errors rejected by `steps` more rejected correct samples, cells x steps; UNREACHABLE where a cell has fewer."""
    rows = np.arange(len(level))[:, None]
    here, end = level[:, None], last[:, None]
    reachable = here + steps <= end
    return np.where(reachable, table[rows, np.minimum(here + steps, end)] - table[rows, here], UNREACHABLE)


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
