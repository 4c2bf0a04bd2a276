"""Neither the unit nor the origin of the data matters with the defaults, and kernels have the given width."""

import numpy as np
import pytest
from sklearn.base import clone

from lvq import GLVQ, RLVQ
from lvq.model.links import KERNELS, Gaussian
from lvq.solvers.online import Online, is_compiled

COMPILED_KERNELS = {name: kernel for name, kernel in KERNELS.items() if is_compiled(kernel)}  # any solver has these


def scale_free(model):
    """Whether the model does not depend on the unit: not with the plain gradient, nor with RLVQ's rule."""
    relevance = getattr(model, "relevance", None)
    return (
        getattr(model.solver, "step", "scaled") != "gradient" and not isinstance(model, RLVQ) and relevance != "hebbian"
    )


@pytest.mark.parametrize("unit", [2.0**-12, pytest.param(2.0**12, marks=pytest.mark.slow)])
def test_the_unit_of_the_data_does_not_matter(model, data, unit):
    if not scale_free(model):
        pytest.skip("a plain step has the unit of the data in it")
    X, y = data
    plain, scaled = clone(model).fit(X, y), model.fit(unit * X, y)
    np.testing.assert_allclose(scaled.prototypes_ / unit, plain.prototypes_, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(scaled.predict(unit * X), plain.predict(X))
    np.testing.assert_allclose(scaled.predict_proba(unit * X), plain.predict_proba(X), atol=1e-6)


def test_the_origin_of_the_data_does_not_matter(model, data):
    """Without a common centre, dot products lose their digits far from the origin."""
    X, y = data
    X = np.round(X * 2**10) / 2**10  # so that adding a whole number is exact
    # the starts are given, as k-means and random samples depend on the order of the rows
    first = np.flatnonzero(np.arange(len(X)) < 3 * model.n_prototypes)
    plain = clone(model).set_params(init=(X[first], y[first])).fit(X, y)
    moved = model.set_params(init=(X[first] + 2.0**14, y[first])).fit(X + 2.0**14, y)
    if model.solver not in ("lbfgs", "adam"):
        np.testing.assert_allclose(moved.prototypes_ - 2.0**14, plain.prototypes_, rtol=1e-5, atol=1e-5)
    assert (moved.predict(X + 2.0**14) == plain.predict(X)).mean() > 0.97


@pytest.mark.parametrize("kernel", COMPILED_KERNELS)
def test_training_uses_the_width_of_the_kernel(kernel, data):
    """A width of 3 on the data and one of 1 on a third of the data are the same kernel."""
    X, y = data
    model = GLVQ(solver="online", kernel=kernel, random_state=0, max_iter=20)
    wide = clone(model).set_params(kernel__width=4.0).fit(X, y)
    narrow = clone(model).set_params(kernel__width=1.0).fit(X / 4, y)
    np.testing.assert_allclose(narrow.prototypes_, wide.prototypes_ / 4, rtol=1e-8)
    other = clone(model).set_params(kernel__width=0.5).fit(X, y)
    assert np.abs(other.prototypes_ - wide.prototypes_).max() > 0.01


def test_the_history_is_the_cost_at_the_width_in_use(data):
    """With a rate of zero the mean cost of an epoch is that of the starting prototypes under the kernel."""
    X, y = data
    model = GLVQ(solver=Online(learning_rate=0.0), kernel=Gaussian(width=3.0), max_iter=1).fit(X, y)
    linked = 2 - 2 * np.exp(-np.square(X[:, None] - model.prototypes_).sum(axis=2) / (2 * 3.0**2))
    d_plus = linked[np.arange(len(y)), y]
    d_minus = np.where(np.arange(3) == y[:, None], np.inf, linked).min(axis=1)
    mu = (d_plus - d_minus) / (d_plus + d_minus)
    assert model.objective_history_[0] == pytest.approx(mu.mean(), rel=1e-9)


def test_learned_width_moves(data):
    X, y = data
    fixed = GLVQ(solver="online", kernel="gaussian", random_state=0).fit(X, y)
    moved = GLVQ(solver="online", kernel=Gaussian(width="learned"), random_state=0).fit(X, y)
    assert moved.kernel_width_ != pytest.approx(fixed.kernel_width_, rel=1e-3)
