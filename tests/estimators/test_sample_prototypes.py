"""Prototypes that are samples: they are rows of X of their class, and the metric fits them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, LVQClassifier
from lvq.estimators.sample_prototypes import nearest_own_samples
from lvq.model.costs import GLVQCost
from lvq.model.links import Gaussian
from lvq.model.relevance import Matrix, Weights
from lvq.model.rows import as_numpy
from lvq.model.samples import ArraySamples
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online

X, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)


def plain(**parameters):
    """GLVQ as an LVQClassifier, whose prototypes can be samples."""
    given = {"cost": GLVQCost(), "kernel": None, "relevance": None, "n_prototypes": 1, "calibration": None}
    return LVQClassifier(**(given | {"random_state": 0, "sample_prototypes": True} | parameters))


MODELS = {
    "plain": plain(n_prototypes=2),
    "learned width": plain(n_prototypes=2, kernel=Gaussian(width="learned")),
    "matrix": plain(relevance=Matrix(rank=3)),
    "online": plain(relevance=Weights(), solver="online", max_iter=10),
    "adam": plain(relevance=Weights(), solver="adam", max_iter=10),
    "local matrices": plain(relevance=Matrix(rank=2, local="class"), max_iter=500),
    "soft": plain(cost="rslvq"),
    "default": LVQClassifier(solver=LBFGS(tol=1e-3), sample_prototypes=True, random_state=0),
}


def rows_of(model, X):
    """The rows of X that equal each prototype."""
    return [np.flatnonzero((w == X).all(axis=1)) for w in model.prototypes_]


@pytest.mark.parametrize("name", MODELS)
def test_every_prototype_is_a_sample_of_its_class(name):
    model = clone(MODELS[name]).fit(X, Y)
    rows = rows_of(model, X)
    assert all(len(found) for found in rows)
    assert [Y[found[0]] for found in rows] == model.model_.classes[model.model_.labels].tolist()
    assert len({int(found[0]) for found in rows}) == len(rows)  # different ones
    assert model.score(X, Y) > 0.9


def test_the_metric_fits_the_samples():
    """Better than the metric of the free prototypes, with the same samples as prototypes; a minimum by the metric."""
    free = plain(relevance="matrix", sample_prototypes=False).set_params(relevance__ridge=0.0).fit(X, Y)
    model = clone(free).set_params(sample_prototypes=True).fit(X, Y)
    placed = clone(free).fit(X, Y)
    nearest = nearest_own_samples(free.model_, ArraySamples(X, Y, np.ones(len(X))))
    placed.model_ = replace(placed.model_, prototypes=X[nearest])
    assert model.objective_value(X, Y) < placed.objective_value(X, Y)
    found, rng = model.objective_value(X, Y), np.random.default_rng(0)
    for _ in range(20):
        omega = model.omega_ + 1e-2 * rng.normal(size=model.omega_.shape)
        placed.model_ = replace(model.model_, relevance=omega / np.linalg.norm(omega))
        assert placed.objective_value(X, Y) > found


def test_the_nearest_own_samples_by_a_plain_search():
    """Each prototype in its order takes the nearest row of its class that equals none of those taken."""
    data, labels = np.repeat(X[::3], 2, axis=0), np.repeat(Y[::3], 2)
    model = GLVQ(n_prototypes=3, init="random", random_state=1, max_iter=1, solver=Online(learning_rate=0))
    model.fit(data, labels)
    D, taken, expected = as_numpy(model.model_.distances(data)), [], []
    for j, label in enumerate(model.model_.classes[model.model_.labels]):
        rows = [
            r for r in range(len(data)) if labels[r] == label and not any((data[r] == data[t]).all() for t in taken)
        ]
        expected.append(min(rows, key=lambda row, j=j: (D[row, j], row)))
        taken.append(expected[-1])
    codes = np.searchsorted(model.classes_, labels)
    assert nearest_own_samples(model.model_, ArraySamples(data, codes, np.ones(len(data)))).tolist() == expected


def test_fewer_distinct_samples_than_prototypes():
    data, labels = np.array([[0.0, 0.0]] * 3 + [[4.0, 1.0], [5.0, 1.0]] * 2), np.array([0, 0, 0, 1, 1, 1, 1])
    init = ([[0.0, 1.0], [1.0, 0.0], [4.0, 0.0], [5.0, 0.0]], [0, 0, 1, 1])
    model = plain(n_prototypes=2, init=init, solver="online", max_iter=1).fit(data, labels)
    assert model.prototypes_.tolist() == [[0, 0], [0, 0], [4, 1], [5, 1]]


def test_wide_samples_keep_their_bits():
    """Few samples of many features are trained in coordinates of their span; prototypes are still rows."""
    rng = np.random.default_rng(0)
    wide, y = rng.normal(size=(20, 60)), np.arange(20) % 2
    wide[y == 1, :3] += 2
    model = plain(relevance=Matrix(rank=2)).fit(wide, y)
    assert all(len(found) for found in rows_of(model, wide))


def test_refused():
    with pytest.raises(ValueError, match="needs all samples at once"):
        plain().partial_fit(X, Y, classes=[0, 1, 2])
    pytest.importorskip("torch")
    for given in ({"missing": "ignore"}, {"solver": LBFGS(device="cpu")}):
        with pytest.raises(ValueError, match=r"sample_prototypes=True of LVQClassifier needs .* missing='raise'"):
            plain(**given).fit(X, Y)
