"""Tasks beside the partitions that a cluster of dask.distributed holds: each runs on a worker that holds its partition.

As in `placed_sums`, tasks are restricted to the workers that hold their partition. What they return stays there. The
restriction is lifted when they have finished: a result that is lost later may then be computed anywhere, with its
partition. dask is imported where it is used.
"""

import sys
from collections.abc import Callable, Sequence

from lvq.model.placed_sums import finished, futures_of
from lvq.typing import Argument, Delayed


def kept_beside(partitions: Sequence[Delayed], task: Callable[[int], Delayed]) -> tuple[Delayed, ...]:
    """The tasks for partitions 0, 1, ..., each computed and kept where its partition lies.

    Parameters
    ----------
    partitions : sequence of Delayed
        Partitions; where one is not in the memory of a cluster, dask decides where its task runs.
    task : callable
        Makes the task of a number, a new one at each call.

    Returns
    -------
    results : tuple of Delayed
        The results, in memory.
    """
    import dask

    while True:
        pinned = _places(partitions)
        tasks = []
        for number, workers in enumerate(pinned):
            with dask.annotate(workers=workers) if workers else dask.annotate():
                tasks.append(task(number))
        results = dask.persist(*tasks)
        futures = [future for future, workers in zip(futures_of(results), pinned) if workers]
        if not futures:
            return results
        if finished(futures, [workers for workers in pinned if workers]):
            client = futures[0].client
            client.sync(client.scheduler.set_restrictions, worker={future.key: None for future in futures})
            return results


def computed_beside(partitions: Sequence[Delayed], task: Callable[[int], Delayed]) -> tuple[Argument, ...]:
    """The results of `kept_beside`, brought here: for small ones."""
    import dask

    return dask.compute(*kept_beside(partitions, task))


def _places(partitions: Sequence[Delayed]) -> list[list[str]]:
    """The workers that hold each partition; none for one that has still to be computed, or without a cluster."""
    if "distributed" not in sys.modules:
        return [[] for _ in partitions]
    from distributed import get_client, wait

    try:
        client = get_client()
    except ValueError:  # there is no cluster
        return [[] for _ in partitions]
    wait(futures_of(partitions) or [])
    held = client.who_has()
    return [list(held.get(_key(partition), ())) for partition in partitions]


def _key(partition: Delayed) -> object:
    """The name of a partition in the cluster; collections may have other names for it, and names for these."""
    graph, key = dict(partition.dask), partition.key
    while (target := getattr(graph.get(key), "target", None)) is not None:
        key = target
    return key
