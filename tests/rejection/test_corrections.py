"""Corrections for several tests: which points are tested, in which order and at which level."""

import numpy as np
import pytest

from lvq.rejection import local_thresholds
from lvq.rejection.binomial import samples_needed
from lvq.rejection.corrections import Guarantee, bonferroni, fixed_sequence


@pytest.fixture(scope="module")
def path():
    rng = np.random.default_rng(0)
    certainty = rng.random(2000)
    samples = certainty, rng.random(2000) < 0.5 + certainty / 2, rng.integers(0, 3, 2000)
    return local_thresholds(*samples).extend(*samples)


@pytest.mark.parametrize(("n_testing", "times"), [(100_000, 3.0), (9 * 59, 3.0), (4 * 59, 2.0), (59, 1.0)])
def test_the_sequence_starts_where_a_test_can_pass(path, n_testing, times):
    needed = samples_needed(0.05, 0.05)
    assert needed == 59
    plan = fixed_sequence(path, n_testing, Guarantee(0.05, 0.05))
    predicted = path.coverage[plan.points] * n_testing
    assert np.all(np.diff(predicted) >= 0)
    assert predicted[-1] == n_testing
    skipped = np.setdiff1d(path.coverage * n_testing, predicted)
    assert predicted[0] >= times * needed - 1e-9
    assert not len(skipped) or skipped.max() < times * needed
    assert len(plan.points) == np.count_nonzero(path.coverage * n_testing >= times * needed - 1e-9)
    assert (plan.level, plan.stop_at_failure) == (pytest.approx(0.05), True)


def test_of_points_with_equal_coverage_the_later_comes_first(path):
    plan = fixed_sequence(path, 100_000, Guarantee(0.05, 0.05))
    same = np.diff(path.accepted[plan.points]) == 0
    assert np.all(np.diff(plan.points)[same] < 0)


@pytest.mark.parametrize("n_tests", [1, 5, 20])
def test_bonferroni_spreads_its_points(path, n_tests, monkeypatch):
    monkeypatch.setattr("lvq.rejection.corrections.N_TESTS", n_tests)
    plan = bonferroni(path, 2000, Guarantee(0.05, 0.05))
    assert len(plan.points) == n_tests
    assert plan.level == pytest.approx(0.05 / n_tests)
    assert not plan.stop_at_failure
    predicted = path.coverage[plan.points] * 2000
    needed = samples_needed(0.05, 0.05 / n_tests)
    assert needed <= predicted[0] < needed + 60
    wide = np.linspace(needed, 2000, n_tests)
    assert np.all(np.abs(predicted - wide) < 60)


def test_the_level_is_divided_among_the_points_tested():
    path = local_thresholds([0.1, 0.2, 0.3, 0.4], [False, True, False, True], [0, 0, 0, 0])
    plan = bonferroni(path, 1000, Guarantee(0.05, 0.05))
    assert plan.level == pytest.approx(0.05 / len(plan.points))
    assert len(plan.points) <= len(path)
