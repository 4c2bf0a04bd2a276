"""Results as text: short, aligned, at most 80 columns wide; names from the data are never markup."""

from __future__ import annotations

from operator import mul
from textwrap import fill
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lvq.cli.console import one_line

if TYPE_CHECKING:
    from lvq.typing import JSONValue
    from lvq.workflow import FitResult, PredictResult, TableComparison, ValidationResult

MAX_FEATURES = 5  # features in a summary
MAX_NAME = 32  # characters of a name
MAX_CLASSES = 20  # classes in a summary
MAX_INTERVALS = 6  # classes whose metrics have intervals
MAX_WIDTH = 100  # columns of a table; only long numbers need more than 80
BAR_LENGTH = 20  # characters of the longest bar


def percent(value: float | None) -> str:
    """A fraction in per cent.

    Examples
    --------
    >>> percent(0.9512), percent(None)
    ('95.1 %', '-')
    """
    return "-" if value is None else f"{100 * value:.1f} %"


def name_of(text: object) -> Text:
    """A name from the data: no markup, and not wider than its column."""
    line = one_line(text)
    return Text(line if len(line) <= MAX_NAME else line[: MAX_NAME - 1] + "…")


def _rows(*columns: str) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for justify in columns:
        table.add_column(justify=justify)  # type: ignore[arg-type]
    return table


def show_fit(result: FitResult) -> None:
    """Print the result of a fit."""
    console = Console(highlight=False, soft_wrap=True)
    summary = result.summary
    data, scores, folds = summary["data"], summary["scores"], summary["folds"]
    console.print(
        Text(
            f"{summary['name']} on {one_line(data['name'])}: {len(data['classes'])} classes of "
            f"{one_line(data['target'])}, {data['n_train']} training rows{_tested(summary)}, {data['n_samples']} test "
            "rows\n"
        )
    )
    split = summary["time"]
    if split is not None:
        until, since = f"Trained on rows until {split['train_until']}", f"tested on rows from {split['test_from']} on"
        _paragraph(console, f"{until}, {since} ({split['column']}).")
        console.print()
    table = _rows("left", "right", "left")
    low, high = scores["interval"]
    table.add_row(
        "Accuracy",
        percent(scores["accuracy"]),
        f"{scores['n_correct']} of {scores['n_samples']} (95 % interval {percent(low)} to {percent(high)})",
    )
    accepted = scores["n_accepted"]
    table.add_row("  of accepted predictions", percent(scores["accepted_accuracy"]), _among_accepted(scores))
    table.add_row("Coverage", percent(scores["coverage"]), f"{accepted} of {scores['n_samples']}")
    _add_metrics(table, summary)
    if folds is not None:
        spread = folds["standard_deviation"]
        table.add_row(
            "Cross-validation",
            percent(folds["mean"]),
            f"{len(folds['accuracy'])} folds" + ("" if spread is None else f", standard deviation {percent(spread)}"),
        )
    table.add_row("Prototypes", str(summary["model"]["n_prototypes"]), summary["model"]["metric"])
    _add_missing(table, summary["missing"])
    _print(console, table)
    _show_classes(console, summary)
    if summary["rivals"] is not None:
        console.print()
        _paragraph(console, summary["rivals"]["sentence"])
    _show_guarantee(console, summary["model"]["rejection"])
    _show_relevance(console, summary["relevance"])
    if result.folder is not None:
        console.print(Text(f"\nWritten to {one_line(result.folder)}: model.lvq, report.html, metrics.json"))


def _add_metrics(table: Table, summary: dict[str, JSONValue]) -> None:
    """Rows of what the accuracy hides."""
    metrics = summary["metrics"]
    table.add_row("Balanced accuracy", percent(metrics["balanced_accuracy"]), "mean over the classes")
    table.add_row("Majority baseline", percent(metrics["majority"]["value"]), "always the most frequent class")
    if metrics["auc"] is not None:
        loss = f"log-loss {metrics['log_loss']:.3f}"
        table.add_row("AUC", f"{metrics['auc']['value']:.3f}", loss)
    if metrics["decisions"] is not None and metrics["decisions"]["price"] is not None:
        steps = metrics["decisions"]
        table.add_row("Price for each row", f"{steps['price'][0][steps['in_use']]:.3f}", "mean, by the given prices")
        counts = [row["sensitivity"]["total"] for row in metrics["by_class"]]
        single = [sum(map(mul, counts, column)) / sum(counts) for column in zip(*metrics["prices"])]
        name = one_line(summary["data"]["classes"][single.index(min(single))])
        table.add_row("  of a single class", f"{min(single):.3f}", Text(f"always {name}, the cheapest one"))


def _add_missing(table: Table, missing: dict[str, JSONValue] | None) -> None:
    """A row on missing numbers: whether they were filled, and what was compared."""
    if missing is None:
        return
    scores = missing["scores"]
    done = {"impute": "filled", "ignore": "ignored"}
    shown = percent if missing["score"] == "accuracy" else "{:.3g}".format
    compared = (
        "" if scores is None else ", ".join(f"{done[way]} {shown(scores[way])}" for way in done) + " on the folds"
    )
    table.add_row("Missing numbers", done[missing["way"]], compared)


