"""Groups of features, few features, smooth weights: what estimators learn with them, and what they refuse."""

import numpy as np
import pytest
from sklearn.base import clone

from lvq import GMLVQ, GRLVQ, LVQClassifier
from lvq.model.relevance import Matrix, Weights

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MODELS = [
    GRLVQ(random_state=0),
    GMLVQ(random_state=0),
    LVQClassifier(relevance="local_matrix", random_state=0),
    LVQClassifier(relevance="local_diagonal", random_state=0),
    LVQClassifier(relevance=Matrix(rank=2, ridge=0.1), solver="adam", max_iter=30, random_state=0),
]


def draw(n_samples=200, seed=0):
    """Two classes that differ in the first two of eight features, the second of them less."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 2
    return rng.normal(size=(n_samples, 8)) + y[:, None] * np.array([3.0, 1.5, 0, 0, 0, 0, 0, 0]), y


def weights_of(model):
    """Weight of each feature in each metric, (K, n)."""
    if hasattr(model, "relevances_"):
        return np.atleast_2d(model.relevances_)
    return np.atleast_3d(np.array(model.omega_, ndmin=3) ** 2).sum(axis=1)


def roughness(model):
    """Mean squared difference of neighbours, relative to the weights."""
    if hasattr(model, "relevances_"):
        parts = np.atleast_2d(model.relevances_)
    else:
        parts = model.omega_.reshape(-1, model.omega_.shape[-1])
    return float(np.square(np.diff(parts, axis=1)).sum() / np.square(parts).sum())


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_excluded_features_have_no_weight(model):
    """They change no distance, and the model is that of the other features."""
    X, y = draw()
    labels = [None, *"bcdefg", None]
    model = clone(model).set_params(relevance__feature_groups=labels).fit(X, y)
    assert (weights_of(model)[:, [0, 7]] == 0).all()
    assert (weights_of(model)[:, 1] > 0).all()
    changed = X.copy()
    changed[:, [0, 7]] += 100.0
    np.testing.assert_array_equal(model.predict(changed), model.predict(X))
    assert model.score(X, y) < 0.95  # without the first feature


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_penalty_prefers_smooth_weights(model):
    X, y = draw()
    plain, smooth = (clone(model).set_params(**given).fit(X, y) for given in ({}, {"relevance__smoothness": 5.0}))
    assert roughness(smooth) < 0.7 * roughness(plain)


def test_refusals():
    X, y = draw()
    with pytest.raises(ValueError, match=r"feature_groups of Weights must have a label for each of 8 .* got 2"):
        GRLVQ(relevance=Weights(feature_groups=["a", "b"])).fit(X, y)
    with pytest.raises(ValueError, match=r"feature_groups of Weights must have a label .* got 8, 0 of them not None"):
        GRLVQ(relevance=Weights(feature_groups=[None] * 8)).fit(X, y)
    with pytest.raises(ValueError, match="log_determinant of Matrix needs all features, and feature_groups excludes"):
        GMLVQ(relevance=Matrix(feature_groups=[None, *"bcdefgh"], log_determinant=0.1)).fit(X, y)
    with pytest.raises(ValueError, match="feature_groups of Matrix must have different labels for all features"):
        GMLVQ(relevance=Matrix(feature_groups=[*"aabcdefg"])).fit(X, y)
