"""Data and fitted models: every metric and decision rule, alone, in pipelines and with rejection."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, RSLVQ, LVQClassifier, LVQClassifierCV, RejectClassifier
from lvq.model.relevance import Matrix, Weights

ALONE = {
    "plain": GLVQ(n_prototypes=2),
    "kernel": GLVQ(kernel="gaussian"),
    "relevances": GRLVQ(),
    "matrix": GMLVQ(),
    "rank 1": GMLVQ(relevance=Matrix(rank=1)),
    "rank 2": GMLVQ(relevance=Matrix(rank=2)),
    "local by class": LGMLVQ(n_prototypes=2),
    "local by prototype": LGMLVQ(relevance=Matrix(local="prototype", rank=2), n_prototypes=2),
    "local weights": GLVQ(relevance=Weights(local="prototype"), n_prototypes=2),
    "posterior": RSLVQ(decision="posterior", n_prototypes=2),
    "default": LVQClassifier(max_iter=30),
    "search": LVQClassifierCV(cv=2, candidates=[{"relevance": Matrix(ridge=0.01), "max_iter": 30}]),
}
WRAPPED = {
    "pipeline": make_pipeline(StandardScaler(), GMLVQ(random_state=0)),
    "reject around a model": RejectClassifier(GRLVQ(random_state=0), min_coverage=0.8),
    "reject around a pipeline": RejectClassifier(make_pipeline(StandardScaler(), LGMLVQ(random_state=0))),
    "pipeline around reject": make_pipeline(StandardScaler(), RejectClassifier(GLVQ(random_state=0))),
}
KINDS = [*ALONE, *WRAPPED]


class Fitted(dict):
    """Models by their kind, each fitted when it is first used."""

    def __init__(self, data):
        super().__init__()
        self.data = data

    def __missing__(self, kind):
        model = clone(ALONE[kind]).set_params(random_state=0) if kind in ALONE else clone(WRAPPED[kind])
        self[kind] = model.fit(*self.data)
        return self[kind]


@pytest.fixture(scope="session")
def data():
    """Three overlapping classes with four features of different scales, the last of them noise."""
    rng = np.random.default_rng(7)
    y = np.arange(150) % 3
    centres = np.array([[0.0, 0.0, 1.0, 0.0], [2.5, 0.0, 0.0, 0.0], [0.0, 2.5, -1.0, 0.0]])
    return (centres[y] + rng.normal(size=(150, 4))) * [1.0, 2.0, 0.5, 1.0] + [5.0, 0.0, 1.0, 0.0], y


@pytest.fixture(scope="session")
def fitted(data):
    return Fitted(data)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def model(kind, fitted):
    return fitted[kind]
