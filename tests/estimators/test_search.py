"""LVQClassifierCV: which candidates it compares, which it chooses, and that it predicts as its winner does."""

import math
import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from lvq import GLVQ, LVQClassifier, LVQClassifierCV
from lvq.estimators import search
from lvq.estimators.cross_fit import Choice
from lvq.estimators.search import CANDIDATES
from lvq.model.costs import GLVQCost, LOGMCost, RSLVQCost
from lvq.model.relevance import Matrix
from lvq.model.scores import fitted_temperature
from lvq.solvers import lbfgs

BASE = LVQClassifier(max_iter=30)
LOCAL = Matrix(local="prototype", rank="auto", ridge=0.01)
PAIR = (
    {"relevance": Matrix(rank="auto", ridge=0.01), "n_prototypes": 1},
    {"relevance": "local_matrix", "n_prototypes": 1},
)
SMALL = {"estimator": BASE, "cv": 3, "candidates": PAIR, "random_state": 0}
ONE = ({"n_prototypes": 1, "relevance": LOCAL},)


def quiet_fit(model, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*arguments)


@pytest.fixture(scope="module")
def searched():
    """A search that has run, on data of its own."""
    X, y = small_data()
    return quiet_fit(LVQClassifierCV(**SMALL), X, y), X, y


def small_data():
    rng = np.random.default_rng(5)
    y = np.arange(90) % 3
    centres = np.array([[0.0, 0.0, 1.0, 0.0], [2.0, 0.0, 0.0, 0.0], [0.0, 2.0, -1.0, 0.0]])
    return centres[y] + rng.normal(size=(90, 4)), y


@pytest.fixture
def single_runs(monkeypatch):
    """Whole fits as short ones are: by a single run of lbfgs, without the steps of Adam that may follow."""
    train = lbfgs.train
    monkeypatch.setattr(lbfgs, "train", lambda *given: train(*given[:6], 1))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.usefixtures("single_runs")
def test_scores_and_temperatures_are_those_of_fits_in_the_folds(weighted):
    """Each sample's probabilities are those of a fit without it, of as many iterations; the winner is fitted to all."""
    X, y = small_data()
    weight = np.random.default_rng(0).uniform(0.1, 5, len(X)) if weighted else np.ones(len(X))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = quiet_fit(LVQClassifierCV(**(SMALL | {"cv": folds})), X, y, weight)
    found = []
    for candidate in PAIR:
        table, settings = np.zeros((len(X), 3)), {"random_state": 0, "max_iter": 30, "calibration": None} | candidate
        for train, test in folds.split(X, y):
            table[test] = quiet_fit(LVQClassifier(**settings), X[train], y[train], weight[train]).predict_proba(X[test])
        temperature = fitted_temperature(np.log(table), y, weight)
        raised = table ** (1 / temperature)
        each = np.log(raised[np.arange(len(y)), y] / raised.sum(axis=1))
        found.append((np.average(each, weights=weight), temperature))
    assert model.cv_results_["params"] == list(PAIR)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], [score for score, _ in found], rtol=1e-3)
    score, temperature = found[PAIR.index(model.best_params_)]
    assert model.best_score_ == pytest.approx(score, rel=1e-3)
    assert model.model_.decision.temperature == pytest.approx(temperature, rel=1e-3)
    assert model.best_estimator_.calibration == "temperature"


