"""Guarantees: by simulation on populations whose true error rate is known, and the errors where there is none."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest

from lvq.rejection import GuaranteeError, local_thresholds
from lvq.rejection.guarantee import (
    Guarantee,
    certify,
    error_p_value,
    error_upper_bound,
    samples_needed,
)

N_DRAWS = 1000
N_SAMPLES = 480
MAX_ERROR, CONFIDENCE = 0.1, 0.9


def split(samples):
    """A quarter of the samples to fit a path, the others to test it."""
    order = np.random.default_rng(0).permutation(len(samples[0]))
    n_path = max(1, round(0.25 * len(order)))
    return [tuple(np.asarray(part)[rows] for part in samples) for rows in (order[:n_path], order[n_path:])]


def guaranteed(samples, *max_errors, confidence=0.95, method="optimal"):
    """The certified point of a path that is fitted on a quarter of the samples."""
    fitting, testing = split(samples)
    path = local_thresholds(*fitting, method=method).extend(*fitting)
    return certify(path, *testing, [Guarantee(error, 1 - confidence, fraction_tested=0.75) for error in max_errors])[0]


def certified(path, *testing, max_error, level=0.05):
    return certify(path, *testing, [Guarantee(max_error, level)])[0]


class Population(NamedTuple):
    """Probability and error rate of every (cell, certainty level): all that can be known about it."""

    probability: np.ndarray
    error_rate: np.ndarray

    @property
    def levels(self):
        return np.linspace(0, 1, self.probability.shape[1])

    def draw(self, rng, n_samples):
        at = np.searchsorted(np.cumsum(self.probability), rng.random(n_samples) * self.probability.sum(), side="right")
        cell, level = np.unravel_index(at, self.probability.shape)
        return self.levels[level], rng.random(n_samples) >= self.error_rate[cell, level], cell

    def true_error(self, point, rows=slice(None)):
        """Error rate among accepted samples, exactly; 0 where none is accepted."""
        limit = np.full((len(self.probability), 1), point.unseen)
        limit[point.cells] = point.thresholds[:, None]
        accepted = (np.where(self.levels >= limit, self.probability, 0.0) * (limit < np.inf))[rows]
        return (accepted * self.error_rate[rows]).sum() / max(accepted.sum(), 1e-300)


def population(name):
    """Three cells with 400 levels of certainty, few ties; 20 levels and many ties where the score is overconfident."""
    levels = np.linspace(0, 1, 20 if name == "overconfident" else 400)
    rate = {
        "honest": np.outer([0.3, 0.5, 0.9], (1 - levels) ** 2),
        "non_monotone": np.outer([1, 1, 1], np.select([levels < 0.3, levels < 0.9], [0.4, 0.02], 0.15)),
        "overconfident": np.outer([0.05, 0.12, 0.3], 1.2 - 0.4 * levels),
        "hopeless": np.full((3, len(levels)), MAX_ERROR + 1e-6),
    }[name]
    weight = levels**8 if name == "overconfident" else np.ones_like(levels)
    return Population(np.outer([0.5, 0.3, 0.2], weight / weight.sum()), rate)


def violations(name, choose, n_draws=N_DRAWS):
    """Number of draws whose certified point violates the guarantee, and number of draws that certify one."""
    people, rng = population(name), np.random.default_rng(0)
    violated = found = 0
    for _ in range(n_draws):
        try:
            point = choose(people.draw(rng, N_SAMPLES))
        except GuaranteeError:
            continue
        found += 1
        violated += people.true_error(point) > MAX_ERROR
    return violated, found


def most(n_draws=N_DRAWS):
    """Upper limit for a guarantee that is violated exactly as often as allowed: three standard deviations."""
    return n_draws * (1 - CONFIDENCE) + 3 * np.sqrt(n_draws * CONFIDENCE * (1 - CONFIDENCE))


@pytest.mark.parametrize(
    ("name", "method", "certified_fraction"),
    [
        ("honest", "optimal", 0.9),
        ("non_monotone", "global", 0.0),
        ("overconfident", "optimal", 0.0),
        ("hopeless", "global", 0.0),
    ],
)
def test_guarantee_holds(name, method, certified_fraction):
    violated, found = violations(
        name, lambda samples: guaranteed(samples, MAX_ERROR, confidence=CONFIDENCE, method=method)
    )
    assert violated <= most()
    assert found >= certified_fraction * N_DRAWS


@pytest.mark.parametrize(
    ("name", "requested"),
    [("honest", 0.001), ("honest", 0.1), ("non_monotone", 0.05), ("overconfident", 0.05), ("hopeless", 0.1)],
)
def test_the_lowest_of_several_bounds_holds(name, requested):
    """What is stated, the requested bound or a larger one, is false no more often than allowed."""
    people, rng, n_draws = population(name), np.random.default_rng(0), 400
    bounds = [requested, *(error for error in (0.075, 0.1, 0.15, 0.2, 0.3, 0.5) if error > requested)]
    points = []
    for _ in range(n_draws):
        try:
            points.append(guaranteed(people.draw(rng, N_SAMPLES), *bounds, confidence=CONFIDENCE))
        except GuaranteeError:
            continue
    assert len(points) > 0.9 * n_draws
    assert sum(people.true_error(point) > point.max_error for point in points) <= most(n_draws)
    for point in points:
        assert point.requested_error == (None if point.max_error == requested else requested)
        assert point.p_value <= 1 - CONFIDENCE
    if name == "honest":
        assert np.median([point.max_error for point in points]) == (0.075 if requested == 0.001 else requested)


@pytest.mark.parametrize("name", ["honest", "hopeless"])
def test_simulation_detects_invalid_choices(name):
    """Choosing by the counts, or testing on the samples the path was fitted on, violates the guarantee too often."""

    def by_accuracy(samples):
        return local_thresholds(*samples).extend(*samples).with_accuracy(1 - MAX_ERROR)

    def on_the_same_samples(samples):
        path = local_thresholds(*samples).extend(*samples)
        return certified(path, *samples, max_error=MAX_ERROR, level=1 - CONFIDENCE)

    assert violations(name, by_accuracy, 200)[0] > most(200)
    assert violations(name, on_the_same_samples, 200)[0] > most(200)


def four_levels(errors_at):
    """A hundred samples at each of four certainties, the last `errors_at[i]` of each are errors."""
    certainty = np.repeat([0.0, 1.0, 2.0, 3.0], 100)
    correct = np.concatenate([np.arange(100) < 100 - errors for errors in errors_at])
    return certainty, correct, np.zeros(400, dtype=int)


def test_what_is_reported_is_what_was_counted():
    people, rng = population("honest"), np.random.default_rng(3)
    fitting, testing = people.draw(rng, 300), people.draw(rng, 900)
    path = local_thresholds(*fitting).extend(*fitting)
    point = certified(path, *testing, max_error=MAX_ERROR, level=0.05)
    accepted = point.accept(testing[0], testing[2])
    assert (point.n_testing, point.n_accepted) == (900, np.count_nonzero(accepted))
    assert point.n_errors == np.count_nonzero(accepted & ~testing[1])
    assert (path.thresholds == point.thresholds).all(axis=1).any()


def test_too_few_samples_and_how_many():
    certainty = np.linspace(0, 1, 1000)
    with pytest.raises(
        GuaranteeError,
        match=r"needs at least 299 .* there are only 75; give about 399 samples to fit \(75 % of these",
    ) as caught:
        guaranteed((certainty[:100], np.ones(100), np.zeros(100)), 0.01)
    assert (caught.value.reason, caught.value.samples_needed) == ("too_few_samples", 399)
    point = guaranteed((certainty[:399], np.ones(399), np.zeros(399)), 0.01)
    assert (point.n_testing, point.n_accepted) == (299, 299)
    with pytest.raises(GuaranteeError, match="needs at least 299"):
        guaranteed((certainty[:398], np.ones(398), np.zeros(398)), 0.01)


def test_too_few_samples_for_the_rate_they_have():
    def four_percent_errors(n_samples):
        return np.arange(n_samples) % 2, np.arange(n_samples) % 25 > 0, np.zeros(n_samples)

    path = local_thresholds(*four_percent_errors(600))
    with pytest.raises(GuaranteeError, match=r"6 errors among 150 .*\(4.00%\); about \d+ accepted sam") as caught:
        certified(path, *four_percent_errors(300), max_error=0.05, level=0.05)
    needed = caught.value.samples_needed
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.reason, again.samples_needed) == (str(caught.value), "too_few_samples", needed)
    assert certified(path, *four_percent_errors(needed), max_error=0.05, level=0.05).n_accepted == needed
    with pytest.raises(GuaranteeError, match="could not be shown"):
        certified(path, *four_percent_errors(needed // 2), max_error=0.05, level=0.05)


def test_an_error_rate_that_is_too_high():
    correct = np.arange(2000) % 5 > 0
    with pytest.raises(GuaranteeError, match=r"could not be shown .*\(.*%\). More samples help only if") as caught:
        guaranteed((np.arange(2000) % 97, correct, np.zeros(2000)), 0.05)
    assert (caught.value.reason, caught.value.samples_needed) == ("error_rate", None)


def test_a_certainty_in_the_wrong_order():
    """The first threshold fails; a later one alone would pass, so a number of samples is no explanation."""
    path = local_thresholds(*four_levels([50, 50, 50, 0]))
    with pytest.raises(
        GuaranteeError, match=r"strictest threshold \(100 accepted, 20 wrong\) already failed, .* try another measure"
    ) as caught:
        certified(path, *four_levels([0, 0, 0, 20]), max_error=0.1, level=0.05)
    assert "give about" not in str(caught.value)
    assert (caught.value.reason, caught.value.samples_needed) == ("error_rate", None)


def test_cells_the_path_has_never_seen_do_not_count_as_accepted():
    path = local_thresholds([0.0, 1.0], [False, True], ["a", "a"])
    with pytest.raises(
        GuaranteeError,
        match=r"at most 0 of 500 .* accepted; give about 15000 samples to fit, or give max_error several bounds",
    ):
        certified(path, np.ones(500), np.ones(500), ["b"] * 500, max_error=0.1, level=0.9**30)


def test_the_sequence_stops_at_a_failure():
    path = local_thresholds(*four_levels([50, 50, 50, 0]))
    assert path.accepted.tolist() == [400, 300, 200, 100]
    # 0 of 100 and 25 of 400 errors pass at 10 %, 25 of 200 and of 300 do not.
    point = certified(path, *four_levels([0, 0, 25, 0]), max_error=0.1, level=0.1)
    assert point.n_accepted == 100
    assert point.p_value <= 0.1
    assert point.coverage == 0.25


# -- exact tests of an error rate --------------------------------------------------------------------------------------


def test_bound_is_where_the_test_turns():
    for k, n in [(0, 10), (1, 10), (9, 10), (7, 300)]:
        bound = float(error_upper_bound(k, n, 0.9))
        assert error_p_value(k, n, bound + 1e-6) < 0.1 < error_p_value(k, n, bound - 1e-6)
    assert error_upper_bound([0, 10], [0, 10]).tolist() == [1.0, 1.0]
    assert error_p_value([0, 10], [0, 10], 0.5).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("max_error", "rate"), [(0.01, 0.0), (0.9, 0.0), (0.01, 0.005), (0.05, 0.04), (0.5, 0.25)])
@pytest.mark.parametrize("level", [0.2, 0.01])
def test_samples_needed(max_error, rate, level):
    """One sample fewer does not suffice without any error; with errors a tenth fewer."""
    n = samples_needed(max_error, level, rate=rate)
    fewer = n - 1 if rate == 0 else int(0.9 * n)
    p_values = [error_p_value(int(np.ceil(rate * size - 1e-9)), size, max_error) for size in (n, fewer)]
    assert p_values[0] <= level * (1 + 1e-12)
    assert level < p_values[1] or n == 1


def test_samples_needed_for_tiny_error_rates():
    assert samples_needed(1e-20, 0.05) == pytest.approx(-np.log(0.05) * 1e20)
    assert samples_needed(5e-324, 0.05) >= 1e300
