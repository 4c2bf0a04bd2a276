"""Data that several tests use, and each configuration of the estimators in turn."""

from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from tests.estimators.configurations import (
    BATCH_MODELS,
    FEW,
    MORE,
    MORE_BATCH_MODELS,
    MORE_ONLINE,
    ONLINE,
    STREAMED_BATCH_MODELS,
    short_repr,
    slow,
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of the cases of a test marked ``thin(n)`` every n-th runs, and all in `make test-all`."""
    seen = Counter()
    for item in items:
        mark = item.get_closest_marker("thin")
        if mark:
            name = item.path, item.originalname
            if seen[name] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            seen[name] += 1


@pytest.fixture(params=[*ONLINE, *BATCH_MODELS, *slow(MORE_ONLINE + MORE_BATCH_MODELS)], ids=short_repr)
def model(request):
    """Each configuration in turn, of every solver."""
    return clone(request.param)


@pytest.fixture(params=[*ONLINE, *BATCH_MODELS, *slow(MORE_ONLINE + STREAMED_BATCH_MODELS)], ids=short_repr)
def streamed(request):
    """Each configuration that `partial_fit` takes: it learns no relevances of free size."""
    return clone(request.param)


@pytest.fixture(params=[*ONLINE, *slow(MORE_ONLINE)], ids=short_repr)
def online_model(request):
    """Each configuration of the online solver in turn, with few epochs."""
    return clone(request.param)


@pytest.fixture(params=[*FEW, *slow(MORE)], ids=short_repr)
def default(request):
    """Each estimator in turn, with its defaults except the solver, which is online."""
    return clone(request.param)


@pytest.fixture(scope="session")
def data():
    """Three overlapping classes, four features of which the last is noise."""
    rng = np.random.default_rng(7)
    y = np.arange(90) % 3
    centres = np.array([[0.0, 0.0, 1.0, 0.0], [2.5, 0.0, 0.0, 0.0], [0.0, 2.5, -1.0, 0.0]])
    return centres[y] + rng.normal(size=(90, 4)), y


@pytest.fixture(scope="session")
def samples():
    """Iris, scaled, in random order."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return StandardScaler().fit_transform(X)[order], y[order]


@pytest.fixture(scope="session")
def gaps(samples):
    """Iris without a fifth of its values; the last row has none."""
    X = samples[0].copy()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X[-1] = np.nan
    return X, samples[1]


@pytest.fixture
def dask_in_this_thread():
    """Tasks of dask run one after another, in the thread of the test."""
    with pytest.importorskip("dask").config.set(scheduler="sync"):
        yield
