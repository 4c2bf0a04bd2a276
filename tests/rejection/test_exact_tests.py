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


@pytest.mark.parametrize(
    ("max_error", "level"), [(0.01, 0.05), (0.05, 0.1), (0.5, 0.25), (0.5, 0.5), (0.9, 0.5), (0.1, 1e-4)]
)
def test_samples_needed_without_errors_is_the_smallest_number(max_error, level):
    n = samples_needed(max_error, level)
    assert error_p_value(0, n, max_error) <= level * (1 + 1e-12)
    assert n == 1 or error_p_value(0, n - 1, max_error) > level


def test_samples_needed_at_an_error_rate():
    assert samples_needed(0.01, 0.05) == 299
    n = samples_needed(0.05, 0.05, rate=0.04)
    assert error_p_value(int(np.ceil(0.04 * n)), n, 0.05) <= 0.05
    fewer = int(0.75 * n)
    assert error_p_value(int(np.ceil(0.04 * fewer)), fewer, 0.05) > 0.05


@pytest.mark.parametrize(("max_error", "rate"), [(0.01, 0.005), (0.05, 0.04), (0.2, 0.1), (0.5, 0.25), (0.3, 0.1)])
@pytest.mark.parametrize("level", [0.2, 0.05, 0.01])
def test_one_sample_fewer_than_needed_does_not_suffice(max_error, rate, level):
    n = samples_needed(max_error, level, rate=rate)
    p_values = [error_p_value(int(np.ceil(rate * size - 1e-9)), size, max_error) for size in (n, n - 1)]
    assert p_values[0] <= level < p_values[1]


def test_a_whole_number_of_expected_errors_is_not_rounded_up():
    level = float(error_p_value(1, 10, 0.2))  # one error in ten is just enough
    assert samples_needed(0.2, level, rate=0.1) == 10


def test_refused():
    with pytest.raises(ValueError, match="n_errors must lie between 0 and n_accepted"):
        error_p_value(5, 3, 0.1)
    with pytest.raises(ValueError, match="must be integers, got other types; give counts, not fractions"):
        error_p_value(0.1, 3, 0.1)
    with pytest.raises(ValueError, match="max_error must be strictly between 0 and 1, got 1"):
        error_p_value(0, 3, 1)
    with pytest.raises(ValueError, match="confidence must be strictly between 0 and 1, got 95"):
        error_upper_bound(0, 3, 95)


def test_samples_needed_for_tiny_error_rates():
    assert samples_needed(1e-20, 0.05) == pytest.approx(-np.log(0.05) * 1e20)
    assert samples_needed(5e-324, 0.05) >= 1e300
