"""Null-space correction: distances stay, what measures nothing goes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQClassifier, RejectClassifier, null_space_corrected

MODELS = [GMLVQ(), GMLVQ(rank=2), LGMLVQ(), LVQClassifier(kernel=None, n_prototypes=2), LVQClassifier(n_prototypes=2)]


def draw(n_samples=60):
    """Six features in a space of three dimensions."""
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 3
    X = rng.normal(size=(n_samples, 3)) + 2 * np.eye(3)[y]
    return X @ rng.normal(size=(3, 6)) + 4, y


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("n_samples", [60, 6], ids=["many", "few"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_distances_stay_and_the_null_space_goes(model, n_samples):
    X, y = draw(n_samples)
    model = model.set_params(random_state=0, max_iter=30).fit(X, y)
    corrected = null_space_corrected(model, X)
    scale = model.model_.distances(X).max()
    assert_allclose(corrected.model_.distances(X), model.model_.distances(X), atol=1e-9 * scale)
    assert_array_equal(corrected.predict(X), model.predict(X))
    assert_array_equal(corrected.feature_importances_, model.feature_importances_)
    rows = np.concatenate([X, model.prototypes_]) - X.mean(axis=0)
    null = np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows, tol=1e-8 * np.abs(rows).max()) :]
    assert np.abs(corrected.omega_ @ null.T).max(initial=0) < 1e-9 * np.abs(model.omega_).max()
    assert (np.linalg.norm(corrected.omega_) <= np.linalg.norm(model.omega_) * (1 + 1e-12)).all()
    assert_array_equal(null_space_corrected(model, X).omega_, corrected.omega_)  # the model itself did not change


def test_what_was_arbitrary_is_gone():
    """Two matrices that differ only on the null space have the same correction."""
    X, y = draw()
    model = GMLVQ(random_state=0).fit(X, y)
    rows = np.concatenate([X, model.prototypes_]) - X.mean(axis=0)
    null = np.linalg.svd(rows)[2][-1]
    other = null_space_corrected(model, X)
    other.model_ = type(model.model_)(
        **{**vars(model.model_), "relevance": model.omega_ + np.outer(np.ones(len(model.omega_)), null)}
    )
    assert np.abs(other.lambda_ - model.lambda_).max() > 0.1
    assert_allclose(null_space_corrected(other, X).omega_, null_space_corrected(model, X).omega_, atol=1e-9)


def test_a_large_tolerance_removes_directions_of_little_variation():
    X, y = draw()
    X = X + 1e-4 * np.random.default_rng(1).normal(size=X.shape)
    model = GMLVQ(random_state=0).fit(X, y)
    assert np.linalg.matrix_rank(null_space_corrected(model, X).omega_) == 6
    assert np.linalg.matrix_rank(null_space_corrected(model, X, tolerance=0.01).omega_, tol=1e-8) <= 5


def test_in_a_pipeline_and_a_reject_classifier():
    X, y = draw()
    pipeline = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
    corrected = null_space_corrected(pipeline, X)
    assert np.linalg.norm(corrected[-1].omega_) < np.linalg.norm(pipeline[-1].omega_)
    reject = RejectClassifier(make_pipeline(StandardScaler(), GMLVQ(random_state=0)), min_coverage=0.8).fit(X, y)
    assert_array_equal(null_space_corrected(reject, X).predict(X), reject.predict(X))


def test_float32_stays_float32():
    X, y = draw()
    corrected = null_space_corrected(GMLVQ(random_state=0).fit(X.astype(np.float32), y), X.astype(np.float32))
    assert corrected.omega_.dtype == np.float32


def test_messages():
    X, y = draw()
    with pytest.raises(ValueError, match="null_space_corrected needs a model with a matrix, got GRLVQ with relevances"):
        null_space_corrected(GRLVQ(random_state=0).fit(X, y), X)
    with pytest.raises(ValueError, match="needs a model with a matrix, got GLVQ with the Euclidean metric"):
        null_space_corrected(GLVQ(random_state=0).fit(X, y), X)
    with pytest.raises(ValueError, match="tolerance of null_space_corrected must be at least 0 and below 1, got 2"):
        null_space_corrected(GMLVQ(random_state=0).fit(X, y), X, tolerance=2)
