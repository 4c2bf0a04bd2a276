"""A progress line for `verbose`: redrawn on a terminal, else printed from time to time."""

import sys
import time
from collections.abc import Callable

Report = Callable[..., None]  # (iterations done, present value of the objective)


def silent(done: int, value: float, last: bool = False) -> None:
    """Say nothing."""


def progress_bar(name: str, total: int) -> Report:
    """A function that shows `done` of `total`, the objective, and an estimate of the time left."""
    start = time.monotonic()
    live = sys.stdout.isatty()
    shown = 0.0

    def report(done: int, value: float, last: bool = False) -> None:
        nonlocal shown
        fraction = done / total
        if last and fraction == shown:
            print("" if done == total or not live else "\n", end="", flush=True)
            return
        if done < total and not last and fraction - shown < (0.01 if live else 0.1):
            return
        shown = fraction
        left = (time.monotonic() - start) * (1 - fraction) / fraction
        filled = "#" * round(20 * fraction)
        text = f"{name} [{filled:<20}] {done}/{total}  objective {value:.5g}  {left:.0f} s left"
        print("\r" + text if live else text, end="" if live and done < total and not last else "\n", flush=True)

    return report
