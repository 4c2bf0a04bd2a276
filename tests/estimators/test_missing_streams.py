"""`partial_fit` with missing="ignore": running variances, the same bits where nothing is missing, and later classes."""

import numpy as np
import pytest

from lvq import GLVQ, GMLVQ, LGMLVQ
from lvq.estimators.registry import estimator_types
from lvq.model.relevance import Matrix
from lvq.solvers.online import Online
from tests.estimators.configurations import ignoring


def stream(model, X, y, size=30, weight=None):
    for begin in range(0, len(X), size):
        part = slice(begin, begin + size)
        given = None if weight is None else weight[part]
        model.partial_fit(X[part], y[part], classes=[0, 1, 2], sample_weight=given)
    return model


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
