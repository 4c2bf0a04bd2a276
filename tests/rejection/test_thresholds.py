"""Thresholds: the paper's tables, brute force on small cases, and the counts of a path."""

from itertools import product

import numpy as np
import pytest

from lvq.rejection import local_thresholds
from lvq.rejection.path import check_samples

BEST_OF_TABLE_1 = [0, 3, 5, 10, 20, 23, 25, 26, 29, 31, 32, 35]


def all_choices(certainty, correct, cell):
    """(c, e) of every choice of one threshold per cell, counted sample by sample."""
    per_cell = []
    for label in np.unique(cell):
        here = cell == label
        rejected = [here & (certainty < limit) for limit in [*np.unique(certainty[here]), np.inf]]
        per_cell.append({(int((r & correct).sum()), int((r & ~correct).sum())) for r in rejected})
    return {(sum(c for c, _ in choice), sum(e for _, e in choice)) for choice in product(*per_cell)}


def most_errors(path, most):
    """Rejected errors of the best point that rejects at most so many correct samples."""
    return path.rejected_errors[path.rejected_correct <= most].max()


def reference_greedy(certainty, correct, cell):
    """Algorithm 3.1 with lists: all (n, e) it passes, and whether each separates equal certainties."""
    right, wrong = [], []
    for label in np.unique(cell):
        here = cell == label
        if not correct[here].all():
            right.append(sorted(certainty[here & correct]))
            wrong.append(certainty[here & ~correct])

    def errors(j, k):
        limit = right[j][k] if k < len(right[j]) else np.inf
        return sum(e < limit for e in wrong[j])

    def parts(j, k):
        return 0 < k < len(right[j]) and right[j][k] == right[j][k - 1]

    cells = range(len(right))
    k = [0] * len(right)
    free = sum(errors(j, 0) for j in cells)
    n, e, states = 0, free, []
    while True:
        states.append((n, e, any(parts(j, k[j]) for j in cells)))
        if e == sum(len(w) for w in wrong):
            return states
        loc = {j: errors(j, k[j] + 1) - errors(j, k[j]) for j in cells if k[j] < len(right[j])}
        glo = {j: errors(j, n + 1) - errors(j, 0) for j in cells if n + 1 <= len(right[j])}
        if glo and max(glo.values()) > max(loc.values()) + (e - free):
            cell, step, k = max(glo, key=glo.get), n + 1, [0] * len(right)
        else:
            tied = [j for j in loc if loc[j] == max(loc.values())]
            cell, step, ahead = tied[0], 1, loc
            while len(tied) > 1:
                step += 1
                ahead = {j: errors(j, k[j] + step) - errors(j, k[j]) for j in cells if k[j] + step <= len(right[j])}
                if not ahead:
                    step = 1
                    break
                tied = [j for j in ahead if ahead[j] == max(ahead.values())]
                cell = tied[0] if len(tied) == 1 else cell
        k[cell] += step
        n, e = sum(k), sum(errors(j, k[j]) for j in cells)


def test_greedy_makes_table_2_of_table_1(table_1):
    certainty, correct, cell = table_1
    path = local_thresholds(*table_1, method="greedy")
    right = [certainty[correct & (cell == label)] for label in path.cells]
    k = [[np.count_nonzero(values < limit) for values, limit in zip(right, row)] for row in path.thresholds]
    assert path.rejected_correct.tolist() == [0, 1, 2, 3, 4, 5, 6, 8, 9, 10]
    assert k == [
        [0, 0, 0],
        [1, 0, 0],
        [1, 1, 0],
        [0, 0, 3],
        [0, 0, 4],
        [1, 0, 4],
        [1, 1, 4],
        [1, 3, 4],
        [2, 3, 4],
        [3, 3, 4],
    ]


def test_optimal_on_table_1(table_1):
    path = local_thresholds(*table_1)
    assert [most_errors(path, c) for c in range(12)] == BEST_OF_TABLE_1
    assert path.rejected_correct.tolist() == list(range(12))
    assert path.rejected_errors.tolist() == BEST_OF_TABLE_1


