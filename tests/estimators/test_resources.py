"""Threads and memory: small problems use one thread, and memory does not grow with samples times prototypes."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from lvq import GMLVQ


def quiet_fit(model, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*arguments)


# -- threads -----------------------------------------------------------------------------------------------------------


def product_threads():
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if product_threads() != 2:
            pytest.skip("this build of BLAS has one thread only")
        yield


@pytest.mark.usefixtures("two_threads")
def test_threads_do_not_change_the_result():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9000, 8)), np.arange(9000) % 2
    X[:, 0] += y
    model = GMLVQ(max_iter=5, random_state=0)
    two = quiet_fit(clone(model), X, y)
    with threadpool_limits(1, user_api="blas"):
        one = quiet_fit(clone(model), X, y)
    np.testing.assert_array_equal(one.prototypes_, two.prototypes_)
