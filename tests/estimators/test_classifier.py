"""LVQClassifier: defaults that need no tuning, and every part a parameter."""

from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lvq
from lvq import GLVQ, GMLVQ, LGMLVQ, LOGM, RSLVQ, LVQClassifier, LVQClassifierCV
from lvq.estimators import classifier, cross_fit
from lvq.estimators.classifier import FORMS
from lvq.estimators.specification import PARTS
from lvq.model.costs import COSTS, GLVQCost, LOGMCost, RSLVQCost
from lvq.model.links import KERNELS, Identity
from lvq.model.local_metrics import LocalDiagonal, LocalMahalanobis
from lvq.model.relevance import Matrix, Weights
from lvq.solvers.adam import Adam
from lvq.solvers.online import is_compiled

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize(
    ("load", "least"), [(load_iris, 0.93), (load_wine, 0.95), (load_breast_cancer, 0.95)], ids=["iris", "wine", "wdbc"]
)
def test_defaults_need_no_tuning(load, least):
    """Mean accuracy of 5-fold cross-validation on standardised features."""
    model = make_pipeline(StandardScaler(), LVQClassifier(random_state=0))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert cross_val_score(model, *load(return_X_y=True), cv=folds).mean() > least


COMBINATIONS = [
    (cost, relevance, solver, kernel)
    for cost, relevance, solver, kernel in product(
        COSTS,
        [None, "gradient", "matrix", "local_matrix", "local_diagonal"],
        ["lbfgs", Adam(batch_size=30), "online"],
        [None, *KERNELS],
    )
    if solver != "online" or is_compiled(COSTS[cost], KERNELS.get(kernel, Identity()))
]


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 7))])
def test_every_choice_fits(first, data):
    """Every seventh combination, which has all pairs of parts; the others are slow."""
    X, y = data
    for cost, relevance, solver, kernel in COMBINATIONS[first::7]:
        model = LVQClassifier(
            cost=cost, relevance=relevance, kernel=kernel, solver=solver, max_iter=10, random_state=0
        ).fit(X, y)
        assert model.score(X, y) > 0.7, model
        proba = model.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
        assert np.isfinite(model.objective_value(X, y))


@dataclass(frozen=True)
class SharedWeights(Weights):
    """A rule of a metric that no group of prototypes can have for itself."""

    local: None = field(default=None, init=False)


def test_a_rule_may_fix_that_its_metric_is_shared(monkeypatch):
    monkeypatch.setitem(PARTS["relevance"], "shared", SharedWeights())
    assert LVQClassifier(relevance="shared")._part("relevance", "shared") == SharedWeights(ridge="auto")
    assert LVQClassifier()._part("relevance", "local_diagonal") == Weights(local="prototype", ridge="auto")


@pytest.mark.parametrize(
    ("general", "named"),
    [
        (LVQClassifier(cost="glvq", relevance=None, kernel=None, n_prototypes=2), GLVQ(n_prototypes=2)),
        (LVQClassifier(cost="glvq", relevance=Matrix(), kernel=None, n_prototypes=1), GMLVQ()),
        (
            LVQClassifier(cost=GLVQCost(slope=3.0), relevance=Matrix(local="class"), kernel=None, n_prototypes=1),
            LGMLVQ(slope=3.0),
        ),
        (
            LVQClassifier(cost=LOGMCost(alpha=0.1, xi=1.5), relevance=None, kernel="cauchy"),
            LOGM(kernel="cauchy", alpha=0.1, xi=1.5, n_prototypes=2),
        ),
        (
            LVQClassifier(cost=RSLVQCost(xi=1.0), relevance=None, kernel=None, decision="posterior"),
            RSLVQ(decision="posterior", n_prototypes=2),
        ),
    ],
    ids=["GLVQ", "GMLVQ", "LGMLVQ", "LOGM", "RSLVQ"],
)
def test_named_models_are_configurations(general, named, data):
    X, y = data
    general = clone(general).set_params(calibration=None)
    general, named = (clone(part).set_params(max_iter=15, random_state=0).fit(X, y) for part in (general, named))
    np.testing.assert_array_equal(general.prototypes_, named.prototypes_)
    np.testing.assert_array_equal(general.predict_proba(X), named.predict_proba(X))


def test_shrinkage_makes_matrices_alike(data):
    """Each becomes a multiple of the identity, plus less and less that differs."""
    X, y = data
    distances = []
    for shrinkage in (0.0, 0.01, 1.0):
        relevance = Matrix(local="prototype", ridge="auto", shrinkage=shrinkage)
        model = LVQClassifier(n_prototypes=2, relevance=relevance, random_state=0, max_iter=200).fit(X, y)
        scales = np.trace(model.omega_, axis1=1, axis2=2)[:, None, None] / 4
        distances.append(np.linalg.norm(model.omega_ - scales * np.eye(4)) / np.linalg.norm(model.omega_))
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 0.2


