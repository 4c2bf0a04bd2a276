"""The choice among candidates: means, the error of differences, and the preference for the first."""

import numpy as np
import pytest

from lvq.estimators.cross_fit import Scores, choose


def made(table, weight=None, fold=None, test_ratio=0.25):
    table = np.atleast_2d(np.asarray(table, dtype=float))
    weight = np.ones(table.shape[1]) if weight is None else np.asarray(weight, dtype=float)
    fold = np.arange(table.shape[1]) % 5 if fold is None else np.asarray(fold)
    return Scores(table, weight, fold, test_ratio)


def random_table(seed, n=60):
    return np.random.default_rng(seed).normal(size=(3, n))


def test_deviations_are_over_the_means_of_folds():
    table = np.array([[1.0, 3.0, 5.0, 100.0]])
    scores = made(table, weight=[1, 3, 2, 0], fold=[0, 0, 1, 2])
    np.testing.assert_allclose(scores.deviations(), np.std([2.5, 5.0]))  # the fold without weight does not count


@pytest.mark.parametrize("seed", range(3))
def test_error_of_a_difference_by_its_formula(seed):
    """With equal weights: the sample variance over the number of units, times 1 + K n_test/n_train."""
    table = random_table(seed)
    difference = table[2] - table[1]
    expected = np.sqrt(difference.var(ddof=1) / 60 * (1 + 5 * 0.25))
    errors = made(table).standard_errors(1)
    assert errors[2] == pytest.approx(expected)
    assert errors[1] == 0


@pytest.mark.parametrize("seed", range(3))
def test_error_over_folds_is_the_corrected_one_of_nadeau_and_bengio(seed):
    """Where a unit is a fold, the variance is that of the corrected resampled t-test."""
    difference = np.random.default_rng(seed).normal(size=10)
    scores = made([np.zeros(10), difference], fold=np.arange(10), test_ratio=1 / 9)
    expected = np.sqrt((1 / 10 + 1 / 9) * difference.var(ddof=1))
    assert scores.standard_errors(0)[1] == pytest.approx(expected)


def test_what_all_candidates_share_does_not_count():
    """Hard and easy samples change the scores, not their differences."""
    table = random_table(4)
    shifted = table + 100 * np.random.default_rng(5).normal(size=60)
    np.testing.assert_allclose(made(shifted).standard_errors(0), made(table).standard_errors(0))


def test_weights_of_any_size():
    """Only their ratios count."""
    table, weight = random_table(6), np.random.default_rng(7).uniform(size=60)
    one, other = made(table, weight), made(table, 1e6 * weight)
    np.testing.assert_allclose(one.standard_errors(0), other.standard_errors(0))
    np.testing.assert_allclose(one.means(), other.means())


def test_a_clear_winner_is_taken():
    noise = 0.01 * random_table(8)
    assert choose(made(noise + np.array([[0.0], [1.0], [0.5]]))) == 1


@pytest.mark.parametrize(("allowed", "chosen"), [(0.0, 1), (0.9, 1), (1.1, 0)])
def test_the_first_within_the_allowed_error(allowed, chosen):
    difference = np.random.default_rng(10).normal(size=60)
    scores = made([np.zeros(60), difference])
    error = scores.standard_errors(1)[0]
    moved = made([np.zeros(60), difference - difference.mean() + error])  # ahead by one standard error
    assert choose(moved, allowed) == chosen


def test_a_better_candidate_before_the_best_one_is_preferred_to_a_worse_one():
    """The third is the best; the second is as good, the first is not."""
    row = random_table(11)[0]
    wobble = np.where(np.arange(60) % 2, 0.1, -0.1)
    assert choose(made([row - 1, row + wobble - 1e-4, row])) == 1


def test_a_score_that_is_not_a_number_is_the_worst():
    table = random_table(12)
    table[1, 3] = np.nan
    assert choose(made(table + np.array([[0.0], [5.0], [3.0]]))) == 2
    assert choose(made(np.full((2, 5), np.nan))) == 0
    assert choose(made([[-np.inf] * 5, [0.0] * 5])) == 1


def test_a_single_unit_has_no_error():
    scores = made([[1.0], [2.0], [1.9]], fold=[0], test_ratio=1.0)
    assert np.isnan(scores.standard_errors(1)).all()
    assert choose(scores) == 1
