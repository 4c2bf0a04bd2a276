"""Thresholds per cell and paths of them: the strict rule, the best points, counts on other samples, the end."""

import numpy as np
import pytest

from lvq.rejection import local_thresholds
from lvq.rejection.path import OperatingPoint
from lvq.rejection.thresholds import METHODS


@pytest.fixture
def path():
    rng = np.random.default_rng(0)
    certainty = rng.integers(0, 40, 300) / 40
    return local_thresholds(certainty, rng.random(300) < 0.5 + certainty / 2, rng.integers(0, 4, 300))


def test_the_best_points(path):
    """The best of all points, by a search through them."""
    every = [path.point(index) for index in range(len(path))]
    for wanted in (0.0, 0.2, 0.55, 0.8, 0.9, 1.0):
        best = path.with_accuracy(wanted)
        assert best.accuracy >= wanted
        assert best.coverage == max(p.coverage for p in every if p.accuracy >= wanted)
    assert path.cheapest(1.0).coverage == 1.0
    assert path.cheapest(0.0).rejected_errors == path.n_errors


def test_of_equally_good_points_the_highest_coverage_is_picked():
    # All correct except one error with the highest certainty: no threshold improves on 3/4 or on coverage.
    path = local_thresholds([0.1, 0.2, 0.9, 0.9], [True, True, True, False], [0, 0, 0, 0])
    assert path.with_accuracy(0.75).coverage == 1.0
    with pytest.raises(ValueError, match=r"min_accuracy=0.9 is not reached at any threshold; the highest .* is 0.75"):
        path.with_accuracy(0.9)


@pytest.mark.parametrize("method", METHODS)
def test_counts_on_other_samples(method):
    rng = np.random.default_rng(3)
    fitted = rng.integers(0, 9, 80) / 9, rng.random(80) < 0.6, rng.integers(0, 4, 80)
    certainty, correct, cell = rng.integers(0, 9, 60) / 9, rng.random(60) < 0.6, rng.integers(0, 6, 60)
    path = local_thresholds(*fitted, method=method)
    own, other = path.evaluate(*fitted), path.evaluate(certainty, correct, cell)
    assert np.array_equal(own.rejected_correct, path.rejected_correct)
    assert np.array_equal(own.rejected_errors, path.rejected_errors)
    assert np.all(path.thresholds[0] == -np.inf)
    assert np.array_equal(other.thresholds, path.thresholds)
    assert other.n_samples == 60
    for index in range(len(path)):
        rejected = ~path.point(index).accept(certainty, cell)
        assert other.rejected_correct[index] == np.count_nonzero(rejected & correct)
        assert other.rejected_errors[index] == np.count_nonzero(rejected & ~correct)


@pytest.mark.parametrize("method", METHODS)
def test_extending_to_the_end(random_samples, method):
    for seed in range(6):
        samples, n_steps = random_samples(seed, ties=bool(seed % 2), n_cells=4), 1 if seed < 2 else 7
        path = local_thresholds(*samples, method=method)
        longer = path.extend(*samples, n_steps=n_steps)
        assert np.array_equal(longer.thresholds[: len(path)], path.thresholds)
        assert len(longer) <= len(path) + n_steps
        assert longer.coverage[-1] == 0.0
        # Beyond the path every threshold is the last one or a common level above it, and coverage falls.
        new = longer.thresholds[len(path) :]
        assert np.array_equal(new, np.maximum(path.thresholds[-1], new.min(axis=1, keepdims=True)))
        assert np.all(np.diff(longer.coverage[len(path) - 1 :]) < 0)


# -- thresholds per cell ----------------------------------------------------------------------------------------------


def accept(certainty, cell, thresholds):
    cells, limits = np.array(list(thresholds)), np.array(list(thresholds.values()))
    return OperatingPoint(cells, limits, np.inf, 0, 0, 1.0, 1.0).accept(certainty, cell)


def test_reject_iff_strictly_below():
    assert accept([0.29, 0.3, 0.31], [0, 0, 0], {0: 0.3}).tolist() == [False, True, True]
    mask = accept([-5.0, 5.0, 1e308], ["none", "all", "all"], {"none": -np.inf, "all": np.inf})
    assert mask.tolist() == [True, False, False]
    assert accept([], [], {0: 0.5}).tolist() == []
    assert accept([np.nan, np.inf, -1e308], [0, 0, 0], {0: -np.inf}).tolist() == [False, False, True]
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[2, 1\]"):
        accept([0.1, 0.2], [0], {0: 0.5})
