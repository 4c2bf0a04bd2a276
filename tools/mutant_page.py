"""The page of the mutation tests: one row for each file, and every survivor with what it changes."""

from collections import Counter

from scipy import stats

RULE = """# Mutation tests

One operator, constant or condition of a file is changed at a time, and the tests that enter the function run. A change
that fails no test survives: it needs a test, or changes nothing that can be observed, such as the size of a block.
`python tools/mutants.py` does this for `src/lvq/model/`, `src/lvq/solvers/` and `src/lvq/rejection/`; this page is
written by `python tools/mutants.py page` from `experiments/results/mutants_*.json`.

A sample is run with tests that exist when it is drawn: this score is an estimate for all mutants of all files, with the
tests of that time. Then tests are written for its survivors, and these run again: that score is no estimate, as the
tests were written for just these mutants. So the score at first of the last sample is the estimate for the tests of
today; those written for its own survivors can only kill more.

The intervals are exact for a simple random sample of all files, which all but sample 0 are. Some mutants were added to
sample 1 so that each file has one; they are not part of its score. Sample 0 has two mutants of most files and none of
the compiled loops. A mutant runs with the tests of the mirrored file, some of the folder of the same name and some of
`tests/estimators`, so the whole suite may kill more; a mutant of a function that none of them enters is a survivor.
What changes behaviour and what changes nothing was judged by hand, for survivors only. A function that was moved later
is listed where it was then.
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


def rows_of(sample: dict[str, dict], *, added: bool) -> list[dict]:
    """The mutants of a sample, with those that were added for files with few, or without."""
    return [row for result in sample.values() for row in result["mutants"] if added or "added" not in row]


def scores(number: int, sample: dict[str, dict]) -> list[str]:
    """What was drawn and its two scores."""
    rows = rows_of(sample, added=False)
    more = len(rows_of(sample, added=True)) - len(rows)
    kinds = Counter(row["kind"] for row in rows)
    return [
        f"Sample {number}: {len(rows)} mutants, "
        + "; ".join(f"{kind}: {count}" for kind, count in kinds.most_common())
        + (f"; and {more} that were added." if more else "."), "",
        f"- Killed at first, of those that change behaviour: {interval(*score(rows, 'first'))}.",
        f"- Killed now, with the tests written for survivors: {interval(*score(rows))}.", "",
    ]  # fmt: skip


def table(samples: list[dict[str, dict]], files: list[str]) -> list[str]:
    """One line for each file, all samples together."""
    lines = ["| File | Possible | Drawn | Change nothing | Killed at first | Killed now |", "|---|---|---|---|---|---|"]
    for file in files:
        found = [sample[file] for sample in samples if file in sample]
        rows = [row for result in found for row in result["mutants"]]
        notes = sum("note" in row for row in rows)
        (first, _), (now, counted) = score(rows, "first"), score(rows)
        cells = [file.removeprefix("src/lvq/"), found[-1]["possible"], len(rows), notes]
        cells += [f"{first} of {counted}", f"{now} of {counted}"]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return lines


def survivors(samples: list[dict[str, dict]], *, noted: bool) -> list[str]:
    """The survivors with a note, or those without."""
    lines = []
    for number, sample in enumerate(samples):
        for file, result in sorted(sample.items()):
            for row in result["mutants"]:
                if row["result"] == "survived" and ("note" in row) == noted:
                    where = (
                        f"Sample {number}, {file.removeprefix('src/lvq/')}, {row['function'] or 'outside functions'}"
                    )
                    reason = f": {row['note']}" if noted else ""
                    lines.append(f"- {where}: `{row['before']}` -> `{row['after']}`{reason}")
    return lines or ["None."]


def page(samples: list[dict[str, dict]], files: list[str]) -> str:
    """The whole page; `files` are all that should have results."""
    known = sorted(file for file in set().union(*samples))
    missing = [f"`{file}`" for file in files if file not in known]
    possible = sum([sample[file] for sample in samples if file in sample][-1]["possible"] for file in known)
    parts = [
        RULE,
        *(line for number, sample in enumerate(samples) for line in scores(number, sample)),
        f"Possible: {possible} mutants in {len(known)} files. Without results: {', '.join(missing) or 'no file'}.",
        "", "All samples together, added ones too:", "", *table(samples, known),
        "", "## Survivors that change behaviour", "", *survivors(samples, noted=False),
        "", "## Changes of nothing that can be observed", "", "Judged by hand.", "", *survivors(samples, noted=True),
        "",
    ]  # fmt: skip
    return "\n".join(parts)
