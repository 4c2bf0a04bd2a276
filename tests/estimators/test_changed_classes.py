"""Classes that come and go: all other prototypes stay as they are."""

from time import process_time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import normalize

from lvq import GLVQ, GMLVQ, LGMLVQ, LOGM, LVQ1, MCE, OLVQ1, RSLVQ, SNPC, LVQClassifier
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import Weights

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MODELS = [
    GLVQ(),
    GLVQ(metric="cosine", n_prototypes=2),
    GMLVQ(),
    LGMLVQ(n_prototypes=2),
    LOGM(kernel="gaussian"),
    RSLVQ(n_prototypes=2, metric="cosine"),
    SNPC(relevance=Weights(local="prototype", ridge=0.01)),
    LVQ1(),
    OLVQ1(),
    LVQ1(relevance="fc2"),
    LVQClassifier(form="plain"),
    LVQClassifier(form="plain", metric="cosine"),
    LVQClassifier(form="additive"),
]


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    X = X / 16 + 0.1
    return X[:500], y[:500], X[500:1100], y[500:1100]


@pytest.mark.filterwarnings("ignore:.*learned without class")
@pytest.mark.parametrize("kind", MODELS, ids=str)
@pytest.mark.parametrize("label", [0, pytest.param(4, marks=pytest.mark.slow), 9])
def test_a_class_is_added_and_removed(kind, label, digits):
    X, y, new, truth = digits
    kind = kind.set_params(random_state=0, max_iter=15)
    known = y != label
    whole = kind.fit(X, y).score(new, truth)
    model = kind.fit(X[known], y[known])
    before, others, labels = model.model_, model.prototypes_, model.prototype_labels_
    importances = model.predict_proba(new)
    for old in ((), (X[known], y[known])):
        model.add_class(X[~known], label, *old)
        kept = model.prototype_labels_ != label
        assert model.classes_.tolist() == list(range(10))
        assert np.array_equal(model.prototypes_[kept], others)
        assert np.array_equal(model.prototype_labels_[kept], labels)
        assert model.score(new, truth) > whole - 0.06
        learned = hasattr(model, "lambda_")  # without the class: it may not tell it from others
        assert (model.predict(new[truth == label]) == label).mean() > (0.35 if learned else 0.5)
        model.remove_class(label)
        assert np.array_equal(model.model_.prototypes, before.prototypes)
        assert np.array_equal(model.predict_proba(new), importances)


def test_a_metric_that_does_not_know_the_new_class_is_warned_of(digits):
    X, y, *_ = digits
    model = GMLVQ(random_state=0, max_iter=5).fit(X[y < 4], y[y < 4])
    with pytest.warns(UserWarning, match=r"add_class of GMLVQ.*learned without class 5"):
        model.add_class(X[y == 5], 5)


def test_a_model_with_costs_gets_no_new_class(digits):
    X, y, *_ = digits
    costs = [[0, 1, 1], [5, 0, 1], [1, 1, 0]]
    model = LVQClassifier(form="plain", cost_matrix=costs, random_state=0).fit(X[y < 3], y[y < 3])
    with pytest.raises(ValueError, match=r"add_class of LVQClassifier.*cost_matrix.*fit a new model"):
        model.add_class(X[y == 3], 3)
    accuracy = model.remove_class(2).score(X[y < 2], y[y < 2])
    assert model.classes_.tolist() == [0, 1]
    assert accuracy > 0.98


