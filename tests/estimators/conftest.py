"""Data that several tests use, and a spread of configurations: every estimator, and every part at least once."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import lvq
from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ1, LVQ3, MCE, OLVQ1, RLVQ, RSLVQ, SNPC

DEFAULTS = [
    part(random_state=0)
    for name in lvq.__all__
    if inspect.isclass(part := getattr(lvq, name)) and issubclass(part, BaseEstimator)
]
VARIANTS = [
    LVQ1(n_prototypes=2, relevance="fc1"),
    LVQ1(relevance="hebbian", kernel="cauchy"),
    OLVQ1(relevance="fc2", n_prototypes=2),
    LVQ3(n_prototypes=2, kernel="gaussian"),
    RLVQ(squared=True, n_prototypes=2),
    GLVQ(n_prototypes=3, kernel="gaussian"),
    GLVQ(kernel="gaussian", kernel_width="learned"),
    GLVQ(relevance="fc2", init="samples"),
    GLVQ(relevance="matrix", init="means"),
    GLVQ(slope=5.0, step="relative", n_prototypes=2),
    GLVQ(slope="time", step="gradient", schedule="inverse"),
    GRLVQ(kernel="inverse_multiquadric", n_prototypes=2),
    GMLVQ(rank=1),
    GMLVQ(kernel="gaussian", n_prototypes=2),
    LGMLVQ(local="prototype", n_prototypes=2),
    LGMLVQ(rank=1),
    MCE(relevance="local_matrix", n_prototypes=2),
    MCE(kernel="rational_quadratic", schedule="constant"),
    LOGM(relevance="matrix", rank=2, alpha=0.01),
    LOGM(kernel="gaussian", init="random", n_prototypes=2),
    LOGM(relevance="fc1"),
    SNPC(decision="posterior", n_prototypes=2, kernel="gaussian"),
    SNPC(relevance="local_matrix", n_prototypes=2),
    RSLVQ(decision="posterior", n_prototypes=3),
    RSLVQ(decision="posterior", relevance="matrix"),
    RSLVQ(relevance="gradient", kernel="cauchy", n_prototypes=2),
]


def spelled(model: BaseEstimator) -> str:
    """The estimator's name and its parameters other than the defaults."""
    default = type(model)().get_params()
    given = {key: value for key, value in model.get_params().items() if value != default[key]}
    given.pop("random_state", None)
    return f"{type(model).__name__}({', '.join(f'{key}={value}' for key, value in given.items())})"


@pytest.fixture(params=DEFAULTS + [variant.set_params(random_state=0) for variant in VARIANTS], ids=spelled)
def model(request):
    """Each configuration in turn, with few epochs."""
    return clone(request.param).set_params(max_iter=10)


@pytest.fixture(params=DEFAULTS, ids=spelled)
def default(request):
    """Each estimator in turn, with its defaults."""
    return clone(request.param)


@pytest.fixture(scope="session")
def data():
    """Three overlapping classes, four features of which the last is noise."""
    rng = np.random.default_rng(7)
    y = np.arange(90) % 3
    centres = np.array([[0.0, 0.0, 1.0, 0.0], [2.5, 0.0, 0.0, 0.0], [0.0, 2.5, -1.0, 0.0]])
    return centres[y] + rng.normal(size=(90, 4)), y


@pytest.fixture(scope="session")
def pair(data):
    """The first two of those classes."""
    X, y = data
    return X[y < 2], y[y < 2]
