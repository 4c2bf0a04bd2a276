"""Which samples the thresholds are fitted and tested on, and the guarantees of RejectClassifier."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit, cross_val_predict

from lvq import GLVQ
from lvq.rejection import (
    GuaranteeError,
    RejectClassifier,
    local_thresholds,
)
from lvq.rejection.calibration_data import Data, Settings
from lvq.rejection.cross_fitting import cross_fitted
from lvq.rejection.measures import as_combination
from lvq.rejection.point import CertifiedPoint
from lvq.rejection.predictions import Predictions
from tests.rejection.populations import QUICK, draw

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
    assert safe.path_.n_correct == path.n_correct
    # the folds' probabilities are nearly on the scale of the predicting model already
    assert safe.point_.coverage == pytest.approx(path.pick(min_accuracy=0.9).coverage, abs=0.02)
    np.testing.assert_allclose(safe.estimator_.coef_, LogisticRegression().fit(X, y).coef_)


class Scaled(LogisticRegression):
    """Probabilities that depend on the number of training samples, as distances of a model may."""

    def predict_proba(self, X):
        return super().predict_proba(X) / self.size_

    def fit(self, X, y):
        self.size_ = len(y)
        return super().fit(X, y)


def test_cross_fitted_thresholds_are_on_the_scale_of_the_predicting_model(data):
    X, y = data
    for target in ({"min_accuracy": 0.95}, {"min_coverage": 0.8}):
        plain = RejectClassifier(LogisticRegression(), cv=4, measure="probability", **target).fit(X, y)
        scaled = RejectClassifier(Scaled(), cv=4, measure="probability", **target).fit(X, y)
        np.testing.assert_allclose(scaled.point_.thresholds * 600, plain.point_.thresholds, rtol=1e-5)
        assert np.array_equal(scaled.accept(X), plain.accept(X))


def test_each_fold_counts_by_its_own_size(data):
    """Training samples are more certain than others by an amount that is proportional to one over their number."""
    X, y = data
    settings = Settings(GLVQ(**QUICK), as_combination("relsim"), cv=TimeSeriesSplit(3))
    everything = Data(X, y, np.ones(600, dtype=bool), {}, {})
    model = everything.trained(settings.estimator)
    left_out, control = cross_fitted(settings, model, everything, np.random.RandomState(0))
    assert len(left_out.correct) == 450
    np.testing.assert_allclose(control.own_weight, np.repeat([0.25, 0.5, 0.75], 150))
    inside = np.repeat([-0.25 * 150 / 150, -0.5 * 150 / 300, -0.75 * 150 / 450], [150, 300, 450])
    np.testing.assert_allclose(control.weight, np.append(np.full(600, 450 / 600), inside))
    assert control.own_weight.sum() + control.weight.sum() == pytest.approx(450)


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


def test_folds_with_fitted_models_give_the_thresholds_of_folds_without(data):
    X, y = data
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    expected = RejectClassifier(GLVQ(random_state=0), cv=splits).fit(X, y)
    fitted = [(train, test, GLVQ(random_state=0).fit(X[train], y[train])) for train, test in splits]
    calls = []

    class Counting(GLVQ):
        def fit(self, X, y):
            calls.append(len(y))
            return super().fit(X, y)

    found = RejectClassifier(Counting(random_state=0), cv=fitted).fit(X, y)
    assert calls == [len(y)]
    np.testing.assert_array_equal(found.certainty(X), expected.certainty(X))
    np.testing.assert_array_equal(found.accept(X), expected.accept(X))
    assert found.point_.coverage == expected.point_.coverage


def test_models_of_folds_must_be_fitted(data):
    X, y = data
    folds = [(train, test, GLVQ()) for train, test in StratifiedKFold(3).split(X, y)]
    with pytest.raises(ValueError, match=r"cv of RejectClassifier must hold fitted models .*FrozenEstimator"):
        RejectClassifier(GLVQ(), cv=folds).fit(X, y)


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


def test_a_weaker_guarantee_where_the_requested_one_is_not_achievable(data):
    X, y = data
    safe = RejectClassifier(GLVQ(**QUICK), max_error=0.01, on_failure="relax").fit(X, y)
    assert safe.point_.requested_error == 0.01 < safe.point_.max_error < 0.2
    assert safe.notes_[0].startswith("An error rate of at most 1 % could not be guaranteed.")
    assert f"The lowest bound found is {100 * safe.point_.max_error:g} %" in safe.notes_[0]
    X_test, y_test = draw(5000, 12)
    assert safe.coverage(X_test) > 0.2
    assert 1 - safe.accepted_accuracy(X_test, y_test) <= safe.point_.max_error
    each = RejectClassifier(GLVQ(**QUICK), max_error=0.01, per_class=True, on_failure="relax").fit(X, y)
    assert [note.partition(":")[0] for note in each.notes_] == ["Class 'cat'", "Class 'dog'", "Class 'eel'"]
    kept = RejectClassifier(GLVQ(**QUICK), max_error=0.3, on_failure="relax").fit(X, y)
    assert (kept.point_.requested_error, kept.point_.max_error, kept.notes_) == (None, 0.3, ())


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


def test_metadata_of_samples_are_taken_with_them_and_others_stay_whole():
    """Per sample is what has as many entries, in an array of any number of axes or in a list."""
    given = {"rows": np.arange(10).reshape(5, 2), "list": list("abcde"), "other": np.arange(4), "text": "abcde", "n": 5}
    data = Data(np.arange(5)[:, None], np.arange(5), np.ones(5, dtype=bool), given, {"groups": np.arange(5)})
    part = data.take(np.array([3, 1]))
    assert part.for_fit["rows"].tolist() == [[6, 7], [2, 3]]
    assert part.for_fit["list"] == ["d", "b"]
    assert part.for_fit["other"].tolist() == [0, 1, 2, 3]
    assert (part.for_fit["text"], part.for_fit["n"]) == ("abcde", 5)
    assert part.for_split["groups"].tolist() == part.y.tolist() == [3, 1]


def test_samples_at_a_prototype_can_be_cross_fitted_with_an_outlier_measure():
    """Their distance, the outlier measure, is zero."""
    X = np.repeat([[0.0, 0.0], [4.0, 4.0]], 30, axis=0)
    y = np.repeat(["a", "b"], 30)
    safe = RejectClassifier(GLVQ(**QUICK), measure="combined", min_coverage=0.9, cv=3).fit(X, y)
    assert safe.accept(X).any()


class SplitByValue:
    """Folds by the sign of the first feature, as a user may write them."""

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2

    def split(self, X, y, groups=None):
        positive = np.asarray(X)[:, 0] > 0
        assert 0 < positive.sum() < len(y)
        for inside in (positive, ~positive):
            yield np.flatnonzero(~inside), np.flatnonzero(inside)


def test_folds_may_depend_on_the_samples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), np.arange(80) % 2
    model = RejectClassifier(GLVQ(solver="online", max_iter=2, random_state=0), cv=SplitByValue()).fit(X, y)
    given = [(np.flatnonzero(X[:, 0] <= 0), np.flatnonzero(X[:, 0] > 0))]
    given.append(given[0][::-1])
    same = RejectClassifier(GLVQ(solver="online", max_iter=2, random_state=0), cv=given).fit(X, y)
    np.testing.assert_array_equal(model.point_.thresholds, same.point_.thresholds)
