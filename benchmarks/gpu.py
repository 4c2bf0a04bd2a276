"""Whole fits on a GPU, data on the device, against a float32 matrix product (TF32 off) in the same run.

`python benchmarks/gpu.py [--device cuda] [--out FOLDER] [--sets SET ...] [--quick]` needs torch, numba and scikit-learn
only and nothing installed: the library is read from the folder beside. MNIST comes from the folder that LVQ_DATA names
(mnist.npz). Each fit is measured after one that warms up. Writes `gpu.json`, a row after each fit; rows of sets that
are not measured stay.
"""

import argparse
import json
import pathlib
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import numpy as np
import torch

import experiments.datasets
import lvq
from benchmarks.workers.measures import quartiles
from lvq.solvers.adam import Adam

#: A warm-up fit that takes longer than this is the measurement itself.
MOST_SECONDS = 60.0
SETS = ("blobs", "mnist", "drawn", "embeddings")  # the first is measured only where it is asked for, and quickly
NOISE = 0.22  # of each feature of drawn embeddings about directions of length one: nine of ten rows can be told apart


def synchronize(device: str) -> None:
    """Wait for the device."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def seconds(call: Callable[[], object], device: str) -> float:
    """Wall seconds of a call, until the device has finished."""
    synchronize(device)
    start = time.perf_counter()
    call()
    synchronize(device)
    return time.perf_counter() - start


def repeated(call: Callable[[], object], device: str, repeat: int) -> dict[str, Any]:
    """The first time, and quartiles of the later ones."""
    first = seconds(call, device)
    later = [seconds(call, device) for _ in range(repeat)] if first < MOST_SECONDS else [first]
    return quartiles(later) | {"first": first}


def product_seconds(X: torch.Tensor, prototypes: int, device: str) -> float:
    """Seconds of the bare product of all samples with the prototypes, and argmin."""
    W = torch.randn(X.shape[1], prototypes, device=device, dtype=X.dtype)
    block = max(1, 2**28 // prototypes)

    def call() -> None:
        for start in range(0, len(X), block):
            (X[start : start + block] @ W).argmin(dim=1)

    return float(repeated(call, device, 5)["median"])


def mnist(device: str) -> tuple[torch.Tensor, ...]:
    """Training and test part on the device, pixels divided by 255, float32."""
    from experiments.datasets import load_dataset

    found = load_dataset("mnist", download_if_missing=False)
    parts = (found["X_train"] / np.float32(255), found["y_train"], found["X_test"] / np.float32(255), found["y_test"])
    return tuple(torch.as_tensor(part, device=device) for part in parts)


def blobs(samples: int, features: int, device: str) -> tuple[torch.Tensor, ...]:
    """Ten classes of three Gaussian clusters, drawn on the device."""
    generator = torch.Generator(device=device).manual_seed(0)
    centres = 0.7 * torch.randn(30, features, generator=generator, device=device)
    cluster = torch.randint(0, 30, (samples + 1000,), generator=generator, device=device)
    X = torch.randn(samples + 1000, features, generator=generator, device=device)
    X += centres[cluster]
    y = cluster % 10
    return X[:samples], y[:samples], X[samples:], y[samples:]


def embeddings(samples: int, features: int, classes: int, device: str) -> tuple[torch.Tensor, ...]:
    """Rows of length one about a direction for each class, as encoders of sentences make them, drawn on the device."""
    generator = torch.Generator(device=device).manual_seed(0)

    def draw(rows: int) -> torch.Tensor:
        return torch.randn(rows, features, generator=generator, device=device)

    directions = draw(classes)
    directions /= directions.norm(dim=1, keepdim=True)
    y = torch.randint(0, classes, (samples + 10_000,), generator=generator, device=device)
    X = draw(len(y)).mul_(NOISE).add_(directions[y])
    X /= X.norm(dim=1, keepdim=True)
    return X[:samples], y[:samples], X[samples:], y[samples:]


def measure(model: Any, data: tuple[torch.Tensor, ...], prototypes: int, device: str, repeat: int) -> dict[str, Any]:
    """Time, iterations, accuracy, and the bare product of the same data."""
    X, y, X_test, y_test = data
    wall = repeated(lambda: model.fit(X, y), device, repeat)
    correct = torch.as_tensor(model.predict(X_test), device=device) == y_test
    row = {"status": "ok", "wall": wall, "product": product_seconds(X, prototypes, device)}
    return row | {"iterations": int(model.n_iter_), "test_accuracy": float(correct.float().mean())}


def pass_seconds(data: tuple[torch.Tensor, ...], device: str) -> float:
    """One pass over the data at the kernels' rate: an epoch of Adam, from fits of 1 and 3 epochs."""
    X, y = data[:2]
    found = []
    for epochs in (1, 1, 3):  # the first warms up
        model = lvq.GLVQ(n_prototypes=10, solver=Adam(batch_size=65_536), max_iter=epochs, random_state=0)
        found.append(seconds(partial(model.fit, X, y), device))
    return (found[2] - found[1]) / 2


