"""L-BFGS with and without epochs of Adam first, by the number of samples: the source of `lvq.solvers.lbfgs.LARGE`."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks import data, text
from benchmarks.rounds import Row, Run
from lvq import GLVQ, GMLVQ
from lvq.estimators.cost_based import CostBasedLVQ
from lvq.model.samples import single_threaded_products
from lvq.solvers import lbfgs

TITLE = "L-BFGS with and without epochs of Adam first"
MINUTES = 5.0
SIZES = (2000, 6000, 15_000, 40_000)


def cells(quick: bool) -> list[Row]:
    """Two sets, two models, growing numbers of samples."""
    if quick:
        return [{"set": "digits", "samples": 300, "model": "glvq"}]
    sizes = {"mnist": SIZES, "letter": SIZES[:3]}
    models = {"mnist": ("glvq",), "letter": ("glvq", "gmlvq")}
    return [
        {"set": name, "samples": samples, "model": model}
        for name, several in sizes.items()
        for model in models[name]
        for samples in several
    ]


@contextmanager
def large_from(samples: int) -> Iterator[None]:
    """Epochs of Adam come first from so many samples on."""
    before = lbfgs.LARGE, lbfgs.LARGE_WORK
    lbfgs.LARGE, lbfgs.LARGE_WORK = samples, 0
    try:
        yield
    finally:
        lbfgs.LARGE, lbfgs.LARGE_WORK = before


def run(cell: Row, run: Run) -> list[Row]:
    """Both ways on the same samples, in one thread."""
    arrays = data.real(cell["set"])
    chosen = np.random.RandomState(0).permutation(len(arrays["y"]))[: cell["samples"]]
    X, y = arrays["X"][chosen], arrays["y"][chosen]
    model: CostBasedLVQ = GLVQ(n_prototypes=10, random_state=0) if cell["model"] == "glvq" else GMLVQ(random_state=0)
    rows = []
    for first in (False, True):
        with large_from(0 if first else 10**9), single_threaded_products(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            start = time.process_time()
            model.fit(X, y)
            cpu = time.process_time() - start
        objective = float(model.objective_value(X, y))
        rows.append({"library": "lvq", "status": "ok", "epochs_first": first, "cpu": cpu, "objective": objective})
    return rows


def report(rows: list[Row]) -> str:
    """A line for each set, model and size: seconds and objective of both ways."""
    cases = dict.fromkeys((row["set"], row["model"], row["samples"]) for row in rows)
    lines = []
    for name, model, samples in cases:
        pair = [row for row in rows if (row["set"], row["model"], row["samples"]) == (name, model, samples)]
        found = [
            f"{row['cpu']:.2f} s, {row['objective']:.4f}" for row in sorted(pair, key=lambda row: row["epochs_first"])
        ]
        lines.append([text.name(name), text.name(model), f"{samples:,}", *found])
    head = ["set", "model", "samples", "L-BFGS alone: CPU, objective", "epochs of Adam first"]
    rule = f"From {lbfgs.LARGE:,} samples on, fits begin with epochs of Adam. One thread; lower objectives are better."
    return f"{rule}\n\n{text.table(head, lines)}"
