"""Guarantees: by simulation on populations whose true error rate is known, and the errors where there is none."""

import pickle
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np
import pytest

from lvq.rejection import GuaranteeError, local_thresholds
from lvq.rejection.guarantee import error_upper_bound
from lvq.rejection.corrections import Guarantee, fixed_sequence
from lvq.rejection.guarantee import certify, guaranteed_point, guaranteed_points
from lvq.rejection.guarantee import weaker_guarantee

N_DRAWS = 1000
N_SAMPLES = 480
MAX_ERROR, CONFIDENCE = 0.1, 0.9


def split(samples):
    """A quarter of the samples to fit a path, the others to test it."""
    order = np.random.default_rng(0).permutation(len(samples[0]))
    n_path = max(1, round(0.25 * len(order)))
    return [tuple(np.asarray(part)[rows] for part in samples) for rows in (order[:n_path], order[n_path:])]


def guaranteed(samples, max_error, confidence=0.95, correction="fixed_sequence", **options):
    guarantee = Guarantee(max_error, 1 - confidence, correction, fraction_tested=0.75)
    return guaranteed_point(*split(samples), guarantee, **options)[1]


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
    violated = certified = 0
    for _ in range(n_draws):
        try:
            point = choose(people.draw(rng, N_SAMPLES))
        except GuaranteeError:
            continue
        certified += 1
        violated += people.true_error(point) > MAX_ERROR
    return violated, certified


def most(n_draws=N_DRAWS):
    """Upper limit for a guarantee that is violated exactly as often as allowed: three standard deviations."""
    return n_draws * (1 - CONFIDENCE) + 3 * np.sqrt(n_draws * CONFIDENCE * (1 - CONFIDENCE))


@pytest.mark.parametrize(
    ("name", "correction", "method", "certified_fraction"),
    [
        ("honest", "fixed_sequence", "optimal", 0.9),
        ("non_monotone", "fixed_sequence", "hull", 0.0),
        ("overconfident", "bonferroni", "optimal", 0.4),
        ("hopeless", "fixed_sequence", "optimal", 0.0),
        ("hopeless", "bonferroni", "global", 0.0),
    ],
)
def test_guarantee_holds(name, correction, method, certified_fraction):
    target = {"max_error": MAX_ERROR, "confidence": CONFIDENCE, "method": method, "correction": correction}
    violated, certified = violations(name, lambda samples: guaranteed(samples, **target))
    assert violated <= most()
    assert certified >= certified_fraction * N_DRAWS


@pytest.mark.parametrize(
    ("name", "correction"),
    [
        ("honest", "fixed_sequence"),
        ("non_monotone", "fixed_sequence"),
        ("overconfident", "bonferroni"),
        ("hopeless", "fixed_sequence"),
    ],
)
def test_a_weaker_guarantee_holds(name, correction):
    """What is guaranteed, the requested bound or the lowest possible one, is false no more often than allowed."""
    people, rng = population(name), np.random.default_rng(0)
    target = {"max_error": MAX_ERROR, "confidence": CONFIDENCE, "correction": correction, "on_failure": "relax"}
    points = [guaranteed(people.draw(rng, N_SAMPLES), **target) for _ in range(N_DRAWS)]
    violated = sum(people.true_error(point) > point.max_error for point in points)
    assert violated <= most()
    weaker = [point for point in points if point.requested_error is not None]
    assert all(point.max_error > MAX_ERROR == point.requested_error for point in weaker)
    assert (len(weaker) > 0.7 * N_DRAWS) == (name == "hopeless")


@pytest.mark.parametrize("name", ["honest", "hopeless"])
def test_a_weaker_guarantee_where_no_test_can_pass(name):
    """It holds as often as promised, and is stated for the certain samples where they are the accurate ones."""
    people, rng = population(name), np.random.default_rng(0)
    target = {"max_error": 0.001, "confidence": CONFIDENCE, "on_failure": "relax"}
    points = [guaranteed(people.draw(rng, N_SAMPLES), **target) for _ in range(N_DRAWS)]
    assert sum(people.true_error(point) > point.max_error for point in points) <= most()
    if name == "honest":
        weaker = [guaranteed(people.draw(rng, N_SAMPLES), **target | {"max_error": MAX_ERROR}) for _ in range(50)]
        assert np.median([point.max_error for point in points]) < np.median([point.max_error for point in weaker])