def test_new_prototypes_are_at_a_minimum(digits):
    """No small step of them lowers the mean cost of the samples that they were trained with."""
    X, y, *_ = digits
    known = y != 3
    model = RSLVQ(xi=2.0, random_state=0, max_iter=20).fit(X[known], y[known])
    model.add_class(X[~known], 3, X[known], y[known])
    least = model.objective_value(X, y)
    W, random = model.prototypes_.copy(), np.random.RandomState(0)
    for _ in range(5):
        moved = W.copy()
        moved[3] += 0.05 * random.normal(size=64)
        arrays = model.model_.to_arrays() | {"prototypes": moved}
        posterior = PrototypeModel.from_arrays(arrays).posterior(PrototypeModel.from_arrays(arrays).distances(X))
        assert -np.log(posterior[np.arange(len(y)), y]).mean() > least - 1e-6


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_one_more_of_150_classes_at_once(metric):
    """As accurate as a new fit, with and without old samples; 10 samples of each class, as embeddings have them."""
    directions = np.random.RandomState(0).normal(size=(150, 128))

    def draw(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        y = np.repeat(np.arange(150), rows)
        return normalize(directions[y] + 2 * np.random.RandomState(seed).normal(size=(len(y), 128))), y

    (X, y), (new, truth) = draw(10, 1), draw(20, 2)
    kind, known = LVQClassifier(form="plain", metric=metric, random_state=0), y != 70
    whole = kind.fit(X, y).score(new, truth)
    model = kind.fit(X[known], y[known])
    for old in ((), (X[known], y[known])):
        seconds = []
        for _ in range(3):
            start = process_time()
            model.add_class(X[~known], 70, *old)
            seconds.append(process_time() - start)
            added = model.score(new, truth)
            model.remove_class(70)
        assert added > whole - 0.005
        assert old or min(seconds) < 0.05


def texts(rows: int, seed: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Rows as of tf-idf: 25 words of 3,000, a fifth of them by the topic, of 12."""
    words, y = np.random.default_rng(0), np.repeat(np.arange(12), rows)
    topics = 0.8 * words.dirichlet(np.full(3000, 0.1)) + 0.2 * words.dirichlet(np.full(3000, 0.02), 12)
    return sparse.csr_array(normalize(np.sqrt(np.random.default_rng(seed).multinomial(25, topics[y])))), y


def clouds(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Twelve classes that overlap."""
    centres, y = np.random.default_rng(0).normal(size=(12, 30)), np.repeat(np.arange(12), rows)
    return centres[y] + 1.8 * np.random.default_rng(seed).normal(size=(len(y), 30)), y


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("draw", [texts, clouds])
def test_classes_that_overlap(draw, metric):
    """Nearly as accurate as a new fit: with all old samples, with 20 of each class, and with none."""
    (X, y), (new, truth) = draw(500, 1), draw(250, 2)
    known, kind = np.flatnonzero(y != 3), LVQClassifier(form="plain", metric=metric, random_state=0)
    few = np.flatnonzero((y != 3) & (np.arange(len(y)) % 500 < 20))
    whole, model = kind.fit(X, y).score(new, truth), kind.fit(X[known], y[known])
    for old, loss in (((), 0.02), ((X[known], y[known]), 0.01), ((X[few], y[few]), 0.04)):
        model.add_class(X[np.flatnonzero(y == 3)], 3, *old)
        assert model.score(new, truth) > whole - loss
        model.remove_class(3)


def test_text_labels_and_longer_ones(digits):
    X, y, *_ = digits
    names = np.array(["a", "c", "d"])[y[y < 3]]
    model = LOGM(random_state=0).fit(X[y < 3], names)
    model.add_class(X[y == 3], "between")
    assert model.classes_.tolist() == ["a", "between", "c", "d"]
    assert set(model.predict(X[y == 3])) == {"between"}


def test_sparse_rows(digits):
    X, y, *_ = digits
    known = y != 3
    parameters = {"random_state": 0, "max_iter": 20, "metric": "cosine"}
    dense = LOGM(**parameters).fit(X[known], y[known]).add_class(X[~known], 3, X[known], y[known])
    rows = sparse.csr_array(X)
    other = LOGM(**parameters).fit(rows[known], y[known]).add_class(rows[~known], 3, rows[known], y[known])
    assert np.allclose(other.prototypes_, dense.prototypes_, rtol=0, atol=1e-3)


def test_what_does_not_fit_is_refused_and_changes_nothing(digits):
    X, y, *_ = digits
    model = GLVQ(random_state=0, max_iter=3).fit(X[y < 3], y[y < 3])
    before = model.model_
    for call, message in (
        (lambda: model.add_class(X[:3], 2), "must be a new class"),
        (lambda: model.add_class(X[:3], "two"), "must be like the classes"),
        (lambda: model.add_class(X[:3, :5], 7), "features"),
        (lambda: model.add_class(X[:3], 7, X), "both X_old and y_old"),
        (lambda: model.add_class(X[:3], 7, X, y), "not among the classes"),
        (lambda: model.add_class(X[:3], 7, X, [0]), "inconsistent numbers"),
        (lambda: LVQ1(random_state=0).fit(X[y < 3], y[y < 3]).add_class(X[:3], 7, X, y), "not among the classes"),
        (lambda: model.remove_class(7), "needs one of the classes"),
        (lambda: GLVQ(random_state=0).fit(X[y < 2], y[y < 2]).remove_class(0), "at least two classes"),
        (lambda: GLVQ().add_class(X, 1), "not fitted"),
        (lambda: GLVQ(relevance="local_diagonal").fit(X[y < 3], y[y < 3]).add_class(X[y == 3], 3), "size is learned"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert model.model_ is before


def test_a_model_of_given_prototypes(digits):
    X, y, *_ = digits
    means = np.stack([X[y == label].mean(axis=0) for label in range(10)])
    order = np.random.RandomState(0).permutation(10)
    model = PrototypeModel.from_prototypes(means[order], np.array(list("abcdefghij"))[order])
    untrained = GLVQ(init=means, max_iter=0).fit(X, y)
    assert np.array_equal(untrained.prototypes_, means)
    assert untrained.n_iter_ == 0
    assert np.array_equal(
        model.classes[model.predicted(model.checked(X))], np.array(list("abcdefghij"))[untrained.predict(X)]
    )
    assert np.array_equal(model.prototypes, means)
    by_direction = PrototypeModel.from_prototypes(means, np.arange(10), metric="cosine")
    assert np.allclose(by_direction.predict_proba(7 * X), by_direction.predict_proba(X))
    with pytest.raises(ValueError, match="a label for each"):
        PrototypeModel.from_prototypes(means, np.arange(9))


@pytest.mark.parametrize("model", [GLVQ(random_state=0), RSLVQ(random_state=0)], ids=["glvq", "rslvq"])
@pytest.mark.parametrize("unit", [2.0**-40, 2.0**14])
def test_a_new_class_does_not_depend_on_the_unit(model, unit):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    old = y < 2

    def prototypes(scale):
        fitted = clone(model).fit(X[old] * scale, y[old]).add_class(X[~old] * scale, 2, X[old] * scale, y[old])
        return fitted.prototypes_ / scale

    np.testing.assert_allclose(prototypes(unit), prototypes(1.0), rtol=1e-9)


@pytest.mark.parametrize("model", [MCE(random_state=0), SNPC(random_state=0)], ids=["mce", "snpc"])
def test_a_bounded_cost_adds_a_class_far_from_its_prototypes(model):
    """Without a regulariser they end far outside of the samples, and all samples are nearer to the new mean."""
    X, y = np.random.default_rng(2).normal(size=(40, 2)), np.repeat([0, 1, 2, 3], 10)
    X[:, 0] += 3 * y
    old = y < 3
    model.fit(X[old], y[old])
    assert np.abs(model.prototypes_).max() > 30
    for samples in ((), (X[old], y[old])):
        assert clone(model).fit(X[old], y[old]).add_class(X[~old], 3, *samples).score(X, y) > 0.85
