import math

import pytest

from experiments.comparison import SLACK, compare_means, row


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize(("our_error", "paper_error"), [(0.0, 0.0), (0.3, 0.4), (1.0, 0.0)])
def test_the_margin(side, our_error, paper_error):
    margin = 2 * math.sqrt(our_error**2 + paper_error**2) + SLACK
    assert compare_means(90 + side * margin, 90, our_error, paper_error) == "reproduced"
    outside = compare_means(90 + side * (margin + 0.01), 90, our_error, paper_error)
    assert outside == ("better" if side > 0 else "short")


def test_mean_and_deviation_over_the_values():
    found = row("jin", "table-1", "diabetes", "MCE", "", [74.0, 75.0, 76.0], paper_runs=10)
    assert (found.mean, found.std, found.n_runs) == (75.0, 1.0, 3)
    assert (found.paper_mean, found.paper_std, found.paper_runs) == (76.13, 0.80, 10)
    # |75 - 76.13| against 2 sqrt(1/3 + 0.64/10) + 0.5
    assert found.verdict == "reproduced"


def test_a_single_test_set_has_the_binomial_error():
    error = 100 * math.sqrt(0.9462 * 0.0538 / 2007)  # nearly the same on both sides
    near, far = 94.62 - 2 * math.sqrt(2) * error - 0.49, 94.62 - 2 * math.sqrt(2) * error - 0.8
    assert row("jin", "table-1", "usps", "MCE", "", [near], paper_runs=1, binomial=2007).verdict == "reproduced"
    assert row("jin", "table-1", "usps", "MCE", "", [far], paper_runs=1, binomial=2007).verdict == "short"
    assert row("jin", "table-1", "usps", "MCE", "", [near], paper_runs=1).verdict == "short"