def test_a_ridge_frees_the_size_and_shrinks_it(data):
    X, y = data
    model = LVQClassifier(relevance="matrix", random_state=0, max_iter=200)
    sizes = [
        float(np.linalg.norm(clone(model).set_params(relevance__ridge=ridge).fit(X, y).omega_))
        for ridge in (0, 1e-4, 1e-2, 1)
    ]
    assert sizes[0] == pytest.approx(1, rel=1e-12)
    assert sizes[1] > sizes[2] > sizes[3]


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize(
    "model", [LVQClassifier(), LVQClassifier(relevance="matrix", kernel=None)], ids=["default", "one"]
)
def test_the_unit_of_the_features_does_not_matter_to_the_start(model, factor, data):
    """The ridge weighs Omega, which is one over a length; but Omega starts in the data's own unit."""
    X, y = data
    settings = {"n_prototypes": 1, "solver": Adam(learning_rate=0.0), "max_iter": 1, "random_state": 0}
    one, other = (clone(model).set_params(**settings).fit(scale * X, y) for scale in (1.0, factor))
    np.testing.assert_allclose(other.predict_proba(factor * X), one.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("cost", "hinge"), ("solver", "newton"), ("relevance", "fisher"), ("calibration", "isotonic")],
)
def test_bad_parameters(parameter, value, data):
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of LVQClassifier must be"):
        LVQClassifier(**{parameter: value}).fit(*data)


# -- the form where the parameters leave it open: samples left out of short fits decide --------------------------------


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
    name = {LocalMahalanobis: "local_matrix", LocalDiagonal: "local_scale"}[type(model.model_.metric)]
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


@pytest.mark.parametrize("form", FORMS, ids=["two matrices", "a matrix", "a scale"])
def test_the_model_is_that_of_the_parameters_that_are_chosen(form, monkeypatch):
    """Predictions, probabilities and temperature are those of the form given as parameters."""
    X, y = clusters([(0, 0), (2, 0), (2, 2)], [0, 1, 2])
    monkeypatch.setattr(cross_fit, "choose", lambda _: FORMS.index(form))
    chosen = LVQClassifier(random_state=0).fit(X, y)
    assert form_of(chosen) == ("local_matrix" if isinstance(form.relevance, Matrix) else "local_scale", form[1])
    given = LVQClassifier(**form._asdict(), random_state=0).fit(X, y)
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
        {"relevance": "local_matrix"},
        {"relevance": Matrix(local="prototype", rank=2)},
        {"solver": "online", "max_iter": 2},
        {"solver": "adam", "max_iter": 2},
    ],
    ids=str,
)
def test_what_is_given_is_not_chosen(given, monkeypatch):
    """Two prototypes of each class with matrices."""
    monkeypatch.setattr(classifier, "best_of", None)
    X, y = rings(5, n=30)
    model = LVQClassifier(random_state=0, **given).fit(X, y)
    assert form_of(model) == ("local_matrix", 2)


def test_given_prototypes_are_not_chosen():
    X, y = rings(5, n=30)
    model = LVQClassifier(init=X[[0, 1, 30, 31]], random_state=0).fit(X, y)
    assert form_of(model) == ("local_matrix", 2)


def test_few_many_and_wide_samples_are_not_chosen(monkeypatch):
    monkeypatch.setattr(classifier, "best_of", None)
    X, y = rings(3, n=24)
    assert form_of(LVQClassifier(random_state=0).fit(X, y)) == ("local_matrix", 2)
    monkeypatch.setattr(classifier, "MOST_SAMPLES", 59)
    X, y = rings(3, n=30)
    assert form_of(LVQClassifier(random_state=0).fit(X, y)) == ("local_matrix", 2)
    monkeypatch.setattr(classifier, "MOST_SAMPLES", 60)
    monkeypatch.setattr(classifier, "MOST_FEATURES", 2)
    assert form_of(LVQClassifier(random_state=0).fit(X, y)) == ("local_matrix", 2)
    monkeypatch.setattr(classifier, "MOST_FEATURES", 3)
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
    X, y = rings()
    groups, seen, group_folds = np.arange(len(y)) // 8, [], cross_fit.group_folds
    monkeypatch.setattr(cross_fit, "group_folds", lambda *given: seen.append(group_folds(*given)) or seen[-1])
    given = LVQClassifier(relevance=FORMS[2].relevance, n_prototypes=1, random_state=0).fit(X, y, groups=groups)
    model = LVQClassifier(random_state=0).fit(X, y, groups=groups)
    assert form_of(model) == ("local_scale", 1)
    assert len(seen) == 2
    assert all(not set(groups[train]) & set(groups[test]) for folds in seen for train, test in folds)
    np.testing.assert_allclose(model.predict_proba(X), given.predict_proba(X))
    plain = LVQClassifier(calibration=None, random_state=0).fit(X, y, groups=groups)
    assert form_of(plain) == ("local_scale", 1)
    assert plain.model_.decision.temperature == 1


def test_a_search_compares_candidates_not_choices(monkeypatch):
    monkeypatch.setattr(classifier, "best_of", None)
    X, y = rings(5)
    model = LVQClassifierCV(candidates=[{"cost__xi": 2.0}, {}], cv=3, random_state=0).fit(X, y)
    assert form_of(model.best_estimator_) == ("local_matrix", 2)


def test_other_models_have_no_automatic_relevance():
    with pytest.raises(ValueError, match=r"The 'relevance' parameter of GLVQ must be"):
        lvq.GLVQ(relevance="auto").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"The 'n_prototypes' parameter of GLVQ must be"):
        lvq.GLVQ(n_prototypes=None).fit([[0.0], [1.0]], [0, 1])
