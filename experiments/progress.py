"""How far a run is and about how long it will still take, by what cells of the same kind have taken."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from experiments.cells import Cell

Kind = tuple[str, ...]
ANY: Kind = ("any",)


def _kinds(cell: Cell) -> list[Kind]:
    """Groups of cells that may take equally long, the most alike first; after the second it is guesswork."""
    return [("all", cell.table, cell.dataset, cell.method, cell.setting), ("both", cell.dataset, cell.method)]


def _relatives(cell: Cell) -> list[Kind]:
    return [("dataset", cell.dataset), ("method", cell.method)]


class Estimate:
    """Seconds left for the pending cells.

    Examples
    --------
    >>> estimate = Estimate(jobs=2, pending=[Cell("t", "iris", "GLVQ", run=run) for run in range(3)])
    >>> estimate.text()
    'time left not known yet'
    >>> estimate.finished(Cell("t", "iris", "GLVQ", run=0), 60.0)
    >>> estimate.text()
    'about 1 min left'
    """

    def __init__(self, jobs: int, pending: Iterable[Cell] = ()) -> None:
        self.jobs = jobs
        self._pending = Counter(_kinds(cell)[0] for cell in pending)
        self._example = {_kinds(cell)[0]: cell for cell in pending}
        self._seconds: dict[Kind, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def learn(self, cell: Cell, seconds: float) -> None:
        """Note how long a cell took, also one of an earlier run."""
        for kind in (*_kinds(cell), *_relatives(cell), ANY):
            self._seconds[kind][0] += seconds
            self._seconds[kind][1] += 1

    def finished(self, cell: Cell, seconds: float) -> None:
        """Note it, and that it is no longer pending."""
        self.learn(cell, seconds)
        self.gave_up(cell)

    def gave_up(self, cell: Cell) -> None:
        """A failed cell is not pending either."""
        self._pending[_kinds(cell)[0]] -= 1

    def of(self, cell: Cell) -> tuple[float | None, bool]:
        """Seconds a cell may take, None if nothing is known, and whether cells like it have been measured."""
        for kind in _kinds(cell):
            if kind in self._seconds:
                return self._mean(kind), True
        # a slow method on a set that others found quick is slow there too, and the other way about
        guesses = [self._mean(kind) for kind in _relatives(cell) if kind in self._seconds]
        if not guesses and ANY in self._seconds:
            guesses = [self._mean(ANY)]
        return max(guesses, default=None), False

    def _mean(self, kind: Kind) -> float:
        total, count = self._seconds[kind]
        return total / count

    def left(self) -> tuple[float | None, int]:
        """Seconds left, and how many cells of a kind not yet measured are in that sum."""
        total, guessed = 0.0, 0
        for kind, count in self._pending.items():
            seconds, known = self.of(self._example[kind])
            if count <= 0:
                continue
            if seconds is None:
                return None, sum(self._pending.values())
            total += count * seconds
            guessed += 0 if known else count
        return total / self.jobs, guessed

    def text(self) -> str:
        """The time left as text."""
        seconds, guessed = self.left()
        if seconds is None:
            return "time left not known yet"
        note = f" (a guess: {guessed} cells of a kind not measured yet)" if guessed else ""
        return f"about {duration(seconds)} left{note}"


def duration(seconds: float) -> str:
    """A duration as text.

    Examples
    --------
    >>> duration(42), duration(150), duration(5400)
    ('42 s', '2 min', '1 h 30 min')
    """
    minutes = round(seconds / 60)
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


class PlainLine:
    """A line that redraws itself on a terminal, else one now and then."""

    def __init__(self, name: str, total: int, done: int) -> None:
        self.name, self.total = name, total
        self.live = sys.stdout.isatty()
        self.shown, self.when = done, time.monotonic()

    def __enter__(self) -> PlainLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            print(flush=True)

    def show(self, done: int, text: str) -> None:
        """Show that `done` cells are finished."""
        now = time.monotonic()
        if not self.live and done < self.total and done - self.shown < self.total / 20 and now - self.when < 60:
            return
        self.shown, self.when = done, now
        line = f"{self.name} [{'#' * (20 * done // max(self.total, 1)):<20}] {done}/{self.total} cells  {text}"
        print(f"\r{line:<110}" if self.live else line, end="" if self.live else "\n", flush=True)


class RichLine:
    """The same by rich, on a terminal."""

    def __init__(self, name: str, total: int, done: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = TextColumn(name), BarColumn(), MofNCompleteColumn(), TextColumn("cells  {task.fields[text]}")
        self.bar = Progress(*columns)
        self.task = self.bar.add_task(name, total=total, completed=done, text="time left not known yet")

    def __enter__(self) -> RichLine:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def show(self, done: int, text: str) -> None:
        """Show that `done` cells are finished."""
        self.bar.update(self.task, completed=done, text=text)


def progress_line(name: str, total: int, done: int) -> Any:
    """A context with `show(done, text)`: by rich on a terminal where it is installed, else plain."""
    if sys.stdout.isatty():
        try:
            return RichLine(name, total, done)
        except ImportError:
            pass
    return PlainLine(name, total, done)
