"""Threads over blocks, and the limit on the threads of a matrix product, which is that of the whole process."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lvq import GLVQ, GMLVQ
from lvq.estimators import training
from lvq.model import samples as module
from lvq.model.samples import block_threads, product_threads, single_threaded_products


def blas_threads():
    """Largest number of threads of a BLAS library of this process."""
    return max((library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"), default=1)


@pytest.fixture
def two_product_threads():
    """Two threads for a product, whatever the machine's setting; restored afterwards."""
    before = blas_threads()
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != 2:
            pytest.skip("this BLAS has one thread and cannot be given two")
        yield
    assert blas_threads() == before


@pytest.mark.parametrize(("products", "used"), [(module.MANY_PRODUCTS - 1, 1), (module.MANY_PRODUCTS, 2)])
def test_large_calls_use_threads_over_blocks(products, used, two_product_threads):
    """Each with products of one thread; small ones leave everything as it is."""
    with block_threads(products) as mapping:
        assert (mapping is map) == (used == 1)
        assert blas_threads() == (2 if used == 1 else 1)
        assert list(mapping(lambda number: number + 1, range(9))) == list(range(1, 10))
    assert blas_threads() == 2


def test_blocks_may_use_the_threads_of_products_outside(two_product_threads):
    """As `fit` does it: products use one thread, and blocks of rows as many as products had."""
    with single_threaded_products(product_threads()):
        assert blas_threads() == 1
        assert product_threads() == 2
        with single_threaded_products():  # folds that run in threads leave one for each
            assert product_threads() == 1
        assert product_threads() == 2
        assert blas_threads() == 1
    assert blas_threads() == 2


def test_a_fit_leaves_the_number_of_threads_as_it_was(two_product_threads, monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    inside, run = [], training.run

    def observed(*arguments):
        inside.append((blas_threads(), product_threads()))
        return run(*arguments)

    monkeypatch.setattr(training, "run", observed)
    GLVQ(solver="online", max_iter=1, random_state=0).fit(X, y)
    assert inside == [(1, 2)]
    assert blas_threads() == 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_threads_do_not_change_the_result(two_product_threads):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9000, 8)), np.arange(9000) % 2
    X[:, 0] += y
    two = GMLVQ(max_iter=5, random_state=0).fit(X, y)
    with threadpool_limits(1, user_api="blas"):
        one = GMLVQ(max_iter=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.prototypes_, two.prototypes_)


@pytest.mark.parametrize("first_leaves_first", [True, False])
def test_limits_that_overlap_in_two_threads(first_leaves_first):
    """Of which none is the main thread: that one would keep the others from setting anything."""
    inside, may_leave = [threading.Event() for _ in range(2)], [threading.Event() for _ in range(2)]

    def stay(number):
        with single_threaded_products():
            inside[number].set()
            may_leave[number].wait(10)

    before = blas_threads()
    threads = [threading.Thread(target=stay, args=(number,)) for number in range(2)]
    for number in range(2):
        threads[number].start()
        assert inside[number].wait(10)
        assert blas_threads() == 1
    for number in (0, 1) if first_leaves_first else (1, 0):
        may_leave[number].set()
        threads[number].join(10)
    assert blas_threads() == product_threads() == before
