"""Exact tests of an error rate, against scipy.stats and against counting."""

import numpy as np
import pytest
from scipy import stats

from lvq.rejection.guarantee import error_p_value, error_upper_bound, samples_needed


@pytest.mark.parametrize("max_error", [0.001, 0.05, 0.5, 0.99])
def test_p_value_is_the_binomial_tail(max_error):
    n = np.repeat(np.arange(0, 60), 60)
    k = np.tile(np.arange(0, 60), 60)
    n, k = n[k <= n], k[k <= n]
    np.testing.assert_allclose(error_p_value(k, n, max_error), stats.binom.cdf(k, n, max_error), rtol=1e-9, atol=1e-300)


def test_without_samples_the_p_value_is_one():
    assert error_p_value(0, 0, 0.5) == 1.0
    assert error_upper_bound(0, 0) == 1.0


def test_bound_is_where_the_test_turns():
    for k, n in [(0, 10), (1, 10), (9, 10), (7, 300), (10, 10)]:
        bound = float(error_upper_bound(k, n, 0.9))
        if k == n:
            assert bound == 1.0
        else:
            assert bound == pytest.approx(stats.beta.ppf(0.9, k + 1, n - k))
            assert error_p_value(k, n, bound + 1e-6) < 0.1 < error_p_value(k, n, bound - 1e-6)


@pytest.mark.parametrize(("max_error", "rate"), [(0.01, 0.0), (0.9, 0.0), (0.01, 0.005), (0.05, 0.04), (0.5, 0.25)])
@pytest.mark.parametrize("level", [0.2, 0.01])
def test_one_sample_fewer_than_needed_does_not_suffice(max_error, rate, level):
    n = samples_needed(max_error, level, rate=rate)
    p_values = [error_p_value(int(np.ceil(rate * size - 1e-9)), size, max_error) for size in (n, n - 1)]
    assert p_values[0] <= level * (1 + 1e-12)
    assert level < p_values[1] or n == 1


def test_a_whole_number_of_expected_errors_is_not_rounded_up():
    level = float(error_p_value(1, 10, 0.2))  # one error in ten is just enough
    assert samples_needed(0.2, level, rate=0.1) == 10


def test_samples_needed_for_tiny_error_rates():
    assert samples_needed(1e-20, 0.05) == pytest.approx(-np.log(0.05) * 1e20)
    assert samples_needed(5e-324, 0.05) >= 1e300
