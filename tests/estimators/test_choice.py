"""The form of LVQClassifier where its parameters leave it open: samples left out of short fits decide."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import lvq
from lvq import LVQClassifier, LVQClassifierCV
from lvq.estimators import choice, grouped_calibration
from lvq.estimators.classifier import OPEN
from lvq.estimators.grouped_calibration import group_folds
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.local_matrix import LocalMatrix

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def clusters(centres, labels, n=40, seed=0):
    """Samples around centres, `n` of each, with the label of their centre."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(centre, 0.5, (n, 2)) for centre in centres]), np.repeat(labels, n)


def rings(n_features=20, n=100, seed=0):
    """Two Gaussians of different width around one point: a scale for each class tells them apart."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n, n_features)), 2 * rng.normal(size=(n, n_features))]), np.repeat(
        [0, 1], n
    )


def form_of(model):
    name = {LocalMatrix: "local_matrix", LocalDiagonal: "local_scale"}[type(model.model_.metric)]
    return name, len(model.prototypes_) / len(model.classes_)


@pytest.mark.parametrize("seed", range(3))
def test_two_clusters_of_a_class_need_two_prototypes(seed):
    X, y = clusters([(0, 0), (4, 0), (8, 0), (12, 0)], ["a", "b", "a", "b"], seed=seed)
    model = LVQClassifier(random_state=0).fit(X, y)
    assert form_of(model) == ("local_matrix", 2)
    assert model.score(X, y) > 0.98
    assert model.get_params()["relevance"] == "auto"
    assert model.get_params()["n_prototypes"] is None


@pytest.mark.parametrize("seed", range(3))
def test_widths_need_scales_alone(seed):
    X, y = rings(seed=seed)
    model = LVQClassifier(random_state=0).fit(X, y)
    assert form_of(model) == ("local_scale", 1)
    X_test, y_test = rings(seed=seed + 10)
    assert model.score(X_test, y_test) > LVQClassifier(n_prototypes=2, random_state=0).fit(X, y).score(X_test, y_test)


@pytest.mark.parametrize("form", choice.FORMS, ids=str)
def test_the_model_is_that_of_the_parameters_that_are_chosen(form, monkeypatch):
    """Predictions, probabilities and temperature are those of the form given as parameters."""
    X, y = clusters([(0, 0), (2, 0), (2, 2)], [0, 1, 2])
    monkeypatch.setattr(choice, "choose", lambda _: choice.FORMS.index(form))
    chosen = LVQClassifier(random_state=0).fit(X, y)
    assert form_of(chosen) == form
    given = LVQClassifier(relevance=form[0], n_prototypes=form[1], random_state=0).fit(X, y)
    np.testing.assert_array_equal(chosen.prototypes_, given.prototypes_)
    np.testing.assert_allclose(chosen.predict_proba(X), given.predict_proba(X), rtol=1e-10)
    plain = LVQClassifier(calibration=None, random_state=0).fit(X, y)
    assert plain.model_.decision.temperature == 1.0
    np.testing.assert_array_equal(plain.prototypes_, given.prototypes_)


def test_the_same_samples_give_the_same_bits():
    X, y = rings(5)
    one, other = (LVQClassifier(random_state=0).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_copies_and_weights_choose_alike():
    X, y = rings()
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    weighted = LVQClassifier(random_state=0).fit(X, y, weight)
    assert form_of(weighted) == form_of(LVQClassifier(random_state=0).fit(X, y))
    assert form_of(weighted) == ("local_scale", 1)


@pytest.mark.parametrize(
    "given",
    [
        {"n_prototypes": 2},
        {"n_prototypes_total": 4},
        {"relevance": "local_matrix"},
        {"rank": 2},
        {"ridge": 0.01},
        {"local": "class"},
        {"log_determinant": 0.01},
        {"shrinkage": 0.01},
        {"feature_groups": list(range(5))},
        {"sparsity": 0.01},
        {"smoothness": 0.01},
        {"solver": "online", "max_iter": 2},
        {"solver": "adam", "max_iter": 2},
    ],
    ids=str,
)
def test_what_is_given_is_not_chosen(given, monkeypatch):
    """Two prototypes of each class with matrices."""
    monkeypatch.setattr(choice, "best_of", None)
    X, y = rings(5, n=30)
    model = LVQClassifier(random_state=0, **given).fit(X, y)
    assert form_of(model) == ("local_matrix", 2)
    assert set(given) & {*OPEN, "solver"}


def test_given_prototypes_are_not_chosen():
    X, y = rings(5, n=30)
    model = LVQClassifier(init=X[[0, 1, 30, 31]], random_state=0).fit(X, y)
    assert form_of(model) == ("local_matrix", 2)


def test_few_many_and_wide_samples_are_not_chosen(monkeypatch):
    monkeypatch.setattr(choice, "best_of", None)
    X, y = rings(3, n=24)
    assert form_of(LVQClassifier(random_state=0).fit(X, y)) == ("local_matrix", 2)
    monkeypatch.setattr(choice, "MOST_SAMPLES", 59)
    X, y = rings(3, n=30)
    assert form_of(LVQClassifier(random_state=0).fit(X, y)) == ("local_matrix", 2)
    monkeypatch.setattr(choice, "MOST_SAMPLES", 60)
    monkeypatch.setattr(choice, "MOST_FEATURES", 2)
    assert form_of(LVQClassifier(random_state=0).fit(X, y)) == ("local_matrix", 2)
    monkeypatch.setattr(choice, "MOST_FEATURES", 3)
    with pytest.raises(TypeError, match="not callable"):
        LVQClassifier(random_state=0).fit(X, y)


def test_a_stream_has_two_prototypes_with_matrices():
    X, y = rings(5)
    model = LVQClassifier(solver="online", random_state=0).partial_fit(X, y, classes=[0, 1])
    assert form_of(model) == ("local_matrix", 2)


def test_a_warm_start_keeps_the_form():
    X, y = rings()
    model = LVQClassifier(warm_start=True, random_state=0).fit(X, y)
    before = model.objective_value(X, y)
    assert form_of(model) == ("local_scale", 1)
    assert form_of(model.fit(X, y)) == ("local_scale", 1)
    assert model.objective_value(X, y) <= before
    X, y = clusters([(0, 0), (4, 0), (8, 0), (12, 0)], [0, 1, 0, 1])
    assert form_of(LVQClassifier(warm_start=True, random_state=0).fit(X, y).fit(X, y)) == ("local_matrix", 2)


def test_sparse_and_missing_samples_choose_alike():
    X, y = rings()
    assert form_of(LVQClassifier(random_state=0).fit(sparse.csr_array(X), y)) == ("local_scale", 1)
    X[::7, 3] = np.nan
    assert form_of(LVQClassifier(missing="ignore", random_state=0).fit(X, y)) == ("local_scale", 1)


def test_groups_are_not_split(monkeypatch):
    """The form is the one chosen from folds of whole groups, with its temperature."""
    X, y = rings(5)
    groups, seen = np.arange(len(y)) // 8, []

    def folds(*given):
        seen.extend(group_folds(*given))
        return seen[-3:]

    monkeypatch.setattr(grouped_calibration, "group_folds", folds)
    given = LVQClassifier(relevance="local_scale", n_prototypes=1, random_state=0).fit(X, y, groups=groups)
    model = LVQClassifier(random_state=0).fit(X, y, groups=groups)
    assert form_of(model) == ("local_scale", 1)
    assert len(seen) == 3 * 4
    assert all(not set(groups[train]) & set(groups[test]) for train, test in seen)
    np.testing.assert_allclose(model.predict_proba(X), given.predict_proba(X))
    assert "_by_groups" not in vars(model)
    plain = LVQClassifier(calibration=None, random_state=0).fit(X, y, groups=groups)
    assert form_of(plain) == ("local_scale", 1)
    assert plain.model_.decision.temperature == 1
    monkeypatch.setattr(choice, "MOST_SAMPLES", 150)  # more samples than that, but not in a fold
    assert form_of(LVQClassifier(random_state=0).fit(X, y, groups=groups)) == ("local_matrix", 2)


def test_it_is_stored(tmp_path):
    X, y = rings()
    model = LVQClassifier(random_state=0).fit(X, y)
    lvq.save(model, tmp_path / "model.lvq")
    loaded = lvq.load(tmp_path / "model.lvq")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.get_params() == model.get_params()
    assert clone(loaded).n_prototypes is None


def test_a_search_compares_candidates_not_choices(monkeypatch):
    monkeypatch.setattr(choice, "best_of", None)
    X, y = rings(5)
    model = LVQClassifierCV(candidates=[{"xi": 2.0}, {}], cv=3, random_state=0).fit(X, y)
    assert form_of(model.best_estimator_) == ("local_matrix", 2)


def test_other_models_have_no_automatic_relevance():
    with pytest.raises(ValueError, match=r"The 'relevance' parameter of GLVQ must be"):
        lvq.GLVQ(relevance="auto").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"The 'n_prototypes' parameter of GLVQ must be"):
        lvq.GLVQ(n_prototypes=None).fit([[0.0], [1.0]], [0, 1])
