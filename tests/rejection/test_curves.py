"""Accuracy-reject curves: every attainable threshold, exact areas, the 80 % rule."""

import pickle

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.averages import accuracy_at
from lvq import GLVQ
from lvq.rejection import RejectClassifier, accuracy_reject_curve, area_under_curve, chow_scorer, local_thresholds
from lvq.rejection.curves import path_curve
from tests.rejection.populations import QUICK, draw


@pytest.mark.parametrize("levels", [5, 10_000])
def test_every_attainable_threshold(levels):
    rng = np.random.default_rng(levels)
    certainty, correct = rng.integers(0, levels, 60) / levels, rng.random(60) < 0.7
    curve = accuracy_reject_curve(certainty, correct)
    kept = [certainty >= limit for limit in np.unique(certainty)]
    np.testing.assert_allclose(curve.coverage, [k.mean() for k in kept])
    np.testing.assert_allclose(curve.accuracy, [correct[k].mean() for k in kept])


def test_lengths():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        accuracy_reject_curve([0.1, 0.2], [True])


def test_curve_of_a_path_on_other_samples_is_sorted():
    rng = np.random.default_rng(2)
    samples = rng.integers(0, 30, 200) / 30, rng.random(200) < 0.7, rng.integers(0, 5, 200)
    others = rng.integers(0, 30, 40) / 30, rng.random(40) < 0.7, rng.integers(0, 5, 40)
    path = local_thresholds(*samples).evaluate(*others)
    assert np.any(np.diff(path.coverage) >= 0)  # otherwise nothing is tested
    curve = path_curve(path)
    assert np.all(np.diff(curve.coverage) < 0)
    for coverage, accuracy in zip(*curve):
        assert accuracy == pytest.approx(path.accuracy[path.coverage == coverage].mean())


def test_area_is_the_integral():
    rng = np.random.default_rng(4)
    certainty = np.round(rng.random(50), 1)
    curve = accuracy_reject_curve(certainty, rng.random(50) < certainty)
    grid = (np.arange(200_000) + 0.5) / 200_000
    values = accuracy_at(curve, grid)
    values[np.isnan(values)] = curve.accuracy[-1]
    assert area_under_curve(curve) == pytest.approx(values.mean(), abs=1e-8)


# -- a scorer ----------------------------------------------------------------------------------------------------------


def test_chow_through_pipelines_and_searches():
    X, y = draw(300)
    inside = make_pipeline(StandardScaler(), RejectClassifier(GLVQ(**QUICK), min_coverage=0.7)).fit(X, y)
    Z = inside[:-1].transform(X)
    accepted, correct = inside[-1].accept(Z), inside.predict(X) == y
    expected = np.count_nonzero(accepted & ~correct) + 0.25 * np.count_nonzero(~accepted)
    scorer = pickle.loads(pickle.dumps(chow_scorer(cost=0.25)))
    for model in (inside, make_pipeline(FrozenEstimator(inside))):
        assert scorer(model, X, y) == pytest.approx(-expected / len(y))
    grid = {"rejectclassifier__cost_ratio": [0.01, 0.99], "rejectclassifier__min_coverage": [None]}
    cheap, dear = (GridSearchCV(inside, grid, scoring=chow_scorer(cost), cv=3).fit(X, y) for cost in (0.01, 0.99))
    assert cheap.best_params_["rejectclassifier__cost_ratio"] == 0.01
    assert dear.best_params_["rejectclassifier__cost_ratio"] == 0.99
    with pytest.raises(ValueError, match="cost must be between 0 and 1, got 3"):
        chow_scorer(3)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[300, 1"):
        scorer(inside, X, y[:1])
    with pytest.raises(ValueError, match=r"needs a RejectClassifier, or a Pipeline that ends in one, got LogisticRegr"):
        scorer(LogisticRegression().fit(X, y), X, y)
