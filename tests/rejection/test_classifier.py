"""RejectClassifier: what it accepts and why, its calibration samples, its fitted state, and scikit-learn's tools."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from lvq import GLVQ, GMLVQ, LGMLVQ, RSLVQ
from lvq.model.prototype_model import PrototypeModel
from lvq.rejection import (
    Combination,
    GuaranteeError,
    RejectClassifier,
    accepted_accuracy_scorer,
    accuracy_reject_curve,
    area_under_curve,
    certainty,
    local_thresholds,
)
from lvq.rejection.measures import Predictions
from lvq.rejection.point import CertifiedPoint

QUICK = {"solver": "online", "max_iter": 5, "random_state": 0}

CHECKED = [
    RejectClassifier(LogisticRegression(), cost_ratio=0.3),
    RejectClassifier(GLVQ(), measure="combined", cv=3, thresholds="hull"),
]


# as a list: from scikit-learn 1.6 the checks come as a generator, which pytest 9 refuses
ALL_CHECKS = parametrize_with_checks(CHECKED)


@pytest.mark.parametrize(ALL_CHECKS.args[0], list(ALL_CHECKS.args[1]), **ALL_CHECKS.kwargs)
def test_scikit_learn(estimator, check):
    check(estimator)


def draw(n_samples, seed=0, labels=("cat", "dog", "eel"), spread=1.0):
    """Three overlapping classes with names."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n_samples)
    return spread * rng.normal(size=(n_samples, 4)) + 2.2 * np.eye(3, 4)[code], np.array(labels)[code]


@pytest.fixture(scope="module")
def data():
    return draw(600)


@pytest.fixture(scope="module")
def model(data):
    return GLVQ(n_prototypes=2, **QUICK).fit(*data)


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
    assert safe.accepted_accuracy(X, y, weight[:, None]) == expected
    assert safe.coverage(X, weight) == pytest.approx(np.average(accepted, weights=weight))
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[500, 1, 1\]"):
        safe.accepted_accuracy(X, y[:1])
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[500, 500, 1\]"):
        safe.accepted_accuracy(X, y, weight[:1])
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[500, 1\]"):
        safe.coverage(X, weight[:1])


@pytest.mark.parametrize("thresholds", ["optimal", "hull", "greedy", "global"])
def test_thresholds_are_those_of_the_array_functions(model, thresholds):
    X, y = draw(500, 1)
    safe = RejectClassifier(model, cv="prefit", thresholds=thresholds, min_accuracy=0.95, min_cell_size=20).fit(X, y)
    cell = model.model_.distances(X).argmin(axis=1)
    relsim, correct = certainty(model, X, "relsim"), model.predict(X) == y
    point = local_thresholds(relsim, correct, cell, method=thresholds, min_cell_size=20).pick(min_accuracy=0.95)
    assert np.array_equal(safe.point_.thresholds, point.thresholds)
    assert np.array_equal(safe.accept(X), point.accept(relsim, cell))
    assert safe.accepted_accuracy(X, y) == pytest.approx(point.accuracy)
    assert np.array_equal(safe.cell(X), cell)
    np.testing.assert_array_equal(safe.certainty(X), relsim)


@pytest.mark.parametrize("target", [{"min_coverage": 0.75}, {"min_accuracy": 0.9}, {"cost_ratio": 0.3}, {}])
def test_targets(model, target):
    X, y = draw(500, 1)
    safe = RejectClassifier(model, cv="prefit", **target).fit(X, y)
    assert safe.point_.index == safe.path_.pick(**(target or {"min_coverage": 0.9})).index


def test_cells(model):
    X, y = draw(500, 1)
    by_class = RejectClassifier(model, cv="prefit", cells="class").fit(X, y)
    assert set(by_class.point_.cells) == {"cat", "dog", "eel"}
    own = RejectClassifier(model, cv="prefit", cells=lambda estimator, Z: np.sign(Z[:, 0]), min_cell_size=1).fit(X, y)
    assert own.point_.cells.tolist() == [-1, 1]
    other = RejectClassifier(LogisticRegression(), min_cell_size=1).fit(X, y)
    assert set(other.point_.cells) == {"cat", "dog", "eel"}
    with pytest.raises(ValueError, match="need a model of this library"):
        RejectClassifier(LogisticRegression(), cells="prototype").fit(X, y)


