"""Writes what a run found: PAPER.json, PAPER.md and the figures, each whole or not at all."""

from __future__ import annotations

import json
import math
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from experiments.cells import Cell, Store
from experiments.comparison import OUTCOMES
from lvq._files import write_atomically

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = ("lvq", "numpy", "scipy", "scikit-learn", "numba")


def write_results(
    stem: str, paper: Any, wanted: Sequence[Cell], store: Store, out: pathlib.Path, *, command: str, quick: bool
) -> list[str]:
    """Write the results of the finished cells; returns what could not be written, and why."""
    kept_cells = store.read_all()
    stored = {cell: kept_cells[cell] for cell in wanted if cell in kept_cells}
    if not stored:
        return [f"no cell of {stem} is finished: nothing written"]
    found = {cell: kept.result for cell, kept in stored.items()}
    rows = paper.rows(found)
    commit, dirty = repository_state()
    result = {
        "paper": stem.split(".")[0],
        "title": paper.TITLE,
        "command": command,
        "quick": quick,
        "commit": commit,
        "dirty": dirty,
        "cells": {"finished": len(stored), "all": len(wanted)},
        "cells_from": dict(Counter(kept.commit for kept in stored.values()).most_common()),
        "versions": versions(),
        "notes": paper.notes(found),
        "figures": [],
        "rows": [rounded(asdict(row)) for row in rows],
    }
    figures, problems = draw(stem, paper, found, out)
    result["figures"] = [path.name for path in figures]
    replace_text(out / f"{stem}.json", json.dumps(result, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    replace_text(out / f"{stem}.md", page(result))
    return problems


def draw(stem: str, paper: Any, found: dict[Cell, dict], out: pathlib.Path) -> tuple[list[pathlib.Path], list[str]]:
    """Draw the figures beside their place and move them there; and what went wrong, if anything did."""
    try:
        import matplotlib as mpl
    except ImportError:
        return [], ['the figures need matplotlib: pip install "lvq[plot]"; the rest is written']
    mpl.use("Agg")
    folder = pathlib.Path(tempfile.mkdtemp(dir=out, prefix=f".{stem}-"))
    try:
        drawn = paper.figures(found, folder)
        name = stem.split(".")[0]
        placed = [out / path.name.replace(f"{name}-", f"{stem}-", 1) for path in drawn]
        for path, place in zip(drawn, placed):
            os.replace(path, place)
        return placed, []
    except Exception:
        return [], ["the figures could not be drawn; the rest is written\n" + traceback.format_exc()]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def page(result: dict[str, Any]) -> str:
    """One paper's results as Markdown: every row on a line of its own."""
    parts = [f"# {result['title']}", origin(result), counts(result["rows"])]
    for table in dict.fromkeys(row["table"] for row in result["rows"]):
        parts += [f"## {table}", table_of(row for row in result["rows"] if row["table"] == table)]
    parts += result["notes"]
    parts += [f"![{name}]({name})" for name in result["figures"]]
    return "\n\n".join(parts) + "\n"


def origin(result: dict[str, Any]) -> str:
    """The command, commits and versions behind the numbers."""
    cells = result["cells"]
    whole = "" if cells["finished"] == cells["all"] else f" Not complete: {cells['finished']} of {cells['all']} cells."
    by = ", ".join(f"`{stamp}` ({count} cells)" for stamp, count in result["cells_from"].items())
    used = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    return f"By `{result['command']}`; code of {by}; {used}.{whole}"


def counts(rows: Sequence[dict[str, Any]]) -> str:
    """Number of rows of each outcome."""
    tally = Counter(row["verdict"] for row in rows)
    judged = [f"{tally[outcome]} {outcome}" for outcome in OUTCOMES]
    return f"{len(rows)} rows: {', '.join(judged)}, {tally['']} without a published number."


def table_of(rows: Iterable[dict[str, Any]]) -> str:
    """A line for every row, percent."""
    lines = ["| data set | method | setting | ours | runs | published | verdict | note |", "|" + "---|" * 8]
    for row in rows:
        ours = number(row["mean"], row["std"])
        paper = number(row["paper_mean"], row["paper_std"])
        cells = row["dataset"], row["method"], row["setting"], ours, row["n_runs"], paper, row["verdict"], row["note"]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines)


def number(mean: float | None, std: float | None, digits: int = 2) -> str:
    """A mean with its deviation, as far as they are known.

    Examples
    --------
    >>> number(97.0, 0.5), number(97.123, None), number(None, None)
    ('97.00 ± 0.50', '97.12', '')
    """
    if mean is None:
        return ""
    return f"{mean:.{digits}f}" + ("" if std is None else f" ± {std:.{digits}f}")


def replace_text(path: pathlib.Path, text: str) -> None:
    """Write a file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as file:
        file.write(text.encode())


def rounded(record: dict[str, Any], digits: int = 4) -> dict[str, Any]:
    """Numbers with few digits, and None for what is not a number, which JSON does not know."""
    return {
        name: (round(value, digits) if math.isfinite(value) else None) if isinstance(value, float) else value
        for name, value in record.items()
    }


def versions() -> dict[str, str]:
    """Of Python and the packages that compute."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def repository_state() -> tuple[str, bool]:
    """The commit checked out, and whether the code differs from it; results do not count as code."""
    changed = ["status", "--porcelain", "--", "src", "experiments", ":(exclude)experiments/results"]
    return _git("rev-parse", "--short=12", "HEAD") or "unknown", bool(_git(*changed))


def code_stamp() -> str:
    """The commit, with a plus where the code differs from it."""
    commit, dirty = repository_state()
    return commit + ("+" if dirty else "")


def _git(*arguments: str) -> str:
    try:
        result = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""  # an unpacked archive has no history
    return result.stdout.strip()
