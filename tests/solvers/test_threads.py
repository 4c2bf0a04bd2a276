"""Threads over chunks, and the limit on the threads of a matrix product, which is the whole process's."""

import threading

import pytest
from threadpoolctl import threadpool_limits

from lvq.solvers.threads import product_threads, single_threaded_products, thread_map


@pytest.fixture
def two_product_threads():
    """Two threads for a product, whatever the machine's setting; put back afterwards."""
    before = product_threads()
    with threadpool_limits(2, user_api="blas"):
        if product_threads() != 2:
            pytest.skip("this BLAS has one thread and cannot be given two")
        yield
    assert product_threads() == before


def test_one_thread_is_the_plain_map():
    with thread_map(1) as mapping:
        assert mapping is map


def test_results_come_in_order():
    with thread_map(4) as mapping:
        assert list(mapping(lambda number: number * number, range(100))) == [number * number for number in range(100)]


def test_errors_come_through():
    with pytest.raises(ZeroDivisionError), thread_map(2) as mapping:
        list(mapping(lambda number: 1 // number, range(3)))


def test_products_have_one_thread_inside_and_as_many_as_before_outside(two_product_threads):
    with single_threaded_products():
        assert product_threads() == 1
        with single_threaded_products():
            assert product_threads() == 1
        assert product_threads() == 1
    assert product_threads() == 2


def test_the_limit_is_lifted_after_an_error(two_product_threads):
    with pytest.raises(RuntimeError, match="halfway"), single_threaded_products():
        raise RuntimeError("halfway")
    assert product_threads() == 2


def test_the_last_to_leave_lifts_the_limit(two_product_threads):
    """One thread enters first and leaves first, while another is still inside; in the end the limit is gone."""
    inside, may_leave = threading.Event(), threading.Event()

    def stay():
        with single_threaded_products():
            inside.set()
            may_leave.wait(10)

    other = threading.Thread(target=stay)
    with single_threaded_products():
        other.start()
        assert inside.wait(10)
        assert product_threads() == 1
    may_leave.set()
    other.join(10)
    assert product_threads() == 2