# -- reasons -----------------------------------------------------------------------------------------------------------


def test_ambiguous_or_outlying(model):
    X, y = draw(1000, 1)
    safe = RejectClassifier(model, cv="prefit", measure="combined", min_coverage=0.8).fit(X, y)
    reason = safe.reason(X)
    assert set(reason) == {"", "ambiguous", "outlier"}
    assert 0.002 < np.mean(reason == "outlier") <= 0.01
    assert 0.8 <= np.mean(reason == "") < 0.82  # outliers count as rejected
    far = X + 100 * (X - X.mean(axis=0))
    assert set(safe.reason(far)) == {"outlier"}
    on_the_border = (model.prototypes_[:1] + model.prototypes_[2:3]) / 2
    assert safe.reason(on_the_border).tolist() == ["ambiguous"]
    assert set(safe.reason(model.prototypes_)) == {""}
    plain = RejectClassifier(model, cv="prefit", measure="relsim").fit(X, y)
    assert set(plain.reason(X)) == {"", "ambiguous"}
    alone = RejectClassifier(model, cv="prefit", measure="distance").fit(X, y)
    assert set(alone.reason(X)) == {"", "outlier"}


def test_outlier_limits_belong_to_cells():
    wide = GLVQ(init=(np.array([[0.0], [100.0]]), [0, 1]), **{**QUICK, "learning_rate": 0})
    rng = np.random.default_rng(0)
    X = np.concatenate((rng.normal(size=(200, 1)), 100 + 10 * rng.normal(size=(200, 1)))) @ np.ones((1, 1))
    y = np.repeat([0, 1], 200)
    measure = Combination(outlier_fraction=0.0)
    safe = RejectClassifier(wide.fit(X, y), cv="prefit", measure=measure).fit(X, y)
    assert safe.accept(X).all()
    assert safe.reason([[-8.0], [92.0]]).tolist() == ["outlier", ""]
    pooled = RejectClassifier(wide, cv="prefit", measure=measure, min_cell_size=201).fit(X, y)
    assert pooled.reason([[-8.0], [92.0]]).tolist() == ["", ""]


def test_a_cell_without_samples(model):
    X, y = draw(500, 1)
    known = np.flatnonzero(model.model_.distances(X).argmin(axis=1) != 3)
    safe = RejectClassifier(model, cv="prefit").fit(X[known], y[known])
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
    both = RejectClassifier(LogisticRegression(), measure=Combination("probability", typical)).fit(X, y)
    assert both.reason(np.full((1, 4), 1e3)).tolist() == ["outlier"]


def test_an_outlier_measure_must_be_finite(data):
    """NaN is refused in `fit`, and rejected as an outlier afterwards."""

    def typical(estimator, X):
        largest = np.abs(X).max(axis=1)
        return np.where(largest > limit, np.nan, -largest)

    X, y = data
    measure, limit = Combination("probability", typical), 2.0
    n_bad = np.count_nonzero(np.abs(X).max(axis=1) > limit)
    assert 0 < n_bad < 600
    with pytest.raises(ValueError, match=f"outlier measure of RejectClassifier must be finite, got {n_bad} NaN or inf"):
        RejectClassifier(LogisticRegression().fit(X, y), cv="prefit", measure=measure).fit(X, y)
    limit = 1e5
    safe = RejectClassifier(LogisticRegression(), measure=measure).fit(X, y)
    assert safe.reason([[1e4, 0, 0, 0], [1e6, 0, 0, 0]]).tolist() == ["outlier", "outlier"]
    assert safe.accept(X).any()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
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
    with pytest.raises(ValueError, match="certainty must be finite, got 600 NaN or infinite of 600"):
        RejectClassifier(safe.estimator_, measure=measure, cv="prefit").fit(shifted, y)


