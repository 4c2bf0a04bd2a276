"""What surrounds every command: errors in a sentence, notes, progress, and results for machines.

Rules kept here:
- standard output holds the result and nothing else; notes, progress and errors go to standard error;
- exit codes are 0, 1 for a failure, 2 for a wrong use (by typer), 130 after Ctrl-C;
- an error is one sentence; ``--debug`` shows where it came from.
"""

from __future__ import annotations

import json
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import typer

UNSETTLED = "Some fits stopped before their objective had settled; the figures are those of the models as they are."


def one_line(text: object) -> str:
    """A message without line breaks, and without signs that a terminal would obey.

    Examples
    --------
    >>> one_line("first\\n  second \\x1b[31m")
    'first second ?[31m'
    """
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(str(text).split()))


def note(text: object) -> None:
    """Say something beside the result."""
    typer.echo(f"Note: {one_line(text)}", err=True)


def print_json(result: dict[str, Any]) -> None:
    """The result for a machine."""
    typer.echo(json.dumps(result, ensure_ascii=False, indent=2))


@contextmanager
def explained(debug: bool) -> Iterator[None]:
    """Turn whatever goes wrong into a sentence and an exit code, and warnings into notes."""
    _write_any_name()
    before = _stop_on_terminate()
    try:
        with warnings.catch_warnings():
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
        typer.echo(f"Error: {sentence(error)}", err=True)
        raise typer.Exit(1) from None
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def sentence(error: Exception) -> str:
    """What went wrong, in one line.

    Examples
    --------
    >>> sentence(ValueError("folds must be\\n2 or more.")), sentence(ZeroDivisionError("division by zero"))
    ('folds must be 2 or more.', 'ZeroDivisionError: division by zero; run again with --debug to see where.')
    >>> sentence(OSError(28, "No space left on device"))
    'No space left on device.'
    """
    if isinstance(error, ValueError | OSError | ImportError):  # these are worded for readers
        if isinstance(error, OSError) and error.strerror:  # the system's; a full disk comes without a name
            return one_line(f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}.")
        return one_line(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this table."
    return one_line(f"{type(error).__name__}: {error}; run again with --debug to see where.")


def _write_any_name() -> None:
    """A name that the terminal cannot show must not stop a run."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _stop_on_terminate() -> Any:
    """Let ``kill`` clean up as Ctrl-C does; only the main thread may say so."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    try:
        return signal.signal(signal.SIGTERM, stop)
    except ValueError:
        return None


def _warnings_as_notes() -> None:
    said: set[str] = set()

    def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        settled = category.__name__ != "ConvergenceWarning"  # scikit-learn's; importing it would take a second
        text = one_line(message) if settled else UNSETTLED
        kind = text.partition(":")[0]  # the same warning of several folds differs in what follows
        if issubclass(category, UserWarning) and kind not in said:  # others are for developers
            said.add(kind)
            note(text)

    warnings.simplefilter("always")
    warnings.showwarning = show


@contextmanager
def progress_bar(total: int | None = None) -> Iterator[Any]:
    """A bar on standard error, if that is a terminal: gives a function of (what is done, steps done, steps in all)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)

        def show(what: str, done: int, steps: int | None) -> None:
            bar.update(task, description=one_line(what), completed=done, total=steps)

        yield show


def check_model(name: str, **parameters: Any) -> None:
    """A model that cannot be made is a wrong use of the command, said before the table is read."""
    from lvq.workflow import make_model

    try:
        make_model(name, **parameters)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
