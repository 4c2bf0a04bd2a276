"""Labels, scores, probabilities and explanations agree, because all are functions of the same distances."""

from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.base import clone

from lvq import GLVQ, LOGM, LVQ1, MCE, RSLVQ, SNPC
from lvq.model.links import KERNELS
from lvq.model.prototype_model import PrototypeModel
from lvq.solvers.online import Online, is_compiled

COMPILED_KERNELS = {name: kernel for name, kernel in KERNELS.items() if is_compiled(kernel)}  # any solver has these
STILL = {"solver": Online(learning_rate=0.0), "max_iter": 1}  # prototypes stay at their start


def by_scores(model, X):
    """The labels that the decision function gives."""
    scores = model.decision_function(X)
    if len(model.classes_) == 2:
        assert scores.shape == (len(X),)
        return model.classes_[(scores > 0).astype(int)]
    assert scores.shape == (len(X), len(model.classes_))
    return model.classes_[scores.argmax(axis=1)]


def assert_consistent(model, X):
    predicted = model.predict(X)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(X), len(model.classes_))
    assert np.isfinite(probabilities).all()
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    assert not np.isnan(model.decision_function(X)).any()
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], predicted)
    np.testing.assert_array_equal(by_scores(model, X), predicted)


def hard_samples(model, X):
    """The data, outliers up to where a kernel is flat, prototypes, and midpoints, where classes tie."""
    W = model.prototypes_
    middle = (W[:, None] + W[None]).reshape(-1, W.shape[1]) / 2
    outliers = np.concatenate([X[:5] * scale for scale in (1e1, 1e2, 1e3, 1e6, 1e9)])
    return np.concatenate([X, outliers, W, middle, np.zeros((1, X.shape[1]))]).astype(W.dtype)


@pytest.mark.thin(3)
@pytest.mark.parametrize(("labels", "dtype"), [(2, np.float64), (3, np.float32)])
def test_consistent(model, data, dtype, labels):
    X, y = data
    X, y = X[y < labels].astype(dtype), y[y < labels]
    model.fit(X, y)
    assert_consistent(model, hard_samples(model, X))


@pytest.mark.thin(3)
@pytest.mark.parametrize("first", [[1], [0, 2]], ids=str)
def test_consistent_while_classes_are_missing(model, data, first):
    """In a stream some classes may have no prototypes yet: they are never predicted, and have no probability."""
    X, y = data
    early = np.isin(y, first)
    if model.get_params().get("relevance__rank") and len(first) == 1:
        pytest.skip("see test_streams: low rank from one class")
    model.partial_fit(X[early], y[early], classes=[0, 1, 2])
    assert_consistent(model, hard_samples(model, X))
    assert set(model.predict(X)) <= set(first)
    missing = np.setdiff1d([0, 1, 2], first)
    if model.get_params().get("xi"):
        assert (model.predict_proba(X)[:, missing] == 0).all()
    scores = model.decision_function(X)
    assert (scores[:, missing] <= scores[:, first].min(axis=1, keepdims=True)).all()


@pytest.mark.thin(3)
@pytest.mark.parametrize("cls", [GLVQ, LOGM, RSLVQ, LVQ1])
@pytest.mark.parametrize("kernel", [None, *COMPILED_KERNELS])
def test_exact_ties_go_to_the_first(cls, kernel):
    """A sample halfway between two prototypes, and one far away on the same line."""
    kernel = kernel and replace(COMPILED_KERNELS[kernel], width=1.0)
    model = cls(init=[[-1.0, 0.0], [1.0, 0.0], [0.0, 40.0]], kernel=kernel, **STILL)
    model.fit([[-1.0, 0.0], [1.0, 0.0], [0.0, 40.0]], ["a", "b", "c"])
    X = np.array([[0.0, 0.0], [0.0, -1e3], [0.0, -1e6]])
    assert model.predict(X).tolist() == ["a", "a", "a"]
    assert_consistent(model, X)


# -- one function of distances -----------------------------------------------------------------------------------------


@contextmanager
def given_instead(given):
    """Every output of a model from given distances; that folded prototypes agree with distances has its own test."""
    by_distances = lambda model, X: model.over_blocks(model.decide, X)  # noqa: E731
    with mock.patch.multiple(PrototypeModel, distances=given, predicted=by_distances):
        yield


class GivenDistances:
    """Replaces `PrototypeModel.distances` and returns a given table."""

    def __init__(self, distances):
        self.distances, self.calls = distances, 0

    def __call__(self, X):
        self.calls += 1
        return self.distances.copy()


crafted = arrays.arrays(
    np.float64,
    (7, 6),
    elements=st.one_of(
        st.sampled_from([0.0, 1.0, 1.0 + 2**-52, 2.0, 1e6, 1e12, 1e100, 5e-324]),
        st.floats(0, 1e3, allow_subnormal=False),
    ),
)
FITTED = {}