REQUESTS = (0.003, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15)


@pytest.mark.parametrize("n_samples", [120, N_SAMPLES])
@pytest.mark.parametrize("name", ["honest", "non_monotone", "overconfident", "hopeless"])
def test_a_weaker_guarantee_can_be_requested_and_lower_ones_rarely(name, n_samples):
    people, rng = population(name), np.random.default_rng(0)
    lower = 0
    for _ in range(30):
        samples = people.draw(rng, n_samples)
        lowest = guaranteed(samples, 0.001, CONFIDENCE, on_failure="relax")
        assert lowest.requested_error == 0.001
        points = {error: guaranteed(samples, error, CONFIDENCE, on_failure="relax") for error in REQUESTS}
        given = [error for error, point in points.items() if point.requested_error is None]
        assert all(error in given for error in REQUESTS if error >= lowest.max_error)
        lower += any(error < lowest.max_error for error in given)
    assert lower <= 10


def test_a_weaker_guarantee_is_lower_than_the_bound_of_the_requested_error_alone():
    """With 360 testing samples that for 2 % is at the coverage where 2 % can be tested, 64 %, with many errors."""
    people, rng = population("honest"), np.random.default_rng(0)
    found, alone = [], []
    for _ in range(30):
        fitting, testing = split(people.draw(rng, N_SAMPLES))
        path = local_thresholds(*fitting).extend(*fitting)
        guarantee = Guarantee(0.02, 0.05)
        found.append(certify(path, *testing, guarantee, relax=True).max_error)
        first = fixed_sequence(path, 360, guarantee).points[0]
        counts = path.evaluate(*testing)
        alone.append(error_upper_bound(counts.n_errors - counts.rejected_errors[first], counts.accepted[first]))
    assert np.median(found) < 0.8 * np.median(alone)


@pytest.mark.parametrize("name", ["honest", "hopeless"])
def test_simulation_detects_invalid_choices(name):
    """Choosing by the counts, or testing on the samples the path was fitted on, violates the guarantee too often."""

    def by_accuracy(samples):
        return local_thresholds(*samples).extend(*samples).pick(min_accuracy=1 - MAX_ERROR)

    def on_the_same_samples(samples):
        path = local_thresholds(*samples).extend(*samples)
        return certify(path, *samples, Guarantee(MAX_ERROR, 1 - CONFIDENCE))

    assert violations(name, by_accuracy, 200)[0] > most(200)
    assert violations(name, on_the_same_samples, 200)[0] > most(200)


def test_guarantee_holds_in_all_groups_at_once():
    people, rng = population("hopeless"), np.random.default_rng(1)
    n_draws, violated = 400, 0
    for _ in range(n_draws):
        fitting, testing = split(people.draw(rng, N_SAMPLES))
        found = guaranteed_points(
            fitting, testing, fitting[2], testing[2], Guarantee(MAX_ERROR, 1 - CONFIDENCE), on_failure="reject"
        )
        violated += any(point is not None for _, point in found.values())
    assert 0 < violated <= most(n_draws)


def test_groups_have_their_own_thresholds():
    rng = np.random.default_rng(2)
    certainty, group = rng.random(12_000), rng.choice(["cat", "dog", "eel"], 12_000, p=[0.5, 0.495, 0.005])
    rate = np.where(group == "cat", 0.02, 0.3 * (1 - certainty))
    correct = rng.random(12_000) >= rate
    fitting, testing = split((certainty, correct, np.zeros(12_000), group))
    guarantee = Guarantee(0.05, 0.05, fraction_tested=0.75)
    arguments = fitting[:3], testing[:3], fitting[3], testing[3], guarantee
    found = guaranteed_points(*arguments, method="global", on_failure="reject")
    path, point = found["eel"]
    assert path is not None
    assert point is None
    assert found["cat"][1].coverage > 0.95 > 0.6 > found["dog"][1].coverage > 0.1
    for name in ("cat", "dog"):
        inside = [tuple(part[samples[3] == name] for part in samples[:3]) for samples in (fitting, testing)]
        _, expected = guaranteed_point(*inside, Guarantee(0.05, 0.05 / 3), method="global")
        assert expected.thresholds == found[name][1].thresholds
        assert expected.confidence == found[name][1].confidence == pytest.approx(1 - 0.05 / 3)
    with pytest.raises(
        GuaranteeError, match=r"class 'eel' of 3: max_error=0.05 .* needs at least 80 accepted"
    ) as caught:
        guaranteed_points(*arguments, method="global")
    assert caught.value.reason == "too_few_samples"


