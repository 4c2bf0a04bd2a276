"""Corrections for several tests: which points are tested, in which order and at which level."""

import numpy as np
import pytest

from lvq.rejection import local_thresholds
from lvq.rejection.binomial import error_upper_bound, samples_needed
from lvq.rejection.corrections import Guarantee, bonferroni, fixed_sequence


@pytest.fixture(scope="module")
def path():
    rng = np.random.default_rng(0)
    certainty = rng.random(2000)
    samples = certainty, rng.random(2000) < 0.5 + certainty / 2, rng.integers(0, 3, 2000)
    return local_thresholds(*samples).extend(*samples)


@pytest.mark.parametrize("n_testing", [60, 600, 100_000])
def test_the_sequence_does_not_depend_on_the_requested_error(path, n_testing):
    plans = [fixed_sequence(path, n_testing, Guarantee(error, 0.05)) for error in (0.01, 0.1, 0.5)]
    assert all(np.array_equal(plan.points, plans[0].points) for plan in plans)
    predicted = path.coverage[plans[0].points] * n_testing
    assert np.all(np.diff(predicted) >= 0)
    assert predicted[-1] == n_testing
    assert (plans[0].level, plans[0].stop_at_failure) == (pytest.approx(0.05), True)


def test_the_sequence_starts_at_lower_coverage_with_more_samples(path):
    """The error rate falls with the certainty: the more samples, the more certain are those with the lowest bound."""
    starts = [path.coverage[fixed_sequence(path, n, Guarantee(0.05, 0.05)).points[0]] for n in (20, 200, 2000, 20_000)]
    assert np.all(np.diff(starts) < 0)
    assert starts[0] > 0.3
    for n_testing, start in zip((200, 2000, 20_000), starts[1:]):
        coverages = np.arange(1, 1001) / 1000
        mean = (
            0.25 * coverages
        )  # true error rate among the most certain fraction c: the mean of (1 - u)/2 over u > 1 - c
        bounds = error_upper_bound(
            np.rint(mean * coverages * n_testing).astype(int), (coverages * n_testing).astype(int)
        )
        at_start = bounds[round(1000 * start) - 1]
        assert at_start < 1.3 * bounds.min()


@pytest.mark.parametrize("errors", [0, 40])
def test_the_sequence_starts_at_high_coverage_where_errors_do_not_depend_on_certainty(errors):
    correct = np.arange(400) % 10 >= errors / 40
    path = local_thresholds(np.arange(400) * 7 % 400, correct, np.zeros(400)).extend(
        np.arange(400) * 7 % 400, correct, np.zeros(400)
    )
    plan = fixed_sequence(path, 400, Guarantee(0.05, 0.05))
    assert path.coverage[plan.points[0]] > 0.7


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
