"""Cross-fitting: folds, also of whole groups, and probabilities calibrated on samples that were left out."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss

from lvq import LVQClassifier
from lvq.estimators.cross_fit import close_to_best, fold_numbers, group_folds, make_folds
from lvq.model.costs import RSLVQCost
from lvq.model.relevance import Matrix
from lvq.model.samples import ArraySamples
from lvq.model.scores import fitted_temperature

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def noisy(seed, noise=0.3, n_samples=240, n_classes=2):
    """Two or more Gaussian classes, a part of the labels drawn at random."""
    random = np.random.default_rng(seed)
    y = np.arange(n_samples) % n_classes
    X = random.normal(size=(n_samples, 4)) + 2.0 * np.eye(4)[y]
    drawn = random.random(n_samples) < noise
    return X, np.where(drawn, random.integers(0, n_classes, n_samples), y)


@pytest.mark.parametrize(
    ("settings", "n_classes"),
    [({"relevance": None}, 2), ({"cost": "glvq"}, 3), ({"cost": RSLVQCost(decision="posterior")}, 2)],
    ids=["plain", "glvq", "posterior"],
)
def test_only_probabilities_change(settings, n_classes):
    X, y = noisy(0, n_classes=n_classes)
    model = LVQClassifier(max_iter=20, random_state=0, **settings)
    plain, calibrated = clone(model).set_params(calibration=None).fit(X, y), model.fit(X, y)
    np.testing.assert_array_equal(calibrated.predict(X), plain.predict(X))
    if "cost" in settings:  # scores of the cross-entropy are the logarithms of the probabilities
        np.testing.assert_array_equal(calibrated.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(calibrated.classes_[calibrated.predict_proba(X).argmax(axis=1)], plain.predict(X))
    temperature = calibrated.model_.decision.temperature
    assert plain.model_.decision.temperature == 1 != temperature
    raised = plain.predict_proba(X) ** (1 / temperature)
    np.testing.assert_allclose(calibrated.predict_proba(X), raised / raised.sum(axis=1, keepdims=True), rtol=1e-9)
    if n_classes == 2 and "cost" not in settings:
        expected = expit(calibrated.decision_function(X))
        np.testing.assert_allclose(calibrated.predict_proba(X)[:, 1], expected)


@pytest.mark.parametrize("cost", ["logm", "glvq"])
def test_the_loss_of_new_samples_falls_where_labels_are_noisy(cost):
    """On the mean of five draws, and by a third of what the best temperature in hindsight could bring."""
    losses = []
    for seed in range(5):
        X, y = noisy(seed)
        X_test, y_test = noisy(seed + 100, n_samples=2000)
        model = LVQClassifier(cost=cost, relevance=None, n_prototypes=2, max_iter=30, random_state=0).fit(X, y)
        plain = replace(model.model_, decision=replace(model.model_.decision, temperature=1.0))
        table = plain.predict_proba(X_test)
        hindsight = fitted_temperature(np.log(table), y_test, np.ones(len(y_test)))
        best = replace(plain, decision=replace(plain.decision, temperature=hindsight))
        losses.append([log_loss(y_test, part.predict_proba(X_test)) for part in (plain, model.model_, best)])
    before, after, limit = np.mean(losses, axis=0)
    assert before - after > (before - limit) / 3
    assert after < before


def test_it_is_the_temperature_of_fits_without_the_samples():
    X, y = noisy(1)
    model = LVQClassifier(relevance="matrix", n_prototypes=2, max_iter=12, random_state=0).fit(X, y)
    folds, table = make_folds(ArraySamples(X, y, np.ones(len(y))), np.arange(2)), np.zeros((len(y), 2))
    (X, y, _), given = folds.samples.take(slice(None)), model
    assert len(folds.pairs) == 5
    for train, test in folds.pairs:
        inner = clone(given).set_params(calibration=None).fit(X[train], y[train])
        table[test] = inner.predict_proba(X[test])
    expected = fitted_temperature(np.log(table), y, np.ones(len(y)))
    assert model.model_.decision.temperature == pytest.approx(expected, rel=0.02)  # lbfgs runs once in a short fit


def test_folds():
    """Each class in equal parts; copies in different folds."""
    X = np.repeat(np.random.default_rng(0).normal(size=(40, 3)), 2, axis=0)
    y = np.repeat(np.arange(40) % 2, 2)
    fold = fold_numbers(X, y)
    assert [np.bincount(fold[y == label]).tolist() for label in (0, 1)] == [[8] * 5] * 2
    assert (fold[::2] != fold[1::2]).all()
    y[:8] = 2  # four distinct samples, and their copies
    assert ((fold_numbers(X, y) == -1) == (y == 2)).all()
    y[8:10] = 2
    assert (fold_numbers(X, y) >= 0).all()


@pytest.mark.parametrize("kind", ["numbers", "categories", "sparse"])
def test_folds_do_not_depend_on_the_order_or_the_unit_of_samples(kind):
    X, y = noisy(3)
    X = (X > 0).astype(float) if kind == "categories" else X
    order = np.random.default_rng(1).permutation(len(y))
    found = []
    for factor, rows in ((1.0, np.arange(len(y))), (1e3, order)):
        given = sparse.csr_array(factor * X[rows]) if kind == "sparse" else factor * X[rows]
        folds = make_folds(ArraySamples(given, y[rows], np.ones(len(y))), np.arange(2))
        arrays = (folds.samples.X.toarray() if kind == "sparse" else folds.samples.X) / factor
        found.append([(arrays[test], folds.samples.y[test]) for _, test in folds.pairs])
    for one, other in zip(*found):
        np.testing.assert_allclose(one[0], other[0], rtol=1e-12)
        np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("case", ["few samples", "one class has enough samples"])
def test_too_few_samples_are_not_calibrated(case):
    X, y = noisy(0, n_samples=49 if case == "few samples" else 60)
    if case != "few samples":
        y = (np.arange(60) < 4).astype(int)
    model = LVQClassifier(max_iter=5, random_state=0).fit(X, y)
    assert model.model_.decision.temperature == 1


def test_a_rare_class_is_left_out_without_a_warning():
    """In the folds it would have fewer samples than prototypes."""
    X, y = noisy(0, n_classes=3)
    y = np.where((y == 2) & (np.cumsum(y == 2) > 3), 1, y)
    assert np.bincount(y)[2] == 3
    model = LVQClassifier(max_iter=5, n_prototypes=3, random_state=0).fit(X, y)
    assert model.model_.decision.temperature != 1
    assert model.predict_proba(X)[:, 2].max() > 0


def test_weights_count():
    """Samples of no weight are left out, and the temperature follows those of large weight."""
    X, y = noisy(0)
    clean, pure = noisy(1, noise=0.0)
    both, labels = np.vstack([X, clean]), np.append(y, pure)
    weight = np.where(np.arange(len(labels)) < len(y), 1.0, 1e-3)
    model = LVQClassifier(cost="glvq", relevance=None, max_iter=20, random_state=0)
    noisy_one = clone(model).fit(both, labels, sample_weight=weight).model_.decision.temperature
    clean_one = clone(model).fit(both, labels, sample_weight=weight[::-1]).model_.decision.temperature
    assert noisy_one > 1.2 * clean_one
    zero = clone(model).fit(both, labels, sample_weight=(weight == 1).astype(float)).model_.decision.temperature
    assert zero == model.fit(X, y).model_.decision.temperature


@pytest.mark.parametrize("kind", ["float32", "sparse", "online", "missing", "costs"])
def test_kinds_of_data_and_settings(kind):
    X, y = noisy(0)
    settings = {
        "sparse": {"cost": "logm"},  # convex in the margin, so that rounding does not lead elsewhere
        "online": {"solver": "online"},
        "missing": {"missing": "ignore"},
        "costs": {"cost_matrix": [[0, 5], [1, 0]]},
    }.get(kind, {})
    if kind == "missing":
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    given = {"float32": X.astype(np.float32), "sparse": sparse.csr_array(X)}.get(kind, X)
    model = LVQClassifier(max_iter=10, random_state=0, **settings).fit(given, y)
    assert model.model_.decision.temperature != 1
    table = model.predict_proba(given)
    assert table.dtype == given.dtype
    np.testing.assert_array_equal(model.classes_[table.argmax(axis=1)], model.predict(given))
    if kind == "sparse":
        plain = LVQClassifier(max_iter=10, random_state=0, cost="logm").fit(X, y)
        assert model.model_.decision.temperature == pytest.approx(plain.model_.decision.temperature, rel=0.05)


def test_a_stream_keeps_the_temperature():
    X, y = noisy(0)
    model = LVQClassifier(relevance=Matrix(), max_iter=10, random_state=0).fit(X, y)
    before = model.model_.decision.temperature
    model.partial_fit(X[:50], y[:50])
    assert model.model_.decision.temperature == before != 1
    stream = LVQClassifier(relevance=Matrix(), random_state=0).partial_fit(X, y, classes=[0, 1])
    assert stream.model_.decision.temperature == 1


# -- groups ------------------------------------------------------------------------------------------------------------


def recognisable_groups(seed, n_groups=30, size=8):
    """Samples close to the centre of their group; the class of a group is chance."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    centres, labels = rng.normal(size=(n_groups, 5)), rng.permutation(np.arange(n_groups) % 2)
    return centres[groups] + 0.1 * rng.normal(size=(len(groups), 5)), labels[groups], groups


