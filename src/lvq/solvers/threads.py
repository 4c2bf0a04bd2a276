"""Threads over chunks of rows, each with a one-thread matrix product.

NumPy's matrix product uses all cores but everything around it one; chunks in threads use all cores for all of it. The
limit on the product's threads is the whole process's, so it is counted: the first who needs it sets it, the last lifts
it, whatever threads overlap.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Value = TypeVar("Value")
Map = Callable[[Callable[[Item], Value], Iterable[Item]], Iterable[Value]]

_lock = threading.Lock()
_users = 0
_limit: Any = None


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def product_threads() -> int:
    """Number of threads that a matrix product uses now."""
    libraries = _controller().select(user_api="blas").lib_controllers
    return max((library.num_threads for library in libraries), default=1)


@contextmanager
def single_threaded_products() -> Iterator[None]:
    """Matrix products use one thread inside."""
    global _users, _limit  # noqa: PLW0603 - the limit itself is global to the process
    with _lock:
        _users += 1
        if _users == 1:
            _limit = _controller().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limit.restore_original_limits()


@contextmanager
def thread_map(threads: int) -> Iterator[Map]:
    """A `map` over chunks by some threads; the built-in one for a single thread."""
    if threads < 2:
        yield map
        return
    with single_threaded_products(), ThreadPoolExecutor(threads) as pool:
        yield pool.map
