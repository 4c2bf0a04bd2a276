"""Scorers of classifiers with a reject option, alone, in pipelines and in searches."""

import pickle

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ
from lvq.rejection import RejectClassifier, accepted_accuracy_scorer, chow_scorer, coverage_scorer


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    return rng.normal(size=(300, 4)) + 1.5 * np.eye(3, 4)[y], y


def reject(**target):
    return RejectClassifier(GLVQ(solver="online", max_iter=5, random_state=0), **target)


def test_values(data):
    X, y = data
    model = reject(min_coverage=0.7).fit(X, y)
    accepted, correct = model.accept(X), model.predict(X) == y
    assert coverage_scorer(model, X) == accepted.mean() == model.coverage(X)
    assert accepted_accuracy_scorer(model, X, y) == correct[accepted].mean() == model.accepted_accuracy(X, y)
    expected = np.count_nonzero(accepted & ~correct) + 0.25 * np.count_nonzero(~accepted)
    assert chow_scorer(cost=0.25)(model, X, y) == pytest.approx(-expected / len(y))
    with pytest.raises(ValueError, match="cost must be between 0 and 1, got 3"):
        chow_scorer(3)
    for scorer in (accepted_accuracy_scorer, chow_scorer(0.25)):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[300, 1"):
            scorer(model, X, y[:1])


def test_through_pipelines_and_searches(data):
    X, y = data
    inside = make_pipeline("passthrough", StandardScaler(), reject(min_coverage=0.7)).fit(X, y)
    Z = inside[:-1].transform(X)
    assert coverage_scorer(inside, X) == inside[-1].accept(Z).mean()
    scoring = {"coverage": coverage_scorer, "accuracy": accepted_accuracy_scorer, "chow": chow_scorer(0.3)}
    grid = {"rejectclassifier__min_coverage": [0.5, 0.95], "rejectclassifier__estimator__n_prototypes": [1, 2]}
    search = GridSearchCV(inside, grid, scoring=scoring, refit="chow", cv=3).fit(X, y)
    coverage = search.cv_results_["mean_test_coverage"]
    accuracy = search.cv_results_["mean_test_accuracy"]
    assert np.all(coverage[::2] < coverage[1::2])
    assert np.all(accuracy[::2] > accuracy[1::2])
    assert coverage_scorer(search, X) == coverage_scorer(search.best_estimator_, X)
    nested = make_pipeline(FrozenEstimator(inside))
    assert coverage_scorer(nested, X) == coverage_scorer(inside, X)
    again = pickle.loads(pickle.dumps(chow_scorer(0.3)))
    assert again(search, X, y) == chow_scorer(0.3)(search, X, y)


def test_refused(data):
    X, y = data
    with pytest.raises(ValueError, match=r"needs a RejectClassifier, or a Pipeline that ends in one, got LogisticRegr"):
        coverage_scorer(LogisticRegression().fit(X, y), X)
