"""dask collections with `device="cuda"`: two worker processes of one machine, which may share its one GPU.

`python tools/dask_gpu.py [--device cuda] [--workers 2] [--dask-cuda] [--rows 4000000] [--dtype float32] [--quick]
[--out FILE]` needs dask, distributed, torch and scikit-learn, and nothing installed: the library is read from the
folder beside. With `--dask-cuda`, which needs dask-cuda, the workers are those of its `LocalCUDACluster`, one for each
GPU. Each part is printed when it is known, and all of them as JSON at the end:

- largest differences of the model from that of NumPy, from that of the device in memory, and after a worker was killed,
  in float64;
- bytes that the workers hold on the GPU, and bytes sent by all processes in one evaluation;
- seconds of a fit and of one evaluation, with the workers and in memory, where L-BFGS does all of the work in both.
"""

import argparse
import json
import os
import pathlib
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from itertools import pairwise

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import dask
import numpy as np
import torch
from distributed import Client
from sklearn.base import clone

from experiments.clusters import before_each_sum, count_bytes, data, kill_a_worker, sent_bytes, workers
from lvq import GMLVQ
from lvq.model.objective import Params
from lvq.model.prototype_model import PrototypeModel
from lvq.model.samples import ArraySamples, Map
from lvq.solvers import lbfgs
from lvq.solvers.batch import Problem
from lvq.typing import Array, MatrixLike

KILLED_AT = 12  # number of the sum before which a worker is killed
SETTLED_AT = 8  # number of the sum from which evaluations are counted: starts and units come before


