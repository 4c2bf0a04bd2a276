"""Writes `docs/benchmarks.md` and its figures from the stored results."""

import pathlib
import textwrap
from typing import Any

from benchmarks import cases, goals, text
from benchmarks.environments import ROOT
from benchmarks.results import FOLDER, read
from benchmarks.rounds import LEAST_SECONDS, TIMES_OURS, Row

INTRODUCTION = f"""Made by `python -m benchmarks page` from the files of `benchmarks/results/`; do not edit.
`make bench` measures again (about 45 minutes, and nothing else should run), after `python -m benchmarks environments`
has installed the other libraries.

Every number is measured in the same run as what it is compared with: the participants of a case take turns, round by
round. Times are medians, with quartiles in brackets where they differ. "One thread" is a process on one core whose
pools have one thread, in CPU seconds; "default threads" sets nothing and is in wall seconds. A peer is stopped at
{TIMES_OURS} times our time, but not before {LEAST_SECONDS:.0f} s nor after 120 s. What did not run is named as such."""

EXPLANATION = """For fits the worst of all models counts, against the LVQ library that is fastest. Our time is that to
its training objective and its test accuracy less a standard error (the section on fits says how); the ratio over whole
fits is given beside it. A library that was stopped counts with the time at which it was stopped; "not decided" if that
is too early."""


def write(results: pathlib.Path = FOLDER, docs: pathlib.Path = ROOT / "docs") -> pathlib.Path:
    """Write the page and the figures; gives the page's path."""
    found = {name: content for name in (*cases.NAMES, "gpu") if (content := read(results, name))}
    rows = {name: measured(content) for name, content in found.items()}
    parts = ["# Benchmarks", *INTRODUCTION.split("\n\n"), *conditions(found)]
    parts += ["## Goals", EXPLANATION, goals.table(rows)]
    for name in cases.NAMES:
        parts += section(name, found.get(name), docs)
    parts += gpu_section(found.get("gpu"))
    page = docs / "benchmarks.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n\n".join(map(wrapped, parts)) + "\n", encoding="utf-8")
    return page


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


def section(name: str, content: dict[str, Any] | None, docs: pathlib.Path) -> list[str]:
    """A case: its figure, its tables, and what did not run."""
    case = cases.load(name)
    parts = [f"## {case.TITLE}"]
    if content is None:
        return [*parts, "Not measured yet."]
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