@pytest.mark.parametrize("numbers", [(1, 2, 3), (3, 2, 1), (2, 1)])
def test_the_best_candidate_wins(numbers):
    """Wherever it is in the list."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.column_stack([rng.choice([-3, 3], 200) + rng.normal(size=200) * 0.5, rng.normal(size=200)])
    X[y == 1, 0] = rng.normal(size=100) * 0.5
    candidates = [{"form": "plain", "n_prototypes": number} for number in numbers]
    model = quiet_fit(LVQClassifierCV(estimator=BASE, candidates=candidates, cv=3, random_state=0), X, y)
    assert model.best_params_["n_prototypes"] != 1
    scores = dict(zip(numbers, model.cv_results_["mean_test_score"]))
    assert scores[1] < scores[2] - 0.1


@pytest.mark.parametrize("candidates", [ONE, None], ids=["one", "default"])
def test_only_the_winner_warns_of_its_iterations(candidates):
    X, y = small_data()
    with pytest.warns(ConvergenceWarning, match="Increase max_iter") as warned:
        LVQClassifierCV(estimator=LVQClassifier(max_iter=2), cv=3, candidates=candidates, random_state=0).fit(X, y)
    assert len(warned) == 1


@pytest.mark.parametrize(
    ("base", "least"),
    [
        (LVQClassifier(), 12),
        (LVQClassifier(relevance=Matrix(rank=2, ridge=0.1)), 12),
        (LVQClassifier(missing="ignore", cost_matrix=[[0, 1, 2], [1, 0, 2], [1, 1, 0]]), 12),
        (LVQClassifier(form="matrix"), 3),
        (LVQClassifier(solver="online"), 1),
    ],
    ids=["default", "rank", "missing", "form", "online"],
)
def test_the_default_candidates_fit_any_estimator(base, least):
    """Each can be fitted, and all differ; a class has at most half as many prototypes as samples."""
    X, y = small_data()
    search = LVQClassifierCV(estimator=clone(base).set_params(max_iter=1, calibration=None), cv=2, random_state=0)
    candidates = quiet_fit(search, X, y).cv_results_["params"]
    assert 12 >= len({str(candidate) for candidate in candidates}) == len(candidates) >= least
    for candidate in candidates:
        given = clone(base).set_params(max_iter=1, calibration=None, form="auto", **candidate)
        assert 3 <= len(quiet_fit(given, X, y).prototypes_) <= 45
    if base.form != "auto":
        assert [one["relevance"] for one in candidates] == [
            one.relevance for one in CANDIDATES if one.name == base.form
        ]


def test_few_samples_of_a_class_are_plain():
    X, y = small_data()
    model = quiet_fit(LVQClassifierCV(estimator=BASE, cv=2, random_state=0), X[:24], y[:24])
    assert [candidate["relevance"] for candidate in model.cv_results_["params"]] == [CANDIDATES[0].relevance]


def test_without_calibration():
    X, y = small_data()
    base = LVQClassifier(max_iter=30, calibration=None)
    assert quiet_fit(LVQClassifierCV(**(SMALL | {"estimator": base})), X, y).model_.decision.temperature == 1


def test_a_class_that_is_missing_in_a_training_fold():
    """Its samples have the smallest score there, and do not count in the temperature."""
    X, y = small_data()
    y = np.where(np.arange(90) < 3, 3, y)
    folds = [(np.arange(30, 90), np.arange(30)), (np.arange(60), np.arange(60, 90))]
    model = quiet_fit(LVQClassifierCV(estimator=BASE, candidates=ONE, cv=folds, random_state=0), X, y)
    without = [(folds[0][0], np.arange(3, 30)), folds[1]]
    other = quiet_fit(LVQClassifierCV(estimator=BASE, candidates=ONE, cv=without, random_state=0), X, y)
    assert model.model_.decision.temperature == other.model_.decision.temperature
    assert model.best_score_ == pytest.approx((57 * other.best_score_ + 3 * math.log(1e-6)) / 60)


@pytest.mark.parametrize(
    "candidates",
    [
        PAIR,
        ({"relevance": None, "n_prototypes": 3, "cost": RSLVQCost(decision="posterior")},),
        ({"relevance": None, "cost": GLVQCost(slope=3.0)},),
        ({"relevance": Matrix(ridge=0.01), "kernel": None, "cost": LOGMCost(xi=1.0)},),
    ],
    ids=["pair", "posterior", "slope", "matrix"],
)
def test_the_winner_is_fitted_on_all_samples_as_it_would_be_alone(candidates):
    """Whatever a structure sets, the search predicts as an `LVQClassifier` of that structure does."""
    X, y = small_data()
    model = quiet_fit(LVQClassifierCV(**(SMALL | {"candidates": candidates})), X, y)
    settings = {"random_state": 0, "max_iter": 30, "calibration": None} | model.best_params_
    alone = quiet_fit(LVQClassifier(**settings), X, y)
    np.testing.assert_array_equal(model.prototypes_, alone.prototypes_)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    raised = alone.predict_proba(X) ** (1 / model.model_.decision.temperature)
    np.testing.assert_allclose(model.predict_proba(X), raised / raised.sum(axis=1, keepdims=True), rtol=1e-9)
    if candidates is not PAIR:  # scores of the cross-entropy are the logarithms of the probabilities
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), rtol=1e-9)
    assert model.best_estimator_.objective_value(X, y) == alone.objective_value(X, y)
    np.testing.assert_array_equal(model.explain(X).contributions, alone.explain(X).contributions)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("make_seed", [int, np.random.RandomState], ids=["number", "RandomState"])
def test_the_same_result_again_and_in_threads(n_jobs, make_seed):
    """Two prototypes start at random."""
    X, y = small_data()
    candidates = [{"n_prototypes": 2, "relevance__ridge": ridge} for ridge in (0.1, 0.01, 0.001)]
    model = LVQClassifierCV(estimator=LVQClassifier(relevance="matrix", max_iter=12), candidates=candidates, cv=3)
    one = quiet_fit(clone(model).set_params(random_state=0), X, y)
    other = quiet_fit(clone(model).set_params(random_state=make_seed(0), n_jobs=n_jobs), X, y)
    np.testing.assert_array_equal(other.cv_results_["mean_test_score"], one.cv_results_["mean_test_score"])
    assert other.best_params_ == one.best_params_
    np.testing.assert_array_equal(other.prototypes_, one.prototypes_)


def test_a_scale_of_weights_changes_nothing():
    X, y = small_data()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X))
    one, other = (quiet_fit(LVQClassifierCV(**SMALL), X, y, scale * weight) for scale in (1, 1024))
    np.testing.assert_array_equal(other.cv_results_["mean_test_score"], one.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(other.prototypes_, one.prototypes_)


def test_a_class_with_a_single_sample():
    """It takes no part in the folds, and has a prototype in the end."""
    X, y = small_data()
    y[0] = 3
    model = quiet_fit(LVQClassifierCV(**SMALL), X, y)
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()
    assert model.classes_.tolist() == [0, 1, 2, 3]


def test_copies_are_in_different_folds(monkeypatch):
    """As in `LVQClassifier`: where features have few values, new samples are mostly copies of known ones."""
    X, y = small_data()
    seen = []
    monkeypatch.setattr(search, "cross_fit", lambda candidates, folds, _: seen.append(folds) or Choice(0, 1.0, [0, 0]))
    LVQClassifierCV(**SMALL).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    for _, test in seen[0].pairs:
        rows = seen[0].samples.X[test]
        assert len(np.unique(rows, axis=0)) == len(rows) == 90


@pytest.mark.parametrize(
    "cv", [2, KFold(4, shuffle=True, random_state=1), "splits"], ids=["number", "splitter", "list"]
)
def test_cv_as_in_scikit_learn(cv):
    X, y = small_data()
    if cv == "splits":
        cv = list(StratifiedKFold(2).split(X, y))
    model = quiet_fit(
        LVQClassifierCV(**(SMALL | {"cv": cv, "estimator": LVQClassifier(max_iter=5)})),
        X,
        y,
    )
    assert len(model.cv_results_["params"]) == 2


def test_clone_and_parameters(searched):
    model, _, _ = searched
    copy = clone(model)
    assert copy.get_params(deep=False) | {"estimator": None} == model.get_params(deep=False) | {"estimator": None}
    assert copy.estimator.get_params() == BASE.get_params() == LVQClassifier(max_iter=30).get_params()
    assert not hasattr(model.estimator, "model_")  # the search fits copies
    assert not hasattr(copy, "prototypes_")
    assert copy.set_params(cv=7, estimator__cost="mce").estimator.cost == "mce"


@pytest.mark.parametrize("wrong", [GLVQ(), LogisticRegression()], ids=["GLVQ", "LogisticRegression"])
def test_another_estimator_is_refused(wrong):
    X, y = small_data()
    with pytest.raises(ValueError, match="'estimator' parameter of LVQClassifierCV must be an LVQClassifier or None"):
        LVQClassifierCV(estimator=wrong).fit(X, y)


@pytest.mark.parametrize(("cv", "said"), [(5, "too few"), (GroupKFold(2), "'groups' parameter")])
def test_folds_that_are_not_possible(cv, said):
    X, y = np.arange(6.0).reshape(3, 2), [0, 1, 2]
    with pytest.raises(ValueError, match=rf"cv={re.escape(repr(cv))} of LVQClassifierCV cannot split.*{said}.*Give"):
        LVQClassifierCV(cv=cv).fit(X, y)


def test_class_weight_of_the_estimator():
    """Class weights count in the fits and in the scores, as sample weights of the same size do."""
    X, y = small_data()
    weight = {0: 3.0, 1: 1.0, 2: 0.5}
    settings = {"candidates": ONE, "cv": 3, "random_state": 0}
    by_class = LVQClassifierCV(estimator=LVQClassifier(max_iter=30, class_weight=weight), **settings)
    by_sample = LVQClassifierCV(estimator=LVQClassifier(max_iter=30), **settings)
    quiet_fit(by_class, X, y)
    quiet_fit(by_sample, X, y, np.array([3.0, 1.0, 0.5])[y])
    assert by_class.best_score_ == pytest.approx(by_sample.best_score_)
    np.testing.assert_allclose(by_class.prototypes_, by_sample.prototypes_)


def test_pickle(searched):
    model, X, _ = searched
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


def test_a_second_fit_starts_again(searched):
    """Another structure, other classes: nothing of the first fit is left."""
    _, X, y = searched
    model = quiet_fit(LVQClassifierCV(**SMALL), X, y)
    again = quiet_fit(model.set_params(candidates=[{"relevance": None, "n_prototypes": 1}]), X[y < 2], y[y < 2])
    assert again.prototypes_.shape == (2, 4)
    assert again.best_params_["relevance"] is None
    assert not hasattr(again, "omega_")
    assert again.predict(X[y < 2]).max() == 1


def test_no_partial_fit():
    assert not hasattr(LVQClassifierCV(), "partial_fit")


def test_names_of_classes_and_features():
    pandas = pytest.importorskip("pandas")
    X, y = small_data()
    names = np.array(["ash", "birch", "cedar"])[y]
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = quiet_fit(LVQClassifierCV(**(SMALL | {"candidates": PAIR[:1]})), frame, names)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert set(model.predict(frame)) <= {"ash", "birch", "cedar"}


@pytest.mark.parametrize("winner", ["local_matrix", "matrix"])
def test_the_winner_transforms_with_one_matrix(winner):
    X, y = small_data()
    settings = SMALL | {"candidates": ({"relevance": winner, "n_prototypes": 1},)}
    model = quiet_fit(LVQClassifierCV(**settings), X, y)
    assert hasattr(model.best_estimator_, "transform") == (winner == "matrix")
    if winner == "matrix":
        np.testing.assert_allclose(model.best_estimator_.transform(X), X @ model.omega_.T)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ((), "'candidates' parameter of LVQClassifierCV must hold at least one dict"),
        ("simple", "'candidates' parameter of LVQClassifierCV must be"),
        ([0.1, 0.2], "'candidates' parameter of LVQClassifierCV must hold .*0.1"),
        ([{"relevance": Matrix(ridge=-1.0)}], "'ridge' parameter of Matrix must be"),
        ([{"n_protos": 2}], "Invalid parameter 'n_protos'"),
        ([{"relevance": "hebbian", "solver": "lbfgs"}], "solver"),
    ],
)
def test_candidates_that_cannot_be_fitted(candidates, message, monkeypatch):
    """All are checked before any of them is fitted."""
    X, y = small_data()
    monkeypatch.setattr(search, "cross_fit", lambda *_: pytest.fail("fitted"))
    good = [] if isinstance(candidates, str) or not candidates else [{"n_prototypes": 1}]
    given = [*good, *candidates] if good else candidates
    with pytest.raises(ValueError, match=message):
        LVQClassifierCV(**(SMALL | {"candidates": given})).fit(X, y)
