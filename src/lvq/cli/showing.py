"""Results for readers: short, aligned, within 80 columns, and with names from the data shown as they are."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lvq.cli.running import one_line

SHOWN = 5  # features in a summary
WIDEST = 32  # characters of a name
BAR = 20


def share(value: float | None) -> str:
    """A share in per cent.

    Examples
    --------
    >>> share(0.9512), share(None)
    ('95.1 %', '-')
    """
    return "-" if value is None else f"{100 * value:.1f} %"


def name_of(text: object) -> Text:
    """A name from the data: never taken for markup, never wider than its column."""
    line = one_line(text)
    return Text(line if len(line) <= WIDEST else line[: WIDEST - 1] + "…")


def _rows(*columns: str) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for justify in columns:
        table.add_column(justify=justify)  # type: ignore[arg-type]
    return table


def show_fit(result: Any) -> None:
    """What a fit found."""
    console = Console(highlight=False, soft_wrap=True)
    summary = result.summary
    data, scores, folds = summary["data"], summary["scores"], summary["folds"]
    console.print(
        Text(
            f"{summary['name']} on {one_line(data['name'])}: {len(data['classes'])} classes of "
            f"{one_line(data['target'])}, {data['n_train']} rows to learn from, {data['n_samples']} to test on"
        )
    )
    console.print()
    table = _rows("left", "right", "left")
    low, high = scores["interval"]
    table.add_row(
        "Accuracy of all answers",
        share(scores["accuracy"]),
        f"{scores['n_right']} of {scores['n_samples']} (95 % interval {share(low)} to {share(high)})",
    )
    accepted = scores["n_accepted"]
    table.add_row("  of accepted answers", share(scores["accepted_accuracy"]), _among_accepted(scores))
    table.add_row("Coverage (accepted)", share(scores["coverage"]), f"{accepted} of {scores['n_samples']}")
    if folds is not None:
        spread = folds["standard_deviation"]
        table.add_row(
            "Cross-validation",
            share(folds["mean"]),
            f"{len(folds['accuracy'])} folds" + ("" if spread is None else f", standard deviation {share(spread)}"),
        )
    table.add_row("Prototypes", str(summary["model"]["n_prototypes"]), summary["model"]["metric"])
    _print(console, table)
    _show_promise(console, summary["model"]["rejection"])
    _show_relevance(console, summary["relevance"])
    if result.folder is not None:
        console.print()
        console.print(Text(f"Written to {one_line(result.folder)}: model.lvq, report.html, metrics.json"))


def _among_accepted(scores: dict[str, Any]) -> str:
    if not scores["n_accepted"]:
        return "nothing was accepted"
    low, high = scores["accepted_interval"]
    right = round(scores["accepted_accuracy"] * scores["n_accepted"])
    return f"{right} of {scores['n_accepted']} (95 % interval {share(low)} to {share(high)})"


def _print(console: Console, table: Table) -> None:
    """A table without blanks at the ends of its lines."""
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        console.out(line.rstrip())


def _show_promise(console: Console, rejection: Any) -> None:
    promise = None if rejection is None else rejection["promise"]
    if promise is not None:
        console.print()
        console.print(
            f"Guaranteed with confidence {promise['confidence']:g}: at most {100 * promise['max_error']:g} % of the "
            "accepted answers are wrong,\nfor rows from the same source."
        )


def _show_relevance(console: Console, relevance: Any) -> None:
    if relevance is None:
        return
    console.print()
    console.print("Most relevant features (all sum to 100 %)")
    table = _rows("left", "right", "left")
    features, values = relevance["features"][:SHOWN], relevance["values"][:SHOWN]
    for feature, value in zip(features, values):
        bar = "#" * max(1, round(BAR * value / max(values[0], 1e-300)))
        table.add_row(Text("  ") + name_of(feature), share(value), bar)
    others = relevance["n_features"] - len(values)
    if others:
        table.add_row(f"  the other {others} together", share(max(0.0, 1 - sum(values))), "")
    _print(console, table)


def show_predictions(found: Any) -> None:
    """What became of a table's rows."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(f"{found.rows} rows answered, {found.accepted} accepted: {one_line(found.path)}"))
    table = _rows("left", "right", "left")
    for label, count in sorted(found.labels.items(), key=lambda item: -item[1])[:10]:
        table.add_row(Text("  label ") + name_of(label), str(count), "")
    if len(found.labels) > 10:
        rest = sum(found.labels.values()) - sum(count for _, count in found.labels.most_common(10))
        table.add_row(f"  {len(found.labels) - 10} other labels", str(rest), "")
    for reason, count in found.reasons.most_common():
        table.add_row(f"  not accepted: {reason}", str(count), "")
    _print(console, table)


def show_comparison(found: Any, level: float = 0.05) -> None:
    """Models by their accuracy, with the test and the Pareto set."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{found.n_samples} rows, {found.n_features} features, {found.n_classes} classes")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("model, per class", "prototypes", "accuracy", "+-", "p", "", "seconds", "Pareto"):
        table.add_column(title, justify="left" if title in ("model, per class", "") else "right")
    for place, row in enumerate(found.comparison.standings):
        p_value, verdict = ("", "best") if place == 0 else (f"{row.p_value:.3f}", "worse" * (row.p_value < level))
        table.add_row(
            row.name, f"{row.prototypes:g}", share(row.accuracy), share(row.deviation), p_value, verdict,
            f"{row.seconds:.2f}", "*" * row.pareto,
        )  # fmt: skip
    _print(console, table)
    console.print()
    console.print(f"Always answering with the most frequent class: {share(found.largest_class)}.")
    console.print(
        f"p: corrected resampled t-test against the best, by Holm for {max(0, len(found.comparison.standings) - 1)} "
        f"models; 'worse' below {level:g}.\nPareto (*): no other model is as accurate with fewer prototypes."
    )
    for name, why in found.comparison.failures.items():
        console.print(Text(f"Left out {name}: {one_line(why)}"))