@contextmanager
def cuda_workers() -> Iterator[Client]:
    """The workers of dask-cuda, one for each GPU of this machine."""
    from dask_cuda import LocalCUDACluster

    with LocalCUDACluster(threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        client.wait_for_workers(len(cluster.worker_spec))
        yield client


def synchronize(device: str) -> None:
    """Wait for the device."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


@contextmanager
def lbfgs_alone() -> Iterator[list[float]]:
    """No epochs of Adam in memory, and samples keep their type, as in partitions; yields seconds of evaluations."""
    large, evaluate, seconds = lbfgs.LARGE, Problem.value_and_gradient, list[float]()

    def timed(self: Problem, free: Params, samples: ArraySamples, mapping: Map = map) -> tuple[Array, Params]:
        start = time.perf_counter()
        value, gradient = evaluate(self, free, samples, mapping)
        float(value)  # waits for the device
        seconds.append(time.perf_counter() - start)
        return value, gradient

    lbfgs.LARGE, Problem.value_and_gradient = sys.maxsize, timed  # type: ignore[method-assign]
    try:
        yield seconds
    finally:
        lbfgs.LARGE, Problem.value_and_gradient = large, evaluate  # type: ignore[method-assign]


def timed_fit(model: GMLVQ, X: MatrixLike, y: MatrixLike, device: str) -> tuple[PrototypeModel, dict[str, float]]:
    """The model; seconds of the fit, the number of its evaluations, and their median time in seconds."""
    with lbfgs_alone() as seconds:
        start = time.perf_counter()
        fitted = clone(model).fit(X, y)
        synchronize(device)
        whole = time.perf_counter() - start
    return fitted.model_, {"seconds": whole, "evaluations": len(seconds), "evaluation": float(np.median(seconds))}


def difference(one: PrototypeModel, other: PrototypeModel) -> float:
    """Largest difference of the parameters."""
    return float(max(np.abs(getattr(one, name) - getattr(other, name)).max() for name in ("prototypes", "relevance")))


def held_on_gpu() -> int:
    """Bytes of tensors on the GPU of this process."""
    return int(torch.cuda.memory_allocated()) if torch.cuda.is_available() else 0


def show(name: str, value: object, result: dict[str, object]) -> None:
    """Print a part of the result, and keep it."""
    result[name] = value
    print(f"{name}: {value}", flush=True)


def equality(client: Client, model: GMLVQ, rows: int, n_workers: int, result: dict[str, object]) -> None:
    """Differences between the models of NumPy, of the device in memory, of the workers, and after a loss."""
    X, y = data(n_partitions=6, rows=rows, n_features=10)
    samples, labels = dask.compute(X, y, scheduler="sync")
    with lbfgs_alone():
        arrays = clone(model).set_params(device=None).fit(samples, labels).model_
        tensors = clone(model).fit(samples, labels).model_
    quiet = clone(model).fit(X, y).model_
    killed: list[int] = []

    def kill(number: int) -> None:
        if number == KILLED_AT:
            killed.append(kill_a_worker(client))

    with before_each_sum(kill):
        disturbed = clone(model).fit(X, y).model_
    show("samples_compared", len(labels), result)
    show("largest_difference_from_numpy", difference(arrays, quiet), result)
    show("largest_difference_from_the_device_in_memory", difference(tensors, quiet), result)
    show("workers_killed", len(killed), result)
    show("largest_difference_after_a_kill", difference(quiet, disturbed), result)
    batches = clone(model).set_params(solver="adam", batch_size=max(64, rows // 4), max_iter=3)
    in_batches = clone(batches).set_params(device=None).fit(samples, labels).model_
    show("largest_difference_of_adam_from_numpy", difference(in_batches, clone(batches).fit(X, y).model_), result)
    client.wait_for_workers(n_workers)


def all_sent(client: Client) -> int:
    """Bytes sent so far by all processes."""
    return sum(client.run(sent_bytes).values()) + sent_bytes()


def sizes(client: Client, model: GMLVQ, rows: int, dtype: str, n_workers: int, result: dict[str, object]) -> None:
    """Seconds, bytes on the GPU, and bytes sent."""
    n_features, device = 50, str(model.device)
    X, y = data(n_workers, rows // n_workers, n_features)  # few large partitions: one for each worker
    X, y = dask.persist(X.astype(dtype), y)
    client.run(count_bytes)
    count_bytes()
    seen: list[tuple[int, int]] = []

    def note(number: int) -> None:
        if number == SETTLED_AT:
            show("bytes_on_the_gpu_of_each_worker", list(client.run(held_on_gpu).values()), result)
        if number >= SETTLED_AT:
            seen.append((all_sent(client), all_sent(client)))  # the second without what the first has sent

    with before_each_sum(note):
        fitted = clone(model).fit(X, y).model_
    between = [after[0] - before[1] for before, after in pairwise(seen)]
    show("samples_timed", [rows, n_features, dtype], result)
    show("bytes_of_samples", rows * n_features * np.dtype(dtype).itemsize, result)
    show("bytes_of_parameters", fitted.prototypes.nbytes + fitted.relevance.nbytes, result)
    show("bytes_sent_per_evaluation", float(np.median(between)), result)
    timed_fit(model, X, y, device)  # warms up
    show("with_workers", timed_fit(model, X, y, device)[1], result)
    samples, labels = dask.compute(X, y)
    timed_fit(model, samples[:20_000], labels[:20_000], device)
    show("in_memory", timed_fit(model, samples, labels, device)[1], result)
    start = time.perf_counter()
    clone(model).fit(samples, labels)
    show("in_memory_with_epochs_of_adam_first", time.perf_counter() - start, result)


def main() -> None:
    """All parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--dask-cuda", action="store_true", help="workers of dask-cuda, one for each GPU")
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of the timed fits, of 50 features")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"], help="type of these rows")
    parser.add_argument("--quick", action="store_true", help="small, to try the script")
    parser.add_argument("--out", type=pathlib.Path, help="file for the result as JSON")
    arguments = parser.parse_args()
    rows, device = 8_000 if arguments.quick else arguments.rows, arguments.device
    model = GMLVQ(n_prototypes=2, device=device, random_state=0, max_iter=15)
    count = torch.cuda.device_count() if arguments.dask_cuda else arguments.workers
    result: dict[str, object] = {"device": device, "workers": count, "torch": torch.__version__}
    if arguments.dask_cuda:
        result["dask_cuda"] = version("dask-cuda")
    if torch.cuda.is_available():
        show("gpu", torch.cuda.get_device_name(), result)
    warnings.simplefilter("ignore")  # fits end before they converge
    with cuda_workers() if arguments.dask_cuda else workers(count) as client:
        equality(client, model, 300 if arguments.quick else 2_000, count, result)
        sizes(client, model, rows, arguments.dtype, count, result)
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.out is not None:
        arguments.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
