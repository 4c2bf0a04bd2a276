"""The page of the mutation tests: one row for each file, and every survivor with what it changes."""

import json
from collections import Counter
from pathlib import Path

from scipy import stats

RULE = """# Mutation tests

One operator, constant or condition of a file is changed at a time, and the tests that enter the function run. A change
that fails no test survives: it needs a test, or changes nothing that can be observed, such as the size of a block.
`python tools/mutants.py` does this for `src/lvq/model/`, `src/lvq/solvers/` and `src/lvq/rejection/`; this page is
written by `python tools/mutants.py page` from `experiments/results/mutants.json`.

The mutants are a random sample of each file. Each ran with some of the tests in the folders of the same names, so the
whole suite may kill more. The score at first is an estimate for all mutants. The score now is not: tests were written
for the survivors of this sample. The intervals are those of a simple random sample, though small files have a larger
part of it. What changes behaviour and what changes nothing was judged by hand, for survivors only. Mutants of functions
that none of these tests enter were not run. The results of a function that was moved later are listed where it is now.
"""


def score(rows: list[dict], which: str = "result") -> tuple[int, int]:
    """Killed mutants, and those that change behaviour: all but the ones noted as unobservable."""
    counted = [row for row in rows if "note" not in row]
    return sum(row[which] == "killed" for row in counted), len(counted)


def interval(killed: int, total: int) -> str:
    """Killed of total in percent, with the exact 95 % interval of Clopper and Pearson."""
    test = stats.binomtest(killed, total).proportion_ci(0.95, "exact")
    low, high = 100 * test.low, 100 * test.high
    return f"{killed} of {total}, {100 * killed / total:.1f} % (95 % interval {low:.1f} to {high:.1f} %)"


def table(stored: dict[str, dict]) -> list[str]:
    """One line for each file."""
    lines = ["| File | Possible | Drawn | Change nothing | Killed at first | Killed now |", "|---|---|---|---|---|---|"]
    for file, result in stored.items():
        rows = result["mutants"]
        notes = sum("note" in row for row in rows)
        (first, _), (now, counted) = score(rows, "first"), score(rows)
        name = file.removeprefix("src/lvq/")
        lines.append(
            f"| {name} | {result['possible']} | {len(rows)} | {notes} | {first} of {counted} | {now} of {counted} |"
        )
    return lines


def survivors(stored: dict[str, dict], *, noted: bool) -> list[str]:
    """The survivors with a note, or those without."""
    lines = []
    for file, result in stored.items():
        for row in result["mutants"]:
            if row["result"] == "survived" and ("note" in row) == noted:
                where = f"{file.removeprefix('src/lvq/')}, {row['function'] or 'outside functions'}"
                lines.append(f"- {where}: `{row['before']}` -> `{row['after']}`{': ' + row['note'] if noted else ''}")
    return lines


def page(results: Path, files: list[str]) -> str:
    """The whole page; `files` are all that should have results."""
    stored = dict(sorted(json.loads(results.read_text(encoding="utf-8")).items()))
    rows = [row for result in stored.values() for row in result["mutants"]]
    possible = sum(result["possible"] for result in stored.values())
    kinds = Counter(row["kind"] for row in rows)
    missing = [f"`{file}`" for file in files if file not in stored]
    parts = [
        RULE,
        f"Drawn: {len(rows)} of {possible} possible mutants in {len(stored)} files, "
        + "; ".join(f"{kind}: {number}" for kind, number in kinds.most_common()) + ".\n",
        f"- Killed at first, of those that change behaviour: {interval(*score(rows, 'first'))}.",
        f"- Killed now, with the tests written for survivors: {interval(*score(rows))}.",
        f"- Without results: {', '.join(missing) or 'no file'}.",
        "", *table(stored), "", "## Survivors that change behaviour", "",
        *(survivors(stored, noted=False) or ["None."]),
        "", "## Changes of nothing that can be observed", "", "Judged by hand.", "", *survivors(stored, noted=True), "",
    ]  # fmt: skip
    return "\n".join(parts)
