"""Whole fits on a GPU, data on the device, against a float32 matrix product (TF32 off) in the same run.

`python benchmarks/gpu.py [--device cuda] [--out FOLDER] [--quick]` needs torch, numba and scikit-learn only and nothing
installed: the library is read from the folder beside. MNIST comes from the folder that LVQ_DATA names (mnist.npz). Each
fit is measured after one that warms up. Writes `gpu.json`, a row after each fit.
"""

import argparse
import json
import pathlib
import sys
import time
import warnings
from collections.abc import Callable
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
    """The file of results, written after each row."""

    def __init__(self, folder: pathlib.Path, device: str, quick: bool) -> None:
        name = torch.cuda.get_device_name() if device.startswith("cuda") else "CPU"
        self.path = folder / "gpu.json"
        self.rows: list[dict[str, Any]] = []
        self.head = {"case": "gpu", "machine": {"processor": name}, "torch": torch.__version__, "quick": quick}

    def add(self, row: dict[str, Any]) -> None:
        """Print and store a row."""
        self.rows.append(row)
        print(json.dumps(row), flush=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps({**self.head, "rows": self.rows}, indent=1) + "\n", encoding="utf-8")


def run(device: str, output: Output, repeat: int, quick: bool) -> None:
    """MNIST with three models, then ten million samples with 100 prototypes."""
    few: dict[str, Any] = {"random_state": 0} | ({"max_iter": 3} if quick else {})
    models = {
        "glvq": (lvq.GLVQ(n_prototypes=10, **few), 100),
        "gmlvq": (lvq.GMLVQ(**few), 10),
        "default": (lvq.LVQClassifier(**few), 20),
    }
    try:
        data = blobs(2000, 16, device) if quick else mnist(device)
        for key, (model, prototypes) in models.items():
            shown = {"set": "blobs" if quick else "mnist", "model": key, "prototypes": prototypes}
            output.add(shown | measure(model, data, prototypes, device, repeat))
    except experiments.datasets.DatasetNotFoundError as error:
        output.add({"set": "mnist", "status": f"skipped: {error}"})
    data = blobs(5000 if quick else 10_000_000, 64, device)
    row = measure(models["glvq"][0], data, 100, device, 1)
    shown = {"set": "drawn", "samples": len(data[0]), "features": 64, "model": "glvq", "prototypes": 100}
    output.add(shown | row | {"pass": pass_seconds(data, device)})


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    assert not torch.backends.cuda.matmul.allow_tf32
    warnings.simplefilter("ignore")  # fits that end at their last iteration
    run(given.device, Output(given.out, given.device, given.quick), 1 if given.quick else given.repeat, given.quick)


if __name__ == "__main__":
    main()
