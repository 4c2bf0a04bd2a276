"""Cells computed by processes of one thread each, and stored as they come; what is stored is not computed again.

For experiments whose cells take seconds: `experiments.pool` and `experiments.few_shots`.
"""

import argparse
import multiprocessing
import os
import pathlib
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from experiments.cells import Cell, Store

Found = dict[Cell, dict[str, Any]]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def results_of(name: str) -> pathlib.Path:
    """The file of an experiment's cells."""
    return pathlib.Path(__file__).parent / "results" / f"{name}.jsonl"


def show(path: pathlib.Path, tables: str) -> None:
    """Print the tables, and write them beside the cells."""
    print(tables)
    path.with_suffix(".md").write_text(tables + "\n", encoding="utf-8")


def arguments(name: str, methods: Sequence[str]) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{name}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="processes (default: all cores)")
    parser.add_argument(
        "--out", type=pathlib.Path, default=results_of(name), metavar="FILE", help="one JSON object a line"
    )
    parser.add_argument("--models", nargs="+", choices=methods, default=list(methods), metavar="MODEL")
    parser.add_argument("--quick", action="store_true", help="a few small cells")
    parser.add_argument("--summary", action="store_true", help="print the tables of what is stored, compute nothing")
    return parser.parse_args()


def computed(cells: Sequence[Cell], compute: Callable[[Cell], dict[str, Any]], path: pathlib.Path, jobs: int) -> Found:
    """Results of the cells that could be computed; those of others are reported and left out."""
    store = Store(path)
    found = store.read()
    todo = [cell for cell in cells if cell not in found]
    print(f"{len(cells) - len(todo)} of {len(cells)} cells are stored, {len(todo)} to compute", flush=True)
    os.environ.update(dict.fromkeys(THREADS, "1"))  # read by the new processes when they load NumPy
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        pending = {pool.submit(compute, cell): cell for cell in todo}
        for done, future in enumerate(as_completed(pending), start=1):
            cell = pending[future]
            if (error := future.exception()) is not None:
                print(f"failed: {cell}: {error!r}", file=sys.stderr, flush=True)
                continue
            found[cell] = future.result()
            store.add(cell, found[cell], seconds=found[cell]["seconds"])
            if done % 50 == 0:
                print(f"{done} of {len(todo)}", flush=True)
    store.close()
    return found
