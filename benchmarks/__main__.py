"""The command: `python -m benchmarks [CASE ...]`, `... environments [NAME ...]`, `... page`."""

import argparse
import pathlib
import sys
from collections.abc import Sequence

from benchmarks import cases, environments, page, results, runner
from benchmarks.rounds import PEERS

QUICK_FOLDER = environments.FOLDER / "quick"


def parser() -> argparse.ArgumentParser:
    """What may be given on the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure speed, memory and accuracy. `environments [NAME ...]` installs the other libraries, "
        "`page` writes docs/benchmarks.md. What the same commit has stored is not measured again.",
    )
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help=f"{', '.join((*cases.NAMES, 'gpu'))}; default: all but gpu"
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to check the harness; stored under .bench/")
    parser.add_argument("--repeat", type=int, default=None, metavar="R", help="rounds after the first (default: 3)")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS, metavar="NAME", help=", ".join(PEERS))
    parser.add_argument("--timeout", type=float, default=120, metavar="S", help="largest seconds of a peer's task")
    parser.add_argument("--budget", type=float, default=1, metavar="F", help="factor on the minutes of every case")
    parser.add_argument("--out", type=pathlib.Path, default=None, metavar="DIR", help="default: benchmarks/results")
    parser.add_argument("--fresh", action="store_true", help="measure again what is stored")
    return parser


def main(arguments: Sequence[str]) -> int:
    """The command; gives the exit code."""
    if arguments[:1] == ["environments"]:
        return 1 if environments.make(arguments[1:]) else 0
    if arguments[:1] == ["page"]:
        page.write_tables()
        print(page.write().relative_to(environments.ROOT))
        return 0
    given = parser().parse_args(arguments)
    unknown = [name for name in given.cases if name not in (*cases.NAMES, "gpu")]
    if unknown:
        print(f"unknown case {', '.join(unknown)}; there are {', '.join((*cases.NAMES, 'gpu'))}")
        return 2
    out = given.out or (QUICK_FOLDER if given.quick else results.FOLDER)
    repeat = given.repeat if given.repeat is not None else 1 if given.quick else 3
    runner.run_cases(
        given.cases, out, fresh=given.fresh, budget=given.budget, repeat=repeat, quick=given.quick,
        timeout=given.timeout, peers=tuple(given.peers),
    )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
