"""A paper of six sleepy cells, for the tests of the runner; run as a script it is a run to be killed."""

import os
import pathlib
import sys
import time

from experiments.cells import Cell
from experiments.comparison import Row, row

TITLE = "A toy"
TRACE = os.environ.get("TOY_TRACE", "")  # a file that gets a line for every computed cell
SECONDS = float(os.environ.get("TOY_SECONDS", "0"))


def cells(quick):
    names = ("iris", "diabetes") if not quick else ("diabetes",)
    return [Cell("table-1", name, "MCE", run=run) for name in names for run in range(2 if quick else 5)]


def compute(cell):
    if TRACE:
        with open(TRACE, "a") as file:
            file.write(f"{cell.dataset} {cell.run}\n")
    time.sleep(SECONDS)
    if os.environ.get("TOY_FAILS") == f"{cell.dataset} {cell.run}":
        raise ArithmeticError("this one cannot be computed")
    return {"accuracy": 76.0 + cell.run / 10}


def rows(found) -> list[Row]:
    names = dict.fromkeys(cell.dataset for cell in found)
    return [
        row("jin", "table-1", name, "MCE", "", [r["accuracy"] for c, r in found.items() if c.dataset == name],
            paper_runs=10)
        for name in names
    ]  # fmt: skip


def figures(found, out):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(2, 2))
    axes.plot([result["accuracy"] for result in found.values()])
    figure.savefig(out / "toy-line.png")
    plt.close(figure)
    return [out / "toy-line.png"]


def notes(found):
    return [f"A note on {len(found)} cells."]


if __name__ == "__main__":
    from experiments.runner import run

    sys.exit(run("toy", sys.modules[__name__], jobs=2, out=pathlib.Path(sys.argv[1])))
