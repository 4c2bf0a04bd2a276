"""Guarantees: by simulation on populations whose true error rate is known, and the sentences where there is none."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest

from lvq.rejection import (
    GuaranteeError,
    accept_mask_by_group,
    certify,
    guaranteed_point,
    guaranteed_points_by_group,
    local_thresholds,
)

N_DRAWS = 1000
N_SAMPLES = 480
MAX_ERROR, CONFIDENCE = 0.1, 0.9


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
    """Number of draws whose certified point breaks the promise, and number of draws that certify one."""
    people, rng = population(name), np.random.default_rng(0)
    broken = certified = 0
    for _ in range(n_draws):
        try:
            point = choose(people.draw(rng, N_SAMPLES))
        except GuaranteeError:
            continue
        certified += 1
        broken += people.true_error(point) > MAX_ERROR
    return broken, certified


def most(n_draws=N_DRAWS):
    """What chance allows a procedure that breaks its promise exactly as often as it may: three standard deviations."""
    return n_draws * (1 - CONFIDENCE) + 3 * np.sqrt(n_draws * CONFIDENCE * (1 - CONFIDENCE))


@pytest.mark.parametrize(
    ("name", "procedure", "method", "certified_share"),
    [
        ("honest", "fixed_sequence", "optimal", 0.9),
        ("honest", "bonferroni", "hull", 0.9),
        ("non_monotone", "fixed_sequence", "hull", 0.0),
        ("non_monotone", "bonferroni", "optimal", 0.5),
        ("overconfident", "fixed_sequence", "global", 0.0),
        ("overconfident", "bonferroni", "optimal", 0.4),
        ("hopeless", "fixed_sequence", "optimal", 0.0),
        ("hopeless", "bonferroni", "global", 0.0),
    ],
)
def test_the_promise_holds(name, procedure, method, certified_share):
    wish = {"max_error": MAX_ERROR, "confidence": CONFIDENCE, "method": method, "procedure": procedure}
    broken, certified = violations(name, lambda samples: guaranteed_point(*samples, **wish).point)
    assert broken <= most()
    assert certified >= certified_share * N_DRAWS


@pytest.mark.parametrize("name", ["honest", "hopeless"])
def test_the_simulation_would_tell(name):
    """Choosing by sight, or testing on the samples the path was fitted on, breaks the promise too often."""

    def by_sight(samples):
        return local_thresholds(*samples).extend(*samples).pick(accuracy=1 - MAX_ERROR)

    def on_the_same_samples(samples):
        path = local_thresholds(*samples).extend(*samples)
        return certify(path, *samples, max_error=MAX_ERROR, confidence=CONFIDENCE).point

    assert violations(name, by_sight, 250)[0] > most(250)
    assert violations(name, on_the_same_samples, 250)[0] > most(250)


def test_the_promise_holds_in_all_groups_at_once():
    people, rng = population("hopeless"), np.random.default_rng(1)
    broken = 0
    for _ in range(N_DRAWS):
        certainty, correct, cell = people.draw(rng, N_SAMPLES)
        answers = guaranteed_points_by_group(
            certainty, correct, cell, cell, max_error=MAX_ERROR, confidence=CONFIDENCE, impossible="reject"
        )
        broken += any(answer is not None for answer in answers.values())
    assert 0 < broken <= most()


def test_groups_have_their_own_thresholds():
    rng = np.random.default_rng(2)
    certainty, group = rng.random(12_000), rng.choice(["cat", "dog", "eel"], 12_000, p=[0.5, 0.495, 0.005])
    rate = np.where(group == "cat", 0.02, 0.3 * (1 - certainty))
    correct = rng.random(12_000) >= rate
    wish = {"max_error": 0.05, "method": "global"}
    answers = guaranteed_points_by_group(certainty, correct, np.zeros(12_000), group, impossible="reject", **wish)
    assert answers["eel"] is None
    assert answers["cat"].point.coverage > 0.95 > 0.6 > answers["dog"].point.coverage > 0.1
    for name in ("cat", "dog"):
        alone = group == name
        expected = guaranteed_point(
            certainty[alone], correct[alone], np.zeros(alone.sum()), confidence=1 - 0.05 / 3, **wish
        )
        assert expected.point.thresholds == answers[name].point.thresholds
    mask = accept_mask_by_group(certainty, np.zeros(12_000), group, answers)
    for name in ("cat", "dog"):
        limit = answers[name].point.thresholds[0]
        assert np.array_equal(mask[group == name], certainty[group == name] >= limit)
    assert not mask[group == "eel"].any()
    assert accept_mask_by_group([0.99], [0], ["fox"], answers).tolist() == [False]
    with pytest.raises(
        GuaranteeError, match=r"group 'eel' of 3: max_error=0.05 .* needs at least 80 accepted"
    ) as caught:
        guaranteed_points_by_group(certainty, correct, np.zeros(12_000), group, **wish)
    assert caught.value.reason == "too_few_samples"


def four_levels(errors_at):
    """A hundred samples at each of four certainties, the last `errors_at[i]` of each wrong."""
    certainty = np.repeat([0.0, 1.0, 2.0, 3.0], 100)
    correct = np.concatenate([np.arange(100) < 100 - errors for errors in errors_at])
    return certainty, correct, np.zeros(400, dtype=int)


@pytest.mark.parametrize(("procedure", "accepted"), [("fixed_sequence", 100), ("bonferroni", 400)])
def test_only_the_fixed_sequence_stops_at_a_failure(procedure, accepted):
    path = local_thresholds(*four_levels([50, 50, 50, 0]))
    assert path.accepted.tolist() == [400, 300, 200, 100]
    # 0 of 100 and 25 of 400 errors pass at 10 %, 25 of 200 and of 300 do not.
    answer = certify(path, *four_levels([0, 0, 25, 0]), max_error=0.1, confidence=0.9, procedure=procedure, n_tests=4)
    assert answer.n_accepted == accepted
    assert answer.p_value <= answer.level
    assert answer.point.coverage == accepted / 400


def test_what_is_reported_is_what_was_counted():
    people, rng = population("honest"), np.random.default_rng(3)
    fitting, testing = people.draw(rng, 300), people.draw(rng, 900)
    path = local_thresholds(*fitting).extend(*fitting)
    answer = certify(path, *testing, max_error=MAX_ERROR)
    accepted = answer.accept(testing[0], testing[2])
    assert (answer.n_testing, answer.n_accepted) == (900, np.count_nonzero(accepted))
    assert answer.n_errors == np.count_nonzero(accepted & ~testing[1])
    assert np.array_equal(answer.point.thresholds, path.thresholds[answer.point.index])


def test_the_split_is_the_same_every_time():
    samples = population("honest").draw(np.random.default_rng(4), 600)
    first, second = (guaranteed_point(*samples, max_error=0.1) for _ in range(2))
    assert np.array_equal(first.point.thresholds, second.point.thresholds)
    assert (first.n_testing, first.n_accepted) == (450, second.n_accepted)


def test_too_few_samples_and_how_many():
    certainty = np.linspace(0, 1, 1000)
    with pytest.raises(GuaranteeError, match=r"needs at least 299 .* at most 75 of 75 .* at least 399 cal") as caught:
        guaranteed_point(certainty[:100], np.ones(100), np.zeros(100), max_error=0.01)
    assert (caught.value.reason, caught.value.samples_needed) == ("too_few_samples", 399)
    answer = guaranteed_point(certainty[:399], np.ones(399), np.zeros(399), max_error=0.01)
    assert (answer.n_testing, answer.n_accepted) == (299, 299)
    with pytest.raises(GuaranteeError, match="needs at least 299"):
        guaranteed_point(certainty[:398], np.ones(398), np.zeros(398), max_error=0.01)


def test_too_few_samples_for_the_rate_they_have():
    def four_percent_wrong(n_samples):
        return np.arange(n_samples) % 2, np.arange(n_samples) % 25 > 0, np.zeros(n_samples)

    path = local_thresholds(*four_percent_wrong(600))
    with pytest.raises(GuaranteeError, match=r"6 errors among 150 .*\(4.00%\): that takes about \d+ acc") as caught:
        certify(path, *four_percent_wrong(300), max_error=0.05)
    needed = caught.value.samples_needed
    assert caught.value.reason == "too_few_samples"
    assert certify(path, *four_percent_wrong(needed), max_error=0.05).n_accepted == needed
    with pytest.raises(GuaranteeError, match="could not be shown"):
        certify(path, *four_percent_wrong(needed // 2), max_error=0.05)


def test_too_few_samples_to_begin_with_the_surest():
    # Only the surest quarter is good enough, and with 200 samples the tests begin beyond it.
    samples = four_levels([30, 30, 30, 0])
    path = local_thresholds(*samples)
    with pytest.raises(GuaranteeError, match=r"with 200 testing samples, at best 0 errors among 50 ") as caught:
        certify(path, *(part[::2] for part in samples), max_error=0.1)
    assert (caught.value.reason, caught.value.samples_needed) == ("too_few_samples", 348)
    assert certify(path, *samples, max_error=0.1).n_accepted == 100


def test_an_error_rate_no_number_of_samples_would_cure():
    correct = np.arange(2000) % 5 > 0
    with pytest.raises(
        GuaranteeError, match=r"cannot be had: .*\(.*%\), and no number of samples would cure"
    ) as caught:
        guaranteed_point(np.arange(2000) % 97, correct, np.zeros(2000), max_error=0.05)
    assert (caught.value.reason, caught.value.samples_needed) == ("error_rate", None)


@pytest.mark.parametrize("n_samples", [100, 200, 500])
def test_a_rate_that_falls_towards_the_surest_may_fall_enough(n_samples):
    """Of certainty u, a share of (1 - u)/2 is wrong: the surest tenth errs at 2.5 %, which takes thousands to show."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        certainty = rng.random(n_samples)
        correct = rng.random(n_samples) >= 0.5 * (1 - certainty)
        with pytest.raises(GuaranteeError, match="could not be shown with") as caught:
            guaranteed_point(certainty, correct, np.zeros(n_samples), max_error=0.05, method="global")
        assert "no number of samples would cure that" not in str(caught.value)
        assert caught.value.reason == "too_few_samples"
        assert caught.value.samples_needed > n_samples


