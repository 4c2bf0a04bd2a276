"""Cross-validation for the report: clones, scores, relevances with feature names."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, RejectClassifier
from lvq.report import evaluate_folds

X, Y = load_iris(return_X_y=True)


def test_accuracies_equal_those_of_cross_val_score():
    model = make_pipeline(StandardScaler(), GMLVQ(random_state=0, max_iter=10, tol=1e-2))
    folds = evaluate_folds(model, X, Y, cv=3, seed=4)
    expected = cross_val_score(model, X, Y, cv=StratifiedKFold(3, shuffle=True, random_state=4))
    assert [fold.accuracy for fold in folds] == expected.tolist()
    assert not hasattr(model[-1], "prototypes_")


def test_relevances_have_sum_one_and_names():
    (fold, _) = evaluate_folds(GRLVQ(random_state=0), X, Y, cv=2, feature_names=["a", "b", "c", "d"])
    assert fold.features == ("a", "b", "c", "d")
    assert sum(fold.relevances) == pytest.approx(1)
    assert fold.matrix is None


def test_matrices_have_trace_one():
    (fold, _) = evaluate_folds(GMLVQ(random_state=0, max_iter=10, tol=1e-2), X, Y, cv=2)
    assert np.trace(fold.matrix) == pytest.approx(1)
    assert fold.matrix_features == fold.features == tuple(f"feature {k}" for k in range(4))


def test_a_euclidean_metric_has_no_relevances():
    (fold, _) = evaluate_folds(GLVQ(random_state=0), X, Y, cv=2)
    assert fold.relevances == ()


def test_coverage_of_a_model_that_may_reject():
    folds = evaluate_folds(RejectClassifier(GLVQ(random_state=0), min_coverage=0.8), X, Y, cv=3)
    assert all(0 < fold.coverage <= 1 and fold.accepted_accuracy is not None for fold in folds)


def test_a_fold_too_small_for_the_guarantee_has_no_coverage():
    folds = evaluate_folds(RejectClassifier(GLVQ(random_state=0), max_error=0.01), X, Y, cv=3)
    assert [fold.coverage for fold in folds] == [None] * 3
    assert min(fold.accuracy for fold in folds) > 0.8


def test_a_class_smaller_than_the_number_of_folds():
    rows = np.r_[0:50, 50:100, 100:102]
    assert len(evaluate_folds(GLVQ(random_state=0), X[rows], Y[rows], cv=5)) == 5


def test_fewer_folds_where_no_class_has_enough_samples():
    rows = np.r_[0:3, 50:53, 100:103]
    assert len(evaluate_folds(GLVQ(random_state=0), X[rows], Y[rows], cv=5)) == 3


def test_a_splitter_and_progress():
    seen = []
    evaluate_folds(
        GLVQ(random_state=0), X, Y, cv=KFold(2, shuffle=True, random_state=0), progress=lambda *at: seen.append(at)
    )
    assert seen == [(1, 2), (2, 2)]


def test_errors():
    with pytest.raises(
        ValueError, match="cv of evaluate_folds must be an integer of 2 or more, a splitter or a list of folds, got 1"
    ):
        evaluate_folds(GLVQ(), X, Y, cv=1)
    with pytest.raises(ValueError, match="needs a class with at least 2 samples"):
        evaluate_folds(GLVQ(), X[:3], [0, 1, 2])


def test_folds_with_fitted_models_are_not_fitted_again():
    model = GLVQ(random_state=0)
    splits = list(StratifiedKFold(3).split(X, Y))
    expected = evaluate_folds(model, X, Y, cv=splits)
    fitted = [(train, test, GLVQ(random_state=0).fit(X[train], Y[train])) for train, test in splits]
    never = GLVQ(max_iter=-1)  # its fit would raise
    found = evaluate_folds(never, X, Y, cv=fitted)
    assert [fold.accuracy for fold in found] == [fold.accuracy for fold in expected]
