"""Numbers and tables as Markdown."""

from collections.abc import Sequence

from benchmarks.rounds import Row

NAMES = {
    "lvq": "this library", "numpy": "bare product and argmin", "r-class": "R's class", "default": "LVQClassifier",
    "glvq": "GLVQ", "gmlvq": "GMLVQ", "lvq1": "LVQ1",
    "nearest_centroid": "NearestCentroid", "k_neighbors": "KNeighbors", "logistic_regression": "LogisticRegression",
    "svc": "SVC", "lda": "LDA", "hist_gradient_boosting": "HistGradientBoosting", "logm": "LOGM", "wdbc": "WDBC",
    "usps": "USPS", "mnist": "MNIST", "olvq1": "OLVQ1",
}  # fmt: skip


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def name(key: str) -> str:
    """The name of a library, model or set."""
    return NAMES.get(key, key)


def model_name(row: Row) -> str:
    """A model with its rank and prototypes, such as "GMLVQ, rank 2, 10 per class"."""
    parts = [name(row["model"])]
    if row.get("rank"):
        parts.append(f"rank {row['rank']}")
    if row.get("per_class"):
        parts.append(f"{row['per_class']} per class")
    return ", ".join(parts)


def seconds(value: float) -> str:
    """A duration with two digits and a unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1 or unit == "µs":
            return f"{digits(value * factor)} {unit}"
    raise AssertionError


def digits(value: float) -> str:
    """Two digits or all before the point."""
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"


def count(value: float) -> str:
    """A large number, such as 12 k or 2.3 M."""
    for unit, factor in ((" M", 1e6), (" k", 1e3)):
        if value >= factor:
            return digits(value / factor) + unit
    return digits(value)


def spread(row: Row, key: str = "cpu") -> str:
    """A median with its quartiles, or the reason why there is none."""
    if row["status"] != "ok" or key not in row:
        return short(row["status"])
    found = row[key]
    median, low, high = (seconds(found[key]) for key in ("median", "q1", "q3"))
    if found["n"] == 1 or low == high:
        return median
    unit = " " + median.split()[1]
    if low.endswith(unit) and high.endswith(unit):
        low, high = low.removesuffix(unit), high.removesuffix(unit)
    return f"{median} ({low} to {high})"


def short(status: str) -> str:
    """The reason in a few words."""
    kind, _, rest = status.partition(":")
    if kind == "not installed" or kind == "not offered":
        return kind if kind == "not installed" else "-"
    return f"failed ({rest.split(':')[0].strip()})" if kind == "failed" else status


def percent(value: float | None) -> str:
    """A fraction in percent."""
    return "" if value is None else f"{100 * value:.1f}"
