"""Labels, scores, probabilities and explanations agree, because all are functions of the same distances."""

import numpy as np
import pytest

from lvq import SNPC


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


# -- values by hand ----------------------------------------------------------------------------------------------------


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
