"""Writes `docs/reliability.md`: guarantees by simulation, certificates under attack, and the test suite.

    python -m experiments.guarantees && python -m experiments.certificates
    python -m pytest -m "" --junitxml out/tests.xml
    python -m experiments.reliability --tests out/tests.xml

The numbers of the tests are kept in `results/tests.json`, so that the page can be written again without running them.
"""

import argparse
import datetime
import json
import pathlib
from typing import Any
from xml.etree import ElementTree

from experiments.output import code_stamp

ROOT = pathlib.Path(__file__).parents[1]
RESULTS = pathlib.Path(__file__).parent / "results"
PAGE = ROOT / "docs" / "reliability.md"
HEAD = """# Reliability

What the library promises, and how often the promise was kept when it was tried. Written by
`python -m experiments.reliability` from the results in `experiments/results/`. All results are from {date}."""
GUARANTEES = """## A guaranteed error

`RejectClassifier(max_error=0.1, confidence=0.9)` promises that at most one calibration in ten accepts predictions with
a true error above 10 %. Each procedure was calibrated on new samples of four populations whose true error is known. In
"hard" the error is just above the bound everywhere, so every certified point is a violation; in "honest" it falls with
the certainty; in "inverted" it rises with it; in "one class" one class is predicted well and the other is not."""
CERTIFICATES = """## Certified radii

`lvq.certified_radius` promises that no smaller change of a sample changes its prediction. Projected gradient descent
looked for one inside the radius of each of the samples. The last column shows that the attack works: it is the
fraction of the samples whose label it changes at twice the radius."""
TESTS = """## Tests

Among them are gradients against finite differences, compiled loops against slow NumPy code, weights against copies,
interrupted fits, damaged and hostile files, and the checks of scikit-learn. `make test` runs them; `make test-all` runs
the fuller products of models, metrics, costs, links and solvers too."""


def page(guarantees: list[dict[str, Any]], certificates: list[dict[str, Any]], tests: dict[str, Any]) -> str:
    """The page as Markdown."""
    counts = ("calibrations", "certified", "violated", "promised")
    violated = [(row["procedure"], row["population"], *(f"{row[key]:,}" for key in counts)) for row in guarantees]
    attacked = [
        (row["model"], row["norm"], f"{row['samples']:,}", row["broken"], f"{row['changed_at_twice']:.0%}")
        for row in certificates
    ]
    return (
        "\n\n".join(
            [
                HEAD.format(date=tests["date"]),
                GUARANTEES,
                table(("procedure", "population", "calibrations", "certified", "violations", "allowed"), violated),
                CERTIFICATES,
                table(("model", "norm", "samples", "certificates broken", "changed at twice the radius"), attacked),
                TESTS,
                ended(tests),
            ]
        )
        + "\n"
    )


def ended(tests: dict[str, Any]) -> str:
    """How the tests ended."""
    return (
        f"On {tests['date']}, at commit `{tests['commit']}`, `make test-all` passed {tests['passed']:,} tests; "
        f"{tests['failed']} failed, {tests['skipped']:,} were skipped, as they need hardware or software that was not "
        "there."
    )


def table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """A table in Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def counted(path: pathlib.Path) -> dict[str, Any]:
    """How the tests of a file of pytest's `--junitxml` ended."""
    suites = ElementTree.parse(path).getroot().iter("testsuite")
    counts = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in suites:
        for key in counts:
            counts[key] += int(suite.get(key, 0))
    failed = counts["failures"] + counts["errors"]
    passed = counts["tests"] - failed - counts["skipped"]
    date = datetime.date.today().isoformat()
    return {"date": date, "commit": code_stamp(), "passed": passed, "failed": failed, "skipped": counts["skipped"]}


def read(name: str) -> Any:
    """A stored result."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tests", type=pathlib.Path, help="a file of pytest's --junitxml")
    given = parser.parse_args()
    if given.tests:
        (RESULTS / "tests.json").write_text(json.dumps(counted(given.tests), indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(read("guarantees"), read("certificates"), read("tests")), encoding="utf-8")


if __name__ == "__main__":
    main()