# -- a label for the rejected ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "reject_label", "kind"),
    [
        (("cat", "dog", "eel"), "unknown species", "U"),
        (("cat", "dog", "eel"), None, "O"),
        (("cat", "dog", "eel"), -1, "O"),
        ((0, 1, 2), -1, "i"),
        ((0, 1, 2), np.nan, "f"),
        ((0, 1, 2), None, "O"),
        ((0, 1, 2), "?", "O"),
        ((2**60, 2**60 + 1, 2**60 + 2), np.nan, "O"),
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
    [(("cat", "dog", "eel"), "dog"), ((0, 1, 2), 1), ((0, 1, 2), 1.0), ((0, 1, 2), True), ((0, 1, 2), [7])],
)
def test_a_label_that_is_a_class(labels, reject_label):
    X, y = draw(100, 1, labels)
    safe = RejectClassifier(GLVQ(**QUICK)).fit(X, y)
    with pytest.raises(ValueError, match="reject_label must be a scalar that is not a class, got"):
        safe.predict_or_reject(X, reject_label)


# -- where calibration samples come from -------------------------------------------------------------------------------


def test_split(data):
    X, y = data
    safe = RejectClassifier(GLVQ(**QUICK), calibration_size=0.4).fit(X, y)
    assert safe.path_.n_samples == 240
    assert not hasattr(safe.estimator, "prototypes_")
    counts = [np.count_nonzero(y == label) for label in safe.classes_]
    assert safe.path_.n_samples == sum(round(0.4 * count) for count in counts)
    again = RejectClassifier(GLVQ(**QUICK), calibration_size=0.4).fit(X, y)
    assert np.array_equal(again.point_.thresholds, safe.point_.thresholds)
    other = RejectClassifier(GLVQ(**QUICK), calibration_size=0.4, random_state=1).fit(X, y)
    assert not np.array_equal(other.estimator_.prototypes_, safe.estimator_.prototypes_)


def test_rare_classes_are_used_for_training():
    X, y = draw(100, 1)
    y[0] = "yak"
    assert "yak" in RejectClassifier(GLVQ(**QUICK)).fit(X, y).classes_


@pytest.mark.parametrize("calibration_size", [0.3, 0.99])
def test_every_class_is_trained_on(calibration_size):
    X, y = draw(100, 1)
    y[:6] = ["ox", "ox", "rat", "rat", "rat", "yak"]
    safe = RejectClassifier(GLVQ(**QUICK), calibration_size=calibration_size).fit(X, y)
    assert safe.classes_.tolist() == ["cat", "dog", "eel", "ox", "rat", "yak"]


@pytest.mark.parametrize("how", ["prefit", "frozen"])
def test_prefit(model, how):
    X, y = draw(300, 1)
    before = model.prototypes_.copy()
    safe = RejectClassifier(FrozenEstimator(model)) if how == "frozen" else RejectClassifier(model, cv="prefit")
    safe.fit(X, y)
    assert safe.path_.n_samples == 300
    assert np.array_equal(model.prototypes_, before)
    assert set(safe.point_.cells) == set(range(6))  # prototypes are found inside the frozen estimator
    with pytest.raises(NotFittedError, match="not fitted yet"):
        RejectClassifier(GLVQ(), cv="prefit").fit(X, y)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        RejectClassifier(model, cv="prefit").accept(X)


def test_prefit_with_other_labels(model):
    X, y = draw(300, 1)
    code = np.searchsorted(model.classes_, y)
    for estimator in (model, FrozenEstimator(model)):
        with pytest.raises(ValueError, match=r"y must contain classes of the fitted .*, \['cat', .* got \[0, 1, 2\]"):
            RejectClassifier(estimator, cv="prefit").fit(X, code)
    some = np.where(y == "eel", "fox", y)  # a class it does not know is an error like any other
    assert RejectClassifier(model, cv="prefit").fit(X, some).path_.n_samples == 300


def test_cross_fitting_of_any_classifier(data):
    X, y = data
    splitter = StratifiedKFold(4, shuffle=True, random_state=0)
    safe = RejectClassifier(LogisticRegression(), cv=splitter, min_accuracy=0.9).fit(X, y)
    table = cross_val_predict(LogisticRegression(), X, y, cv=splitter, method="predict_proba")
    predicted = LogisticRegression().fit(X, y).classes_[table.argmax(axis=1)]
    path = local_thresholds(table.max(axis=1), predicted == y, predicted, min_cell_size=10)
    assert np.array_equal(safe.point_.thresholds, path.pick(min_accuracy=0.9).thresholds)
    np.testing.assert_allclose(safe.estimator_.coef_, LogisticRegression().fit(X, y).coef_)


