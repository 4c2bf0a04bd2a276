"""LVQClassifierCV: which candidates it compares, which it chooses, and that it predicts as its winner does."""

import math
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, LVQClassifier, LVQClassifierCV
from lvq.estimators.search import RIDGES, STRUCTURES
from lvq.model.costs import GLVQCost

BASE = LVQClassifier(max_iter=30)
SMALL = {"estimator": BASE, "cv": 3, "ridges": (0.01, 0.001), "structures": STRUCTURES[:2], "random_state": 0}
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


def by_hand(X, y, structure, ridges, folds, score=log_likelihood):
    """The path of one structure, written out: each fit starts from the one before."""
    table = []
    for train, test in folds.split(X, y):
        model = LVQClassifier(random_state=0, max_iter=30, warm_start=True, **structure)
        path = (quiet_fit(model.set_params(ridge=ridge), X[train], y[train]) for ridge in ridges)
        table.append([score(fitted, X[test], y[test]) for fitted in path])
    return np.array(table)


def test_results_are_those_of_the_paths(searched):
    model, X, y = searched
    tables = [by_hand(X, y, structure, SMALL["ridges"], StratifiedKFold(3)) for structure in SMALL["structures"]]
    table = np.hstack(tables)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], table.mean(axis=0))
    np.testing.assert_allclose(model.cv_results_["std_test_score"], table.std(axis=0))
    expected = [structure | {"ridge": ridge} for structure in SMALL["structures"] for ridge in SMALL["ridges"]]
    assert model.cv_results_["params"] == expected
    best = int(table.mean(axis=0).argmax())  # of equal ones the first
    assert model.best_params_ == expected[best]
    assert model.best_score_ == pytest.approx(table.mean(axis=0)[best])


def fraction_correct(model, X, y):
    """A scorer without weights."""
    return np.mean(model.predict(X) == y)


@pytest.mark.parametrize("scoring", ["accuracy", "callable"])
def test_scoring_decides(scoring):
    X, y = small_data()
    score = fraction_correct if scoring == "callable" else get_scorer(scoring)
    given = fraction_correct if scoring == "callable" else scoring
    model = quiet_fit(LVQClassifierCV(**SMALL, scoring=given), X, y)
    tables = [by_hand(X, y, structure, SMALL["ridges"], StratifiedKFold(3), score) for structure in SMALL["structures"]]
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], np.hstack(tables).mean(axis=0))


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


@pytest.mark.parametrize("ridges", [(0.01,), (0.1, 0.01, 0.001)])
def test_only_the_winner_warns_of_its_iterations(ridges):
    X, y = small_data()
    with pytest.warns(ConvergenceWarning, match="Increase max_iter") as warned:
        LVQClassifierCV(estimator=LVQClassifier(max_iter=2), cv=3, ridges=ridges, random_state=0).fit(X, y)
    assert len(warned) == 1


def test_the_winner_is_the_best_path_on_all_samples(searched):
    model, X, y = searched
    best = dict(model.best_params_)
    last = SMALL["ridges"].index(best.pop("ridge"))
    path = LVQClassifier(random_state=0, max_iter=30, warm_start=True, **best)
    for ridge in SMALL["ridges"][: last + 1]:
        quiet_fit(path.set_params(ridge=ridge), X, y)
    np.testing.assert_array_equal(model.prototypes_, path.prototypes_)
    np.testing.assert_array_equal(model.omega_, path.omega_)
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(model, method)(X), getattr(path, method)(X))
    assert model.best_estimator_.objective_value(X, y) == path.objective_value(X, y)
    np.testing.assert_array_equal(model.explain(X).contributions, path.explain(X).contributions)


def test_a_path_is_really_warm_started():
    """Five iterations a fit and three times the same ridge: each starts where the last ended, so each ends lower."""
    X, y = small_data()
    values = []

    def objective(model, X, y):
        values.append(model.objective_value(X, y))
        return 0.0

    everything = [(np.arange(len(X)), np.arange(len(X)))]
    settings = {"structures": ({"n_prototypes": 1},), "ridges": (0.01, 0.01, 0.01), "cv": everything}
    base = LVQClassifier(max_iter=5)
    quiet_fit(LVQClassifierCV(estimator=base, scoring=objective, random_state=0, **settings), X, y)
    assert values[0] > values[1] > values[2]


def test_a_path_that_ends_without_a_ridge():
    """Without a ridge Omega has unit trace: that fit starts again, as it would alone."""
    X, y = small_data()
    structure = {"relevance": "matrix", "n_prototypes": 1}
    settings = {"estimator": BASE, "cv": 2, "structures": (structure,), "random_state": 0}
    path = quiet_fit(LVQClassifierCV(ridges=(0.01, 0.0), **settings), X, y)
    alone = quiet_fit(LVQClassifierCV(ridges=(0.0,), **settings), X, y)
    assert path.cv_results_["mean_test_score"][1] == alone.best_score_


def test_threads_change_nothing(searched):
    model, X, y = searched
    threaded = quiet_fit(clone(model).set_params(n_jobs=2), X, y)
    np.testing.assert_array_equal(threaded.cv_results_["mean_test_score"], model.cv_results_["mean_test_score"])
    assert threaded.best_params_ == model.best_params_
    np.testing.assert_array_equal(threaded.prototypes_, model.prototypes_)


