"""Makes `docs/reproduction.md` from `experiments/results/*.json`: `python -m experiments.reproduction`.

Every row that fell short needs an explanation in `explanations.toml`; without one nothing is written and the exit
code is 1.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

from experiments.output import ROOT, number, origin, replace_text
from experiments.runner import PAPERS, RESULTS

EXPLANATIONS = pathlib.Path(__file__).parent / "explanations.toml"
TARGET = ROOT / "docs" / "reproduction.md"
KEYS = ("paper", "table", "dataset", "method", "setting")
MARKS = {"short": " ↓", "better": " ↑"}

HEAD = """# The papers, reproduced

Published results beside those of this library, made from `experiments/results/` by
`python -m experiments.reproduction`. Cells are mean accuracies in percent on samples not used for training, with the
published number in brackets. With se = std / sqrt(runs) on both sides, a row is "reproduced" if the means differ by at
most 2 sqrt(se² + se²) + 0.5 points; otherwise it is better (↑) or short (↓). A single test set counts with its binomial
error."""


def main() -> int:
    """Write the page, or print the rows without an explanation."""
    results = read_results(RESULTS)
    explanations = read_explanations(EXPLANATIONS)
    if not results:
        print(f"there is no result in {os.path.relpath(RESULTS)}: run python -m experiments PAPER first.")
        return 1
    missing = unexplained(results, explanations)
    if missing:
        print("short rows without an explanation in explanations.toml:")
        print("\n".join("  " + " / ".join(row[key] for key in KEYS) for row in missing))
        return 1
    for entry in stale(results, explanations):
        print("explains no short row any more: " + " / ".join(entry[key] for key in KEYS))
    replace_text(TARGET, document(results, explanations))
    print(f"wrote {os.path.relpath(TARGET)}")
    return 0


def read_results(folder: pathlib.Path) -> list[dict[str, Any]]:
    """The results of the papers that are there, in the order of the papers; quick runs are not results."""
    paths = [folder / f"{name}.json" for name in PAPERS]
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]


def read_explanations(path: pathlib.Path) -> list[dict[str, str]]:
    """The entries of the file; a key that is left out stands for anything."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("short", [])
    for entry in entries:
        if not entry.get("text", "").strip() or set(entry) - {*KEYS, "text"}:
            raise ValueError(f"an entry of {path.name} must have a text and keys among {', '.join(KEYS)}, got {entry}.")
    return [dict.fromkeys(KEYS, "*") | entry for entry in entries]


def short_rows(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """All rows that fell short, each with its paper."""
    return [
        row | {"paper": result["paper"]} for result in results for row in result["rows"] if row["verdict"] == "short"
    ]


def explanation(row: dict[str, Any], explanations: Sequence[dict[str, str]]) -> dict[str, str] | None:
    """The first entry that fits a row.

    Examples
    --------
    >>> entries = [dict.fromkeys(KEYS, "*") | {"dataset": "wine", "text": "because"}]
    >>> explanation(dict.fromkeys(KEYS, "wine"), entries)["text"]
    'because'
    >>> explanation(dict.fromkeys(KEYS, "iris"), entries) is None
    True
    """
    return next((entry for entry in explanations if all(fnmatchcase(row[key], entry[key]) for key in KEYS)), None)


def unexplained(results: Sequence[dict[str, Any]], explanations: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
    """Short rows that no entry fits."""
    return [row for row in short_rows(results) if explanation(row, explanations) is None]


def stale(results: Sequence[dict[str, Any]], explanations: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Entries that no short row needs."""
    used = [explanation(row, explanations) for row in short_rows(results)]
    return [entry for entry in explanations if entry not in used]


def document(results: Sequence[dict[str, Any]], explanations: Sequence[dict[str, str]]) -> str:
    """The whole page."""
    parts = [HEAD, summary(results)]
    for result in results:
        parts += section(result, explanations)
    return "\n\n".join(parts) + "\n"


def summary(results: Sequence[dict[str, Any]]) -> str:
    """Number of rows of each paper by outcome."""
    lines = ["| paper | rows | reproduced | better | short | no published number |", "|---|---|---|---|---|---|"]
    for result in results:
        tally = Counter(row["verdict"] for row in result["rows"])
        numbers = [len(result["rows"]), *(tally[outcome] for outcome in ("reproduced", "better", "short", ""))]
        lines.append(f"| {result['title']} | " + " | ".join(map(str, numbers)) + " |")
    return "\n".join(lines)


def section(result: dict[str, Any], explanations: Sequence[dict[str, str]]) -> list[str]:
    """One paper: tables with published numbers, what fell short and why, short tables of the notes, two figures."""
    parts = [f"## {result['title']}", origin(result)]
    for table, setting in dict.fromkeys((row["table"], row["setting"]) for row in result["rows"]):
        rows = [row for row in result["rows"] if (row["table"], row["setting"]) == (table, setting)]
        if all(row["paper_mean"] is not None for row in rows):
            parts += [f"**{table}{', ' if setting else ''}{setting}**", pivot(rows)]
    texts: dict[str, list[str]] = {}
    for row in short_rows([result]):
        entry = explanation(row, explanations)
        if entry is not None:
            texts.setdefault(entry["text"].strip(), []).append(" ".join(row[key] for key in KEYS[1:] if row[key]))
    if texts:
        parts += ["### Short rows", "\n".join(f"- {'; '.join(rows)}: {text}" for text, rows in texts.items())]
    parts += short_tables(result["notes"])
    parts.append(f"Every row with its deviation, and how open points of the paper were read: `{page_of(result)}`.")
    folder = pathlib.Path(os.path.relpath(RESULTS, TARGET.parent)).as_posix()
    return parts + [f"![{pathlib.Path(name).stem}]({folder}/{name})" for name in result["figures"][:2]]


def page_of(result: dict[str, Any]) -> str:
    """The file with all rows and notes of a paper."""
    return f"experiments/results/{result['paper']}.md"


def short_tables(notes: Sequence[str]) -> list[str]:
    """The tables of at most 20 rows among the notes, each with the sentence before it."""
    found = []
    for before, note in pairwise(notes):
        if note.startswith("|") and note.count("\n") <= 21:
            found += [before, note]
    return found


def pivot(rows: Sequence[dict[str, Any]]) -> str:
    """Data sets down, methods across."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines = ["| data set | " + " | ".join(methods) + " |", "|---|" + "---|" * len(methods)]
    found = {(row["dataset"], row["method"]): row for row in rows}
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        cells = [_entry(found.get((dataset, method))) for method in methods]
        lines.append(f"| {dataset} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _entry(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    ours, paper = number(row["mean"], None, 1), number(row["paper_mean"], None, 1)
    return ours + (f" ({paper})" if paper else "") + MARKS.get(row["verdict"], "")


if __name__ == "__main__":
    sys.exit(main())
