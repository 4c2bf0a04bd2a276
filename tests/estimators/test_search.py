"""LVQClassifierCV: which candidates it compares, which it chooses, and that it predicts as its winner does."""

import math
import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, LVQClassifier, LVQClassifierCV
from lvq.estimators.classifier import FORMS
from lvq.estimators.search import default_candidates
from lvq.model.costs import GLVQCost, LOGMCost
from lvq.model.relevance import Matrix
from lvq.model.scores import fitted_temperature
from lvq.solvers import lbfgs
from lvq.solvers.lbfgs import LBFGS

BASE = LVQClassifier(max_iter=30)
LOCAL = Matrix(local="prototype", rank="auto", ridge=0.01)
PAIR = (
    {"relevance": Matrix(rank="auto", ridge=0.01), "n_prototypes": 1},
    {"relevance": "local_matrix", "n_prototypes": 1},
)
SMALL = {"estimator": BASE, "cv": 3, "candidates": PAIR, "random_state": 0}
PLAIN = SMALL | {"estimator": LVQClassifier(max_iter=30, calibration=None)}
ONE = ({"n_prototypes": 1, "relevance": LOCAL},)
quietly = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Fewer prototypes than requested:UserWarning"
)


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


def log_likelihood(model, X, y):
    """By its definition, sample by sample."""
    classes = model.classes_.tolist()
    total = 0.0
    for probabilities, label in zip(model.predict_proba(X), y):
        total += math.log(max(probabilities[classes.index(label)], 1e-6))
    return total / len(X)


def by_hand(X, y, candidate, folds, score=log_likelihood):
    """Scores of a candidate in each fold."""
    model = LVQClassifier(random_state=0, max_iter=30, calibration=None, **candidate)
    return [score(quiet_fit(clone(model), X[train], y[train]), X[test], y[test]) for train, test in folds.split(X, y)]


@pytest.fixture
def single_runs(monkeypatch):
    """Whole fits as short ones are: by a single run of lbfgs, without the steps of Adam that may follow."""
    train = lbfgs.train
    monkeypatch.setattr(lbfgs, "train", lambda *given: train(*given[:6], 1))


def fraction_correct(model, X, y):
    """A scorer without weights."""
    return np.mean(model.predict(X) == y)


@pytest.mark.parametrize("scoring", [None, "accuracy", fraction_correct], ids=["default", "name", "callable"])
@pytest.mark.usefixtures("single_runs")
def test_scores_are_those_of_fits_in_the_folds(scoring):
    X, y = small_data()
    model = quiet_fit(LVQClassifierCV(**PLAIN, scoring=scoring), X, y)
    score = log_likelihood if scoring is None else fraction_correct
    table = np.array(
        [by_hand(X, y, candidate, StratifiedKFold(3, shuffle=True, random_state=0), score) for candidate in PAIR]
    )
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], table.mean(axis=1))
    np.testing.assert_allclose(model.cv_results_["std_test_score"], table.std(axis=1))
    assert model.cv_results_["params"] == list(PAIR)
    assert model.best_params_ in PAIR
    assert model.best_score_ == model.cv_results_["mean_test_score"][PAIR.index(model.best_params_)]


@pytest.mark.parametrize("better", range(3))
def test_the_best_candidate_wins(better):
    """Wherever it is in the list."""
    X, y = small_data()
    candidates = [{"relevance": None, "n_prototypes": number} for number in (1, 2, 3)]

    def score(model, X, y):
        return float(model.n_prototypes == better + 1)

    model = quiet_fit(LVQClassifierCV(estimator=BASE, candidates=candidates, scoring=score, cv=3), X, y)
    assert model.best_params_ == candidates[better]
    assert model.best_score_ == 1


def test_a_class_without_samples_in_a_training_fold():
    """It has no probability there, and the score has a lower bound."""
    X, y = small_data()
    y = np.where(np.arange(90) < 45, y % 2, 2)
    folds = [(np.arange(45), np.arange(45, 90)), (np.arange(20, 90), np.arange(20))]
    model = quiet_fit(LVQClassifierCV(**(SMALL | {"cv": folds[:1]})), X, y)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], math.log(1e-6))
    assert np.isfinite(quiet_fit(LVQClassifierCV(**(SMALL | {"cv": folds})), X, y).best_score_)


def test_an_unknown_scoring():
    X, y = small_data()
    with pytest.raises(ValueError, match="'scoring' parameter of LVQClassifierCV must be"):
        LVQClassifierCV(**SMALL, scoring="accurate").fit(X, y)


@pytest.mark.parametrize("candidates", [ONE, None], ids=["one", "default"])
def test_only_the_winner_warns_of_its_iterations(candidates):
    X, y = small_data()
    with pytest.warns(ConvergenceWarning, match="Increase max_iter") as warned:
        LVQClassifierCV(estimator=LVQClassifier(max_iter=2), cv=3, candidates=candidates, random_state=0).fit(X, y)
    assert len(warned) == 1


