"""Neither the unit nor the origin of the data matters with the defaults, and kernels have the given width."""

import numpy as np
import pytest
from sklearn.base import clone

from lvq import GLVQ
from lvq.model.links import KERNELS, Gaussian
from lvq.solvers.online import Online, is_compiled

COMPILED_KERNELS = {name: kernel for name, kernel in KERNELS.items() if is_compiled(kernel)}  # any solver has these


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
