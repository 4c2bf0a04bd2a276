"""The staircase of a cell: the paper's Fig. 2, ties, and the ends."""

import numpy as np
import pytest

from lvq.rejection.staircase import staircase


def by_counting(correct, errors, k):
    """Errors strictly below the (k+1)-th correct certainty, all of them if there is none."""
    limit = sorted(correct)[k] if k < len(correct) else np.inf
    return sum(e < limit for e in errors)


def test_figure_2():
    correct_ranks = [1, 5, 7, 10]
    error_ranks = [rank for rank in range(1, 14) if rank not in correct_ranks]
    steps = staircase(np.array(correct_ranks, float), np.array(error_ranks, float))
    assert (steps.errors + np.arange(1, 6)).tolist() == [1, 5, 7, 10, 14]
    assert steps.threshold.tolist() == [-np.inf, 5, 7, 10, np.inf]
    assert steps.realisable.all()


def test_equal_certainties_are_not_separated():
    steps = staircase(np.array([0.2, 0.2, 0.5]), np.array([0.1, 0.2, 0.5]))
    assert steps.errors.tolist() == [1, 1, 2, 3]
    assert steps.realisable.tolist() == [True, False, True, True]
    assert steps.threshold.tolist() == [0.2, 0.2, 0.5, np.inf]
    assert steps.rises.tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    ("correct", "errors", "expected_errors", "expected_threshold"),
    [
        ([], [0.3, 0.4], [2], [np.inf]),
        ([0.3], [], [0, 0], [-np.inf, np.inf]),
        ([0.3], [0.3], [0, 1], [-np.inf, np.inf]),
    ],
)
def test_ends(correct, errors, expected_errors, expected_threshold):
    steps = staircase(np.array(correct, float), np.array(errors, float))
    assert steps.errors.tolist() == expected_errors
    assert steps.threshold.tolist() == expected_threshold


@pytest.mark.parametrize("seed", range(20))
def test_against_counting(seed):
    rng = np.random.default_rng(seed)
    correct = np.sort(rng.integers(0, 6, rng.integers(0, 8)).astype(float))
    errors = np.sort(rng.integers(0, 6, rng.integers(1, 8)).astype(float))
    steps = staircase(correct, errors)
    assert steps.errors.tolist() == [by_counting(correct, errors, k) for k in range(len(correct) + 1)]
    for k in np.flatnonzero(steps.realisable):
        assert np.count_nonzero(correct < steps.threshold[k]) == k
        assert np.count_nonzero(errors < steps.threshold[k]) == steps.errors[k]
    assert steps.realisable[steps.rises].all()