def at_temperature_of(model, alone, X):
    """Probabilities of a model that is not calibrated, at the temperature of another one."""
    raised = alone.predict_proba(X) ** (1 / model.model_.decision.temperature)
    return raised / raised.sum(axis=1, keepdims=True)


@pytest.mark.usefixtures("single_runs")
def test_the_temperature_is_that_of_the_folds(searched):
    """Each sample's probabilities are those of a fit without it, of as many iterations."""
    model, X, y = searched
    table = np.zeros((len(X), 3))
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        settings = {"random_state": 0, "max_iter": 30, "calibration": None} | model.best_params_
        table[test] = quiet_fit(LVQClassifier(**settings), X[train], y[train]).predict_proba(X[test])
    expected = fitted_temperature(np.log(table), y, np.ones(len(y)))
    assert model.model_.decision.temperature == pytest.approx(expected, rel=1e-3)
    assert model.best_estimator_.calibration == "temperature"
    raised = table ** (1 / expected)
    likelihood = np.log(raised[np.arange(len(y)), y] / raised.sum(axis=1))
    assert model.best_score_ == pytest.approx(likelihood.mean(), rel=1e-3)


@pytest.mark.parametrize(
    "base",
    [
        LVQClassifier(),
        LVQClassifier(relevance=Matrix(rank=2, ridge=0.1)),
        LVQClassifier(missing="ignore", cost_matrix=[[0, 1, 2], [1, 0, 2], [1, 1, 0]]),
        LVQClassifier(solver="online"),
        LVQClassifier(form="matrix"),
    ],
    ids=["default", "rank", "missing", "online", "form"],
)
def test_the_default_candidates_fit_any_estimator(base):
    """Each can be fitted, and all differ."""
    X, y = small_data()
    candidates = default_candidates(base)
    assert 12 >= len({str(candidate) for candidate in candidates}) == len(candidates) >= 3
    search = LVQClassifierCV(estimator=base.set_params(max_iter=1, calibration=None), cv=2, random_state=0)
    params = quiet_fit(search, X, y).cv_results_["params"]
    assert params == [candidate for candidate in candidates if candidate["n_prototypes"] <= 15]
    for candidate in candidates:
        given = clone(base).set_params(max_iter=1, calibration=None, form="auto", **candidate)
        assert len(quiet_fit(given, X, y).prototypes_) >= 3


def test_the_candidates_of_a_form_are_those_of_its_table():
    named = [candidate["relevance"] for candidate in default_candidates(LVQClassifier(form="additive"))]
    assert named == [form.relevance for form in FORMS if form.name == "additive"]


@quietly
def test_many_prototypes_need_many_samples():
    """Of the default candidates; those that are given are compared as they are."""
    X, y = small_data()  # 30 of each class: at most 15 prototypes
    model = quiet_fit(LVQClassifierCV(estimator=LVQClassifier(max_iter=2), cv=2, random_state=0), X, y)
    assert {candidate["n_prototypes"] for candidate in model.cv_results_["params"]} == {1, 2, 3, 8, 12}
    tripled = quiet_fit(clone(model), np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert len(tripled.cv_results_["params"]) == len(model.cv_results_["params"])  # copies are not distinct
    given = quiet_fit(clone(model).set_params(candidates=[{"n_prototypes": 10}]), X, y)
    assert given.best_params_ == {"n_prototypes": 10}


def test_without_calibration():
    X, y = small_data()
    assert quiet_fit(LVQClassifierCV(**PLAIN), X, y).model_.decision.temperature == 1


def test_a_class_that_is_missing_in_a_training_fold():
    """Its samples have the smallest score there, and do not count in the temperature."""
    X, y = small_data()
    y = np.where(np.arange(90) < 3, 3, y)
    folds = [(np.arange(30, 90), np.arange(30)), (np.arange(60), np.arange(60, 90))]
    model = quiet_fit(LVQClassifierCV(estimator=BASE, candidates=ONE, cv=folds, random_state=0), X, y)
    without = [(folds[0][0], np.arange(3, 30)), folds[1]]
    other = quiet_fit(LVQClassifierCV(estimator=BASE, candidates=ONE, cv=without, random_state=0), X, y)
    assert model.model_.decision.temperature == other.model_.decision.temperature
    assert model.best_score_ < 3 * math.log(1e-6) / 60


def test_the_winner_is_fitted_on_all_samples_as_it_would_be_alone(searched):
    model, X, y = searched
    settings = {"random_state": 0, "max_iter": 30, "calibration": None} | model.best_params_
    alone = quiet_fit(LVQClassifier(**settings), X, y)
    np.testing.assert_array_equal(model.prototypes_, alone.prototypes_)
    np.testing.assert_array_equal(model.omega_, alone.omega_)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), at_temperature_of(model, alone, X), rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), np.log(model.predict_proba(X)), rtol=1e-9)
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
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_array_equal(other.cv_results_[name], one.cv_results_[name])
    assert other.best_params_ == one.best_params_
    np.testing.assert_array_equal(other.prototypes_, one.prototypes_)


