"""Comparison of models: the t-test against its formula, Holm by hand."""

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ
from lvq.workflow import compare
from lvq.workflow.comparing import corrected_t_test, holm


@pytest.mark.parametrize("seed", range(3))
def test_corrected_t_test_equals_its_formula(seed):
    d = np.random.default_rng(seed).normal(0.01, 0.02, size=15)
    t = d.mean() / np.sqrt((1 / 15 + 20 / 80) * d.var(ddof=1))
    assert corrected_t_test(d, 80, 20) == pytest.approx(2 * stats.t.cdf(-abs(t), 14))
    assert corrected_t_test(-d, 80, 20) == pytest.approx(corrected_t_test(d, 80, 20))
    assert corrected_t_test(d, 80, 20) > stats.ttest_1samp(d, 0).pvalue
    # with a vanishing test part both tests are equal
    assert corrected_t_test(d, 10**9, 1) == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-6)


def test_equal_and_constant_differences():
    assert corrected_t_test([0.0, 0.0, 0.0], 80, 20) == 1.0
    assert corrected_t_test([0.1, 0.1, 0.1], 80, 20) == 0.0


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
    calls = []
    models = {
        "one": GLVQ(random_state=0),
        "same": GLVQ(random_state=0),
        "three": GMLVQ(n_prototypes=3, random_state=0),
        "impossible": GLVQ(relevance="fc1", solver="lbfgs", random_state=0),
        "other": LogisticRegression(max_iter=1000),
    }
    frame = load_iris(as_frame=True).frame
    found = compare(
        frame, "target", models=models, folds=4, repeats=2, seed=1, others=False,
        progress=lambda *step: calls.append(step),
    )  # fmt: skip
    return found, calls


def test_the_splits_are_those_of_repeated_stratified_folds(compared):
    found, _ = compared
    X, y = load_iris(return_X_y=True)
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=1)
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0))
    np.testing.assert_array_equal(found.scores["one"], cross_val_score(model, X, y.astype(str), cv=folds))
    np.testing.assert_array_equal(found.scores["one"], found.scores["same"])
    assert all(len(scores) == 8 for scores in found.scores.values())


def test_the_ranking_agrees_with_the_scores(compared):
    found, calls = compared
    ranking = found.ranking.set_index("name")
    assert set(ranking.index) == set(found.scores)
    assert ranking["accuracy"].is_monotonic_decreasing
    for name, scores in found.scores.items():
        assert ranking["accuracy"][name] == pytest.approx(scores.mean())
        assert ranking["standard_deviation"][name] == pytest.approx(scores.std(ddof=1))
    assert (ranking["seconds"] > 0).all()
    assert ranking["p_value"].iloc[0] == 1.0
    counts = ranking["n_prototypes"]
    assert (counts["one"], counts["three"]) == (3, 9)
    assert np.isnan(counts["other"])
    assert list(found.failures) == ["impossible"]
    assert "solver" in found.failures["impossible"]
    done = [step[1] for step in calls]
    assert done == sorted(done)
    assert calls[-1][1:] == (5, 5)


def test_few_splits_are_called_few():
    frame = load_iris(as_frame=True).frame
    found = compare(frame, "target", models=["glvq", "grlvq"], folds=2, repeats=1, others=False)
    assert "2 splits are too few to show" in found.verdict
    worse = found.ranking.assign(p_value=[1.0, 1e-6])
    assert replace(found, ranking=worse).verdict == found.verdict  # nobody is called worse by two splits
    alone = compare(frame, "target", models=["glvq"], folds=2, repeats=1, others=False)
    assert alone.verdict == "There is no other model to compare with."


class SlowAtFirst(DummyClassifier):
    """Its first fit takes long, as one that compiles does."""

    fits = 0

    def fit(self, X, y):
        SlowAtFirst.fits += 1
        time.sleep(0.5 if SlowAtFirst.fits == 1 else 0)
        return super().fit(X, y)


def test_the_compilation_in_the_first_fit_does_not_count():
    frame = load_iris(as_frame=True).frame
    found = compare(frame, "target", models={"a": SlowAtFirst()}, folds=3, repeats=1, others=False)
    assert found.ranking["seconds"].iloc[0] < 0.25