def four_levels(errors_at):
    """A hundred samples at each of four certainties, the last `errors_at[i]` of each are errors."""
    certainty = np.repeat([0.0, 1.0, 2.0, 3.0], 100)
    correct = np.concatenate([np.arange(100) < 100 - errors for errors in errors_at])
    return certainty, correct, np.zeros(400, dtype=int)


@pytest.mark.parametrize(("correction", "accepted"), [("fixed_sequence", 100), ("bonferroni", 400)])
def test_only_the_fixed_sequence_stops_at_a_failure(correction, accepted, monkeypatch):
    monkeypatch.setattr("lvq.rejection.corrections.N_TESTS", 4)
    path = local_thresholds(*four_levels([50, 50, 50, 0]))
    assert path.accepted.tolist() == [400, 300, 200, 100]
    # 0 of 100 and 25 of 400 errors pass at 10 %, 25 of 200 and of 300 do not.
    point = certify(path, *four_levels([0, 0, 25, 0]), Guarantee(0.1, 0.1, correction))
    assert point.n_accepted == accepted
    assert point.p_value <= point.level
    assert point.coverage == accepted / 400


def test_what_is_reported_is_what_was_counted():
    people, rng = population("honest"), np.random.default_rng(3)
    fitting, testing = people.draw(rng, 300), people.draw(rng, 900)
    path = local_thresholds(*fitting).extend(*fitting)
    point = certify(path, *testing, Guarantee(MAX_ERROR, 0.05))
    accepted = point.accept(testing[0], testing[2])
    assert (point.n_testing, point.n_accepted) == (900, np.count_nonzero(accepted))
    assert point.n_errors == np.count_nonzero(accepted & ~testing[1])
    assert np.array_equal(point.thresholds, path.thresholds[point.index])


def test_too_few_samples_and_how_many():
    certainty = np.linspace(0, 1, 1000)
    with pytest.raises(
        GuaranteeError, match=r"needs at least 299 .* at most 75 of 75 .* about 399 samples in all \(0.75 of them are"
    ) as caught:
        guaranteed((certainty[:100], np.ones(100), np.zeros(100)), max_error=0.01)
    assert (caught.value.reason, caught.value.samples_needed) == ("too_few_samples", 399)
    point = guaranteed((certainty[:399], np.ones(399), np.zeros(399)), max_error=0.01)
    assert (point.n_testing, point.n_accepted) == (299, 299)
    with pytest.raises(GuaranteeError, match="needs at least 299"):
        guaranteed((certainty[:398], np.ones(398), np.zeros(398)), max_error=0.01)
    with pytest.raises(GuaranteeError, match=r"needs samples to fit the thresholds and others to test .* 1 and 0"):
        guaranteed(([0.1], [1], [0]), max_error=0.1)


@pytest.mark.parametrize("max_error", [1e-20, 1e-320])
def test_a_tiny_error_rate_needs_too_many_samples(max_error):
    with pytest.raises(GuaranteeError, match=r"max_error=\S+ with confidence=0.95 needs at least \de\+\d+ accepted"):
        guaranteed((np.linspace(0, 1, 100), np.ones(100), np.zeros(100)), max_error)