def test_cross_fitted_cells_are_those_of_the_predicting_model(data):
    X, y = data
    safe = RejectClassifier(GLVQ(n_prototypes=2, **QUICK), cv=5, min_cell_size=1).fit(X, y)
    assert safe.path_.n_samples == 600
    assert set(safe.point_.cells) <= set(range(6))
    predicted = cross_val_predict(GLVQ(n_prototypes=2, **QUICK), X, y, cv=5)
    assert safe.path_.n_correct == np.count_nonzero(predicted == y)
    D = safe.estimator_.model_.distances(X)
    own = safe.estimator_.prototype_labels_ == predicted[:, None]
    cell = np.where(own, D, np.inf).argmin(axis=1)
    sizes = np.bincount(cell, minlength=6)
    assert safe.point_.cells.tolist() == np.flatnonzero(sizes).tolist()
    assert np.array_equal(safe.estimator_.prototypes_, GLVQ(n_prototypes=2, **QUICK).fit(X, y).prototypes_)
    for cells in ("class", lambda estimator, Z: np.sign(Z[:, 0])):
        assert RejectClassifier(GLVQ(**QUICK), cv=3, cells=cells).fit(X, y).path_.n_samples == 600


def test_thresholds_from_training_samples_overestimate_accuracy():
    """Why calibration samples are not training samples: a forest is correct on all of these."""
    X, y = draw(300, 2)
    forest = RandomForestClassifier(50, random_state=0)
    inside = RejectClassifier(forest.fit(X, y), cv="prefit", min_accuracy=0.95).fit(X, y)
    outside = RejectClassifier(forest, cv=5, min_accuracy=0.95).fit(X, y)
    X_test, y_test = draw(3000, 3)
    assert inside.accept(X_test).all()
    assert inside.accepted_accuracy(X_test, y_test) < 0.9
    assert outside.accepted_accuracy(X_test, y_test) > 0.93


# -- guarantees --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [{"cv": "prefit"}, {"cv": None, "calibration_size": 0.5}, {"cv": 3}])
def test_certified(data, source):
    X, y = draw(3000, 4)
    estimator = GLVQ(n_prototypes=2, **QUICK)
    if source["cv"] == "prefit":
        estimator.fit(*data)
    safe = RejectClassifier(estimator, max_error=0.1, **source).fit(X, y)
    assert isinstance(safe.point_, CertifiedPoint)
    tested = {"prefit": 2250, None: 1125, 3: 900}[source["cv"]]
    assert safe.point_.n_testing == tested
    X_test, y_test = draw(20_000, 5)
    assert safe.accepted_accuracy(X_test, y_test) > 0.89
    assert safe.coverage(X_test) > 0.5


def test_guarantee_holds_by_simulation(data):
    """150 calibration sets of one population; violations by a large test set."""
    model = GLVQ(**QUICK).fit(*data)
    X_test, y_test = draw(20_000, 6)
    predictions = Predictions(model, X_test)
    errors = predictions.predicted != y_test
    for measure, correction in (("combined", "fixed_sequence"), ("relsim", "bonferroni")):
        violated = certified = 0
        for seed in range(150):
            safe = RejectClassifier(
                FrozenEstimator(model),
                measure=measure,
                max_error=0.05,
                confidence=0.8,
                correction=correction,
                thresholds="hull",
                on_failure="reject",
            ).fit(*draw(400, 1000 + seed))
            if safe.point_ is not None:
                certified += 1
                violated += errors[safe.reason_for(predictions) == ""].mean() > 0.05
        assert certified > 75
        assert violated <= 150 * 0.2 + 3 * np.sqrt(150 * 0.2 * 0.8)


def test_per_class():
    X, y = draw(6000, 7)
    safe = RejectClassifier(GLVQ(**QUICK), max_error=0.1, per_class=True, calibration_size=0.5).fit(X, y)
    assert set(safe.point_) == {"cat", "dog", "eel"} == set(safe.path_)
    X_test, y_test = draw(20_000, 8)
    labels, accepted = safe.predict(X_test), safe.accept(X_test)
    for label, point in safe.point_.items():
        assert point.confidence == pytest.approx(1 - 0.05 / 3)
        assert np.mean(y_test[accepted & (labels == label)] != label) < 0.11
        assert np.mean(accepted[labels == label]) > 0.3


