"""The cases. Each module has TITLE, MINUTES (its part of the time of a full run), `cells(quick)`, `run(cell, run)`,
which gives the rows of a cell, and `report(rows)`, its part of `docs/benchmarks.md`; some have `figure(rows, path)`.
"""

import importlib
from collections.abc import Callable
from typing import Any, Protocol, cast

from benchmarks.rounds import Row, Run

#: In the order of a full run and of the page.
NAMES = (
    "fit", "large", "solvers", "predict", "online", "growth", "coldstart", "memory", "accuracy", "rejection",
    "wide",
)  # fmt: skip


class Case(Protocol):
    """What the module of a case offers."""

    TITLE: str
    MINUTES: float

    def cells(self, quick: bool) -> list[Row]:
        """What is measured, each with the values that identify it."""

    def run(self, cell: Row, run: Run) -> list[Row]:
        """The rows of a cell."""

    def report(self, rows: list[Row]) -> str:
        """Text and tables."""


def load(name: str) -> Case:
    """The module of a case."""
    return cast(Case, importlib.import_module(f"benchmarks.cases.{name}"))


def figure_of(name: str) -> Callable[[list[Row], Any], None] | None:
    """The function that draws a case, if it has one."""
    return getattr(load(name), "figure", None)
