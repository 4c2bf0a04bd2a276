"""Data that several tests use, and a spread of configurations: every estimator, and every part at least once.

The papers train sample by sample, and so do most tests here; `model` has some configurations of the batch solvers too.
"""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ1, LVQ3, MCE, MODELS, OLVQ1, RLVQ, RSLVQ, SNPC

# the models of the papers; what is built from them has tests of its own
ESTIMATORS = sorted({spelling.estimator for spelling in MODELS.values()}, key=lambda part: part.__name__)
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


BATCH = [
    GLVQ(solver="lbfgs", n_prototypes=2),
    GLVQ(solver="adam", kernel="gaussian"),
    GRLVQ(solver="lbfgs", kernel="cauchy"),
    GMLVQ(solver="lbfgs", rank=2),
    LGMLVQ(solver="adam", local="prototype", n_prototypes=2),
    LOGM(solver="lbfgs", kernel="gaussian", kernel_width="learned"),
    RSLVQ(solver="lbfgs", decision="posterior", n_prototypes=2),
]


def online(model: BaseEstimator) -> BaseEstimator:
    """The model trained sample by sample."""
    return model.set_params(solver="online") if "solver" in model.get_params() else model


def spelled(model: BaseEstimator) -> str:
    """The estimator's name and its parameters other than the defaults."""
    default = online(type(model)()).get_params()
    given = {key: value for key, value in model.get_params().items() if value != default[key]}
    for key in ("random_state", "max_iter", "tol"):
        given.pop(key, None)
    return f"{type(model).__name__}({', '.join(f'{key}={value}' for key, value in given.items())})"


DEFAULTS = [online(part(random_state=0)) for part in ESTIMATORS]
ONLINE = [online(clone(variant)).set_params(random_state=0, max_iter=10) for variant in DEFAULTS + VARIANTS]
EVERY = ONLINE + [
    variant.set_params(random_state=0, max_iter=20 if variant.solver == "adam" else 500) for variant in BATCH
]


@pytest.fixture(params=EVERY, ids=spelled)
def model(request):
    """Each configuration in turn, of every solver."""
    return clone(request.param)


@pytest.fixture(params=ONLINE, ids=spelled)
def online_model(request):
    """Each configuration of the online solver in turn, with few epochs."""
    return clone(request.param)


@pytest.fixture(params=DEFAULTS, ids=spelled)
def default(request):
    """Each estimator in turn, with its defaults but for the solver, which is online."""
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
