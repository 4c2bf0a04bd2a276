"""Sums over partitions that a cluster of dask.distributed holds, each computed by a worker that holds the partition.

dask alone may give a task to an idle worker and send it the partition. So each task is restricted to the workers that
hold its partition. Where one of them is lost, its task can run nowhere; dask computes the partition again elsewhere,
and the whole sum is then asked for again.
"""

import sys
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

from lvq.model.device_blocks import Chosen, DeviceBlock
from lvq.model.samples import ArraySamples, Block, Total
from lvq.typing import Delayed

TREE = 8  # sums that are added at a time; a constant, so that the order of the sums is fixed
CHECK_SECONDS = 5.0  # between two looks at the workers, while a sum is computed


def futures_of(blocks: Sequence[Delayed]) -> list[Delayed]:
    """The partitions as the cluster holds them, one for each; none where dask works without a cluster."""
    if "distributed" not in sys.modules:
        return []
    from distributed import futures_of as held

    futures = [held(block) for block in blocks]
    return [found[0] for found in futures] if all(len(found) == 1 for found in futures) else []


def sum_over(
    blocks: Sequence[Delayed],
    function: Callable[[Block], Total],
    rows: int,
    chosen: Sequence[Chosen] | None = None,
) -> Total:
    """Sum of a function over partitions, or over chosen rows of each, in blocks of rows; in a fixed order.

    On a cluster each partition is summed by a worker that holds it. One sum comes back.
    """
    import dask

    rows_of: Sequence[Chosen | None] = [None] * len(blocks) if chosen is None else chosen
    futures = futures_of(blocks)
    if futures:
        return placed_sum(futures, function, rows, rows_of)
    sent = dask.delayed(function, traverse=False)
    level = [
        dask.delayed(partition_sum)(sent, block, rows, dask.delayed(own, traverse=False) if own else None)
        for block, own in zip(blocks, rows_of)
    ]
    while len(level) > 1:
        groups = [level[begin : begin + TREE] for begin in range(0, len(level), TREE)]
        level = [dask.delayed(sum_of)(*group) for group in groups]
    return dask.compute(level[0], traverse=False)[0]


def placed_sum(
    futures: Sequence[Delayed], function: Callable[[Block], Total], rows: int, chosen: Sequence[Chosen | None]
) -> Total:
    """Sum of a function over partitions; only the function, numbers of rows and sums are sent."""
    client = futures[0].client
    while True:
        pinned = places_of(futures)
        sent = client.submit(_same, function, pure=False)
        level = [
            client.submit(partition_sum, sent, future, rows, own, workers=workers, pure=False)
            for future, own, workers in zip(futures, chosen, pinned)
        ]
        while len(level) > 1:
            groups = [level[begin : begin + TREE] for begin in range(0, len(level), TREE)]
            level = [client.submit(sum_of, *group, pure=False) for group in groups]
        if finished(level, pinned):
            return level[0].result()


def places_of(futures: Sequence[Delayed]) -> list[list[str]]:
    """The workers that hold each partition; dask may have to compute it first."""
    from distributed import wait

    while True:
        wait(futures)
        places = futures[0].client.who_has(futures)
        pinned = [list(places[future.key]) for future in futures]
        if all(pinned):  # else lost between the two calls
            return pinned


def finished(futures: Sequence[Delayed], pinned: Sequence[Sequence[str]]) -> bool:
    """Wait for results of tasks on given workers; False where all workers of one of them are lost."""
    while _wait(futures):
        known = futures[0].client.scheduler_info(n_workers=-1)["workers"]
        if not all(any(worker in known for worker in workers) for workers in pinned):
            return False
    return True


def _wait(futures: Sequence[Delayed]) -> bool:
    """Whether results are not there yet after some seconds."""
    from distributed import TimeoutError as Late
    from distributed import wait

    try:
        wait(futures, timeout=CHECK_SECONDS)
    except Late:
        return True
    return False


def partition_sum(
    function: Callable[[Block], Total], block: Block | DeviceBlock, rows: int, chosen: Chosen | None = None
) -> Total:
    """Sum of a function over a partition, or over some rows of it, in blocks of rows."""
    if isinstance(block, DeviceBlock):
        return block.sum(function, chosen)
    samples = ArraySamples(*block)
    return (samples if chosen is None else samples.chosen(*chosen)).reduce(function, rows)


def sum_of(*parts: Total) -> Total:
    """The parts in their order."""
    return reduce(add, parts)


def _same(value: Total) -> Total:
    return value
