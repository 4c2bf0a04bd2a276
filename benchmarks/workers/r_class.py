"""R's package class: LVQ1 and OLVQ1 by a script of R, which measures its own time."""

import pathlib
import subprocess
import tempfile

import numpy as np

from benchmarks.workers.models import Model, Prototypes, Task

SCRIPT = pathlib.Path(__file__).with_name("r_class.R")
#: Its `lvqinit` compares all samples with all, so larger sets start from random samples of each class.
MOST_FOR_START = 3000


class RClass(Model):
    """`epochs` of lvq1 with `per_class` prototypes, or olvq1 with all defaults."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        # where only predictions are measured, the prototypes of lvq1 do for those of GLVQ
        if task["model"] not in ("lvq1", "olvq1") and not (task["model"] == "glvq" and task.get("short")):
            raise NotImplementedError(f"R's class has no model {task['model']!r}")

    def prepare(self, X: np.ndarray) -> None:
        """R is started at each call."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Train in a process of R's own."""
        epochs, classes = self.task.get("epochs") or 1, int(y.max()) + 1
        method = "olvq1" if self.task["model"] == "olvq1" else "lvq1"
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write(folder, X, y)
            size = 0 if method == "olvq1" else classes * self.task.get("per_class", 1)
            found = run(folder, method, *X.shape, size, epochs, int(len(X) <= MOST_FOR_START))
            self.codebook = np.fromfile(folder / "codebook.bin").reshape(-1, X.shape[1], order="F")
            self.labels = np.fromfile(folder / "labels.bin", dtype=np.int32)
        self.own_times = {"cpu": found[1], "wall": found[1], "start": found[0] if len(X) <= MOST_FOR_START else None}

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The label of the nearest, by R's `lvqtest`."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write(folder, X, np.zeros(len(X)))
            np.asfortranarray(self.codebook, dtype=float).ravel(order="F").tofile(folder / "codebook.bin")
            self.labels.tofile(folder / "labels.bin")
            found = run(folder, "predict", *X.shape, len(self.labels), 0, 0)
            self.own_times = {"cpu": found[1], "wall": found[1]}
            return np.fromfile(folder / "predictions.bin", dtype=np.int32)

    def prototypes(self) -> Prototypes:
        return self.codebook, self.labels, None


def write(folder: pathlib.Path, X: np.ndarray, y: np.ndarray) -> None:
    """Columns of doubles and integers, as R reads them."""
    np.asarray(X, dtype=float).ravel(order="F").tofile(folder / "X.bin")
    np.asarray(y, dtype=np.int32).tofile(folder / "y.bin")


def run(folder: pathlib.Path, *arguments: object) -> list[float]:
    """Seconds of the start and of the call."""
    command = ["Rscript", str(SCRIPT), str(folder), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return [float(part) for part in done.stdout.split()]