def test_a_rate_that_does_not_fall_is_given_up():
    """One in three is wrong, however sure: said in all but the share of cases in which chance makes a slope of it."""
    reasons = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        with pytest.raises(GuaranteeError, match=r"could not be shown with|cannot be had: ") as caught:
            guaranteed_point(rng.random(600), rng.random(600) >= 1 / 3, np.zeros(600), max_error=0.05, method="global")
        assert ("no number of samples would cure that" in str(caught.value)) == (caught.value.reason == "error_rate")
        reasons.append(caught.value.reason)
    assert reasons.count("error_rate") >= 34


def test_a_rate_that_falls_to_the_last_level_only_is_given_up():
    """The surest are all alike, with 12 % wrong among a thousand: there are none surer, however many come."""
    path = local_thresholds(*four_levels([50, 50, 30, 12]))
    many = [np.tile(part, 10) for part in four_levels([50, 50, 30, 12])]
    with pytest.raises(GuaranteeError, match=r"120 errors among 1000 .* no number of samples would cure") as caught:
        certify(path, *many, max_error=0.1)
    assert (caught.value.reason, caught.value.samples_needed) == ("error_rate", None)


def test_a_few_errors_among_few_samples_rule_nothing_out():
    # four errors among 30 are no rare thing at a rate of 0.1, so more samples may well show it
    certainty, correct = np.zeros(30), np.arange(30) >= 4
    path = local_thresholds(np.zeros(30), np.ones(30, dtype=bool), np.zeros(30))
    with pytest.raises(GuaranteeError, match=r"4 errors among 30 .*too few to tell on which side") as caught:
        certify(path, certainty, correct, np.zeros(30), max_error=0.1)
    assert caught.value.reason == "too_few_samples"
    needed = caught.value.samples_needed
    half = np.arange(needed) >= needed // 20  # the true rate is half of max_error
    assert certify(path, np.zeros(needed), half, np.zeros(needed), max_error=0.1).n_accepted == needed


