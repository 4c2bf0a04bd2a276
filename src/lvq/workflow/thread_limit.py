"""The parameter `threads` of the functions of this package.

Matrix products use one thread, and blocks of rows the others: of many small products, such as those of the folds of a
small table, the threads take more time than they save.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from lvq.solvers.threads import product_threads, single_threaded_products

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def limited_threads(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Run a function with at most as many threads as its argument `threads` says; None is all of them."""

    @wraps(function)
    def limited(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        threads = kwargs.get("threads")
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise ValueError(f"threads must be 1 or more, or None, got {threads!r}.")
        with single_threaded_products(product_threads() if threads is None else threads):
            return function(*args, **kwargs)

    return limited
