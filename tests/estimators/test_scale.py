"""Neither the unit nor the origin of the data matters with the defaults, and kernels have the given width."""

import numpy as np
import pytest
from sklearn.base import clone

from lvq import GLVQ
from lvq.model.links import KERNELS
from lvq.solvers.online import is_compiled

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
