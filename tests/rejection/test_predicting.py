"""What a fitted RejectClassifier predicts, accepts and rejects, and why."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lvq import GLVQ
from lvq.rejection import (
    RejectClassifier,
    certainty,
    local_thresholds,
)
from tests.rejection.populations import QUICK, draw

# -- what it accepts ---------------------------------------------------------------------------------------------------


def test_predict_gives_a_class_for_every_sample(model):
    X, y = draw(500, 1)
    safe = RejectClassifier(model, cv="prefit", min_coverage=0.6).fit(X, y)
    assert np.array_equal(safe.predict(X), model.predict(X))
    accepted = safe.accept(X)
    assert accepted.dtype == bool
    assert 0.6 <= accepted.mean() < 0.7
    assert np.array_equal(accepted, safe.reason(X) == "")
    np.testing.assert_array_equal(safe.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(safe.decision_function(X), model.decision_function(X))


def test_scores(model):
    """`score` is the accuracy of all predictions; accepted accuracy and coverage are separate."""
    X, y = draw(500, 1)
    safe = RejectClassifier(model, cv="prefit", min_coverage=0.6).fit(X, y)
    correct, accepted = safe.predict(X) == y, safe.accept(X)
    assert safe.score(X, y) == correct.mean() == model.score(X, y)
    assert safe.coverage(X) == accepted.mean()
    assert safe.accepted_accuracy(X, y) == correct[accepted].mean() > correct.mean() + 0.05
    weight = np.random.default_rng(0).random(500)
    expected = pytest.approx(np.average(correct[accepted], weights=weight[accepted]))
    assert safe.accepted_accuracy(X, y, weight) == expected
    assert safe.coverage(X, weight) == pytest.approx(np.average(accepted, weights=weight))
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[500, 1\]"):
        safe.accepted_accuracy(X, y[:1])
    for method, arguments in ((safe.accepted_accuracy, (X, y)), (safe.coverage, (X,))):
        with pytest.raises(ValueError, match=r"sample_weight.shape == \(1,\), expected \(500,\)"):
            method(*arguments, weight[:1])


@pytest.mark.parametrize("thresholds", ["optimal", "greedy", "global"])
def test_thresholds_are_those_of_the_array_functions(model, thresholds):
    X, y = draw(500, 1)
    safe = RejectClassifier(model, cv="prefit", thresholds=thresholds, min_accuracy=0.95).fit(X, y)
    cell = model.model_.distances(X).argmin(axis=1)
    relsim, correct = certainty(model, X, "relsim"), model.predict(X) == y
    point = local_thresholds(relsim, correct, cell, method=thresholds).with_accuracy(0.95)
    np.testing.assert_allclose(safe.point_.thresholds, point.thresholds, atol=1e-6)
    assert np.array_equal(safe.accept(X), safe.certainty(X) >= safe.point_.threshold_of(safe.cell(X)))
    assert np.array_equal(safe.accept(X), point.accept(relsim, cell))
    assert safe.accepted_accuracy(X, y) == pytest.approx(point.accuracy)
    assert np.array_equal(safe.cell(X), cell)
    np.testing.assert_array_equal(safe.certainty(X), relsim)


# -- reasons -----------------------------------------------------------------------------------------------------------


def test_ambiguous_or_outlying(model):
    X, y = draw(1000, 1)
    safe = RejectClassifier(model, cv="prefit", measure="combined", min_coverage=0.8).fit(X, y)
    reason = safe.reason(X)
    assert set(reason) == {"", "ambiguous", "outlier"}
    assert abs(np.mean(reason == "") - 0.8) < 0.02
    on_the_border = (model.prototypes_[:1] + model.prototypes_[2:3]) / 2
    assert safe.reason(on_the_border).tolist() == ["ambiguous"]
    plain = RejectClassifier(model, cv="prefit", measure="relsim").fit(X, y)
    assert set(plain.reason(X)) == {"", "ambiguous"}
    alone = RejectClassifier(model, cv="prefit", measure="distance").fit(X, y)
    assert set(alone.reason(X)) == {"", "outlier"}


def test_a_cell_without_samples(model):
    X, y = draw(500, 1)
    known = np.flatnonzero(model.model_.distances(X).argmin(axis=1) != 3)
    safe = RejectClassifier(model, cv="prefit", thresholds="optimal").fit(X[known], y[known])
    assert "cells have fewer than 100 calibration samples" in safe.notes_[0]
    assert safe.reason(model.prototypes_).tolist() == ["", "", "", "unseen cell", "", ""]
    single = RejectClassifier(model, cv="prefit", thresholds="global").fit(X[known], y[known])
    assert set(single.reason(model.prototypes_)) == {""}


def test_a_user_measure_names_its_reason(data):
    def typical(estimator, X):
        return -np.abs(X).max(axis=1)

    typical.reason = "outlier"
    X, y = data
    safe = RejectClassifier(LogisticRegression(), measure=typical, min_accuracy=1.0).fit(X, y)
    assert set(safe.reason(X)) == {"", "outlier"}


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_certainty_that_is_not_finite_is_never_accepted(data, value):
    def measure(estimator, X):
        return np.where(X[:, 0] > 1e3, value, estimator.predict_proba(X).max(axis=1))

    X, y = data
    shifted = X + np.array([1e4, 0, 0, 0])
    for thresholds in ("optimal", "global"):
        safe = RejectClassifier(LogisticRegression(), measure=measure, min_coverage=1.0, thresholds=thresholds)
        safe.fit(X, y)
        assert safe.accept(X).all()
        assert safe.reason(shifted).tolist() == ["ambiguous"] * 600
    with pytest.raises(ValueError, match="Input certainty contains"):
        RejectClassifier(safe.estimator_, measure=measure, cv="prefit").fit(shifted, y)


# -- a label for the rejected ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "reject_label", "kind"),
    [
        (("cat", "dog", "eel"), "unknown species", "U"),
        (("cat", "dog", "eel"), None, "O"),
        ((0, 1, 2), -1, "i"),
        ((0, 1, 2), np.nan, "O"),
        ((0, 1, 2), "?", "O"),
    ],
)
def test_a_label_for_the_rejected(labels, reject_label, kind):
    X, y = draw(300, 1, labels)
    safe = RejectClassifier(GLVQ(**QUICK), min_coverage=0.7).fit(X, y)
    labels, accepted = safe.predict_or_reject(X, reject_label), safe.accept(X)
    assert labels.dtype.kind == kind
    assert np.array_equal(labels[accepted].tolist(), safe.predict(X)[accepted].tolist())
    rejected = labels[~accepted].tolist()
    assert rejected
    assert all(label == reject_label or label != label for label in rejected)


@pytest.mark.parametrize(
    ("labels", "reject_label"),
    [(("cat", "dog", "eel"), "dog"), ((0, 1, 2), 1.0), ((0, 1, 2), [7])],
)
def test_a_label_that_is_a_class(labels, reject_label):
    X, y = draw(100, 1, labels)
    safe = RejectClassifier(GLVQ(**QUICK)).fit(X, y)
    with pytest.raises(ValueError, match="reject_label must be a scalar that is not one of the classes"):
        safe.predict_or_reject(X, reject_label)
