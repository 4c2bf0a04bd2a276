"""Metrics by class, and decisions by other prices."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn import metrics as sk

from lvq import GLVQ, CostClassifier, LVQClassifier
from lvq.report import classification_metrics, summarize
from lvq.report.decisions import FACTORS, IN_USE, decision_steps
from lvq.report.metrics import roc_auc


def predictions(seed=0, n=200, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    table = rng.dirichlet(np.ones(n_classes), n) + 0.7 * np.eye(n_classes)[y]
    table /= table.sum(axis=1, keepdims=True)
    return y, table.argmax(axis=1), table


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_metrics_are_those_of_scikit_learn(n_classes):
    y, predicted, table = predictions(n_classes=n_classes)
    found = classification_metrics(y, predicted, np.arange(n_classes), table)
    assert found["accuracy"]["value"] == pytest.approx(sk.accuracy_score(y, predicted))
    assert found["balanced_accuracy"] == pytest.approx(sk.balanced_accuracy_score(y, predicted))
    assert found["log_loss"] == pytest.approx(sk.log_loss(y, table))
    area = sk.roc_auc_score(y, table[:, 1]) if n_classes == 2 else sk.roc_auc_score(y, table, multi_class="ovr")
    assert found["auc"]["value"] == pytest.approx(area)
    for k, row in enumerate(found["by_class"]):
        assert row["sensitivity"]["value"] == pytest.approx(sk.recall_score(y == k, predicted == k))
        assert row["specificity"]["value"] == pytest.approx(sk.recall_score(y != k, predicted != k))
        assert row["ppv"]["value"] == pytest.approx(sk.precision_score(y == k, predicted == k))
        assert row["npv"]["value"] == pytest.approx(sk.precision_score(y != k, predicted != k))
        for metric in ("sensitivity", "specificity", "ppv", "npv", "auc"):
            low, high = row[metric]["interval"]
            assert 0 <= low <= row[metric]["value"] <= high <= 1


@pytest.mark.parametrize("area", [0.76, 0.97, 0.995])
@pytest.mark.parametrize(("n_negative", "n_positive"), [(40, 40), (10, 300), (300, 10), (20, 5)])
def test_intervals_of_the_auc_cover_it(area, n_negative, n_positive):
    """The area of normal scores is known from their distance; 95 % intervals miss it in at most 5 % of the draws."""
    rng, missed, n_draws = np.random.default_rng(0), 0, 200
    y = np.repeat([False, True], [n_negative, n_positive])
    for _ in range(n_draws):
        low, high = roc_auc(y, rng.normal(np.sqrt(2) * norm.ppf(area) * y))["interval"]
        missed += not low <= area <= high
    assert missed < n_draws * 0.05 + 4 * np.sqrt(n_draws * 0.05 * 0.95)


@pytest.mark.parametrize(("n_negative", "n_positive"), [(1, 1), (5, 20), (490, 10), (400, 800)])
def test_an_auc_of_one_or_zero_has_an_interval(n_negative, n_positive):
    """The end is where a perfect order of all pairs is z standard deviations from the area."""
    y = np.repeat([False, True], [n_negative, n_positive])
    low, high = roc_auc(y, np.arange(len(y), dtype=float))["interval"]
    assert high == 1
    n = len(y) / 2 - 1
    variance = low * (1 - low) * (1 + n * ((1 - low) / (2 - low) + low / (1 + low))) / (n_negative * n_positive)
    assert 1 - low == pytest.approx(1.959964 * np.sqrt(variance), rel=1e-6)
    assert roc_auc(y, -np.arange(len(y), dtype=float))["interval"] == pytest.approx([0, 1 - low])


def test_classes_without_samples_or_predictions():
    found = classification_metrics(["a", "a"], ["a", "a"], ["a", "b"])
    assert found["by_class"][1]["sensitivity"]["value"] is None
    assert found["by_class"][1]["ppv"]["value"] is None
    assert found["balanced_accuracy"] == 1
    assert found["auc"] is None


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_higher_price_of_missing_a_class_finds_more_of_it(n_classes):
    y, predicted, table = predictions(n_classes=n_classes)
    steps = decision_steps(table, y, predicted, n_classes)
    for place, moved in enumerate(steps["classes"]):
        own = [row[moved] for row in steps["correct"][place]]
        assert own == sorted(own)
        assert own[0] < own[IN_USE] < own[-1]
        assert steps["correct"][place][IN_USE] == np.bincount(y[y == predicted], minlength=n_classes).tolist()
        assert all(sum(row) == len(y) for row in steps["called"][place])


def test_many_classes_have_coarser_steps_and_no_slider_above_fifty():
    y, predicted, table = predictions(n_classes=21)
    steps = decision_steps(table, y, predicted, 21)
    assert steps["factors"] == [2.0**k for k in range(-6, 7)]
    assert steps["correct"][3][steps["in_use"]] == np.bincount(y[y == predicted], minlength=21).tolist()
    assert decision_steps(table, y, predicted, 51) is None


def test_thresholds_of_two_classes():
    y, predicted, table = predictions(n_classes=2)
    steps = decision_steps(table, y, predicted, 2)
    (positive,) = steps["classes"]
    for threshold, called in zip(steps["thresholds"], steps["called"][0]):
        assert called[positive] == pytest.approx((table[:, positive] > threshold).sum(), abs=1)
    assert len(FACTORS) == len(steps["thresholds"])
    assert steps["thresholds"][IN_USE] == 0.5


def test_the_summary_has_them_with_prices():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(1.5 * y[:, None], size=(120, 3))
    model = CostClassifier(LVQClassifier(random_state=0), {"1:0": 4}).fit(X[:80], y[:80])
    found = summarize(model, X[80:], y[80:])["metrics"]
    assert found["prices"] == [[0, 1], [4, 0]]
    assert found["decisions"]["thresholds"][IN_USE] == pytest.approx(
        0.2 if found["decisions"]["classes"] == [1] else 0.8
    )
    assert min(found["decisions"]["price"][0]) <= found["decisions"]["price"][0][IN_USE]
    paid = [model.costs_[true, predicted] for true, predicted in zip(y[80:], model.predict(X[80:]))]
    assert found["price"]["mean"] == pytest.approx(sum(paid) / 40)
    assert found["price"]["single_class"] == min(np.mean(y[80:] == 0), 4 * np.mean(y[80:] == 1))


def test_a_model_without_probabilities_has_metrics_by_class():
    y = np.arange(60) % 3
    X = np.random.default_rng(0).normal(2.0 * y[:, None], size=(60, 2))
    found = summarize(GLVQ(random_state=0).fit(X[:30], y[:30]), X[30:], y[30:])["metrics"]
    assert len(found["by_class"]) == 3
