"""Missing values: properties of the distances; their formulas are in `test_metrics.py` and `test_gradients.py`."""

from dataclasses import replace

import numpy as np
import pytest

from lvq.model.metrics import Diagonal, Mahalanobis
from lvq.model.observed import Observed
from lvq.model.prototype_model import PrototypeModel


def measure(metric, variances, X, W, R=None):
    return Observed(metric, variances).prepare(W, R).distances(X)[0]


def test_distances_are_unbiased_for_uncorrelated_differences():
    rng = np.random.default_rng(0)
    v, omega = np.array([0.5, 1.0, 4.0, 2.0]), rng.normal(size=(4, 4))
    X, W = rng.normal(size=(200_000, 4)) * np.sqrt(v), np.zeros((1, 4))
    ordinary = Mahalanobis().prepare(W, omega).distances(X)[0].mean()
    for seen in ([True, False, True, False], [False, False, True, True], [True, False, False, False]):
        D = measure(Mahalanobis(), v, np.where(seen, X, np.nan), W, omega)
        assert D.mean() == pytest.approx(ordinary, rel=0.02)


def test_features_without_weight_or_variance_leave_finite_distances():
    X = np.array([[1.0, np.nan, np.nan], [np.nan, 2.0, np.nan], [np.nan, np.nan, np.nan]])
    D = measure(Diagonal(), np.array([0.0, 1.0, 1.0]), X, np.zeros((1, 3)), np.array([0.5, 0.0, 0.5]))
    assert D.ravel().tolist() == [0.5, 0.0, 0.0]


def test_models_with_variances_take_missing_values():
    """They are stored with a model; without them, a missing value is an error."""
    X, model = np.array([[1.0, np.nan, 0.0]]), PrototypeModel(np.eye(3), np.arange(3), np.array(["a", "b", "c"]))
    ignoring = replace(model, variances=np.array([1.0, 2.0, 3.0]))
    again = PrototypeModel.from_arrays(ignoring.to_arrays())
    assert again.predict(X).tolist() == ["a"]
    assert (again.variances.tolist(), again.variances.flags.writeable) == ([1, 2, 3], False)
    assert PrototypeModel.from_arrays(model.to_arrays()).variances is None
    for refusing, row in ((model, X), (again, np.array([[1.0, np.nan, np.inf]]))):
        with pytest.raises(ValueError, match="contains NaN or infinite values"):
            refusing.predict(row)
    with pytest.raises(ValueError, match="transform needs samples without missing values, also of a model with miss"):
        again.images(X)