@pytest.mark.parametrize(
    "cv", [2, KFold(4, shuffle=True, random_state=1), "splits"], ids=["number", "splitter", "list"]
)
def test_cv_as_in_scikit_learn(cv):
    X, y = small_data()
    if cv == "splits":
        cv = list(StratifiedKFold(2).split(X, y))
    model = quiet_fit(
        LVQClassifierCV(**(SMALL | {"cv": cv, "structures": STRUCTURES[:1], "estimator": LVQClassifier(max_iter=5)})),
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
    assert LVQClassifierCV().ridges == RIDGES


def test_the_given_estimator_is_not_fitted(searched):
    """It is a specification: the search fits copies of it."""
    assert not hasattr(BASE, "model_")
    assert BASE.get_params() == LVQClassifier(max_iter=30).get_params()


@pytest.mark.parametrize("wrong", [GLVQ(), LogisticRegression()], ids=["GLVQ", "LogisticRegression"])
def test_another_estimator_is_refused(wrong):
    X, y = small_data()
    with pytest.raises(ValueError, match="'estimator' parameter of LVQClassifierCV must be an LVQClassifier or None"):
        LVQClassifierCV(estimator=wrong).fit(X, y)


def test_class_weight_of_the_estimator():
    """Class weights count in the fits and in the scores, as sample weights of the same size do."""
    X, y = small_data()
    weight = {0: 3.0, 1: 1.0, 2: 0.5}
    settings = {"structures": ({"n_prototypes": 1},), "ridges": (0.01,), "cv": 3, "random_state": 0}
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
    again = quiet_fit(model.set_params(structures=({"relevance": None, "n_prototypes": 1},)), X[y < 2], y[y < 2])
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
def test_weights_count_in_fits_and_in_scores(scoring):
    X, y = small_data()
    weight = np.random.default_rng(0).uniform(0.1, 5, len(X))
    settings = SMALL | {"structures": ({"n_prototypes": 1},), "ridges": (0.01,), "scoring": scoring}
    model = quiet_fit(LVQClassifierCV(**settings), X, y, weight)
    scores = []
    for train, test in StratifiedKFold(3).split(X, y):
        inner = quiet_fit(
            LVQClassifier(n_prototypes=1, ridge=0.01, max_iter=30, random_state=0), X[train], y[train], weight[train]
        )
        correct = inner.predict(X[test]) == y[test]
        each = correct if scoring else [log_likelihood(inner, x[None], [label]) for x, label in zip(X[test], y[test])]
        scores.append(np.average(each, weights=weight[test]))
    assert model.best_score_ == pytest.approx(np.mean(scores))


def test_no_partial_fit():
    assert not hasattr(LVQClassifierCV(), "partial_fit")


def test_names_of_classes_and_features():
    pandas = pytest.importorskip("pandas")
    X, y = small_data()
    names = np.array(["ash", "birch", "cedar"])[y]
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = quiet_fit(LVQClassifierCV(**(SMALL | {"structures": STRUCTURES[:1]})), frame, names)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert set(model.predict(frame)) <= {"ash", "birch", "cedar"}


# -- structures that change more than the matrix -----------------------------------------------------------------------


def assert_predicts_like(model, X, y, structure):
    plain = quiet_fit(LVQClassifier(random_state=0, max_iter=30, ridge=0.01, **structure), X, y)
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_allclose(getattr(model, method)(X), getattr(plain, method)(X), rtol=1e-9, err_msg=method)


@pytest.mark.parametrize(
    "structure",
    [
        {"relevance": None, "n_prototypes": 3, "cost": "rslvq", "decision": "posterior"},
        {"relevance": None, "cost": GLVQCost(slope=3.0)},
        {"relevance": "matrix", "kernel": None, "xi": 1.0},
    ],
    ids=["posterior", "slope", "matrix"],
)
def test_predictions_are_those_of_the_winner(structure):
    """Whatever a structure sets, the search predicts as an `LVQClassifier` of that structure does."""
    X, y = small_data()
    model = quiet_fit(LVQClassifierCV(**(SMALL | {"structures": (structure,), "ridges": (0.01,)})), X, y)
    assert_predicts_like(model, X, y, structure)


@pytest.mark.parametrize("winner", ["local_matrix", "matrix"])
def test_the_winner_transforms_with_one_matrix(winner):
    X, y = small_data()
    settings = SMALL | {"structures": ({"relevance": winner, "n_prototypes": 1},), "ridges": (0.01,)}
    model = quiet_fit(LVQClassifierCV(**settings), X, y)
    assert hasattr(model.best_estimator_, "transform") == (winner == "matrix")
    if winner == "matrix":
        np.testing.assert_allclose(model.best_estimator_.transform(X), X @ model.omega_.T)


@pytest.mark.parametrize(
    ("parameter", "value"), [("structures", ()), ("ridges", ()), ("ridges", (-1.0,)), ("ridges", (0.01, "a"))]
)
def test_bad_lists(parameter, value):
    X, y = small_data()
    with pytest.raises(ValueError, match=parameter.rstrip("s")):
        LVQClassifierCV(**(SMALL | {parameter: value})).fit(X, y)


def test_a_structure_with_an_unknown_name():
    X, y = small_data()
    with pytest.raises((TypeError, ValueError), match="n_protos"):
        LVQClassifierCV(**(SMALL | {"structures": ({"n_protos": 2},)})).fit(X, y)
