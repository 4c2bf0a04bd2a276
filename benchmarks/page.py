"""Writes `docs/benchmarks.md`, its figures and `benchmarks/results/tables.md` from the stored results."""

import pathlib
import textwrap
from typing import Any

from benchmarks import cases, goals, text
from benchmarks.environments import ROOT
from benchmarks.results import FOLDER, read
from benchmarks.rounds import LEAST_SECONDS, TIMES_OURS, Row

INTRODUCTION = f"""Made by `python -m benchmarks page` from `benchmarks/results/`; do not edit. `make bench` measures
again, in about 45 minutes on an otherwise idle machine.

Everything that is compared was measured in the same run: the libraries take turns, round by round. Times are
medians, with quartiles in brackets where they differ. "One thread" means CPU seconds of a process on one core;
"default threads" means wall-clock seconds. Another library is stopped at {TIMES_OURS} times our time, but not before
{LEAST_SECONDS:.0f} s and at the latest after 120 s."""
ELSEWHERE = "Long tables, versions and commits are in `benchmarks/results/tables.md`."
LONGEST = 18  # lines of a table of the page

EXPLANATION = """For each set, `fit` is judged by our worst model against the fastest LVQ library. Our time is the time
to reach that library's training objective and its test accuracy less a standard error; the ratio of whole fits follows.
If a library was stopped, its time is the one at which it was stopped, or the goal is "not decided"."""


def write(results: pathlib.Path = FOLDER, docs: pathlib.Path = ROOT / "docs") -> pathlib.Path:
    """Write the page and the figures; gives the page's path."""
    found = all_results(results)
    rows = {name: measured(content) for name, content in found.items()}
    parts = ["# Benchmarks", *INTRODUCTION.split("\n\n"), ELSEWHERE, "## Goals", EXPLANATION, goals.table(rows)]
    for whole in sections(found, docs):
        parts += shortened(whole)
    page = docs / "benchmarks.md"
    store(page, parts)
    return page


def write_tables(results: pathlib.Path = FOLDER, docs: pathlib.Path = ROOT / "docs") -> None:
    """Write all tables next to the results, with machines and versions; the figures are on the page."""
    found = all_results(results)
    parts = [part for whole in sections(found, docs) for part in whole if not part.startswith("!")]
    store(results / "tables.md", ["# Tables of the benchmarks", *conditions(found), *parts])


def all_results(folder: pathlib.Path) -> dict[str, dict[str, Any]]:
    """The stored results by case, in the order of the page."""
    return {name: content for name in (*cases.NAMES, "gpu") if (content := read(folder, name))}


def sections(found: dict[str, dict[str, Any]], docs: pathlib.Path) -> list[list[str]]:
    """What is said of each case that was measured, and of the GPU."""
    return [*(section(name, found[name], docs) for name in cases.NAMES if name in found), gpu_section(found.get("gpu"))]


def store(path: pathlib.Path, parts: list[str]) -> None:
    """Write a file of these parts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(map(wrapped, parts)) + "\n", encoding="utf-8")


def shortened(parts: list[str]) -> list[str]:
    """A section without its long tables and the text before each; nothing if only the title would be left."""
    kept: list[str] = []
    for part in "\n\n".join(parts).split("\n\n"):
        if not part.startswith("|") or part.count("\n") < LONGEST:
            kept.append(part)
        elif not kept[-1].startswith(("|", "!", "## ")):
            kept.pop()
    return kept if len(kept) > 1 else []


def measured(content: dict[str, Any]) -> list[Row]:
    """The rows of a case, without those whose data were missing."""
    return [row for row in content["rows"] if not row["status"].startswith("skipped")]


def wrapped(part: str) -> str:
    """A part with its paragraphs in lines of at most 120 characters; tables, lists and headings stay."""
    paragraphs = part.split("\n\n")
    return "\n\n".join(
        paragraph if paragraph.startswith(("|", "#", "- ", "!")) else textwrap.fill(" ".join(paragraph.split()), 120)
        for paragraph in paragraphs
    )


def conditions(found: dict[str, dict[str, Any]]) -> list[str]:
    """Machines and commits, with the cases measured there, and the versions of all libraries."""
    places: dict[str, list[str]] = {}
    versions: dict[str, list[str]] = {}
    for name, content in found.items():
        if name == "gpu":
            continue  # its section names its machine
        machine = content["machine"]
        where = [machine["processor"], f"{machine['cores']} cores", f"{machine['memory_gigabytes']} GB"]
        where += [machine["system"], f"Python {machine['python']}", f"commit {content['commit']}"]
        places.setdefault(", ".join(where), []).append(name)
        for library, packages in content.get("versions", {}).items():
            shown = ", ".join(f"{package} {version}" for package, version in packages.items())
            versions.setdefault(shown, []).append(text.name(library))
    if not places:
        return []
    machines = [f"- {where}: {', '.join(names)}" for where, names in places.items()]
    listed = [f"- {', '.join(dict.fromkeys(libraries))}: {packages}" for packages, libraries in versions.items()]
    return ["Machine and versions:", "\n".join([*machines, *listed])]


def section(name: str, content: dict[str, Any], docs: pathlib.Path) -> list[str]:
    """A case: its figure, its tables, and what did not run."""
    case = cases.load(name)
    parts = [f"## {case.TITLE}"]
    if not content["complete"]:
        parts.append("The run was not finished.")
    rows = measured(content)
    draw = cases.figure_of(name)
    if draw and rows:
        path = docs / "images" / f"benchmarks-{name}.svg"
        draw(rows, path)
        parts.append(f"![{case.TITLE}](images/{path.name})")
    if rows:
        parts.append(case.report(rows))
    skipped = dict.fromkeys(row["status"] for row in content["rows"] if row["status"].startswith("skipped"))
    failed = dict.fromkeys(
        f"{text.name(row['library'])}: {row['status']}"
        for row in rows
        if row["status"].startswith(("failed", "not installed"))
    )
    if skipped or failed:
        parts.append("\n".join(f"- {line}" for line in (*skipped, *failed)))
    return parts


def gpu_section(content: dict[str, Any] | None) -> list[str]:
    """The results of `benchmarks/gpu.py`."""
    parts = ["## GPU"]
    if content is None:
        return [*parts, "Not measured yet: `benchmarks/gpu.py` runs on a machine with a GPU."]
    lines = []
    for row in content["rows"]:
        if row["status"] != "ok":
            parts.append(row["status"])
            continue
        shown = f"{row['samples']:,} x {row['features']}" if "samples" in row else text.name(row["set"])
        products = text.digits(row["wall"]["median"] / row["product"])
        times = [text.seconds(row["wall"]["first"]), text.spread(row, "wall"), str(row["iterations"]), products]
        line = [shown, text.name(row["model"]), str(row["prototypes"]), *times]
        lines.append([*line, text.percent(row["test_accuracy"])])
    head = ["data", "model", "prototypes", "first fit", "fit", "iterations", "in products", "test accuracy, %"]
    where = f"{content['machine']['processor']}, torch {content['torch']}, float32, data on the device, wall seconds."
    return [*parts, where, text.table(head, lines)]
