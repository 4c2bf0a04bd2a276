"""Missing values: properties of the distances, class means for starts, moments of features, and checks of models.

Distances and gradients against their formulas are in `test_metrics.py` and `test_gradients.py`.
"""

import numpy as np
import pytest

from lvq.model.metrics import Diagonal, Euclidean, Mahalanobis
from lvq.model.observed import FeatureMoments, Observed, filled, with_values
from lvq.model.prototype_model import PrototypeModel
from lvq.model.samples import ArraySamples
from lvq.model.storage import from_arrays, to_arrays


def measure(metric, variances, X, W, R=None):
    return Observed(metric, variances).prepare(W, R).distances(X)[0]


def incomplete(rng, count, n_features, fraction=0.3):
    """Samples of which about a fraction of the values is missing; the first has none, the second nothing else."""
    X = rng.normal(size=(count, n_features)) * 1.5
    X[rng.random(X.shape) < fraction] = np.nan
    X[0], X[1] = rng.normal(size=n_features), np.nan
    return X


def test_complete_rows_have_ordinary_distances_and_empty_ones_none():
    rng = np.random.default_rng(0)
    X, W, omega = incomplete(rng, 20, 4), rng.normal(size=(5, 4)), rng.normal(size=(3, 4))
    for metric, R in ((Euclidean(), None), (Diagonal(), omega[0] ** 2), (Mahalanobis(), omega)):
        D = measure(metric, np.ones(4), X, W, R)
        np.testing.assert_allclose(D[0], metric.prepare(W, R).distances(X[:1])[0][0], rtol=1e-12)
        assert (D[1] == 0).all()


def test_distances_are_unbiased_for_uncorrelated_differences():
    rng = np.random.default_rng(0)
    v, omega = np.array([0.5, 1.0, 4.0, 2.0]), rng.normal(size=(4, 4))
    X, W = rng.normal(size=(200_000, 4)) * np.sqrt(v), np.zeros((1, 4))
    ordinary = Mahalanobis().prepare(W, omega).distances(X)[0].mean()
    for seen in ([True, False, True, False], [False, False, True, True], [True, False, False, False]):
        D = measure(Mahalanobis(), v, np.where(seen, X, np.nan), W, omega)
        assert D.mean() == pytest.approx(ordinary, rel=0.02)


def test_distances_do_not_depend_on_the_units_of_features():
    rng = np.random.default_rng(0)
    X, W, omega = incomplete(rng, 20, 4), rng.normal(size=(5, 4)), rng.normal(size=(3, 4))
    units, v = np.array([1.0, 1000.0, 0.01, 7.0]), rng.uniform(0.5, 2, 4)
    D = measure(Mahalanobis(), v, X, W, omega)
    scaled = measure(Mahalanobis(), v * units**2, X * units, W * units, omega / units)
    np.testing.assert_allclose(scaled, D, rtol=1e-9, atol=1e-12)


def test_features_without_weight_or_variance_leave_finite_distances():
    X = np.array([[1.0, np.nan, np.nan], [np.nan, 2.0, np.nan], [np.nan, np.nan, np.nan]])
    D = measure(Diagonal(), np.array([0.0, 1.0, 1.0]), X, np.zeros((1, 3)), np.array([0.5, 0.0, 0.5]))
    assert D.ravel().tolist() == [0.5, 0.0, 0.0]


# -- samples -----------------------------------------------------------------------------------------------------------


def test_filled_by_class_means_then_overall_means_then_the_default():
    nan = np.nan
    X = np.array([[1.0, nan, nan], [nan, nan, nan], [5.0, 4.0, nan], [7.0, nan, nan]])
    samples = ArraySamples(X, np.array([0, 0, 1, 1]), np.ones(4))
    assert filled(samples).X.tolist() == [[1, 4, 0], [1, 4, 0], [5, 4, 0], [7, 4, 0]]
    assert filled(samples, np.full(3, 9.0)).X[:, 2].tolist() == [9] * 4
    assert np.isnan(X).sum() == 8  # the samples given stay as they are
    complete = ArraySamples(np.ones((2, 2)), np.zeros(2, dtype=int), np.ones(2))
    assert filled(complete) is with_values(complete) is complete


def test_rows_without_any_value_are_left_out_unless_their_class_has_no_others():
    nan = np.nan
    X = np.array([[nan, nan], [1.0, nan], [nan, nan], [nan, nan]])
    kept = with_values(ArraySamples(X, np.array([0, 0, 1, 0]), np.arange(4.0)))
    assert (kept.y.tolist(), kept.weight.tolist()) == ([0, 1], [1.0, 2.0])


def test_weights_of_variances_and_means_are_copies():
    rng = np.random.default_rng(0)
    X, y, copies = incomplete(rng, 30, 4), rng.integers(0, 2, 30), rng.integers(1, 4, 30)
    many = ArraySamples(X.repeat(copies, 0), y.repeat(copies), np.ones(copies.sum()))
    ours, theirs = FeatureMoments.of(X, copies), FeatureMoments.of(many.X, many.weight)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.variances(), np.nanvar(many.X, axis=0), rtol=1e-12)
    weighted = filled(ArraySamples(X, y, copies.astype(float))).X.repeat(copies, 0)
    np.testing.assert_allclose(weighted, filled(many).X, rtol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_moments_of_batches_are_those_of_all_samples(offset):
    """Also far from the origin, and where a batch has no value of a feature."""
    rng = np.random.default_rng(0)
    X, weight = incomplete(rng, 40, 4) + offset, rng.uniform(0.5, 2, 40)
    X[:10, 2] = np.nan
    first, *rest = (FeatureMoments.of(X[part], weight[part]) for part in (slice(10), slice(10, 11), slice(11, 40)))
    for batch in rest:
        first = first.joined(batch)
    for ours, theirs in zip(first, FeatureMoments.of(X, weight)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7 if offset else 1e-12)


def test_the_centre_of_samples_ignores_missing_values():
    X = np.array([[1000.0, np.nan, np.nan], [1002.0, 7.0, np.nan], [np.nan, 7.0, np.nan]])
    centre = ArraySamples(X, np.zeros(3, dtype=int), np.ones(3)).centre()
    assert (abs(centre[0] - 1001) <= 1, centre[1:].tolist()) == (True, [7.0, 0.0])


# -- models ------------------------------------------------------------------------------------------------------------


def model(variances, **changes):
    return PrototypeModel(np.eye(3), np.arange(3), np.array(["a", "b", "c"]), variances=variances, **changes)


def test_stored_models_keep_their_variances():
    again = from_arrays(PrototypeModel, to_arrays(model(np.array([1.0, 2.0, 3.0]))))
    assert again.variances.tolist() == [1, 2, 3]
    assert not again.variances.flags.writeable
    assert from_arrays(PrototypeModel, to_arrays(model(None))).variances is None


@pytest.mark.parametrize("variances", [np.ones(2), np.array([1.0, np.nan, 1.0]), [1.0, 1.0, 1.0]])
def test_variances_must_fit_the_features(variances):
    with pytest.raises(ValueError, match="has variances that do not fit its 3 features"):
        model(variances)


def test_models_without_variances_raise_for_missing_values():
    X = np.array([[1.0, np.nan, 0.0]])
    for variances, row in ((None, X), (np.ones(3), np.array([[1.0, np.nan, np.inf]]))):
        with pytest.raises(ValueError, match="contains NaN or infinite values"):
            model(variances).predict(row)
    assert model(np.ones(3)).predict(X).tolist() == ["a"]
    with pytest.raises(
        ValueError, match="transform needs samples without missing values, also of a model with missing"
    ):
        model(np.ones(3)).images(X)
