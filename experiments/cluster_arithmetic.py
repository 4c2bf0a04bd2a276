"""Time of one evaluation on many workers: a simulation with the constants that experiments/clusters.py measured.

One scheduler hands out tasks one after another. A worker computes its partitions one after another, each with a random
delay. Sums are added in a tree of 8, each by the worker of its first part, which fetches the others.

`python -m experiments.cluster_arithmetic` compares it with the measured evaluations and prints some of 10 billion rows;
docs/clusters.md tells how far they agree.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.clusters import N_CLASSES
from lvq.model.placed_sums import TREE

MEASURED = Path(__file__).parent / "results" / "clusters.json"


@dataclass(frozen=True)
class Cluster:
    """Constants, in seconds and bytes."""

    workers: int
    per_row: float  # computing time of a row
    per_task: float  # of the scheduler and the client, for each task
    sum_bytes: float  # of the parameters or of one sum
    bandwidth: float = 1.25e9  # 10 Gbit/s
    latency: float = 5e-4
    delay: float = 0.1  # mean random delay of a task, as a fraction of its time
    fixed: float = 0.0  # of an evaluation without any task: the round trip of client, scheduler and workers

    def evaluation(self, partitions: int, rows: float, seed: int = 0) -> float:
        """Simulated seconds of one evaluation."""
        rng = np.random.default_rng(seed)
        place = np.arange(partitions) * self.workers // partitions
        free = np.full(self.workers, self.latency + self.sum_bytes / self.bandwidth)  # the parameters arrive
        clock, done = self.fixed, np.empty(partitions)
        for p in np.argsort(
            np.arange(partitions) % -(-partitions // self.workers), kind="stable"
        ):  # all workers in turn
            clock += self.per_task
            begin = max(clock, free[place[p]])
            done[p] = free[place[p]] = begin + rows * self.per_row * (1 + rng.exponential(self.delay))
        while len(done) > 1:
            groups = [slice(begin, begin + TREE) for begin in range(0, len(done), TREE)]
            ready = []
            for group in groups:
                clock = max(clock, done[group].max()) + self.per_task
                fetched = int((place[group] != place[group][0]).sum())
                ready.append(clock + fetched * (self.latency + self.sum_bytes / self.bandwidth))
            done, place = np.array(ready), np.array([place[group][0] for group in groups])
        return float(done[0] + self.latency + self.sum_bytes / self.bandwidth)


def constants(measured: dict[str, Any], *, wall: bool = False) -> Cluster:
    """Time of a row from one worker, and of a task from more partitions.

    In CPU seconds, which do not depend on other programs; or in seconds of the clock, in which one worker is exact by
    construction, and only two workers are a test.
    """
    base, split, one = (measured[name] for name in ("base", "four_times_the_partitions", "workers_1"))
    scheduling, computing = ("seconds", "seconds") if wall else ("client_cpu_seconds", "cpu_seconds")
    more = tasks(split["n_partitions"]) - tasks(base["n_partitions"])
    per_task = (split[scheduling] - base[scheduling]) / more
    rows, fixed = one["n_partitions"] * one["rows"], 0.0
    per_row = one[computing] / rows
    if wall:  # two equations: base and one worker
        before = base["seconds"] - tasks(base["n_partitions"]) * per_task
        of_one = one["seconds"] - tasks(one["n_partitions"]) * per_task
        base_rows = base["n_partitions"] * base["rows"] / 2  # on each of two workers
        per_row = max((of_one - before) / (rows - base_rows), 0.0)
        fixed = max(before - base_rows * per_row, 0.0)
    return Cluster(1, per_row, per_task, 8 * one["n_prototypes"] * N_CLASSES * one["n_features"], fixed=fixed)


def tasks(partitions: int) -> int:
    """Tasks of an evaluation: one for each partition, and those of the tree."""
    total = partitions
    while partitions > 1:
        partitions = -(-partitions // TREE)
        total += partitions
    return total


def checked(measured: dict[str, Any], known: Cluster) -> Iterable[tuple[str, float, float]]:
    """Measured and simulated seconds, on one machine: memory instead of a network."""
    for name, workers in (("workers_1", 1), ("workers_2", 2)):
        delay = known.delay if known.fixed == 0 else 0.0  # times by the clock hold the delays
        here = replace(known, workers=workers, latency=1e-4, bandwidth=5e9, delay=delay)
        row = measured[name]
        yield name, row["seconds"], here.evaluation(row["n_partitions"], row["rows"])


def main() -> None:
    """The comparison, and the large cluster."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    for clock, known in (("CPU seconds", constants(measured)), ("the clock", constants(measured, wall=True))):
        overhead = f"per task {known.per_task * 1e3:.2f} ms, per evaluation {known.fixed * 1e3:.1f} ms"
        print(f"constants by {clock}: per row {known.per_row * 1e6:.2f} us, {overhead}")
        for name, seen, simulated in checked(measured, known):
            print(f"  {name}: measured {seen:.3f} s, simulated {simulated:.3f} s")
    known = constants(measured)
    for workers, each in ((10, 1), (100, 1), (1000, 1), (1000, 10)):
        here = replace(known, workers=workers)
        seconds = here.evaluation(workers * each, 1e10 / (workers * each))
        print(f"{workers} workers, {each} partitions each: {seconds:.1f} s an evaluation of 10 billion rows")


if __name__ == "__main__":
    main()