def _show_classes(console: Console, summary: dict[str, JSONValue]) -> None:
    """Metrics of each class, of a few classes with intervals; of many classes the one with the lowest sensitivity."""
    rows, names = summary["metrics"]["by_class"], summary["data"]["classes"]
    if len(rows) > MAX_CLASSES:
        known = [place for place, row in enumerate(rows) if row["sensitivity"]["total"]]
        worst = min(known, key=lambda place: rows[place]["sensitivity"]["value"])
        found = rows[worst]["sensitivity"]
        console.print(
            Text("\nLowest sensitivity: ")
            + name_of(names[worst])
            + Text(f" {percent(found['value'])}, {_counts(found)}")
        )
        return
    console.print()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("Class", "rows", "sensitivity", "specificity", "PPV", "NPV"):
        table.add_column(title, justify="left" if title == "Class" else "right")
    for name, row in zip(names, rows):
        fractions = [row[metric] for metric in ("sensitivity", "specificity", "ppv", "npv")]
        cells = (percent(fraction["value"]) for fraction in fractions)
        table.add_row(Text("  ") + name_of(name), str(row["sensitivity"]["total"]), *cells)
        if len(rows) <= MAX_INTERVALS:
            table.add_row("    95 % interval", "", *map(_ends, fractions))
    _print(console, table)


def _ends(fraction: dict[str, JSONValue]) -> str:
    """The ends of an interval, in per cent."""
    return "-" if fraction["interval"] is None else "-".join(f"{100 * end:.1f}" for end in fraction["interval"])


def _among_accepted(scores: dict[str, JSONValue]) -> str:
    if not scores["n_accepted"]:
        return "no prediction was accepted"
    low, high = scores["accepted_interval"]
    correct = round(scores["accepted_accuracy"] * scores["n_accepted"])
    return f"{correct} of {scores['n_accepted']} (95 % interval {percent(low)} to {percent(high)})"


def _tested(summary: dict[str, JSONValue]) -> str:
    """How many of the training rows were set aside to test a guarantee, in brackets."""
    guarantee = (summary["model"]["rejection"] or {}).get("guarantee") or {}
    tested = guarantee.get("n_testing") if summary["data"]["train_counts"] is not None else None
    return f" ({tested} for the guarantee)" if tested else ""


def _paragraph(console: Console, text: str) -> None:
    """Print a text in lines of at most 80 characters."""
    console.print(Text(fill(one_line(text), width=80)))


def _print(console: Console, table: Table) -> None:
    """Print a table without trailing blanks."""
    wide = Console(highlight=False, width=max(console.width, MAX_WIDTH))
    with wide.capture() as captured:
        wide.print(table)
    for line in captured.get().splitlines():
        console.out(line.rstrip())


def _show_guarantee(console: Console, rejection: dict[str, JSONValue] | None) -> None:
    guarantee = None if rejection is None else rejection["guarantee"]
    if guarantee is not None:
        console.print(
            f"\nGuaranteed with confidence {guarantee['confidence']:g}: an error rate of at most "
            f"{100 * guarantee['max_error']:g} % among accepted predictions,\nfor rows from the same source."
        )
        if guarantee.get("requested") is not None:
            console.print(f"{100 * guarantee['requested']:g} % were requested, which could not be guaranteed.")
        if guarantee["weak"] is not None:
            _paragraph(console, guarantee["weak"])


def _show_relevance(console: Console, relevance: dict[str, JSONValue] | None) -> None:
    if relevance is None:
        return
    console.print("\nImportance of the features (the sum over all is 100 %)")
    table = _rows("left", "right", "left")
    features, values = relevance["features"][:MAX_FEATURES], relevance["values"][:MAX_FEATURES]
    intervals = relevance.get("intervals")
    for rank, (feature, value) in enumerate(zip(features, values)):
        note = "#" * max(1, round(BAR_LENGTH * value / max(values[0], 1e-300)))
        if intervals is not None:
            ends = f"{percent(intervals['lower'][rank])} to {percent(intervals['upper'][rank])}"
            note = ends + (", important" if feature in intervals["important"] else "")
        table.add_row(Text("  ") + name_of(feature), percent(value), note)
    others = relevance["n_features"] - len(values)
    if others:
        table.add_row(f"  the other {others} together", percent(max(0.0, 1 - sum(values))), "")
    _print(console, table)
    if intervals is not None:
        chance = (
            "" if intervals["beats_chance"] else "; none is, as predictions of rows left out are not better than chance"
        )
        console.print(
            f"{100 * intervals['confidence']:g} % intervals. Important: surely above the mean of all features{chance}."
        )


