"""Comparison of models: the t-test against its formula, Holm by hand."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ
from lvq.workflow.comparing import compare_models, corrected_t_test, holm


@pytest.mark.parametrize("seed", range(5))
def test_corrected_t_test_equals_its_formula(seed):
    d = np.random.default_rng(seed).normal(0.01, 0.02, size=15)
    t = d.mean() / np.sqrt((1 / 15 + 20 / 80) * d.var(ddof=1))
    assert corrected_t_test(d, 80, 20) == pytest.approx(2 * stats.t.cdf(-abs(t), 14))
    assert corrected_t_test(-d, 80, 20) == pytest.approx(corrected_t_test(d, 80, 20))


@pytest.mark.parametrize("seed", range(5))
def test_corrected_t_test_is_more_conservative(seed):
    d = np.random.default_rng(seed).normal(0.01, 0.02, size=15)
    assert corrected_t_test(d, 80, 20) > stats.ttest_1samp(d, 0).pvalue
    # with a vanishing test part both tests are equal
    assert corrected_t_test(d, 10**9, 1) == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-6)


def test_equal_and_constant_differences():
    assert corrected_t_test([0.0, 0.0, 0.0], 80, 20) == 1.0
    assert corrected_t_test([0.1, 0.1, 0.1], 80, 20) == 0.0
    with pytest.raises(ValueError, match="at least 2 splits"):
        corrected_t_test([0.1], 80, 20)


def test_false_positives_are_rare():
    """Two equally good random models, ten times ten folds: the uncorrected test rejects far more than 5 %."""
    rng = np.random.default_rng(0)
    rejected = []
    for _ in range(200):
        correct = rng.random((2, 100)) < 0.8  # the same 100 samples in every repeat, as in repeated cross-validation
        order = [rng.permutation(100) for _ in range(10)]
        d = np.concatenate([np.subtract(*correct[:, o].reshape(2, 10, 10).mean(axis=2)) for o in order])
        rejected.append((corrected_t_test(d, 90, 10) < 0.05, stats.ttest_1samp(d, 0).pvalue < 0.05))
    corrected, uncorrected = np.mean(rejected, axis=0)
    assert corrected < 0.1 < uncorrected


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.02, 0.03, 0.04]), [0.04, 0.06, 0.06, 0.06])
    np.testing.assert_allclose(holm([0.9, 0.001]), [0.9, 0.002])
    np.testing.assert_allclose(holm([0.7, 0.8]), [1.0, 1.0])
    assert holm([]).shape == (0,)


@pytest.fixture(scope="module")
def compared():
    X, y = load_iris(return_X_y=True)
    calls = []
    models = {
        "one": GLVQ(random_state=0),
        "same": GLVQ(random_state=0),
        "three": make_pipeline(StandardScaler(), GMLVQ(n_prototypes=3, random_state=0)),
        "impossible": GLVQ(relevance="fc1", solver="lbfgs", random_state=0),
        "other": LogisticRegression(max_iter=1000),
    }
    found = compare_models(models, X, y, folds=4, repeats=2, seed=1, progress=lambda *step: calls.append(step))
    return found, calls


def test_all_models_see_the_same_splits(compared):
    found, _ = compared
    np.testing.assert_array_equal(found.scores["one"], found.scores["same"])
    assert all(len(scores) == 8 for scores in found.scores.values())


def test_the_ranking_agrees_with_the_scores(compared):
    found, _ = compared
    assert {model.name for model in found.ranking} == set(found.scores)
    accuracies = [model.accuracy for model in found.ranking]
    assert accuracies == sorted(accuracies, reverse=True)
    for model in found.ranking:
        assert model.accuracy == pytest.approx(found.scores[model.name].mean())
        assert model.standard_deviation == pytest.approx(found.scores[model.name].std(ddof=1))
        assert model.seconds > 0
    assert found.ranking[0].p_value == 1.0
    by_name = {model.name: model for model in found.ranking}
    assert by_name["one"].n_prototypes == 3
    assert by_name["three"].n_prototypes == 9
    assert np.isnan(by_name["other"].n_prototypes)


def test_a_model_that_cannot_be_fitted_is_in_failures(compared):
    found, _ = compared
    assert list(found.failures) == ["impossible"]
    assert "solver" in found.failures["impossible"]


def test_progress_reaches_the_end(compared):
    _, calls = compared
    done = [step[1] for step in calls]
    assert done == sorted(done)
    assert calls[-1][1:] == (40, 40)


def test_given_splits_are_those_of_all_models():
    X, y = load_iris(return_X_y=True)
    splits = [(np.arange(0, 150, 3), np.arange(1, 150, 3)), (np.arange(1, 150, 3), np.arange(2, 150, 3))]
    found = compare_models(
        {"one": GLVQ(random_state=0), "two": GLVQ(n_prototypes=2, random_state=0)}, X, y, splits=splits
    )
    for name, n_prototypes in (("one", 1), ("two", 2)):
        model = GLVQ(n_prototypes=n_prototypes, random_state=0)
        expected = [model.fit(X[train], y[train]).score(X[test], y[test]) for train, test in splits]
        np.testing.assert_array_equal(found.scores[name], expected)
    with pytest.raises(ValueError, match="splits of compare_models must be 2 or more, got 1"):
        compare_models({"one": GLVQ()}, X, y, splits=splits[:1])


def test_the_compilation_in_the_first_fit_does_not_count(monkeypatch):
    X, y = load_iris(return_X_y=True)
    clock = iter([0.0, 5.0, *(10.0 + k for k in range(100))])  # the first fit takes 5 seconds, all others 1
    monkeypatch.setattr("lvq.workflow.comparing.clock.perf_counter", lambda: next(clock))
    found = compare_models({"a": DummyClassifier()}, X, y, folds=3, repeats=1)
    assert [model.seconds for model in found.ranking] == [1.0]
