"""Changes of the data that change nothing, or the model in a known way; and models that other libraries have too.

Every change is made for every configuration to which it applies. The start is at the means: k-means and random samples
depend on the order of the rows by design. Few iterations: rounding errors have not grown, and every effect is there.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale

from lvq import LVQ1, RLVQ, LVQClassifier
from lvq.model.relevance import Matrix, Relevance
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online
from tests.estimators.configurations import (
    BATCH_MODELS,
    MORE_BATCH_MODELS,
    MORE_ONLINE,
    ONLINE,
    assert_same,
    short_repr,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FACTORS = np.array([4.0, 1.0, 0.5])  # of the classes
ROTATION = ortho_group.rvs(4, random_state=0)


class Changed(NamedTuple):
    """The changed data, parameters that go with them, and the prototypes of before in the changed space."""

    X: object
    y: object
    weight: np.ndarray
    params: Mapping = MappingProxyType({})
    moved: Callable = lambda W: W


def zeros(X, y, weight):
    """Between the rows are others of weight zero, far away."""
    X, y, weight = X.repeat(2, axis=0), y.repeat(2), weight.repeat(2)
    X[1::2], weight[1::2] = 1e6, 0.0
    return Changed(X, y, weight)


def copies(X, y, weight):
    """Weights are whole numbers."""
    count = weight.astype(int)
    return Changed(X.repeat(count, axis=0), y.repeat(count), np.ones(count.sum()))


def shuffled(X, y, weight):
    order = np.random.default_rng(1).permutation(len(X))
    return Changed(X[order], y[order], weight[order])


# these give the same bits
EXACT = {
    "again": Changed,
    "ratios": lambda X, y, weight: Changed(X, y, 2.0**-20 * weight),
    "zeros": zeros,
    "class weights": lambda X, y, w: Changed(X, y, w / FACTORS[y], {"class_weight": dict(enumerate(FACTORS))}),
    "names": lambda X, y, weight: Changed(X, np.array(["a", "b", "c"])[y], weight),
    "table": lambda X, y, weight: Changed(pd.DataFrame(X, columns=list("abcd")), pd.Series(y), weight),
    "ignoring": lambda X, y, weight: Changed(X, y, weight, {"missing": "ignore"}),
}
# and these the same up to rounding
CLOSE = {
    "sparse": lambda X, y, weight: Changed(sparse.csr_array(X), y, weight),
    "unit": lambda X, y, weight: Changed(X / 4096, y, weight, {}, lambda W: W / 4096),
    "origin": lambda X, y, weight: Changed(X + 512.0, y, weight, {}, lambda W: W + 512.0),
    "features": lambda X, y, weight: Changed(X[:, ::-1], y, weight, {}, lambda W: W[:, ::-1]),
    "classes": lambda X, y, weight: Changed(X, np.array(["c", "b", "a"])[y], weight, {}, lambda W: W[::-1]),
    "rotation": lambda X, y, weight: Changed(X @ ROTATION, y, weight, {}, lambda W: W @ ROTATION),
    "copies": copies,
    "order": shuffled,
    "polars": lambda X, y, weight: Changed(pl.DataFrame(X, schema=list("abcd")), y, weight),
    "pyarrow": lambda X, y, weight: Changed(pa.table(dict(zip("abcd", X.T))), y, weight),
}
TABLES = ("polars", "pyarrow")


def applies(change, model):
    """Whether a change has no effect of its own on a model."""
    relevance, solver = model._relevance(), model._part("solver", model.solver)
    if change == "ignoring":
        return relevance.smooth
    if change == "unit":  # a plain step has the unit of the data in it, and so has the rule of RLVQ
        hebbian = isinstance(model, RLVQ) or model.get_params().get("relevance") == "hebbian"
        return getattr(solver, "step", "scaled") != "gradient" and not hebbian
    if change == "rotation":
        whole = type(relevance) is Relevance or (isinstance(relevance, Matrix) and relevance.rank is None)
        return whole and not isinstance(solver, Adam)  # which scales each coordinate
    return change not in ("copies", "order") or isinstance(solver, LBFGS)


def pairs(changes):
    """Models and changes; of those that are not slow anyway every third runs by default."""
    found = []
    for models, always in ((ONLINE + BATCH_MODELS, True), (MORE_ONLINE + MORE_BATCH_MODELS, False)):
        for change in changes:
            for model in models:
                if applies(change, model):
                    marks = () if always and len(found) % 3 == 0 else pytest.mark.slow
                    found.append(pytest.param(model, change, id=f"{change}-{short_repr(model)}", marks=marks))
    return found


def given(model, data, n_prototypes=None):
    """A model with few iterations, and samples in round numbers, so that adding a whole number is exact; some are 0."""
    model = clone(model).set_params(init="means", max_iter=5)
    if "calibration" in model.get_params():
        model.set_params(calibration=None)
    X, y = data
    X, weight = np.round(X * 1024) / 1024, np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    X[np.abs(X) < 0.3] = 0.0
    return model.set_params(n_prototypes=n_prototypes or model.n_prototypes), X, y, weight


@pytest.mark.parametrize(("model", "change"), pairs(EXACT))
def test_the_same_bits(model, change, data):
    """Of the fit, and of a stream, whose weights are used as they are."""
    model, X, y, weight = given(model, data)
    changed = EXACT[change](X.copy(), y, weight)
    one = clone(model).fit(X, y, sample_weight=weight)
    other = clone(model).set_params(**changed.params).fit(changed.X, changed.y, sample_weight=changed.weight)
    assert_same(one, other)
    new = X if change == "zeros" else changed.X
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(new), rtol=1e-12)
    np.testing.assert_array_equal(other.classes_[one.predict(X)], other.predict(new))
    assert np.array_equal(X, given(model, data)[1])  # fit has not changed the samples
    if change == "ratios" or model._relevance().free_size:
        return
    streams = [clone(model), clone(model).set_params(**changed.params)]
    for stream, labels, (X_, y_, w_) in zip(streams, (one.classes_, other.classes_), ((X, y, weight), changed[:3])):
        half = len(y_) // 2
        stream.partial_fit(X_[:half], y_[:half], classes=labels, sample_weight=w_[:half])
        stream.partial_fit(X_[half:], y_[half:], sample_weight=w_[half:])
    assert_same(*streams)


@pytest.mark.parametrize(("model", "change"), pairs(CLOSE))
def test_the_same_model(model, change, data):
    """With one prototype of each class: several start at random places around the mean, feature by feature."""
    model, X, y, weight = given(model, data, n_prototypes=1)
    changed = CLOSE[change](X, y, weight)
    one = clone(model).fit(X, y, sample_weight=weight)
    other = clone(model).fit(changed.X, changed.y, sample_weight=changed.weight)
    moved = changed.moved(one.prototypes_)
    np.testing.assert_allclose(other.prototypes_, moved, rtol=1e-4, atol=1e-4 * np.ptp(moved))
    found = other.predict_proba(CLOSE[change](X, y, np.ones(len(X))).X)
    expected = one.predict_proba(X)
    if change in TABLES:
        assert other.feature_names_in_.tolist() == list("abcd")
        np.testing.assert_allclose(other.explain(changed.X).contributions, one.explain(X).contributions, atol=1e-3)
    if change == "order":
        expected = one.predict_proba(changed.X)
    np.testing.assert_allclose(found, expected[:, ::-1] if change == "classes" else expected, atol=1e-4)


def test_every_change_is_made_by_default():
    for changes in (EXACT, CLOSE):
        assert {pair.values[1] for pair in pairs(changes) if not pair.marks} == set(changes)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_order_of_samples_does_not_change_a_choice(load):
    """The form, its scores and the temperature."""
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    model = LVQClassifier(max_iter=8, random_state=0)
    one, other = clone(model).fit(scale(X), y), clone(model).fit(scale(X)[order], y[order])
    assert (other.form_, other.form_scores_) == (one.form_, one.form_scores_)
    assert other.model_.decision.temperature == one.model_.decision.temperature


# -- other libraries ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_prototypes_at_all_samples_are_the_nearest_neighbour(dtype):
    X, y = load_iris(return_X_y=True)
    _, rows = np.unique(X.astype(dtype), axis=0, return_index=True)
    X, y = X[rows].astype(dtype), y[rows]
    model = LVQ1(init=(X, y), solver=Online(learning_rate=0.0), max_iter=1).fit(X, y)
    new = (3 * np.random.default_rng(0).normal(size=(5000, 4)) + X.mean(axis=0)).astype(dtype)
    expected = KNeighborsClassifier(1, algorithm="brute").fit(X.astype(float), y)
    distances = expected.kneighbors(new.astype(float), 2)[0]
    clear = distances[:, 1] - distances[:, 0] > (1e-5 if dtype == np.float32 else 1e-12)
    assert clear.mean() > 0.95
    np.testing.assert_array_equal(model.predict(new)[clear], expected.predict(new.astype(float))[clear])
    assert model.score(X, y) == 1
