"""The parameter `threads` of the functions of this package."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import ParamSpec, TypeVar

from lvq.solvers.threads import single_threaded_products

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def limited_threads(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Run a function with at most as many threads as its argument `threads` says; None sets no limit."""

    @wraps(function)
    def limited(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        threads = kwargs.get("threads")
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise ValueError(f"threads must be 1 or more, or None, got {threads!r}.")
        with nullcontext() if threads is None else single_threaded_products(threads):
            return function(*args, **kwargs)

    return limited
