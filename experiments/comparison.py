"""Our results compared with the published ones.

With se = std / sqrt(runs) on both sides, a row is "reproduced" if the means differ by at most
2 sqrt(se_ours^2 + se_paper^2) + 0.5 points, else "better" or "short". A single test set has the binomial error.
`targets.csv` holds the published numbers, copied from the papers' tables (see README.md there).
"""

from __future__ import annotations

import csv
import math
import pathlib
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

TARGETS = pathlib.Path(__file__).parent / "targets.csv"
SLACK = 0.5  # points: the papers round, and their samples, folds and programs are not ours
OUTCOMES = ("reproduced", "better", "short")

Key = tuple[str, str, str, str]  # table, dataset, method, setting


@dataclass(frozen=True)
class Row:
    """One line of a table: percent; None where the paper has no such number."""

    table: str
    dataset: str
    method: str
    setting: str
    mean: float
    std: float | None
    n_runs: int
    paper_mean: float | None
    paper_std: float | None
    paper_runs: int
    verdict: str
    note: str = ""


@cache
def _targets() -> dict[str, dict[Key, tuple[float, float | None]]]:
    found: dict[str, dict[Key, tuple[float, float | None]]] = {}
    with TARGETS.open(newline="") as file:
        for line in csv.DictReader(file):
            key = (line["table"], line["dataset"], line["method"], line["setting"])
            std = float(line["std"]) if line["std"] else None
            found.setdefault(line["paper"], {})[key] = (float(line["mean"]), std)
    return found


def published(paper: str) -> dict[Key, tuple[float, float | None]]:
    """Mean and standard deviation that a paper prints, by table, dataset, method and setting.

    Examples
    --------
    >>> published("jin")["table-1", "diabetes", "MCE", ""]
    (76.13, 0.8)
    >>> published("fischer")
    {}
    """
    return dict(_targets().get(paper, {}))


def row(
    paper: str,
    table: str,
    dataset: str,
    method: str,
    setting: str,
    values: Sequence[float],
    *,
    paper_runs: int,
    binomial: int | None = None,
    note: str = "",
) -> Row:
    """Compare measured with published results.

    Parameters
    ----------
    paper, table, dataset, method, setting : str
        The key in `targets.csv`; without a published number the verdict is empty.
    values : sequence of float
        Percent, those over which the paper takes its standard deviation: means of runs, or folds.
    paper_runs : int
        How many of them the paper has.
    binomial : int, optional
        Size of the test set, where there is only one: both errors are then sqrt(p (1 - p) / size).
    note : str, default=""
        Copied into the tables.

    Returns
    -------
    Row

    Examples
    --------
    >>> row("jin", "table-1", "diabetes", "MCE", "", [76.0, 75.0, 77.0], paper_runs=10).verdict
    'reproduced'
    """
    if not len(values):
        raise ValueError(f"values of {paper} {table} {dataset} {method} {setting} must hold a number, got none.")
    numbers = [float(value) for value in values]
    mean = statistics.fmean(numbers)
    std = statistics.stdev(numbers) if len(numbers) > 1 else None
    paper_mean, paper_std = published(paper).get((table, dataset, method, setting), (None, None))
    outcome = ""
    if paper_mean is not None and math.isfinite(mean):
        if binomial is None:
            errors = (_standard_error(std, len(numbers)), _standard_error(paper_std, paper_runs))
        else:
            errors = (_binomial_error(mean, binomial), _binomial_error(paper_mean, binomial))
        outcome = compare_means(mean, paper_mean, *errors)
    return Row(
        table, dataset, method, setting, mean, std, len(numbers), paper_mean, paper_std, paper_runs, outcome, note
    )


def compare_means(ours: float, paper: float, our_error: float, paper_error: float) -> str:
    """The outcome for two means with their standard errors, all in percent.

    Examples
    --------
    >>> compare_means(96.0, 95.0, 0.3, 0.4), compare_means(96.6, 95.0, 0.3, 0.4), compare_means(93.4, 95.0, 0.3, 0.4)
    ('reproduced', 'better', 'short')
    """
    margin = 2 * math.hypot(our_error, paper_error) + SLACK
    if abs(ours - paper) <= margin + 1e-9:  # a difference that equals the margin in print must not fail by rounding
        return "reproduced"
    return "better" if ours > paper else "short"


def _standard_error(std: float | None, runs: int) -> float:
    """The standard error; 0 where the deviation is not known."""
    return 0.0 if std is None or runs < 1 else std / math.sqrt(runs)


def _binomial_error(percent: float, size: int) -> float:
    rate = min(max(percent / 100, 0.0), 1.0)
    return 100 * math.sqrt(rate * (1 - rate) / size)