def show_predictions(result: PredictResult) -> None:
    """Print the result of a prediction."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(f"{_rows_of(result.rows)} predicted, {result.accepted} accepted: {one_line(result.path)}"))
    table = _rows("left", "right", "left")
    for label, count in sorted(result.labels.items(), key=lambda item: -item[1])[:10]:
        table.add_row(Text("  label ") + name_of(label), str(count), "")
    if len(result.labels) > 10:
        rest = sum(result.labels.values()) - sum(count for _, count in result.labels.most_common(10))
        table.add_row(f"  {len(result.labels) - 10} other labels", str(rest), "")
    for reason, count in result.reasons.most_common():
        table.add_row(f"  rejected: {reason}", str(count), "")
    _print(console, table)


def show_validation(result: ValidationResult) -> None:
    """Print the result of a validation."""
    console, s = Console(highlight=False, soft_wrap=True), result.summary
    console.print(
        Text(f"{s['name']} of {one_line(s['fitted_on'])} on {one_line(s['table'])}: {_rows_of(s['n_labelled'])}\n")
    )
    table = _rows("left", "right", "left")
    if s["metrics"] is not None:
        low, high = (100 * end for end in s["difference"]["interval"])
        table.add_row("Accuracy", percent(s["metrics"]["accuracy"]["value"]), _counts(s["metrics"]["accuracy"]))
        table.add_row("  at the fit", percent(s["at_fit"]["accuracy"]), f"difference {low:+.1f} to {high:+.1f} points")
        table.add_row(
            "Balanced accuracy", percent(s["metrics"]["balanced_accuracy"]), "mean sensitivity of the classes"
        )
    if s["price"] is not None:
        table.add_row("Price for each row", f"{s['price']['value']:.3f}", "mean, by the prices of the fit")
        table.add_row("  at the fit", f"{s['price']['at_fit']:.3f}", "")
        single = f"always {one_line(s['price']['cheapest_class'])}, the cheapest one"
        table.add_row("  of a single class", f"{s['price']['cheapest']:.3f}", Text(single))
    table.add_row("Coverage", percent(s["coverage"]["value"]), _counts(s["coverage"]))
    if s["at_fit"]["coverage"] is not None:
        table.add_row("  at the fit", percent(s["at_fit"]["coverage"]), "")
    table.add_row("  accuracy of accepted", percent(s["accepted_accuracy"]["value"]), _counts(s["accepted_accuracy"]))
    if s["guarantee"] is not None:
        error = s["guarantee"]["error"]
        got = "no row was accepted" if error is None else f"got {percent(error)}"
        bound = f"at most {100 * s['guarantee']['max_error']:g} %, {got}"
        table.add_row("Guarantee", s["guarantee"]["verdict"], bound)
    if s["drift"] is not None:
        drifted = [row["name"] for row in s["drift"]["columns"] if row["drifted"]]
        named = ", ".join(one_line(name) for name in drifted[:3]) + (", ..." if len(drifted) > 3 else "")
        table.add_row("Drifted features", f"{len(drifted)} of {len(s['drift']['columns'])}", Text(named))
        table.add_row("Drift of certainty", "yes" if s["drift"]["certainty"]["drifted"] else "no", "")
    _print(console, table)
    console.print(Text(f"\nWritten: {one_line(result.page)}"))


def _rows_of(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _counts(fraction: dict[str, JSONValue]) -> str:
    if fraction["interval"] is None:
        return "no row"
    low, high = fraction["interval"]
    return f"{fraction['count']} of {fraction['total']} (95 % interval {percent(low)} to {percent(high)})"


def _worse(told: int, others: int, level: float) -> str:
    """How many models are worse than the best, and by which test; nothing where there is one model only."""
    test = f"the corrected resampled t-test against the best, by Holm for {others} models, at {level:g}"
    if told:
        rest = f" The other {others - told} cannot be told from the best by these splits." if told < others else ""
        return f"Worse: by {test}.{rest} "
    return f"None of the others can be told from the best by these splits ({test}). " if others else ""


def show_comparison(result: TableComparison, level: float = 0.05) -> None:
    """Print models by accuracy, with the test and the Pareto set."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{result.n_samples} rows, {result.n_features} features, {result.n_classes} classes")
    _paragraph(console, f"{result.design}.")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("model, per class", "prototypes", "accuracy", "+-", "", "seconds", "Pareto"):
        table.add_column(title, justify="left" if title in ("model, per class", "") else "right")
    told = 0
    for place, row in enumerate(result.comparison.ranking):
        worse = place > 0 and row.p_value < level
        told += worse
        verdict = "best" if place == 0 else f"worse, p {row.p_value:.3f}" if worse else ""
        table.add_row(
            row.name, "-" if row.n_prototypes != row.n_prototypes else f"{row.n_prototypes:g}", percent(row.accuracy),
            percent(row.standard_deviation), verdict, f"{row.seconds:.2f}", "*" * row.pareto,
        )  # fmt: skip
    _print(console, table)
    others = max(0, len(result.comparison.ranking) - 1)
    console.print(f"\nAccuracy of always predicting the most frequent class: {percent(result.largest_class)}.")
    if result.sentence is not None:
        _paragraph(console, result.sentence)
    legend = "Pareto (*): no other is as accurate with fewer prototypes. Seconds: median time of a fit."
    _paragraph(console, f"{_worse(told, others, level)}{legend}")
    for name, why in result.comparison.failures.items():
        console.print(Text(f"Left out {name}: {one_line(why)}"))
