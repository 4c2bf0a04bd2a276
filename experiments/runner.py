"""Runs what is missing of a paper's cells, by threads, and writes the results.

A paper is a module with `TITLE`, `cells(quick)`, `compute(cell)`, `rows(found)`, `figures(found, out)` and
`notes(found)`. Every finished cell is on the disk at once, so a killed run goes on where it was; a quick run has files
of its own. A cell that fails is reported at the end, and the others go on.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pathlib
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple, Protocol

from experiments.cells import Cell, Store
from experiments.comparison import Row
from experiments.output import code_stamp, write_results
from experiments.progress import Estimate, duration, progress_line

PAPERS = ("fischer", "jin", "ridge", "kaestner")
RESULTS = pathlib.Path(__file__).parent / "results"


class Paper(Protocol):
    """What the module of a paper offers."""

    TITLE: str

    def cells(self, quick: bool) -> list[Cell]: ...
    def compute(self, cell: Cell) -> dict[str, Any]: ...
    def rows(self, found: dict[Cell, dict[str, Any]]) -> list[Row]: ...
    def figures(self, found: dict[Cell, dict[str, Any]], out: pathlib.Path) -> list[pathlib.Path]: ...
    def notes(self, found: dict[Cell, dict[str, Any]]) -> list[str]: ...


class Failure(NamedTuple):
    """A cell that raised."""

    cell: Cell
    error: str


def main(arguments: Sequence[str]) -> int:
    """The command; gives the exit code."""
    given = parser().parse_args(arguments)
    paper: Any = importlib.import_module(f"experiments.{given.paper}")
    return run(given.paper, paper, quick=given.quick, jobs=given.jobs, out=given.out, only=given.only)


def parser() -> argparse.ArgumentParser:
    """What may be given on the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description="Run a paper's experiments again; what is stored is not run twice."
    )
    parser.add_argument("paper", type=_paper, metavar="PAPER", help=", ".join(PAPERS))
    parser.add_argument("--quick", action="store_true", help="fewer runs and sets, under two minutes on two cores")
    parser.add_argument("--jobs", type=_positive, default=_cores(), metavar="N", help="threads (default: all cores)")
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS, metavar="DIR", help="default: experiments/results")
    parser.add_argument("--only", nargs="+", default=None, metavar="DATASET", help="compute these data sets alone")
    return parser


def run(
    name: str,
    paper: Paper,
    *,
    quick: bool = False,
    jobs: int = 1,
    out: pathlib.Path = RESULTS,
    only: Sequence[str] | None = None,
) -> int:
    """Compute the missing cells of a paper and write its results; 1 if a cell failed, else 0."""
    stem = f"{name}.quick" if quick else name
    wanted = paper.cells(quick)
    store = Store(pathlib.Path(out) / f"{stem}.cells.jsonl")
    try:
        todo = _missing(wanted, store, only)
        store.claim()
    except (ValueError, RuntimeError) as error:
        print(error)
        return 2
    interrupted, failures = False, []
    try:
        failures = compute_missing(stem, paper, wanted, todo, store, jobs)
    except KeyboardInterrupt:
        interrupted = True
        print("stopped; finished cells are kept, those in flight are lost. The same command goes on from here.")
    command = " ".join(["python -m experiments", name, *(["--quick"] if quick else [])])
    problems = write_results(stem, paper, wanted, store, pathlib.Path(out), command=command, quick=quick)
    for problem in (*grouped(failures), *problems):
        print(problem)
    if interrupted:  # threads cannot be stopped; none may be in the middle of a line
        with store.lock:
            sys.stdout.flush()  # a hard exit loses buffered output
            os._exit(130)
    store.close()
    return 1 if failures or problems else 0


def compute_missing(
    name: str, paper: Paper, wanted: list[Cell], todo: list[Cell], store: Store, jobs: int
) -> list[Failure]:
    """Compute cells by threads, storing each as it is finished."""
    estimate, stamp, done = Estimate(jobs, todo), code_stamp(), len(wanted) - len(todo)
    for cell, stored in store.read_all().items():
        estimate.learn(cell, stored.seconds)
    if done:
        print(f"{done} of {len(wanted)} cells of {name} are stored or left out, {len(todo)} to compute")
    began, failures = time.monotonic(), []
    pool = ThreadPoolExecutor(jobs, thread_name_prefix=name)
    try:
        pending = {pool.submit(_finish, paper, cell, store, stamp): cell for cell in todo}
        with progress_line(name, len(wanted), done) as line:
            while pending:
                for future in wait(pending, timeout=5, return_when=FIRST_COMPLETED).done:
                    cell = pending.pop(future)
                    done += 1
                    failures += _account(future, cell, estimate)
                line.show(done, estimate.text())
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    print(f"{name}: {len(todo)} cells in {duration(time.monotonic() - began)}, {len(failures)} failed")
    return failures


def grouped(failures: Sequence[Failure]) -> list[str]:
    """Messages about failed cells: one for all that failed in the same way, as where a data set is missing."""
    cells: dict[str, list[Cell]] = {}
    for failure in failures:
        cells.setdefault(failure.error, []).append(failure.cell)
    return [
        f"failed: {alike[0]}" + (f" and {len(alike) - 1} more" if len(alike) > 1 else "") + f"\n{error}"
        for error, alike in cells.items()
    ]


def _finish(paper: Paper, cell: Cell, store: Store, stamp: str) -> float:
    """Compute and store one cell; gives the seconds it took."""
    start = time.perf_counter()
    result = paper.compute(cell)
    seconds = time.perf_counter() - start
    store.add(cell, result, seconds=seconds, commit=stamp)
    return seconds


def _account(future: Future[float], cell: Cell, estimate: Estimate) -> list[Failure]:
    error = future.exception()
    if error is None:
        estimate.finished(cell, future.result())
        return []
    estimate.gave_up(cell)
    return [Failure(cell, "".join(traceback.format_exception(error)))]


def _missing(wanted: list[Cell], store: Store, only: Sequence[str] | None) -> list[Cell]:
    """Cells still to be computed."""
    datasets = list(dict.fromkeys(cell.dataset for cell in wanted))
    unknown = [name for name in only or () if name not in datasets]
    if unknown:
        raise ValueError(f"--only must name data sets among {', '.join(datasets)}; got {', '.join(unknown)}.")
    if len(set(wanted)) < len(wanted):
        twice = next(cell for place, cell in enumerate(wanted) if cell in wanted[:place])
        raise ValueError(f"cells of a paper must differ, got {twice} twice.")
    stored = store.read()
    return [cell for cell in wanted if cell not in stored and (not only or cell.dataset in only)]


def _paper(text: str) -> str:
    if text not in PAPERS:
        raise argparse.ArgumentTypeError(f"there is no paper {text!r}; the papers are {', '.join(PAPERS)}")
    return text


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number of threads, 1 or more, got {text!r}")
    return int(text)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
