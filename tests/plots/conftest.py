"""Data and a spread of fitted models: every metric, every way to answer, alone, in pipelines and with rejection."""

import os
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQ1, RLVQ, RSLVQ, LVQClassifier, LVQClassifierCV, RejectClassifier

os.environ.setdefault("MPLBACKEND", "Agg")  # no windows

ALONE = {
    "plain": GLVQ(n_prototypes=2),
    "kernel": GLVQ(kernel="gaussian"),
    "rule": LVQ1(max_iter=5),
    "relevances": GRLVQ(),
    "hebbian": RLVQ(max_iter=5),
    "matrix": GMLVQ(),
    "rank 1": GMLVQ(rank=1),
    "rank 2": GMLVQ(rank=2),
    "rank 3": GMLVQ(rank=3, n_prototypes=2),
    "local by class": LGMLVQ(n_prototypes=2),
    "local by prototype": LGMLVQ(local="prototype", n_prototypes=2, rank=2),
    "posterior": RSLVQ(decision="posterior", n_prototypes=2),
    "front door": LVQClassifier(max_iter=30),
    "search": LVQClassifierCV(cv=2, ridges=(0.01,), structures=[{"relevance": "matrix"}], max_iter=30),
}
WRAPPED = {
    "pipeline": make_pipeline(StandardScaler(), GMLVQ(random_state=0)),
    "reject around a model": RejectClassifier(GRLVQ(random_state=0), min_coverage=0.8),
    "reject around a pipeline": RejectClassifier(make_pipeline(StandardScaler(), LGMLVQ(random_state=0))),
    "pipeline around reject": make_pipeline(StandardScaler(), RejectClassifier(GLVQ(random_state=0))),
}
KINDS = [*ALONE, *WRAPPED]


@pytest.fixture(scope="session")
def data():
    """Three overlapping classes with four features of different size, the last of them noise."""
    rng = np.random.default_rng(7)
    y = np.arange(150) % 3
    centres = np.array([[0.0, 0.0, 1.0, 0.0], [2.5, 0.0, 0.0, 0.0], [0.0, 2.5, -1.0, 0.0]])
    return (centres[y] + rng.normal(size=(150, 4))) * [1.0, 2.0, 0.5, 1.0] + [5.0, 0.0, 1.0, 0.0], y


@pytest.fixture(scope="session")
def fitted(data):
    """Every kind of model by its name, fitted on these."""
    alone = {name: clone(model).set_params(random_state=0).fit(*data) for name, model in ALONE.items()}
    return alone | {name: clone(model).fit(*data) for name, model in WRAPPED.items()}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def model(kind, fitted):
    return fitted[kind]


@pytest.fixture(autouse=True)
def closed_figures():
    """No figure outlives its test; nothing is imported for that."""
    yield
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is not None:
        plt.close("all")