class Output:
    """The file of results, written after each row; stored rows of sets that are not measured stay."""

    def __init__(self, folder: pathlib.Path, device: str, sets: Sequence[str], quick: bool) -> None:
        name = torch.cuda.get_device_name() if device.startswith("cuda") else "CPU"
        self.path = folder / "gpu.json"
        self.head = {"case": "gpu", "machine": {"processor": name}, "torch": torch.__version__, "quick": quick}
        stored = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {"rows": []}
        same = all(stored.get(key) == value for key, value in self.head.items())
        self.rows: list[dict[str, Any]] = [row for row in stored["rows"] if same and row["set"] not in sets]

    def add(self, row: dict[str, Any]) -> None:
        """Print and store a row."""
        self.rows.append(row)
        print(json.dumps(row), flush=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps({**self.head, "rows": self.rows}, indent=1) + "\n", encoding="utf-8")


def run(device: str, output: Output, sets: Sequence[str], repeat: int, quick: bool) -> None:
    """The wanted sets, each with its models."""
    few: dict[str, Any] = {"random_state": 0} | ({"max_iter": 3} if quick else {})
    glvq, default = lvq.GLVQ(n_prototypes=10, **few), lvq.LVQClassifier(**few)
    for name, load in {"blobs": partial(blobs, 2000, 16, device), "mnist": partial(mnist, device)}.items():
        if name not in sets:
            continue
        models = {"glvq": (glvq, 100), "gmlvq": (lvq.GMLVQ(**few), 10), "default": (default, 20)}
        try:
            data = load()
            for key, (model, prototypes) in models.items():
                shown = {"set": name, "model": key, "prototypes": prototypes}
                output.add(shown | measure(model, data, prototypes, device, repeat))
        except experiments.datasets.DatasetNotFoundError as error:
            output.add({"set": name, "status": f"skipped: {error}"})
    if "drawn" in sets:
        data = blobs(5000 if quick else 10_000_000, 64, device)
        row = measure(glvq, data, 100, device, 1)
        shown = {"set": "drawn", "samples": len(data[0]), "features": 64, "model": "glvq", "prototypes": 100}
        output.add(shown | row | {"pass": pass_seconds(data, device)})
    if "embeddings" in sets:
        samples, features, classes = (2000, 32, 20) if quick else (1_000_000, 768, 1000)
        data = embeddings(samples, features, classes, device)
        shown = {"set": "embeddings", "samples": samples, "features": features, "classes": classes}
        shown |= {"model": "default", "prototypes": classes}
        output.add(shown | measure(default, data, classes, device, 1))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--sets", nargs="+", choices=SETS, metavar="SET", help=", ".join(SETS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    assert not torch.backends.cuda.matmul.allow_tf32
    warnings.simplefilter("ignore")  # fits that end at their last iteration
    sets = given.sets or [name for name in SETS if name != ("mnist" if given.quick else "blobs")]
    output = Output(given.out, given.device, sets, given.quick)
    run(given.device, output, sets, 1 if given.quick else given.repeat, given.quick)


if __name__ == "__main__":
    main()
