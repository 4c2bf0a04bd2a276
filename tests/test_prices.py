"""Prices of mistakes: expected prices, the cheapest class, and the classifier that predicts it."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lvq
from lvq import LVQClassifier, PriceClassifier, RejectClassifier, cheapest_class, expected_prices, price_matrix
from lvq.rejection import certainty


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(400, 5, n_informative=3, n_redundant=0, random_state=0)
    return X, np.array(["bad", "good"])[y]


def test_expected_prices_are_sums_over_the_true_classes():
    rng = np.random.default_rng(0)
    p, prices = rng.dirichlet(np.ones(4), size=30), rng.random((4, 4))
    slow = np.array([[sum(row[i] * prices[i, j] for i in range(4)) for j in range(4)] for row in p])
    np.testing.assert_allclose(expected_prices(p, prices), slow)
    np.testing.assert_array_equal(cheapest_class(p, prices), slow.argmin(axis=1))


def test_equal_prices_are_the_most_probable_class():
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=50)
    np.testing.assert_array_equal(cheapest_class(p, 1 - np.eye(3)), p.argmax(axis=1))


def test_two_classes_have_a_threshold(data):
    """Predicting good for bad costs 5: good needs a probability above 5/6."""
    X, y = data
    model = PriceClassifier(LogisticRegression(), {"bad:good": 5}).fit(X, y)
    good = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X) == "good", good > 5 / 6)
    np.testing.assert_array_equal(model.decision_function(X) > 0, good > 5 / 6)


def test_it_lowers_the_price(data):
    X, y = data
    prices = price_matrix({"bad:good": 10}, ["bad", "good"])
    codes = (y == "good").astype(int)

    def paid(model):
        return prices[codes[200:], (model.predict(X[200:]) == "good").astype(int)].mean()

    plain = make_pipeline(StandardScaler(), LVQClassifier(random_state=0)).fit(X[:200], y[:200])
    priced = PriceClassifier(plain, {"bad:good": 10}).fit(X[:200], y[:200])
    assert paid(priced) < paid(plain)


def test_a_reject_classifier_is_certain_where_the_choice_saves_most(data):
    X, y = data
    inner = PriceClassifier(make_pipeline(StandardScaler(), LVQClassifier(random_state=0)), {"bad:good": 5})
    model = RejectClassifier(inner, measure="combined", min_coverage=0.8, cv=3).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.predictions(X).predicted)
    np.testing.assert_allclose(certainty(model.estimator_, X), np.abs(model.estimator_.decision_function(X)))
    assert 0.7 < model.coverage(X) < 0.95


def test_what_needs_the_nearest_prototype_refuses(data):
    X, y = data
    model = PriceClassifier(LVQClassifier(random_state=0), {"bad:good": 5}).fit(X, y)
    with pytest.raises(
        ValueError, match="certified_radius needs predictions by the nearest prototype, got predictions by"
    ):
        lvq.certified_radius(model, X)


def test_it_is_stored(data, tmp_path):
    X, y = data
    model = PriceClassifier(LVQClassifier(random_state=0), {"bad:good": 5}).fit(X, y)
    lvq.save(model, tmp_path / "model.lvq")
    loaded = lvq.load(tmp_path / "model.lvq")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.prices_, model.prices_)


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ({"bda:good": 5}, "got 'bda:good'. Did you mean 'bad:good'"),
        ({"bad:good": -1}, "finite numbers of 0 or more"),
        ({"bad:good": 0, "good:bad": 0}, "with one above 0"),
        ([[0, 1]], "one row and one column for each of the 2 classes"),
    ],
)
def test_wrong_prices(data, prices, message):
    with pytest.raises(ValueError, match=message):
        PriceClassifier(LogisticRegression(), prices).fit(*data)


def test_probabilities_are_needed(data):
    with pytest.raises(ValueError, match="must have predict_proba"):
        PriceClassifier(StandardScaler(), {}).fit(*data)
