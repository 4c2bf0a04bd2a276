"""Threads: one for small problems, and for large ones threads over blocks of rows, each with one-thread products.

NumPy's matrix product uses all cores and everything else one, and for many small products the threads take more time
than they save. So products use one thread while a model is fitted, and blocks of rows use the cores. The number of a
product's threads is one number for the whole process. So of several fits at a time, nested or in several Python
threads, the first sets it and sets it back; a second one would take the limit for the number to return to.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

from lvq.model.samples import Map, block_map

_budget: ContextVar[int | None] = ContextVar("threads that blocks of rows may use", default=None)
_limited = Lock()  # held while a limit is set


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def product_threads() -> int:
    """Number of threads that a fit may use: that of a matrix product outside of all limits of this module."""
    budget = _budget.get()
    if budget is not None:
        return budget
    return max((library.num_threads for library in _controller().lib_controllers), default=1)


@contextmanager
def single_threaded_products(threads: int = 1) -> Iterator[None]:
    """Matrix products inside use one thread, and blocks of rows at most `threads`."""
    token, first = _budget.set(threads), _limited.acquire(blocking=False)
    try:
        with _controller().limit(limits=1) if first else nullcontext():
            yield
    finally:
        _budget.reset(token)
        if first:
            _limited.release()


MAX_THREADS = 4  # blocks that may be worked on at the same time
LARGE = 2**26  # products from which a call uses several threads


@contextmanager
def block_threads(products: int) -> Iterator[Map]:
    """Blocks of rows are worked on in threads inside, where a call of so many products is large; yields their `map`."""
    threads = product_threads() if products >= LARGE else 1
    if threads < 2:
        yield map
        return
    with single_threaded_products(threads), ThreadPoolExecutor(min(threads, MAX_THREADS)) as pool:
        token = block_map.set(pool.map)
        try:
            yield pool.map
        finally:
            block_map.reset(token)