def test_too_few_accepted_where_the_tests_begin_is_not_a_wrong_order():
    path = local_thresholds(*four_levels([50, 50, 50, 0]))
    certainty = np.repeat([0, 1, 2, 3], [130, 130, 130, 10])
    correct = np.arange(400) < 398  # of the ten surest, two are wrong: far too few to judge them by
    with pytest.raises(GuaranteeError, match=r"could not be shown with 400 testing samples") as caught:
        certify(path, certainty, correct, np.zeros(400), max_error=0.1)
    assert caught.value.reason == "too_few_samples"
    assert caught.value.samples_needed > 400


def test_a_certainty_in_the_wrong_order():
    path = local_thresholds(*four_levels([50, 50, 50, 0]))
    with pytest.raises(GuaranteeError, match=r"failed at the surest samples, .* procedure=\"bonferroni\"") as caught:
        certify(path, *four_levels([0, 0, 0, 20]), max_error=0.1)
    assert caught.value.reason == "order"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.reason, again.samples_needed) == (str(caught.value), "order", None)


def test_cells_the_path_has_never_seen_do_not_count_as_accepted():
    path = local_thresholds([0.0, 1.0], [False, True], ["a", "a"])
    with pytest.raises(GuaranteeError, match=r"at most 0 of 500 were accepted; give at least 15000 calibration"):
        certify(path, np.ones(500), np.ones(500), ["b"] * 500, max_error=0.1, confidence=1 - 0.9**30)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"max_error": 0}, "max_error must be strictly between 0 and 1, got 0"),
        ({"max_error": 1.0}, "max_error must be strictly between 0 and 1"),
        ({"max_error": 0.1, "confidence": 95}, "confidence must be strictly between 0 and 1, got 95"),
        (
            {"max_error": 0.1, "procedure": "holm"},
            "procedure must be one of 'fixed_sequence', 'bonferroni', got 'holm'",
        ),
        ({"max_error": 0.1, "n_tests": 0}, "n_tests must be an integer of 1 or more, got 0"),
        ({"max_error": 0.1, "path_share": 1.0}, "path_share must be strictly between 0 and 1"),
        ({"max_error": 0.1, "method": "best"}, "method must be one of"),
    ],
)
def test_refused(wish, message):
    with pytest.raises(ValueError, match=message):
        guaranteed_point(np.arange(100.0), np.ones(100), np.zeros(100), **wish)


def test_refused_groups_and_sizes():
    with pytest.raises(ValueError, match="impossible must be 'raise' or 'reject', got 'ignore'"):
        guaranteed_points_by_group([0.1], [1], [0], [0], max_error=0.1, impossible="ignore")
    with pytest.raises(ValueError, match="certainty has 2, group has 1"):
        guaranteed_points_by_group([0.1, 0.2], [1, 1], [0, 0], [0], max_error=0.1)
    with pytest.raises(GuaranteeError, match="at most 0 of 0 were accepted; give at least 39 calibration"):
        guaranteed_point([0.1], [1], [0], max_error=0.1)
    assert issubclass(GuaranteeError, ValueError)