def test_folds_hold_whole_groups():
    _, y, groups = recognisable_groups(0)
    folds = group_folds(y, groups, 4)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])


def test_the_temperature_is_that_of_groups_left_out():
    X, y, groups = recognisable_groups(0)
    model = LVQClassifier(relevance="local_matrix", n_prototypes=2, random_state=0)
    plain, grouped = (clone(model).fit(X, y, **given) for given in ({}, {"groups": groups}))
    assert grouped.model_.decision.temperature > 1.3 * plain.model_.decision.temperature
    np.testing.assert_array_equal(grouped.prototypes_, plain.prototypes_)
    assert grouped.get_params()["calibration"] == "temperature"
    alone = LVQClassifier(random_state=0, calibration=None).fit(X, y, groups=groups)
    assert alone.model_.decision.temperature == 1


def test_one_group_cannot_be_left_out():
    with pytest.raises(ValueError, match="groups must have at least two different values"):
        group_folds(np.array([0, 1] * 5), np.zeros(10), 3)


# -- the choice among candidates ---------------------------------------------------------------------------------------

TABLE = np.random.default_rng(0).normal(size=(3, 60))
ONES = np.ones(60)


def test_error_of_a_difference_by_its_formula():
    """With equal weights: the sample variance over the number of samples, times the factor for folds that overlap."""
    folds = make_folds(ArraySamples(*noisy(0), np.ones(240)), np.arange(2))
    assert folds.inflation == pytest.approx(1 + 5 / 4)  # of five folds
    difference = TABLE[1] - TABLE[1].mean()
    error = np.sqrt(difference.var(ddof=1) / 60 * 2.25)
    for ahead in (0.99, 1.01):
        table = np.array([np.zeros(60), difference + ahead * error])
        assert close_to_best(table, ONES, 2.25, allowed=1.0).tolist() == [ahead < 1, True]


def test_only_differences_and_ratios_of_weights_count():
    """Hard and easy samples change the scores, not which are close to the best; a weight of two counts twice."""
    weight = np.random.default_rng(7).uniform(size=60)
    expected = close_to_best(TABLE, weight, 2.0, 0.5).tolist()
    assert close_to_best(TABLE + 100 * TABLE[0], 1e6 * weight, 2.0, 0.5).tolist() == expected
    ahead = TABLE + np.array([[0.0], [1.0], [0.0]]) * (np.arange(60) < 5) * 100
    assert close_to_best(ahead, np.where(np.arange(60) < 5, 1, 1e-6), 2.0, 0.5).tolist() == [False, True, False]


def test_a_single_sample_has_no_error():
    assert close_to_best(np.array([[1.0], [2.0], [1.9]]), np.ones(1), 2.0, 1.0).tolist() == [False, True, False]
