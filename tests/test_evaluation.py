"""Comparing models: the test against a telling of its own, Holm by hand, the Pareto set by definition."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ
from lvq.evaluation import Standing, compare_models, corrected_t_test, equally_good, holm, pareto_set


@pytest.mark.parametrize("seed", range(5))
def test_the_t_test_by_its_formula(seed):
    d = np.random.default_rng(seed).normal(0.01, 0.02, size=15)
    t = d.mean() / np.sqrt((1 / 15 + 20 / 80) * d.var(ddof=1))
    assert corrected_t_test(d, 80, 20) == pytest.approx(2 * stats.t.cdf(-abs(t), 14))
    assert corrected_t_test(-d, 80, 20) == pytest.approx(corrected_t_test(d, 80, 20))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_more_careful_than_the_plain_t_test(seed):
    d = np.random.default_rng(seed).normal(0.01, 0.02, size=15)
    assert corrected_t_test(d, 80, 20) > stats.ttest_1samp(d, 0).pvalue
    # without overlap, a vanishing test part, it is that test
    assert corrected_t_test(d, 10**9, 1) == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-6)


def test_equal_and_constant_differences():
    assert corrected_t_test([0.0, 0.0, 0.0], 80, 20) == 1.0
    assert corrected_t_test([0.1, 0.1, 0.1], 80, 20) == 0.0
    with pytest.raises(ValueError, match="at least 2 splits"):
        corrected_t_test([0.1], 80, 20)


def test_false_alarms_are_rare():
    """Two coins as models, ten folds ten times: the plain test calls far more than 5 % of such pairs different."""
    rng = np.random.default_rng(0)
    alarms = []
    for _ in range(200):
        right = rng.random((2, 100)) < 0.8  # the same 100 samples in every repeat, as in repeated cross-validation
        order = [rng.permutation(100) for _ in range(10)]
        d = np.concatenate([np.subtract(*right[:, o].reshape(2, 10, 10).mean(axis=2)) for o in order])
        alarms.append((corrected_t_test(d, 90, 10) < 0.05, stats.ttest_1samp(d, 0).pvalue < 0.05))
    corrected, plain = np.mean(alarms, axis=0)
    assert corrected < 0.1 < plain


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.02, 0.03, 0.04]), [0.04, 0.06, 0.06, 0.06])
    np.testing.assert_allclose(holm([0.9, 0.001]), [0.9, 0.002])
    np.testing.assert_allclose(holm([0.7, 0.8]), [1.0, 1.0])
    assert holm([]).shape == (0,)


@pytest.mark.parametrize("seed", range(5))
def test_the_pareto_set_by_its_definition(seed):
    rng = np.random.default_rng(seed)
    gain, cost = rng.integers(0, 5, 12), rng.integers(0, 5, 12)
    inside = pareto_set(gain, cost)
    for i in range(12):
        beaten = any(
            gain[j] >= gain[i] and cost[j] <= cost[i] and (gain[j], cost[j]) != (gain[i], cost[i]) for j in range(12)
        )
        assert inside[i] == (not beaten)
    assert inside.any()


@pytest.fixture(scope="module")
def compared():
    X, y = load_iris(return_X_y=True)
    told = []
    models = {
        "one": GLVQ(random_state=0),
        "same": GLVQ(random_state=0),
        "three": make_pipeline(StandardScaler(), GMLVQ(n_prototypes=3, random_state=0)),
        "impossible": GLVQ(relevance="fc1", solver="lbfgs", random_state=0),
        "other": LogisticRegression(max_iter=1000),
    }
    found = compare_models(models, X, y, folds=4, repeats=2, seed=1, progress=lambda *step: told.append(step))
    return found, told


def test_all_models_see_the_same_splits(compared):
    found, _ = compared
    np.testing.assert_array_equal(found.scores["one"], found.scores["same"])
    assert all(len(scores) == 8 for scores in found.scores.values())


def test_standings_are_those_of_the_scores(compared):
    found, _ = compared
    assert {standing.name for standing in found.standings} == set(found.scores)
    accuracies = [standing.accuracy for standing in found.standings]
    assert accuracies == sorted(accuracies, reverse=True)
    for standing in found.standings:
        assert standing.accuracy == pytest.approx(found.scores[standing.name].mean())
        assert standing.deviation == pytest.approx(found.scores[standing.name].std(ddof=1))
        assert standing.seconds > 0
    assert found.standings[0].p_value == 1.0
    by_name = {standing.name: standing for standing in found.standings}
    assert by_name["one"].prototypes == 3
    assert by_name["three"].prototypes == 9
    assert np.isnan(by_name["other"].prototypes)
    assert found.standings[0].name in equally_good(found.standings)


def test_a_model_that_cannot_be_fitted_is_told(compared):
    found, _ = compared
    assert list(found.failures) == ["impossible"]
    assert "solver" in found.failures["impossible"]


def test_progress_is_told_to_the_end(compared):
    _, told = compared
    done = [step[0] for step in told]
    assert done == sorted(done)
    assert told[-1][:2] == (40, 40)


def test_worse_models_are_called_so():
    standings = [Standing("a", 0.9, 0.0, 2, 0.1, 1.0, True), Standing("b", 0.5, 0.0, 2, 0.1, 0.04, False)]
    assert equally_good(standings) == ["a"]
    assert equally_good(standings, level=0.01) == ["a", "b"]
