"""Threads over chunks of rows, each with a one-thread matrix product.

NumPy's matrix product uses all cores but everything around it one; chunks in threads use all cores for all of it. The
number of a product's threads can be set from the main thread only (elsewhere OpenBLAS takes no notice), where limits
nest, so that the outermost lifts it.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from lvq.model.objective import THREADS

Item = TypeVar("Item")
Value = TypeVar("Value")
Map = Callable[[Callable[[Item], Value], Iterable[Item]], Iterable[Value]]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def product_threads() -> int:
    """Number of threads that a matrix product uses now."""
    libraries = _controller().select(user_api="blas").lib_controllers
    return max((library.num_threads for library in libraries), default=1)


@contextmanager
def single_threaded_products() -> Iterator[None]:
    """Matrix products use one thread inside, those of threads started inside too."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


@contextmanager
def thread_map(threads: int) -> Iterator[Map]:
    """A `map` over chunks by some threads; the built-in one for a single thread."""
    if threads < 2:
        yield map
        return
    with single_threaded_products(), ThreadPoolExecutor(min(threads, THREADS)) as pool:
        yield pool.map