@pytest.mark.parametrize("ties", [False, True])
def test_optimal_is_brute_force(random_samples, ties):
    for seed in range(100):
        samples = random_samples(seed, ties=ties)
        choices = all_choices(*samples)
        path = local_thresholds(*samples)
        for c in range(int(samples[1].sum()) + 1):
            most = max(e for k, e in choices if k <= c)
            assert most_errors(path, c) == most
        # Nothing is dominated, and the first point rejects nothing.
        front = list(zip(path.rejected_correct.tolist(), path.rejected_errors.tolist()))
        assert front[0] == (0, 0)
        undominated = {
            (c, e) for c, e in choices if not any(a <= c and b >= e and (a, b) != (c, e) for a, b in choices)
        }
        assert set(front) - {(0, 0)} == undominated - {(0, 0)}
        assert len(set(front)) == len(front)


@pytest.mark.parametrize("ties", [False, True])
def test_greedy_is_the_reference(random_samples, ties):
    for seed in range(60):
        samples = random_samples(seed, ties=ties, largest=9)
        n_samples = len(samples[0])
        states = [(n, e) for n, e, parts in reference_greedy(*samples) if not parts and n + e < n_samples]
        if states[:1] != [(0, 0)]:
            states.insert(0, (0, 0))
        path = local_thresholds(*samples, method="greedy")
        assert list(zip(path.rejected_correct.tolist(), path.rejected_errors.tolist())) == states


@pytest.mark.parametrize(("method", "points"), [("optimal", 2), ("global", 2), ("greedy", 1)])
def test_all_errors(method, points):
    path = local_thresholds([0.1, 0.2], [False, False], [0, 1], method=method)
    assert path.coverage.tolist() == [1.0, 0.0][:points]
    assert np.array_equal(path.accuracy, [0.0, np.nan][:points], equal_nan=True)
    assert np.all(path.thresholds[1:] == np.inf)


def test_refused():
    with pytest.raises(ValueError, match="method must be one of 'optimal', 'greedy', 'global', got 'best'"):
        local_thresholds([0.1], [True], [0], method="best")


def test_small_cells_share_a_threshold():
    rng = np.random.default_rng(0)
    cell = np.repeat(np.arange(6), [40, 40, 5, 5, 3, 9])
    certainty, correct = rng.random(102), rng.random(102) < 0.6
    path = local_thresholds(certainty, correct, cell, min_cell_size=10)
    assert path.columns.tolist() == [1, 2, 0, 0, 0, 0]
    joined = local_thresholds(certainty, correct, np.where(cell > 1, -1, cell))
    np.testing.assert_array_equal(path.thresholds, joined.thresholds)
    np.testing.assert_array_equal(path.rejected_errors, joined.rejected_errors)
    assert len(set(path.point(-1).thresholds[2:])) == 1


def test_cost_ratio_is_chow(random_samples):
    """The point of a cost ratio has the lowest cost of all choices of thresholds."""
    for seed in range(20):
        samples = random_samples(seed, ties=bool(seed % 2))
        choices, n_errors = all_choices(*samples), int((~samples[1]).sum())
        for ratio in (0.0, 0.1, 0.3, 0.45, 0.5, 0.7, 0.9, 1.0):
            lowest = min(n_errors - e + ratio * (c + e) for c, e in choices)
            point = local_thresholds(*samples).cheapest(ratio)
            cost = n_errors - point.rejected_errors + ratio * (point.rejected_correct + point.rejected_errors)
            assert cost == pytest.approx(lowest)


# -- the staircase of a cell -------------------------------------------------------------------------------------------


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("certainty", "correct", "cell", "message"),
    [
        ([0.1, np.nan], [1, 0], [0, 0], "certainty contains NaN"),
        ([], [], [], "minimum of 1 is required"),
        ([[0.1, 0.2]], [1], [0], "should be a 1d array"),
        ([0.1, 0.2], [1], [0, 0], r"inconsistent numbers of samples: \[2, 1, 2\]"),
        ([0.1, 0.2], [1, 2], [0, 0], r"correct must hold only True/False or 1/0, got \['1', '2'\]"),
    ],
)
def test_refused_samples(certainty, correct, cell, message):
    with pytest.raises(ValueError, match=message):
        check_samples(certainty, correct, cell)
