"""Errors, notes, progress and JSON of all commands.

Rules:
- standard output holds the result and nothing else; notes, progress and errors go to standard error;
- exit codes are 0, 1 for a failure, 2 for wrong usage (by typer), 130 after Ctrl-C;
- an error is one line; ``--debug`` shows the traceback.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, TextIO

import typer

if TYPE_CHECKING:
    from lvq.typing import JSONValue

# notes in place of warnings of scikit-learn: the class of the warning or a part of its text, and the note
LIBRARY_WARNINGS = {
    "ConvergenceWarning": "Some fits stopped before they converged; the results are those of the models as they are.",
    "Fewer prototypes than": "A class has fewer distinct training rows than --prototypes; it gets one for each.",
    "n_splits": "A class has fewer training rows than there are folds, so some folds have no row of it.",
}


def one_line(text: object) -> str:
    """A message without line breaks and control characters.

    Examples
    --------
    >>> one_line("first\\n  second \\x1b[31m")
    'first second ?[31m'
    """
    return "".join(char if char.isprintable() else "?" for char in " ".join(str(text).split()))


def note(text: object) -> None:
    """Print a note to standard error."""
    typer.echo(f"Note: {one_line(text)}", err=True)


def print_json(result: dict[str, JSONValue]) -> None:
    """Print the result as JSON."""
    typer.echo(json.dumps(result, ensure_ascii=False, indent=2))


@contextmanager
def report_errors(debug: bool) -> Iterator[None]:
    """Turn errors into one line and an exit code, and warnings and messages of the library into notes."""
    _replace_unprintable()
    before = _stop_on_terminate()
    try:
        with warnings.catch_warnings(), _messages_as_notes():
            if not debug:
                _warnings_as_notes()
            yield
    except KeyboardInterrupt:
        typer.echo("Interrupted: nothing was written.", err=True)
        raise typer.Exit(130) from None
    except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
        raise
    except Exception as error:
        if debug:
            raise
        typer.echo(f"Error: {describe(error)}", err=True)
        raise typer.Exit(1) from None
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def describe(error: Exception) -> str:
    """An error as one line.

    Examples
    --------
    >>> describe(ValueError("folds must be\\n2 or more.")), describe(ZeroDivisionError("division by zero"))
    ('folds must be 2 or more.', 'ZeroDivisionError: division by zero; run again with --debug for the traceback.')
    >>> describe(OSError(28, "No space left on device"))
    'No space left on device.'
    """
    if isinstance(error, ValueError | OSError | ImportError):  # their messages are for users
        if isinstance(error, OSError) and error.strerror:  # of the operating system; a full disk has no file name
            return one_line(f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}.")
        return one_line(error)
    if isinstance(error, MemoryError):
        return "Not enough memory for this table."
    return one_line(f"{type(error).__name__}: {error}; run again with --debug for the traceback.")


def _replace_unprintable() -> None:
    """Characters that the terminal cannot show must not stop a run."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _stop_on_terminate() -> Callable[[int, FrameType | None], object] | int | None:
    """Let ``kill`` clean up as Ctrl-C does; only the main thread can set a handler."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    try:
        return signal.signal(signal.SIGTERM, stop)
    except ValueError:
        return None


class _Notes(logging.Handler):
    """Prints messages as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def _messages_as_notes() -> Iterator[None]:
    logger, handler = logging.getLogger("lvq"), _Notes()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _warnings_as_notes() -> None:
    printed: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        text = one_line(message)
        own = (note for key, note in LIBRARY_WARNINGS.items() if key == category.__name__ or key in text)
        text = next(own, text)
        kind = text.partition(":")[0]  # the same warning of several folds differs in what follows
        if issubclass(category, UserWarning) and kind not in printed:  # others are for developers
            printed.add(kind)
            note(text)

    warnings.simplefilter("always")
    warnings.showwarning = show


@contextmanager
def progress_bar(total: int | None = None) -> Iterator[Callable[[str, int, int | None], None]]:
    """A progress bar on standard error, if that is a terminal; yields a function of (text, steps done, steps)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)

        def show(text: str, done: int, steps: int | None) -> None:
            bar.update(task, description=one_line(text), completed=done, total=steps)

        yield show


def check_model(
    name: str,
    *,
    prototypes: int | None = None,
    rank: int | None = None,
    kernel: str | None = None,
    sample_prototypes: bool = False,
    missing: str = "raise",
) -> None:
    """Report an impossible model as wrong usage, before the table is read."""
    from lvq.workflow import make_model

    try:
        make_model(
            name, prototypes=prototypes, rank=rank, kernel=kernel, sample_prototypes=sample_prototypes, missing=missing
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