@pytest.mark.parametrize("seed", range(3))
def test_advice_for_a_rare_class_counts_all_samples(model, seed):
    """The rare class is predicted for one in a hundred samples, so many are needed to have enough of it."""
    X, y = draw(3000, 20 + seed, spread=0.4)
    kept = np.flatnonzero((y != "eel") | (np.cumsum(y == "eel") <= 20))
    with pytest.raises(
        GuaranteeError, match=r"class 'eel' of 3: .* needs at least 80 .* give about \d+ samples in all \(0.0\d+ of"
    ) as caught:
        RejectClassifier(model, cv="prefit", max_error=0.05, per_class=True).fit(X[kept], y[kept])
    assert caught.value.reason == "too_few_samples"
    rare = np.mean(model.predict(X[kept]) == "eel")
    assert 0.5 < caught.value.samples_needed * 0.75 * rare / 80 < 2
    assert caught.value.samples_needed > len(kept)


def test_classes_without_a_guarantee():
    X, y = draw(2000, 9)
    y[(y == "eel") & (np.arange(2000) % 2 == 0)] = "fox"  # at random
    target = {"max_error": 0.15, "per_class": True, "calibration_size": 0.5}
    safe = RejectClassifier(GLVQ(**QUICK), on_failure="reject", **target).fit(X, y)
    assert safe.point_["eel"] is None
    labels, reason = safe.predict(X), safe.reason(X)
    assert set(reason[labels == "eel"]) == {"uncertified"}
    assert "" in set(reason[labels == "cat"])
    with pytest.raises(GuaranteeError, match=r"class '(eel|fox)' of 4: max_error=0.15 with confidence=0.9875 is not"):
        RejectClassifier(GLVQ(**QUICK), **target).fit(X, y)


def test_a_class_without_samples_for_the_path(model):
    X, y = draw(400, 10)
    few = np.flatnonzero((y != "eel") | (np.cumsum(y == "eel") <= 1))
    target = {"cv": "prefit", "max_error": 0.2, "per_class": True, "confidence": 0.8}
    only = few[(model.predict(X[few]) != "eel") | (np.cumsum(model.predict(X[few]) == "eel") <= 1)]
    safe = RejectClassifier(model, on_failure="reject", **target).fit(X[only], y[only])
    assert safe.point_.get("eel") is None
    assert set(safe.reason(X)[model.predict(X) == "eel"]) == {"uncertified"}


def test_guarantees_that_are_not_achievable(data):
    X, y = data
    with pytest.raises(
        GuaranteeError, match=r"needs at least 299 .* 135 of 135 testing .* give about 1329 samples"
    ) as e:
        RejectClassifier(GLVQ(**QUICK), max_error=0.01).fit(X, y)
    assert (e.value.reason, e.value.samples_needed) == ("too_few_samples", 1329)
    X, y = draw(4000, 11)
    with pytest.raises(
        GuaranteeError,
        match=r"could not be shown .* give about \d+ samples in all \(0.225 of them are used for",
    ) as e:
        RejectClassifier(GLVQ(**QUICK), max_error=0.01).fit(X, y)
    assert e.value.samples_needed > 1400
    y = np.random.default_rng(0).permutation(y)
    with pytest.raises(GuaranteeError, match=r"is not achievable: .* no number of samples is enough") as e:
        RejectClassifier(GLVQ(**QUICK), max_error=0.1).fit(X, y)
    assert (e.value.reason, e.value.samples_needed) == ("error_rate", None)
    nothing = RejectClassifier(GLVQ(**QUICK), max_error=0.1, on_failure="reject").fit(X, y)
    assert nothing.point_ is None
    assert set(nothing.reason(X)) == {"uncertified"}
    assert np.isnan(nothing.accepted_accuracy(X, y))
    assert nothing.coverage(X) == 0


