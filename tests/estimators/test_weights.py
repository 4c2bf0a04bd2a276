"""Weights of samples and classes: factors of a sample's step, of which only ratios count; metadata routing."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, LVQ1, LVQClassifier
from lvq.solvers.online import Online


def test_a_class_of_weight_zero_is_no_class(data):
    X, y = data
    model = GLVQ(solver="online", max_iter=2).fit(X, y, sample_weight=(y < 2).astype(float))
    np.testing.assert_array_equal(model.classes_, [0, 1])


@pytest.mark.thin(4)
def test_a_batch_of_weight_zero_changes_nothing(streamed, data):
    """It is refused, as by newer versions of scikit-learn."""
    X, y = data
    streamed.partial_fit(X, y, classes=[0, 1, 2])
    before = streamed.prototypes_.copy()
    with pytest.raises(ValueError, match=r"[Ww]eight"):
        streamed.partial_fit(X, y, sample_weight=np.zeros(len(X)))
    np.testing.assert_array_equal(streamed.prototypes_, before)


def test_weights_multiply_the_step():
    """LVQ1, one sample each, by hand: w += rate weight (x - w). In a fit weights are divided by their mean."""
    X, y, weight = np.array([[1.0], [11.0]]), np.array([0, 1]), [3.0, 1.0]
    model = LVQ1(init=[[0.0], [10.0]], solver=Online(schedule="constant", shuffle=False), max_iter=1)
    np.testing.assert_allclose(clone(model).fit(X, y, sample_weight=weight).prototypes_, [[0.15], [10.05]])
    model.partial_fit(X, y, classes=[0, 1], sample_weight=weight)
    np.testing.assert_allclose(model.prototypes_, [[0.3], [10.1]])


# -- classes -----------------------------------------------------------------------------------------------------------


@pytest.mark.thin(4)
def test_balanced(model, data):
    X, y = data
    keep = (y < 2) | (np.arange(len(X)) < 30)
    X, y = X[keep], y[keep]
    balanced = clone(model).set_params(class_weight="balanced").fit(X, y)
    by_sample = model.fit(X, y, sample_weight=(len(y) / (3 * np.bincount(y)))[y])
    np.testing.assert_allclose(balanced.prototypes_, by_sample.prototypes_, rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_texts_of_digits_are_classes_by_their_text(data):
    (X, y), names = data, ["1", "2", "10"]
    model = LVQClassifier(relevance=None, max_iter=3, random_state=0)
    named = clone(model).set_params(class_weight={names[0]: 3.0}).fit(X, np.array(names)[y])
    plain = model.fit(X, np.array(names)[y], sample_weight=np.where(y == 0, 3.0, 1.0))
    np.testing.assert_array_equal(named.prototypes_, plain.prototypes_)


def test_a_weight_of_no_class_is_an_error(data):
    X, y = data
    with pytest.raises(ValueError, match=r"class_weight must name classes, \['0', '1', '2'\], got 1"):
        GLVQ(class_weight={1: 3.0}).fit(X, y.astype(str))


def test_class_weight_in_a_stream(data):
    """Batches that miss a class of the dict are no error."""
    X, y = data
    model = GLVQ(class_weight={0: 3.0, 1: 1.0, 2: 1.0}, random_state=0)
    plain = clone(model).set_params(class_weight=None)
    weight = np.array([3.0, 1.0, 1.0])
    for few in (y < 2, y > 0, y == 1):
        model.partial_fit(X[few], y[few], classes=[0, 1, 2])
        plain.partial_fit(X[few], y[few], classes=[0, 1, 2], sample_weight=weight[y[few]])
    np.testing.assert_array_equal(model.prototypes_, plain.prototypes_)


def test_balanced_needs_all_data(data):
    with pytest.raises(ValueError, match="class_weight='balanced' of GLVQ needs all samples at once"):
        GLVQ(class_weight="balanced").partial_fit(*data, classes=[0, 1, 2])


@pytest.mark.parametrize(
    ("class_weight", "weight", "message"),
    [
        (None, np.full(90, -1.0), "[Nn]egative"),
        (None, np.full(90, np.nan), "NaN"),
        (None, np.full(90, np.inf), "infinity"),
        (None, np.full(90, 1e308), "sum of the weights.* overflows in float64; divide all of them by the largest"),
        *[({0: bad}, None, "class_weight must hold non-negative numbers") for bad in (-1.0, np.nan)],
        ({0: np.inf}, None, "overflows"),
    ],
)
def test_bad_weights(class_weight, weight, message, data):
    X, y = data
    model = GLVQ(class_weight=class_weight)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y, classes=[0, 1, 2], sample_weight=weight)


# -- routing -----------------------------------------------------------------------------------------------------------


def test_routing_through_a_search_and_a_pipeline(data):
    (X, y), weight = data, np.random.default_rng(1).uniform(0.1, 10, len(data[0]))
    with config_context(enable_metadata_routing=True):
        model = GLVQ(solver="online", max_iter=3, random_state=0).set_fit_request(sample_weight=True)
        steps = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        scoring = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        grid = {"glvq__relevance": [None, "gradient"]}
        search = GridSearchCV(steps, grid, scoring=scoring, cv=3, error_score="raise")
        search.fit(X, y, sample_weight=weight)
    scaled = StandardScaler().fit_transform(X)
    best = search.best_estimator_[-1]
    by_hand = clone(best).fit(scaled, y, sample_weight=weight)
    np.testing.assert_array_equal(best.prototypes_, by_hand.prototypes_)


def test_balanced_weights_count_by_their_sums():
    X = np.random.default_rng(0).normal(size=(120, 2))
    y, weight = np.repeat([0, 1], [100, 20]), np.repeat([0.0, 1.0, 2.0], [70, 30, 20])
    whole = GLVQ(class_weight="balanced", random_state=0).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(120), weight.astype(int))
    copies = GLVQ(class_weight="balanced", random_state=0).fit(X[rows], y[rows])
    np.testing.assert_allclose(whole.prototypes_, copies.prototypes_, rtol=1e-7)
