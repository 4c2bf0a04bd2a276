"""`partial_fit` with missing="ignore": running variances, the same bits where nothing is missing, and later classes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ3, MCE, OLVQ1, RSLVQ
from lvq.estimators.registry import estimator_types
from lvq.model.links import Gaussian
from lvq.model.relevance import Matrix
from lvq.solvers.online import Online

MODELS = [
    GLVQ(kernel="gaussian", n_prototypes=2),
    GRLVQ(n_prototypes=2, init="samples"),
    GMLVQ(relevance=Matrix(rank=2), n_prototypes=2),
    MCE(kernel=Gaussian(width="learned")),
    LOGM(relevance="local_diagonal"),
    RSLVQ(relevance="matrix"),
    OLVQ1(),
    LVQ3(n_prototypes=2),
]


@pytest.fixture(scope="module")
def samples():
    """Iris, scaled, in random order."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return StandardScaler().fit_transform(X)[order], y[order]


@pytest.fixture(scope="module")
def gaps(samples):
    """Iris without a fifth of its values; one row has none."""
    X = samples[0].copy()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X[40] = np.nan
    return X, samples[1]


def stream(model, X, y, size=30, weight=None):
    for begin in range(0, len(X), size):
        part = slice(begin, begin + size)
        given = None if weight is None else weight[part]
        model.partial_fit(X[part], y[part], classes=[0, 1, 2], sample_weight=given)
    return model


def ignoring(model, **parameters):
    """A copy that ignores missing values."""
    return clone(model).set_params(missing="ignore", random_state=0, **parameters)


@pytest.mark.parametrize("size", [1, 50])
def test_variances_are_those_of_all_samples_so_far(size, gaps):
    """Weighted, of the observed values, far from the origin."""
    X, y = gaps[0] * [1, 10, 0.1, 3] + [1e4, 0, 5, -1e6], gaps[1]
    weight = np.random.default_rng(2).uniform(0.2, 3, len(y))
    model = stream(ignoring(GLVQ()), X, y, size, weight)
    known = ~np.isnan(X)
    mass = weight @ known
    mean = weight @ np.nan_to_num(X) / mass
    expected = weight @ np.where(known, X - mean, 0) ** 2 / mass
    np.testing.assert_allclose(model.model_.variances, expected, rtol=1e-7)


@pytest.mark.thin(2)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_cutting_a_batch_changes_nothing(model, gaps):
    """As long as the variances are the same: here in every part."""
    X, y = gaps
    model = ignoring(model, solver=Online(shuffle=False, schedule="constant")).partial_fit(X, y, classes=[0, 1, 2])
    whole = ignoring(model).partial_fit(X, y, classes=[0, 1, 2]).partial_fit(np.tile(X, (2, 1)), np.tile(y, 2))
    halves = model.partial_fit(X, y).partial_fit(X, y)
    np.testing.assert_allclose(halves.prototypes_, whole.prototypes_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(halves.model_.variances, whole.model_.variances, rtol=1e-12)
    if whole.model_.relevance is not None:
        np.testing.assert_allclose(halves.model_.relevance, whole.model_.relevance, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "late"), [(GLVQ(n_prototypes=2), 0), (LGMLVQ(), 1), (GLVQ(relevance="local_diagonal"), 2)]
)
def test_a_class_first_seen_later(model, late, gaps):
    """Its missing features start at the mean of all values so far."""
    X, y = gaps
    early = y != late
    model = ignoring(model).partial_fit(X[early], y[early], classes=[0, 1, 2])
    first = X[~early][:6].copy()
    first[:, 2] = np.nan
    model.set_params(solver=Online(learning_rate=0, relevance_rate=0)).partial_fit(first, y[~early][:6])
    born = model.prototypes_[model.prototype_labels_ == late]
    np.testing.assert_allclose(born[:, 2], np.nanmean(X[early][:, 2]), rtol=1e-12)
    model.set_params(solver="online")
    for _ in range(5):
        stream(model, X, y)
    assert model.score(X, y) > 0.75


def test_batches_without_any_value(gaps):
    """Also the first one: nothing is learned, and nothing becomes NaN."""
    X, y = gaps
    empty = np.full((6, 4), np.nan), np.arange(6) % 3
    model = ignoring(GMLVQ()).partial_fit(*empty, classes=[0, 1, 2])
    np.testing.assert_array_equal(model.prototypes_, 0)
    before = stream(model, X, y).prototypes_.copy()
    model.partial_fit(*empty)
    np.testing.assert_allclose(model.prototypes_, before, rtol=1e-12)
    np.testing.assert_allclose(model.model_.variances, np.nanvar(X, axis=0), rtol=1e-12)


def test_the_parameter_cannot_change_within_a_stream(gaps, samples):
    model = GLVQ(missing="ignore").partial_fit(*gaps, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="'missing' has changed"):
        model.set_params(missing="raise").partial_fit(*samples)
    strict = GLVQ().partial_fit(*samples, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        strict.partial_fit(*gaps)
    with pytest.raises(ValueError, match="'missing' has changed"):
        strict.set_params(missing="ignore").partial_fit(*gaps)


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", sorted(set(estimator_types()) - {"LVQClassifierCV"}))
def test_every_estimator_learns_online_or_says_why_not(name, gaps):
    X, y = gaps
    model = estimator_types()[name](missing="ignore", random_state=0)
    if not hasattr(model, "partial_fit"):
        model.set_params(relevance=Matrix())
    if model._relevance().smooth:
        assert stream(model, X, y).score(X, y) > 0.6
        return
    with pytest.raises(ValueError, match=f"missing='ignore' of {name} needs a relevance with a gradient"):
        stream(model, X, y)
    with pytest.raises(ValueError, match="contains NaN") as caught:
        model.set_params(missing="raise").fit(X, y)
    assert "missing='ignore'" not in str(caught.value)  # a way that fails
