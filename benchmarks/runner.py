"""Runs cases: what is missing of each, cell by cell, stored at once."""

import pathlib
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks import cases, machine
from benchmarks.data import AbsentError, Data
from benchmarks.environments import ROOT
from benchmarks.processes import Workers
from benchmarks.results import Store, name_of
from benchmarks.rounds import Row, Run

#: A case ends after this many times its minutes; its last cells are then missing.
MOST_TIMES = 1.5


def run_cases(names: Sequence[str], out: pathlib.Path, *, fresh: bool, budget: float, **options: Any) -> None:
    """Run cases, all if no name is given; options are those of `Run`."""
    with Workers() as workers, Data() as data:
        run = Run(workers, data, **options)
        settings = {"repeat": run.repeat, "quick": run.quick, "timeout": run.timeout, "peers": list(run.peers)}
        header = {"commit": machine.commit(), "machine": machine.description(), "settings": settings}
        for name in names or cases.NAMES:
            if name == "gpu":
                run_gpu(out, run)
            else:
                store = Store(out, name, header, fresh)
                run_case(cases.load(name), store, run, budget)
                libraries = tuple(dict.fromkeys(row["library"] for row in store.rows if row["status"] == "ok"))
                store.content["versions"] = machine.versions(workers, libraries)
                store.write()


def run_case(case: cases.Case, store: Store, run: Run, budget: float) -> None:
    """The cells of a case that are not stored."""
    start = time.monotonic()
    run.end, run.rows = start + 60 * budget * case.MINUTES, store.rows
    wanted = case.cells(run.quick)
    done = sum(store.has(cell) for cell in wanted)
    if done:
        print(f"{case.TITLE}: {done} of {len(wanted)} cells are stored by this commit")
    for number, cell in enumerate(wanted, start=1):
        if store.has(cell):
            continue
        began = time.monotonic()
        if began > start + MOST_TIMES * (run.end - start):
            print(f"{case.TITLE}: the time is used up, {len(wanted) - number + 1} cells are left")
            return
        rows = rows_of(case, cell, run)
        store.add(cell, rows, time.monotonic() - began)
        print(f"{case.TITLE} {number}/{len(wanted)}: {name_of(cell)}, {time.monotonic() - began:.1f} s", flush=True)
    store.finish()


def rows_of(case: cases.Case, cell: Row, run: Run) -> list[Row]:
    """The rows of a cell; one that names the reason where its data are missing."""
    try:
        return case.run(cell, run)
    except AbsentError as error:
        return [{"library": "lvq", "threads": None, "status": f"skipped: {error}"}]


def run_gpu(out: pathlib.Path, run: Run) -> None:
    """The script of its own, where there is a device."""
    check = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    if subprocess.run([sys.executable, "-c", check], capture_output=True, check=False).returncode:
        print("gpu: skipped, as torch or a CUDA device is missing; run benchmarks/gpu.py on a machine that has them")
        return
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu.py"), "--out", str(out), "--repeat", str(run.repeat)]
    subprocess.run([*command, *(["--quick"] if run.quick else [])], check=True)
