"""dask.distributed with worker processes: equality with NumPy, a killed worker, one and two workers, bytes moved.

`python -m experiments.clusters` writes experiments/results/clusters.json, with `kinds` the bytes and seconds of sums
with missing values, on devices and of batches, experiments/results/cluster_kinds.json. The machine's processes share
its cores, so times are those of a busy machine; sums of CPU seconds are given beside them.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from lvq import GLVQ, GMLVQ
from lvq.model import arranged_partitions, partitions, placed_sums

RESULT = Path(__file__).parent / "results" / "clusters.json"
KINDS = RESULT.with_name("cluster_kinds.json")
N_CLASSES = 4


def block(seed: int, rows: int, n_features: int) -> np.ndarray:
    """Samples of a partition, the class in the last column; the same for the same seed, wherever they are made."""
    rng = np.random.default_rng(seed)
    y = rng.integers(N_CLASSES, size=rows)
    X = rng.normal(size=(rows, n_features)) + 1.5 * np.eye(N_CLASSES, n_features)[y]
    return np.column_stack((X, y))


def data(n_partitions: int, rows: int, n_features: int) -> tuple[Any, Any]:
    """Samples and classes whose partitions are made by the workers, which can make them again."""
    made = [
        da.from_delayed(dask.delayed(block)(seed, rows, n_features), shape=(rows, n_features + 1), dtype=float)
        for seed in range(n_partitions)
    ]
    both = da.concatenate(made)
    return both[:, :-1], both[:, -1].astype(int)


@contextmanager
def workers(count: int) -> Iterator[Client]:
    """Worker processes of one thread each, on this machine."""
    with (
        LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(count)
        yield client


@contextmanager
def before_each_sum(function: Callable[[int], None]) -> Iterator[None]:
    """Call a function with the number of each sum over the partitions before it begins."""
    modules, unchanged, number = (partitions, arranged_partitions), placed_sums.sum_over, 0

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal number
        number += 1
        function(number)
        return unchanged(*args, **kwargs)

    for module in modules:
        module.sum_over = counted  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for module in modules:
            module.sum_over = unchanged  # type: ignore[attr-defined]


def kill_a_worker(client: Client) -> int:
    """SIGKILL to one worker process, without a word to dask."""
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)
    return pid


def equality() -> dict[str, Any]:
    """Largest differences of models of two workers from those of NumPy, undisturbed and with a worker killed."""
    X, y = data(n_partitions=6, rows=2000, n_features=10)
    model = GMLVQ(n_prototypes=1, random_state=0, max_iter=25)
    arrays = model.fit(*dask.compute(X, y, scheduler="sync")).model_
    with workers(2) as client:
        quiet = model.fit(X, y).model_
        killed: list[int] = []

        def kill(number: int) -> None:
            if number == 8:
                killed.append(kill_a_worker(client))

        with before_each_sum(kill):
            disturbed = model.fit(X, y).model_
    assert len(killed) == 1
    return {
        "samples": 12_000,
        "largest_difference_from_numpy": _difference(arrays, quiet),
        "largest_difference_after_a_kill": _difference(quiet, disturbed),
    }


def _difference(one: Any, other: Any) -> float:
    parts = ("prototypes", "relevance", "importances")
    return float(max(np.abs(getattr(one, part) - getattr(other, part)).max() for part in parts))


def evaluations(n_workers: int, n_partitions: int, rows: int, n_features: int, n_prototypes: int) -> dict[str, float]:
    """Bytes, seconds and CPU seconds of one evaluation of value and gradient."""
    model = GLVQ(n_prototypes=n_prototypes, init="samples", random_state=0, max_iter=10)
    return evaluations_of(model, n_workers, n_partitions, rows, n_features)


def evaluations_of(
    model: GLVQ | GMLVQ, n_workers: int, n_partitions: int, rows: int, n_features: int, first: int = 6, last: int = 0
) -> dict[str, float]:
    """The same for a model, between two sums past the starts; with missing="ignore" a tenth is missing."""
    start, end = dict[str, float](), dict[str, float]()
    count = 0
    with workers(n_workers) as client:
        client.run(count_bytes)
        count_bytes()
        X, y = data(n_partitions, rows, n_features)
        if model.missing == "ignore":
            X = da.where(X > 1.4, np.nan, X)

        def begin(number: int) -> None:
            nonlocal count
            count = number
            if number in (first, last):
                (start if number == first else end).update(_totals(client))

        with before_each_sum(begin):
            _without_warnings(model.fit, X, y)
        end = end or _totals(client)
    return {name: (end[name] - start[name]) / ((last or count + 1) - first) for name in end}


def kinds() -> None:
    """Evaluations of further kinds, and batches of Adam, with two workers; into a file of its own."""
    quick: dict[str, Any] = {"random_state": 0, "n_prototypes": 5, "init": "samples", "max_iter": 40}
    models = {
        "plain": GLVQ(**quick),
        "plain_missing": GLVQ(missing="ignore", **quick),
        "matrix": GMLVQ(**quick),
        "matrix_missing": GMLVQ(missing="ignore", **quick),
        "matrix_on_a_device": GMLVQ(device="cpu", **quick),
        "matrix_batch_of_adam": GMLVQ(**quick | {"max_iter": 2}, solver="adam", batch_size=500),
    }
    sizes = {"n_workers": 2, "n_partitions": 8, "rows": 2000, "n_features": 20}
    result: dict[str, Any] = dict(sizes)
    for name, model in models.items():
        shape = 20 * N_CLASSES * 5
        parameters = 8 * (shape if isinstance(model, GLVQ) else shape + 20 * 20)
        result[name] = {"bytes_of_parameters": parameters} | evaluations_of(model, **sizes, first=12, last=32)
    KINDS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


def _without_warnings(call: Callable[..., Any], *args: Any) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(*args)


BYTES = 0


def count_bytes() -> None:
    """Count the bytes that this process sends to other processes of dask."""
    from distributed.comm.tcp import TCP as Connection

    module, send = sys.modules[count_bytes.__module__], Connection.write
    if send.__module__ == count_bytes.__module__:
        return  # they are counted already

    async def counted(self: Any, *args: Any, **kwargs: Any) -> int:
        sent = await send(self, *args, **kwargs)
        module.BYTES += sent or 0  # type: ignore[attr-defined]
        return sent

    Connection.write = counted  # type: ignore[method-assign]


def sent_bytes() -> int:
    """Bytes counted so far in this process."""
    return BYTES


def _totals(client: Client) -> dict[str, float]:
    """Bytes sent by all processes, seconds, and CPU seconds of the workers and of client and scheduler."""
    sent = sum(client.run(sent_bytes).values()) + sent_bytes()
    return {
        "bytes": sent,
        "seconds": time.perf_counter(),
        "cpu_seconds": sum(client.run(time.process_time).values()),
        "client_cpu_seconds": time.process_time(),
    }


def main() -> None:
    """All measurements, into the result's file."""
    result = {"equality": equality()}
    sizes = {"n_partitions": 8, "rows": 2000, "n_features": 20, "n_prototypes": 5}
    for name, changed in {
        "base": {},
        "four_times_the_rows": {"rows": 8000},
        "four_times_the_prototypes": {"n_prototypes": 20},
        "four_times_the_partitions": {"n_partitions": 32, "rows": 500},
    }.items():
        result[name] = sizes | changed | evaluations(2, **(sizes | changed))
    large = {"n_partitions": 8, "rows": 40_000, "n_features": 50, "n_prototypes": 10}
    for count in (1, 2):
        result[f"workers_{count}"] = large | evaluations(count, **large)
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    module = import_module("experiments.clusters")  # workers find its functions by that name
    module.kinds() if sys.argv[1:] == ["kinds"] else module.main()