def test_a_scale_of_weights_changes_nothing():
    X, y = small_data()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X))
    one, other = (quiet_fit(LVQClassifierCV(**SMALL), X, y, scale * weight) for scale in (1, 1024))
    np.testing.assert_array_equal(other.cv_results_["mean_test_score"], one.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(other.prototypes_, one.prototypes_)


def test_a_class_with_a_single_sample():
    """Stratified folds cannot divide it; scikit-learn warns, and the search goes on."""
    X, y = small_data()
    y[0] = 3
    with pytest.warns(UserWarning, match="least populated class"):
        model = LVQClassifierCV(**(SMALL | {"estimator": LVQClassifier(max_iter=100, solver=LBFGS(tol=0.01))})).fit(
            X, y
        )
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()
    assert model.classes_.tolist() == [0, 1, 2, 3]


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
    assert copy.estimator.get_params() == BASE.get_params()
    assert not hasattr(copy, "prototypes_")
    assert copy.set_params(cv=7, estimator__cost="mce").estimator.cost == "mce"


def test_the_given_estimator_is_not_fitted(searched):
    """It is a specification: the search fits copies of it."""
    assert not hasattr(BASE, "model_")
    assert BASE.get_params() == LVQClassifier(max_iter=30).get_params()


@pytest.mark.parametrize("wrong", [GLVQ(), LogisticRegression()], ids=["GLVQ", "LogisticRegression"])
def test_another_estimator_is_refused(wrong):
    X, y = small_data()
    with pytest.raises(ValueError, match="'estimator' parameter of LVQClassifierCV must be an LVQClassifier or None"):
        LVQClassifierCV(estimator=wrong).fit(X, y)


@pytest.mark.parametrize(("cv", "said"), [(5, "n_splits=5"), (GroupKFold(2), "'groups' parameter")])
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


@quietly
def test_in_a_pipeline_and_in_cross_validation():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), LVQClassifierCV(**SMALL))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.94


@pytest.mark.parametrize("scoring", [None, "accuracy"])
@pytest.mark.usefixtures("single_runs")
def test_weights_count_in_fits_and_in_scores(scoring):
    X, y = small_data()
    weight = np.random.default_rng(0).uniform(0.1, 5, len(X))
    settings = PLAIN | {"candidates": ONE, "scoring": scoring}
    model = quiet_fit(LVQClassifierCV(**settings), X, y, weight)
    scores = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        inner = quiet_fit(
            LVQClassifier(n_prototypes=1, relevance=LOCAL, max_iter=30, calibration=None, random_state=0),
            X[train],
            y[train],
            weight[train],
        )
        correct = inner.predict(X[test]) == y[test]
        each = correct if scoring else [log_likelihood(inner, x[None], [label]) for x, label in zip(X[test], y[test])]
        scores.append(np.average(each, weights=weight[test]))
    pooled = (
        None
        if scoring
        else [weight[test].sum() for _, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)]
    )
    assert model.best_score_ == pytest.approx(np.average(scores, weights=pooled))


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


# -- candidates that change more than the matrix -----------------------------------------------------------------------


def assert_predicts_like(model, X, y, structure):
    plain = quiet_fit(LVQClassifier(random_state=0, max_iter=30, calibration=None, **structure), X, y)
    for method in ("predict", "decision_function"):
        np.testing.assert_allclose(getattr(model, method)(X), getattr(plain, method)(X), rtol=1e-9, err_msg=method)
    np.testing.assert_allclose(model.predict_proba(X), at_temperature_of(model, plain, X), rtol=1e-9)


@pytest.mark.parametrize(
    "structure",
    [
        {"relevance": None, "n_prototypes": 3, "cost": "rslvq", "decision": "posterior"},
        {"relevance": None, "cost": GLVQCost(slope=3.0)},
        {"relevance": Matrix(ridge=0.01), "kernel": None, "cost": LOGMCost(xi=1.0)},
    ],
    ids=["posterior", "slope", "matrix"],
)
def test_predictions_are_those_of_the_winner(structure):
    """Whatever a structure sets, the search predicts as an `LVQClassifier` of that structure does."""
    X, y = small_data()
    model = quiet_fit(LVQClassifierCV(**(SMALL | {"candidates": (structure,)})), X, y)
    assert_predicts_like(model, X, y, structure)


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
        (
            [0.1, 0.2],
            "'candidates' parameter of LVQClassifierCV must hold dicts of parameters of LVQClassifier, got 0.1",
        ),
        ([{"relevance": Matrix(ridge=-1.0)}], "'ridge' parameter of Matrix must be"),
        ([{"n_protos": 2}], "Invalid parameter 'n_protos'"),
        ([{"relevance": "hebbian", "solver": "lbfgs"}], "solver"),
    ],
)
def test_candidates_that_cannot_be_fitted(candidates, message):
    """All are checked before any of them is fitted."""
    X, y = small_data()
    good = [] if isinstance(candidates, str) or not candidates else [{"n_prototypes": 1}]
    given = [*good, *candidates] if good else candidates
    with pytest.raises(ValueError, match=message):
        LVQClassifierCV(**(SMALL | {"candidates": given, "scoring": lambda *_: pytest.fail("fitted")})).fit(X, y)
