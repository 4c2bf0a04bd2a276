"""Short fits in folds: they are what `fit` computes in so many iterations, in parts, and without steps of Adam."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer

from lvq import LVQClassifier
from lvq.estimators.short_fits import begin, make_fold, share_start
from lvq.model.costs import GLVQCost
from lvq.solvers import lbfgs

N = 60
TRAIN, TEST = np.flatnonzero(np.arange(N) % 3 > 0), np.flatnonzero(np.arange(N) % 3 == 0)
unfinished = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data(seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(N) // 2 % 2
    return rng.normal(size=(N, 3)) + 1.5 * y[:, None] * [1, 0, 1], np.array(["a", "b"])[y]


def fold_of(weight=None):
    return make_fold(*data(), np.ones(N) if weight is None else weight, TRAIN, TEST)


def short_fit(model, iterations, fold=None):
    (fit,) = begin([model], fold_of() if fold is None else fold)
    for number in iterations:
        fit.advance(number)
    return fit


@unfinished
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("solver", ["lbfgs", "adam", "online"])
def test_the_same_as_fit(solver, weighted):
    """Four iterations do not converge, so that `fit` takes no steps of Adam either."""
    weight = np.random.default_rng(1).integers(0, 3, N).astype(float) if weighted else np.ones(N)
    settings = {"solver": solver, "n_prototypes": 2, "random_state": 0}
    short = short_fit(LVQClassifier(max_iter=100, **settings), [4], fold_of(weight)).model
    X, y = data()
    whole = LVQClassifier(max_iter=4, **settings).fit(X[TRAIN], y[TRAIN], weight[TRAIN])
    assert short.n_iter_ == whole.n_iter_ == 4
    assert short.n_features_in_ == whole.n_features_in_
    np.testing.assert_array_equal(short.classes_, whole.classes_)
    np.testing.assert_array_equal(short.prototypes_, whole.prototypes_)
    np.testing.assert_array_equal(short.omega_, whole.omega_)
    np.testing.assert_array_equal(short.predict_proba(X), whole.predict_proba(X))


@unfinished
def test_continued_as_by_a_warm_start():
    X, y = data()
    short = short_fit(LVQClassifier(random_state=0), [3, 8])
    whole = LVQClassifier(random_state=0, max_iter=3, warm_start=True).fit(X[TRAIN], y[TRAIN])
    whole.set_params(max_iter=5).fit(X[TRAIN], y[TRAIN])
    assert short.iterations == short.model.n_iter_ == 8
    np.testing.assert_array_equal(short.model.prototypes_, whole.prototypes_)


def test_no_more_iterations_than_the_candidate_allows():
    fit = short_fit(LVQClassifier(random_state=0, max_iter=6), [4, 10, 20])
    assert fit.iterations == fit.model.n_iter_ == 6


def test_a_converged_fit_is_not_continued(monkeypatch):
    fit = short_fit(LVQClassifier(random_state=0, tol=0.5), [20])
    assert fit.converged
    assert fit.model.n_iter_ < 20
    monkeypatch.setattr(lbfgs, "train", None)
    fit.advance(30)
    assert fit.iterations == 30


def test_large_data_are_continued_too(monkeypatch):
    """They begin with epochs of Adam, in every round."""
    monkeypatch.setattr(lbfgs, "LARGE", 5)
    monkeypatch.setattr(lbfgs, "LARGE_WORK", 0)
    fit = short_fit(LVQClassifier(random_state=0, tol=0.0), [4])
    before = fit.model.prototypes_.copy()
    assert fit.model.n_iter_ == 4
    fit.advance(8)
    assert fit.model.n_iter_ == 8
    assert not np.array_equal(fit.model.prototypes_, before)


def test_no_steps_of_adam(monkeypatch):
    """A run that converges is the last."""
    monkeypatch.setattr(lbfgs, "_adam_steps", None)
    short_fit(LVQClassifier(random_state=0, tol=0.5), [20])
    X, y = data()
    with pytest.raises(TypeError, match="not callable"):
        LVQClassifier(n_prototypes=2, random_state=0, tol=0.5).fit(X, y)


# -- shared starts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["lbfgs", "online"])
def test_a_shared_start_is_that_of_each_alone(solver, monkeypatch):
    models = [LVQClassifier(ridge=ridge, solver=solver, random_state=0) for ridge in (0.1, 0.01, 0.001)]
    alone = [short_fit(model, [3]).model for model in models]
    started = []
    begin_one = LVQClassifier._begin
    monkeypatch.setattr(LVQClassifier, "_begin", lambda *given: started.append(1) or begin_one(*given))
    together = begin(models, fold_of())
    assert len(started) == 1
    for one, fit in zip(alone, together):
        fit.advance(3)
        np.testing.assert_array_equal(fit.model.prototypes_, one.prototypes_)
        np.testing.assert_array_equal(fit.model.omega_, one.omega_)
    if solver == "lbfgs":
        assert not np.array_equal(together[0].model.omega_, together[2].model.omega_)


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        ({"ridge": 0.5}, True),
        ({"ridge": 0.0}, False),
        ({"n_prototypes": 3}, False),
        ({"kernel": None}, False),
        ({"cost": GLVQCost()}, False),
        ({"class_weight": {"a": 1.0, "b": 1.0}}, False),
        ({"n_prototypes": {"a": 1, "b": 2}}, False),
    ],
    ids=repr,
)
def test_which_candidates_share_their_start(other, shared):
    assert share_start(LVQClassifier(), LVQClassifier(**other)) is shared


def test_candidates_are_not_changed():
    model = LVQClassifier(random_state=np.random.RandomState(0))
    before = model.random_state.get_state()[1].copy()
    short_fit(model, [2])
    assert not hasattr(model, "model_")
    np.testing.assert_array_equal(model.random_state.get_state()[1], before)


# -- scores ------------------------------------------------------------------------------------------------------------


def test_log_probabilities_of_each_sample():
    fit = short_fit(LVQClassifier(random_state=0), [5])
    X, _ = data()
    expected = np.log(fit.model.predict_proba(X[TEST]))
    np.testing.assert_allclose(fit.log_probabilities(np.array(["a", "b"])), expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_scorer_gets_weights_where_there_are_any(weighted):
    weight = np.random.default_rng(2).uniform(0.5, 4, N) if weighted else np.ones(N)
    fit = short_fit(LVQClassifier(random_state=0), [5], fold_of(weight))
    X, y = data()
    expected = np.average(fit.model.predict(X[TEST]) == y[TEST], weights=weight[TEST])
    assert fit.score(get_scorer("accuracy")) == pytest.approx(expected)
    seen = []
    fit.score(lambda model, X, y, **given: seen.append(given) or 0.0)
    assert ("sample_weight" in seen[0]) == weighted


def test_a_class_that_is_missing_in_the_training_fold():
    """It has no probability there."""
    X, y = data()
    y = np.where(np.isin(np.arange(N), TEST[:5]), "c", y)
    fold = make_fold(X, y, np.ones(N), TRAIN, TEST)
    assert fold.classes.tolist() == ["a", "b"]
    table = short_fit(LVQClassifier(random_state=0), [2], fold).log_probabilities(np.array(["a", "b", "c"]))
    assert (table[:, 2] == -np.inf).all()
    np.testing.assert_allclose(np.exp(table).sum(axis=1), 1)


def test_samples_of_weight_zero_are_left_out_of_training():
    weight = np.ones(N)
    weight[TRAIN[::2]] = 0
    fold = make_fold(*data(), weight, TRAIN, TEST)
    assert fold.samples().n_samples == len(TRAIN) - len(TRAIN[::2])


def test_a_boolean_mask_is_a_fold():
    X, y = data()
    mask = np.isin(np.arange(N), TRAIN)
    one, other = make_fold(X, y, np.ones(N), mask, ~mask), fold_of()
    np.testing.assert_array_equal(one.samples().X, other.samples().X)
    np.testing.assert_array_equal(one.test, other.test)


def test_a_training_fold_of_one_class():
    X, y = data()
    with pytest.raises(ValueError, match=r"'cv' parameter of LVQClassifierCV must leave .* two classes .* \['a'\]"):
        make_fold(X, y, np.ones(N), np.flatnonzero(y == "a"), TEST)