@pytest.mark.parametrize("max_error", [1e-20, 1e-320])
def test_a_tiny_error_rate_is_not_achievable(data, max_error):
    with pytest.raises(GuaranteeError, match=r"needs at least \S+e\+\d+ accepted testing samples even without"):
        RejectClassifier(GLVQ(**QUICK), max_error=max_error).fit(*data)
    safe = RejectClassifier(GLVQ(**QUICK), max_error=max_error, on_failure="reject").fit(*data)
    assert safe.coverage(data[0]) == 0


# -- fitted state ------------------------------------------------------------------------------------------------------


class Interrupted(BaseException):
    """Like KeyboardInterrupt, not an Exception."""


@pytest.mark.parametrize("count", range(6))
@pytest.mark.parametrize("cv", [None, 3])
def test_an_interrupted_fit_changes_nothing(data, cv, count):
    """The measure is called for each fold, and the cells for each fold and for the predicting model."""
    calls = []

    def interrupting(function):
        def called(estimator, X):
            calls.append(1)
            if len(calls) > limit:
                raise Interrupted
            return function(estimator, X)

        return called

    X, y = data
    frame, limit = pd.DataFrame(X, columns=list("abcd")), np.inf
    safe = RejectClassifier(
        GLVQ(**QUICK),
        measure=interrupting(lambda estimator, Z: estimator.predict_proba(Z).max(axis=1)),
        cells=interrupting(lambda estimator, Z: np.asarray(Z)[:, 0] > 0),
        cv=cv,
    ).fit(frame, y)
    before, reason = dict(vars(safe)), safe.reason(frame)
    calls.clear()
    limit = count if cv is not None else min(count, 1)
    with pytest.raises(Interrupted):
        safe.fit(X[::2], np.where(y == "cat", "yak", y)[::2])
    assert vars(safe).keys() == before.keys()
    assert all(vars(safe)[name] is before[name] for name in before)
    limit = np.inf
    assert np.array_equal(safe.reason(frame), reason)
    assert not hasattr(safe.fit(X, y), "feature_names_in_")


def test_a_failed_fit_changes_nothing(data):
    X, y = data
    safe = RejectClassifier(GLVQ(**QUICK), cells=lambda estimator, Z: [("half", int(z > 0)) for z in Z[:, 0]]).fit(X, y)
    before = safe.reason(X)
    assert set(before) == {"", "ambiguous"}
    Z, t = draw(2000)
    with pytest.raises(GuaranteeError, match="is not achievable"):
        safe.set_params(max_error=0.05).fit(Z, np.random.default_rng(0).permutation(t))
    assert np.array_equal(safe.reason(X), before)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        clone(safe).accept(X)


def outputs(safe, X, y):
    methods = ("predict", "predict_proba", "decision_function", "reason", "accept", "certainty", "cell")
    values = [getattr(safe, name)(X).tolist() for name in methods]
    return [*values, safe.score(X, y), safe.coverage(X), safe.accepted_accuracy(X, y)]


def test_parameters_change_nothing_until_the_next_fit(data):
    X, y = draw(1500, 3)
    safe = RejectClassifier(GLVQ(n_prototypes=2, **QUICK), measure="combined", max_error=0.1, cv=3).fit(X, y)
    before = outputs(safe, X, y)
    changed = {
        "measure": "distance",
        "thresholds": "global",
        "cells": "class",
        "min_cell_size": 1,
        "min_coverage": 0.1,
        "min_accuracy": 0.99,
        "cost_ratio": 0.0,
        "max_error": None,
        "confidence": 0.5,
        "per_class": True,
        "correction": "bonferroni",
        "on_failure": "reject",
        "cv": "prefit",
        "calibration_size": 0.9,
        "random_state": 7,
        "estimator__n_prototypes": 1,
        "estimator__slope": 3,
        "estimator": RidgeClassifier(),
    }
    assert {name for name in changed if "__" not in name} == set(safe.get_params(deep=False))
    for name, value in changed.items():
        safe.set_params(**{name: value})
        assert outputs(safe, X, y) == before, name


@pytest.mark.parametrize("frozen", [False, True])
def test_refitting_a_prefit_estimator_changes_nothing(data, frozen):
    """The guarantee holds for the estimator as it was given, so a copy of it predicts."""
    X, y = draw(1500, 3)
    model = GLVQ(n_prototypes=2, **QUICK).fit(*data)
    safe = RejectClassifier(FrozenEstimator(model) if frozen else model, cv="prefit", max_error=0.1).fit(X, y)
    before = outputs(safe, X, y)
    model.fit(X[:30], np.random.default_rng(0).permutation(y[:30]))
    assert not np.array_equal(model.predict(X), safe.predict(X))
    assert outputs(safe, X, y) == before
    assert safe.estimator is not safe.estimator_


