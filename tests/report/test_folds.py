"""Cross-validation for the report: fresh copies, honest scores, relevances under their names."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, RejectClassifier
from lvq.report import cross_validate

X, Y = load_iris(return_X_y=True)


def test_the_accuracies_are_scikit_learn_s():
    model = make_pipeline(StandardScaler(), GMLVQ(random_state=0, max_iter=10, tol=1e-2))
    folds = cross_validate(model, X, Y, cv=3, seed=4)
    expected = cross_val_score(model, X, Y, cv=StratifiedKFold(3, shuffle=True, random_state=4))
    assert [fold.accuracy for fold in folds] == expected.tolist()
    assert not hasattr(model[-1], "prototypes_")


def test_relevances_have_sum_one_and_names():
    (fold, _) = cross_validate(GRLVQ(random_state=0), X, Y, cv=2, names=["a", "b", "c", "d"])
    assert fold.features == ("a", "b", "c", "d")
    assert sum(fold.relevances) == pytest.approx(1)
    assert fold.relations is None


def test_matrices_have_trace_one():
    (fold, _) = cross_validate(GMLVQ(random_state=0, max_iter=10, tol=1e-2), X, Y, cv=2)
    assert np.trace(fold.relations) == pytest.approx(1)
    np.testing.assert_allclose(np.diag(fold.relations), fold.relevances)


def test_a_plain_metric_has_no_relevances():
    (fold, _) = cross_validate(GLVQ(random_state=0), X, Y, cv=2)
    assert fold.relevances == ()


def test_coverage_of_a_model_that_may_reject():
    folds = cross_validate(RejectClassifier(GLVQ(random_state=0), min_coverage=0.8), X, Y, cv=3)
    assert all(0 < fold.coverage <= 1 and fold.accepted_accuracy is not None for fold in folds)


def test_a_promise_that_a_fold_is_too_small_for():
    folds = cross_validate(RejectClassifier(GLVQ(random_state=0), max_error=0.01), X, Y, cv=3)
    assert [fold.coverage for fold in folds] == [None] * 3
    assert min(fold.accuracy for fold in folds) > 0.8


def test_a_class_smaller_than_the_number_of_folds():
    rows = np.r_[0:50, 50:100, 100:102]
    assert len(cross_validate(GLVQ(random_state=0), X[rows], Y[rows], cv=5)) == 5


def test_fewer_folds_where_no_class_has_enough():
    rows = np.r_[0:3, 50:53, 100:103]
    assert len(cross_validate(GLVQ(random_state=0), X[rows], Y[rows], cv=5)) == 3


def test_a_splitter_and_progress():
    seen = []
    cross_validate(
        GLVQ(random_state=0), X, Y, cv=KFold(2, shuffle=True, random_state=0), progress=lambda *at: seen.append(at)
    )
    assert seen == [(1, 2), (2, 2)]


def test_refusals():
    with pytest.raises(ValueError, match="cv of cross_validate must be an integer of 2 or more, or a splitter, got 1"):
        cross_validate(GLVQ(), X, Y, cv=1)
    with pytest.raises(ValueError, match="needs a class with at least 2 samples"):
        cross_validate(GLVQ(), X[:3], [0, 1, 2])
