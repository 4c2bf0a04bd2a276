"""A paper of ten cells, for the tests of the runner."""

from experiments.cells import Cell
from experiments.comparison import Row, row

TITLE = "A toy"
TRACE: list[str] = []  # every computed cell
FAILS = ""


def cells(quick):
    return [Cell("table-1", name, "MCE", run=run) for name in ("iris", "diabetes") for run in range(5)]


def compute(cell):
    name = f"{cell.dataset} {cell.run}"
    TRACE.append(name)
    if name == FAILS:
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
