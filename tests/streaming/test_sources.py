"""Blocks that are read ahead: order, errors, and what happens when the reader stops early."""

import threading
import time

import pytest

from lvq.streaming.sources import made_ahead


def test_items_keep_their_order_and_are_made_in_another_thread():
    threads = []

    def items():
        for number in range(5):
            threads.append(threading.current_thread())
            yield number

    assert list(made_ahead(items())) == [0, 1, 2, 3, 4]
    assert threading.current_thread() not in threads


def test_the_next_item_is_made_while_one_is_used():
    made = threading.Event()

    def items():
        yield 1
        made.set()
        yield 2

    ahead = made_ahead(items())
    assert next(ahead) == 1
    assert made.wait(10)  # nobody has asked for the second
    assert list(ahead) == [2]


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        raise ValueError("row 7 of b.csv")

    ahead = made_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="row 7"):
        next(ahead)


def test_a_reader_that_stops_ends_the_thread():
    def items():
        while True:
            yield 1

    before = threading.active_count()
    ahead = made_ahead(items())
    next(ahead)
    ahead.close()
    until = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() == before