def fitted(index):
    """Models with six prototypes over two, three or six classes; fitted once."""
    if index not in FITTED:
        model, classes = MODELS[index]
        X = np.random.default_rng(0).normal(size=(60, 3))
        FITTED[index] = clone(model).set_params(n_prototypes=6 // classes, max_iter=1).fit(X, np.arange(60) % classes)
    return FITTED[index]


MODELS = [
    (model.set_params(random_state=0, solver="online"), classes)
    for classes in (2, 3, 6)
    for model in (
        LVQ1(),
        *(GLVQ(kernel=kernel, slope=3.0) for kernel in COMPILED_KERNELS),
        *(LOGM(kernel=kernel, xi=5.0) for kernel in COMPILED_KERNELS),
        MCE(xi=1e-3),
        SNPC(xi=30.0),
        SNPC(decision="posterior", kernel="cauchy", xi=50.0),
    )
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(index=st.integers(0, len(MODELS) - 1), distances=crafted)
def test_consistent_for_any_distances(dtype, index, distances):
    """Equal, neighbouring, zero, tiny and huge distances, after every kernel."""
    model = fitted(index)
    X = np.zeros((7, 3), dtype=dtype)
    given = GivenDistances(np.minimum(distances, 1e30).astype(dtype))
    with given_instead(given):
        assert_consistent(model, X)
        explanation = model.explain(X)
    assert ((explanation.certainty >= 0) & (explanation.certainty <= 1)).all()


@pytest.mark.parametrize("kernel", COMPILED_KERNELS)
@pytest.mark.parametrize(("dtype", "nearer"), [(np.float32, 1), (np.float64, 0)])
def test_consistent_for_neighbouring_distances(kernel, dtype, nearer):
    """Rounding in a kernel can exchange two neighbouring distances; the prediction is still the nearest in D."""
    rng = np.random.default_rng(0)
    small = np.exp(rng.uniform(-5, 5, 4000)).astype(dtype)
    distances = np.stack([small, np.nextafter(small, dtype(np.inf))], axis=1)
    if nearer == 1:
        distances = distances[:, ::-1]
    for cls in (GLVQ, LOGM):
        model = cls(kernel=replace(COMPILED_KERNELS[kernel], width=0.7), solver="online", max_iter=1)
        model.fit(np.array([[0.0], [1.0], [0.1], [1.1]], dtype=dtype), [0, 1, 0, 1])
        X = np.zeros((len(distances), 1), dtype=dtype)
        with given_instead(GivenDistances(distances)):
            assert (model.predict(X) == nearer).all()
            assert_consistent(model, X)
            assert (model.explain(X).certainty >= 0).all()


# -- values by hand ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [MCE, RSLVQ])
def test_steep_scores_by_hand(cls, data):
    X, y = data
    model = cls(solver="online", xi=3.0, random_state=0, max_iter=3).fit(X, y)
    D = model.model_.distances(X)
    xi = 3.0 / np.square(X[:, None] - [X[y == k].mean(axis=0) for k in range(3)]).sum(axis=2).min(axis=1).mean()
    weights = np.exp(-xi * (D - D.min(axis=1, keepdims=True)))
    np.testing.assert_allclose(model.predict_proba(X), weights / weights.sum(axis=1, keepdims=True), rtol=1e-8)
    others = np.stack([np.delete(D, k, axis=1).min(axis=1) for k in range(3)], axis=1)
    np.testing.assert_allclose(model.decision_function(X), xi * (others - D), rtol=1e-8, atol=1e-8)


def boundary_samples(model, X):
    """Pairs of neighbouring float32 samples, as near to the decision boundary as float32 allows."""
    labels = model.predict(X)
    low, high = X[labels == labels[0]], X[labels != labels[0]]
    low, high = low[: min(len(low), len(high))], high[: min(len(low), len(high))]
    for _ in range(60):
        middle = (low + high) / 2
        same = (model.predict(middle) == labels[0])[:, None]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.concatenate([low, high])


def test_the_posterior_decides_in_float32():
    """Posteriors that differ in float64 can be equal in float32: all outputs follow the former."""
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 3
    X = (rng.normal(size=(3000, 2)) + y[:, None]).astype(np.float32)
    model = SNPC(decision="posterior", n_prototypes=2, random_state=0, max_iter=5, solver="online").fit(X, y)
    near = boundary_samples(model, X)
    predicted = model.predict(near)
    np.testing.assert_array_equal(by_scores(model, near), predicted)
    np.testing.assert_array_equal(model.classes_[model.predict_proba(near).argmax(axis=1)], predicted)


# -- explain -----------------------------------------------------------------------------------------------------------


@pytest.mark.thin(3)
def test_explanation(model, data):
    X, y = data
    model.fit(X, y)
    samples = np.concatenate([X, 10 * X[:5], model.prototypes_])
    label, winner, rival, certainty, contributions = model.explain(samples)
    D = model.model_.distances(samples)
    rows = np.arange(len(samples))
    labels = model.prototype_labels_
    own = labels == model.predict(samples)[:, None]
    np.testing.assert_array_equal(label, labels[winner])
    np.testing.assert_array_equal(
        winner, np.where(own, D, np.inf).argmin(axis=1), err_msg="the nearest of the predicted class"
    )
    np.testing.assert_array_equal(rival, np.where(own, np.inf, D).argmin(axis=1), err_msg="the nearest of the others")
    if model.get_params().get("decision") != "posterior":
        np.testing.assert_array_equal(winner, D.argmin(axis=1))
    assert ((certainty >= 0) & (certainty <= 1)).all()
    assert contributions.shape == samples.shape
    gap = D[rows, rival] - D[rows, winner]
    np.testing.assert_allclose(contributions.sum(axis=1), gap, rtol=1e-7, atol=1e-8 * D.max())


def test_contributions_by_hand():
    """One feature contributes for the label, one against it, one nothing."""
    model = GLVQ(init=[[0.0, 2.0, 0.0], [3.0, 0.0, 0.0]], **STILL)
    model.fit([[0.0, 2.0, 0.0], [3.0, 0.0, 0.0]], ["a", "b"])
    explanation = model.explain([[0.0, 0.0, 5.0]])
    assert explanation.label.tolist() == ["a"]
    np.testing.assert_allclose(explanation.contributions, [[9.0, -4.0, 0.0]])
