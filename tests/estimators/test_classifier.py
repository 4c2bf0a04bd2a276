"""LVQClassifier: defaults that need no tuning, and every part a parameter."""

from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lvq
from lvq import GLVQ, GMLVQ, LGMLVQ, LOGM, RSLVQ, LVQClassifier, LVQClassifierCV
from lvq.estimators import classifier, cross_fit
from lvq.estimators.classifier import FORMS, RIDGE, Form, as_chosen
from lvq.estimators.specification import PARTS
from lvq.model.costs import COSTS, GLVQCost, LOGMCost, RSLVQCost
from lvq.model.links import KERNELS, Identity
from lvq.model.local_metrics import LocalDiagonal
from lvq.model.metrics import Diagonal, Mahalanobis
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
    assert LVQClassifier(relevance="shared")._part("relevance", "shared") == SharedWeights(ridge=RIDGE)
    assert LVQClassifier()._part("relevance", "local_diagonal") == Weights(local="prototype", ridge=RIDGE)


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
            LOGM(kernel="cauchy", alpha=0.1, xi=1.5, n_prototypes=1),
        ),
        (
            LVQClassifier(cost=RSLVQCost(xi=1.0, decision="posterior"), relevance=None, kernel=None),
            RSLVQ(decision="posterior", n_prototypes=1),
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
    for shrinkage in (0.0, 0.03, 3.0):
        relevance = Matrix(local="prototype", ridge=0.01, shrinkage=shrinkage)
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


def shells(n_features=20, n=100, seed=0):
    """Two Gaussians of different width around one point: only weights for each prototype tell them apart."""
    rng = np.random.default_rng(seed)
    wide = 2 * rng.normal(size=(n, n_features))
    return np.concatenate([rng.normal(size=(n, n_features)), wide]), np.repeat([0, 1], n)


def form_of(model):
    return model.form_, len(model.prototypes_) / len(model.classes_)


def round_classes(rng, n):
    y = np.arange(n) % 3
    return 2 * np.eye(10)[y] + rng.normal(size=(n, 10)), y


def contrast(rng, n):
    """The class is a difference of features that vary far more together: no sum of functions of single features."""
    own = rng.normal(size=(n, 8))
    log_odds = own @ np.repeat([1.0, -1.0], 4) / 0.3 / np.sqrt(8)
    return own + 5 * rng.normal(size=(n, 1)), (log_odds + rng.logistic(size=n) > 0).astype(int)


def widths(rng, n):
    """Two Gaussians around one point: without weights for each prototype all is chance."""
    y = np.arange(n) % 2
    return (1 + y[:, None]) * rng.normal(size=(n, 10)), y


def product_of_features(rng, n):
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize(
    ("make", "fitting", "useless"),
    [
        (round_classes, None, []),
        (contrast, None, ["additive, 1 prototype a class", "additive, 3 prototypes a class"]),
        (widths, ["additive, 1 prototype a class"], []),
        (product_of_features, None, ["plain, 1 prototype a class", "linear, 1 prototype a class"]),
    ],
    ids=["round", "contrast", "widths", "product"],
)
def test_the_form_follows_the_data(make, fitting, useless):
    """The log-loss of new samples is close to that of the form that is best in hindsight."""
    rng = np.random.default_rng(0)
    (X, y), (X_test, y_test) = make(rng, 300), make(rng, 2000)
    model = LVQClassifier(random_state=0).fit(X, y)
    losses = []
    for form in FORMS:
        given = LVQClassifier(relevance=form.relevance, n_prototypes=form.n_prototypes, random_state=0).fit(X, y)
        losses.append(log_loss(y_test, given.predict_proba(X_test)))
    assert log_loss(y_test, model.predict_proba(X_test)) < min(losses) + 0.05
    chosen = Form(model.form_, None, len(model.prototypes_) // len(model.classes_)).label
    assert fitting is None or chosen in fitting
    assert chosen not in useless
    assert max(losses) > min(losses) + 0.08  # so that something can be chosen


def test_the_choice_and_its_scores_are_attributes():
    X, y = shells()
    model = LVQClassifier(random_state=0).fit(X, y)
    assert list(model.form_scores_) == [form.label for form in FORMS]
    best = min(model.form_scores_.values())
    assert model.form_scores_["plain, 1 prototype a class"] > best + 0.3
    assert model.form_scores_[f"additive, {len(model.prototypes_) // 2} prototype{'s' * (len(model.prototypes_) > 2)}"
                              " a class"] < best + 0.05  # fmt: skip
    assert model.get_params()["relevance"] == "auto"
    fixed = LVQClassifier(relevance="matrix", random_state=0).fit(X, y)
    assert fixed.form_ is None
    assert fixed.form_scores_ == {}


@pytest.mark.parametrize("name", ["plain", "linear", "additive", "matrix"])
def test_a_form_can_be_given(name):
    X, y = product_of_features(np.random.default_rng(0), 300)
    model = LVQClassifier(form=name, random_state=0).fit(X, y)
    assert model.form_ == name
    others = {form.label for form in FORMS if form.name == name}
    assert set(model.form_scores_) == (others if len(others) > 1 else set())
    metrics = {"plain": Diagonal, "linear": Mahalanobis, "additive": (Diagonal, LocalDiagonal)}.get(name, object)
    assert isinstance(model.model_.metric, metrics)
    if name == "plain":
        assert np.ptp(model.relevances_) == 0


def test_a_form_and_a_relevance_are_too_much():
    with pytest.raises(ValueError, match=r"form='additive' or a relevance"):
        LVQClassifier(form="additive", relevance="matrix").fit(*shells())


@pytest.mark.parametrize("place", range(len(FORMS)), ids=[form.label for form in FORMS])
def test_the_model_is_that_of_the_parameters_that_are_chosen(place, monkeypatch):
    """Predictions, probabilities and temperature are those of the form given as parameters."""
    X, y = clusters([(0, 0), (2, 0), (2, 2)], [0, 1, 2])
    form = FORMS[place]

    def only(table, _, __, allowed):
        return (np.arange(len(table)) == place) | (allowed == cross_fit.BEHIND) | (len(table) == 1)

    monkeypatch.setattr(cross_fit, "close_to_best", only)
    chosen = LVQClassifier(random_state=0).fit(X, y)
    assert form_of(chosen) == (form.name, form.n_prototypes)
    given = LVQClassifier(relevance=form.relevance, n_prototypes=form.n_prototypes, random_state=0).fit(X, y)
    np.testing.assert_array_equal(chosen.prototypes_, given.prototypes_)
    np.testing.assert_allclose(chosen.predict_proba(X), given.predict_proba(X), rtol=1e-10)
    plain = LVQClassifier(calibration=None, random_state=0).fit(X, y)
    assert plain.model_.decision.temperature == 1.0
    np.testing.assert_array_equal(plain.prototypes_, given.prototypes_)


@pytest.mark.parametrize("make", [widths, round_classes])
def test_a_race_chooses_as_all_folds_do(make, monkeypatch):
    """What is chosen without the forms that are far behind after some folds is good in all folds."""
    X, y = make(np.random.default_rng(1), 200)
    quick = LVQClassifier(random_state=0).fit(X, y)
    monkeypatch.setattr(cross_fit, "BEHIND", 1e9)
    slow = LVQClassifier(random_state=0).fit(X, y)
    chosen = Form(quick.form_, None, len(quick.prototypes_) // len(quick.classes_)).label
    assert min(slow.form_scores_[label] for label in slow.form_scores_ if chosen in label) < (
        min(slow.form_scores_.values()) + 0.03
    )


def test_the_same_samples_give_the_same_bits():
    X, y = shells(5)
    one, other = (LVQClassifier(random_state=0).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_copies_and_weights_choose_alike():
    X, y = shells()
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    weighted = LVQClassifier(random_state=0).fit(X, y, weight)
    assert form_of(weighted) == form_of(LVQClassifier(random_state=0).fit(X, y))


def test_given_numbers_are_kept():
    """A number of prototypes, or given prototypes, leave the metric open."""
    X, y = shells(5, n=60)
    for given in ({"n_prototypes": 2}, {"init": X[[0, 1, 60, 61]], "n_prototypes": 2}):
        model = LVQClassifier(random_state=0, **given).fit(X, y)
        assert len(model.prototypes_) == 4
        assert len(model.form_scores_) == len({form.relevance for form in FORMS})


def test_few_samples_of_a_class_are_plain():
    iris, rng = load_iris(return_X_y=True), np.random.default_rng(0)
    few, many_classes = np.r_[0:9, 50:59, 100:109], np.repeat(np.arange(20), 9)
    samples = np.eye(20)[many_classes] + rng.normal(size=(180, 20))
    for X, y in ((iris[0][few], iris[1][few]), (samples, many_classes)):
        model = LVQClassifier(random_state=0).fit(X, y)
        assert form_of(model) == ("plain", 1)
        assert model.form_scores_ == {}
    assert model.model_.decision.temperature != 1  # 180 samples are enough to calibrate


def test_a_rare_class_has_no_more_prototypes_than_half_its_samples():
    """And no warning that it has too few."""
    X, y = clusters([(0, 0), (4, 0), (8, 0), (12, 0)], [0, 1, 0, 1])
    X, y = np.concatenate([X, [[4.0, 4.0], [4.1, 4.0], [4.0, 4.1]]]), np.append(y, [2, 2, 2])
    model = LVQClassifier(form="plain", random_state=0).fit(X, y)
    assert np.bincount(model.prototype_labels_).tolist() == [8, 8, 1]


def test_expensive_forms_are_left_out(monkeypatch):
    X, y = shells(5)
    monkeypatch.setattr(classifier, "CHOICE_WORK", 200 * 5 * 6)
    model = LVQClassifier(random_state=0).fit(X, y)
    assert list(model.form_scores_) == [form.label for form in FORMS if form.work(5, 2) <= 30]
    monkeypatch.setattr(classifier, "CHOICE_WORK", 0)
    assert form_of(LVQClassifier(random_state=0).fit(X, y)) == ("plain", 1)


@pytest.mark.parametrize("solver", ["online", "adam"])
def test_other_solvers_do_not_choose(solver):
    X, y = shells(5)
    model = LVQClassifier(solver=solver, max_iter=2, random_state=0).fit(X, y)
    assert form_of(model) == ("matrix", 3)
    assert model.form_scores_ == {}


def test_a_stream_has_a_matrix():
    X, y = shells(5)
    model = LVQClassifier(solver="online", random_state=0).partial_fit(X, y, classes=[0, 1])
    assert isinstance(model.model_.metric, Mahalanobis)


def test_a_warm_start_keeps_the_form():
    for X, y in (shells(), clusters([(0, 0), (4, 0), (8, 0), (12, 0)], [0, 1, 0, 1])):
        model = LVQClassifier(warm_start=True, random_state=0).fit(X, y)
        before, form = model.objective_value(X, y), form_of(model)
        alone = as_chosen(model).set_params(warm_start=False).fit(X, y)
        assert form_of(model.fit(X, y)) == form
        assert model.model_.decision.temperature == alone.model_.decision.temperature
        assert model.objective_value(X, y) <= before


def test_sparse_and_missing_samples_choose_alike():
    X, y = shells()
    assert LVQClassifier(random_state=0).fit(sparse.csr_array(X), y).form_ == "additive"
    X[::7, 3] = np.nan
    assert LVQClassifier(missing="ignore", random_state=0).fit(X, y).form_ == "additive"


def test_groups_are_not_split(monkeypatch):
    """The form is the one chosen from folds of whole groups, with its temperature."""
    X, y = shells()
    groups, seen, group_folds = np.arange(len(y)) // 8, [], cross_fit.group_folds

    def spied(y, groups, n_folds):
        seen.extend((groups[train], groups[test]) for train, test in group_folds(y, groups, n_folds))
        return group_folds(y, groups, n_folds)

    monkeypatch.setattr(cross_fit, "group_folds", spied)
    model = LVQClassifier(random_state=0).fit(X, y, groups=groups)
    chosen = as_chosen(model).fit(X, y, groups=groups)
    assert len(seen) == 2 * 5
    assert all(not set(train) & set(test) for train, test in seen)
    np.testing.assert_allclose(model.predict_proba(X), chosen.predict_proba(X))
    plain = LVQClassifier(calibration=None, random_state=0).fit(X, y, groups=groups)
    assert form_of(plain) == form_of(model)
    assert plain.model_.decision.temperature == 1


def test_a_search_compares_candidates_not_choices(monkeypatch):
    monkeypatch.setattr(classifier, "cross_fit", None)
    X, y = shells(5)
    model = LVQClassifierCV(candidates=[{"cost__xi": 3.0}, {}], cv=3, random_state=0).fit(X, y)
    assert len(model.best_estimator_.prototypes_) == 2


def test_other_models_have_no_automatic_relevance():
    with pytest.raises(ValueError, match=r"The 'relevance' parameter of GLVQ must be"):
        lvq.GLVQ(relevance="auto").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"The 'n_prototypes' parameter of GLVQ must be"):
        lvq.GLVQ(n_prototypes=None).fit([[0.0], [1.0]], [0, 1])


# -- probabilities and log-odds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer], ids=["three classes", "two classes"])
def test_scores_are_log_odds_and_probabilities_their_softmax(load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LVQClassifier(random_state=0).fit(X, y)
    scores = model.decision_function(X)
    table = np.column_stack([np.zeros(len(X)), scores]) if scores.ndim == 1 else scores
    np.testing.assert_allclose(model.predict_proba(X), softmax(table, axis=1), rtol=1e-12, atol=1e-300)
    rule, D = model.model_.decision, model.model_.distances(X)
    nearest = np.stack([D[:, model.model_.labels == k].min(axis=1) for k in range(len(model.classes_))], axis=1)
    np.testing.assert_allclose(
        model.predict_proba(X), softmax(-rule.xi / rule.temperature * nearest, axis=1), atol=1e-12
    )
