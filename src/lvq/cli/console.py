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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from textwrap import fill
from typing import TYPE_CHECKING, TextIO

import typer

if TYPE_CHECKING:
    from rich.table import Table as RichTable
    from rich.text import Text

    from lvq.reports import Report
    from lvq.reports.metrics import Fraction
    from lvq.workflow import Comparison, PredictResult

MAX_FEATURES = 5  # features in a summary
MAX_NAME = 32  # characters of a name
MAX_CLASSES = 20  # classes in a summary
MAX_INTERVALS = 6  # classes whose metrics have intervals
WIDTH = 100  # columns of a table; only long numbers need more than 80

# notes instead of warnings of scikit-learn: the class of the warning or a part of its text, and the note
LIBRARY_WARNINGS = {
    "ConvergenceWarning": "Some fits stopped before they converged; the results are those of the models as they are.",
    "Fewer prototypes than": "A class has fewer distinct training rows than prototypes; it gets one for each.",
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


# -- results: short, aligned; names from the data are never markup -----------------------------------------------------


def percent(value: float | None) -> str:
    """A fraction in per cent.

    Examples
    --------
    >>> percent(0.9512), percent(None)
    ('95.1 %', '-')
    """
    return "-" if value is None else f"{100 * value:.1f} %"


def _name(text: object, indent: str = "") -> Text:
    """A name from the data: no markup, and not wider than its column."""
    from rich.text import Text

    line = indent + one_line(text)
    return Text(line if len(line) <= MAX_NAME else line[: MAX_NAME - 1] + "…")


def paragraph(text: str) -> None:
    """Print a text in lines of at most 80 characters."""
    typer.echo(fill(one_line(text), width=80))


def print_table(rows: list[list[object]], titles: list[str] | None = None) -> None:
    """Print rows in columns, the first to the left, without trailing blanks."""
    from rich.console import Console
    from rich.table import Table

    table: RichTable = Table(box=None, show_header=titles is not None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, title in enumerate(titles or [""] * len(rows[0])):
        left = place == 0 or (titles is None and place == len(rows[0]) - 1)
        table.add_column(title, justify="left" if left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)  # type: ignore[arg-type]
    console = Console(highlight=False, width=WIDTH, color_system=None, markup=False)
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())


def _counts(fraction: Fraction) -> str:
    if fraction.interval is None:
        return f"{fraction.count} of {fraction.total}" if fraction.total else "no row"
    low, high = fraction.interval
    return f"{fraction.count} of {fraction.total} (95 % interval {percent(low)} to {percent(high)})"


def show_report(report: Report) -> None:
    """Print the main results of a fit or a validation; metrics.json has all of them."""
    data = report.data
    trained = f"{data.n_train} training rows, " if data.n_train else ""
    typer.echo(
        f"{report.name} on {one_line(data.name)}: {len(data.classes)} classes of {one_line(data.target)}, {trained}"
        f"{data.n_samples} test rows\n"
    )
    for answer in report.verdict:
        paragraph(answer.text)
    typer.echo()
    print_table(_result_rows(report))
    if len(data.classes) <= MAX_CLASSES:
        typer.echo()
        print_table(_class_rows(report), ["Class", "rows", "sensitivity", "specificity", "PPV", "NPV"])
    _show_importance(report)


def _result_rows(report: Report) -> list[list[object]]:
    metrics, earlier = report.metrics, report.earlier
    rows: list[list[object]] = [["Accuracy", percent(metrics.accuracy.value), _counts(metrics.accuracy)]]
    if earlier is not None:
        low, high = (100 * end for end in earlier.difference)
        rows.append(["  at the fit", percent(earlier.accuracy.value), f"difference {low:+.1f} to {high:+.1f} points"])
    if report.coverage is not None and report.accepted_accuracy is not None:
        accepted = report.accepted_accuracy
        none = "no prediction was accepted"
        rows.append(
            ["  of accepted predictions", percent(accepted.value), _counts(accepted) if accepted.total else none]
        )
        rows.append(["Coverage", percent(report.coverage.value), f"{report.coverage.count} of {report.coverage.total}"])
    if earlier is not None and earlier.verdict is not None:
        rows.append(["Guarantee", earlier.verdict, ""])
    rows.append(["Balanced accuracy", percent(metrics.balanced_accuracy), "mean over the classes"])
    rows.append(["Majority baseline", percent(metrics.majority), "always the most frequent class"])
    if metrics.auc is not None:
        rows.append(["AUC", f"{metrics.auc:.3f}", f"log-loss {metrics.log_loss:.3f}"])
    if report.costs is not None:
        name = one_line(report.data.classes[report.costs.cheapest_class])
        rows.append(["Cost of a row", f"{report.costs.mean:.3f}", "mean, by the given costs"])
        rows.append(["  of a single class", f"{report.costs.cheapest:.3f}", _name(f"always {name}")])
    if report.folds is not None:
        spread = report.folds.standard_deviation
        shown = "" if spread is None else f", standard deviation {percent(spread)}"
        rows.append(["Cross-validation", percent(report.folds.mean), f"{len(report.folds.accuracy)} folds{shown}"])
    return [*rows, ["Prototypes", str(report.model.n_prototypes), report.model.metric]]


def _class_rows(report: Report) -> list[list[object]]:
    """Metrics of each class, with intervals where there are few classes."""
    rows: list[list[object]] = []
    for name, found in zip(report.data.classes, report.metrics.by_class):
        fractions = (found.sensitivity, found.specificity, found.ppv, found.npv)
        rows.append([_name(name), str(found.sensitivity.total), *(percent(each.value) for each in fractions)])
        if len(report.data.classes) <= MAX_INTERVALS:
            rows.append(["  95 % interval", "", *map(_ends, fractions)])
    return rows


def _ends(fraction: Fraction) -> str:
    return "-" if fraction.interval is None else "-".join(f"{100 * end:.1f}" for end in fraction.interval)


def _show_importance(report: Report) -> None:
    found = report.relevance
    if found is None:
        return
    intervals = found if len(found.resampled) else None
    typer.echo("\nImportance of the features (the sum over all is 100 %)")
    rows: list[list[object]] = []
    for k in found.order[:MAX_FEATURES]:
        note = ""
        if intervals is not None:
            note = f"{percent(intervals.lower[k])} to {percent(intervals.upper[k])}"
            note += ", important" if intervals.important[k] else ""
        rows.append([_name(found.names[k], "  "), percent(found.importances[k]), note])
    if len(found.names) > len(rows):
        rest = max(0.0, 1 - float(found.importances[found.order[:MAX_FEATURES]].sum()))
        rows.append([f"  the other {len(found.names) - len(rows)} together", percent(rest), ""])
    print_table(rows)
    if intervals is not None:
        paragraph(f"{100 * intervals.confidence:g} % intervals. Important: above the mean of all features.")


def show_predictions(result: PredictResult) -> None:
    """Print the result of a prediction."""
    typer.echo(f"{result.rows} rows predicted, {result.accepted} accepted: {one_line(result.path)}")
    labels = result.labels.most_common()
    rows: list[list[object]] = [[_name(f"label {label}", "  "), str(count), ""] for label, count in labels[:10]]
    if len(labels) > 10:
        rows.append([f"  {len(labels) - 10} other labels", str(sum(count for _, count in labels[10:])), ""])
    rows += [[f"  rejected: {reason}", str(count), ""] for reason, count in result.reasons.most_common()]
    if rows:
        print_table(rows)


def show_comparison(result: Comparison) -> None:
    """Print models by accuracy, with the test against the best."""
    counts = Counter(result.y.tolist())
    typer.echo(f"{len(result.y)} rows, {result.X.shape[1]} features, {len(counts)} classes")
    paragraph(f"{result.design}.")
    rows: list[list[object]] = []
    for row in result.ranking.itertuples():
        count = "-" if row.n_prototypes != row.n_prototypes else f"{row.n_prototypes:g}"
        p_value = f"{row.p_value:.3f}" if rows else "best"
        spread = percent(row.standard_deviation)
        rows.append([row.name, count, percent(row.accuracy), spread, p_value, f"{row.seconds:.2f}"])
    if rows:
        print_table(rows, ["model", "prototypes", "accuracy", "+-", "p", "seconds"])
    largest = counts.most_common(1)[0][1] / len(result.y)
    typer.echo(f"\nAccuracy of always predicting the most frequent class: {percent(largest)}.")
    paragraph(f"{result.verdict} Seconds: median time of a fit.")
    for name, why in result.failures.items():
        typer.echo(f"Left out {name}: {one_line(why)}")
