"""Which samples the thresholds are fitted and tested on, and the guarantees of RejectClassifier."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from lvq import GLVQ
from lvq.rejection import (
    GuaranteeError,
    RejectClassifier,
    local_thresholds,
)
from lvq.solvers.online import Online
from tests.rejection.populations import QUICK, draw

# -- where calibration samples come from -------------------------------------------------------------------------------


def test_split(data):
    X, y = data
    safe = RejectClassifier(GLVQ(**QUICK), cv=0.4).fit(X, y)
    assert safe.path_.n_samples == 240
    assert not hasattr(safe.estimator, "prototypes_")
    counts = [np.count_nonzero(y == label) for label in safe.classes_]
    assert safe.path_.n_samples == sum(round(0.4 * count) for count in counts)
    again = RejectClassifier(GLVQ(**QUICK), cv=0.4).fit(X, y)
    assert np.array_equal(again.point_.thresholds, safe.point_.thresholds)
    other = RejectClassifier(GLVQ(**QUICK), cv=0.4, random_state=1).fit(X, y)
    assert not np.array_equal(other.estimator_.prototypes_, safe.estimator_.prototypes_)


@pytest.mark.parametrize("calibration_size", [0.3, 0.99])
def test_every_class_is_trained_on(calibration_size):
    X, y = draw(100, 1)
    y[:6] = ["ox", "ox", "rat", "rat", "rat", "yak"]
    safe = RejectClassifier(GLVQ(**QUICK), cv=calibration_size).fit(X, y)
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
    path = local_thresholds(table.max(axis=1), predicted == y, predicted, method="global")
    assert safe.path_.n_correct == path.n_correct
    # certainties are on the scale of the predicting model, in nearly the same order
    assert safe.point_.coverage == pytest.approx(path.with_accuracy(0.9).coverage, abs=0.01)
    np.testing.assert_allclose(safe.estimator_.coef_, LogisticRegression().fit(X, y).coef_)


def test_cross_fitted_cells_are_those_of_the_predicting_model(data):
    X, y = data
    safe = RejectClassifier(GLVQ(n_prototypes=2, **QUICK), cv=5).fit(X, y)
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


# -- guarantees --------------------------------------------------------------------------------------------------------


def test_guarantee_holds_by_simulation(data):
    """150 calibration sets of one population; violations by a large test set."""
    model = GLVQ(**QUICK).fit(*data)
    X_test, y_test = draw(20_000, 6)
    errors = model.predict(X_test) != y_test
    for measure, thresholds in (("combined", "global"), ("relsim", "optimal")):
        violated = certified = 0
        for seed in range(150):
            safe = RejectClassifier(
                FrozenEstimator(model), measure=measure, max_error=0.05, confidence=0.8, thresholds=thresholds
            )
            try:
                safe.fit(*draw(400, 1000 + seed))
            except GuaranteeError:
                continue
            certified += 1
            violated += errors[safe.accept(X_test)].mean() > 0.05
        assert certified > 75
        assert violated <= 150 * 0.2 + 3 * np.sqrt(150 * 0.2 * 0.8)


def test_guarantees_that_are_not_achievable(data):
    X, y = data
    with pytest.raises(GuaranteeError, match=r"needs at least 299 .* only 135; give about 1329 samples") as e:
        RejectClassifier(GLVQ(**QUICK), max_error=0.01).fit(X, y)
    assert (e.value.reason, e.value.samples_needed) == ("too_few_samples", 1329)


def test_the_lowest_of_several_bounds(data):
    X, y = data
    safe = RejectClassifier(GLVQ(**QUICK), max_error=[0.01, 0.1, 0.2, 0.4]).fit(X, y)
    assert safe.point_.requested_error == 0.01 < safe.point_.max_error <= 0.2
    assert safe.notes_[0].startswith("An error rate of at most 1 % could not be guaranteed")
    assert f"Requested alone, {100 * safe.point_.max_error:g} % may accept more rows" in safe.notes_[0]
    for bounds in ([0.01, 0.4], [0.03, 0.05, 0.4]):  # the tests end at 0.05; the reason is that of the lowest alone
        with pytest.raises(GuaranteeError) as alone:
            RejectClassifier(GLVQ(**QUICK), max_error=bounds[0]).fit(X, y)
        assert RejectClassifier(GLVQ(**QUICK), max_error=bounds).fit(X, y).notes_[0].endswith(f"Why: {alone.value}")
    kept = RejectClassifier(GLVQ(**QUICK), max_error=[0.5, 0.3]).fit(X, y)
    assert (kept.point_.requested_error, kept.point_.max_error, kept.notes_) == (None, 0.3, ())


# -- groups ------------------------------------------------------------------------------------------------------------


def patients(n_groups, seed):
    """Patients with one row each, but 15 % of them have 30 rows, with noisy labels."""
    rng = np.random.default_rng(seed)
    noisy = rng.random(n_groups) < 0.15
    groups = np.repeat(np.arange(n_groups), np.where(noisy, 30, 1))
    y = rng.integers(0, 2, len(groups))
    X = rng.normal(size=(len(groups), 2)) + 4.0 * y[:, None]
    flipped = rng.random(len(groups)) < np.where(noisy[groups], 0.3, 0.02)
    return X, y ^ flipped, groups


def test_a_guarantee_with_groups_holds_for_groups():
    """200 calibrations: the error of a random row of a new patient is above the bound no more often than allowed."""
    model = GLVQ(init=[[0.0, 0.0], [4.0, 4.0]], solver=Online(learning_rate=0.0), max_iter=1)
    model = FrozenEstimator(model.fit([[0.0, 0.0], [4.0, 4.0]], [0, 1]))
    X_test, y_test, groups = patients(20_000, 1)
    weight = 1 / np.bincount(groups)[groups]  # a random row of each patient, as an expectation
    wrong = model.predict(X_test) != y_test
    violated, of_rows = [], []
    for seed in range(200):
        X, y, own = patients(600, 1000 + seed)
        safe = RejectClassifier(model, max_error=0.12, confidence=0.9)
        try:
            accepted = safe.fit(X, y, groups=own).accept(X_test)
        except GuaranteeError:
            continue
        assert safe.point_.unit == "groups"
        assert safe.point_.n_testing == 450
        assert "The guarantee is stated for groups" in safe.notes_[0]
        violated.append(np.average(wrong[accepted], weights=weight[accepted]) > 0.12)
        of_rows.append(wrong[accepted].mean() > 0.12)
    assert len(violated) > 100
    assert sum(violated) <= 200 * 0.1 + 3 * np.sqrt(200 * 0.1 * 0.9)
    assert np.mean(of_rows) > 0.9  # rows have another error rate, so it is not stated for them


def test_whole_groups_are_held_out():
    X, y, groups = patients(300, 0)
    seen = []

    class Watching(GLVQ):
        def fit(self, X, y):
            seen.append(set(X[:, 0].tolist()))
            return super().fit(X, y)

    for cv, n_fits in ((0.4, 1), (3, 4)):
        seen.clear()
        RejectClassifier(Watching(**QUICK), cv=cv).fit(X, y, groups=groups)
        assert len(seen) == n_fits
        for inside in seen:
            for group in np.unique(groups):
                assert len({value in inside for value in X[groups == group, 0].tolist()}) == 1
        assert (len(seen[0]) == len(X)) == (cv == 3)