def test_one_table_of_distances_for_prediction_and_reason(model, monkeypatch):
    X, y = draw(500, 1)
    safe = RejectClassifier(model, cv="prefit", measure="combined").fit(X, y)
    expected, calls, original = safe.reason(X), [], PrototypeModel.distances
    monkeypatch.setattr(PrototypeModel, "distances", lambda self, Z: calls.append(1) or original(self, Z))
    predictions = safe.predictions(X)
    assert np.array_equal(safe.reason_for(predictions), expected)
    assert np.array_equal(predictions.predicted, model.model_.classes[model.model_.labels[predictions.winner]])
    assert len(calls) == 1


# -- scikit-learn's tools ----------------------------------------------------------------------------------------


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, arrow], ids=["pandas", "polars", "pyarrow"])
def test_frames(data, frame):
    X, y = data
    table = frame(dict(zip("abcd", X.T)))
    for cv in (None, 2):
        safe = RejectClassifier(make_pipeline(StandardScaler(), GLVQ(**QUICK)), cv=cv).fit(table, y)
        plain = RejectClassifier(make_pipeline(StandardScaler(), GLVQ(**QUICK)), cv=cv).fit(X, y)
        assert safe.feature_names_in_.tolist() == list("abcd")
        assert np.array_equal(safe.accept(table), plain.accept(X))
        assert np.array_equal(safe.predict(table), plain.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        safe.accept(frame(dict(zip("abce", X.T))))


def test_sparse_and_lists(data):
    X, y = data
    dense = RejectClassifier(LogisticRegression()).fit(X, y)
    for kind in (sparse.csr_array, sparse.coo_array, lambda values: values.tolist()):
        other = RejectClassifier(LogisticRegression()).fit(kind(X), y.tolist())
        # a sample that sets a threshold may fall on either side when its probability is computed another way
        assert np.mean(other.accept(X) == dense.accept(X)) > 0.99


def test_clone_and_pickle(data):
    X, y = data
    safe = RejectClassifier(GLVQ(**QUICK), measure=Combination("relsim"), min_coverage=0.8).fit(X, y)
    assert clone(safe).get_params()["measure"] == Combination("relsim")
    again = pickle.loads(pickle.dumps(safe))
    assert np.array_equal(again.reason(X), safe.reason(X))


def test_in_a_pipeline_and_cross_validation(data):
    X, y = data
    outside = make_pipeline(StandardScaler(), RejectClassifier(GLVQ(**QUICK), min_coverage=0.7))
    scores = cross_val_score(outside, X, y, cv=3, scoring=accepted_accuracy_scorer)
    assert scores.mean() > cross_val_score(outside, X, y, cv=3).mean() + 0.05
    wrapped = RejectClassifier(make_pipeline(StandardScaler(), GLVQ(n_prototypes=2, **QUICK))).fit(X, y)
    assert set(wrapped.cell(X)) == set(range(6))


def test_sample_weight_reaches_the_estimator(data):
    X, y = data
    weight = np.where(np.arange(600) % 3 == 0, 0.0, np.random.default_rng(0).random(600) + 0.5)
    for cv in (None, 3):
        safe = RejectClassifier(LogisticRegression(), cv=cv).fit(X, y, sample_weight=weight)
        only = RejectClassifier(LogisticRegression(), cv=cv).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
        assert safe.path_.n_samples == only.path_.n_samples
    assert not np.allclose(safe.estimator_.coef_, LogisticRegression().fit(X, y).coef_)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    inside = RejectClassifier(pipeline, cv=3).fit(X, y, logisticregression__sample_weight=weight)
    expected = pipeline.fit(X, y, logisticregression__sample_weight=weight)[-1].coef_
    np.testing.assert_allclose(inside.estimator_[-1].coef_, expected)


def test_metadata_routing(data):
    X, y = data
    weight, groups = np.random.default_rng(0).random(600) + 0.5, np.arange(600) // 30
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        safe = RejectClassifier(inner, cv=GroupKFold(4)).fit(X, y, sample_weight=weight, groups=groups)
        expected = LogisticRegression().fit(X, y, weight).coef_
        np.testing.assert_allclose(safe.estimator_.coef_, expected)
        folds = cross_val_predict(
            inner, X, y, cv=GroupKFold(4), params={"groups": groups, "sample_weight": weight}, method="predict"
        )
        assert safe.path_.n_correct == np.count_nonzero(folds == y)
        with pytest.raises(TypeError, match="unexpected argument"):
            RejectClassifier(inner).fit(X, y, nonsense=weight)


def test_certainty_orders_predictions(data):
    """Every measure ranks better than chance on new samples."""
    X, y = draw(400, 12)
    for model, measure in [
        (GLVQ(n_prototypes=2, **QUICK), "relsim"),
        (GMLVQ(**QUICK), "boundary"),
        (LGMLVQ(**QUICK), "radius"),
        (RSLVQ(n_prototypes=2, **QUICK), "probability"),
        (RidgeClassifier(), "margin"),
    ]:
        safe = RejectClassifier(model, measure=measure).fit(*data)
        correct = safe.predict(X) == y
        assert area_under_curve(accuracy_reject_curve(safe.certainty(X), correct)) > correct.mean() + 0.05


def test_multiclass_with_many_classes_and_few_samples():
    X, y = make_classification(200, 20, n_informative=10, n_classes=10, random_state=0)
    safe = RejectClassifier(GLVQ(n_prototypes=3, **QUICK), min_coverage=0.5).fit(X, y)
    assert safe.coverage(X) > 0.2


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"min_coverage": 0.9, "max_error": 0.1},
            "takes one of min_coverage, min_accuracy, cost_ratio, max_error, got min_cov",
        ),
        ({"min_coverage": 90}, "min_coverage must be between 0 and 1, got 90"),
        ({"max_error": 1.0}, "max_error must be strictly between 0 and 1, got 1.0"),
        ({"per_class": True}, "per_class=True of RejectClassifier needs max_error, which is None"),
        ({"measure": "entropy"}, "The 'measure' parameter of RejectClassifier must be"),
        ({"thresholds": "best"}, "The 'thresholds' parameter of RejectClassifier must be"),
        ({"cells": "voronoi"}, "The 'cells' parameter of RejectClassifier must be"),
        ({"correction": "holm"}, "The 'correction' parameter of RejectClassifier must be"),
        ({"on_failure": "ignore"}, "The 'on_failure' parameter of RejectClassifier must be"),
        ({"cv": "loo"}, "The 'cv' parameter of RejectClassifier must be"),
        ({"confidence": 95}, "The 'confidence' parameter of RejectClassifier must be"),
        ({"calibration_size": 0.001}, "found no sample to calibrate on among n_samples = 600"),
        ({"estimator": 3}, "estimator must be a classifier with fit and predict, got 3"),
        ({"measure": "boundary", "estimator": LGMLVQ(**QUICK)}, "measure='boundary' needs one metric"),
    ],
)
def test_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        RejectClassifier(**{"estimator": GLVQ(**QUICK), **parameters}).fit(*data)


def test_refused_data(data):
    X, y = data
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        RejectClassifier(GLVQ()).fit(X, None)
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(600,\), one entry per sample, got \(3,\)"):
        RejectClassifier(GLVQ()).fit(X, y, [1, 2, 3])
    with pytest.raises(ValueError, match="sample_weight must not be negative or NaN, nor zero for all samples"):
        RejectClassifier(GLVQ()).fit(X, y, -np.ones(600))
    with pytest.raises(ValueError, match=r"cv .* must be a number of folds or a splitter where max_error is given"):
        RejectClassifier(GLVQ(**QUICK), cv=[(np.arange(300), np.arange(300, 600))], max_error=0.3).fit(X, y)
    assert RejectClassifier(GLVQ(**QUICK), cv=[(np.arange(300), np.arange(300, 600))]).fit(X, y).path_.n_samples == 300
    with pytest.raises(AttributeError, match="predict_proba"):
        RejectClassifier(RidgeClassifier()).fit(X, y).predict_proba(X)
