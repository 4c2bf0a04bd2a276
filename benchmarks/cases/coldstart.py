"""Cold start: a fresh process that imports a library and fits iris once; wall seconds of the whole process."""

import os
import subprocess
import time
from typing import Any

from benchmarks import data, text
from benchmarks.environments import ROOT, missing
from benchmarks.results import one
from benchmarks.rounds import Row, Run
from benchmarks.workers.measures import quartiles

TITLE = "Cold start"
MINUTES = 1.0
#: Library and model -> the import and the estimator of the program; iris is read from files, to import nothing else.
PROGRAMS = {
    ("lvq", "default"): ("import lvq", "lvq.LVQClassifier()"),
    ("scikit-learn", "logistic_regression"): (
        "from sklearn.linear_model import LogisticRegression", "LogisticRegression()"
    ),
    ("lvq", "glvq"): ("import lvq", "lvq.GLVQ()"),
    ("lvq", "lvq1"): ("import lvq", "lvq.LVQ1()"),
    ("scikit-learn", "nearest_centroid"): ("from sklearn.neighbors import NearestCentroid", "NearestCentroid()"),
    ("sklvq", "glvq"): ("from sklvq import GLVQ", "GLVQ()"),
    ("sklearn-lvq", "glvq"): ("from sklearn_lvq import GlvqModel", "GlvqModel()"),
    ("prosemble", "glvq"): ("from prosemble.models import GLVQ", "GLVQ()"),
}  # fmt: skip
ROUNDS = 7


def cells(quick: bool) -> list[Row]:
    """One cell: all programs in turn."""
    return [{"set": "iris", "rounds": 1 if quick else ROUNDS}]


def run(cell: Row, run: Run) -> list[Row]:
    """The first round fills the caches of files and is not counted, except in a quick run."""
    where = run.data.folder(data.real, "iris")
    chosen = [("lvq", "glvq")] if run.quick else list(PROGRAMS)
    wanted = [key for key in chosen if key[0] == "lvq" or key[0] in run.peers]
    found: dict[tuple[str, str], list[float]] = {key: [] for key in wanted}
    status = dict.fromkeys(wanted, "ok")
    for _ in range(cell["rounds"] + (not run.quick)):
        for key in wanted:
            if status[key] == "ok":
                python = run.workers.interpreter(key[0])
                status[key] = missing(key[0]) if python is None else time_process(python, key, where, found[key])
    return [
        {"library": key[0], "peer_model": key[1], "threads": None, "status": status[key]}
        | ({"wall": quartiles(found[key][not run.quick :])} if status[key] == "ok" else {})
        for key in wanted
    ]


def time_process(python: str, key: tuple[str, str], where: str, times: list[float]) -> str:
    """Run the program once; the time goes into `times`, the status is returned."""
    statement, model = PROGRAMS[key]
    arrays = "X, y = (np.load(f'{sys.argv[1]}/{name}.npy') for name in 'Xy')"
    program = f"import sys, numpy as np; {statement}; {arrays}; {model}.fit(X, y)"
    settings: dict[str, Any] = {"PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "ignore", "PYTHONNOUSERSITE": "1"}
    settings["PYTHONDONTWRITEBYTECODE"] = ""  # the first process compiles this library, as an installation does
    start = time.perf_counter()
    done = subprocess.run([python, "-c", program, where], env=os.environ | settings, capture_output=True, check=False)
    times.append(time.perf_counter() - start)
    return "ok" if done.returncode == 0 else f"failed: exit code {done.returncode}"


def ratio(rows: list[Row]) -> float | None:
    """Our default's time over LogisticRegression's."""
    ours, theirs = one(rows, library="lvq", peer_model="default"), one(rows, peer_model="logistic_regression")
    return ours["wall"]["median"] / theirs["wall"]["median"] if ours and theirs else None


def report(rows: list[Row]) -> str:
    """A line for each program."""
    lines = [[text.name(row["library"]), text.name(row["peer_model"]), text.spread(row, "wall")] for row in rows]
    return (
        "Time of a whole process: interpreter, import, reading iris from files and one fit with defaults. The first "
        "process is not counted.\n\n" + text.table(["library", "model", "whole process"], lines)
    )


def figure(rows: list[Row], path: Any) -> None:
    """Bars."""
    from benchmarks import plots

    bars = {
        f"{text.name(row['library'])} {text.name(row['peer_model'])}": {"seconds": row["wall"]["median"]}
        for row in rows
        if row["status"] == "ok"
    }
    plots.bars(bars, path, "seconds of a fresh process")