def test_too_few_samples_for_the_rate_they_have():
    def four_percent_errors(n_samples):
        return np.arange(n_samples) % 2, np.arange(n_samples) % 25 > 0, np.zeros(n_samples)

    path = local_thresholds(*four_percent_errors(600))
    with pytest.raises(GuaranteeError, match=r"6 errors among 150 .*\(4.00%\); about \d+ accepted sam") as caught:
        certify(path, *four_percent_errors(300), Guarantee(0.05, 0.05))
    needed = caught.value.samples_needed
    assert caught.value.reason == "too_few_samples"
    assert certify(path, *four_percent_errors(needed), Guarantee(0.05, 0.05)).n_accepted == needed
    with pytest.raises(GuaranteeError, match="could not be shown"):
        certify(path, *four_percent_errors(needed // 2), Guarantee(0.05, 0.05))


def test_too_few_samples_to_begin_with_the_most_certain():
    # Only the most certain quarter is accurate enough, and with 200 samples the tests begin beyond it.
    samples = four_levels([30, 30, 30, 0])
    path = local_thresholds(*samples)
    with pytest.raises(GuaranteeError, match=r"with 200 testing samples\. The .* is 0 errors among 50 ") as caught:
        certify(path, *(part[::2] for part in samples), Guarantee(0.1, 0.05))
    assert (caught.value.reason, caught.value.samples_needed) == ("too_few_samples", 348)
    assert certify(path, *samples, Guarantee(0.1, 0.05)).n_accepted == 100


def test_an_error_rate_for_which_no_number_of_samples_is_enough():
    correct = np.arange(2000) % 5 > 0
    with pytest.raises(
        GuaranteeError, match=r"is not achievable: .*\(.*%\), and no number of samples is enough"
    ) as caught:
        guaranteed((np.arange(2000) % 97, correct, np.zeros(2000)), max_error=0.05)
    assert (caught.value.reason, caught.value.samples_needed) == ("error_rate", None)


@pytest.mark.parametrize("n_samples", [100, 500])
def test_a_rate_that_falls_with_certainty_may_fall_enough(n_samples):
    """At certainty u the error rate is (1 - u)/2: 2.5 % in the most certain tenth, which takes thousands to show."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        certainty = rng.random(n_samples)
        correct = rng.random(n_samples) >= 0.5 * (1 - certainty)
        with pytest.raises(GuaranteeError, match="could not be shown with") as caught:
            guaranteed((certainty, correct, np.zeros(n_samples)), max_error=0.05, method="global")
        assert "no number of samples is enough" not in str(caught.value)
        assert caught.value.reason == "too_few_samples"
        assert caught.value.samples_needed > n_samples


def test_a_rate_that_does_not_fall_is_not_achievable():
    """One in three is an error at any certainty: reported except where the rate is lower by random variation."""
    reasons = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        with pytest.raises(GuaranteeError, match=r"could not be shown with|is not achievable: ") as caught:
            guaranteed((rng.random(600), rng.random(600) >= 1 / 3, np.zeros(600)), max_error=0.05, method="global")
        assert ("no number of samples is enough" in str(caught.value)) == (caught.value.reason == "error_rate")
        reasons.append(caught.value.reason)
    assert reasons.count("error_rate") >= 34


def test_a_rate_that_falls_to_the_last_level_only_is_not_achievable():
    """The most certain samples have equal certainty and 12 % errors among a thousand: none is more certain."""
    path = local_thresholds(*four_levels([50, 50, 30, 12]))
    many = [np.tile(part, 10) for part in four_levels([50, 50, 30, 12])]
    with pytest.raises(GuaranteeError, match=r"120 errors among 1000 .* no number of samples is enough") as caught:
        certify(path, *many, Guarantee(0.1, 0.05))
    assert (caught.value.reason, caught.value.samples_needed) == ("error_rate", None)


def test_few_errors_among_few_samples_are_not_significant():
    # four errors among 30 are likely at a rate of 0.1, so more samples may show it
    certainty, correct = np.zeros(30), np.arange(30) >= 4
    path = local_thresholds(np.zeros(30), np.ones(30, dtype=bool), np.zeros(30))
    with pytest.raises(GuaranteeError, match=r"4 errors among 30 .*too few to decide whether") as caught:
        certify(path, certainty, correct, np.zeros(30), Guarantee(0.1, 0.05))
    assert caught.value.reason == "too_few_samples"
    needed = caught.value.samples_needed
    half = np.arange(needed) >= needed // 20  # the true rate is half of max_error
    assert certify(path, np.zeros(needed), half, np.zeros(needed), Guarantee(0.1, 0.05)).n_accepted == needed


def test_too_few_accepted_where_the_tests_begin_is_not_a_wrong_order():
    path = local_thresholds(*four_levels([50, 50, 50, 0]))
    certainty = np.repeat([0, 1, 2, 3], [130, 130, 130, 10])
    correct = np.arange(400) < 398  # two of the ten most certain are errors: too few to judge them by
    with pytest.raises(GuaranteeError, match=r"could not be shown with 400 testing samples") as caught:
        certify(path, certainty, correct, np.zeros(400), Guarantee(0.1, 0.05))
    assert caught.value.reason == "too_few_samples"
    assert caught.value.samples_needed > 400


def test_a_certainty_in_the_wrong_order():
    path = local_thresholds(*four_levels([50, 50, 50, 0]))
    with pytest.raises(GuaranteeError, match=r"for the most certain samples, .* correction=\"bonferroni\"") as caught:
        certify(path, *four_levels([0, 0, 0, 20]), Guarantee(0.1, 0.05))
    assert caught.value.reason == "order"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.reason, again.samples_needed) == (str(caught.value), "order", None)


def test_cells_the_path_has_never_seen_do_not_count_as_accepted():
    path = local_thresholds([0.0, 1.0], [False, True], ["a", "a"])
    with pytest.raises(GuaranteeError, match=r"at most 0 of 500 .* accepted; give about 15000 samples in all, raise"):
        certify(path, np.ones(500), np.ones(500), ["b"] * 500, Guarantee(0.1, 0.9**30))


def test_a_weaker_guarantee_and_what_the_requested_one_needs():
    certainty = np.linspace(0, 1, 400)
    correct = np.arange(400) % 20 > 0  # 5 % errors, at any certainty
    point = guaranteed((certainty, correct, np.zeros(400)), 0.01, on_failure="relax")
    assert point.requested_error == 0.01
    assert error_upper_bound(point.n_errors, point.n_accepted) <= point.max_error < 0.2
    assert point.p_value <= point.level
    note = weaker_guarantee(point, 400)
    assert "An error rate of at most 1 % could not be guaranteed. The lowest bound found is" in note
    assert "at a coverage of 25 %. " in weaker_guarantee(replace(point, coverage=0.25), 400)
    few = guaranteed((np.linspace(0, 1, 200), np.ones(200, dtype=bool), np.zeros(200)), 0.01, on_failure="relax")
    needed = ceil(few.times_needed * 200)
    assert needed > 299 / 0.75
    assert f"About {needed} rows would be enough, {needed - 200} more than now." in weaker_guarantee(few, 200, "rows")
    hopeless = replace(few, times_needed=None)
    assert "No realistic number of rows would be enough for that" in weaker_guarantee(hopeless, 200, "rows")


def test_a_weaker_guarantee_needs_samples():
    empty = (np.empty(0), np.empty(0, dtype=bool), np.empty(0))
    one = (np.ones(1), np.ones(1, dtype=bool), np.zeros(1))
    guarantee = Guarantee(0.1, 0.05)
    assert guaranteed_point(one, empty, guarantee, on_failure="relax") == (None, None)
    point = guaranteed_point(one, one, guarantee, on_failure="relax")[1]
    assert point.max_error == pytest.approx(0.95)


def test_a_point_that_is_not_certified_is_never_chosen():
    """One sample is enough here; the point of lower coverage accepts none, and that of higher coverage has errors."""
    certainty = np.arange(10.0)
    fitting = certainty, certainty >= 7, np.zeros(10)
    path = local_thresholds(*fitting).extend(*fitting)
    testing = np.append(8.5, np.arange(20) / 5), np.append(True, np.zeros(20, dtype=bool)), np.zeros(21)
    point = certify(path, *testing, Guarantee(0.99, 0.05, "bonferroni"))
    assert (point.n_accepted, point.n_errors) == (1, 0)
    assert point.p_value == pytest.approx(0.01)
    assert point.level == 0.05 / 4
    assert point.accept(testing[0], testing[2]).sum() == 1
