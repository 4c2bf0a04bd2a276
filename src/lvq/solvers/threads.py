"""Threads: one for small problems, and for large ones threads over blocks of rows, each with one-thread products.

NumPy's matrix product uses all cores and everything else one, and for many small products the threads take more time
than they save. So products use one thread while a model is fitted, and blocks of rows use the cores. The number of a
product's threads is one number for the whole process. So of several fits at a time, nested or in several Python
threads, the first sets it and sets it back; a second one would take the limit for the number to return to.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache, partial
from math import inf
from threading import Lock
from time import perf_counter

from threadpoolctl import ThreadpoolController

from lvq.model.objective import MAX_THREADS
from lvq.model.samples import Item, Map, Value

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


LARGE = 2**26  # products from which a call uses several threads


@contextmanager
def block_threads(products: int) -> Iterator[Map]:
    """A `map` over blocks of rows for a call of so many products: in threads where it is large."""
    threads = product_threads() if products >= LARGE else 1
    if threads < 2:
        yield map
        return
    with single_threaded_products(threads), thread_map(threads) as mapping:
        yield mapping


@contextmanager
def thread_map(threads: int) -> Iterator[Map]:
    """A `map` over blocks by some threads; the built-in one for a single thread."""
    if threads < 2:
        yield map
        return
    threads = min(threads, MAX_THREADS)
    with ThreadPoolExecutor(threads) as pool:
        yield partial(_map_in_order, pool, 2 * threads)  # no thread waits for the sum of the results


@contextmanager
def faster_map(threads: int) -> Iterator[Map]:
    """A `map` for many calls with blocks of the same sizes: by some threads where that is seen to be faster."""
    with thread_map(threads) as mapping:
        yield map if mapping is map else FasterMap(mapping)


LONG = 2e-3  # seconds for each block, in threads, from which these are always faster
TRIALS = 3  # of each way, in turn
AGAIN = 128  # calls after which both ways are tried again, as the load of a machine changes


class FasterMap:
    """Of two ways to map, the one that took less time so far; one item needs no thread.

    Threads share Python's lock, so that for small blocks two of them can take longer than one. Where that begins
    depends on the machine and on what else runs on it. The results are the same in any case.

    Parameters
    ----------
    parallel : callable
        A `map` by several threads.
    """

    def __init__(self, parallel: Map) -> None:
        self.ways: tuple[Map, Map] = (parallel, map)
        self._known: dict[int, Trials] = {}

    def __call__(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """Results in the order of the items."""
        found = list(items)
        if len(found) < 2:
            yield from map(function, found)
            return
        known = self._known.setdefault(len(found), Trials())
        way, start = known.way, perf_counter()
        yield from self.ways[way](function, found)
        known.add(way, perf_counter() - start, len(found))


class Trials:
    """The shortest time of each of two ways so far, and which is next."""

    def __init__(self) -> None:
        self.shortest = [inf, inf]
        self.calls = 0
        self.way = 0

    def add(self, way: int, seconds: float, n_items: int) -> None:
        """Take note of a call, and choose the way of the next one."""
        self.calls = (self.calls + 1) % AGAIN
        if self.calls == 0:
            self.shortest = [inf, inf]
        self.shortest[way] = min(self.shortest[way], seconds)
        if self.shortest[0] > LONG * n_items:
            self.way = 0
        elif self.calls < 2 * TRIALS:
            self.way = 1 - way
        else:
            self.way = int(self.shortest[1] < self.shortest[0])


def _map_in_order(
    pool: ThreadPoolExecutor, ahead: int, function: Callable[[Item], Value], items: Iterable[Item]
) -> Iterator[Value]:
    """Results in the order of the items, with at most `ahead` of them computed and not yet used."""
    waiting: deque[Future[Value]] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
