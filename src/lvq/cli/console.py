"""Errors, notes, progress and results of all commands.

Rules:
- standard output holds the result and nothing else; notes, progress and errors go to standard error;
- exit codes are 0, 1 for a failure, 2 for wrong usage (by typer), 130 after Ctrl-C;
- an error is one line; ``--debug`` shows the traceback.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import fill
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from lvq.inspection.importance import VariableImportances
    from lvq.reports import Report
    from lvq.workflow import Comparison, PredictResult

MAX_FEATURES = 5  # features in a summary
MAX_NAME = 32  # characters of a name
MAX_CLASSES = 20  # classes in a summary

# notes that replace warnings of scikit-learn: the class of the warning or a part of its message, and the note
LIBRARY_WARNINGS = {
    "ConvergenceWarning": "Some fits stopped before they converged; their models are used as they are.",
    "Fewer prototypes than": "A class has fewer distinct training rows than prototypes; it gets one prototype per row.",
    "n_splits": "A class has fewer training rows than there are folds, so some folds contain none of its rows.",
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


def show_notes(notes: Iterable[str]) -> None:
    """Print notes to standard error."""
    for text in notes:
        note(text)


@contextmanager
def report_errors(debug: bool) -> Iterator[None]:
    """Turn errors into one line and an exit code, and warnings of the library into notes."""
    _replace_unprintable()
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
        typer.echo(f"Error: {describe(error)}", err=True)
        raise typer.Exit(1) from None


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
        if isinstance(error, OSError) and error.strerror:  # from the operating system; a full disk has no file name
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


def _warnings_as_notes() -> None:
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *place: object) -> None:
        text = one_line(message)
        own = (note for key, note in LIBRARY_WARNINGS.items() if key == category.__name__ or key in text)
        text = next(own, text)
        kind = text.partition(":")[0]  # the same warning of several folds differs in what follows
        if issubclass(category, UserWarning) and kind not in printed:  # others are for developers
            printed.add(kind)
            note(text)

    warnings.simplefilter("always")
    warnings.showwarning = show  # type: ignore[assignment]


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int | None], None]]:
    """A progress bar on standard error, if that is a terminal; yields a function of (text, steps done, steps)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def show(text: str, done: int, steps: int | None) -> None:
            bar.update(task, description=one_line(text), completed=done, total=steps)

        yield show


# -- results: short, aligned; names from the data are cut -------------------------------------------------------------


def _name(text: object) -> str:
    """A name from the data, not wider than its column."""
    line = one_line(text)
    return line if len(line) <= MAX_NAME else line[: MAX_NAME - 1] + "…"


def paragraph(text: str) -> None:
    """Print a paragraph in lines of at most 80 characters."""
    typer.echo(fill(one_line(text), width=80))


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns, the first to the left, without trailing blanks."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:])]
        typer.echo("  ".join([first.ljust(widths[0]), *cells]).rstrip())


def show_report(report: Report, written: object) -> None:
    """Print the main results of a fit or a validation; metrics.json has all of them."""
    from lvq.reports.text import count

    data, context = report.data, report.context
    show_notes(context.notes)
    trained = f"{count(data.n_train)} training rows, " if data.n_train else ""
    typer.echo(
        f"{context.title} on {one_line(context.data_name)}: {len(data.classes)} classes of {one_line(context.target)}, "
        f"{trained}"
        f"{count(data.n_samples)} {'rows' if report.earlier else 'test rows'}\n"
    )
    for answer in report.verdict:
        paragraph(answer.text)
    typer.echo()
    paragraph(_numbers(report))
    if len(data.classes) <= MAX_CLASSES:
        typer.echo()
        print_table([["Class", "rows", "sensitivity", "specificity", "PPV", "NPV"], *_class_rows(report)])
    if report.relevance is not None:
        _show_importance(report.relevance)
    typer.echo(f"\nWritten to {one_line(written)}")


def _numbers(report: Report) -> str:
    """What the verdict does not say."""
    from lvq.reports.text import count, percent

    metrics, accepted = report.metrics, report.accepted_accuracy
    parts = [f"Accuracy {percent(metrics.accuracy.value)}"]
    if accepted is not None and accepted.total:
        counts = f"{count(accepted.total)} of {count(metrics.accuracy.total)}"
        parts.append(f"{percent(accepted.value)} on the {counts} rows that are accepted")
    parts.append(f"balanced accuracy {percent(metrics.balanced_accuracy)}")
    if metrics.auc is not None:
        parts.append(f"AUC {metrics.auc:.3f}")
    return f"{', '.join(parts)}. {report.model.n_prototypes} prototypes; {report.model.metric}."


def _class_rows(report: Report) -> list[list[str]]:
    from lvq.reports.text import percent

    rows = []
    for name, found in zip(report.data.classes, report.metrics.by_class):
        fractions = (found.sensitivity, found.specificity, found.ppv, found.npv)
        rows.append([_name(name), str(found.sensitivity.total), *(percent(each.value) for each in fractions)])
    return rows


def _show_importance(found: VariableImportances) -> None:
    from lvq.reports.text import percent

    typer.echo("\nImportance of the features (the sum over all is 100 %)")
    rows = []
    for k in found.order[:MAX_FEATURES]:
        ends = f"{percent(found.lower[k])} to {percent(found.upper[k])}" if len(found.resampled) else ""
        rows.append([_name(found.names[k]), percent(found.importances[k]), ends])
    print_table(rows)
    if len(found.resampled):
        paragraph(f"{100 * found.confidence:g} % intervals.")


def show_predictions(result: PredictResult) -> None:
    """Print the result of a prediction."""
    show_notes(result.notes)
    typer.echo(f"{result.rows} rows predicted, {result.accepted} accepted: {one_line(result.path)}")
    rows = [[f"  label {_name(label)}", str(count)] for label, count in result.labels.most_common(MAX_CLASSES)]
    rows += [[f"  rejected: {reason}", str(count)] for reason, count in result.reasons.most_common()]
    if rows:
        print_table(rows)


def show_comparison(result: Comparison) -> None:
    """Print models by accuracy, each tested against the best."""
    show_notes(result.notes)
    from lvq.reports.text import number, percent

    counts = Counter(result.y.tolist())
    typer.echo(f"{len(result.y)} rows, {result.X.shape[1]} features, {len(counts)} classes")
    paragraph(f"{result.design}.")
    rows = [["model", "prototypes", "accuracy", "+-", "p", "seconds"]]
    for row in result.ranking.itertuples():
        count = "-" if row.n_prototypes != row.n_prototypes else number(row.n_prototypes, 3)
        p_value = f"{row.p_value:.3f}" if len(rows) > 1 else "best"
        spread = percent(row.standard_deviation)
        rows.append([row.name, count, percent(row.accuracy), spread, p_value, f"{row.seconds:.2f}"])
    print_table(rows)
    largest = counts.most_common(1)[0][1] / len(result.y)
    typer.echo(f"\nAccuracy of always predicting the most frequent class: {percent(largest)}.")
    paragraph(f"{result.verdict} Seconds: median time of a fit.")
    for name, why in result.failures.items():
        typer.echo(f"Left out {name}: {one_line(why)}")
